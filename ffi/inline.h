#ifndef TIMELINE_NO_INLINE
#define TIMELINE_NO_INLINE

#if defined(__GNUC__)
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Whether `timeline_log` would log the event now: a comparison and the load of one byte, without a
 * call. False for NULL, event 0 and events out of range. Any thread. If TIMELINE_NO_INLINE is
 * defined before the first inclusion, this function and the rest of the header are left out.
 */
#if defined(__GNUC__)
__attribute__((unused)) /* Clang warns when it compiles the header itself. */
#endif
static inline bool timeline_enabled(const timeline_t *tl, uint32_t event) {
  if (!tl || event >= tl->events) return false;
  /* volatile: other threads and processes change the byte, so every call has to read it. */
  const volatile uint8_t *const enabled = tl->enabled + event;
  return *enabled != 0;
}

/**
 * The argument of timeline_log for `$name:f64`: the bits of the number. Any thread.
 */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int64_t timeline_f64(double number) {
  union {
    double number;
    int64_t bits;
  } word;
  word.number = number;
  return word.bits;
}

/**
 * The argument of timeline_log for `$name:f32`: the bits of the number. Any thread.
 */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int64_t timeline_f32(float number) {
  union {
    float number;
    uint32_t bits;
  } word;
  word.number = number;
  return word.bits;
}

#if defined(__GNUC__)

/**
 * The category of the events of `TIMELINE_PRINTF` and `TIMELINE_BACKTRACE`: its value at the
 * statement counts. Define your own before including the header, or redefine it between two
 * statements.
 */
#ifndef TIMELINE_CATEGORY
#define TIMELINE_CATEGORY "printf"
#endif

/**
 * Logs with a format of printf:
 *
 * `TIMELINE_PRINTF(tl, TIMELINE_INFO, "took %d ms for %s at %p", ms, name, at);`
 *
 * The compiler checks the arguments against the format, which is a literal. The reader makes the
 * text: an event has the values in binary, and copies of strings. The format, the file and the line
 * are stored once. Arguments are evaluated only when the event is enabled.
 *
 * `tl`: a `timeline_t *`; NULL logs nothing. In C++, with timeline.hpp, also a ring. `level`:
 * `TIMELINE_ERROR` to `TIMELINE_LIBRARY`, constant or variable; any other number logs nothing.
 *
 * A statement defines its event when it first runs for a timeline and a level, which takes locks
 * and allocates. After that it is like `timeline_log`: no lock, no allocation, no waiting, safe in
 * a signal handler. It leaves `errno` alone, and needs at most 6 KiB of stack.
 *
 * An event that cannot be defined is never logged; `timeline_last_error` says why. But if the
 * timeline stays locked, or the system refuses, the failure may pass: then one run in 1,024 tries
 * again, and the events until then are dropped and counted. A process waits some seconds for such a
 * lock; after a wait in vain only some 2 milliseconds a try, until it gets the lock. A signal
 * handler does not try again. Neither does a statement whose call stack leads through a function
 * without unwind tables, because a handler may be hidden there. To find out, that one run in 1,024
 * walks over the call stack. With libgcc before 12 or glibc before 2.35 this takes the loader's
 * lock, and a handler that interrupted dlopen in its own thread may wait for ever.
 *
 * All formats of printf are accepted: `*`, `%.*s`, `%Lf`, `%ls` (as UTF-8). An event has room for
 * 1,526 bytes, in small rings for less (758 in the smallest): numbers always fit, strings share the
 * rest in order, and a string that does not fit is cut and ends in `…`. A `%s` with a precision
 * reads no further than that. Widths and precisions count up to 4,096 (C99 asks for 4,095), a whole
 * text up to 65,536 bytes, a format up to 4,096: a longer field or text is cut and ends in `…`, a
 * longer format cannot be defined. `""` logs that the statement was reached. `%n` stores nothing.
 * For formats with `%1$d`, `%m`, more than 32 arguments, or conversions that C99 does not know, the
 * program calls vsnprintf: that is slower, and as safe in a signal handler as the C library makes
 * it.
 */
#define TIMELINE_PRINTF(tl, level, ...) TIMELINE_STATEMENT_(tl, level, 0, (void)0, __VA_ARGS__)

/**
 * Like `TIMELINE_PRINTF`, with the call stack: return addresses, innermost first, for which readers
 * find the names of functions and their files.
 *
 * `TIMELINE_BACKTRACE(tl, TIMELINE_ERROR, "bad block %u", number);`
 *
 * A stack deeper than 32 is cut off: the outermost frames, those next to `main`, are missing,
 * without a mark.
 *
 * The addresses take up to 291 bytes of an event's room. `timeline_backtrace` says how safe it is
 * in signal handlers.
 */
#define TIMELINE_BACKTRACE(tl, level, ...) \
  TIMELINE_STATEMENT_(tl, level, TIMELINE_SITE_BACKTRACE, TIMELINE_STAY_, __VA_ARGS__)

/* From here on: the parts of these two macros. */

/* timeline.hpp replaces these by ones that take more types. */
#define TIMELINE_HANDLE_(tl) (tl)
#define TIMELINE_LEVEL_(level) (level)

/* The format among the arguments: only a literal compiles beside another literal. */
#define TIMELINE_FORMAT_(format, ...) "" format

/* Follows the call, so that it is not a tail call, which would remove the frame of its function. */
#define TIMELINE_STAY_ __asm__ __volatile__("")

/* An empty format is not a mistake: it is logged like any other. */
#define TIMELINE_QUIET_ \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wformat-zero-length\"")
#define TIMELINE_QUIET_END_ _Pragma("GCC diagnostic pop")

#define TIMELINE_STATEMENT_(tl, level, flags, after, ...)                                                \
  do {                                                                                                   \
    TIMELINE_QUIET_                                                                                      \
    static timeline_site_t timeline_site_ = {                                                            \
        TIMELINE_CATEGORY, TIMELINE_FORMAT_(__VA_ARGS__, 0), __FILE__, __LINE__, flags, {0}, {0}, 0};    \
    timeline_t *const timeline_tl_ = TIMELINE_HANDLE_(tl);                                               \
    uint32_t timeline_event_;                                                                            \
    if (timeline_says_(timeline_tl_, &timeline_site_, TIMELINE_LEVEL_(level), &timeline_event_)) {       \
      timeline_printf_(timeline_tl_, &timeline_site_, timeline_event_, __VA_ARGS__);                     \
      after;                                                                                             \
    }                                                                                                    \
    TIMELINE_QUIET_END_                                                                                  \
  } while (0)

#ifdef __cplusplus
#define TIMELINE_CAST_(type, value) (static_cast<type>(value))
#define TIMELINE_POINTER_CAST_(type, value) (reinterpret_cast<type>(value))
#else
#define TIMELINE_CAST_(type, value) ((type)(value))
#define TIMELINE_POINTER_CAST_(type, value) ((type)(value))
#endif

/* Whether a statement logs now, and which event. */
__attribute__((unused)) static inline bool timeline_says_(timeline_t *tl, timeline_site_t *site, int32_t level,
                                                          uint32_t *event) {
  if (!tl || level < TIMELINE_ERROR || level > TIMELINE_LIBRARY) return false;
  const uint32_t priority = TIMELINE_CAST_(uint32_t, level);
  /* The bits above the event are the handle and the level. Acquire (pairs with the Release in
   * timeline_site_define): a thread that sees the event sees the types. */
  const uint64_t word = __atomic_load_n(&site->events[(tl->serial + priority) % 8], __ATOMIC_ACQUIRE);
  *event = TIMELINE_CAST_(uint32_t, word & 0xffffff);
  if (__builtin_expect(word >> 24 != (TIMELINE_CAST_(uint64_t, tl->serial) << 8 | priority), 0))
    *event = timeline_site_define(tl, site, level);
  /* Event 0 is never enabled. volatile: as in timeline_enabled. */
  const volatile uint8_t *const enabled = tl->enabled + *event;
  return *enabled != 0;
}

/* The limit where there is none. */
#define TIMELINE_NO_LIMIT_ (~TIMELINE_CAST_(size_t, 0))

/* A marker of msgpack, and a big-endian number behind it. */
__attribute__((unused)) static inline unsigned char *timeline_put_(unsigned char *to, unsigned marker,
                                                                   uint64_t number, unsigned bytes) {
  *to++ = TIMELINE_CAST_(unsigned char, marker);
  while (bytes-- > 0) *to++ = TIMELINE_CAST_(unsigned char, number >> (8 * bytes) & 0xff);
  return to;
}

/* The header of a string that is cut to `length` bytes: four bytes. */
__attribute__((unused)) static inline unsigned char *timeline_put_cut_(unsigned char *to, size_t length) {
  to = timeline_put_(to, 0xc8, length, 2);
  *to++ = 1;
  return to;
}

/* A string: at most `limit` bytes of it, in at most `room` bytes, which are at least four. */
__attribute__((unused)) static inline unsigned char *timeline_put_text_(unsigned char *to, const char *text,
                                                                        size_t limit, size_t room) {
  if (!text) return timeline_put_(to, 0xc0, 0, 0);
  /* A text longer than its room need not be read to its end. */
  const size_t most = limit < room ? limit : room;
  const void *const end = memchr(text, 0, most);
  size_t length = end ? TIMELINE_CAST_(size_t, TIMELINE_CAST_(const char *, end) - text) : most;
  if (length <= 0xff && length + 2 <= room) {
    to = timeline_put_(to, 0xd9, length, 1);
  } else if (length + 3 <= room) {
    to = timeline_put_(to, 0xda, length, 2);
  } else {
    /* Cut before a character of UTF-8, which has up to three bytes after its first. */
    length = room - 4;
    size_t whole = length;
    for (int i = 0; i < 3 && whole > 0 && (text[whole] & 0xc0) == 0x80; i++) whole--;
    if ((text[whole] & 0xc0) == 0xc0) length = whole;
    to = timeline_put_cut_(to, length);
  }
  memcpy(to, text, length);
  return to + length;
}

/* A wide character as UTF-8: how many bytes it has. */
__attribute__((unused)) static inline size_t timeline_utf8_(wchar_t wide, unsigned char *to) {
  uint32_t c = TIMELINE_CAST_(uint32_t, wide);
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = 0xfffd;
  const size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (size_t i = length; i-- > 1; c >>= 6) to[i] = TIMELINE_CAST_(unsigned char, 0x80 | (c & 0x3f));
  static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
  to[0] = TIMELINE_CAST_(unsigned char, first[length - 1] | c);
  return length;
}

/* Like timeline_put_text_, for a wide string. The limit counts bytes, and divides no character. */
__attribute__((unused)) static inline unsigned char *timeline_put_wide_(unsigned char *to, const wchar_t *text,
                                                                        size_t limit, size_t room) {
  if (!text) return timeline_put_(to, 0xc0, 0, 0);
  unsigned char *const begin = to + 4;
  size_t length = 0;
  bool cut = false;
  while (length < limit && *text) {
    unsigned char piece[4];
    const size_t more = timeline_utf8_(*text++, piece);
    if (length + more > limit) break;
    cut = length + more > room - 4;
    if (cut) break;
    memcpy(begin + length, piece, more);
    length += more;
  }
  if (cut) {
    timeline_put_cut_(to, length);
    return begin + length;
  }
  memmove(timeline_put_(to, 0xda, length, 2), begin, length);
  return begin + length - 1;
}

/* The whole text, written by vsnprintf; nothing if that fails. */
__attribute__((unused, format(printf, 3, 0))) static inline unsigned char *timeline_put_all_(
    unsigned char *to, size_t room, const char *format, va_list arguments) {
  const size_t most = room - 4;
  const int length = vsnprintf(TIMELINE_POINTER_CAST_(char *, to + 3), most + 1, format, arguments);
  if (length < 0) return to;
  if (TIMELINE_CAST_(size_t, length) <= most)
    return timeline_put_(to, 0xda, TIMELINE_CAST_(size_t, length), 2) + length;
  memmove(to + 4, to + 3, most);
  return timeline_put_cut_(to, most) + most;
}

/* Encodes the values by the types of the site, and logs them.
 *
 * Not inlined: a call stack begins at its return address. */
__attribute__((unused, noinline, format(printf, 4, 5))) static void timeline_printf_(
    timeline_t *tl, timeline_site_t *site, uint32_t event, const char *format, ...) {
  const int error = errno;
  unsigned char payload[1528]; /* 32 entries */
  unsigned char *const end = payload + (tl->payload < sizeof payload ? tl->payload : sizeof payload);
  unsigned char *at = payload;
  /* The values still to come take at least this. */
  size_t reserved = __atomic_load_n(&site->reserve, __ATOMIC_RELAXED);
  if (site->flags & TIMELINE_SITE_BACKTRACE)
    at += timeline_backtrace(tl, __builtin_return_address(0), at, TIMELINE_CAST_(size_t, end - at) - reserved);
  size_t before = TIMELINE_NO_LIMIT_; /* The int before, as a precision; none below 0. */
  va_list arguments;
  va_start(arguments, format);
  for (unsigned i = 0; i < 32; i++) {
    const uint32_t type = __atomic_load_n(&site->types[i], __ATOMIC_RELAXED);
    if (type == 0) break;
    size_t limit = type >> 8 == 0xffffff ? TIMELINE_NO_LIMIT_ : type >> 8;
    switch (type & 0xff) {
      case 'i': {
        const int number = va_arg(arguments, int);
        before = number < 0 ? TIMELINE_NO_LIMIT_ : TIMELINE_CAST_(size_t, number);
        at = timeline_put_(at, 0xd2, TIMELINE_CAST_(uint32_t, number), 4);
        reserved -= 5;
        break;
      }
      case 'u':
        at = timeline_put_(at, 0xce, va_arg(arguments, unsigned), 4);
        reserved -= 5;
        break;
      case 'l':
        at = timeline_put_(at, 0xd3, TIMELINE_CAST_(uint64_t, va_arg(arguments, int64_t)), 8);
        reserved -= 9;
        break;
      case 'U':
        at = timeline_put_(at, 0xcf, va_arg(arguments, uint64_t), 8);
        reserved -= 9;
        break;
      case 'p':
        at = timeline_put_(at, 0xcf, TIMELINE_POINTER_CAST_(uintptr_t, va_arg(arguments, void *)), 8);
        reserved -= 9;
        break;
      case 'd': {
        const double number = va_arg(arguments, double);
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        at = timeline_put_(at, 0xcb, bits, 8);
        reserved -= 9;
        break;
      }
      case 'D': {
        const long double number = va_arg(arguments, long double);
        at = timeline_put_(at, 0xd8, 2, 1);
        memset(at, 0, 16);
        /* The bytes after the x87's 80 bits are padding, which may hold anything. */
        memcpy(at, &number, __LDBL_MANT_DIG__ == 64 ? 10 : sizeof number);
        at += 16;
        reserved -= 18;
        break;
      }
      case 'S':
      case 's':
        if ((type & 0xff) == 'S') limit = before;
        reserved -= 4;
        at = timeline_put_text_(at, va_arg(arguments, const char *), limit,
                                TIMELINE_CAST_(size_t, end - at) - reserved);
        break;
      case 'W':
      case 'w':
        if ((type & 0xff) == 'W') limit = before;
        reserved -= 4;
        at = timeline_put_wide_(at, va_arg(arguments, const wchar_t *), limit,
                                TIMELINE_CAST_(size_t, end - at) - reserved);
        break;
      case 'n':
        (void)va_arg(arguments, void *);
        break;
      case 'v':
        errno = error; /* %m */
        at = timeline_put_all_(at, TIMELINE_CAST_(size_t, end - at), format, arguments);
        break;
      default:
        break;
    }
  }
  va_end(arguments);
  timeline_log_payload(tl, event, payload, TIMELINE_CAST_(size_t, at - payload), site->flags);
  errno = error;
}

#endif /* __GNUC__ */

#ifdef __cplusplus
}
#endif
#endif
