/* Statements in C: what their macros do with the arguments. */
#ifndef __cplusplus
/* The types of the arguments of a statement, each under the number that TIMELINE_EACH_ gives it. */
#define TIMELINE_DECLARE_TYPE_(n, x) timeline_type_##n##_ = TIMELINE_TYPE_(x),
#define TIMELINE_LISTED_(n, x) timeline_type_##n##_,
#define TIMELINE_AND_NUMBER_(n, x) &&timeline_type_##n##_ < TIMELINE_STR
#define TIMELINE_PLUS_WORDS_(n, x) +(timeline_type_##n##_ == TIMELINE_LONG_DOUBLE_ ? 2 : 1)
#define TIMELINE_OR_PAIR_(n, x) || TIMELINE_IS_PAIR_(timeline_type_##n##_)
#define TIMELINE_AND_SIMPLE_(n, x) &&timeline_type_##n##_ <= TIMELINE_STR
#define TIMELINE_PLUS_TEXT_(n, x) +(timeline_simple_ != 0 && timeline_type_##n##_ == TIMELINE_STR)
#define TIMELINE_PLUS_BIT_(n, x) \
  +(timeline_simple_ != 0 && timeline_type_##n##_ == TIMELINE_STR) * (1 << (timeline_args_ - (n)) % 16)
#define TIMELINE_DECLARE_TYPES_(...)                                                                    \
  enum {                                                                                                \
    TIMELINE_EACH_(TIMELINE_DECLARE_TYPE_, __VA_ARGS__)                                                 \
    timeline_args_ = TIMELINE_COUNT_(__VA_ARGS__),                                                     \
    timeline_fixed_ = 0 TIMELINE_EACH_(TIMELINE_PLUS_WORDS_, __VA_ARGS__),                              \
    timeline_numbers_ = 1 TIMELINE_EACH_(TIMELINE_AND_NUMBER_, __VA_ARGS__),                            \
    timeline_pairs_ = 0 TIMELINE_EACH_(TIMELINE_OR_PAIR_, __VA_ARGS__),                                 \
    timeline_simple_ = TIMELINE_MAKES_ROOM_ && timeline_args_ <= TIMELINE_FEW_                          \
        TIMELINE_EACH_(TIMELINE_AND_SIMPLE_, __VA_ARGS__),                                              \
    /* How many texts, and which. */                                                                    \
    timeline_few_ = 0 TIMELINE_EACH_(TIMELINE_PLUS_TEXT_, __VA_ARGS__),                                 \
    timeline_texts_ = 0 TIMELINE_EACH_(TIMELINE_PLUS_BIT_, __VA_ARGS__)                                 \
  };                                                                                                    \
  static const unsigned char timeline_given_[] = {TIMELINE_EACH_(TIMELINE_LISTED_, __VA_ARGS__) 0}

/* The raw values, evaluated in order. Each that is not passed on in a register is stored by itself: the loads
 * of single words that follow would wait for a store of several. */
#define TIMELINE_STORED_(n)                   \
  if (timeline_numbers_ == 0 || timeline_args_ > 4) \
    __asm__ volatile("" : : "m"(timeline_raw_[timeline_args_ - (n)]));
#define TIMELINE_ROOM_ \
  (timeline_args_ == 0 ? 1 : timeline_pairs_ != 0 ? 2 * timeline_args_ : timeline_args_ + 4 * timeline_few_)
#define TIMELINE_PUT_RAW_(n, x) \
  TIMELINE_SELECT_(x, TIMELINE_FUNCTION_, f32)(&timeline_raw_[timeline_args_ - (n)], timeline_args_, x); \
  TIMELINE_STORED_(n)
#define TIMELINE_PUT_PRINTED_(n, x) \
  TIMELINE_SELECT_(x, TIMELINE_FUNCTION_, float)(&timeline_raw_[timeline_args_ - (n)], timeline_args_, x); \
  TIMELINE_STORED_(n)

/* The word of this number, if there is one. */
#define TIMELINE_WORD_(index) \
  (timeline_args_ > (index) ? TIMELINE_CAST_(int64_t, timeline_raw_[timeline_args_ > (index) ? (index) : 0]) : 0)
/* Logs up to four numbers. */
#define TIMELINE_LOG_PLAIN_                                                                                 \
  (timeline_log)(timeline_tl_, timeline_event_, TIMELINE_WORD_(0), TIMELINE_WORD_(1), TIMELINE_WORD_(2),    \
                 TIMELINE_WORD_(3))

#define TIMELINE_EVENT_(level, flags, ...)                                                                \
  TIMELINE_DECLARE_TYPES_(__VA_ARGS__);                                                                   \
  TIMELINE_CHECK_EVENT_(__VA_ARGS__)                                                                      \
  /* Only a long double takes two words. */                                                               \
  enum { an_event_takes_no_long_double_ = 1 / (timeline_fixed_ == timeline_args_) };                     \
  const uint32_t timeline_event_ = timeline_event_at_(timeline_tl_, &timeline_site_, level, timeline_given_); \
  if (TIMELINE_SAYS_) {                                                                                  \
    uint64_t timeline_raw_[TIMELINE_ROOM_];                                                               \
    TIMELINE_EACH_(TIMELINE_PUT_RAW_, __VA_ARGS__)                                                        \
    if (timeline_few_ != 0)                                                                                    \
      timeline_log_few_at_(timeline_tl_, timeline_event_, timeline_raw_,                                  \
                           TIMELINE_MIX_(timeline_args_, timeline_texts_), &timeline_site_,               \
                           timeline_raw_[TIMELINE_FIRST_TEXT_(timeline_texts_)]);                         \
    else if (timeline_numbers_ == 0)                                                                          \
      timeline_log_values_at_(timeline_tl_, timeline_event_, timeline_raw_, timeline_given_, timeline_args_, \
                              &timeline_site_);                                                           \
    else if (timeline_args_ > 4)                                                                         \
      timeline_log_payload(timeline_tl_, timeline_event_, timeline_raw_, timeline_args_, 0);             \
    else                                                                                                  \
      TIMELINE_LOG_PLAIN_;                                                                                \
  }

#define TIMELINE_PRINTF_(level, flags, ...)                                                           \
  TIMELINE_DECLARE_TYPES_(__VA_ARGS__);                                                               \
  const uint32_t timeline_event_ = timeline_event_at_(timeline_tl_, &timeline_site_, level, 0);           \
  if (TIMELINE_SAYS_) {                                                                              \
    TIMELINE_OR_ALL_(__VA_ARGS__) {                                                                   \
      uint64_t timeline_raw_[TIMELINE_ROOM_];                                                         \
      if (timeline_args_ == 0) timeline_raw_[0] = 0;                                                      \
      TIMELINE_EACH_(TIMELINE_PUT_PRINTED_, __VA_ARGS__)                                              \
      if (timeline_numbers_ != 0 && timeline_args_ <= 4 && !((flags) & TIMELINE_SITE_BACKTRACE) &&        \
          !timeline_is_whole_text_(&timeline_site_))                                                  \
        TIMELINE_LOG_PLAIN_;                                                                          \
      else if (timeline_few_ != 0 && !((flags) & TIMELINE_SITE_BACKTRACE))                                 \
        timeline_log_few_printed_(timeline_tl_, timeline_event_, timeline_raw_,                       \
                                  TIMELINE_MIX_(timeline_args_, timeline_texts_), &timeline_site_,    \
                                  timeline_raw_[TIMELINE_FIRST_TEXT_(timeline_texts_)]);              \
      else                                                                                            \
        timeline_log_format_(timeline_tl_, &timeline_site_, timeline_event_, timeline_raw_, timeline_given_, \
                             TIMELINE_SHAPE_(timeline_args_, timeline_fixed_));                      \
      TIMELINE_STAY_(flags);                                                                          \
    }                                                                                                 \
  }
#endif /* C */
