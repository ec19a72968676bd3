/* Statements in C++: what their macros do with the arguments. */
#ifdef __cplusplus
extern "C++" {

/* The types of the arguments of a statement, of which no value is needed. */
template <class... A>
struct timeline_types_ {
  static const unsigned char all[];
  /* How many words they take, not counting the bytes of texts and arrays. */
  static constexpr unsigned words() { return count(timeline_argument_<A>::type...); }
  /* Whether all are numbers. */
  static constexpr bool numbers() { return are_numbers(timeline_argument_<A>::type...); }
  /* Whether they are few, and all of them numbers and texts that end with NUL; and which of them are such texts. */
  static constexpr bool few() {
    return TIMELINE_MAKES_ROOM_ && sizeof...(A) <= TIMELINE_FEW_ && !numbers() &&
           are_simple(timeline_argument_<A>::type...);
  }
  static constexpr unsigned mix() { return TIMELINE_MIX_(sizeof...(A), texts(1, timeline_argument_<A>::type...)); }

 private:
  static constexpr bool are_simple() { return true; }
  template <class... T>
  static constexpr bool are_simple(unsigned type, T... more) {
    return type <= TIMELINE_STR && are_simple(more...);
  }
  static constexpr unsigned texts(unsigned) { return 0; }
  template <class... T>
  static constexpr unsigned texts(unsigned bit, unsigned type, T... more) {
    return (type == TIMELINE_STR ? bit : 0) | texts(bit << 1, more...);
  }
  static constexpr unsigned count() { return 0; }
  template <class... T>
  static constexpr unsigned count(unsigned type, T... more) {
    return (type == TIMELINE_LONG_DOUBLE_ ? 2 : 1) + count(more...);
  }
  static constexpr bool are_numbers() { return true; }
  template <class... T>
  static constexpr bool are_numbers(unsigned type, T... more) {
    return type < TIMELINE_STR && are_numbers(more...);
  }
};
template <class... A>
const unsigned char timeline_types_<A...>::all[] = {
    static_cast<unsigned char>(timeline_argument_<A>::type)..., 0};

/* Deduces the types of the arguments behind the message. It is never called, but it has a body:
 * GCC refuses a function without one if a type is local to a function. */
template <class... A>
timeline_types_<A...> *timeline_types_of_(const char *, const A &...) {
  return nullptr;
}
template <class... A>
TIMELINE_INLINE_ const unsigned char *timeline_given_(timeline_types_<A...> *) {
  return timeline_types_<A...>::all;
}

/* A value of printf: C promotes a float to a double. */
template <class T>
struct timeline_printed_ : timeline_argument_<T> {};
template <>
struct timeline_printed_<float> {
  TIMELINE_INLINE_ timeline_value_t of(float x) { return timeline_of_(static_cast<double>(x)); }
};

template <bool>
struct timeline_if_ {};
template <>
struct timeline_if_<true> {
  typedef void type;
};

TIMELINE_INLINE_ uint64_t timeline_word_(const timeline_value_t &value) { return value.word; }

/* The raw values of so many arguments, with second words or room for texts behind them. One more value stands
 * behind them, as there is no empty array. */
template <class Types, size_t N>
struct timeline_raws_ {
  uint64_t words[(Types::few() ? 1 + TIMELINE_SHORT_WORDS_ : 2) * N + 1];
  TIMELINE_MEMBER_ explicit timeline_raws_(const timeline_value_t (&values)[N + 1]) {
    for (size_t i = 0; i < N; i++) {
      words[i] = values[i].word;
      /* By itself: the loads of single words that follow would wait for a store of several. */
      __asm__ volatile("" : : "m"(words[i]));
      if (!Types::few()) words[N + i] = values[i].more;
    }
    if (N == 0) words[0] = 0;
  }
};

/* What timeline_value returned lives until the end of the call. */
template <class Types, size_t N>
TIMELINE_INLINE_ void timeline_log_list_(timeline_t *tl, uint32_t event, uint64_t marked,
                                         const timeline_value_t (&values)[N + 1]) {
  timeline_raws_<Types, N> raw(values);
  if (Types::few())
    timeline_log_few_values_(tl, event, raw.words, Types::mix(), marked,
                             raw.words[TIMELINE_FIRST_TEXT_(Types::mix() >> 8)]);
  else
    timeline_log_values_(tl, event, raw.words, Types::all, N, marked);
}

/* Shared by all statements with these types. */
template <class... P>
__attribute__((noinline)) void timeline_log_texts_(timeline_t *tl, uint32_t event, uint64_t marked, P... arguments) {
  timeline_log_list_<timeline_types_<typename timeline_bare_<P>::type...>, sizeof...(P)>(
      tl, event, marked,
      {timeline_argument_<typename timeline_bare_<P>::type>::of(arguments)..., timeline_value_(0, 0)});
}

template <class... A>
TIMELINE_INLINE_ typename timeline_if_<timeline_types_<A...>::numbers()>::type timeline_log_event_(
    timeline_t *tl, uint32_t event, uint64_t, const A &...arguments) {
  const uint64_t words[] = {timeline_word_(timeline_argument_<A>::of(arguments))..., 0, 0, 0, 0};
  if (sizeof...(A) > 4)
    timeline_log_payload(tl, event, words, sizeof...(A), 0);
  else
    (timeline_log)(tl, event, static_cast<int64_t>(words[0]), static_cast<int64_t>(words[1]),
                   static_cast<int64_t>(words[2]), static_cast<int64_t>(words[3]));
}
template <class... A>
TIMELINE_INLINE_ typename timeline_if_<!timeline_types_<A...>::numbers()>::type timeline_log_event_(
    timeline_t *tl, uint32_t event, uint64_t marked, const A &...arguments) {
  timeline_log_texts_<typename timeline_passed_<A>::type...>(tl, event, marked, timeline_passed_<A>::of(arguments)...);
}
template <class... A>
TIMELINE_INLINE_ void timeline_log_statement_(timeline_t *tl, const timeline_site_t *site, uint32_t event,
                                              const char *, const A &...arguments) {
  timeline_log_event_<A...>(tl, event, timeline_types_<A...>::numbers() ? 0 : timeline_marked_(site), arguments...);
}

/* Whether a statement of printf is a plain entry. */
template <unsigned flags, class... A>
struct timeline_is_plain_ {
  enum { value = timeline_types_<A...>::numbers() && sizeof...(A) <= 4 && !(flags & TIMELINE_SITE_BACKTRACE) };
};

/* Shared by all statements with these types. The call stack begins at its return address. */
template <unsigned flags, class... A>
__attribute__((noinline)) typename timeline_if_<!timeline_is_plain_<flags, A...>::value>::type timeline_log_printf_(
    timeline_t *tl, timeline_site_t *site, uint32_t event, const char *, A... arguments) {
  typedef timeline_types_<A...> types;
  const timeline_value_t values[] = {timeline_printed_<A>::of(arguments)..., timeline_value_(0, 0)};
  timeline_raws_<types, sizeof...(A)> raw(values);
  if (types::few() && !(flags & TIMELINE_SITE_BACKTRACE))
    timeline_log_few_printed_(tl, event, raw.words, types::mix(), site,
                              raw.words[TIMELINE_FIRST_TEXT_(types::mix() >> 8)]);
  else
    timeline_log_format_from_(tl, site, event, raw.words, types::all, TIMELINE_SHAPE_(sizeof...(A), types::words()),
                              __builtin_return_address(0));
}
template <unsigned flags, class... A>
__attribute__((noinline)) void timeline_log_whole_(timeline_t *tl, timeline_site_t *site, uint32_t event,
                                                   A... arguments) {
  const timeline_value_t values[] = {timeline_printed_<A>::of(arguments)..., timeline_value_(0, 0)};
  const timeline_raws_<timeline_types_<A...>, sizeof...(A)> raw(values);
  timeline_write_raw_(tl, site, event, raw.words, timeline_types_<A...>::all, sizeof...(A), nullptr);
}
template <unsigned flags, class... A>
TIMELINE_INLINE_ typename timeline_if_<timeline_is_plain_<flags, A...>::value>::type timeline_log_printf_(
    timeline_t *tl, timeline_site_t *site, uint32_t event, const char *, A... arguments) {
  if (timeline_is_whole_text_(site)) {
    timeline_log_whole_<flags, A...>(tl, site, event, arguments...);
    return;
  }
  const uint64_t words[] = {timeline_word_(timeline_printed_<A>::of(arguments))..., 0, 0, 0, 0};
  (timeline_log)(tl, event, static_cast<int64_t>(words[0]), static_cast<int64_t>(words[1]),
                 static_cast<int64_t>(words[2]), static_cast<int64_t>(words[3]));
}

} /* extern "C++" */

#define TIMELINE_EVENT_(level, flags, ...)                                                                   \
  TIMELINE_CHECK_(__VA_ARGS__);                                                                              \
  const uint32_t timeline_event_ = timeline_event_at_(                                                           \
      timeline_tl_, &timeline_site_, level, timeline_given_(false ? timeline_types_of_(__VA_ARGS__) : nullptr)); \
  if (TIMELINE_SAYS_) timeline_log_statement_(timeline_tl_, &timeline_site_, timeline_event_, __VA_ARGS__)

#define TIMELINE_PRINTF_(level, flags, ...)                                                        \
  const uint32_t timeline_event_ = timeline_event_at_(timeline_tl_, &timeline_site_, level, nullptr);  \
  if (TIMELINE_SAYS_) {                                                                           \
    TIMELINE_OR_ALL_(__VA_ARGS__)                                                                  \
    timeline_log_printf_<flags>(timeline_tl_, &timeline_site_, timeline_event_, __VA_ARGS__);      \
    TIMELINE_STAY_(flags);                                                                         \
  }
#endif /* C++ */
