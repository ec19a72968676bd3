/* Spans as statements: one event where the statement stands, and another when its scope is left. */

/**
 * Logs that a span begins and, when its scope is left, that it ends:
 *
 * `TIMELINE_SPAN(tl, TIMELINE_INFO, "engine", "breath $packets", packets);`
 *
 * logs "begin breath $packets" at once, and "end breath $packets" with the same arguments at the end
 * of the block, also if that is left by `return`, `break`, `continue` or `goto`, or in C++ by an
 * exception. Readers pair the two as the span `engine.breath`. The message begins with words, which
 * name the span.
 *
 * It stands where a declaration may stand, and is one: so not behind `if (…)` without braces. Its
 * arguments, and all else, are as for `TIMELINE_EVENT`. They are evaluated once, and only if the begin
 * is logged. Otherwise the end is not logged either. The arguments are kept until the scope is left:
 * numbers in a few words on the stack, an event with a text or an array as a copy of 1,528 bytes
 * there. So the memory of a text may be freed before.
 *
 * In C, do not jump over it into its block, by `goto` or by a `case` of a `switch`. A scope that
 * longjmp leaves logs no end, and neither does one in C that an exception or the end of the thread
 * leaves, unless it was compiled with -fexceptions.
 *
 * A span with newer values at its end, or that ends in another place: `timeline_define_span`, or
 * two statements of `TIMELINE_EVENT` with messages that begin with `begin` and `end`.
 */
#define TIMELINE_SPAN(tl, level, category, ...)                                                         \
  TIMELINE_QUIET_COUNTER_                                                                               \
  TIMELINE_SPAN_(TIMELINE_PASTE_(timeline_span_, __COUNTER__, _), tl, level, category, __VA_ARGS__)     \
  TIMELINE_QUIET_COUNTER_END_

/* A counter and not the line, for spans of one macro. Clang 22 calls it an extension if it is pedantic. */
#define TIMELINE_QUIET_COUNTER_
#define TIMELINE_QUIET_COUNTER_END_
#if defined(__clang__) && defined(__has_warning)
#if __has_warning("-Wc2y-extensions")
#undef TIMELINE_QUIET_COUNTER_
#undef TIMELINE_QUIET_COUNTER_END_
#define TIMELINE_QUIET_COUNTER_ \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wc2y-extensions\"")
#define TIMELINE_QUIET_COUNTER_END_ _Pragma("clang diagnostic pop")
#endif
#endif

#ifdef TIMELINE_DISABLED
#define TIMELINE_SPAN_(span, tl, level, category, ...)                  \
  do {                                                                  \
    if (0) {                                                            \
      TIMELINE_DECLARE_SPAN_(span, __VA_ARGS__);                        \
      TIMELINE_BEGIN_SPAN_(span, tl, level, category, __VA_ARGS__);     \
    }                                                                   \
  } while (0)
#else
#define TIMELINE_SPAN_(span, tl, level, category, ...) \
  TIMELINE_DECLARE_SPAN_(span, __VA_ARGS__);           \
  TIMELINE_BEGIN_SPAN_(span, tl, level, category, __VA_ARGS__)
#endif

/* A span until its scope is left. */
typedef struct timeline_scope_t {
  /* NULL if the begin was not logged. */
  timeline_t *tl;
  /* The payload of both events; the arguments, if they are numbers and there are at most four. */
  uint64_t *words;
  unsigned count;
  /* The event of the end. */
  uint32_t end;
  /* The types of the arguments; NULL if they are numbers and there are at most four. */
  const unsigned char *given;
  /* Which of them are to be interned. */
  uint64_t marked;
} timeline_scope_t;

/* How many words a span keeps. */
#define TIMELINE_KEPT_WORDS_(numbers, count) ((numbers) ? ((count) < 4 ? 4 : (count)) : TIMELINE_PAYLOAD_WORDS_)

/* Interning changes the words, which the other event needs as well. */
__attribute__((unused, noinline)) static void timeline_log_kept_(timeline_t *tl, uint32_t event,
                                                                 const uint64_t *kept, unsigned count,
                                                                 const unsigned char *given, uint64_t marked) {
  uint64_t words[TIMELINE_PAYLOAD_WORDS_];
  memcpy(words, kept, count * sizeof *words);
  timeline_log_interned(tl, event, words, count, given, marked);
}

/* Logs one of the two events. No pointer to the span goes to a function that is not inlined: so the
 * compiler knows its members, and keeps them in registers. */
TIMELINE_INLINE_ void timeline_log_scope_(const timeline_scope_t *scope, uint32_t event) {
  const uint64_t *const words = scope->words;
  if (!scope->given)
    (timeline_log)(scope->tl, event, TIMELINE_CAST_(int64_t, words[0]), TIMELINE_CAST_(int64_t, words[1]),
                   TIMELINE_CAST_(int64_t, words[2]), TIMELINE_CAST_(int64_t, words[3]));
  else if (__builtin_expect(scope->marked != 0, 0))
    timeline_log_kept_(scope->tl, event, words, scope->count, scope->given, scope->marked);
  else
    timeline_log_payload(scope->tl, event, words, scope->count, 0);
}

/* Logs the begin. `fixed`: how many arguments there are; `numbers`: whether all are numbers. */
TIMELINE_INLINE_ void timeline_enter_(timeline_scope_t *scope, timeline_t *tl, const timeline_site_t *site,
                                      uint32_t event, const unsigned char *given, bool numbers, unsigned fixed) {
  scope->tl = tl;
  if (numbers && fixed <= 4) {
    for (unsigned i = fixed; i < 4; i++) scope->words[i] = 0;
  } else {
    scope->given = given;
    scope->marked = numbers ? 0 : timeline_marked_(site);
  }
  timeline_log_scope_(scope, event);
}

/* Logs the end, if the begin was logged. */
TIMELINE_INLINE_ void timeline_leave_(timeline_scope_t *scope) {
  if (scope->tl) timeline_log_scope_(scope, scope->end);
}

/* Whether a span begins now, and with which events. */
__attribute__((unused)) static inline bool timeline_begins_(timeline_t *tl, timeline_site_t *sites, int32_t level,
                                                            const unsigned char *given, uint32_t *begin,
                                                            uint32_t *end) {
  if (!tl || level < TIMELINE_ERROR || level > TIMELINE_LIBRARY) return false;
  const uint64_t word = timeline_known_(tl, &sites[0], level);
  *begin = TIMELINE_CAST_(uint32_t, word);
  if (__builtin_expect(word > 0xffffff, 0)) {
    /* The end first: once the begin is known, a signal handler may run the statement. */
    timeline_event_of_(tl, &sites[1], level, given);
    *begin = timeline_event_of_(tl, &sites[0], level, given);
  }
  if (!timeline_is_on_(tl, *begin)) return false;
  *end = timeline_event_of_(tl, &sites[1], level, given);
  return *end != 0;
}

#define TIMELINE_SPAN_SITE_(category, word, ...)                                                       \
  {                                                                                                    \
    category, word TIMELINE_FORMAT_(__VA_ARGS__, 0), __FILE__, __LINE__,                               \
        TIMELINE_SITE_EVENT | TIMELINE_SITE_SPAN, TIMELINE_CHANNELS, 0, TIMELINE_NULL_POINTER_,  \
        TIMELINE_NULL_POINTER_                                                                         \
  }

#define TIMELINE_BEGIN_SPAN_(span, tl, level, category, ...)                                           \
  do {                                                                                                 \
    TIMELINE_QUIET_                                                                                    \
    static timeline_site_t timeline_sites_[2] = {TIMELINE_SPAN_SITE_(category, "begin ", __VA_ARGS__), \
                                                 TIMELINE_SPAN_SITE_(category, "end ", __VA_ARGS__)};  \
    timeline_t *const timeline_tl_ = TIMELINE_HANDLE_(tl);                                             \
    uint32_t timeline_event_, timeline_end_;                                                           \
    TIMELINE_KEEP_SPAN_(span, TIMELINE_LEVEL_(level), __VA_ARGS__)                                     \
    TIMELINE_QUIET_END_                                                                                \
  } while (0)

#ifdef __cplusplus
extern "C++" {

/* A span with these arguments. */
template <class... A>
class timeline_span_ {
 public:
  typedef timeline_types_<A...> types;
  timeline_span_() : scope() { scope.words = words; }
  /* A copy is only made of one that has not begun, by compilers that do not leave it out. */
  timeline_span_(const timeline_span_ &) : timeline_span_() {}
  timeline_span_ &operator=(const timeline_span_ &) = delete;
  ~timeline_span_() { timeline_leave_(&scope); }

  /* What timeline_value returned lives until the end of the call. */
  template <size_t N>
  void keep(timeline_t *tl, const timeline_value_t (&values)[N + 1]) {
    if (types::numbers()) {
      for (unsigned i = 0; i < N; i++) words[i] = values[i].word;
      scope.count = N;
    } else {
      const timeline_raws_<types, N> raw(values);
      scope.count = timeline_keep_(tl, words, raw.words, types::all, N);
    }
  }
  void begin(timeline_t *tl, const timeline_site_t *site, uint32_t event, uint32_t end, const char *,
             const A &...arguments) {
    keep<sizeof...(A)>(tl, {timeline_argument_<A>::of(arguments)..., timeline_value_(0, 0)});
    scope.end = end;
    timeline_enter_(&scope, tl, site, event, types::all, types::numbers(), types::words());
  }

 private:
  timeline_scope_t scope;
  uint64_t words[TIMELINE_KEPT_WORDS_(types::numbers(), types::words())];
};

template <class... A>
TIMELINE_INLINE_ timeline_span_<A...> timeline_span_of_(timeline_types_<A...> *) {
  return timeline_span_<A...>();
}

} /* extern "C++" */

#define TIMELINE_DECLARE_SPAN_(span, ...) \
  auto span = timeline_span_of_(false ? timeline_types_of_(__VA_ARGS__) : nullptr)

#define TIMELINE_KEEP_SPAN_(span, level, ...)                                                          \
  TIMELINE_CHECK_(__VA_ARGS__);                                                                        \
  if (timeline_begins_(timeline_tl_, timeline_sites_, level, decltype(span)::types::all,               \
                       &timeline_event_, &timeline_end_))                                              \
    span.begin(timeline_tl_, timeline_sites_, timeline_event_, timeline_end_, __VA_ARGS__);

#else

#define TIMELINE_DECLARE_SPAN_(span, ...)                                                              \
  enum {                                                                                               \
    span##fixed_ = TIMELINE_COUNT_(__VA_ARGS__),                                                       \
    span##numbers_ = 1 TIMELINE_EACH_(TIMELINE_AND_ONE_NUMBER_, __VA_ARGS__)                           \
  };                                                                                                   \
  uint64_t span##words_[TIMELINE_KEPT_WORDS_(span##numbers_, span##fixed_)];                           \
  __attribute__((cleanup(timeline_leave_))) timeline_scope_t span = {0, span##words_, 0, 0, 0, 0}
#define TIMELINE_AND_ONE_NUMBER_(n, x) &&TIMELINE_TYPE_(x) < TIMELINE_STR

#define TIMELINE_KEEP_SPAN_(span, level, ...)                                                          \
  TIMELINE_DECLARE_TYPES_(__VA_ARGS__);                                                                \
  TIMELINE_CHECK_EVENT_(__VA_ARGS__)                                                                   \
  /* Only a long double takes two words. */                                                            \
  enum { an_event_takes_no_long_double_ = 1 / (timeline_fixed_ == timeline_args_) };                  \
  if (timeline_begins_(timeline_tl_, timeline_sites_, level, timeline_given_, &timeline_event_,        \
                       &timeline_end_)) {                                                              \
    uint64_t timeline_raw_[TIMELINE_ROOM_];                                                            \
    TIMELINE_EACH_(TIMELINE_PUT_RAW_, __VA_ARGS__)                                                     \
    span.count = timeline_args_;                                                                      \
    if (timeline_numbers_ == 0)                                                                            \
      span.count = timeline_keep_(timeline_tl_, span##words_, timeline_raw_, timeline_given_, timeline_args_); \
    else if (timeline_args_ != 0)                                                                          \
      memcpy(span##words_, timeline_raw_, timeline_args_ * sizeof *timeline_raw_);                    \
    span.end = timeline_end_;                                                                          \
    timeline_enter_(&span, timeline_tl_, timeline_sites_, timeline_event_, timeline_given_,            \
                    span##numbers_, span##fixed_);                                                     \
  }

#endif
