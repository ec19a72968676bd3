/* Statements as programs write them, in C and in C++. */

/**
 * The category of the events of `TIMELINE_PRINTF` and `TIMELINE_BACKTRACE`: its value at the
 * statement counts. Define your own before including the header, or redefine it between two
 * statements, after an `#undef`.
 */
#ifndef TIMELINE_CATEGORY
#define TIMELINE_CATEGORY "printf"
#endif

/**
 * The channels of the events of `TIMELINE_EVENT`, `TIMELINE_SPAN`, `TIMELINE_PRINTF` and `TIMELINE_BACKTRACE`, as in
 * `timeline_attributes_t`: its value at the statement counts. Define your own before including the header, or redefine
 * it between two statements:
 *
 *     #undef TIMELINE_CHANNELS
 *     #define TIMELINE_CHANNELS "itv|bbc"
 *
 * The default is none.
 */
#ifndef TIMELINE_CHANNELS
#define TIMELINE_CHANNELS TIMELINE_NULL_POINTER_
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
 * a signal handler. It knows every timeline and level that it has met, for as long as the timeline is
 * open; the first ones are found fastest. It leaves `errno` alone, and needs at most 6 KiB of stack.
 *
 * An event that cannot be defined is never logged, and each time it is counted as dropped:
 * `timeline_last_error` says why, and if the definition was refused, so does an event of priority error
 * and the category `timeline`, once for each timeline and level. It is not tried again, nor if a table of the
 * timeline is full. If the timeline stays
 * locked, or the system refuses, the failure may pass: then one run in 1,024 tries again, and the
 * events until then are dropped and counted. A process waits some seconds for such a lock; after a
 * wait in vain only some 2 milliseconds a try, until it gets the lock. A signal handler does not
 * try again. Neither does a statement whose call stack leads through a function without unwind
 * tables, because a handler may be hidden there. To find out, that one run in 1,024 walks over the
 * call stack. With libgcc before 12 or glibc before 2.35 this takes the loader's lock, and a
 * handler that interrupted dlopen in its own thread may wait for ever.
 *
 * All formats of printf are accepted: `*`, `%.*s`, `%Lf`, `%ls` (as UTF-8). An event has room for
 * 1,528 bytes, in small rings for less (760 in the smallest): each argument takes 8 (a `long double`
 * 16), and strings share the rest in order. A string that does not fit is cut and ends in `…`. A
 * `%s` with a precision reads no further than that. Widths and precisions count up to 4,096 (C99 asks
 * for 4,095), a whole text up to 65,536 bytes, a format up to 4,096: a longer field or text is cut and
 * ends in `…`, a longer format cannot be defined. `""` logs that the statement was reached. `%n` stores nothing.
 * For formats with `%1$d`, `%m`, 33 to 64 arguments, or conversions that C99 does not know, the
 * program calls vsnprintf: that is slower, and as safe in a signal handler as the C library makes
 * it.
 *
 * If TIMELINE_DISABLED is defined before the first inclusion of the header, these statements and
 * those of `TIMELINE_IMPORTANT_PRINTF`, `TIMELINE_BACKTRACE`, `TIMELINE_EVENT`,
 * `TIMELINE_IMPORTANT_EVENT` and `TIMELINE_SPAN` log nothing and evaluate no argument, and neither do
 * calls of `timeline_log`. The compiler checks them and leaves nothing of them in optimised code. All
 * other functions stay as they are.
 */
#define TIMELINE_PRINTF(tl, level, ...) \
  TIMELINE_STATEMENT_(tl, level, TIMELINE_CATEGORY, 0, TIMELINE_PRINTF_, __VA_ARGS__)

/**
 * Like `TIMELINE_PRINTF`, for important events: they explain others, and readers get them first. The
 * member `important` of `timeline_attributes_t` says more.
 */
#define TIMELINE_IMPORTANT_PRINTF(tl, level, ...) \
  TIMELINE_STATEMENT_(tl, level, TIMELINE_CATEGORY, TIMELINE_SITE_IMPORTANT, TIMELINE_PRINTF_, __VA_ARGS__)

/**
 * Like `TIMELINE_PRINTF`, with the call stack: return addresses, innermost first, for which readers
 * find the names of functions and their files.
 *
 * `TIMELINE_BACKTRACE(tl, TIMELINE_ERROR, "bad block %u", number);`
 *
 * A stack deeper than 32 is cut off: the outermost frames, those next to `main`, are missing,
 * without a mark.
 *
 * The addresses take up to 264 bytes of an event's room. `timeline_backtrace` says how safe it is
 * in signal handlers.
 */
#define TIMELINE_BACKTRACE(tl, level, ...) \
  TIMELINE_STATEMENT_(tl, level, TIMELINE_CATEGORY, TIMELINE_SITE_BACKTRACE, TIMELINE_PRINTF_, __VA_ARGS__)

/**
 * Logs an event whose message has named arguments, with their types:
 *
 * `TIMELINE_EVENT(tl, TIMELINE_INFO, "net", "sent $size:bytes to $host:str", size, host);`
 *
 * `category` and the message are literals. `tl` and `level` are as for `TIMELINE_PRINTF`, and so is
 * everything that is said there of definitions, signal handlers and failures.
 *
 * The types that a message may give are in docs/format.md. An argument without a type in the
 * message has that of C: `int` is `i32`, `char *` is `str`, and so on; a bit-field is `i64` to GCC
 * in C. A message that gives a type takes any whole number for one of whole numbers (its low bits
 * count), a `float` for `f32`, a `double` for `f64`, a pointer for `ptr` and `hex`, a `char *` or
 * `TIMELINE_TEXT(pointer, bytes)` for `str` and `istr`, `TIMELINE_WIDE(pointer)` for `wstr`, and
 * `TIMELINE_ARRAY(pointer, count)` for an array.
 * The compiler refuses arguments that do not fit, and more or fewer of them than the message has: gcc 11
 * and later, clang with up to 16 arguments, and any compiler of C++ with timeline.hpp. What it cannot see, it
 * leaves to the library, which refuses the definition: behind a `$` without a name, in C also names of
 * more than 24 characters (clang), and the names of enums and flags.
 *
 * In C, an array is a pointer to its first element, and logged as that: TIMELINE_ARRAY logs the elements.
 *
 * An event of up to four numbers is as fast as `timeline_log`. An event has at most 64 arguments,
 * and room for 1,528 bytes, in small rings for less (760 in the smallest): each argument takes 8,
 * and texts and arrays share the rest in order. One that does not fit is cut, and says so.
 *
 * An `istr` is for small vocabularies, such as names of interfaces: the text is stored in the
 * timeline once, and each event carries its place. `timeline_log_interned` says more.
 */
#define TIMELINE_EVENT(tl, level, category, ...) \
  TIMELINE_STATEMENT_(tl, level, category, TIMELINE_SITE_EVENT, TIMELINE_EVENT_, __VA_ARGS__)

/**
 * Like `TIMELINE_EVENT`, for important events: they explain others, and readers get them first. The
 * member `important` of `timeline_attributes_t` says more.
 */
#define TIMELINE_IMPORTANT_EVENT(tl, level, category, ...)                                               \
  TIMELINE_STATEMENT_(tl, level, category, TIMELINE_SITE_EVENT | TIMELINE_SITE_IMPORTANT, TIMELINE_EVENT_, \
                      __VA_ARGS__)

/* From here on: the parts of these macros. */

/* timeline.hpp replaces these by ones that take more types. */
#define TIMELINE_HANDLE_(tl) (tl)
#define TIMELINE_LEVEL_(level) (level)
/* timeline.hpp checks the number of arguments at compile time. */
#define TIMELINE_CHECK_(...) (void)0

/* The format among the arguments: only a literal compiles beside another literal. */
#define TIMELINE_FORMAT_(format, ...) "" format

/* An empty format is not a mistake: it is logged like any other. Nor is a statement in a lambda of an
 * argument, whose names are those of the statement around it. */
#define TIMELINE_QUIET_ \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wformat-zero-length\"") \
      _Pragma("GCC diagnostic ignored \"-Wshadow\"")
#define TIMELINE_QUIET_END_ _Pragma("GCC diagnostic pop")

/* In front of the block of a statement. With TIMELINE_DISABLED the compiler checks the block and then
 * removes it, with its arguments. Texts and memory go only if it optimises. */
#ifdef TIMELINE_DISABLED
#define TIMELINE_BLOCK_ if (0)
#else
#define TIMELINE_BLOCK_
#endif

#define TIMELINE_STATEMENT_(tl, level, category, flags, log, ...)                                            \
  do {                                                                                                       \
    TIMELINE_QUIET_                                                                                          \
    TIMELINE_BLOCK_ {                                                                                        \
      static timeline_site_t timeline_site_ = {                                                              \
          category, TIMELINE_FORMAT_(__VA_ARGS__, 0), __FILE__, __LINE__, flags,                                   \
          TIMELINE_CHANNELS, 0, TIMELINE_NULL_POINTER_, TIMELINE_NULL_POINTER_};                             \
      timeline_t *const timeline_tl_ = TIMELINE_HANDLE_(tl);                                                 \
      log(TIMELINE_LEVEL_(level), flags, __VA_ARGS__);                                                       \
    }                                                                                                        \
    TIMELINE_QUIET_END_                                                                                      \
  } while (0)

/* What a site remembers for a timeline and a level: the event, or more than 0xffffff if they are not
 * those that it met first. */
TIMELINE_INLINE_ uint64_t timeline_known_(const timeline_t *tl, const timeline_site_t *site, int32_t level) {
  const uint32_t priority = TIMELINE_CAST_(uint32_t, level), serial = tl->serial;
  /* The bits above the event are the handle and the level. Acquire (pairs with the Release in
   * src/ring/statement_events.rs): a thread that sees the event sees the types. */
  return __atomic_load_n(&site->first, __ATOMIC_ACQUIRE) ^
         (TIMELINE_CAST_(uint64_t, serial) << 32 | priority << 24);
}

/* The event of a statement, which is defined if it is not; 0 if that fails. `given`: the types of its
 * arguments. */
TIMELINE_INLINE_ uint32_t timeline_event_of_(timeline_t *tl, timeline_site_t *site, int32_t level,
                                             const unsigned char *given) {
  const uint64_t word = timeline_known_(tl, site, level);
  if (__builtin_expect(word <= 0xffffff, 1)) return TIMELINE_CAST_(uint32_t, word);
  return timeline_site_define(tl, site, level, given);
}

/* Whether an event of a statement is enabled. Event 0 never is. */
TIMELINE_INLINE_ bool timeline_is_on_(const timeline_t *tl, uint32_t event) {
  /* volatile: as in timeline_enabled. */
  const volatile uint8_t *const enabled = tl->enabled + event;
  return *enabled != 0;
}

/* The event of a statement, which is defined if it is not; 0 if it has none. `given`: the types of its arguments. */
__attribute__((unused)) static inline uint32_t timeline_event_at_(timeline_t *tl, timeline_site_t *site, int32_t level,
                                                                  const unsigned char *given) {
  if (!tl || level < TIMELINE_ERROR || level > TIMELINE_LIBRARY) return 0;
  return timeline_event_of_(tl, site, level, given);
}

/* Whether the statement logs now. */
#define TIMELINE_SAYS_ timeline_tl_ && timeline_is_on_(timeline_tl_, timeline_event_)

/* Checks the arguments against the format. Where a whole text cannot be made of raw values, makes it of the
 * arguments; what follows is for all others. */
#if TIMELINE_RAW_ARGUMENTS_
#define TIMELINE_OR_ALL_(...) \
  if (0) timeline_printf_all_(timeline_tl_, &timeline_site_, timeline_event_, __VA_ARGS__); else
#else
#define TIMELINE_OR_ALL_(...)              \
  if (timeline_is_whole_text_(&timeline_site_)) \
    timeline_printf_all_(timeline_tl_, &timeline_site_, timeline_event_, __VA_ARGS__); \
  else
#endif

/* Behind a call that looks for its return address: it does not end the function. */
#define TIMELINE_STAY_(flags) \
  if ((flags) & TIMELINE_SITE_BACKTRACE) __asm__ volatile("")

#ifdef TIMELINE_DISABLED
TIMELINE_INLINE_ void timeline_nothing_(int unused) { (void)unused; }
#define timeline_log(...) timeline_nothing_(0 ? ((timeline_log)(__VA_ARGS__), 0) : 0)
#endif
