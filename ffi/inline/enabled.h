/* The question that a program asks at each event, without a call. */

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
