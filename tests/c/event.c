/* TIMELINE_EVENT with every type at its edges, and what cannot be defined. event DIR: an empty
 * directory. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <wchar.h>

#include <timeline.h>

#include "check.h"

static timeline_t *tl;
static timeline_attached_t *at;
static timeline_cursor_t *cursor;
static timeline_event_t event;
static char text[16384];

static size_t next(void) {
  size_t length = 0;
  CHECK_EQ(timeline_next(cursor, &event), TIMELINE_OK);
  CHECK_EQ(timeline_render(&event, text, sizeof text, &length), TIMELINE_OK);
  return length;
}

static void expect(const char *wanted) {
  next();
  if (strcmp(text, wanted) != 0) {
    fprintf(stderr, "line %u: is \"%s\", expected \"%s\"\n", event.line, text, wanted);
    exit(1);
  }
  CHECK(strcmp(event.file, __FILE__) == 0);
}

static void check_text(const char *found, const char *wanted, int line) {
  if (strcmp(found, wanted) == 0) return;
  fprintf(stderr, "line %d: is \"%s\", expected \"%s\"\n", line, found, wanted);
  exit(1);
}
#define CHECK_STR(found, wanted) check_text((found), (wanted), __LINE__)

#define EVENT(...) TIMELINE_EVENT(tl, TIMELINE_INFO, "c", __VA_ARGS__)

static void bit_fields(void) {
  const struct {
    int a : 3;
    unsigned b : 5, c : 32;
    unsigned long d : 40;
  } bits = {-2, 17, UINT_MAX, 1ul << 39};
  EVENT("$a $b $c $d", bits.a, bits.b, bits.c, bits.d);
  expect("a(-2) b(17) c(4294967295) d(549755813888)");
  EVENT("$a:i32 $b:u8 $c:u32 $d:hex $e:str", bits.a, bits.b, bits.c, bits.d, "text");
  expect("a(-2) b(17) c(4294967295) d(0x8000000000) e(text)");
}

static void numbers(void) {
  EVENT("nothing, \"quoted\"");
  expect("nothing, \"quoted\"");
  CHECK_EQ(event.payload_size, 0);
  EVENT("$a $b $c $d", (signed char)SCHAR_MIN, (unsigned char)UCHAR_MAX, (short)SHRT_MIN, (unsigned short)USHRT_MAX);
  expect("a(-128) b(255) c(-32768) d(65535)");
  CHECK_EQ(event.payload_size, 0);
  EVENT("$a $b $c $d", INT_MIN, UINT_MAX, LONG_MIN, ULONG_MAX);
  expect("a(-2147483648) b(4294967295) c(-9223372036854775808) d(18446744073709551615)");
  EVENT("$a $b $c", LLONG_MAX, ULLONG_MAX, 'x');
  expect("a(9223372036854775807) b(18446744073709551615) c(120)");
  const bool yes = true;
  const char letter = 'y';
  EVENT("$a $b $c $d", yes, letter, 0.1, 0.1f);
  expect("a(true) b(y) c(0.1) d(0.1)");
  EVENT("$a $b $c $d", DBL_MAX, -DBL_MIN, (double)INFINITY, FLT_MAX);
  expect("a(1.7976931348623157e308) b(-2.2250738585072014e-308) c(inf) d(3.4028235e38)");
  EVENT("$a:u8 $b:i8 $c:bool $d:hex", 511, 255L, 77u, -1LL);
  expect("a(255) b(-1) c(true) d(0xffffffffffffffff)");
  EVENT("$a:ns $b:bytes $c:time $d:char", 12500, 1536u, (int64_t)0, 0x1f600);
  expect("a(12.5\xc2\xb5s) b(1.5 KiB) c(1970-01-01T00:00:00.000000000Z) d(\xf0\x9f\x98\x80)");
  enum { RED, GREEN } color = GREEN;
  EVENT("$a:enum(red=0,green=1) $b:flags(r=1,w=2,x=4) $c:ptr $d:hex", color, 5, (void *)0, (void *)&color);
  next();
  CHECK(strncmp(text, "a(green) b(r|x) c(0x0) d(0x7", 27) == 0);
  CHECK_EQ(event.payload_size, 0);
}

static void texts(void) {
  char buffer[64] = "in a buffer";
  const char *null = NULL;
  EVENT("$a $b $c $d", "a literal", buffer, null, "");
  expect("a(a literal) b(in a buffer) c((null)) d()");
  EVENT("$a $b", TIMELINE_TEXT(buffer, 4), TIMELINE_TEXT("nul\0inside", 10));
  next();
  CHECK_EQ(memcmp(text, "a(in a) b(nul", 13), 0);
  EVENT("$a:wstr $b:str $c", TIMELINE_WIDE(L"w\u00e4hrend"), TIMELINE_WIDE((wchar_t *)0), 7);
  expect("a(w\xc3\xa4hrend) b((null)) c(7)");
  /* Every length, so that a text ends at each byte of a word, and at the ends of entries. */
  char every[200];
  for (int length = 0; length < 150; length++) {
    memset(every, 'a' + length % 26, sizeof every);
    every[length] = 0;
    EVENT("$n $s", length, every);
    next();
    char wanted[256];
    snprintf(wanted, sizeof wanted, "n(%d) s(%s)", length, every);
    CHECK_STR(text, wanted);
    CHECK_EQ(event.payload_size, 16 + (length + 7) / 8 * 8);
  }
}

static void arrays(void) {
  const int8_t i8[] = {INT8_MIN, INT8_MAX};
  uint8_t u8[] = {0, UINT8_MAX, 7};
  int16_t i16[] = {INT16_MIN, 1};
  const uint16_t u16[] = {UINT16_MAX};
  int32_t i32[] = {INT32_MIN};
  uint32_t u32[] = {UINT32_MAX, 5, 6};
  int64_t i64[] = {INT64_MIN};
  uint64_t u64[] = {UINT64_MAX};
  float f32[] = {0.1f, -3};
  double f64[] = {0.1, 1e300};
  EVENT("$a $b $c $d $e", TIMELINE_ARRAY(i8, 2), TIMELINE_ARRAY(u8, 3), TIMELINE_ARRAY(i16, 2), TIMELINE_ARRAY(u16, 1),
        TIMELINE_ARRAY(i32, 1));
  expect("a([-128, 127]) b([0, 255, 7]) c([-32768, 1]) d([65535]) e([-2147483648])");
  EVENT("$a:u32[] $b:i64[] $c:u64[] $d:f32[] $e:f64[] $f", TIMELINE_ARRAY(u32, 3), TIMELINE_ARRAY(i64, 1),
        TIMELINE_ARRAY(u64, 1), TIMELINE_ARRAY(f32, 2), TIMELINE_ARRAY(f64, 2), TIMELINE_ARRAY(f64, 0));
  expect("a([4294967295, 5, 6]) b([-9223372036854775808]) c([18446744073709551615]) d([0.1, -3.0]) e([0.1, 1e300]) f([])");
}

/* Interned texts are shown like copied ones. They take no room in the event, but for one word. */
static void interned(void) {
  char every[300];
  for (int round = 0; round < 2; round++) {
    for (int length = 0; length < 260; length += 1 + length % 7) {
      memset(every, 'a' + length % 26, sizeof every);
      every[length] = 0;
      EVENT("$n at $s:istr to $t:istr by $u", length, every, "eth0", every);
      next();
      char wanted[1024];
      snprintf(wanted, sizeof wanted, "n(%d) at s(%s) to t(eth0) by u(%s)", length, every, every);
      CHECK_STR(text, wanted);
    }
  }
  const char *null = NULL;
  const uint16_t numbers[] = {1, 2, 3};
  EVENT("$a:istr $b:u16[] $c:istr $d:f64 $e:istr $f:str", null, TIMELINE_ARRAY(numbers, 3), TIMELINE_WIDE(L"w\u00e4r"),
        0.5, TIMELINE_TEXT("eth0 and more", 4), "last");
  expect("a((null)) b([1, 2, 3]) c(w\xc3\xa4r) d(0.5) e(eth0) f(last)");
}

/* What does not fit is cut, in the order of the arguments, and says so. */
static void cut(void) {
  static char longer[4096];
  static uint16_t many[2048];
  memset(longer, 'x', sizeof longer - 1);
  EVENT("$n $s $last $t", 1, longer, 0.5, "too late");
  const size_t length = next();
  CHECK_EQ(event.payload_size, tl->payload);
  CHECK_STR(text + length - strlen(") last(0.5) t(\xe2\x80\xa6)"), ") last(0.5) t(\xe2\x80\xa6)");
  CHECK(strncmp(text, "n(1) s(xxx", 10) == 0 && strstr(text, "x\xe2\x80\xa6)") != NULL);
  EVENT("$a", TIMELINE_ARRAY(many, 2048));
  next();
  CHECK_EQ(event.payload_size, tl->payload);
  CHECK(strstr(text, "0, \xe2\x80\xa6])") != NULL);
  /* Before a character of UTF-8. */
  for (int shift = 0; shift < 3; shift++) {
    for (size_t i = 0; i + 3 < sizeof longer; i += 2) memcpy(longer + i, "\xc3\xa4", 2);
    EVENT("$s", longer + shift % 2);
    next();
    CHECK(strstr(text, "\xef\xbf\xbd") == NULL || shift == 1);
  }
}

static void many(void) {
  EVENT("$a0 $a1 $a2 $a3 $a4 $a5 $a6 $a7 $a8 $a9 $b0 $b1 $b2 $b3 $b4 $b5 $b6 $b7 $b8 $b9 $c0 $c1 $c2 $c3 $c4 $c5 $c6 "
        "$c7 $c8 $c9 $d0 $d1 $d2 $d3 $d4 $d5 $d6 $d7 $d8 $d9 $e0 $e1 $e2 $e3 $e4 $e5 $e6 $e7 $e8 $e9 $f0 $f1 $f2 $f3 "
        "$f4 $f5 $f6 $f7 $f8 $f9 $g0 $g1 $g2 $g3",
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
        32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60,
        61, 62, "last");
  next();
  CHECK(strncmp(text, "a0(0) a1(1) a2(2)", 17) == 0);
  CHECK(strstr(text, "g1(61) g2(62) g3(last)") != NULL);
}

/* The timeline says so as well. */
static void told(void) {
  CHECK_EQ(timeline_next(cursor, &event), TIMELINE_OK);
  CHECK_STR(event.category, "timeline");
  CHECK_EQ(timeline_next(cursor, &event), TIMELINE_END);
}

#define REFUSED(part, ...)                               \
  do {                                                   \
    EVENT(__VA_ARGS__);                                  \
    CHECK(strstr(timeline_last_error(), part) != NULL);  \
    told();                                              \
  } while (0)

static void refused(void) {
  /* A "$" by itself: the compiler does not look behind it. */
  REFUSED("has 2 arguments, and the statement has 1", "$ $a $b", 1);
  REFUSED("has 0 arguments, and the statement has 1", "no $", 1);
  REFUSED("$a of \"$ $a:f64\" has type f64 in the message, and i32 in the statement", "$ $a:f64", 1);
  REFUSED("f32", "$ $a:f64", 1.0f);
  REFUSED("ptr", "$ $a:str", (void *)0);
  REFUSED("str", "$ $a:u32", "text");
  REFUSED("i8[]", "$ $a:u8[]", TIMELINE_ARRAY((const signed char *)"x", 1));
  REFUSED("istr", "$ $a:istr", 1);
  REFUSED("expected one of i8", "$ $a:int", 1);

  /* The macro refuses a long double; the library does, too. */
  static const unsigned char long_double[] = {TIMELINE_LONG_DOUBLE_, 0};
  static timeline_site_t site = {"c", "$a", __FILE__, __LINE__, TIMELINE_SITE_EVENT, 0, 0, 0, 0};
  CHECK_EQ(timeline_site_define(tl, &site, TIMELINE_INFO, long_double), 0);
  CHECK(strstr(timeline_last_error(), "cast it") != NULL);
  told();
}

static void important(void) {
  for (int i = 0; i < 2; i++) {
    TIMELINE_IMPORTANT_EVENT(tl, TIMELINE_INFO, "c", "interface $id is $name", i, "eth0");
    next();
    CHECK(event.important && text[13] == '0' + i);
  }
  for (int i = 0; i < 2; i++) {
    TIMELINE_IMPORTANT_PRINTF(tl, TIMELINE_INFO, "group %d", i);
    TIMELINE_IMPORTANT_PRINTF(tl, TIMELINE_INFO, "group %d is %.3s", i, "internal");
    char wanted[64];
    for (int named = 0; named < 2; named++) {
      next();
      snprintf(wanted, sizeof wanted, named ? "group %d is int" : "group %d", i);
      CHECK_STR(text, wanted);
      CHECK(event.important);
    }
  }
  EVENT("$id is $name", 7, "eth0");
  next();
  CHECK(!event.important);
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "%d is %s", 7, "eth0");
  next();
  CHECK(!event.important);
}

#undef TIMELINE_CHANNELS
#define TIMELINE_CHANNELS "itv|bbc"
static void channels(void) {
  CHECK_EQ(timeline_channel(tl, "itv", true), TIMELINE_OK);
  for (int on = 0; on < 2; on++) {
    CHECK_EQ(timeline_channel(tl, "bbc", on), TIMELINE_OK);
    EVENT("on air: $n", on);
    TIMELINE_PRINTF(tl, TIMELINE_INFO, "on air: %d", on);
    TIMELINE_BACKTRACE(tl, TIMELINE_INFO, "from: %d", on);
  }
  const char *const wanted[] = {"on air: n(1)", "on air: 1", "from: 1"};
  for (int i = 0; i < 3; i++) {
    expect(wanted[i]);
    CHECK(strcmp(event.channels, "itv|bbc") == 0);
  }
  CHECK_EQ(timeline_next(cursor, &event), TIMELINE_END);
}

#undef TIMELINE_CHANNELS
#define TIMELINE_CHANNELS "no|channel name at all"
static void refused_channels(void) {
  REFUSED("channel", "$a", 1);
  CHECK_EQ(timeline_attach(NULL, NULL), TIMELINE_E_ARGUMENT);
  CHECK(strstr(timeline_last_error(), "channel") == NULL);
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "%d", 1);
  CHECK(strstr(timeline_last_error(), "channel") != NULL);
  told();
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  char path[4096];
  snprintf(path, sizeof path, "%s/ring", argv[1]);
  CHECK_EQ(timeline_new(path, 65536, 0, &tl), TIMELINE_OK);
  CHECK_EQ(timeline_attach(path, &at), TIMELINE_OK);
  CHECK_EQ(timeline_follow(at, TIMELINE_FROM_OLDEST, &cursor), TIMELINE_OK);
  numbers();
  bit_fields();
  texts();
  arrays();
  interned();
  cut();
  many();
  refused();
  important();
  channels();
  refused_channels();
  puts("tests/c/event.c: ok");
  return 0;
}
