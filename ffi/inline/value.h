/* The values of a statement: which type each argument has, and its word.
 *
 * Everything here is inlined where it is used. So the types are constants there, and what is left
 * are the instructions that store the words. */

#ifdef __cplusplus
#define TIMELINE_CAST_(type, value) (static_cast<type>(value))
#define TIMELINE_POINTER_CAST_(type, value) (reinterpret_cast<type>(value))
#define TIMELINE_NULL_POINTER_ nullptr
#else
#define TIMELINE_CAST_(type, value) ((type)(value))
#define TIMELINE_POINTER_CAST_(type, value) ((type)(value))
#define TIMELINE_NULL_POINTER_ 0
#endif

/* Whether every load has to be one that a sanitizer of memory sees. */
#ifdef __has_feature
#define TIMELINE_IS_SANITIZED_ (__has_feature(address_sanitizer) || __has_feature(memory_sanitizer))
#elif defined(__SANITIZE_ADDRESS__)
#define TIMELINE_IS_SANITIZED_ 1
#else
#define TIMELINE_IS_SANITIZED_ 0
#endif

/* Without optimisation these are calls: inlined, each would have its arguments on the stack of the
 * program's function, once for each statement. */
#ifdef __OPTIMIZE__
#define TIMELINE_MEMBER_ __attribute__((always_inline))
#else
#define TIMELINE_MEMBER_
#endif
#define TIMELINE_INLINE_ __attribute__((unused)) TIMELINE_MEMBER_ static inline

/* Types that only statements know. A text with a number of bytes, and in C++ one with a number of wide characters;
 * for printf, pointers that may be texts, and `long double`. The type of a pointer to int is that of a wide text,
 * as C does not tell them apart. */
#define TIMELINE_SIZED_WIDE_ 27
#define TIMELINE_SIZED_TEXT_ 28
#define TIMELINE_MAYBE_TEXT_ 29
#define TIMELINE_MAYBE_WIDE_ 30
#define TIMELINE_LONG_DOUBLE_ 31
#ifdef __cplusplus
#define TIMELINE_WIDE_POINTER_ TIMELINE_WSTR
#else
#define TIMELINE_WIDE_POINTER_ TIMELINE_MAYBE_WIDE_
#endif

/* A value. */
typedef struct timeline_value_t {
  /* A number, or the address of a text or an array; of a long double its lower half. */
  uint64_t word;
  /* How many elements an array or a text with a number of bytes has; the upper half of a long double. */
  uint64_t more;
} timeline_value_t;

/* The limit where there is none. */
#define TIMELINE_NO_LIMIT_ (~TIMELINE_CAST_(size_t, 0))

TIMELINE_INLINE_ timeline_value_t timeline_value_(uint64_t word, uint64_t more) {
  timeline_value_t value;
  value.word = word;
  value.more = more;
  return value;
}

TIMELINE_INLINE_ uint64_t timeline_address_(const volatile void *x) {
  return TIMELINE_POINTER_CAST_(uintptr_t, x);
}

/** A text that does not end with NUL: `TIMELINE_TEXT(pointer, bytes)` is an argument for `str`. */
typedef struct timeline_text_t {
  const char *data;
  size_t count;
} timeline_text_t;

#define TIMELINE_TEXT(pointer, bytes) (timeline_make_text_((pointer), (bytes)))

TIMELINE_INLINE_ timeline_text_t timeline_make_text_(const char *data, size_t count) {
  timeline_text_t text;
  text.data = data;
  text.count = count;
  return text;
}

/** A text of wide characters: `TIMELINE_WIDE(pointer)` is an argument for `wstr`. */
typedef struct timeline_wide_t {
  const wchar_t *data;
} timeline_wide_t;

#define TIMELINE_WIDE(pointer) (timeline_make_wide_((pointer)))

TIMELINE_INLINE_ timeline_wide_t timeline_make_wide_(const wchar_t *data) {
  timeline_wide_t wide;
  wide.data = data;
  return wide;
}

/* One function for each type of C: the name, the type, its number, and the word of x. */
#define TIMELINE_NUMBERS_(m)                                                  \
  m(truth, bool, TIMELINE_BOOL, x)                                            \
  m(char, char, TIMELINE_CHAR, TIMELINE_CAST_(uint64_t, x))                   \
  m(i8, signed char, TIMELINE_I8, TIMELINE_CAST_(uint64_t, x))                \
  m(u8, unsigned char, TIMELINE_U8, x)                                        \
  m(i16, short, TIMELINE_I16, TIMELINE_CAST_(uint64_t, x))                    \
  m(u16, unsigned short, TIMELINE_U16, x)                                     \
  m(i32, int, TIMELINE_I32, TIMELINE_CAST_(uint64_t, x))                      \
  m(u32, unsigned, TIMELINE_U32, x)                                           \
  m(long, long, TIMELINE_I64, TIMELINE_CAST_(uint64_t, x))                    \
  m(ulong, unsigned long, TIMELINE_U64, x)                                    \
  m(i64, long long, TIMELINE_I64, TIMELINE_CAST_(uint64_t, x))                \
  m(u64, unsigned long long, TIMELINE_U64, x)                                 \
  m(f32, float, TIMELINE_F32, TIMELINE_CAST_(uint64_t, timeline_f32(x)))      \
  m(f64, double, TIMELINE_F64, TIMELINE_CAST_(uint64_t, timeline_f64(x)))

/* Whether a value has a second word. */
#define TIMELINE_IS_PAIR_(type) \
  ((type) == TIMELINE_SIZED_TEXT_ || (type) == TIMELINE_SIZED_WIDE_ || (type) == TIMELINE_LONG_DOUBLE_ || \
   (type) >= TIMELINE_ARRAY_OF)

/* Texts and other pointers. In a statement of printf the conversion says which of the two it is. */
#define TIMELINE_POINTERS_(m)                                     \
  m(str, const char *, TIMELINE_STR)                              \
  m(bytes, const unsigned char *, TIMELINE_MAYBE_TEXT_)           \
  m(sbytes, const signed char *, TIMELINE_MAYBE_TEXT_)            \
  m(vstr, const volatile char *, TIMELINE_MAYBE_TEXT_)            \
  m(vbytes, const volatile unsigned char *, TIMELINE_MAYBE_TEXT_) \
  m(vsbytes, const volatile signed char *, TIMELINE_MAYBE_TEXT_)  \
  m(wstr, const wchar_t *, TIMELINE_WIDE_POINTER_)                \
  m(ptr, const volatile void *, TIMELINE_PTR)

/* Arrays: the name, the type of an element, and its number. */
#define TIMELINE_ARRAYS_(m)              \
  m(i8, signed char, TIMELINE_I8)        \
  m(u8, unsigned char, TIMELINE_U8)      \
  m(i16, short, TIMELINE_I16)            \
  m(u16, unsigned short, TIMELINE_U16)   \
  m(i32, int, TIMELINE_I32)              \
  m(u32, unsigned, TIMELINE_U32)         \
  m(long, long, TIMELINE_I64)            \
  m(ulong, unsigned long, TIMELINE_U64)  \
  m(i64, long long, TIMELINE_I64)        \
  m(u64, unsigned long long, TIMELINE_U64) \
  m(f32, float, TIMELINE_F32)            \
  m(f64, double, TIMELINE_F64)

#define TIMELINE_DEFINE_ARRAY_(name, c_type, number)                                                       \
  typedef struct timeline_##name##s_t {                                                                    \
    const c_type *data;                                                                                    \
    size_t count;                                                                                          \
  } timeline_##name##s_t;                                                                                  \
  TIMELINE_INLINE_ timeline_##name##s_t timeline_make_##name##s_(const c_type *data, size_t count) {       \
    timeline_##name##s_t array;                                                                            \
    array.data = data;                                                                                     \
    array.count = count;                                                                                   \
    return array;                                                                                          \
  }
TIMELINE_ARRAYS_(TIMELINE_DEFINE_ARRAY_)

TIMELINE_INLINE_ timeline_value_t timeline_long_double_(long double x) {
  /* The bytes after the x87's 80 bits are padding, which may hold anything. */
  uint64_t halves[2] = {0, 0};
  memcpy(halves, &x, __LDBL_MANT_DIG__ == 64 ? 10 : sizeof x);
  return timeline_value_(halves[0], halves[1]);
}

#ifdef __cplusplus
extern "C++" {

#define TIMELINE_OVERLOAD_(name, c_type, number, value)      \
  char (&timeline_tag_(c_type))[number];                     \
  TIMELINE_INLINE_ timeline_value_t timeline_of_(c_type x) { return value; }
#define TIMELINE_OVERLOAD_NUMBER_(name, c_type, number, in_word) \
  TIMELINE_OVERLOAD_(name, c_type, number, timeline_value_(in_word, 0))
#define TIMELINE_OVERLOAD_POINTER_(name, c_type, number) \
  TIMELINE_OVERLOAD_(name, c_type, number, timeline_value_(timeline_address_(x), 0))
#define TIMELINE_OVERLOAD_ARRAY_(name, c_type, number)                     \
  TIMELINE_OVERLOAD_(name##s, timeline_##name##s_t, TIMELINE_ARRAY_OF | number, \
                     timeline_value_(timeline_address_(x.data), x.count))

TIMELINE_NUMBERS_(TIMELINE_OVERLOAD_NUMBER_)
TIMELINE_POINTERS_(TIMELINE_OVERLOAD_POINTER_)
TIMELINE_ARRAYS_(TIMELINE_OVERLOAD_ARRAY_)
TIMELINE_OVERLOAD_(f80, long double, TIMELINE_LONG_DOUBLE_, timeline_long_double_(x))
TIMELINE_OVERLOAD_(text, timeline_text_t, TIMELINE_SIZED_TEXT_, timeline_value_(timeline_address_(x.data), x.count))
TIMELINE_OVERLOAD_(wide, timeline_wide_t, TIMELINE_WSTR, timeline_value_(timeline_address_(x.data), 0))

} /* extern "C++" */
#else

/* What `__builtin_classify_type` says of every integer. To GCC, a bit-field has a type for itself. */
#define TIMELINE_INTEGER_CLASS_ 1
/* No word holds these. The compiler complains of the conversion to a pointer. */
#ifdef __SIZEOF_INT128__
#define TIMELINE_SELECT_128_(m) __int128: m(ptr, TIMELINE_PTR), unsigned __int128: m(ptr, TIMELINE_PTR),
#else
#define TIMELINE_SELECT_128_(m)
#endif

/* One function for each type: stores x as the raw value of an argument, of `count` arguments. What does
 * not fit one word has its second one behind those of all. */
#define TIMELINE_PUT_(name, c_type, in_word)                                            \
  TIMELINE_INLINE_ void timeline_raw_##name##_(uint64_t *to, unsigned count, c_type x) { \
    (void)count;                                                                        \
    *to = in_word;                                                                      \
  }
#define TIMELINE_PUT_NUMBER_(name, c_type, number, in_word) TIMELINE_PUT_(name, c_type, in_word)
#define TIMELINE_PUT_POINTER_(name, c_type, number) TIMELINE_PUT_(name, c_type, timeline_address_(x))
#define TIMELINE_PUT_PAIR_(name, c_type, first, second)                                 \
  TIMELINE_INLINE_ void timeline_raw_##name##_(uint64_t *to, unsigned count, c_type x) { \
    to[0] = first;                                                                      \
    to[count] = second;                                                                 \
  }
#define TIMELINE_PUT_ARRAY_(name, c_type, number) \
  TIMELINE_PUT_PAIR_(name##s, timeline_##name##s_t, timeline_address_(x.data), x.count)

TIMELINE_NUMBERS_(TIMELINE_PUT_NUMBER_)
TIMELINE_POINTERS_(TIMELINE_PUT_POINTER_)
TIMELINE_ARRAYS_(TIMELINE_PUT_ARRAY_)
/* C promotes a float of printf to a double. */
TIMELINE_PUT_(float, float, TIMELINE_CAST_(uint64_t, timeline_f64(TIMELINE_CAST_(double, x))))
TIMELINE_PUT_(wide, timeline_wide_t, timeline_address_(x.data))
TIMELINE_PUT_PAIR_(text, timeline_text_t, timeline_address_(x.data), x.count)
TIMELINE_PUT_PAIR_(f80, long double, timeline_long_double_(x).word, timeline_long_double_(x).more)

/* Selects by the type of x: m is given the name that the functions have; `single` is that for a float. */
#define TIMELINE_SELECT_(x, m, single)                                                                                \
  __extension__ _Generic((x), bool: m(truth, TIMELINE_BOOL), char: m(char, TIMELINE_CHAR),                     \
      signed char: m(i8, TIMELINE_I8), unsigned char: m(u8, TIMELINE_U8), short: m(i16, TIMELINE_I16),        \
      unsigned short: m(u16, TIMELINE_U16), int: m(i32, TIMELINE_I32), unsigned: m(u32, TIMELINE_U32),        \
      long: m(long, TIMELINE_I64), unsigned long: m(ulong, TIMELINE_U64), long long: m(i64, TIMELINE_I64),    \
      unsigned long long: m(u64, TIMELINE_U64), float: m(single, TIMELINE_F32), double: m(f64, TIMELINE_F64),    \
      long double: m(f80, TIMELINE_LONG_DOUBLE_), char *: m(str, TIMELINE_STR),                               \
      const char *: m(str, TIMELINE_STR), unsigned char *: m(bytes, TIMELINE_MAYBE_TEXT_),                    \
      const unsigned char *: m(bytes, TIMELINE_MAYBE_TEXT_), signed char *: m(sbytes, TIMELINE_MAYBE_TEXT_),  \
      const signed char *: m(sbytes, TIMELINE_MAYBE_TEXT_), volatile char *: m(vstr, TIMELINE_MAYBE_TEXT_),   \
      const volatile char *: m(vstr, TIMELINE_MAYBE_TEXT_), volatile unsigned char *: m(vbytes, TIMELINE_MAYBE_TEXT_), \
      const volatile unsigned char *: m(vbytes, TIMELINE_MAYBE_TEXT_),                                        \
      volatile signed char *: m(vsbytes, TIMELINE_MAYBE_TEXT_),                                               \
      const volatile signed char *: m(vsbytes, TIMELINE_MAYBE_TEXT_), TIMELINE_SELECT_128_(m)                 \
      wchar_t *: m(wstr, TIMELINE_MAYBE_WIDE_), const wchar_t *: m(wstr, TIMELINE_MAYBE_WIDE_),               \
      timeline_text_t: m(text, TIMELINE_SIZED_TEXT_), timeline_wide_t: m(wide, TIMELINE_WSTR),                \
      timeline_i8s_t: m(i8s, TIMELINE_ARRAY_OF | TIMELINE_I8),                                                \
      timeline_u8s_t: m(u8s, TIMELINE_ARRAY_OF | TIMELINE_U8),                                                \
      timeline_i16s_t: m(i16s, TIMELINE_ARRAY_OF | TIMELINE_I16),                                             \
      timeline_u16s_t: m(u16s, TIMELINE_ARRAY_OF | TIMELINE_U16),                                             \
      timeline_i32s_t: m(i32s, TIMELINE_ARRAY_OF | TIMELINE_I32),                                             \
      timeline_u32s_t: m(u32s, TIMELINE_ARRAY_OF | TIMELINE_U32),                                             \
      timeline_longs_t: m(longs, TIMELINE_ARRAY_OF | TIMELINE_I64),                                           \
      timeline_ulongs_t: m(ulongs, TIMELINE_ARRAY_OF | TIMELINE_U64),                                         \
      timeline_i64s_t: m(i64s, TIMELINE_ARRAY_OF | TIMELINE_I64),                                             \
      timeline_u64s_t: m(u64s, TIMELINE_ARRAY_OF | TIMELINE_U64),                                             \
      timeline_f32s_t: m(f32s, TIMELINE_ARRAY_OF | TIMELINE_F32),                                             \
      timeline_f64s_t: m(f64s, TIMELINE_ARRAY_OF | TIMELINE_F64),                                             \
      default: __builtin_choose_expr(__builtin_classify_type(x) == TIMELINE_INTEGER_CLASS_, m(i64, TIMELINE_I64),    \
                                     m(ptr, TIMELINE_PTR)))
#define TIMELINE_FUNCTION_(name, number) timeline_raw_##name##_
#define TIMELINE_NUMBER_(name, number) number
#define TIMELINE_TYPE_(x) TIMELINE_SELECT_(x, TIMELINE_NUMBER_, f32)

#endif

/** An array of numbers: `TIMELINE_ARRAY(pointer, count)` is an argument for `u8[]` and so on. */
#ifdef __cplusplus
#define TIMELINE_ARRAY(pointer, count) (timeline_array_((pointer), (count)))
extern "C++" {
#define TIMELINE_ARRAY_OVERLOAD_(name, c_type, number)                                            \
  TIMELINE_INLINE_ timeline_##name##s_t timeline_array_(const c_type *data, size_t count) {       \
    return timeline_make_##name##s_(data, count);                                                 \
  }
TIMELINE_ARRAYS_(TIMELINE_ARRAY_OVERLOAD_)
} /* extern "C++" */
#else
#define TIMELINE_ARRAY(pointer, count)                                                                       \
  (__extension__ _Generic(*(pointer), signed char: timeline_make_i8s_, unsigned char: timeline_make_u8s_,    \
      short: timeline_make_i16s_, unsigned short: timeline_make_u16s_, int: timeline_make_i32s_,             \
      unsigned: timeline_make_u32s_, long: timeline_make_longs_, unsigned long: timeline_make_ulongs_,       \
      long long: timeline_make_i64s_, unsigned long long: timeline_make_u64s_, float: timeline_make_f32s_,   \
      double: timeline_make_f64s_)((pointer), (count)))
#endif
