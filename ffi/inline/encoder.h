/* Makes a payload of the arguments of a statement.
 *
 * A statement has evaluated them to raw values, one word each; second words, which a text with a number of
 * bytes, an array and a long double have, stand behind those of all. `types` are the types of C, up to the first 0.
 *
 * No function here is inlined in a statement: so no function of a program has a payload in its frame, and
 * the compiler optimises them once, and not for each statement. */

TIMELINE_INLINE_ const void *timeline_pointer_(uint64_t raw) {
  const uintptr_t address = raw & UINTPTR_MAX;
  return TIMELINE_POINTER_CAST_(const void *, address);
}

/* The types that a site knows, once its event is known; NULL for zeros. */
TIMELINE_INLINE_ const uint32_t *timeline_types_at_(const timeline_site_t *site) {
  return __atomic_load_n(&site->types, __ATOMIC_RELAXED);
}

/* Which arguments of an event are to be interned, as bits. */
TIMELINE_INLINE_ uint64_t timeline_marked_(const timeline_site_t *site) {
  const uint32_t *const types = timeline_types_at_(site);
  return types ? TIMELINE_CAST_(uint64_t, types[1]) << 32 | types[0] : 0;
}

/* Whether the C library has to write the text. */
TIMELINE_INLINE_ bool timeline_is_whole_text_(const timeline_site_t *site) {
  const uint32_t *const types = timeline_types_at_(site);
  return __builtin_expect(types && (types[0] & 0xff) == 'v', 0);
}

/* A statement with few arguments, all of them numbers and texts that end with NUL, makes room behind its raw
 * values: if the texts are short, these become the payload where they are. It costs hardly more than if this
 * were inlined in the statement. */
#define TIMELINE_FEW_ 8
#if defined(__OPTIMIZE__) && !TIMELINE_IS_SANITIZED_
#define TIMELINE_MAKES_ROOM_ 1
#else
/* Each statement would have room of its own in the frame. */
#define TIMELINE_MAKES_ROOM_ 0
#endif

/* How many arguments there are, and which of them are texts, as bits. */
#define TIMELINE_MIX_(count, texts) ((count) | (texts) << 8)
/* The place of the first of these texts. */
#define TIMELINE_FIRST_TEXT_(texts) (__builtin_ctz((texts) | 1u << TIMELINE_FEW_) % TIMELINE_FEW_)

/* Makes a payload of raw values, which has room for short texts: returns how many words they take, or 0 if not
 * all texts are short; then nothing has changed. `first` is the first text, as its raw value was only just
 * stored; `plain`: of printf, the types of the conversions. */
TIMELINE_INLINE_ unsigned timeline_store_few_(uint64_t *words, unsigned mix, uint64_t first, const uint32_t *plain) {
  uint64_t texts[TIMELINE_FEW_], raw = first;
  const unsigned count = mix & 0xff;
  unsigned end = count;
  for (unsigned left = mix >> 8;;) {
    const unsigned i = TIMELINE_CAST_(unsigned, __builtin_ctz(left)) % TIMELINE_FEW_;
    const char *text = TIMELINE_CAST_(const char *, timeline_pointer_(raw));
    TIMELINE_UNKNOWN_(text);
    const unsigned length =
        text && (!plain || plain[i] == TIMELINE_PLAIN_TEXT_) ? timeline_length_(text) : TIMELINE_IS_LONG_;
    if (__builtin_expect(length >= TIMELINE_IS_LONG_, 0)) {
      for (unsigned done = (mix >> 8) ^ left; done; done &= done - 1) {
        const unsigned former = TIMELINE_CAST_(unsigned, __builtin_ctz(done)) % TIMELINE_FEW_;
        words[former] = texts[former];
      }
      return 0;
    }
    texts[i] = raw;
    words[i] = length;
    timeline_copy_(words + end, text, length);
    end += (length + 7) / 8;
    left &= left - 1;
    if (!left) return end;
    raw = words[__builtin_ctz(left)];
  }
}

/* The types of such arguments. Which number one is makes no difference. */
TIMELINE_INLINE_ void timeline_types_of_few_(unsigned char *types, unsigned mix) {
  for (unsigned i = 0; i < (mix & 0xff); i++)
    types[i] = (mix >> 8 >> i) & 1 ? TIMELINE_STR : TIMELINE_I64;
  types[mix & 0xff] = 0;
}

/* Stores the arguments of an event: returns how many words they take. */
TIMELINE_INLINE_ unsigned timeline_store_(uint64_t *words, unsigned most, const uint64_t *raw,
                                          const unsigned char *types, unsigned count) {
  timeline_payload_t to = {words, 0, count, most, TIMELINE_LEAST_WORDS_};
  for (unsigned i = 0; i < count; i++) {
    const unsigned type = types[i];
    uint64_t word = raw[i];
    if (!timeline_is_number_(type)) {
      const void *const data = timeline_pointer_(word);
      if (type == TIMELINE_STR || (type == TIMELINE_SIZED_TEXT_ && raw[count + i] == TIMELINE_NO_LIMIT_))
        word = timeline_put_text_(&to, TIMELINE_CAST_(const char *, data));
      else if (type == TIMELINE_SIZED_TEXT_)
        word = timeline_put_bytes_(&to, TIMELINE_CAST_(const char *, data), raw[count + i]);
      else if (type == TIMELINE_WSTR)
        word = timeline_put_wide_(&to, TIMELINE_CAST_(const wchar_t *, data), TIMELINE_NO_LIMIT_, TIMELINE_NO_LIMIT_);
      else if (type == TIMELINE_SIZED_WIDE_)
        word = timeline_put_wide_(&to, TIMELINE_CAST_(const wchar_t *, data), TIMELINE_NO_LIMIT_, raw[count + i]);
      else if (type & TIMELINE_ARRAY_OF)
        word = timeline_put_array_(&to, data, raw[count + i], timeline_size_(type));
    }
    words[i] = word;
  }
  return to.end;
}

/* Logs an event with such arguments. `marked`: which of its texts are to be interned. */
__attribute__((unused, noinline)) static void timeline_log_values_(timeline_t *tl, uint32_t event,
                                                                   const uint64_t *raw,
                                                                   const unsigned char *types, unsigned count,
                                                                   uint64_t marked) {
  uint64_t words[TIMELINE_PAYLOAD_WORDS_];
  const unsigned end = timeline_store_(words, tl->payload / 8, raw, types, count);
  if (__builtin_expect(marked != 0, 0))
    timeline_log_interned(tl, event, words, end, types, marked);
  else
    timeline_log_payload(tl, event, words, end, 0);
}

/* The same for a span, which keeps the words. */
__attribute__((unused, noinline)) static unsigned timeline_keep_(timeline_t *tl, uint64_t *words,
                                                                 const uint64_t *raw, const unsigned char *types,
                                                                 unsigned count) {
  return timeline_store_(words, tl->payload / 8, raw, types, count);
}

/* What was stored of an argument: its word, and how many words behind those of all arguments. */
typedef struct timeline_stored_t {
  uint64_t word;
  size_t taken;
} timeline_stored_t;

/* Stores a pointer of printf that is no plain text. `type` is that of its conversion, `before` the word of
 * the argument before. */
__attribute__((unused, noinline)) static timeline_stored_t timeline_store_pointer_(uint64_t *words, unsigned end,
                                                                                   unsigned most, const void *data,
                                                                                   uint32_t type, uint64_t before) {
  timeline_payload_t to = {words, 0, end, most, 0};
  const char letter = TIMELINE_CAST_(char, type & 0xff);
  size_t limit = type >> 8 == 0xffffff ? TIMELINE_NO_LIMIT_ : type >> 8;
  if (letter == 'S' || letter == 'W') {
    /* The int before is the precision; there is none below 0. */
    const int precision = TIMELINE_CAST_(int, before & 0xffffffff);
    limit = precision < 0 ? TIMELINE_NO_LIMIT_ : TIMELINE_CAST_(size_t, precision);
  }
  timeline_stored_t stored = {TIMELINE_POINTER_CAST_(uintptr_t, data), 0};
  if (letter == 'w' || letter == 'W') {
    stored.word = timeline_put_wide_(&to, TIMELINE_CAST_(const wchar_t *, data), limit, TIMELINE_NO_LIMIT_);
  } else if (letter == 's' || letter == 'S') {
    uint64_t *const behind = words + end;
    stored.word = timeline_copy_text_(behind, timeline_room_(&to), TIMELINE_CAST_(const char *, data), limit);
    timeline_count_(&to, stored.word);
  }
  stored.taken = to.end - end;
  return stored;
}

/* The call stack from a return address, at the beginning of a payload: returns how many words it takes. */
TIMELINE_INLINE_ unsigned timeline_put_stack_(timeline_t *tl, const void *from, uint64_t *words, unsigned most) {
  const int error = errno;
  const size_t count = timeline_backtrace(tl, from, words, most);
  errno = error;
  return TIMELINE_CAST_(unsigned, count);
}

/* Logs the whole text, written by vsnprintf; an empty one if that fails. */
__attribute__((unused, noinline, format(printf, 5, 0))) static void timeline_write_(
    timeline_t *tl, const timeline_site_t *site, uint32_t event, const void *from, const char *format,
    va_list arguments) {
  const int error = errno;
  uint64_t words[TIMELINE_PAYLOAD_WORDS_ + 1];
  const unsigned payload = tl->payload / 8;
  const unsigned most = payload < TIMELINE_PAYLOAD_WORDS_ ? payload : TIMELINE_PAYLOAD_WORDS_;
  const unsigned before =
      site->flags & TIMELINE_SITE_BACKTRACE ? timeline_put_stack_(tl, from, words, most - 1) : 0;
  const size_t room = TIMELINE_CAST_(size_t, most - before - 1) * 8;
  errno = error; /* %m */
  char *const text = TIMELINE_POINTER_CAST_(char *, words + before + 1);
  const int length = vsnprintf(text, room + 1, format, arguments);
  size_t kept = length < 0 ? 0 : TIMELINE_CAST_(size_t, length);
  uint64_t word = kept;
  if (kept > room) {
    kept = room;
    word = kept | TIMELINE_CUT_;
  }
  memset(text + kept, 0, (8 - kept % 8) % 8);
  words[before] = word;
  timeline_log_payload(tl, event, words, before + 1 + (kept + 7) / 8, site->flags);
  errno = error;
}

/* By this, the compiler checks the arguments of each statement against the format. Where the arguments of a
 * variadic function cannot be made of raw values, statements call it. */
__attribute__((unused, noinline, format(printf, 4, 5))) static void timeline_printf_all_(
    timeline_t *tl, const timeline_site_t *site, uint32_t event, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  timeline_write_(tl, site, event, __builtin_return_address(0), format, arguments);
  va_end(arguments);
}

#if defined(__x86_64__) && !defined(__ILP32__)
#define TIMELINE_RAW_ARGUMENTS_ 1
/* The format is checked where the statement stands. */
_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wformat-nonliteral\"")
/* Calls vsnprintf with raw values: as if all were passed in memory, where the ABI of this processor has those
 * for which no register is left, a long double at a multiple of 16. */
__attribute__((unused, noinline)) static void timeline_write_raw_(timeline_t *tl, const timeline_site_t *site,
                                                                  uint32_t event, const uint64_t *raw,
                                                                  const unsigned char *types, unsigned count,
                                                                  const void *from) {
  uint64_t all[2 * TIMELINE_MAX_FIELDS + 2] __attribute__((aligned(16)));
  unsigned end = 0;
  for (unsigned i = 0; i < count; i++) {
    if (types[i] == TIMELINE_LONG_DOUBLE_) {
      end += end % 2;
      all[end++] = raw[i];
      all[end++] = raw[count + i];
    } else {
      all[end++] = raw[i];
    }
  }
  /* What a va_list is there: how much of the registers is used up, which is all of it, and where the rest is. */
  const struct {
    unsigned general, floating;
    const void *memory, *registers;
  } rest = {6 * 8, 6 * 8 + 8 * 16, all, TIMELINE_NULL_POINTER_};
  va_list list;
  memcpy(list, &rest, sizeof rest);
  timeline_write_(tl, site, event, from, site->format, list);
}
_Pragma("GCC diagnostic pop")
#else
#define TIMELINE_RAW_ARGUMENTS_ 0
TIMELINE_INLINE_ void timeline_write_raw_(timeline_t *tl, const timeline_site_t *site, uint32_t event,
                                          const uint64_t *raw, const unsigned char *types, unsigned count,
                                          const void *from) {
  (void)tl, (void)site, (void)event, (void)raw, (void)types, (void)count, (void)from;
}
#endif

/* How many arguments a statement of printf has, and how many words they take. */
#define TIMELINE_SHAPE_(count, words) ((count) | (words) << 8)

/* Logs a statement of printf. `from`: where its call stack begins, if it has one. */
TIMELINE_INLINE_ void timeline_log_format_at_(timeline_t *tl, const timeline_site_t *site, uint32_t event,
                                              const uint64_t *raw, const unsigned char *types, unsigned shape,
                                              const void *from) {
  uint64_t words[TIMELINE_PAYLOAD_WORDS_];
  const unsigned count = shape & 0xff, fixed = shape >> 8, most = tl->payload / 8;
  const uint32_t *const known = timeline_types_at_(site);
  if (__builtin_expect(known && (known[0] & 0xff) == 'v', 0)) {
    timeline_write_raw_(tl, site, event, raw, types, count, from);
    return;
  }
  const unsigned before = site->flags & TIMELINE_SITE_BACKTRACE
                              ? timeline_put_stack_(tl, from, words, most > fixed ? most - fixed : 0)
                              : 0;
  timeline_payload_t to = {words + before, 0, fixed, most - before, TIMELINE_LEAST_WORDS_ - TIMELINE_STACK_WORDS_};
  for (unsigned i = 0; i < count; i++) {
    const unsigned type = types[i];
    uint64_t word = raw[i];
    if (type == TIMELINE_LONG_DOUBLE_) {
      to.words[to.next++] = word;
      word = raw[count + i];
    } else if (!timeline_is_number_(type)) {
      /* Of a pointer that may be a text, the conversion says which it is. */
      const uint32_t conversion = known && i < 32 ? known[i] : 0;
      const void *const data = timeline_pointer_(word);
      if (__builtin_expect(conversion == TIMELINE_PLAIN_TEXT_, 1)) {
        word = timeline_put_text_(&to, TIMELINE_CAST_(const char *, data));
      } else {
        const timeline_stored_t stored = timeline_store_pointer_(to.words, to.end, to.most, data, conversion,
                                                                 to.next > 0 ? to.words[to.next - 1] : 0);
        word = stored.word;
        to.end += TIMELINE_CAST_(unsigned, stored.taken);
      }
    }
    to.words[to.next++] = word;
  }
  timeline_log_payload(tl, event, words, before + to.end, site->flags & TIMELINE_SITE_BACKTRACE);
}

/* The call stack begins at its return address. */
__attribute__((unused, noinline)) static void timeline_log_format_(timeline_t *tl, const timeline_site_t *site,
                                                                   uint32_t event, const uint64_t *raw,
                                                                   const unsigned char *types, unsigned shape) {
  timeline_log_format_at_(tl, site, event, raw, types, shape, __builtin_return_address(0));
}
/* The same for few arguments, with room behind their raw values. In the order in which timeline_log_payload
 * takes what it needs. */
__attribute__((unused, noinline)) static void timeline_log_long_printed_(timeline_t *tl, uint32_t event,
                                                                         const uint64_t *raw, unsigned mix,
                                                                         const timeline_site_t *site) {
  unsigned char types[TIMELINE_FEW_ + 1];
  timeline_types_of_few_(types, mix);
  timeline_log_format_(tl, site, event, raw, types, TIMELINE_SHAPE_(mix & 0xff, mix & 0xff));
}
__attribute__((unused, noinline)) static void timeline_log_few_printed_(timeline_t *tl, uint32_t event, uint64_t *raw,
                                                                        unsigned mix, const timeline_site_t *site,
                                                                        uint64_t first) {
  const uint32_t *const known = timeline_types_at_(site);
  const bool is_known = known != TIMELINE_NULL_POINTER_;
  const unsigned end = __builtin_expect(is_known, 1) ? timeline_store_few_(raw, mix, first, known) : 0;
  if (__builtin_expect(end != 0, 1))
    timeline_log_payload(tl, event, raw, end, 0);
  else
    timeline_log_long_printed_(tl, event, raw, mix, site);
}
__attribute__((unused, noinline)) static void timeline_log_long_values_(timeline_t *tl, uint32_t event,
                                                                        const uint64_t *raw, unsigned mix,
                                                                        uint64_t marked) {
  unsigned char types[TIMELINE_FEW_ + 1];
  timeline_types_of_few_(types, mix);
  timeline_log_values_(tl, event, raw, types, mix & 0xff, marked);
}
TIMELINE_INLINE_ void timeline_few_values_(timeline_t *tl, uint32_t event, uint64_t *raw, unsigned mix,
                                           uint64_t marked, uint64_t first) {
  const uint32_t *const plain = TIMELINE_NULL_POINTER_;
  const unsigned end = __builtin_expect(marked == 0, 1) ? timeline_store_few_(raw, mix, first, plain) : 0;
  if (__builtin_expect(end != 0, 1))
    timeline_log_payload(tl, event, raw, end, 0);
  else
    timeline_log_long_values_(tl, event, raw, mix, marked);
}
#ifdef __cplusplus
__attribute__((unused, noinline)) static void timeline_log_few_values_(timeline_t *tl, uint32_t event, uint64_t *raw,
                                                                       unsigned mix, uint64_t marked,
                                                                       uint64_t first) {
  timeline_few_values_(tl, event, raw, mix, marked, first);
}
#else
/* The same for the statements of C. They ask here which texts are to be interned: a call among the arguments of
 * another takes room in the frame of each statement that is not optimised. */
__attribute__((unused, noinline)) static void timeline_log_few_at_(timeline_t *tl, uint32_t event, uint64_t *raw,
                                                                   unsigned mix, const timeline_site_t *site,
                                                                   uint64_t first) {
  timeline_few_values_(tl, event, raw, mix, timeline_marked_(site), first);
}
__attribute__((unused, noinline)) static void timeline_log_values_at_(timeline_t *tl, uint32_t event,
                                                                      const uint64_t *raw,
                                                                      const unsigned char *types, unsigned count,
                                                                      const timeline_site_t *site) {
  timeline_log_values_(tl, event, raw, types, count, timeline_marked_(site));
}
#endif

#ifdef __cplusplus
/* The same for the templates of statements, which know where it begins. */
__attribute__((unused, noinline)) static void timeline_log_format_from_(timeline_t *tl, const timeline_site_t *site,
                                                                        uint32_t event, const uint64_t *raw,
                                                                        const unsigned char *types, unsigned shape,
                                                                        const void *from) {
  timeline_log_format_at_(tl, site, event, raw, types, shape, from);
}
#endif
