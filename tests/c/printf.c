/* An event of TIMELINE_PRINTF is read as snprintf writes it: each conversion, with edge values.
 *
 *   printf DIR: makes DIR/ring, and DIR/expected with the texts, each behind its length. */
#define _POSIX_C_SOURCE 200809L
#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <sys/types.h>
#include <wchar.h>

#include <timeline.h>

#include "check.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { MOST = 2000, LONGEST = 8192 };
static timeline_t *tl;
static struct {
  char *text;
  int length, line;
} expected[MOST];
static int count;

/* Keeps the text of snprintf. */
static void keep(const char *text, int length, int line) {
  CHECK(length >= 0 && length < LONGEST && count < MOST);
  expected[count].text = malloc((size_t)length + 1);
  memcpy(expected[count].text, text, (size_t)length + 1);
  expected[count].length = length;
  expected[count++].line = line;
}

#define SAME(...)                                                       \
  do {                                                                  \
    char text_[LONGEST];                                                \
    TIMELINE_PRINTF(tl, TIMELINE_INFO, __VA_ARGS__);                    \
    keep(text_, snprintf(text_, sizeof text_, __VA_ARGS__), __LINE__);  \
  } while (0)

static void texts(void) {
  SAME("plain");
  SAME("100%% of it\n");
  SAME("%s", "");
  SAME("%s and %s", "one", "another");
  SAME("%10s|%-10s|%.2s|%10.3s|%.0s|%.s", "right", "left", "cut here", "narrow", "none", "none");
  SAME("%*s|%-*s|%*s", 8, "wide", 8, "wide", -8, "left");
  SAME("%.*s|%.*s|%*.*s", 3, "abcdef", -1, "whole", 7, 2, "both");
  SAME("%c%c%c|%5c|%-5c|", 'a', '\t', 0x7f, 'r', 'l');
  SAME("a NUL: %c.", 0);
  const char *volatile none = NULL;
  SAME("%s %.3s %.6s %10s", none, none, none, none);
  SAME("%ls|%.4ls|%8ls|%-8ls|", L"w\u00e4hr\u20ac \U0001f600", L"\u00e4\u20ac", L"\u00e4", L"\u20ac");
  SAME("%.*ls|%lc%lc", 2, L"\u00e4\u00e4", (wint_t)0xe4, (wint_t)0x20ac);
  SAME("%s UTF-8 \xc3\xa4 %s", "\xe2\x82\xac", "\xf0\x9f\x98\x80");
  SAME("not UTF-8: %s", "caf\xe9 \xff\x80");
  for (int length = 250; length < 262; length++) {
    char text[300];
    memset(text, 'x', sizeof text);
    text[length] = 0;
    SAME("%s|%d", text, length);
    SAME("%.*s|%d", length, text, length);
  }
}

/* Arguments whose types C promotes, or that are no plain pointers. */
static void other_types(void) {
  static const float floats[] = {0, -0.0f, 1.5f, -0.1f, 1e-45f, FLT_MAX, -FLT_MIN, INFINITY, -INFINITY, NAN};
  for (size_t i = 0; i < COUNT(floats); i++) {
    SAME("%f|%g|%a|%.9e", floats[i], floats[i], floats[i], floats[i]);
    SAME("%f of %s, %d %.*g", floats[i], "text", 7, 9, floats[i]);
    SAME("%Lf|%f", (long double)floats[i], floats[i]);
  }
  volatile char text[] = "volatile";
  const volatile char *const constant = text;
  volatile unsigned char bytes[] = "unsigned";
  const volatile signed char letters[] = "signed";
  SAME("%s|%.3s|%*s|%s", text, constant, 10, constant, bytes);
  SAME("%s|%d|%.4s", letters, 1, bytes);
  SAME("%p", (volatile void *)text);
#ifndef __cplusplus
  SAME("%p|%p", text, bytes);
#endif
  const struct {
    int a : 3;
    unsigned b : 5, c : 32;
    long d : 40;
    unsigned long e : 40;
    bool f : 1;
  } bits = {-2, 17, UINT_MAX, -5, 1ul << 39, true};
  SAME("%d %u %u %d", bits.a, bits.b, bits.c, bits.f);
  SAME("%ld %lu %s", (long)bits.d, (unsigned long)bits.e, "text");
}

static void integers(void) {
  static const int64_t values[] = {0, 1, -1, 9, 10, 127, 128, -128, -129, 255, 256, SHRT_MAX, SHRT_MIN, USHRT_MAX, INT_MAX,
                                   INT_MIN, (int64_t)INT_MAX + 1, (int64_t)INT_MIN - 1, UINT_MAX, INT64_MAX, INT64_MIN};
  for (size_t i = 0; i < COUNT(values); i++) {
    const int64_t v = values[i];
    const uint64_t u = (uint64_t)v;
    SAME("%d %i %u %o %x %X", (int)v, (int)v, (unsigned)u, (unsigned)u, (unsigned)u, (unsigned)u);
    SAME("%hhd %hhu %hd %hu", (signed char)v, (unsigned char)u, (short)v, (unsigned short)u);
    SAME("%ld %lu %lo %lx %lld %llu %llX", (long)v, (unsigned long)u, (unsigned long)u, (unsigned long)u, (long long)v,
         (unsigned long long)u, (unsigned long long)u);
    SAME("%jd %ju %zd %zu %td", (intmax_t)v, (uintmax_t)u, (ssize_t)v, (size_t)u, (ptrdiff_t)v);
    SAME("%" PRId64 " %" PRIu32 " %" PRIx8, v, (uint32_t)u, (uint8_t)u);
    SAME("%+d|% d|%8d|%-8d|%08d|%.5d|%8.3d|%+.3d", (int)v, (int)v, (int)v, (int)v, (int)v, (int)v, (int)v, (int)v);
    SAME("%#x|%#o|%#X|%#010x|%.0x|%#.0o", (unsigned)u, (unsigned)u, (unsigned)u, (unsigned)u, (unsigned)u, (unsigned)u);
    SAME("%*d|%-*d|%.*d|%*.*ld", 12, (int)v, 12, (int)v, 4, (int)v, 25, 22, (long)v);
    SAME("%p", (void *)(uintptr_t)u);
    SAME("%20p|%-20p|", (void *)(uintptr_t)u, (void *)(uintptr_t)u);
  }
}

static void floating_point(void) {
  static const double values[] = {0.0, -0.0, 1.0, -1.5, 0.5, 2.5, 0.1, 1e-5, 123456.789, 99999.75, 1e15, 1e16, DBL_MAX, -DBL_MAX,
                                  DBL_MIN, 4.9406564584124654e-324, DBL_EPSILON, INFINITY, -INFINITY, NAN, 1e22, 1e23};
  for (size_t i = 0; i < COUNT(values); i++) {
    const double d = values[i];
    SAME("%f %e %g %a", d, d, d, d);
    SAME("%F %E %G %A", d, d, d, d);
    SAME("%.0f %.0e %.0g %.0a|%#.0f %#g", d, d, d, d, d, d);
    SAME("%.3f %.20e %.17g %.1a", d, d, d, d);
    SAME("%+f|% f|%20.3f|%-20.3f|%020.3f|%*.*f", d, d, d, d, d, 18, 4, d);
    const long double third = (long double)d / 3;
    SAME("%Lf %Le %Lg %La", third, third, third, third);
  }
  static const long double longer[] = {LDBL_MAX, LDBL_MIN, -LDBL_MIN, LDBL_EPSILON, (long double)INFINITY, (long double)NAN, 0.1L};
  for (size_t i = 0; i < COUNT(longer); i++) {
    SAME("%.10Le %.21Lg %La", longer[i], longer[i], longer[i]);
    SAME("%Lf", longer[i]);
  }
  SAME("%f %d %Lf %s %g", 0.25, 7, 0.75L, "between", 1e100);
}

/* More arguments than registers, of all classes; and the most that are encoded one by one. */
static void many(void) {
  SAME("%d %f %s %ld %Lf %c %u %g %p %zu %s %hhd %lld %e %x %.3s %Lg %d", 1, 2.0, "3", 4L, 5.0L, '6', 7u, 8.0, (void *)9,
       (size_t)10, "11", (signed char)12, 13LL, 14.0, 15u, "16xx", 17.0L, 18);
  SAME("%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
       17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32);
  SAME("%Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg %Lg",
       1.5L, 2.5L, 3.5L, 4.5L, 5.5L, 6.5L, 7.5L, 8.5L, 9.5L, 10.5L, 11.5L, 12.5L, 13.5L, 14.5L, 15.5L, 16.5L, 17.5L, 18.5L, 19.5L, 20.5L,
       21.5L, 22.5L, 23.5L, 24.5L, 25.5L, 26.5L, 27.5L, 28.5L, 29.5L, 30.5L, 31.5L, 32.5L);
  /* One more than that, and forty: the program writes out the text. */
  SAME("%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%s", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
       17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, "33");
  SAME("%d%s%d%s%d%s%d%s%d%s%d%s%d%s%d%s%d%s%d%s%d%s%d%s%d%s%d%s%d%s%d%s%d%s%d%s%d%s%d%s", 1, "b", 3, "d", 5, "f", 7, "h", 9, "j",
       11, "l", 13, "n", 15, "p", 17, "r", 19, "t", 21, "v", 23, "x", 25, "z", 27, "b", 29, "d", 31, "f", 33, "h", 35, "j", 37, "l",
       39, "n");
}

/* Checked by the reader of C; and kept in a file, for other readers. */
static void compare(const char *ring, const char *file) {
  timeline_attached_t *at = NULL;
  timeline_cursor_t *cursor = NULL;
  timeline_event_t event;
  FILE *const out = fopen(file, "wb");
  CHECK(out != NULL);
  CHECK_EQ(timeline_attach(ring, &at), TIMELINE_OK);
  CHECK_EQ(timeline_events(at, TIMELINE_OLDEST_FIRST, &cursor), TIMELINE_OK);
  for (int i = 0; i < count; i++) {
    char text[LONGEST];
    size_t length = 0;
    CHECK_EQ(timeline_next(cursor, &event), TIMELINE_OK);
    CHECK_EQ(timeline_render(&event, text, sizeof text, &length), TIMELINE_OK);
    if ((int)length != expected[i].length || memcmp(text, expected[i].text, length + 1) != 0) {
      fprintf(stderr, "%s:%d: %s\n  is    \"%s\"\n  to be \"%s\"\n", __FILE__, expected[i].line, event.message, text,
              expected[i].text);
      exit(1);
    }
    CHECK_EQ(event.syntax, TIMELINE_FORMAT);
    CHECK_EQ(event.line, expected[i].line);
    CHECK(strstr(event.file, "printf.c") != NULL);
    CHECK(strcmp(event.category, "printf") == 0);
    CHECK_EQ(event.priority, TIMELINE_INFO);
    CHECK_EQ(event.argument_count, 0);
    CHECK_EQ(event.backtrace_count, 0);
    /* Too small a buffer gets the beginning. */
    if (length > 0) {
      char part[LONGEST];
      CHECK_EQ(timeline_render(&event, part, length, NULL), TIMELINE_OK);
      CHECK(strlen(part) <= length - 1 && strncmp(part, text, strlen(part)) == 0);
    }
    fprintf(out, "%zu ", length);
    fwrite(text, 1, length, out);
  }
  CHECK_EQ(timeline_next(cursor, &event), TIMELINE_END);
  timeline_cursor_free(cursor);
  timeline_attached_free(at);
  CHECK(fclose(out) == 0);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  /* Wide characters as UTF-8, all else as in C. */
  CHECK(setlocale(LC_CTYPE, "C.UTF-8") != NULL);
  char ring[4096], file[4096];
  snprintf(ring, sizeof ring, "%s/ring", argv[1]);
  snprintf(file, sizeof file, "%s/expected", argv[1]);
  CHECK_EQ(timeline_new(ring, 65536, 0, &tl), TIMELINE_OK);
  texts();
  other_types();
  integers();
  floating_point();
  many();
  compare(ring, file);
  timeline_free(tl);
  for (int i = 0; i < count; i++) free(expected[i].text);
  puts("printf: ok");
  return 0;
}
