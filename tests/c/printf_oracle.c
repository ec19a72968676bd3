/* Formats requests with the C library's vsnprintf. Standard input holds requests, standard output
 * their results, all numbers in the machine's order:
 *   request  u32 length, format, u32 count, arguments
 *   argument 'g' 8 bytes: an integer, a pointer or a double | 'L' 16 bytes: a long double
 *            's' u32 length, bytes: a string | 'w' u32 length, that many u32: a wide string
 *            'n': a pointer to write to
 *   result   i32 returned by vsnprintf, and as many bytes */
#include <locale.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#ifndef __x86_64__
#error "how va_list looks is known for x86-64"
#endif

enum { MOST_SLOTS = 128, MOST_STRINGS = 64, LONGEST = 1 << 20 };

/* System V ABI, AMD64, 3.5.7. Arguments are taken from the overflow area when the registers are
 * used up: each in eight bytes, a long double in sixteen, aligned. */
struct list {
  unsigned int gp_offset, fp_offset;
  void *overflow_arg_area, *reg_save_area;
};
enum { GP_USED_UP = 48, FP_USED_UP = 176 };

static _Alignas(16) unsigned char area[MOST_SLOTS * 8];
static size_t used;
static void *strings[MOST_STRINGS];
static size_t string_count;
static uint64_t nowhere[2];

static void must(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "printf_oracle: expected %s\n", what);
  exit(1);
}

static void take(void *to, size_t length) { must(fread(to, 1, length, stdin) == length, "a whole request"); }

static uint32_t take_u32(void) {
  uint32_t number;
  take(&number, sizeof number);
  return number;
}

/* Elements of a size, and one of zeros behind them. */
static void *take_string(size_t size) {
  const size_t length = take_u32();
  must(length <= LONGEST && string_count < MOST_STRINGS, "fewer and shorter strings");
  void *string = calloc(length + 1, size);
  must(string != NULL, "memory");
  take(string, length * size);
  strings[string_count++] = string;
  return string;
}

static void put(const void *bytes, size_t length) {
  must(used + length <= sizeof area, "fewer arguments");
  memcpy(area + used, bytes, length);
  used += length;
}

static void take_argument(void) {
  unsigned char bytes[16];
  void *pointer = nowhere;
  switch (getchar()) {
    case 'g':
      take(bytes, 8);
      put(bytes, 8);
      return;
    case 'L':
      take(bytes, 16);
      used = (used + 15) / 16 * 16;
      put(bytes, 16);
      return;
    case 's':
      pointer = take_string(1);
      break;
    case 'w':
      pointer = take_string(sizeof(wchar_t));
      break;
    case 'n':
      break;
    default:
      must(0, "a known argument");
  }
  put(&pointer, sizeof pointer);
}

int main(void) {
  static char text[LONGEST];
  must(setlocale(LC_CTYPE, "C.UTF-8") != NULL, "the locale C.UTF-8");
  for (int first; (first = getchar()) != EOF;) {
    ungetc(first, stdin);
    used = string_count = 0;
    const char *format = take_string(1);
    for (uint32_t left = take_u32(); left > 0; left--) take_argument();

    const struct list raw = {GP_USED_UP, FP_USED_UP, area, NULL};
    va_list list;
    must(sizeof list == sizeof raw, "the va_list of x86-64");
    memcpy(list, &raw, sizeof raw);
    const int32_t length = vsnprintf(text, sizeof text, format, list);
    must(length < LONGEST, "a shorter result");

    fwrite(&length, sizeof length, 1, stdout);
    if (length > 0) fwrite(text, 1, (size_t)length, stdout);
    while (string_count > 0) free(strings[--string_count]);
  }
  return 0;
}
