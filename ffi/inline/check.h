/* Compares the message of an event with its arguments, while C is compiled. timeline.hpp does the same for C++.
 *
 * C has no functions that compilers run, and says that no character of a literal is a constant. But gcc takes the
 * result of a builtin function of texts for one, at any level of optimisation, and so it counts here how far each
 * part of the message reaches. Clang has an attribute for functions, whose conditions it evaluates at each call, also
 * with the characters of literals. What neither can see is refused when the statement first runs. */

#ifndef __cplusplus
#define TIMELINE_TOO_MANY_ "timeline: the statement has more arguments than the message has $arguments"
#define TIMELINE_TOO_FEW_ "timeline: the statement has fewer arguments than the message has $arguments"
#define TIMELINE_NO_TYPE_ "timeline: the message names a type that there is not: docs/format.md lists the types"
#define TIMELINE_NO_FIT_ \
  "timeline: an argument has another type than the message gives it: let both agree, or convert it"

/* The type of an argument that the message gives as one that there is not. */
#define TIMELINE_UNKNOWN_TYPE_ 255

/* Whether numbers of types are those of whole numbers, and whether one given stands where another is expected. */
#define TIMELINE_IS_WHOLE_(t) ((t) < TIMELINE_STR && (t) != TIMELINE_F32 && (t) != TIMELINE_F64 && (t) != TIMELINE_PTR)
#define TIMELINE_IS_POINTER_(t) ((t) == TIMELINE_PTR || (t) == TIMELINE_MAYBE_TEXT_ || (t) == TIMELINE_MAYBE_WIDE_)
#define TIMELINE_FITS_(expected, given)                                                                    \
  ((expected) == 0 || (expected) == TIMELINE_UNKNOWN_TYPE_                                                 \
       ? (given) != TIMELINE_LONG_DOUBLE_                                                                  \
   : (expected) == TIMELINE_PTR || ((expected) == TIMELINE_HEX && !TIMELINE_IS_WHOLE_(given))              \
       ? TIMELINE_IS_POINTER_(given)                                                                       \
   : (expected) == TIMELINE_STR || (expected) == TIMELINE_ISTR                                             \
       ? (given) == TIMELINE_STR || (given) == TIMELINE_SIZED_TEXT_ || (given) == TIMELINE_WSTR            \
   : TIMELINE_IS_WHOLE_(expected) ? TIMELINE_IS_WHOLE_(given)                                              \
                                  : (expected) == (given))

/* The types by their names. m is given the name, its length, and the number. */
#define TIMELINE_NAMED_TYPES_(m, a, b) \
  m("i8", 2, TIMELINE_I8, a, b) m("i16", 3, TIMELINE_I16, a, b) m("i32", 3, TIMELINE_I32, a, b) \
  m("i64", 3, TIMELINE_I64, a, b) m("u8", 2, TIMELINE_U8, a, b) m("u16", 3, TIMELINE_U16, a, b) \
  m("u32", 3, TIMELINE_U32, a, b) m("u64", 3, TIMELINE_U64, a, b) m("f32", 3, TIMELINE_F32, a, b) \
  m("f64", 3, TIMELINE_F64, a, b) m("bool", 4, TIMELINE_BOOL, a, b) m("char", 4, TIMELINE_CHAR, a, b) \
  m("hex", 3, TIMELINE_HEX, a, b) m("ptr", 3, TIMELINE_PTR, a, b) m("ns", 2, TIMELINE_NS, a, b) \
  m("time", 4, TIMELINE_TIME, a, b) m("bytes", 5, TIMELINE_BYTES, a, b) m("str", 3, TIMELINE_STR, a, b) \
  m("wstr", 4, TIMELINE_WSTR, a, b) m("istr", 4, TIMELINE_ISTR, a, b)

#if defined(__clang__)

#define TIMELINE_REFUSE_(condition, why) __attribute__((diagnose_if(condition, why, "error")))
#define TIMELINE_LETTERS_ "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define TIMELINE_IS_NAME_(c) (__builtin_memchr(TIMELINE_LETTERS_ "0123456789_", c, 63) != 0)
#define TIMELINE_IN_TYPE_(c) (TIMELINE_IS_NAME_(c) && (c) != '_')
#define TIMELINE_IS_LETTER_(c) (__builtin_memchr(TIMELINE_LETTERS_, c, 52) != 0)

/* No constant: what is made of it is not looked at. */
const char *timeline_nobody_knows_(void);

/* The name behind the first `$` of the rest of a line, which is a constant; NULL if there is none. A `$` without
 * a name ends what is looked at. */
#define TIMELINE_NEXT_NAME_(rest)                                                               \
  __extension__({                                                                               \
    const char *const timeline_rest_ = (rest);                                                  \
    const char *const timeline_at_ = __builtin_strchr(timeline_rest_, '$');                     \
    const char *const timeline_line_ = __builtin_strchr(timeline_rest_, '\n');                  \
    const char *const timeline_return_ = __builtin_strchr(timeline_rest_, '\r');                \
    !timeline_at_ || (timeline_line_ && timeline_line_ < timeline_at_) ||                       \
            (timeline_return_ && timeline_return_ < timeline_at_)                               \
        ? (const char *)0                                                                       \
    : TIMELINE_IS_NAME_(timeline_at_[1]) ? timeline_at_ + 1                                     \
    : timeline_at_[1] == '$' && TIMELINE_IS_NAME_(timeline_at_[2]) ? timeline_at_ + 2           \
                                         : timeline_nobody_knows_();                            \
  })

/* The first character behind that name, which has at most 24; NULL if there is none. */
#define TIMELINE_BEHIND_NAME_(rest)                                                             \
  __extension__({                                                                               \
    const char *const timeline_name_ = TIMELINE_NEXT_NAME_(rest);                               \
    !timeline_name_ ? timeline_name_ :                                                          \
    TIMELINE_ENDS_AT_(1) TIMELINE_ENDS_AT_(2) TIMELINE_ENDS_AT_(3) TIMELINE_ENDS_AT_(4)         \
    TIMELINE_ENDS_AT_(5) TIMELINE_ENDS_AT_(6) TIMELINE_ENDS_AT_(7) TIMELINE_ENDS_AT_(8)         \
    TIMELINE_ENDS_AT_(9) TIMELINE_ENDS_AT_(10) TIMELINE_ENDS_AT_(11) TIMELINE_ENDS_AT_(12)      \
    TIMELINE_ENDS_AT_(13) TIMELINE_ENDS_AT_(14) TIMELINE_ENDS_AT_(15) TIMELINE_ENDS_AT_(16)     \
    TIMELINE_ENDS_AT_(17) TIMELINE_ENDS_AT_(18) TIMELINE_ENDS_AT_(19) TIMELINE_ENDS_AT_(20)     \
    TIMELINE_ENDS_AT_(21) TIMELINE_ENDS_AT_(22) TIMELINE_ENDS_AT_(23) TIMELINE_ENDS_AT_(24)     \
    timeline_nobody_knows_();                                                                   \
  })
#define TIMELINE_ENDS_AT_(i) !TIMELINE_IS_NAME_(timeline_name_[i]) ? timeline_name_ + i :

/* Whether a type of this name stands there, or an array of it. */
#define TIMELINE_IS_TYPE_(name, length, number, text, unused) \
  || (__builtin_strncmp(text, name, length) == 0 && !TIMELINE_IN_TYPE_((text)[length]) && \
      !((text)[length] == '[' && (text)[length + 1] == ']'))
#define TIMELINE_IS_ARRAY_(name, length, number, text, unused)                                            \
  || (number <= TIMELINE_F64 && __builtin_strncmp(text, name, length) == 0 && (text)[length] == '[' &&    \
      (text)[length + 1] == ']')
#define TIMELINE_HAS_NAMES_(text) \
  (__builtin_strncmp(text, "enum(", 5) == 0 || __builtin_strncmp(text, "flags(", 6) == 0)
#define TIMELINE_MISFITS_(name, length, number, text, given)                                              \
  || ((0 TIMELINE_IS_TYPE_(name, length, number, text, 0)) && !TIMELINE_FITS_(number, given))             \
  || ((0 TIMELINE_IS_ARRAY_(name, length, number, text, 0)) && (given) != (TIMELINE_ARRAY_OF | number))
#define TIMELINE_HAS_TYPE_(behind) ((behind) && (behind)[0] == ':' && TIMELINE_IS_LETTER_((behind)[1]))

_Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wgcc-compat\"")
/* Refuse a name that is left over, one that is missing, and the type behind a name. */
__attribute__((unused)) static inline int timeline_check_end_(const char *name)
    TIMELINE_REFUSE_(name, TIMELINE_TOO_FEW_);
__attribute__((unused)) static inline int timeline_check_type_(const char *behind, unsigned given)
    TIMELINE_REFUSE_(!behind, TIMELINE_TOO_MANY_)
    TIMELINE_REFUSE_(behind && given == TIMELINE_LONG_DOUBLE_, TIMELINE_NO_FIT_)
    TIMELINE_REFUSE_(TIMELINE_HAS_TYPE_(behind) &&
                         !(TIMELINE_HAS_NAMES_(behind + 1) TIMELINE_NAMED_TYPES_(TIMELINE_IS_TYPE_, behind + 1, 0)
                               TIMELINE_NAMED_TYPES_(TIMELINE_IS_ARRAY_, behind + 1, 0)),
                     TIMELINE_NO_TYPE_)
    TIMELINE_REFUSE_(TIMELINE_HAS_TYPE_(behind) &&
                         ((TIMELINE_HAS_NAMES_(behind + 1) && !TIMELINE_IS_WHOLE_(given))
                              TIMELINE_NAMED_TYPES_(TIMELINE_MISFITS_, behind + 1, given)),
                     TIMELINE_NO_FIT_);
_Pragma("clang diagnostic pop")
__attribute__((unused)) static inline int timeline_check_end_(const char *name) { return !name; }
__attribute__((unused)) static inline int timeline_check_type_(const char *behind, unsigned given) {
  return behind && given;
}

/* Nothing of this is in the program: operands of sizeof are not evaluated. */
#define TIMELINE_CHECK_BEGIN_(message) "" message
#define TIMELINE_CHECK_BEHIND_(n, rest, message) TIMELINE_NEXT_NAME_(rest)
#define TIMELINE_CHECK_ONE_(n, rest, message)                                                                 \
  (void)sizeof(timeline_check_type_(TIMELINE_BEHIND_NAME_(rest), timeline_type_##n##_));
#define TIMELINE_CHECK_END_(rest, message) (void)sizeof(timeline_check_end_(TIMELINE_NEXT_NAME_(rest)));

#elif __GNUC__ >= 11 && !defined(__INTEL_COMPILER)

#define TIMELINE_LETTERS_ "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define TIMELINE_DIGITS_ "0123456789"

/* Where parts of a message begin, as constants, of which each argument has its own:
 * `at` a `$` or the end of the line, `name` its name, `end` what is behind that, `type` its type. */
/* glibc has a macro of this name for strict C99, which keeps the sentence to itself. */
#ifdef _Static_assert
#define TIMELINE_ASSERT_(condition, name, sentence) enum { name = 1 / ((condition) ? 1 : 0) };
#else
#define TIMELINE_ASSERT_(condition, name, sentence) __extension__ _Static_assert(condition, sentence);
#endif
#define TIMELINE_CHECK_BEGIN_(message) start
#define TIMELINE_CHECK_BEHIND_(n, before, message) n
#define TIMELINE_CHECK_START_                                                \
  enum { timeline_end_start = 0, timeline_odd_start = 0 };
#define TIMELINE_FIND_NAME_(n, before, message)                                                               \
  timeline_at_##n = timeline_end_##before + __builtin_strcspn(message + timeline_end_##before, "$\r\n"),      \
  timeline_name_##n = timeline_at_##n + __builtin_strspn(message + timeline_at_##n, "$"),                     \
  timeline_end_##n = timeline_name_##n +                                                                      \
                     __builtin_strspn(message + timeline_name_##n, TIMELINE_LETTERS_ TIMELINE_DIGITS_ "_"),   \
  timeline_has_##n = timeline_name_##n > timeline_at_##n && timeline_end_##n > timeline_name_##n,             \
  /* A `$` without a name ends what is looked at. */                                                          \
  timeline_odd_##n = timeline_odd_##before || (timeline_name_##n > timeline_at_##n && !timeline_has_##n)
#define TIMELINE_IS_TYPE_(name, length, number, text, size) \
  +(size == length && __builtin_strncmp(text, name, length) == 0 ? number : 0)
#define TIMELINE_CHECK_ONE_(n, before, message)                                                               \
  enum {                                                                                                      \
    TIMELINE_FIND_NAME_(n, before, message),                                                                  \
    timeline_colon_##n = timeline_end_##n + (__builtin_strncmp(message + timeline_end_##n, ":", 1) == 0),     \
    timeline_type_##n = timeline_colon_##n > timeline_end_##n                                                 \
                            ? __builtin_strspn(message + timeline_colon_##n, TIMELINE_LETTERS_)               \
                            : 0,                                                                              \
    timeline_size_##n = timeline_type_##n == 0                                                                \
                            ? 0                                                                               \
                            : __builtin_strspn(message + timeline_colon_##n, TIMELINE_LETTERS_ TIMELINE_DIGITS_), \
    timeline_number_##n =                                                                                     \
        0 TIMELINE_NAMED_TYPES_(TIMELINE_IS_TYPE_, message + timeline_colon_##n, timeline_size_##n)           \
            TIMELINE_IS_TYPE_("enum(", 5, TIMELINE_ENUM, message + timeline_colon_##n, timeline_size_##n + 1) \
                TIMELINE_IS_TYPE_("flags(", 6, TIMELINE_FLAGS, message + timeline_colon_##n, timeline_size_##n + 1), \
    timeline_list_##n =                                                                                       \
        timeline_size_##n > 0 &&                                                                              \
        __builtin_strncmp(message + timeline_colon_##n + timeline_size_##n, "[]", 2) == 0,                    \
    timeline_wanted_##n = timeline_size_##n == 0      ? 0                                                     \
                          : timeline_number_##n == 0 ? TIMELINE_UNKNOWN_TYPE_                                 \
                          : !timeline_list_##n       ? timeline_number_##n                                    \
                          : timeline_number_##n <= TIMELINE_F64 ? TIMELINE_ARRAY_OF + timeline_number_##n     \
                                                                : TIMELINE_UNKNOWN_TYPE_,                     \
    timeline_given_##n = timeline_type_##n##_                                                                 \
  };                                                                                                          \
  TIMELINE_ASSERT_(timeline_odd_##n || timeline_has_##n,                                                      \
                   timeline_has_more_arguments_than_the_message_##n, TIMELINE_TOO_MANY_)                      \
  TIMELINE_ASSERT_(timeline_odd_##n || !timeline_has_##n || timeline_wanted_##n != TIMELINE_UNKNOWN_TYPE_,    \
                   timeline_names_a_type_that_there_is_not_##n, TIMELINE_NO_TYPE_)                            \
  TIMELINE_ASSERT_(timeline_odd_##n || !timeline_has_##n ||                                                   \
                       TIMELINE_FITS_((unsigned)timeline_wanted_##n, (unsigned)timeline_given_##n),           \
                   timeline_has_an_argument_of_another_type_than_the_message_##n, TIMELINE_NO_FIT_)
#define TIMELINE_CHECK_END_(before, message)                                      \
  enum { TIMELINE_FIND_NAME_(last, before, message) };                            \
  TIMELINE_ASSERT_(timeline_odd_last || !timeline_has_last, timeline_has_fewer_arguments_than_the_message, \
                   TIMELINE_TOO_FEW_)

#endif

#ifndef TIMELINE_CHECK_START_
#define TIMELINE_CHECK_START_
#endif
#ifdef TIMELINE_CHECK_ONE_
/* Checks a statement: message and arguments, whose types TIMELINE_DECLARE_TYPES_ has declared. */
#define TIMELINE_CHECK_EVENT_(...)                                                                            \
  do {                                                                                                        \
    TIMELINE_CHECK_START_                                                                                     \
    TIMELINE_PASTE_(TIMELINE_CHECK_, TIMELINE_COUNT_(__VA_ARGS__), _)                                         \
    (TIMELINE_CHECK_BEGIN_(TIMELINE_FORMAT_(__VA_ARGS__, 0)), (TIMELINE_FORMAT_(__VA_ARGS__, 0)), __VA_ARGS__, 0) \
  } while (0);
#define TIMELINE_CHECK_0_(before, text, message, ...) TIMELINE_CHECK_END_(before, text)
#define TIMELINE_CHECK_1_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(1, before, text) \
  TIMELINE_CHECK_0_(TIMELINE_CHECK_BEHIND_(1, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_2_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(2, before, text) \
  TIMELINE_CHECK_1_(TIMELINE_CHECK_BEHIND_(2, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_3_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(3, before, text) \
  TIMELINE_CHECK_2_(TIMELINE_CHECK_BEHIND_(3, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_4_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(4, before, text) \
  TIMELINE_CHECK_3_(TIMELINE_CHECK_BEHIND_(4, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_5_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(5, before, text) \
  TIMELINE_CHECK_4_(TIMELINE_CHECK_BEHIND_(5, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_6_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(6, before, text) \
  TIMELINE_CHECK_5_(TIMELINE_CHECK_BEHIND_(6, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_7_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(7, before, text) \
  TIMELINE_CHECK_6_(TIMELINE_CHECK_BEHIND_(7, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_8_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(8, before, text) \
  TIMELINE_CHECK_7_(TIMELINE_CHECK_BEHIND_(8, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_9_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(9, before, text) \
  TIMELINE_CHECK_8_(TIMELINE_CHECK_BEHIND_(9, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_10_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(10, before, text) \
  TIMELINE_CHECK_9_(TIMELINE_CHECK_BEHIND_(10, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_11_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(11, before, text) \
  TIMELINE_CHECK_10_(TIMELINE_CHECK_BEHIND_(11, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_12_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(12, before, text) \
  TIMELINE_CHECK_11_(TIMELINE_CHECK_BEHIND_(12, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_13_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(13, before, text) \
  TIMELINE_CHECK_12_(TIMELINE_CHECK_BEHIND_(13, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_14_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(14, before, text) \
  TIMELINE_CHECK_13_(TIMELINE_CHECK_BEHIND_(14, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_15_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(15, before, text) \
  TIMELINE_CHECK_14_(TIMELINE_CHECK_BEHIND_(15, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_16_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(16, before, text) \
  TIMELINE_CHECK_15_(TIMELINE_CHECK_BEHIND_(16, before, text), text, message, __VA_ARGS__)
#ifdef __clang__
/* Each argument is looked for behind all others: of so many, that would take long. */
#define TIMELINE_CHECK_17_(...)
#define TIMELINE_CHECK_18_(...)
#define TIMELINE_CHECK_19_(...)
#define TIMELINE_CHECK_20_(...)
#define TIMELINE_CHECK_21_(...)
#define TIMELINE_CHECK_22_(...)
#define TIMELINE_CHECK_23_(...)
#define TIMELINE_CHECK_24_(...)
#define TIMELINE_CHECK_25_(...)
#define TIMELINE_CHECK_26_(...)
#define TIMELINE_CHECK_27_(...)
#define TIMELINE_CHECK_28_(...)
#define TIMELINE_CHECK_29_(...)
#define TIMELINE_CHECK_30_(...)
#define TIMELINE_CHECK_31_(...)
#define TIMELINE_CHECK_32_(...)
#define TIMELINE_CHECK_33_(...)
#define TIMELINE_CHECK_34_(...)
#define TIMELINE_CHECK_35_(...)
#define TIMELINE_CHECK_36_(...)
#define TIMELINE_CHECK_37_(...)
#define TIMELINE_CHECK_38_(...)
#define TIMELINE_CHECK_39_(...)
#define TIMELINE_CHECK_40_(...)
#define TIMELINE_CHECK_41_(...)
#define TIMELINE_CHECK_42_(...)
#define TIMELINE_CHECK_43_(...)
#define TIMELINE_CHECK_44_(...)
#define TIMELINE_CHECK_45_(...)
#define TIMELINE_CHECK_46_(...)
#define TIMELINE_CHECK_47_(...)
#define TIMELINE_CHECK_48_(...)
#define TIMELINE_CHECK_49_(...)
#define TIMELINE_CHECK_50_(...)
#define TIMELINE_CHECK_51_(...)
#define TIMELINE_CHECK_52_(...)
#define TIMELINE_CHECK_53_(...)
#define TIMELINE_CHECK_54_(...)
#define TIMELINE_CHECK_55_(...)
#define TIMELINE_CHECK_56_(...)
#define TIMELINE_CHECK_57_(...)
#define TIMELINE_CHECK_58_(...)
#define TIMELINE_CHECK_59_(...)
#define TIMELINE_CHECK_60_(...)
#define TIMELINE_CHECK_61_(...)
#define TIMELINE_CHECK_62_(...)
#define TIMELINE_CHECK_63_(...)
#define TIMELINE_CHECK_64_(...)
#else
#define TIMELINE_CHECK_17_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(17, before, text) \
  TIMELINE_CHECK_16_(TIMELINE_CHECK_BEHIND_(17, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_18_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(18, before, text) \
  TIMELINE_CHECK_17_(TIMELINE_CHECK_BEHIND_(18, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_19_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(19, before, text) \
  TIMELINE_CHECK_18_(TIMELINE_CHECK_BEHIND_(19, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_20_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(20, before, text) \
  TIMELINE_CHECK_19_(TIMELINE_CHECK_BEHIND_(20, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_21_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(21, before, text) \
  TIMELINE_CHECK_20_(TIMELINE_CHECK_BEHIND_(21, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_22_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(22, before, text) \
  TIMELINE_CHECK_21_(TIMELINE_CHECK_BEHIND_(22, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_23_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(23, before, text) \
  TIMELINE_CHECK_22_(TIMELINE_CHECK_BEHIND_(23, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_24_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(24, before, text) \
  TIMELINE_CHECK_23_(TIMELINE_CHECK_BEHIND_(24, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_25_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(25, before, text) \
  TIMELINE_CHECK_24_(TIMELINE_CHECK_BEHIND_(25, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_26_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(26, before, text) \
  TIMELINE_CHECK_25_(TIMELINE_CHECK_BEHIND_(26, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_27_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(27, before, text) \
  TIMELINE_CHECK_26_(TIMELINE_CHECK_BEHIND_(27, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_28_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(28, before, text) \
  TIMELINE_CHECK_27_(TIMELINE_CHECK_BEHIND_(28, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_29_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(29, before, text) \
  TIMELINE_CHECK_28_(TIMELINE_CHECK_BEHIND_(29, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_30_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(30, before, text) \
  TIMELINE_CHECK_29_(TIMELINE_CHECK_BEHIND_(30, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_31_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(31, before, text) \
  TIMELINE_CHECK_30_(TIMELINE_CHECK_BEHIND_(31, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_32_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(32, before, text) \
  TIMELINE_CHECK_31_(TIMELINE_CHECK_BEHIND_(32, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_33_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(33, before, text) \
  TIMELINE_CHECK_32_(TIMELINE_CHECK_BEHIND_(33, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_34_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(34, before, text) \
  TIMELINE_CHECK_33_(TIMELINE_CHECK_BEHIND_(34, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_35_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(35, before, text) \
  TIMELINE_CHECK_34_(TIMELINE_CHECK_BEHIND_(35, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_36_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(36, before, text) \
  TIMELINE_CHECK_35_(TIMELINE_CHECK_BEHIND_(36, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_37_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(37, before, text) \
  TIMELINE_CHECK_36_(TIMELINE_CHECK_BEHIND_(37, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_38_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(38, before, text) \
  TIMELINE_CHECK_37_(TIMELINE_CHECK_BEHIND_(38, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_39_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(39, before, text) \
  TIMELINE_CHECK_38_(TIMELINE_CHECK_BEHIND_(39, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_40_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(40, before, text) \
  TIMELINE_CHECK_39_(TIMELINE_CHECK_BEHIND_(40, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_41_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(41, before, text) \
  TIMELINE_CHECK_40_(TIMELINE_CHECK_BEHIND_(41, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_42_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(42, before, text) \
  TIMELINE_CHECK_41_(TIMELINE_CHECK_BEHIND_(42, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_43_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(43, before, text) \
  TIMELINE_CHECK_42_(TIMELINE_CHECK_BEHIND_(43, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_44_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(44, before, text) \
  TIMELINE_CHECK_43_(TIMELINE_CHECK_BEHIND_(44, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_45_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(45, before, text) \
  TIMELINE_CHECK_44_(TIMELINE_CHECK_BEHIND_(45, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_46_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(46, before, text) \
  TIMELINE_CHECK_45_(TIMELINE_CHECK_BEHIND_(46, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_47_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(47, before, text) \
  TIMELINE_CHECK_46_(TIMELINE_CHECK_BEHIND_(47, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_48_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(48, before, text) \
  TIMELINE_CHECK_47_(TIMELINE_CHECK_BEHIND_(48, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_49_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(49, before, text) \
  TIMELINE_CHECK_48_(TIMELINE_CHECK_BEHIND_(49, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_50_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(50, before, text) \
  TIMELINE_CHECK_49_(TIMELINE_CHECK_BEHIND_(50, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_51_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(51, before, text) \
  TIMELINE_CHECK_50_(TIMELINE_CHECK_BEHIND_(51, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_52_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(52, before, text) \
  TIMELINE_CHECK_51_(TIMELINE_CHECK_BEHIND_(52, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_53_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(53, before, text) \
  TIMELINE_CHECK_52_(TIMELINE_CHECK_BEHIND_(53, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_54_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(54, before, text) \
  TIMELINE_CHECK_53_(TIMELINE_CHECK_BEHIND_(54, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_55_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(55, before, text) \
  TIMELINE_CHECK_54_(TIMELINE_CHECK_BEHIND_(55, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_56_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(56, before, text) \
  TIMELINE_CHECK_55_(TIMELINE_CHECK_BEHIND_(56, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_57_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(57, before, text) \
  TIMELINE_CHECK_56_(TIMELINE_CHECK_BEHIND_(57, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_58_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(58, before, text) \
  TIMELINE_CHECK_57_(TIMELINE_CHECK_BEHIND_(58, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_59_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(59, before, text) \
  TIMELINE_CHECK_58_(TIMELINE_CHECK_BEHIND_(59, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_60_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(60, before, text) \
  TIMELINE_CHECK_59_(TIMELINE_CHECK_BEHIND_(60, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_61_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(61, before, text) \
  TIMELINE_CHECK_60_(TIMELINE_CHECK_BEHIND_(61, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_62_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(62, before, text) \
  TIMELINE_CHECK_61_(TIMELINE_CHECK_BEHIND_(62, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_63_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(63, before, text) \
  TIMELINE_CHECK_62_(TIMELINE_CHECK_BEHIND_(63, before, text), text, message, __VA_ARGS__)
#define TIMELINE_CHECK_64_(before, text, message, a, ...) TIMELINE_CHECK_ONE_(64, before, text) \
  TIMELINE_CHECK_63_(TIMELINE_CHECK_BEHIND_(64, before, text), text, message, __VA_ARGS__)
#endif
#else
#define TIMELINE_CHECK_EVENT_(...)
#endif
#endif /* __cplusplus */
