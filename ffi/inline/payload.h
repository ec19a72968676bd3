/* The payload of a statement: words that are stored one by one.
 *
 * They are aligned and whole, so that the processor forwards them to the loads that copy them into the ring. */

/* Words of the largest payload, of that of the smallest ring, and of the longest call stack. */
#define TIMELINE_PAYLOAD_WORDS_ 191
#define TIMELINE_LEAST_WORDS_ 95
#define TIMELINE_STACK_WORDS_ 33

/* Bits of the word of a text or an array. */
#define TIMELINE_CUT_ (TIMELINE_CAST_(uint64_t, 1) << 63)
#define TIMELINE_NULL_ (TIMELINE_CAST_(uint64_t, 1) << 62)

/* The type of `%s` without a precision. */
#define TIMELINE_PLAIN_TEXT_ 0xffffff73

/* A payload under construction. No pointer to it goes to a function that is not inlined: so the
 * compiler knows its numbers, and keeps it in registers. */
typedef struct timeline_payload_t {
  uint64_t *words;
  /* The next word of the fixed part, and the first one that no text has taken. */
  unsigned next, end;
  /* How many words there may be, and how many there may always be: that is known to the compiler. */
  unsigned most, least;
} timeline_payload_t;

TIMELINE_INLINE_ size_t timeline_room_(const timeline_payload_t *to) {
  return to->end < to->most ? TIMELINE_CAST_(size_t, to->most - to->end) * 8 : 0;
}

/* Fewer than eight bytes as a word. */
TIMELINE_INLINE_ uint64_t timeline_short_(const unsigned char *bytes, size_t size) {
  if (size >= 4) {
    uint32_t low, high;
    memcpy(&low, bytes, 4);
    memcpy(&high, bytes + size - 4, 4);
    return low | TIMELINE_CAST_(uint64_t, high) << (size - 4) * 8;
  }
  if (size == 0) return 0;
  const uint64_t middle = TIMELINE_CAST_(uint64_t, bytes[size / 2]) << size / 2 * 8;
  return bytes[0] | middle | TIMELINE_CAST_(uint64_t, bytes[size - 1]) << (size - 1) * 8;
}

/* Copies bytes into whole words, with zeros behind them. Each word is put together in a register: a
 * load of a word that several short stores have filled would wait for them. */
TIMELINE_INLINE_ void timeline_copy_(uint64_t *to, const void *from, size_t size) {
  const unsigned char *const bytes = TIMELINE_CAST_(const unsigned char *, from);
  uint64_t word;
  if (size < 8) {
    if (size > 0) to[0] = timeline_short_(bytes, size);
    return;
  }
  for (size_t i = 0; i + 8 <= size; i += 8) {
    memcpy(&word, bytes + i, 8);
    to[i / 8] = word;
  }
  if (size % 8 == 0) return;
  memcpy(&word, bytes + size - 8, 8);
  to[size / 8] = word >> (64 - size % 8 * 8);
}

/* Up to which byte a text is kept that is cut to at most `size` bytes: before a character of UTF-8,
 * which has up to three bytes after its first. */
__attribute__((unused, noinline)) static size_t timeline_cut_(const char *text, size_t size) {
  size_t whole = size;
  for (int i = 0; i < 3 && whole > 0 && (text[whole] & 0xc0) == 0x80; i++) whole--;
  return (text[whole] & 0xc0) == 0xc0 ? whole : size;
}

/* The compiler must not know a literal: it would warn of the ways for longer texts. */
#define TIMELINE_UNKNOWN_(pointer) __asm__("" : "+r"(pointer))

/* Appends `size` bytes. */
TIMELINE_INLINE_ void timeline_append_(timeline_payload_t *to, const void *from, size_t size) {
  timeline_copy_(to->words + to->end, from, size);
  to->end += TIMELINE_CAST_(unsigned, (size + 7) / 8);
}

/* Stores as much of a text as there is room for: it has more. Returns its word. */
__attribute__((unused, noinline)) static uint64_t timeline_copy_part_(uint64_t *to, size_t room, const char *text) {
  const size_t kept = timeline_cut_(text, room);
  timeline_copy_(to, text, kept);
  return kept | TIMELINE_CUT_;
}

/* Counts what such a function has stored. Returns the word. */
TIMELINE_INLINE_ uint64_t timeline_count_(timeline_payload_t *to, uint64_t word) {
  to->end += TIMELINE_CAST_(unsigned, ((word & 0xffffffff) + 7) / 8);
  return word;
}

/* Appends a text of `count` bytes, which may contain NUL. Returns its word. */
TIMELINE_INLINE_ uint64_t timeline_put_bytes_(timeline_payload_t *to, const char *text, size_t count) {
  TIMELINE_UNKNOWN_(text);
  if (__builtin_expect(!text && count > 0, 0)) return TIMELINE_NULL_;
  const size_t room = timeline_room_(to);
  if (__builtin_expect(count > room, 0))
    return timeline_count_(to, timeline_copy_part_(to->words + to->end, room, text));
  timeline_append_(to, text, count);
  return count;
}

/* Stores a text of at most `limit` bytes. Returns its word. A longer text than there is room for is
 * not read to its end. */
__attribute__((unused, noinline)) static uint64_t timeline_copy_text_(uint64_t *to, size_t room, const char *text,
                                                                      size_t limit) {
  if (!text) return TIMELINE_NULL_;
  const size_t most = limit <= room ? limit : room + 1;
  const char *const end = TIMELINE_CAST_(const char *, memchr(text, 0, most));
  const size_t length = end ? TIMELINE_CAST_(size_t, end - text) : most;
  if (length > room) return timeline_copy_part_(to, room, text);
  timeline_copy_(to, text, length);
  return length;
}

/* A text is short if its length is found at the first look. */
#define TIMELINE_SHORT_WORDS_ 4
#define TIMELINE_IS_LONG_ (TIMELINE_SHORT_WORDS_ * 8)

#if defined(__SSE2__) && !TIMELINE_IS_SANITIZED_
/* Which of 16 bytes are NUL, as bits. They are read in assembly, as some may not belong to the text. The
 * block is aligned, so all are on the page of those that do. */
TIMELINE_INLINE_ unsigned timeline_ends_(uintptr_t block) {
  unsigned ends;
  double bytes;
  /* In both dialects: -masm may choose either. */
  __asm__("pxor %1, %1\n\tpcmpeqb {%2, %1|%1, %2}\n\tpmovmskb {%1, %0|%0, %1}"
          : "=r"(ends), "=&x"(bytes)
          : "m"(*TIMELINE_POINTER_CAST_(const char(*)[16], block)));
  return ends;
}

/* The length of a short text; of others TIMELINE_IS_LONG_ or more. With memchr, a statement takes a tenth longer. */
TIMELINE_INLINE_ unsigned timeline_length_(const char *text) {
  const uintptr_t begin = TIMELINE_POINTER_CAST_(uintptr_t, text);
  const unsigned skipped = TIMELINE_CAST_(unsigned, begin % 16);
  const unsigned first = timeline_ends_(begin - skipped) >> skipped;
  if (first) return TIMELINE_CAST_(unsigned, __builtin_ctz(first));
  const unsigned second = timeline_ends_(begin - skipped + 16);
  if (second) return 16 - skipped + TIMELINE_CAST_(unsigned, __builtin_ctz(second));
  const unsigned third = timeline_ends_(begin - skipped + 32);
  return third ? 32 - skipped + TIMELINE_CAST_(unsigned, __builtin_ctz(third)) : TIMELINE_IS_LONG_;
}
#else
TIMELINE_INLINE_ unsigned timeline_length_(const char *text) {
  const char *const end = TIMELINE_CAST_(const char *, memchr(text, 0, TIMELINE_IS_LONG_));
  return end ? TIMELINE_CAST_(unsigned, end - text) : TIMELINE_IS_LONG_;
}
#endif

/* Appends a text that ends with NUL. Returns its word. */
TIMELINE_INLINE_ uint64_t timeline_put_text_(timeline_payload_t *to, const char *text) {
  TIMELINE_UNKNOWN_(text);
  if (__builtin_expect(!text, 0)) return TIMELINE_NULL_;
  uint64_t *const behind = to->words + to->end;
  if (to->end + TIMELINE_SHORT_WORDS_ <= to->least) {
    const unsigned length = timeline_length_(text);
    if (__builtin_expect(length < 8, 1)) {
      behind[0] = timeline_short_(TIMELINE_POINTER_CAST_(const unsigned char *, text), length);
      to->end += (length + 7) / 8;
      return length;
    }
    if (length < TIMELINE_IS_LONG_) {
      timeline_append_(to, text, length);
      return length;
    }
  }
  return timeline_count_(to, timeline_copy_text_(behind, timeline_room_(to), text, TIMELINE_NO_LIMIT_));
}

/* Appends an array of elements of `size` bytes. */
TIMELINE_INLINE_ uint64_t timeline_put_array_(timeline_payload_t *to, const void *data, size_t count, size_t size) {
  TIMELINE_UNKNOWN_(data);
  if (!data && count > 0) return TIMELINE_NULL_;
  const size_t room = timeline_room_(to) / size;
  uint64_t word = count;
  if (__builtin_expect(count > room, 0)) {
    count = room;
    word = count | TIMELINE_CUT_;
  }
  timeline_append_(to, data, count * size);
  return word;
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

/* Stores a wide string as UTF-8 in at most `room` bytes. Returns its word. The limit counts bytes, and
 * divides no character. `count`: how many characters it has; TIMELINE_NO_LIMIT_ if it ends with NUL. */
__attribute__((unused, noinline)) static uint64_t timeline_copy_wide_(uint64_t *to, size_t room, const wchar_t *text,
                                                                      size_t limit, size_t count) {
  unsigned char *const begin = TIMELINE_POINTER_CAST_(unsigned char *, to);
  size_t length = 0;
  bool cut = false;
  while (length < limit && (count == TIMELINE_NO_LIMIT_ ? *text != 0 : count-- > 0)) {
    unsigned char piece[4];
    const size_t more = timeline_utf8_(*text++, piece);
    if (length + more > limit) break;
    cut = length + more > room;
    if (cut) break;
    memcpy(begin + length, piece, more);
    length += more;
  }
  memset(begin + length, 0, (8 - length % 8) % 8);
  return length | (cut ? TIMELINE_CUT_ : 0);
}

/* Appends a wide string. */
TIMELINE_INLINE_ uint64_t timeline_put_wide_(timeline_payload_t *to, const wchar_t *text, size_t limit, size_t count) {
  if (!text) return count == 0 ? 0 : TIMELINE_NULL_;
  return timeline_count_(to, timeline_copy_wide_(to->words + to->end, timeline_room_(to), text, limit, count));
}

TIMELINE_INLINE_ bool timeline_is_number_(unsigned type) { return type < TIMELINE_STR; }

TIMELINE_INLINE_ size_t timeline_size_(unsigned type) {
  switch (type & ~TIMELINE_CAST_(unsigned, TIMELINE_ARRAY_OF)) {
    case TIMELINE_I8:
    case TIMELINE_U8:
      return 1;
    case TIMELINE_I16:
    case TIMELINE_U16:
      return 2;
    case TIMELINE_I32:
    case TIMELINE_U32:
    case TIMELINE_F32:
      return 4;
    default:
      return 8;
  }
}
