/* Texts that do not fit, and texts that must not be read to their end. printf_limits DIR */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wchar.h>

#include <timeline.h>

#include "check.h"

static char path[4096], text[8192];
static timeline_t *tl;
static timeline_attached_t *at;
static timeline_cursor_t *cursor;
static timeline_event_t event;

static void begin(uint64_t entries) {
  CHECK_EQ(timeline_new(path, entries, 0, &tl), TIMELINE_OK);
  CHECK_EQ(timeline_attach(path, &at), TIMELINE_OK);
  CHECK_EQ(timeline_follow(at, TIMELINE_FROM_OLDEST, &cursor), TIMELINE_OK);
}

static void end(void) {
  CHECK_EQ(timeline_next(cursor, &event), TIMELINE_END);
  CHECK_EQ(timeline_missed(cursor), 0);
  timeline_cursor_free(cursor);
  timeline_attached_free(at);
  timeline_free(tl);
  CHECK_EQ(timeline_unlink(path), TIMELINE_OK);
}

/* Reads the next event's text. */
static size_t next(void) {
  size_t length = 0;
  CHECK_EQ(timeline_next(cursor, &event), TIMELINE_OK);
  CHECK_EQ(timeline_render(&event, text, sizeof text, &length), TIMELINE_OK);
  CHECK(length < sizeof text);
  CHECK(event.payload_size <= tl->payload);
  return length;
}

#define CUT "\xe2\x80\xa6"

static void expect(const char *wanted) {
  next();
  if (strcmp(text, wanted) != 0) {
    fprintf(stderr, "%u: is \"%s\", expected \"%s\"\n", event.line, text, wanted);
    exit(1);
  }
}

static char *filled(char *to, char byte, size_t length) {
  memset(to, byte, length);
  to[length] = 0;
  return to;
}

/* ISO C does not know %m. */
#pragma GCC diagnostic ignored "-Wformat"

/* One string around the limit: whole if it fits, else its beginning. */
static void one_string(void) {
  static char given[4096], wanted[4096];
  size_t longest = 0;
  int cut = 0;
  for (size_t length = tl->payload - 16; length < tl->payload + 8; length++) {
    TIMELINE_PRINTF(tl, TIMELINE_INFO, "%s", filled(given, 'x', length));
    const size_t read = next();
    if (!cut && read == length) {
      CHECK(strcmp(text, given) == 0);
      longest = length;
      continue;
    }
    cut = 1;
    filled(wanted, 'x', longest);
    CHECK(strcmp(text, strcat(wanted, CUT)) == 0);
  }
  CHECK_EQ(longest, tl->payload - 8);
  /* Never cut in the middle of a character. */
  for (size_t before = 0; before < 4; before++) {
    filled(given, 'x', before);
    for (size_t i = before; i + 4 < sizeof given; i += 3) memcpy(given + i, "\xe2\x82\xac", 4);
    TIMELINE_PRINTF(tl, TIMELINE_INFO, "%s", given);
    const size_t read = next();
    CHECK_EQ((read - before) % 3, 0);
    CHECK(read + 3 >= longest && read <= longest + 3);
    CHECK(strncmp(text, given, read - 3) == 0 && strcmp(text + read - 3, CUT) == 0);
  }
  /* Bytes that are not UTF-8 are cut anywhere. */
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "%s", filled(given, '\x80', 3000));
  CHECK_EQ(next(), longest + 3);
  /* Wide strings, and texts that the program writes out. */
  static wchar_t wide[3000];
  for (size_t i = 0; i + 1 < sizeof wide / sizeof *wide; i++) wide[i] = 0x20ac;
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "%ls", wide);
  const size_t read = next();
  CHECK(read % 3 == 0 && read + 3 >= longest && read <= longest + 3);
  CHECK(strcmp(text + read - 6, "\xe2\x82\xac" CUT) == 0);
  for (size_t length = longest - 4; length < longest + 4; length++) {
    errno = ENOENT;
    TIMELINE_PRINTF(tl, TIMELINE_INFO, "%m%s", filled(given, 'y', length - strlen(strerror(ENOENT))));
    CHECK_EQ(errno, ENOENT);
    CHECK_EQ(next(), length <= longest ? length : longest + 3);
    CHECK(strncmp(text, strerror(ENOENT), strlen(strerror(ENOENT))) == 0);
  }
}

#pragma GCC diagnostic warning "-Wformat"

/* The first takes the room it needs; the last has at least the mark. Numbers are always there. */
static void several(void) {
  static char a[4096], b[4096];
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "%d %s %d %s %d %s %lld %g", 1, filled(a, 'a', 10), 2, filled(b, 'b', 4000), 3, "third", 4LL, 5.0);
  next();
  CHECK(strncmp(text, "1 aaaaaaaaaa 2 bbbb", 19) == 0);
  CHECK(strstr(text, "b" CUT " 3 " CUT " 4 5") != NULL);
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s", a, a, a, a, a, a, a, a, a,
                  a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, b);
  next();
  CHECK(strstr(text, "b" CUT) != NULL);
  /* Values of the longest kind, beside a string. */
  const long double d = 0.5L;
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "%s|%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg",
                  b, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d);
  const size_t length = next();
  CHECK(length > 31 * 3 && strcmp(text + length - 6, "0.50.5") == 0);
  CHECK(strstr(text, "b" CUT "|0.5") != NULL);
  /* With the call stack as well. */
  TIMELINE_BACKTRACE(tl, TIMELINE_INFO, "%s|%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg%Lg",
                     b, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d);
  next();
  CHECK(event.backtrace_count >= 2);
  CHECK(strstr(text, CUT "|0.5") != NULL && strstr(text, "0.50.5") != NULL);
}

/* Strings that end where the memory does, without a NUL: only a precision says how long they
 * are. */
static void at_the_edge(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *const pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED);
  CHECK(mprotect(pages + page, page, PROT_NONE) == 0);
  char *const last = pages + page - 5;
  memcpy(last, "abcde", 5);
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "%.5s|%.*s|%.3s|%.0s|%.*s", last, 5, last, last, last + 5, 0, last + 5);
  expect("abcde|abcde|abc||");
  last[4] = 0;
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "%s|%.100s|%.*s", last, last, -1, last);
  expect("abcd|abcd|abcd");
  /* Longer than the room: bytes behind that are not read. */
  memset(pages, 'z', page);
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "%.*s", 1 << 20, pages + page - tl->payload);
  CHECK_EQ(next(), tl->payload - 16 + 3);
  /* The precision of a wide string counts bytes, and never leaves half a character. */
  wchar_t *const wide = (wchar_t *)(void *)(pages + page) - 3;
  wide[0] = 0xe4;
  wide[1] = 0x20ac;
  wide[2] = 'c';
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "%.6ls|%.*ls|%.4ls|%.1ls|%.0ls", wide, 5, wide, wide, wide, wide + 3);
  expect("\xc3\xa4\xe2\x82\xac" "c|\xc3\xa4\xe2\x82\xac|\xc3\xa4||");
  /* Numbers that are not characters. */
  wide[0] = 0xd800;
  wide[1] = (wchar_t)0x110000;
  wide[2] = 0;
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "%ls", wide);
  expect("\xef\xbf\xbd\xef\xbf\xbd");
  munmap(pages, 2 * page);
}

/* Texts of all short lengths that begin anywhere in a block of 16 bytes, also at the end of the memory. What
 * is behind their NUL, and before them, is not theirs. */
static void short_ones(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *const pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED);
  CHECK(mprotect(pages + page, page, PROT_NONE) == 0);
  char wanted[256];
  for (size_t length = 0; length < 70; length++) {
    for (size_t behind = 0; behind <= 16; behind++) {
      char *const begin = pages + page - behind - length - 1;
      memset(pages, behind % 2 ? 0 : 'x', page);
      for (size_t i = 0; i < length; i++) begin[i] = (char)('A' + (i + behind) % 50);
      begin[length] = 0;
      TIMELINE_PRINTF(tl, TIMELINE_INFO, "%s|%d|%s", begin, (int)length, begin);
      snprintf(wanted, sizeof wanted, "%s|%d|%s", begin, (int)length, begin);
      expect(wanted);
      TIMELINE_EVENT(tl, TIMELINE_INFO, "test", "$a:str$b:str", begin, TIMELINE_TEXT(begin, length));
      snprintf(wanted, sizeof wanted, "a(%s)b(%s)", begin, begin);
      expect(wanted);
    }
  }
  munmap(pages, 2 * page);
}

/* Taken, and nothing stored. */
static void not_stored(void) {
  int unchanged = 77;
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "%d%n %s", 5, &unchanged, "behind");
  expect("5 behind");
  CHECK_EQ(unchanged, 77);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  snprintf(path, sizeof path, "%s/ring", argv[1]);
  /* Chunks of 16 entries, and of more entries than an event can take. */
  static const struct {
    uint64_t entries;
    uint32_t payload;
  } rings[] = {{256, 40 + 15 * 48}, {65536, 40 + 31 * 48}};
  for (size_t i = 0; i < sizeof rings / sizeof *rings; i++) {
    begin(rings[i].entries);
    CHECK_EQ(tl->payload, rings[i].payload);
    one_string();
    several();
    at_the_edge();
    short_ones();
    not_stored();
    end();
  }
  puts("printf_limits: ok");
  return 0;
}
