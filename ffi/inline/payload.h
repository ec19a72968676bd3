/* The payload of a statement: its words are stored one by one, aligned and whole, so that the
 * processor forwards them to the loads that copy them into the ring. */

/* Words of the largest payload, and of the longest call stack. */
#define TIMELINE_PAYLOAD_WORDS_ 191

/* Bits of the word of a text or an array. */
#define TIMELINE_CUT_ (TIMELINE_CAST_(uint64_t, 1) << 63)
#define TIMELINE_NULL_ (TIMELINE_CAST_(uint64_t, 1) << 62)

/* A payload under construction. No pointer to it goes to a function that is not inlined: so the
 * compiler knows its numbers, and keeps it in registers. */
typedef struct timeline_payload_t {
  uint64_t *words;
  /* The next word of the fixed part, and the first one that no text has taken. */
  unsigned next, end;
  /* How many words there may be. */
  unsigned most;
  /* The number of the argument, in statements of printf. */
  unsigned argument;
} timeline_payload_t;

TIMELINE_INLINE_ size_t timeline_room_(const timeline_payload_t *to) {
  return to->end < to->most ? TIMELINE_CAST_(size_t, to->most - to->end) * 8 : 0;
}

/* Copies bytes into whole words, with zeros behind them. Each word is put together in a register: a
 * load of a word that several short stores have filled would wait for them. */
TIMELINE_INLINE_ void timeline_copy_(uint64_t *to, const void *from, size_t size) {
  const unsigned char *const bytes = TIMELINE_CAST_(const unsigned char *, from);
  uint64_t word = 0;
  if (size >= 8) {
    for (size_t i = 0; i + 8 <= size; i += 8) {
      memcpy(&word, bytes + i, 8);
      to[i / 8] = word;
    }
    if (size % 8 == 0) return;
    memcpy(&word, bytes + size - 8, 8);
    to[size / 8] = word >> (64 - size % 8 * 8);
  } else if (size >= 4) {
    uint32_t low, high;
    memcpy(&low, bytes, 4);
    memcpy(&high, bytes + size - 4, 4);
    to[0] = low | TIMELINE_CAST_(uint64_t, high) << (size - 4) * 8;
  } else if (size > 0) {
    word = TIMELINE_CAST_(uint64_t, bytes[size / 2]) << size / 2 * 8;
    to[0] = bytes[0] | word | TIMELINE_CAST_(uint64_t, bytes[size - 1]) << (size - 1) * 8;
  }
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

/* Appends a text of at most `limit` bytes. Returns its word. A longer text than there is room for
 * is not read to its end. */
TIMELINE_INLINE_ uint64_t timeline_put_text_(timeline_payload_t *to, const char *text, size_t limit) {
  TIMELINE_UNKNOWN_(text);
  if (!text) return TIMELINE_NULL_;
  const size_t room = timeline_room_(to);
  const size_t most = limit <= room ? limit : room + 1;
  const void *const end = memchr(text, 0, most);
  size_t length = end ? TIMELINE_CAST_(size_t, TIMELINE_CAST_(const char *, end) - text) : most;
  uint64_t word = length;
  if (__builtin_expect(length > room, 0)) {
    length = timeline_cut_(text, room);
    word = length | TIMELINE_CUT_;
  }
  timeline_copy_(to->words + to->end, text, length);
  to->end += TIMELINE_CAST_(unsigned, (length + 7) / 8);
  return word;
}

/* Appends a text of `count` bytes, which may contain NUL. */
TIMELINE_INLINE_ uint64_t timeline_put_bytes_(timeline_payload_t *to, const char *text, size_t count) {
  TIMELINE_UNKNOWN_(text);
  if (!text && count > 0) return TIMELINE_NULL_;
  const size_t room = timeline_room_(to);
  uint64_t word = count;
  if (__builtin_expect(count > room, 0)) {
    count = timeline_cut_(text, room);
    word = count | TIMELINE_CUT_;
  }
  timeline_copy_(to->words + to->end, text, count);
  to->end += TIMELINE_CAST_(unsigned, (count + 7) / 8);
  return word;
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
  timeline_copy_(to->words + to->end, data, count * size);
  to->end += TIMELINE_CAST_(unsigned, (count * size + 7) / 8);
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
 * divides no character. */
__attribute__((unused, noinline)) static uint64_t timeline_copy_wide_(uint64_t *to, size_t room, const wchar_t *text,
                                                                      size_t limit) {
  unsigned char *const begin = TIMELINE_POINTER_CAST_(unsigned char *, to);
  size_t length = 0;
  bool cut = false;
  while (length < limit && *text) {
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
TIMELINE_INLINE_ uint64_t timeline_put_wide_(timeline_payload_t *to, const wchar_t *text, size_t limit) {
  if (!text) return TIMELINE_NULL_;
  const uint64_t word = timeline_copy_wide_(to->words + to->end, timeline_room_(to), text, limit);
  to->end += TIMELINE_CAST_(unsigned, ((word & 0xffffffff) + 7) / 8);
  return word;
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

/* Stores an argument of an event. */
TIMELINE_INLINE_ void timeline_store_(timeline_payload_t *to, timeline_value_t value) {
  uint64_t word = value.word;
  if (value.type & TIMELINE_ARRAY_OF) {
    word = timeline_put_array_(to, value.data, value.count, timeline_size_(value.type));
  } else if (value.type == TIMELINE_STR) {
    const char *const text = TIMELINE_CAST_(const char *, value.data);
    word = value.count == TIMELINE_NO_LIMIT_ ? timeline_put_text_(to, text, value.count)
                                             : timeline_put_bytes_(to, text, value.count);
  } else if (value.type == TIMELINE_WSTR) {
    word = timeline_put_wide_(to, TIMELINE_CAST_(const wchar_t *, value.data), value.count);
  }
  to->words[to->next++] = word;
}

/* Stores an argument of printf. Of a pointer that may be a text, the conversion says which it is. */
TIMELINE_INLINE_ void timeline_store_printf_(timeline_payload_t *to, const timeline_site_t *site,
                                             timeline_value_t value) {
  uint64_t word = value.word;
  const unsigned argument = to->argument++;
  if (value.type == TIMELINE_LONG_DOUBLE_) {
    to->words[to->next++] = word;
    word = value.upper;
  } else if (!timeline_is_number_(value.type)) {
    const uint32_t type = argument < 32 ? __atomic_load_n(&site->types[argument], __ATOMIC_RELAXED) : 0;
    const char letter = TIMELINE_CAST_(char, type & 0xff);
    size_t limit = type >> 8 == 0xffffff ? TIMELINE_NO_LIMIT_ : type >> 8;
    if (letter == 'S' || letter == 'W') {
      /* The int before is the precision; there is none below 0. */
      const int before = TIMELINE_CAST_(int, to->next > 0 ? to->words[to->next - 1] & 0xffffffff : 0);
      limit = before < 0 ? TIMELINE_NO_LIMIT_ : TIMELINE_CAST_(size_t, before);
    }
    if (__builtin_expect(letter == 's' || letter == 'S', 1))
      word = timeline_put_text_(to, TIMELINE_CAST_(const char *, value.data), limit);
    else if (letter == 'w' || letter == 'W')
      word = timeline_put_wide_(to, TIMELINE_CAST_(const wchar_t *, value.data), limit);
  }
  to->words[to->next++] = word;
}
