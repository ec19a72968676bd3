/* timeline: a flight recorder for native programs. The C interface.
 *
 * Generated from ffi/src by cbindgen: change the documentation there, not here.
 *
 *   timeline_t *tl = NULL;
 *   uint32_t processed = 0;
 *   if (timeline_new("/timeline", 0, 0, &tl) != TIMELINE_OK)
 *     fprintf(stderr, "%s\n", timeline_last_error());
 *   timeline_define(tl, "example", TIMELINE_TRACE, "processed $tcp, $udp, and $other", &processed);
 *   timeline_log(tl, processed, 10, 20, 3, 0);
 *   timeline_free(tl);
 *
 * Errors: a function that can fail returns a status; `timeline_last_error` says what was expected,
 * what came and what to do. Results are written last, and only when the call succeeds (except for
 * the events of `timeline_define` and `timeline_define_span`). After a failed timeline_new, logging to NULL and to event 0 does
 * nothing: a program may ignore every error here, and is then not recorded.
 *
 * Cancellation: no function here is a cancellation point. If a thread is cancelled (pthread_cancel)
 * during a call, the call completes as usual, and the thread ends at its next cancellation point.
 * Asynchronous cancellation acts right before or after a call, or in the middle of logging: the
 * event is then logged or not.
 *
 * Descriptors: the library keeps some open, close-on-exec. A program may close descriptors that
 * it does not know, as daemons do, and use their numbers: it still logs and reads, because the
 * library reads and closes only its own. None of them is ever 0, 1 or 2. If one of these is closed
 * when the library opens a file, the library takes that number for good, with a descriptor that
 * leads nowhere. open("/dev/null") then gives a higher number: a program that wants 0 uses dup2, or
 * closes 0 right before.
 *
 * Link with -ltimeline; the static library needs -lpthread -ldl -lm after it, as pkg-config
 * --static says.
 *
 * To read these declarations without a preprocessor (LuaJIT's ffi.cdef): drop all from
 * `#ifdef __cplusplus` to its `#endif`, all from `#ifndef TIMELINE_NO_INLINE` to the end, and then
 * every line that begins with `#`.
 */

#if !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#error "timeline.h needs C99 or a later standard: compile with -std=c99, or without -std"
#else

#ifndef TIMELINE_H
#define TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * A level: log nothing. No event has this priority.
 */
#define TIMELINE_NONE 0

/**
 * The most important events.
 */
#define TIMELINE_ERROR 1

/**
 * Priority or level; see `timeline_priority`.
 */
#define TIMELINE_WARNING 2

/**
 * Priority or level; see `timeline_priority`.
 */
#define TIMELINE_INFO 3

/**
 * Priority or level; see `timeline_priority`.
 */
#define TIMELINE_TRACE 4

/**
 * Priority or level; see `timeline_priority`.
 */
#define TIMELINE_APP 5

/**
 * Priority or level; see `timeline_priority`.
 */
#define TIMELINE_PACKET 6

/**
 * The most detailed events.
 */
#define TIMELINE_LIBRARY 7

/**
 * A level: log everything. No event has this priority.
 */
#define TIMELINE_ALL 8

/**
 * Signed 64-bit integer; also an argument without a type.
 */
#define TIMELINE_I64 1

/**
 * Signed 8-bit integer. A type of fewer than 64 bits counts only the low bits of its argument.
 */
#define TIMELINE_I8 2

/**
 * Signed 16-bit integer.
 */
#define TIMELINE_I16 3

/**
 * Signed 32-bit integer.
 */
#define TIMELINE_I32 4

/**
 * Unsigned 8-bit integer.
 */
#define TIMELINE_U8 5

/**
 * Unsigned 16-bit integer.
 */
#define TIMELINE_U16 6

/**
 * Unsigned 32-bit integer.
 */
#define TIMELINE_U32 7

/**
 * Unsigned 64-bit integer.
 */
#define TIMELINE_U64 8

/**
 * The bits of a `float`: `timeline_f32`.
 */
#define TIMELINE_F32 9

/**
 * The bits of a `double`: `timeline_f64`.
 */
#define TIMELINE_F64 10

/**
 * 0 is false, everything else is true.
 */
#define TIMELINE_BOOL 11

/**
 * A Unicode code point, or a byte that is none.
 */
#define TIMELINE_CHAR 12

/**
 * An unsigned number, shown in base 16.
 */
#define TIMELINE_HEX 13

/**
 * An address.
 */
#define TIMELINE_PTR 14

/**
 * A duration in nanoseconds, signed.
 */
#define TIMELINE_NS 15

/**
 * Nanoseconds since 1970.
 */
#define TIMELINE_TIME 16

/**
 * A size in bytes.
 */
#define TIMELINE_BYTES 17

/**
 * One of several names.
 */
#define TIMELINE_ENUM 18

/**
 * A set of named bits.
 */
#define TIMELINE_FLAGS 19

/**
 * A text in UTF-8.
 */
#define TIMELINE_STR 20

/**
 * A text that the program has in wide characters.
 */
#define TIMELINE_WSTR 21

/**
 * A text in UTF-8 of a small vocabulary, which is stored once.
 */
#define TIMELINE_ISTR 22

/**
 * Added to the type of a number: an array of such numbers.
 */
#define TIMELINE_ARRAY_OF 64

/**
 * The most arguments of a message.
 */
#define TIMELINE_MAX_FIELDS 64

/**
 * A flag of a site and of `timeline_log_payload`: the payload begins with a call stack.
 */
#define TIMELINE_SITE_BACKTRACE 1

/**
 * A flag of a site: its text is a message with `$arguments`, and no format of printf.
 */
#define TIMELINE_SITE_EVENT 2

/**
 * A flag of a site with a message: its events are important, as `timeline_attributes_t` says.
 */
#define TIMELINE_SITE_IMPORTANT 4

/**
 * A flag of a site with a message: its event is one of a span.
 */
#define TIMELINE_SITE_SPAN 8

/**
 * For `timeline_events`: begin with the oldest event.
 */
#define TIMELINE_OLDEST_FIRST 0

/**
 * For `timeline_events`: begin with the newest event.
 */
#define TIMELINE_NEWEST_FIRST 1

/**
 * For `timeline_follow`: begin with the oldest event in the ring.
 */
#define TIMELINE_FROM_OLDEST 0

/**
 * For `timeline_follow`: only events from now on.
 */
#define TIMELINE_FROM_NOW 1

/**
 * A syntax: the words of the message's first line that begin with `$` are the arguments; `args`
 * has their words.
 */
#define TIMELINE_TEMPLATE 1

/**
 * A syntax: the message is a format of printf; `payload` has the values.
 */
#define TIMELINE_FORMAT 2

/**
 * A kind of value: a text or an array whose pointer was NULL.
 */
#define TIMELINE_IS_NULL 0

/**
 * A kind of value: `integer` has it.
 */
#define TIMELINE_IS_SIGNED 1

/**
 * A kind of value: `natural` has it.
 */
#define TIMELINE_IS_UNSIGNED 2

/**
 * A kind of value: `number` has it.
 */
#define TIMELINE_IS_FLOAT 3

/**
 * A kind of value: `extended` has it, and `number` what a `double` keeps of it.
 */
#define TIMELINE_IS_LONG_DOUBLE 4

/**
 * A kind of value: `data` are the bytes of a text.
 */
#define TIMELINE_IS_TEXT 5

/**
 * A kind of value: `data` are the elements of an array.
 */
#define TIMELINE_IS_ARRAY 6

/**
 * A timeline attached for reading, from `timeline_attach`. Any thread may use it.
 */
typedef struct timeline_attached_t timeline_attached_t;

/**
 * The events that `timeline_define_file` defined, until `timeline_catalogue_free`.
 */
typedef struct timeline_catalogue_t timeline_catalogue_t;

/**
 * A walk over events, from `timeline_events` or `timeline_follow`. One thread at a time may use
 * it. It still works after its `timeline_attached_t` is freed.
 */
typedef struct timeline_cursor_t timeline_cursor_t;

/**
 * A histogram of the durations in a timeline, from `timeline_histogram`. One thread at a time may
 * use it.
 */
typedef struct timeline_histogram_t timeline_histogram_t;

/**
 * Sampling under way, from `timeline_sample` until `timeline_sampler_free`.
 */
typedef struct timeline_sampler_t timeline_sampler_t;

/**
 * The result of a function: `TIMELINE_OK`, `TIMELINE_END`, or an error, one of `TIMELINE_E_...`.
 * The numbers never change their meaning; later versions may add to them.
 */
typedef int32_t timeline_status_t;

/**
 * A timeline to write to, from `timeline_new`, `timeline_open`, `timeline_open_or_create` and
 * their forms with options. No other function makes one: more members follow the ones shown. These
 * are here for the inline check `timeline_enabled`; do not write to them. Every function that
 * takes a timeline, except `timeline_free`, may be called from any thread at any time.
 */
typedef struct timeline_t {
  /**
   * One byte for each event, not 0 if it is enabled. Other threads and processes change it.
   */
  const uint8_t *enabled;
  /**
   * How many bytes `enabled` has: the events that can be defined, and event 0.
   */
  uint32_t events;
  /**
   * The number of this handle, which no other of this process ever has. Never 0.
   */
  uint32_t serial;
  /**
   * How many bytes the values of one `TIMELINE_PRINTF` may take, 1,528 at most.
   */
  uint32_t payload;
} timeline_t;

/**
 * An argument of a message. The texts are parts of the message, and do not end with NUL.
 */
typedef struct timeline_field_t {
  /**
   * Its name, without the `$`.
   */
  const char *name;
  /**
   * The names of an enum or of flags, as the message has them: `red=1,green=2`; else NULL.
   */
  const char *labels;
  /**
   * Bytes of the name.
   */
  uint32_t name_length;
  /**
   * Bytes of the labels.
   */
  uint32_t labels_length;
  /**
   * `TIMELINE_I64` to `TIMELINE_ISTR`, or `TIMELINE_ARRAY_OF` plus `TIMELINE_I8` or another
   * number.
   */
  uint32_t type;
} timeline_field_t;

/**
 * Options to make or join a timeline; in `timeline_options_t options = {0}` all have their
 * defaults.
 */
typedef struct timeline_options_t {
  /**
   * See `timeline_new`.
   */
  uint64_t entries;
  /**
   * See `timeline_new`.
   */
  uint64_t string_table_size;
  /**
   * The permission bits of a new timeline, such as 0660, whatever the umask; 0 means 0600. A
   * group can get the right to write, but not everybody: a user with that right may damage every
   * process that writes. A user with the right to read or write can also hold its locks: then
   * making, joining, defining and setting the level fail with `TIMELINE_E_BUSY` within some five
   * seconds, and events of processes forked meanwhile are dropped and counted.
   */
  uint32_t mode;
  /**
   * The group of a new timeline; 0 leaves it to the system.
   */
  uint32_t group;
  /**
   * A user to trust: this user's timelines are joined, and kept as `NAME.prev`, like those of
   * root and of our own user. 0: none. That user can damage this process, by cutting the file
   * short or by forging events.
   */
  uint32_t trust_user;
  /**
   * A group to trust: its timelines are joined, whichever user owns them. 0: none.
   */
  uint32_t trust_group;
  /**
   * Entries for important events of a new timeline, 65,536 at most; 0 means 1,024, or fewer in
   * small rings. See `timeline_define_with`.
   */
  uint64_t important_entries;
} timeline_options_t;

/**
 * What a definition says besides category, priority and message; in `timeline_attributes_t
 * attributes = {0}` all have their defaults.
 */
typedef struct timeline_attributes_t {
  /**
   * The channels of the event, with `|` between: `"itv|bbc"`; NULL or `""` for none. It is
   * logged only while all of them are on. A channel is off until somebody switches it on, or
   * from its definition on: `"itv=on"`.
   */
  const char *channels;
  /**
   * The events explain others: names of ids, a configuration. They are kept in a region of their
   * own, which nothing overwrites, and readers get them first.
   */
  bool important;
} timeline_attributes_t;

/**
 * The two events of a span, from `timeline_define_span` or `timeline_define_async_span`: log the
 * first one when it begins, and the second one when it ends, as in `timeline_log(tl, span.begin,
 * 10, 0, 0, 0)`. 0, which is never logged, if they could not be defined.
 */
typedef struct timeline_span_events_t {
  /**
   * The event that it begins.
   */
  uint32_t begin;
  /**
   * The event that it ends.
   */
  uint32_t end;
} timeline_span_events_t;

/**
 * An event of a catalogue. The texts are valid until `timeline_catalogue_free`.
 */
typedef struct timeline_defined_t {
  /**
   * The number to log with.
   */
  uint32_t event;
  /**
   * `TIMELINE_ERROR` to `TIMELINE_LIBRARY`.
   */
  int32_t priority;
  /**
   * Its name, which no other event of the file has: `"engine.got_packet"`.
   */
  const char *name;
  /**
   * The part of the program.
   */
  const char *category;
  /**
   * The message, with what explains it as further lines.
   */
  const char *message;
  /**
   * Its channels, as for `timeline_attributes_t`; `""` for none.
   */
  const char *channels;
  /**
   * Whether its events are important, as for `timeline_attributes_t`.
   */
  bool important;
} timeline_defined_t;

/**
 * One call site of `TIMELINE_PRINTF` or `TIMELINE_EVENT`, which makes it in static memory and sets
 * `category`, `format`, `file`, `line`, `flags` and `channels`. All other members are 0 at first,
 * and only the library writes them.
 */
typedef struct timeline_site_t {
  /**
   * The category of its events.
   */
  const char *category;
  /**
   * The format of printf, or the message.
   */
  const char *format;
  /**
   * The source file.
   */
  const char *file;
  /**
   * The line of that file.
   */
  uint32_t line;
  /**
   * `TIMELINE_SITE_EVENT` or `TIMELINE_SITE_BACKTRACE`, perhaps with `TIMELINE_SITE_IMPORTANT`
   * or `TIMELINE_SITE_SPAN`.
   */
  uint32_t flags;
  /**
   * The channels of its events, as in `timeline_attributes_t`; NULL for none.
   */
  const char *channels;
  /**
   * Its event for the timeline and the level that it met first: the timeline's `serial` in 32
   * bits, the level in 8, the event in 24. A level of more than 7 means that there is no event.
   */
  uint64_t first;
  /**
   * Its events for other timelines and levels.
   */
  void *others;
  /**
   * 32 numbers, or NULL for zeros. For a message, the first two have a bit for each argument:
   * set if it is to be interned. For a format, the types of its values, in order, up to the
   * first 0: a letter in the low 8 bits, above it the precision, or 0xffffff for none.
   */
  const uint32_t *types;
} timeline_site_t;

/**
 * One event, from `timeline_next`.
 */
typedef struct timeline_event_t {
  /**
   * The time in ticks of the timeline's clock (usually processor cycles).
   */
  uint64_t ticks;
  /**
   * The time in nanoseconds since 1970 UTC; 0 when not known yet.
   */
  uint64_t unix_nanos;
  /**
   * The number of the event's definition.
   */
  uint32_t event;
  /**
   * The thread that logged it.
   */
  uint32_t tid;
  /**
   * The process of that thread; 0 when not known.
   */
  uint32_t pid;
  /**
   * `TIMELINE_ERROR` to `TIMELINE_LIBRARY`; 0 when the definition cannot be read.
   */
  int32_t priority;
  /**
   * How many arguments the message has.
   */
  uint32_t argument_count;
  /**
   * The processor that logged it.
   */
  uint16_t core;
  /**
   * The NUMA node of that processor.
   */
  uint16_t node;
  /**
   * The words of an event without a payload, as the program gave them: `timeline_values` knows
   * what the words of its arguments are.
   */
  int64_t args[4];
  /**
   * The category; `""` when the definition cannot be read. Valid until both the attached
   * timeline and the cursor are freed.
   */
  const char *category;
  /**
   * The message as it was defined, a template with all its lines or a format, for
   * `timeline_render`; valid as long as `category`.
   */
  const char *message;
  /**
   * The name of the thread, cut to 39 bytes; `""` when not known.
   */
  char thread[40];
  /**
   * Its group, cut to 31 bytes; `""` when it has none.
   */
  char group[32];
  /**
   * The name of the process, cut to 15 bytes; `""` when not known.
   */
  char process[16];
  /**
   * `TIMELINE_TEMPLATE` or `TIMELINE_FORMAT`: how the message marks its values.
   */
  int32_t syntax;
  /**
   * The line of the statement that logged it; 0 when not known.
   */
  uint32_t line;
  /**
   * The file of that statement, or `""`; valid as long as `category`.
   */
  const char *file;
  /**
   * The payload, for `timeline_values` and `timeline_render`: words, as docs/format.md states
   * them. Valid until the cursor gives the next event or is freed; NULL when there is none, and
   * the words are in `args`.
   */
  const uint8_t *payload;
  /**
   * The call stack's return addresses, innermost first; NULL when there are none. Valid as long
   * as `payload`.
   */
  const uint64_t *backtrace;
  /**
   * How many bytes `payload` has.
   */
  uint32_t payload_size;
  /**
   * How many addresses `backtrace` has.
   */
  uint32_t backtrace_count;
  /**
   * How many entries are missing right before this event, among those of the CPU or thread that
   * logged it: they were overwritten. Entries that `timeline_follow` skipped at its beginning do
   * not count.
   */
  uint64_t missed;
  /**
   * Whether it is an important event: see `timeline_define_with`. These come before all others.
   */
  bool important;
  /**
   * The channels of its definition, with `|` between; `""` for none. Valid as long as
   * `category`.
   */
  const char *channels;
} timeline_event_t;

/**
 * A value of an event, from `timeline_values`.
 */
typedef struct timeline_event_value_t {
  /**
   * `TIMELINE_IS_NULL` to `TIMELINE_IS_ARRAY`.
   */
  uint32_t kind;
  /**
   * The type, as the message has it: `TIMELINE_I64` and so on; 0 for a value of printf, or if
   * the definition cannot be read.
   */
  uint32_t type;
  /**
   * A signed number; else 0. Of an enum, its number.
   */
  int64_t integer;
  /**
   * An unsigned number, a code point or an address; else 0.
   */
  uint64_t natural;
  /**
   * A number with a fraction; else 0.
   */
  double number;
  /**
   * A `long double` as x86-64 has it in memory; else 0.
   */
  uint8_t extended[16];
  /**
   * The bytes of a text, without NUL at the end, or the elements of an array, in any alignment;
   * else NULL. Valid as long as `payload` of the event.
   */
  const void *data;
  /**
   * How many elements `data` has; of a text, bytes.
   */
  uint32_t count;
  /**
   * How many bytes an element has; 0 for a value without elements.
   */
  uint32_t element_size;
  /**
   * Whether a text or an array was cut, because there was no room for all of it.
   */
  bool cut;
} timeline_event_value_t;

/**
 * Done.
 */
#define TIMELINE_OK 0

/**
 * Not an error: no further event (when following: no new event).
 */
#define TIMELINE_END 1

/**
 * The operating system refused; the message says what.
 */
#define TIMELINE_E_IO 2

/**
 * There is no such timeline or file.
 */
#define TIMELINE_E_NOT_FOUND 3

/**
 * The name is in use by live writers; join them with `timeline_open`, or take another name.
 */
#define TIMELINE_E_IN_USE 4

/**
 * Too little space to make the timeline there.
 */
#define TIMELINE_E_NO_SPACE 5

/**
 * The file is not a timeline.
 */
#define TIMELINE_E_NOT_A_TIMELINE 6

/**
 * The timeline has a format that this library does not know.
 */
#define TIMELINE_E_VERSION 7

/**
 * The timeline contradicts itself: damaged, cut short or forged.
 */
#define TIMELINE_E_CORRUPT 8

/**
 * An argument of the call is wrong; the message says which, and what was expected.
 */
#define TIMELINE_E_ARGUMENT 9

/**
 * A table of the timeline is full (definitions, strings, writing processes), or this process has
 * too many timelines open.
 */
#define TIMELINE_E_FULL 10

/**
 * Another process has the timeline locked, or samples it already; try again later.
 */
#define TIMELINE_E_BUSY 11

/**
 * The file belongs to a user that the writer does not trust, or everybody may write to it. The
 * message names the owner.
 */
#define TIMELINE_E_NOT_TRUSTED 13

/**
 * A bug in this library. The call has no result; please report the message.
 */
#define TIMELINE_E_BUG 12

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Returns the message of the last failed call of this thread: what was expected, what came, what
 * to do. Calls that succeed leave it unchanged. `""` when none has failed yet; never NULL.
 *
 * The text is UTF-8 and stays valid until the next failing call of the same thread, or the
 * thread's end. Any thread; each has its own.
 */
const char *timeline_last_error(void);

/**
 * The version of this library, such as `"0.1.0"`: a constant, valid for ever, in any thread.
 */
const char *timeline_version(void);

/**
 * Looks a priority up by its name.
 *
 * `name`: `"error"`, `"warning"`, `"info"`, `"trace"`, `"app"`, `"packet"` or `"library"`.
 * `priority`: receives `TIMELINE_ERROR` to `TIMELINE_LIBRARY`; untouched when the call fails.
 *
 * Returns `TIMELINE_OK`, or `TIMELINE_E_ARGUMENT` when there is no such priority. Any thread.
 *
 * # Safety
 * `name` is NULL or a NUL-terminated string; `priority` is NULL or writable.
 */
timeline_status_t timeline_priority_parse(const char *name, int32_t *priority);

/**
 * Looks a level up by its name: that of a priority, `"all"` or `"none"`.
 *
 * `level`: receives `TIMELINE_NONE` to `TIMELINE_ALL`; untouched when the call fails.
 *
 * Returns `TIMELINE_OK`, or `TIMELINE_E_ARGUMENT` when there is no such level. Any thread.
 *
 * # Safety
 * `name` is NULL or a NUL-terminated string; `level` is NULL or writable.
 */
timeline_status_t timeline_level_parse(const char *name, int32_t *level);

/**
 * Sets the level of a timeline, for every thread and process that writes to it, at once. Events of
 * this priority and of more important ones are logged (error < warning < info < trace < app <
 * packet < library); other events cost only the check. A new timeline has the level
 * `TIMELINE_ALL`. Ends all rules of `timeline_switch`.
 *
 * `level`: `TIMELINE_NONE` to `TIMELINE_ALL`.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT` for a NULL timeline or a number that is no level,
 * `TIMELINE_E_BUSY` when it stays locked for seconds, or `TIMELINE_E_IO` when it cannot be locked.
 * Any thread, also while others log.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet.
 */
timeline_status_t timeline_priority(struct timeline_t *tl, int32_t level);

/**
 * Says which events of a timeline are logged, for every thread and process that writes to it, at
 * once, also for events that are defined later.
 *
 * `rules`: words with commas between. A level as the first word (`"info"`) is that of all events
 * and ends all earlier rules; `"engine=packet"` is the level of a category, `"+engine.got_*"`
 * enables events by their names, `"-engine.*"` disables them. In categories and names, `*` is any
 * text and `?` any character. The name of an event is its category and the words of its message up
 * to the first argument: `engine.got_packet` for "got packet $len". Each event follows the last
 * rule that speaks of it; a rule replaces an earlier one about the same category or names.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT` for a word that is no rule, `TIMELINE_E_FULL` when
 * all rules together take more than 446 bytes (then nothing has changed; a level begins anew),
 * `TIMELINE_E_BUSY` or `TIMELINE_E_IO`. Any thread, also while others log.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `rules` is
 * NULL or a NUL-terminated string.
 */
timeline_status_t timeline_switch(struct timeline_t *tl, const char *rules);

/**
 * Returns the level of a timeline, `TIMELINE_NONE` to `TIMELINE_ALL`; `TIMELINE_NONE` for NULL.
 * Sampling does not change it. Any thread.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet.
 */
int32_t timeline_level(const struct timeline_t *tl);

/**
 * Finds the arguments of a message, without defining anything.
 *
 * `message`: as for `timeline_define`. `fields`: room for
 * `TIMELINE_MAX_FIELDS`; receives the arguments in their order. `count`: receives how many there
 * are. Both are untouched when the call fails.
 *
 * Returns `TIMELINE_OK`, or `TIMELINE_E_ARGUMENT` for a message that could not be defined. Any
 * thread.
 *
 * # Safety
 * `message` is NULL or a NUL-terminated string; `fields` is NULL or has room for
 * `TIMELINE_MAX_FIELDS`, and `count` is NULL or writable.
 */
timeline_status_t timeline_fields(const char *message, struct timeline_field_t *fields, uint32_t *count);

/**
 * Makes a timeline and opens it for writing. If the name belongs to a timeline whose processes all
 * died, that one is kept as `NAME.prev` (as `NAME.prev-` and a number, if `NAME.prev` is a file
 * that is not ours to replace, or a timeline with a writer).
 *
 * `path`: one leading slash and no other (`"/timeline"`) names a POSIX shared memory object;
 * anything else is the path of a file. `entries`: how many entries the ring holds, a power of two
 * of at least 256; 0 means 1,048,576 (74.8 MiB). If these do not fit three times (beside the
 * timelines of two earlier runs), or would take more than a quarter of the memory that the control
 * groups of the process leave it, 0 means the largest power of two that does, of at least 65,536:
 * the same at each start. `string_table_size`: bytes for the texts of the definitions;
 * 0 means 1,048,576. `out`: receives the timeline, to be freed with `timeline_free`; untouched
 * when the call fails.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_IN_USE`, `TIMELINE_E_NO_SPACE`, `TIMELINE_E_NOT_A_TIMELINE`
 * (another file has that name; it is left alone), `TIMELINE_E_NOT_TRUSTED` (a timeline of another
 * user has that name), `TIMELINE_E_FULL` (this process has 64 open), `TIMELINE_E_BUSY` (it stays
 * locked for seconds), `TIMELINE_E_ARGUMENT` or `TIMELINE_E_IO`. Touches every page: takes a
 * moment. Any thread.
 *
 * # Safety
 * `path` is NULL or a NUL-terminated string; `out` is NULL or writable.
 */
timeline_status_t timeline_new(const char *path,
                               uint64_t entries,
                               uint64_t string_table_size,
                               struct timeline_t **out);

/**
 * Joins a timeline that exists, as one more process that writes to it.
 *
 * `path` and `out`: as for `timeline_new`.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_NOT_FOUND`, `TIMELINE_E_NOT_A_TIMELINE`,
 * `TIMELINE_E_VERSION`, `TIMELINE_E_CORRUPT`, `TIMELINE_E_NOT_TRUSTED` (it belongs neither to root
 * nor to our own user, or everybody may write to it: see `timeline_open_with`), `TIMELINE_E_FULL`
 * (no room for one more writing process, or this one has 64 open), `TIMELINE_E_BUSY` (it stays
 * locked for seconds), `TIMELINE_E_ARGUMENT` (also for a saved timeline, which cannot be written
 * to) or `TIMELINE_E_IO`. Any thread.
 *
 * # Safety
 * `path` is NULL or a NUL-terminated string; `out` is NULL or writable.
 */
timeline_status_t timeline_open(const char *path, struct timeline_t **out);

/**
 * Joins a timeline if it is live (has a writer), and makes it otherwise. If several processes do
 * this at once, one makes it and the others join it. A timeline that an earlier run left is not
 * joined but kept as `NAME.prev`. A timeline that is joined keeps its size, mode and group.
 *
 * `path` and `out`: as for `timeline_new`. `options`: NULL for the defaults.
 *
 * Returns the statuses of `timeline_new` and `timeline_open`, except `TIMELINE_E_IN_USE` and
 * `TIMELINE_E_NOT_FOUND`. Any thread.
 *
 * # Safety
 * `path` is NULL or a NUL-terminated string; `options` is NULL or readable; `out` is NULL or
 * writable.
 */
timeline_status_t timeline_open_or_create(const char *path,
                                          const struct timeline_options_t *options,
                                          struct timeline_t **out);

/**
 * Like `timeline_new`, with options.
 *
 * `path` and `out`: as for `timeline_new`. `options`: NULL for the defaults.
 *
 * Returns the statuses of `timeline_new`. Any thread.
 *
 * # Safety
 * `path` is NULL or a NUL-terminated string; `options` is NULL or readable; `out` is NULL or
 * writable.
 */
timeline_status_t timeline_new_with(const char *path,
                                    const struct timeline_options_t *options,
                                    struct timeline_t **out);

/**
 * Like `timeline_open`, with options. Only `trust_user` and `trust_group` count.
 *
 * `path` and `out`: as for `timeline_new`. `options`: NULL for the defaults.
 *
 * Returns the statuses of `timeline_open`. Any thread.
 *
 * # Safety
 * `path` is NULL or a NUL-terminated string; `options` is NULL or readable; `out` is NULL or
 * writable.
 */
timeline_status_t timeline_open_with(const char *path,
                                     const struct timeline_options_t *options,
                                     struct timeline_t **out);

/**
 * Frees a timeline, or takes away one of its owners (`timeline_share`) if it has several. Its
 * events stay, for readers and for processes that join later, until `timeline_unlink`.
 *
 * `tl`: from `timeline_new` or `timeline_open`, or NULL, which does nothing. Other threads may log
 * to it during this call and after, as they do when a program ends: they find it closed. Their
 * events are dropped, and counted when the program has ended (`timeline info`). All other
 * functions return `TIMELINE_E_ARGUMENT` then. This holds for the last freed timelines of a
 * process, which has 64 in all, open and freed: one more, and the one that was freed first is gone
 * for good. Where the addresses of the process are limited (RLIMIT_AS), it is gone when any
 * other is opened.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open`, and has an owner left.
 */
void timeline_free(struct timeline_t *tl);

/**
 * Gives a timeline one more owner: it is freed when each has called `timeline_free`.
 *
 * `tl`: from `timeline_new` or `timeline_open`, or NULL.
 *
 * Returns `tl`. Any thread. Safe in a signal handler.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open`.
 */
struct timeline_t *timeline_share(struct timeline_t *tl);

/**
 * Removes the name of a timeline, live or not. Processes that have it open keep it until they free
 * it; no other process finds it any more.
 *
 * `path`: as for `timeline_new`.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_NOT_FOUND`, `TIMELINE_E_NOT_A_TIMELINE` (it is left alone),
 * `TIMELINE_E_IN_USE` (`NAME.creating-…`, which a program is creating), `TIMELINE_E_ARGUMENT` or
 * `TIMELINE_E_IO`. Any thread.
 *
 * # Safety
 * `path` is NULL or a NUL-terminated string.
 */
timeline_status_t timeline_unlink(const char *path);

/**
 * Defines an event. The same definition from any thread or process gives the same event. Takes
 * locks: define first, log later.
 *
 * `category`: the part of the program, one word. `priority`: `TIMELINE_ERROR` to
 * `TIMELINE_LIBRARY`. `message`: UTF-8, one line or many; the words of the first line that begin
 * with `$` (letters, digits, `_`) are the arguments, at most 64: `"processed $tcp, $udp, and
 * $other"`. `timeline_log` logs up to four numbers, and `timeline_log_payload` the rest. `event`:
 * receives the number to log with; 0, which is never logged, when the call fails. Both texts have
 * at most 4,096 bytes.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT` (a text that is too long or not UTF-8, no such
 * priority, a 65th argument), `TIMELINE_E_FULL`, `TIMELINE_E_BUSY` (it stays locked for seconds)
 * or `TIMELINE_E_IO`. Any thread.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `category`
 * and `message` are NULL or NUL-terminated strings; `event` is NULL or writable.
 */
timeline_status_t timeline_define(struct timeline_t *tl,
                                  const char *category,
                                  int32_t priority,
                                  const char *message,
                                  uint32_t *event);

/**
 * Like `timeline_define`, with attributes. They are part of the definition: the same message with
 * other attributes is another event.
 *
 * `category`, `priority`, `message` and `event`: as for `timeline_define`. `attributes`: NULL for
 * the defaults.
 * An important event is kept when the ring is overwritten, in a region of 64 bytes an entry
 * (`important_entries` of the options), and costs more to log. When the region is full, further
 * ones are dropped and counted: `timeline_dropped_important`.
 *
 * Returns the statuses of `timeline_define`. Any thread.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `category`
 * and `message` are NULL or NUL-terminated strings; `attributes` is NULL or readable, and its
 * texts are NULL or NUL-terminated strings; `event` is NULL or writable.
 */
timeline_status_t timeline_define_with(struct timeline_t *tl,
                                       const char *category,
                                       int32_t priority,
                                       const char *message,
                                       const struct timeline_attributes_t *attributes,
                                       uint32_t *event);

/**
 * How many important events were dropped so far, by all processes, because there was no room left
 * for them: ask after logging some. 0 for NULL. Takes no lock; safe in a signal handler. Any
 * thread.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet.
 */
uint64_t timeline_dropped_important(const struct timeline_t *tl);

/**
 * Logs an event, if it is enabled. No lock, no allocation and no waiting once the calling thread
 * has logged its first event; safe in a signal handler. Needs at most 2 KiB of stack; 16 KiB if
 * the library was built without optimisation. Check `timeline_enabled` first if the arguments are
 * costly to compute.
 *
 * `tl`: NULL logs nothing. `event`: from `timeline_define`; 0 logs nothing, and a number beyond
 * the table of definitions is dropped and counted. `a0` to `a3`: the arguments of the message in
 * order; give 0 for the rest, which is not shown. A message with a text or an array, or with more
 * than four arguments, is for `timeline_log_payload`: logged here, it shows `?` or `…` for what is
 * missing. That is no error, because an event is not looked up to log it.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet.
 */
void timeline_log(const struct timeline_t *tl,
                  uint32_t event,
                  int64_t a0,
                  int64_t a1,
                  int64_t a2,
                  int64_t a3);

/**
 * Defines a span: `"breath $packets"` defines the events `"begin breath $packets"` and `"end
 * breath $packets"`, which readers pair. A span ends in the thread in which it began, and spans of
 * a thread nest.
 *
 * `category`, `priority` and `message`: as for `timeline_define`; the message begins with words,
 * which name the span, and both events have its arguments. `attributes`: of both events, as for
 * `timeline_define_with`; NULL for the defaults. `events`: receives the two events; 0 when the
 * call fails.
 *
 * Returns the statuses of `timeline_define_with`; `TIMELINE_E_ARGUMENT` also if no words name the
 * span. After `TIMELINE_E_FULL`, the first event may be defined. Any thread.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `category`
 * and `message` are NULL or NUL-terminated strings; `attributes` is NULL or readable, and its
 * texts are NULL or NUL-terminated strings; `events` is NULL or writable.
 */
timeline_status_t timeline_define_span(struct timeline_t *tl,
                                       const char *category,
                                       int32_t priority,
                                       const char *message,
                                       const struct timeline_attributes_t *attributes,
                                       struct timeline_span_events_t *events);

/**
 * Defines a span that may end in another thread or process than it began in: `"request $id"`
 * defines the events `"start request $id"` and `"finish request $id"`. The first argument is the
 * key: readers pair the events with the same key.
 *
 * All arguments: as for `timeline_define_span`; the message has at least one argument.
 *
 * Returns the statuses of `timeline_define_span`. Any thread.
 *
 * # Safety
 * The contract of `timeline_define_span`.
 */
timeline_status_t timeline_define_async_span(struct timeline_t *tl,
                                             const char *category,
                                             int32_t priority,
                                             const char *message,
                                             const struct timeline_attributes_t *attributes,
                                             struct timeline_span_events_t *events);

/**
 * Defines all events of a catalogue: a text file with lines such as `packet|got packet $len`. See
 * docs/events.md; `timeline events --check FILE` checks one.
 *
 * `file`: the path of the file. `out`: receives the events, to be freed with
 * `timeline_catalogue_free`; untouched when the call fails.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT` for a file with a mistake (the message says where;
 * nothing is defined), `TIMELINE_E_FULL` (the events before are defined), `TIMELINE_E_BUSY` or
 * `TIMELINE_E_IO`. Any thread.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `file` is
 * NULL or a NUL-terminated string; `out` is NULL or writable.
 */
timeline_status_t timeline_define_file(struct timeline_t *tl,
                                       const char *file,
                                       struct timeline_catalogue_t **out);

/**
 * Gets an event of a catalogue, in the order of the file.
 *
 * `index`: from 0 on. `defined`: receives the event; untouched when there is none.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_END` behind the last one, or `TIMELINE_E_ARGUMENT`. Any thread.
 *
 * # Safety
 * `catalogue` is NULL or was returned by `timeline_define_file` and not freed yet; `defined` is
 * NULL or writable.
 */
timeline_status_t timeline_defined(const struct timeline_catalogue_t *catalogue,
                                   uint32_t index,
                                   struct timeline_defined_t *defined);

/**
 * Returns the event of that name, to log with; 0, which is never logged, if the catalogue has
 * none. Any thread.
 *
 * # Safety
 * `catalogue` is NULL or was returned by `timeline_define_file` and not freed yet; `name` is NULL
 * or a NUL-terminated string.
 */
uint32_t timeline_event_named(const struct timeline_catalogue_t *catalogue, const char *name);

/**
 * Frees a catalogue. Its events stay defined. Any thread.
 *
 * `catalogue`: from `timeline_define_file`, or NULL, which does nothing. Freeing it twice is
 * undefined behaviour.
 *
 * # Safety
 * `catalogue` is NULL or was returned by `timeline_define_file` and not freed yet.
 */
void timeline_catalogue_free(struct timeline_catalogue_t *catalogue);

/**
 * Switches a channel of a timeline on or off, for every thread and process that writes to it, at
 * once. It need not be defined: events that are defined later follow.
 *
 * `name`: 1 to 32 letters (a to z, A to Z), digits, `_`, `.` and `-`, which does not come first.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT`, `TIMELINE_E_FULL` (64 channels are defined
 * already), `TIMELINE_E_BUSY` or `TIMELINE_E_IO`. Any thread, also while others log.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `name` is
 * NULL or a NUL-terminated string.
 */
timeline_status_t timeline_channel(struct timeline_t *tl, const char *name, bool on);

/**
 * Follows an argument of the command line of a program, if it is meant for timeline: `-trace=` or
 * `--trace=` and a selection. A selection is `CHANNELS:RULES`, either or both of which may be
 * missing: `itv,-bbc:info,engine=packet` switches the channel itv on and bbc off, and adds rules
 * as `timeline_switch` does. A level in the place of a channel is the level: `info` is `:info`.
 * The environment variable `TIMELINE` has the same form. It is followed whenever a program makes
 * or joins a timeline; if it cannot be, this is told on standard error. A program that has more
 * rights than who started it does not read it. Who passes arguments of its command line to this
 * lets whoever starts it decide what is logged.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_END` if the argument is another one, `TIMELINE_E_ARGUMENT` for
 * a selection that cannot be read, `TIMELINE_E_FULL`, `TIMELINE_E_BUSY` or `TIMELINE_E_IO`. Any
 * thread.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `argument`
 * is NULL or a NUL-terminated string.
 */
timeline_status_t timeline_option(struct timeline_t *tl, const char *argument);

/**
 * Names the calling thread, and puts it in a group of threads. Readers show this name instead of
 * that of the system, for all events of the thread that are still in the ring. May be called
 * before the thread's first event, and any number of times. A forked child has the system's name
 * until it calls this.
 *
 * A thread that is not named here has the name that the system has for it. Readers ask the kernel
 * while the thread runs, and again about once in a second. In the timeline is the name of its
 * first event, of the last event that it defined, of its last call of this without a name, or of
 * its end. That is for threads that were killed, and for readers in other containers.
 *
 * `name`: at most 39 bytes of UTF-8, a longer one is cut between characters. NULL or `""` goes
 * back to the name of the system. `group`: at most 31 bytes, in the same way; NULL or `""` for
 * none.
 *
 * Returns `TIMELINE_OK`; `TIMELINE_E_FULL` when all records of threads belong to living threads,
 * or the thread cannot join the timeline; `TIMELINE_E_BUSY` in a signal handler that interrupted
 * its thread in this call or in its first event; `TIMELINE_E_ARGUMENT`. Any thread.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `name` and
 * `group` are NULL or NUL-terminated strings.
 */
timeline_status_t timeline_thread(struct timeline_t *tl, const char *name, const char *group);

/**
 * Samples: raises the level for a short time at a fixed period, from a thread of its own, until
 * `timeline_sampler_free`, which restores the level.
 *
 * `level`: the raised level, `TIMELINE_ERROR` to `TIMELINE_ALL`. `for_ns`: the length of each
 * burst, in nanoseconds (100,000 for 100 microseconds). `every_ns`: the time from the start of a
 * burst to the start of the next, in nanoseconds (10,000,000 for 10 milliseconds); longer than
 * `for_ns`. `out`: receives the sampler; untouched when the call fails.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT`, `TIMELINE_E_BUSY` (the timeline is sampled
 * already) or `TIMELINE_E_IO`. Any thread.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `out` is
 * NULL or writable.
 */
timeline_status_t timeline_sample(struct timeline_t *tl,
                                  int32_t level,
                                  uint64_t for_ns,
                                  uint64_t every_ns,
                                  struct timeline_sampler_t **out);

/**
 * Stops sampling and waits for its thread to end. The timeline may have been freed before. Any
 * thread.
 *
 * `sampler`: from `timeline_sample`, or NULL, which does nothing. Freeing it twice is undefined
 * behaviour.
 *
 * # Safety
 * `sampler` is NULL or was returned by `timeline_sample` and not freed yet.
 */
void timeline_sampler_free(struct timeline_sampler_t *sampler);

/**
 * The event of a call site for a timeline and a level, which is defined and remembered in the site
 * if it is not known. `TIMELINE_PRINTF` calls it when a statement first runs, and for each
 * timeline and level but the first. `given`: the types of the arguments of a message,
 * `TIMELINE_I64` and so on, up to the first 0; NULL for none.
 *
 * Returns the event, or 0, which is never logged, if it cannot be defined. A failure is remembered
 * too, and not tried again. If the definition is refused, because it is wrong, an event of the
 * category `timeline` says why. Then, or if a table is full, each call that returns 0 counts an
 * event as dropped, if the level enables it. If the timeline stays locked, or the system refuses,
 * the failure may pass: then each call counts likewise, and one call in 1,024 tries again. Leaves
 * `errno` alone. An attempt takes locks and allocates, and may wait seconds for the lock of the
 * timeline; after one such wait in vain, only some 2 milliseconds, until it gets the lock.
 *
 * Any thread; in a signal handler only after an earlier call for the same timeline and level. It
 * does not try again in a signal handler, or if the call stack cannot be read to its end (a
 * function without unwind tables). To find out, one call in 1,024 walks over the stack: with
 * libgcc before 12 or glibc before 2.35 that takes the loader's lock, and a handler that
 * interrupted dlopen in its own thread may wait for ever.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `site` is
 * NULL, or a site with NUL-terminated texts that only this library writes to; `given` is NULL, or
 * ends with 0.
 */
uint32_t timeline_site_define(struct timeline_t *tl,
                              struct timeline_site_t *site,
                              int32_t level,
                              const uint8_t *given);

/**
 * Logs an event with a payload, if it is enabled. `TIMELINE_PRINTF` and `TIMELINE_EVENT` call it.
 * As fast and as safe as `timeline_log`, except for the time to copy the words.
 *
 * `tl`: NULL logs nothing. `event`: from `timeline_site_define` or `timeline_define`. `words` and
 * `count`: the payload, as docs/format.md states it; words beyond the `payload` of the timeline
 * are cut off. `flags`: `TIMELINE_SITE_BACKTRACE` if the output of `timeline_backtrace` comes
 * first, or 0.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `words` has
 * `count` readable words.
 */
void timeline_log_payload(const struct timeline_t *tl,
                          uint32_t event,
                          const uint64_t *words,
                          size_t count,
                          uint32_t flags);

/**
 * Like `timeline_log_payload`, for a message with arguments of the type `istr`: their texts are
 * put into the string table if they are not there yet, and the event carries their places. An
 * event whose words say otherwise is logged, but its values are shown wrongly.
 *
 * A text that is empty or has more than 256 bytes is copied, and so is one for which there is no
 * room; `timeline info` shows how many of the latter there were. No lock, no allocation and no
 * system call; safe in a signal handler and in a forked child.
 *
 * `tl`: NULL logs nothing. `event`: from `timeline_site_define` or `timeline_define`. `words` and
 * `count`: the payload, with all texts copied into it; it is changed. `given`: the types of the
 * arguments, `TIMELINE_I64` and so on, up to the first 0; NULL interns nothing. `marked`: bit *n*
 * is set if argument *n*, which is a text, is to be interned.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `words` has
 * `count` writable words; `given` is NULL or ends with 0.
 */
void timeline_log_interned(const struct timeline_t *tl,
                           uint32_t event,
                           uint64_t *words,
                           size_t count,
                           const uint8_t *given,
                           uint64_t marked);

/**
 * Like `timeline_define_with`, with the types of the arguments as the caller has them: an argument
 * without a type in the message gets that of the caller, and all others must fit. For bindings to
 * other languages.
 *
 * `category`, `priority`, `message`, `attributes` and `event`: as for `timeline_define_with`.
 * `given`: the types, `TIMELINE_I64` and so on, one for each argument, and then 0; NULL for no
 * arguments. `marked`: receives which arguments are to be interned, for `timeline_log_interned`;
 * may be NULL. Both results are untouched when the call fails.
 *
 * If all types are numbers and there are at most four, `timeline_log` logs the event, and else
 * `timeline_log_payload`, or `timeline_log_interned` if any is to be interned.
 *
 * Returns the statuses of `timeline_define_with`; `TIMELINE_E_ARGUMENT` also if an argument does
 * not fit. Any thread.
 *
 * # Safety
 * The contract of `timeline_define_with`; `given` is NULL or ends with 0; `marked` is NULL or
 * writable.
 */
timeline_status_t timeline_define_typed(struct timeline_t *tl,
                                        const char *category,
                                        int32_t priority,
                                        const char *message,
                                        const uint8_t *given,
                                        const struct timeline_attributes_t *attributes,
                                        uint32_t *event,
                                        uint64_t *marked);

/**
 * Appends a text to a payload that is put together in the memory of the caller, for
 * `timeline_log_payload` and `timeline_log_interned`. For bindings to other languages.
 *
 * `words`: the payload, which has room for `most` words: for `payload` bytes of the timeline.
 * `argument`: which argument the text is, from 0; its word is stored. `end`: how many words are
 * taken, those of all arguments first. `text` and `size`: the text and its number of bytes. It may
 * contain NUL. A text that does not fit is cut between two characters. For NULL, only a mark is
 * stored.
 *
 * Returns how many words are taken now. Any thread; safe in a signal handler.
 *
 * # Safety
 * `words` has `most` words that may be written, and `text` is NULL or has `size` readable bytes.
 */
uint32_t timeline_put_text(uint64_t *words,
                           uint32_t argument,
                           uint32_t end,
                           uint32_t most,
                           const char *text,
                           size_t size);

/**
 * Like `timeline_put_text`, for an array of `count` elements of `size` bytes: 1, 2, 4 or 8.
 *
 * # Safety
 * `words` has `most` words that may be written; `data` is NULL or has `count` readable elements,
 * or as many as there is room for.
 */
uint32_t timeline_put_array(uint64_t *words,
                            uint32_t argument,
                            uint32_t end,
                            uint32_t most,
                            const void *data,
                            size_t count,
                            uint32_t size);

/**
 * Writes the return addresses of the calls under way, for `timeline_log_payload`.
 * `TIMELINE_BACKTRACE` calls it.
 *
 * `from`: the address at which the stack begins; the calls made from there are left out. `words`
 * and `count`: the destination and its size in words: one for the number of addresses, and one for
 * each of at most 32 of them. Returns how many words were written.
 *
 * The calls end at a function without unwind tables, and at one that LuaJIT has compiled.
 *
 * In a signal handler it takes no lock and allocates nothing if the unwinder does neither: libgcc
 * 12 or later with glibc 2.35 or later. Otherwise it takes the loader's lock, and a handler that
 * interrupted dlopen in its own thread may wait for ever.
 *
 * Outside of handlers, on a stack of at most 32 frames, it asks the loader whether it has loaded
 * anything, under a lock that is held for some steps. If it has, in a forked child, and if the
 * stack leads through an object that the timeline does not know, it tells the timeline of all
 * objects, which takes locks and allocates (a child that was forked while another thread was in
 * dlopen may wait for ever). A handler leaves this to the next event. A handler built without
 * unwind tables is recognised only if its object is known already: define the statement before,
 * outside of the handler. If the timeline cannot be told, one call in 1,024 tries again, but only
 * if the stack can be read to its end and shows no handler. Any thread.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `words`
 * has `count` writable words.
 */
size_t timeline_backtrace(struct timeline_t *tl, const void *from, uint64_t *words, size_t count);

/**
 * Saves a timeline to a file in its raw binary format. Every event in it is whole, also while
 * others log. The file is written under a temporary name beside `file` and then renamed, so a file
 * of that name is replaced as a whole or not at all.
 *
 * `file`: the path of the file. As in `timeline_new`, one leading slash and no other names an
 * object in shared memory.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT` or `TIMELINE_E_IO` (also for lack of space; a file
 * that was there stays as it was). Any thread.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `file` is
 * NULL or a NUL-terminated string.
 */
timeline_status_t timeline_save(struct timeline_t *tl, const char *file);

/**
 * Writes the events of a timeline as text, newest to oldest, under the header row
 * `numa core -cycles category message`; `-cycles` are the cycles since the next older event.
 * Pointers have no names here: see `timeline_render`.
 *
 * `path`: the name or file of a timeline, live or left by a crash, or a snapshot. `max_entries`:
 * how many events at most; 0 means all. `fd`: an open file descriptor to write to (1 for standard
 * output); it stays open. Flush your own buffered output first.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_NOT_FOUND`, `TIMELINE_E_NOT_A_TIMELINE`,
 * `TIMELINE_E_VERSION`, `TIMELINE_E_CORRUPT`, `TIMELINE_E_ARGUMENT` or `TIMELINE_E_IO`. Any
 * thread.
 *
 * # Safety
 * `path` is NULL or a NUL-terminated string.
 */
timeline_status_t timeline_dump(const char *path, uint64_t max_entries, int fd);

/**
 * Attaches to a timeline for reading.
 *
 * `path`: the name or file of a timeline, live or left by a crash, or a snapshot. `out`: receives
 * the handle, to be freed with `timeline_attached_free`; untouched when the call fails.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_NOT_FOUND`, `TIMELINE_E_NOT_A_TIMELINE`,
 * `TIMELINE_E_VERSION`, `TIMELINE_E_CORRUPT`, `TIMELINE_E_ARGUMENT` or `TIMELINE_E_IO`. Any
 * thread.
 *
 * # Safety
 * `path` is NULL or a NUL-terminated string; `out` is NULL or writable.
 */
timeline_status_t timeline_attach(const char *path, struct timeline_attached_t **out);

/**
 * Frees an attached timeline. Its cursors still work until they are freed.
 *
 * `attached`: from `timeline_attach`, or NULL, which does nothing. Freeing it twice is undefined
 * behaviour.
 *
 * # Safety
 * `attached` is NULL or was returned by `timeline_attach` and not freed yet.
 */
void timeline_attached_free(struct timeline_attached_t *attached);

/**
 * Begins a walk over the events that a timeline holds now, in the order of time.
 *
 * `order`: `TIMELINE_OLDEST_FIRST` or `TIMELINE_NEWEST_FIRST`. `out`: receives the cursor, to be
 * freed with `timeline_cursor_free`; untouched when the call fails.
 *
 * Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT`. Any thread.
 *
 * # Safety
 * `attached` is NULL or was returned by `timeline_attach` and not freed yet; `out` is NULL or
 * writable.
 */
timeline_status_t timeline_events(struct timeline_attached_t *attached,
                                  int32_t order,
                                  struct timeline_cursor_t **out);

/**
 * Begins to follow a timeline: `timeline_next` gives its events as they come, and `TIMELINE_END`
 * when there is no new one. It never waits: wait yourself and call it again.
 *
 * `from`: `TIMELINE_FROM_OLDEST` or `TIMELINE_FROM_NOW`. `out`: receives the cursor, to be freed
 * with `timeline_cursor_free`; untouched when the call fails.
 *
 * Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT`. Any thread.
 *
 * # Safety
 * `attached` is NULL or was returned by `timeline_attach` and not freed yet; `out` is NULL or
 * writable.
 */
timeline_status_t timeline_follow(struct timeline_attached_t *attached,
                                  int32_t from,
                                  struct timeline_cursor_t **out);

/**
 * Gives the next event of a walk.
 *
 * `event`: receives it; untouched unless the call returns `TIMELINE_OK`. After that, `payload` and
 * `backtrace` of the event before are no longer valid.
 *
 * Returns `TIMELINE_OK`; `TIMELINE_END` when there is none (after `timeline_follow`: none just
 * now); `TIMELINE_E_CORRUPT` when events are missing because another user cut the file short
 * during the walk (if this user does, the kernel sends SIGBUS); `TIMELINE_E_IO` when they are
 * missing because this program closed the descriptor of a timeline that another user could cut
 * short, and its name now leads to another file; or `TIMELINE_E_ARGUMENT`. One thread at a time
 * for each cursor.
 *
 * # Safety
 * `cursor` is NULL or was returned by `timeline_events` or `timeline_follow` and not freed yet,
 * and no other thread uses it during the call; `event` is NULL or writable.
 */
timeline_status_t timeline_next(struct timeline_cursor_t *cursor, struct timeline_event_t *event);

/**
 * Returns how many entries were overwritten after a walk began and before it reached them.
 * `missed` of each event says where, and also counts entries that were overwritten earlier. An
 * event takes one entry, one with a payload takes several, and entries that fill up a chunk count
 * as well. Exact, and final once `timeline_next` has returned `TIMELINE_END`. 0 for NULL. One
 * thread at a time for each cursor.
 *
 * # Safety
 * `cursor` is NULL or was returned by `timeline_events` or `timeline_follow` and not freed yet,
 * and no other thread uses it during the call.
 */
uint64_t timeline_missed(const struct timeline_cursor_t *cursor);

/**
 * Ends a walk.
 *
 * `cursor`: from `timeline_events` or `timeline_follow`, or NULL, which does nothing. Freeing it
 * twice is undefined behaviour.
 *
 * # Safety
 * `cursor` is NULL or was returned by `timeline_events` or `timeline_follow` and not freed yet.
 */
void timeline_cursor_free(struct timeline_cursor_t *cursor);

/**
 * Writes the text of an event, such as `processed tcp(10), udp(20), and other(3)`: the first line
 * of its message with the arguments filled in. For a format it is exactly the text that printf
 * would have written. If the definition cannot be read, it is all values of the event: `<event
 * 5?>(10, 20, 3, 0)`. A pointer is its number alone: the command shows the names of what pointers
 * lead to, as this library has no reader of symbols.
 *
 * `event`: from `timeline_next`, with pointers that are still valid. `buffer` and `size`: the
 * destination and its size in bytes. A text that does not fit is cut between characters, and
 * always ends in a NUL (unless `size` is 0; then `buffer` may be NULL). `needed`: receives the
 * length of the whole text without the NUL (it was cut if that is `size` or more); may be NULL.
 *
 * Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT`. Any thread.
 *
 * # Safety
 * `event` is NULL or came from `timeline_next`; `buffer` has `size` writable bytes; `needed` is
 * NULL or writable.
 */
timeline_status_t timeline_render(const struct timeline_event_t *event,
                                  char *buffer,
                                  size_t size,
                                  size_t *needed);

/**
 * Gives the values of an event, each with its type: those of the arguments of its message, in
 * their order, or those of a format of printf, in which a `*` is a value of its own. If the
 * definition cannot be read, they are all words of the event. Damaged events may have fewer values
 * than their message has arguments.
 *
 * A type of fewer than 64 bits counts only the low bits of the word that the program gave: of 300
 * for `$n:u8`, the value is 44, as readers show it.
 *
 * `event`: from `timeline_next`, with pointers that are still valid. `values` and `room`: receives
 * the first `room` values; may be NULL if `room` is 0. `count`: receives how many values the event
 * has: those behind `room` are not written. An event of a template has at most
 * `TIMELINE_MAX_FIELDS`, and no event has more than 191. Both are untouched when the call fails.
 *
 * Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT`. Any thread.
 *
 * # Safety
 * `event` is NULL or came from `timeline_next`; `values` has room for `room` values; `count` is
 * NULL or writable.
 */
timeline_status_t timeline_values(const struct timeline_event_t *event,
                                  struct timeline_event_value_t *values,
                                  size_t room,
                                  uint32_t *count);

/**
 * Attaches to a timeline, to measure durations of its events: of one's own, or of any other
 * process.
 *
 * `path`: the name or file of a timeline, live or left by a crash, or a snapshot. `what`: which
 * durations, see below. `from`: `TIMELINE_FROM_OLDEST` begins with the oldest event in the ring,
 * `TIMELINE_FROM_NOW` measures only what comes. `out`: receives the histogram, to be freed with
 * `timeline_histogram_free`; untouched when the call fails. It is empty until
 * `timeline_histogram_update`.
 *
 * `what` is the name of a span (`engine.breath`), the names of two events of one thread
 * (`engine.got..engine.sent`), or of two events with the same value in a field
 * (`http.got..http.sent by id`), or `every` and the name of an event, for the time since the event
 * of that name before. In names, `*` is any text and `?` any one character.
 *
 * A name that is not defined, and is like one that is, is refused: it is taken for misspelt. One
 * that is like none may be defined later, but not a field of an event that is defined without it.
 *
 * Durations are in nanoseconds, exact to 0.1 %. A histogram takes some 20 to 300 KiB.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_NOT_FOUND`, `TIMELINE_E_NOT_A_TIMELINE`,
 * `TIMELINE_E_VERSION`, `TIMELINE_E_CORRUPT`, `TIMELINE_E_ARGUMENT` or `TIMELINE_E_IO`. Any
 * thread.
 *
 * # Safety
 * `path` and `what` are NULL or NUL-terminated strings; `out` is NULL or writable.
 */
timeline_status_t timeline_histogram(const char *path,
                                     const char *what,
                                     int32_t from,
                                     struct timeline_histogram_t **out);

/**
 * Reads the events that are new, and records the durations that ended since the last update.
 *
 * Call it often enough that the ring is not overwritten meanwhile: what was overwritten before it
 * was read is counted by `timeline_histogram_missed`, and nothing is guessed in its place. If
 * another timeline has the name now, because its program was started again, it goes on with that
 * one, from its first event. It never waits.
 *
 * Returns `TIMELINE_OK`; `TIMELINE_E_CORRUPT` and `TIMELINE_E_IO` as `timeline_next` does; or
 * `TIMELINE_E_ARGUMENT`. One thread at a time for each histogram.
 *
 * # Safety
 * `histogram` is NULL or was returned by `timeline_histogram` and not freed yet, and no other
 * thread uses it during the call.
 */
timeline_status_t timeline_histogram_update(struct timeline_histogram_t *histogram);

/**
 * Returns how many durations were recorded; 0 for NULL. One thread at a time for each histogram.
 *
 * # Safety
 * `histogram` is NULL or was returned by `timeline_histogram` and not freed yet, and no other
 * thread uses it during the call.
 */
uint64_t timeline_histogram_count(const struct timeline_histogram_t *histogram);

/**
 * Returns the duration in nanoseconds that `percent` of all durations do not exceed: 50 for the
 * median, 99.9, 0 for the shortest, 100 for the longest. 0 for NULL, and if there is no duration.
 * One thread at a time for each histogram.
 *
 * # Safety
 * `histogram` is NULL or was returned by `timeline_histogram` and not freed yet, and no other
 * thread uses it during the call.
 */
uint64_t timeline_histogram_percentile(const struct timeline_histogram_t *histogram, double percent);

/**
 * Returns the mean of all durations in nanoseconds; 0 for NULL, and if there is none. One thread
 * at a time for each histogram.
 *
 * # Safety
 * `histogram` is NULL or was returned by `timeline_histogram` and not freed yet, and no other
 * thread uses it during the call.
 */
double timeline_histogram_mean(const struct timeline_histogram_t *histogram);

/**
 * Returns how many events have no other half, so that nothing was recorded: it was overwritten,
 * or never logged. Spans that are open do not count, but those do that were open in a timeline
 * when another one took its name. 0 for NULL. One thread at a time for each histogram.
 *
 * # Safety
 * `histogram` is NULL or was returned by `timeline_histogram` and not freed yet, and no other
 * thread uses it during the call.
 */
uint64_t timeline_histogram_lost(const struct timeline_histogram_t *histogram);

/**
 * Returns how many entries of the ring were overwritten before an update could read them, since
 * the histogram was made or reset: an event takes one, or several with a payload. What ended in
 * them is not among the durations. 0 for NULL. One thread at a time for each histogram.
 *
 * # Safety
 * `histogram` is NULL or was returned by `timeline_histogram` and not freed yet, and no other
 * thread uses it during the call.
 */
uint64_t timeline_histogram_missed(const struct timeline_histogram_t *histogram);

/**
 * Returns since when entries are missing, in nanoseconds since 1970: when the last update before
 * the first of those began that `timeline_histogram_missed` counts, or when their timeline was
 * made, if that was later. 0 for NULL, and if none is
 * missing. One thread at a time for each histogram.
 *
 * # Safety
 * `histogram` is NULL or was returned by `timeline_histogram` and not freed yet, and no other
 * thread uses it during the call.
 */
uint64_t timeline_histogram_missed_since(const struct timeline_histogram_t *histogram);

/**
 * Forgets the durations, and the entries that were missed, to measure the next interval. Spans
 * that are open are still measured when they end.
 *
 * Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT`. One thread at a time for each histogram.
 *
 * # Safety
 * `histogram` is NULL or was returned by `timeline_histogram` and not freed yet, and no other
 * thread uses it during the call.
 */
timeline_status_t timeline_histogram_reset(struct timeline_histogram_t *histogram);

/**
 * Frees a histogram.
 *
 * `histogram`: from `timeline_histogram`, or NULL, which does nothing. Freeing it twice is
 * undefined behaviour.
 *
 * # Safety
 * `histogram` is NULL or was returned by `timeline_histogram` and not freed yet.
 */
void timeline_histogram_free(struct timeline_histogram_t *histogram);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TIMELINE_H */


/* Begins what is compiled in every program: the rest of the header, which TIMELINE_NO_INLINE leaves out. */
#ifndef TIMELINE_NO_INLINE
#define TIMELINE_NO_INLINE

#if defined(__GNUC__)
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

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

/* Begins the statements, which take a compiler that knows the extensions of GNU C. */
#if defined(__GNUC__)

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

/* Applies a macro to each of up to 64 arguments of a statement in C, with its place from the end: 1 for the last. */
#define TIMELINE_PASTE_(a, b, c) TIMELINE_PASTE2_(a, b, c)
#define TIMELINE_PASTE2_(a, b, c) a##b##c

#ifndef __cplusplus
/* How many arguments stand behind the first one. */
#define TIMELINE_COUNT_(...) TIMELINE_66TH_(__VA_ARGS__, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, \
51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, \
24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)
#define TIMELINE_66TH_(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, \
_19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, _33, _34, _35, _36, _37, _38, _39, _40, \
_41, _42, _43, _44, _45, _46, _47, _48, _49, _50, _51, _52, _53, _54, _55, _56, _57, _58, _59, _60, _61, _62, \
_63, _64, count, ...) count
/* The first argument is the message. A 0 follows the last one, as ISO C wants something for the dots. */
#define TIMELINE_EACH_(m, ...) TIMELINE_PASTE_(TIMELINE_EACH_, TIMELINE_COUNT_(__VA_ARGS__), _)(m, __VA_ARGS__, 0)
#define TIMELINE_EACH_0_(m, message, ...)
#define TIMELINE_EACH_1_(m, message, a, ...) m(1, a) TIMELINE_EACH_0_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_2_(m, message, a, ...) m(2, a) TIMELINE_EACH_1_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_3_(m, message, a, ...) m(3, a) TIMELINE_EACH_2_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_4_(m, message, a, ...) m(4, a) TIMELINE_EACH_3_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_5_(m, message, a, ...) m(5, a) TIMELINE_EACH_4_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_6_(m, message, a, ...) m(6, a) TIMELINE_EACH_5_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_7_(m, message, a, ...) m(7, a) TIMELINE_EACH_6_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_8_(m, message, a, ...) m(8, a) TIMELINE_EACH_7_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_9_(m, message, a, ...) m(9, a) TIMELINE_EACH_8_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_10_(m, message, a, ...) m(10, a) TIMELINE_EACH_9_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_11_(m, message, a, ...) m(11, a) TIMELINE_EACH_10_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_12_(m, message, a, ...) m(12, a) TIMELINE_EACH_11_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_13_(m, message, a, ...) m(13, a) TIMELINE_EACH_12_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_14_(m, message, a, ...) m(14, a) TIMELINE_EACH_13_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_15_(m, message, a, ...) m(15, a) TIMELINE_EACH_14_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_16_(m, message, a, ...) m(16, a) TIMELINE_EACH_15_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_17_(m, message, a, ...) m(17, a) TIMELINE_EACH_16_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_18_(m, message, a, ...) m(18, a) TIMELINE_EACH_17_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_19_(m, message, a, ...) m(19, a) TIMELINE_EACH_18_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_20_(m, message, a, ...) m(20, a) TIMELINE_EACH_19_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_21_(m, message, a, ...) m(21, a) TIMELINE_EACH_20_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_22_(m, message, a, ...) m(22, a) TIMELINE_EACH_21_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_23_(m, message, a, ...) m(23, a) TIMELINE_EACH_22_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_24_(m, message, a, ...) m(24, a) TIMELINE_EACH_23_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_25_(m, message, a, ...) m(25, a) TIMELINE_EACH_24_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_26_(m, message, a, ...) m(26, a) TIMELINE_EACH_25_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_27_(m, message, a, ...) m(27, a) TIMELINE_EACH_26_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_28_(m, message, a, ...) m(28, a) TIMELINE_EACH_27_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_29_(m, message, a, ...) m(29, a) TIMELINE_EACH_28_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_30_(m, message, a, ...) m(30, a) TIMELINE_EACH_29_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_31_(m, message, a, ...) m(31, a) TIMELINE_EACH_30_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_32_(m, message, a, ...) m(32, a) TIMELINE_EACH_31_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_33_(m, message, a, ...) m(33, a) TIMELINE_EACH_32_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_34_(m, message, a, ...) m(34, a) TIMELINE_EACH_33_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_35_(m, message, a, ...) m(35, a) TIMELINE_EACH_34_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_36_(m, message, a, ...) m(36, a) TIMELINE_EACH_35_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_37_(m, message, a, ...) m(37, a) TIMELINE_EACH_36_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_38_(m, message, a, ...) m(38, a) TIMELINE_EACH_37_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_39_(m, message, a, ...) m(39, a) TIMELINE_EACH_38_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_40_(m, message, a, ...) m(40, a) TIMELINE_EACH_39_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_41_(m, message, a, ...) m(41, a) TIMELINE_EACH_40_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_42_(m, message, a, ...) m(42, a) TIMELINE_EACH_41_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_43_(m, message, a, ...) m(43, a) TIMELINE_EACH_42_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_44_(m, message, a, ...) m(44, a) TIMELINE_EACH_43_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_45_(m, message, a, ...) m(45, a) TIMELINE_EACH_44_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_46_(m, message, a, ...) m(46, a) TIMELINE_EACH_45_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_47_(m, message, a, ...) m(47, a) TIMELINE_EACH_46_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_48_(m, message, a, ...) m(48, a) TIMELINE_EACH_47_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_49_(m, message, a, ...) m(49, a) TIMELINE_EACH_48_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_50_(m, message, a, ...) m(50, a) TIMELINE_EACH_49_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_51_(m, message, a, ...) m(51, a) TIMELINE_EACH_50_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_52_(m, message, a, ...) m(52, a) TIMELINE_EACH_51_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_53_(m, message, a, ...) m(53, a) TIMELINE_EACH_52_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_54_(m, message, a, ...) m(54, a) TIMELINE_EACH_53_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_55_(m, message, a, ...) m(55, a) TIMELINE_EACH_54_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_56_(m, message, a, ...) m(56, a) TIMELINE_EACH_55_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_57_(m, message, a, ...) m(57, a) TIMELINE_EACH_56_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_58_(m, message, a, ...) m(58, a) TIMELINE_EACH_57_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_59_(m, message, a, ...) m(59, a) TIMELINE_EACH_58_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_60_(m, message, a, ...) m(60, a) TIMELINE_EACH_59_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_61_(m, message, a, ...) m(61, a) TIMELINE_EACH_60_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_62_(m, message, a, ...) m(62, a) TIMELINE_EACH_61_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_63_(m, message, a, ...) m(63, a) TIMELINE_EACH_62_(m, message, __VA_ARGS__)
#define TIMELINE_EACH_64_(m, message, a, ...) m(64, a) TIMELINE_EACH_63_(m, message, __VA_ARGS__)
#endif /* __cplusplus */

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

/* Statements as programs write them, in C and in C++. */

/**
 * The category of the events of `TIMELINE_PRINTF` and `TIMELINE_BACKTRACE`: its value at the
 * statement counts. Define your own before including the header, or redefine it between two
 * statements, after an `#undef`.
 */
#ifndef TIMELINE_CATEGORY
#define TIMELINE_CATEGORY "printf"
#endif

/**
 * The channels of the events of `TIMELINE_EVENT`, `TIMELINE_SPAN`, `TIMELINE_PRINTF` and `TIMELINE_BACKTRACE`, as in
 * `timeline_attributes_t`: its value at the statement counts. Define your own before including the header, or redefine
 * it between two statements:
 *
 *     #undef TIMELINE_CHANNELS
 *     #define TIMELINE_CHANNELS "itv|bbc"
 *
 * The default is none.
 */
#ifndef TIMELINE_CHANNELS
#define TIMELINE_CHANNELS TIMELINE_NULL_POINTER_
#endif

/**
 * Logs with a format of printf:
 *
 * `TIMELINE_PRINTF(tl, TIMELINE_INFO, "took %d ms for %s at %p", ms, name, at);`
 *
 * The compiler checks the arguments against the format, which is a literal. The reader makes the
 * text: an event has the values in binary, and copies of strings. The format, the file and the line
 * are stored once. Arguments are evaluated only when the event is enabled.
 *
 * `tl`: a `timeline_t *`; NULL logs nothing. In C++, with timeline.hpp, also a ring. `level`:
 * `TIMELINE_ERROR` to `TIMELINE_LIBRARY`, constant or variable; any other number logs nothing.
 *
 * A statement defines its event when it first runs for a timeline and a level, which takes locks
 * and allocates. After that it is like `timeline_log`: no lock, no allocation, no waiting, safe in
 * a signal handler. It knows every timeline and level that it has met, for as long as the timeline is
 * open; the first ones are found fastest. It leaves `errno` alone, and needs at most 6 KiB of stack.
 *
 * An event that cannot be defined is never logged, and each time it is counted as dropped:
 * `timeline_last_error` says why, and if the definition was refused, so does an event of priority error
 * and the category `timeline`, once for each timeline and level. It is not tried again, nor if a table of the
 * timeline is full. If the timeline stays
 * locked, or the system refuses, the failure may pass: then one run in 1,024 tries again, and the
 * events until then are dropped and counted. A process waits some seconds for such a lock; after a
 * wait in vain only some 2 milliseconds a try, until it gets the lock. A signal handler does not
 * try again. Neither does a statement whose call stack leads through a function without unwind
 * tables, because a handler may be hidden there. To find out, that one run in 1,024 walks over the
 * call stack. With libgcc before 12 or glibc before 2.35 this takes the loader's lock, and a
 * handler that interrupted dlopen in its own thread may wait for ever.
 *
 * All formats of printf are accepted: `*`, `%.*s`, `%Lf`, `%ls` (as UTF-8). An event has room for
 * 1,528 bytes, in small rings for less (760 in the smallest): each argument takes 8 (a `long double`
 * 16), and strings share the rest in order. A string that does not fit is cut and ends in `…`. A
 * `%s` with a precision reads no further than that. Widths and precisions count up to 4,096 (C99 asks
 * for 4,095), a whole text up to 65,536 bytes, a format up to 4,096: a longer field or text is cut and
 * ends in `…`, a longer format cannot be defined. `""` logs that the statement was reached. `%n` stores nothing.
 * For formats with `%1$d`, `%m`, 33 to 64 arguments, or conversions that C99 does not know, the
 * program calls vsnprintf: that is slower, and as safe in a signal handler as the C library makes
 * it.
 *
 * If TIMELINE_DISABLED is defined before the first inclusion of the header, these statements and
 * those of `TIMELINE_IMPORTANT_PRINTF`, `TIMELINE_BACKTRACE`, `TIMELINE_EVENT`,
 * `TIMELINE_IMPORTANT_EVENT` and `TIMELINE_SPAN` log nothing and evaluate no argument, and neither do
 * calls of `timeline_log`. The compiler checks them and leaves nothing of them in optimised code. All
 * other functions stay as they are.
 */
#define TIMELINE_PRINTF(tl, level, ...) \
  TIMELINE_STATEMENT_(tl, level, TIMELINE_CATEGORY, 0, TIMELINE_PRINTF_, __VA_ARGS__)

/**
 * Like `TIMELINE_PRINTF`, for important events: they explain others, and readers get them first. The
 * member `important` of `timeline_attributes_t` says more.
 */
#define TIMELINE_IMPORTANT_PRINTF(tl, level, ...) \
  TIMELINE_STATEMENT_(tl, level, TIMELINE_CATEGORY, TIMELINE_SITE_IMPORTANT, TIMELINE_PRINTF_, __VA_ARGS__)

/**
 * Like `TIMELINE_PRINTF`, with the call stack: return addresses, innermost first, for which readers
 * find the names of functions and their files.
 *
 * `TIMELINE_BACKTRACE(tl, TIMELINE_ERROR, "bad block %u", number);`
 *
 * A stack deeper than 32 is cut off: the outermost frames, those next to `main`, are missing,
 * without a mark.
 *
 * The addresses take up to 264 bytes of an event's room. `timeline_backtrace` says how safe it is
 * in signal handlers.
 */
#define TIMELINE_BACKTRACE(tl, level, ...) \
  TIMELINE_STATEMENT_(tl, level, TIMELINE_CATEGORY, TIMELINE_SITE_BACKTRACE, TIMELINE_PRINTF_, __VA_ARGS__)

/**
 * Logs an event whose message has named arguments, with their types:
 *
 * `TIMELINE_EVENT(tl, TIMELINE_INFO, "net", "sent $size:bytes to $host:str", size, host);`
 *
 * `category` and the message are literals. `tl` and `level` are as for `TIMELINE_PRINTF`, and so is
 * everything that is said there of definitions, signal handlers and failures.
 *
 * The types that a message may give are in docs/format.md. An argument without a type in the
 * message has that of C: `int` is `i32`, `char *` is `str`, and so on; a bit-field is `i64` to GCC
 * in C. A message that gives a type takes any whole number for one of whole numbers (its low bits
 * count), a `float` for `f32`, a `double` for `f64`, a pointer for `ptr` and `hex`, a `char *` or
 * `TIMELINE_TEXT(pointer, bytes)` for `str` and `istr`, `TIMELINE_WIDE(pointer)` for `wstr`, and
 * `TIMELINE_ARRAY(pointer, count)` for an array.
 * The compiler refuses arguments that do not fit, and more or fewer of them than the message has: gcc 11
 * and later, clang with up to 16 arguments, and any compiler of C++ with timeline.hpp. What it cannot see, it
 * leaves to the library, which refuses the definition: behind a `$` without a name, in C also names of
 * more than 24 characters (clang), and the names of enums and flags.
 *
 * In C, an array is a pointer to its first element, and logged as that: TIMELINE_ARRAY logs the elements.
 *
 * An event of up to four numbers is as fast as `timeline_log`. An event has at most 64 arguments,
 * and room for 1,528 bytes, in small rings for less (760 in the smallest): each argument takes 8,
 * and texts and arrays share the rest in order. One that does not fit is cut, and says so.
 *
 * An `istr` is for small vocabularies, such as names of interfaces: the text is stored in the
 * timeline once, and each event carries its place. `timeline_log_interned` says more.
 */
#define TIMELINE_EVENT(tl, level, category, ...) \
  TIMELINE_STATEMENT_(tl, level, category, TIMELINE_SITE_EVENT, TIMELINE_EVENT_, __VA_ARGS__)

/**
 * Like `TIMELINE_EVENT`, for important events: they explain others, and readers get them first. The
 * member `important` of `timeline_attributes_t` says more.
 */
#define TIMELINE_IMPORTANT_EVENT(tl, level, category, ...)                                               \
  TIMELINE_STATEMENT_(tl, level, category, TIMELINE_SITE_EVENT | TIMELINE_SITE_IMPORTANT, TIMELINE_EVENT_, \
                      __VA_ARGS__)

/* From here on: the parts of these macros. */

/* timeline.hpp replaces these by ones that take more types. */
#define TIMELINE_HANDLE_(tl) (tl)
#define TIMELINE_LEVEL_(level) (level)
/* timeline.hpp checks the number of arguments at compile time. */
#define TIMELINE_CHECK_(...) (void)0

/* The format among the arguments: only a literal compiles beside another literal. */
#define TIMELINE_FORMAT_(format, ...) "" format

/* An empty format is not a mistake: it is logged like any other. Nor is a statement in a lambda of an
 * argument, whose names are those of the statement around it. */
#define TIMELINE_QUIET_ \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wformat-zero-length\"") \
      _Pragma("GCC diagnostic ignored \"-Wshadow\"")
#define TIMELINE_QUIET_END_ _Pragma("GCC diagnostic pop")

/* In front of the block of a statement. With TIMELINE_DISABLED the compiler checks the block and then
 * removes it, with its arguments. Texts and memory go only if it optimises. */
#ifdef TIMELINE_DISABLED
#define TIMELINE_BLOCK_ if (0)
#else
#define TIMELINE_BLOCK_
#endif

#define TIMELINE_STATEMENT_(tl, level, category, flags, log, ...)                                            \
  do {                                                                                                       \
    TIMELINE_QUIET_                                                                                          \
    TIMELINE_BLOCK_ {                                                                                        \
      static timeline_site_t timeline_site_ = {                                                              \
          category, TIMELINE_FORMAT_(__VA_ARGS__, 0), __FILE__, __LINE__, flags,                                   \
          TIMELINE_CHANNELS, 0, TIMELINE_NULL_POINTER_, TIMELINE_NULL_POINTER_};                             \
      timeline_t *const timeline_tl_ = TIMELINE_HANDLE_(tl);                                                 \
      log(TIMELINE_LEVEL_(level), flags, __VA_ARGS__);                                                       \
    }                                                                                                        \
    TIMELINE_QUIET_END_                                                                                      \
  } while (0)

/* What a site remembers for a timeline and a level: the event, or more than 0xffffff if they are not
 * those that it met first. */
TIMELINE_INLINE_ uint64_t timeline_known_(const timeline_t *tl, const timeline_site_t *site, int32_t level) {
  const uint32_t priority = TIMELINE_CAST_(uint32_t, level), serial = tl->serial;
  /* The bits above the event are the handle and the level. Acquire (pairs with the Release in
   * src/ring/statement_events.rs): a thread that sees the event sees the types. */
  return __atomic_load_n(&site->first, __ATOMIC_ACQUIRE) ^
         (TIMELINE_CAST_(uint64_t, serial) << 32 | priority << 24);
}

/* The event of a statement, which is defined if it is not; 0 if that fails. `given`: the types of its
 * arguments. */
TIMELINE_INLINE_ uint32_t timeline_event_of_(timeline_t *tl, timeline_site_t *site, int32_t level,
                                             const unsigned char *given) {
  const uint64_t word = timeline_known_(tl, site, level);
  if (__builtin_expect(word <= 0xffffff, 1)) return TIMELINE_CAST_(uint32_t, word);
  return timeline_site_define(tl, site, level, given);
}

/* Whether an event of a statement is enabled. Event 0 never is. */
TIMELINE_INLINE_ bool timeline_is_on_(const timeline_t *tl, uint32_t event) {
  /* volatile: as in timeline_enabled. */
  const volatile uint8_t *const enabled = tl->enabled + event;
  return *enabled != 0;
}

/* The event of a statement, which is defined if it is not; 0 if it has none. `given`: the types of its arguments. */
__attribute__((unused)) static inline uint32_t timeline_event_at_(timeline_t *tl, timeline_site_t *site, int32_t level,
                                                                  const unsigned char *given) {
  if (!tl || level < TIMELINE_ERROR || level > TIMELINE_LIBRARY) return 0;
  return timeline_event_of_(tl, site, level, given);
}

/* Whether the statement logs now. */
#define TIMELINE_SAYS_ timeline_tl_ && timeline_is_on_(timeline_tl_, timeline_event_)

/* Checks the arguments against the format. Where a whole text cannot be made of raw values, makes it of the
 * arguments; what follows is for all others. */
#if TIMELINE_RAW_ARGUMENTS_
#define TIMELINE_OR_ALL_(...) \
  if (0) timeline_printf_all_(timeline_tl_, &timeline_site_, timeline_event_, __VA_ARGS__); else
#else
#define TIMELINE_OR_ALL_(...)              \
  if (timeline_is_whole_text_(&timeline_site_)) \
    timeline_printf_all_(timeline_tl_, &timeline_site_, timeline_event_, __VA_ARGS__); \
  else
#endif

/* Behind a call that looks for its return address: it does not end the function. */
#define TIMELINE_STAY_(flags) \
  if ((flags) & TIMELINE_SITE_BACKTRACE) __asm__ volatile("")

#ifdef TIMELINE_DISABLED
TIMELINE_INLINE_ void timeline_nothing_(int unused) { (void)unused; }
#define timeline_log(...) timeline_nothing_(0 ? ((timeline_log)(__VA_ARGS__), 0) : 0)
#endif

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

/* Ends the statements. */
#endif /* __GNUC__ */

/* Ends what is compiled in every program. */
#ifdef __cplusplus
}
#endif
#endif

#endif /* C99 */
