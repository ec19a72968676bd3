/* How the types of C++ are logged. timeline.hpp adds those of the standard library. */

#ifdef __cplusplus
extern "C++" {

char (&timeline_tag_(decltype(nullptr)))[TIMELINE_PTR];
TIMELINE_INLINE_ timeline_value_t timeline_of_(decltype(nullptr)) {
  return timeline_value_(0, 0);
}
template <class R, class... A>
char (&timeline_tag_(R (*)(A...)))[TIMELINE_PTR];
template <class R, class... A>
TIMELINE_INLINE_ timeline_value_t timeline_of_(R (*x)(A...)) {
  return timeline_value_(reinterpret_cast<uintptr_t>(x), 0);
}

/* A pointer to a member would be a bool. */
template <class C, class M>
char (&timeline_tag_(M C::*))[TIMELINE_PTR] = delete;

/* Characters that are types of their own, and texts of UTF-8 in such ones. */
#define TIMELINE_CHARACTER_(c_type)                            \
  char (&timeline_tag_(c_type))[TIMELINE_CHAR];                \
  TIMELINE_INLINE_ timeline_value_t timeline_of_(c_type x) {   \
    return timeline_value_(x, 0);                              \
  }
TIMELINE_CHARACTER_(char16_t)
TIMELINE_CHARACTER_(char32_t)
#ifdef __cpp_char8_t
TIMELINE_CHARACTER_(char8_t)
char (&timeline_tag_(const char8_t *))[TIMELINE_STR];
TIMELINE_INLINE_ timeline_value_t timeline_of_(const char8_t *x) {
  return timeline_value_(timeline_address_(x), 0);
}
#endif

/* A value of which only the type is needed. */
template <class T>
const T &timeline_some_();

/* Whether a type is one of those above, or converts to one. */
template <class T>
struct timeline_is_argument_ {
  template <class U>
  static char look(decltype(sizeof(timeline_tag_(timeline_some_<U>()))));
  template <class U>
  static long look(...);
  static constexpr bool value = sizeof(look<T>(0)) == 1;
};

/* What is refused, with one sentence: nothing more is said of it. */
struct timeline_no_argument_ {
  enum : unsigned { type = TIMELINE_I64 };
  template <class T>
  static timeline_value_t of(const T &) {
    return timeline_value_(0, 0);
  }
};

template <class T, bool = timeline_is_argument_<T>::value>
struct timeline_plain_ {
  enum : unsigned { type = sizeof(timeline_tag_(timeline_some_<T>())) };
  TIMELINE_INLINE_ timeline_value_t of(const T &x) { return timeline_of_(x); }
};
template <class T>
struct timeline_plain_<T, false> : timeline_no_argument_ {
  static_assert(timeline_is_argument_<T>::value,
                "timeline: an argument has a type that is not logged: give a number, text, array of numbers, pointer, "
                "or, with timeline.hpp, what docs/guide/c.md lists, or define timeline_value(const T&) beside it");
};

/* How a type is logged. timeline.hpp has specialisations for types of the standard library. */
template <class T, class = void>
struct timeline_argument_ : timeline_plain_<T> {};

/* UTF-16 and UTF-32 would be logged as addresses. */
template <class T, bool = true>
struct timeline_other_text_ : timeline_no_argument_ {
  static_assert(sizeof(T) == 0, "timeline: a text of char16_t or char32_t is not logged: convert it to UTF-8");
};
template <bool b>
struct timeline_plain_<char16_t *, b> : timeline_other_text_<char16_t, b> {};
template <bool b>
struct timeline_plain_<const char16_t *, b> : timeline_other_text_<char16_t, b> {};
template <bool b>
struct timeline_plain_<char32_t *, b> : timeline_other_text_<char32_t, b> {};
template <bool b>
struct timeline_plain_<const char32_t *, b> : timeline_other_text_<char32_t, b> {};

/* The length of a text in an array, which need not end with NUL there. Known of a literal. */
__attribute__((unused, noinline)) static size_t timeline_find_end_(const char *text, size_t most) {
#if !TIMELINE_IS_SANITIZED_
  const size_t length = timeline_length_(text);
  if (length < TIMELINE_IS_LONG_ || most <= TIMELINE_IS_LONG_) return length < most ? length : most;
#endif
  const void *const end = memchr(text, 0, most);
  return end ? TIMELINE_CAST_(size_t, TIMELINE_CAST_(const char *, end) - text) : most;
}
TIMELINE_INLINE_ size_t timeline_length_in_(const char *text, size_t most) {
  return __builtin_constant_p(__builtin_strlen(text)) ? __builtin_strlen(text) : timeline_find_end_(text, most);
}

/* Arrays of C. */
template <class T>
struct timeline_elements_ {
  template <class U>
  static char look(decltype(sizeof(timeline_array_(static_cast<const U *>(nullptr), 0))));
  template <class U>
  static long look(...);
  static constexpr bool value = sizeof(look<T>(0)) == 1;
};
template <class T, size_t N, bool = timeline_elements_<T>::value>
struct timeline_array_argument_ {
  enum : unsigned { type = TIMELINE_ARRAY_OF | timeline_argument_<T>::type };
  TIMELINE_INLINE_ timeline_value_t of(const T (&x)[N]) { return timeline_of_(timeline_array_(x, N)); }
};
template <class T, size_t N>
struct timeline_array_argument_<T, N, false> : timeline_no_argument_ {
  static_assert(timeline_elements_<T>::value,
                "timeline: an array is logged if its elements are numbers of at most 64 bits, or characters: log the "
                "elements one by one, or the address of the array as a pointer to void");
};
template <class T, size_t N>
struct timeline_argument_<T[N], void> : timeline_array_argument_<T, N> {};
template <size_t N>
struct timeline_argument_<char[N], void> {
  enum : unsigned { type = TIMELINE_SIZED_TEXT_ };
  TIMELINE_INLINE_ timeline_value_t of(const char (&x)[N]) {
    return timeline_value_(timeline_address_(x), timeline_length_in_(x, N));
  }
};
template <size_t N>
struct timeline_argument_<wchar_t[N], void> {
  enum : unsigned { type = TIMELINE_SIZED_WIDE_ };
  TIMELINE_INLINE_ timeline_value_t of(const wchar_t (&x)[N]) {
    size_t length = 0;
    while (length < N && x[length]) length++;
    return timeline_value_(timeline_address_(x), length);
  }
};
template <size_t N>
struct timeline_argument_<char16_t[N], void> : timeline_other_text_<char16_t, (N > 0)> {};
template <size_t N>
struct timeline_argument_<char32_t[N], void> : timeline_other_text_<char32_t, (N > 0)> {};
#ifdef __cpp_char8_t
template <size_t N>
struct timeline_argument_<char8_t[N], void> {
  enum : unsigned { type = TIMELINE_SIZED_TEXT_ };
  TIMELINE_INLINE_ timeline_value_t of(const char8_t (&x)[N]) {
    return timeline_value_(timeline_address_(x), timeline_length_in_(reinterpret_cast<const char *>(x), N));
  }
};
#endif

/* An argument as a function takes it that statements share: numbers, pointers, and the elements of arrays by
 * value, so that arrays of each length are one type. */
template <class T>
struct timeline_passed_ {
  typedef const T &type;
  TIMELINE_INLINE_ type of(const T &x) { return x; }
};
template <class T>
struct timeline_passed_<T *> {
  typedef T *type;
  TIMELINE_INLINE_ type of(T *x) { return x; }
};
#define TIMELINE_PASSED_(name, c_type, number, in_word)  \
  template <>                                            \
  struct timeline_passed_<c_type> {                      \
    typedef c_type type;                                 \
    TIMELINE_INLINE_ type of(c_type x) { return x; }     \
  };
TIMELINE_NUMBERS_(TIMELINE_PASSED_)
template <class T, size_t N, bool = timeline_elements_<T>::value>
struct timeline_passed_array_ {
  typedef decltype(timeline_array_(static_cast<const T *>(nullptr), 0)) type;
  TIMELINE_INLINE_ type of(const T (&x)[N]) { return timeline_array_(x, N); }
};
template <class T, size_t N>
struct timeline_passed_array_<T, N, false> {
  typedef const T (&type)[N];
  TIMELINE_INLINE_ type of(const T (&x)[N]) { return x; }
};
template <class T, size_t N>
struct timeline_passed_<T[N]> : timeline_passed_array_<T, N> {};
template <size_t N>
struct timeline_passed_<char[N]> {
  typedef timeline_text_t type;
  TIMELINE_INLINE_ type of(const char (&x)[N]) { return timeline_make_text_(x, timeline_length_in_(x, N)); }
};

/* Without the reference of such a type. */
template <class T>
struct timeline_bare_ {
  typedef T type;
};
template <class T>
struct timeline_bare_<T &> {
  typedef T type;
};
template <class T>
struct timeline_bare_<const T &> {
  typedef T type;
};
template <class T, size_t N>
struct timeline_bare_<const T (&)[N]> {
  typedef T type[N];
};

} /* extern "C++" */
#endif
