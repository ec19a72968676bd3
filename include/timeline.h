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
 * `event` of `timeline_define`). After a failed timeline_new, logging to NULL and to event 0 does
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
 * A flag of a site and of `timeline_log_payload`: the payload begins with a call stack.
 */
#define TIMELINE_SITE_BACKTRACE 1

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
 * has their values.
 */
#define TIMELINE_TEMPLATE 1

/**
 * A syntax: the message is a format of printf; `payload` has the values.
 */
#define TIMELINE_FORMAT 2

/**
 * A timeline attached for reading, from `timeline_attach`. Any thread may use it.
 */
typedef struct timeline_attached_t timeline_attached_t;

/**
 * A walk over events, from `timeline_events` or `timeline_follow`. One thread at a time may use
 * it. It still works after its `timeline_attached_t` is freed.
 */
typedef struct timeline_cursor_t timeline_cursor_t;

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
   * `TIMELINE_I64` to `TIMELINE_FLAGS`.
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
} timeline_options_t;

/**
 * One call site of `TIMELINE_PRINTF`, which makes it in static memory and sets `category`,
 * `format`, `file`, `line` and `flags`. All other members are 0 at first, and only the library
 * writes them.
 */
typedef struct timeline_site_t {
  /**
   * The category of its events.
   */
  const char *category;
  /**
   * The format of printf.
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
   * `TIMELINE_SITE_BACKTRACE`, or 0.
   */
  uint32_t flags;
  /**
   * Its events for up to 8 pairs of a timeline and a level: the timeline's `serial` in 32 bits,
   * the level in 8, the event in 24, at the index `(serial + level) % 8`. After a failure that
   * may pass, 0x80 is added to the level, and the 24 bits count the runs since.
   */
  uint64_t events[8];
  /**
   * The types of its values, in order, up to the first 0: a letter in the low 8 bits, above it
   * the precision, or 0xffffff for none.
   */
  uint32_t types[32];
  /**
   * How many bytes the values take at least, with all strings cut to nothing.
   */
  uint32_t reserve;
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
   * The arguments; those after `argument_count` are as the program gave them.
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
   * The name of the thread, cut to 15 bytes; `""` when not known.
   */
  char thread[16];
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
   * The values of the format, for `timeline_render`: msgpack, one after the other. Valid until
   * the cursor gives the next event or is freed; NULL when there are none.
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
} timeline_event_t;

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
 * all rules together take more than 447 bytes (then nothing has changed; a level begins anew),
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
 * `message`: as for `timeline_define`. `fields`: room for four; receives the arguments in their
 * order. `count`: receives 0 to 4. Both are untouched when the call fails.
 *
 * Returns `TIMELINE_OK`, or `TIMELINE_E_ARGUMENT` for a message that could not be defined. Any
 * thread.
 *
 * # Safety
 * `message` is NULL or a NUL-terminated string; `fields` is NULL or has room for four, and `count`
 * is NULL or writable.
 */
timeline_status_t timeline_fields(const char *message, struct timeline_field_t *fields, uint32_t *count);

/**
 * Makes a timeline and opens it for writing. If the name belongs to a timeline whose processes all
 * died, that one is kept as `NAME.prev` (as `NAME.prev-` and a number, if `NAME.prev` is a file
 * that is not ours to replace).
 *
 * `path`: one leading slash and no other (`"/timeline"`) names a POSIX shared memory object;
 * anything else is the path of a file. `entries`: how many entries the ring holds, a power of two
 * of at least 256; 0 means 1,048,576 (66 MiB in all). If these do not fit, 0 means the largest
 * power of two that fits, of at least 65,536. `string_table_size`: bytes for the texts of the
 * definitions; 0 means 1,048,576. `out`: receives the timeline, to be freed with `timeline_free`;
 * untouched when the call fails.
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
 * Frees a timeline. Its events stay, for readers and for processes that join later, until
 * `timeline_unlink`.
 *
 * `tl`: from `timeline_new` or `timeline_open`, or NULL, which does nothing. No thread may use it
 * during this call or after: freeing twice, or logging to a freed timeline, is undefined
 * behaviour.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet.
 */
void timeline_free(struct timeline_t *tl);

/**
 * Removes the name of a timeline, live or not. Processes that have it open keep it until they free
 * it; no other process finds it any more.
 *
 * `path`: as for `timeline_new`.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_NOT_FOUND`, `TIMELINE_E_NOT_A_TIMELINE` (it is left alone),
 * `TIMELINE_E_ARGUMENT` or `TIMELINE_E_IO`. Any thread.
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
 * with `$` (letters, digits, `_`) are the arguments, at most four: `"processed $tcp, $udp, and
 * $other"`. `event`: receives the number to log with; 0, which is never logged, when the call
 * fails. Both texts have at most 4,096 bytes.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT` (a text that is too long or not UTF-8, no such
 * priority, a fifth argument), `TIMELINE_E_FULL`, `TIMELINE_E_BUSY` (it stays locked for seconds)
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
 * Logs an event, if it is enabled. No lock, no allocation and no waiting once the calling thread
 * has logged its first event; safe in a signal handler. Needs at most 2 KiB of stack; 16 KiB if
 * the library was built without optimisation. Check `timeline_enabled` first if the arguments are
 * costly to compute.
 *
 * `tl`: NULL logs nothing. `event`: from `timeline_define`; 0 logs nothing, and a number beyond
 * the table of definitions is dropped and counted. `a0` to `a3`: the arguments of the message in
 * order; give 0 for the rest, which is not shown.
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
 * Defines the event of a call site for a timeline and a level, and remembers it in the site.
 * `TIMELINE_PRINTF` calls it when a statement first runs.
 *
 * Returns the event, or 0, which is never logged, if it cannot be defined. A failure is remembered
 * too, and not tried again. But if the timeline stays locked, or the system refuses, the failure
 * may pass: then one call in 1,024 tries again, and each call that returns 0 counts an event as
 * dropped, if the level enables it. Leaves `errno` alone. An attempt takes locks and allocates,
 * and may wait seconds for the lock of the timeline; after one such wait in vain, only some 2
 * milliseconds, until it gets the lock.
 *
 * Any thread; in a signal handler only after an earlier call for the same timeline and level. It
 * does not try again in a signal handler, or if the call stack cannot be read to its end (a
 * function without unwind tables). To find out, one call in 1,024 walks over the stack: with
 * libgcc before 12 or glibc before 2.35 that takes the loader's lock, and a handler that
 * interrupted dlopen in its own thread may wait for ever.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `site` is
 * NULL, or a site with NUL-terminated texts that only this library writes to.
 */
uint32_t timeline_site_define(struct timeline_t *tl, struct timeline_site_t *site, int32_t level);

/**
 * Logs an event with encoded values, if it is enabled. `TIMELINE_PRINTF` calls it. As fast and as
 * safe as `timeline_log`, except for the time to copy the values.
 *
 * `tl`: NULL logs nothing. `event`: from `timeline_site_define`. `payload` and `size`: the values
 * as msgpack, one after the other; bytes beyond `payload` of the timeline are cut off. `flags`:
 * `TIMELINE_SITE_BACKTRACE` if the output of `timeline_backtrace` comes first, or 0.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `payload`
 * has `size` readable bytes.
 */
void timeline_log_payload(const struct timeline_t *tl,
                          uint32_t event,
                          const void *payload,
                          size_t size,
                          uint32_t flags);

/**
 * Writes the return addresses of the calls under way, for `timeline_log_payload`.
 * `TIMELINE_BACKTRACE` calls it.
 *
 * `from`: the address at which the stack begins; the calls made from there are left out. `payload`
 * and `size`: the destination and its size in bytes: 3, and 9 for each of at most 32 addresses.
 * Returns how many bytes were written.
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
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `payload`
 * has `size` writable bytes.
 */
size_t timeline_backtrace(struct timeline_t *tl, const void *from, void *payload, size_t size);

/**
 * Saves a timeline to a file in its raw binary format. Every event in it is whole, also while
 * others log. The file is written under a temporary name beside `file` and then renamed, so a file
 * of that name is replaced as a whole or not at all.
 *
 * `file`: the path of the file.
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
 * now); `TIMELINE_E_CORRUPT` when events are missing because the file was cut short during the
 * walk; `TIMELINE_E_IO` when they are missing because this program closed the descriptor of a
 * timeline that another user could cut short, and its name now leads to another file; or
 * `TIMELINE_E_ARGUMENT`. One thread at a time for each cursor.
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
 * 5?>(10, 20, 3, 0)`.
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

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TIMELINE_H */


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

#if defined(__GNUC__)

/**
 * The category of the events of `TIMELINE_PRINTF` and `TIMELINE_BACKTRACE`: its value at the
 * statement counts. Define your own before including the header, or redefine it between two
 * statements.
 */
#ifndef TIMELINE_CATEGORY
#define TIMELINE_CATEGORY "printf"
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
 * a signal handler. It leaves `errno` alone, and needs at most 6 KiB of stack.
 *
 * An event that cannot be defined is never logged; `timeline_last_error` says why. But if the
 * timeline stays locked, or the system refuses, the failure may pass: then one run in 1,024 tries
 * again, and the events until then are dropped and counted. A process waits some seconds for such a
 * lock; after a wait in vain only some 2 milliseconds a try, until it gets the lock. A signal
 * handler does not try again. Neither does a statement whose call stack leads through a function
 * without unwind tables, because a handler may be hidden there. To find out, that one run in 1,024
 * walks over the call stack. With libgcc before 12 or glibc before 2.35 this takes the loader's
 * lock, and a handler that interrupted dlopen in its own thread may wait for ever.
 *
 * All formats of printf are accepted: `*`, `%.*s`, `%Lf`, `%ls` (as UTF-8). An event has room for
 * 1,526 bytes, in small rings for less (758 in the smallest): numbers always fit, strings share the
 * rest in order, and a string that does not fit is cut and ends in `…`. A `%s` with a precision
 * reads no further than that. Widths and precisions count up to 4,096 (C99 asks for 4,095), a whole
 * text up to 65,536 bytes, a format up to 4,096: a longer field or text is cut and ends in `…`, a
 * longer format cannot be defined. `""` logs that the statement was reached. `%n` stores nothing.
 * For formats with `%1$d`, `%m`, more than 32 arguments, or conversions that C99 does not know, the
 * program calls vsnprintf: that is slower, and as safe in a signal handler as the C library makes
 * it.
 */
#define TIMELINE_PRINTF(tl, level, ...) TIMELINE_STATEMENT_(tl, level, 0, (void)0, __VA_ARGS__)

/**
 * Like `TIMELINE_PRINTF`, with the call stack: return addresses, innermost first, for which readers
 * find the names of functions and their files.
 *
 * `TIMELINE_BACKTRACE(tl, TIMELINE_ERROR, "bad block %u", number);`
 *
 * A stack deeper than 32 is cut off: the outermost frames, those next to `main`, are missing,
 * without a mark.
 *
 * The addresses take up to 291 bytes of an event's room. `timeline_backtrace` says how safe it is
 * in signal handlers.
 */
#define TIMELINE_BACKTRACE(tl, level, ...) \
  TIMELINE_STATEMENT_(tl, level, TIMELINE_SITE_BACKTRACE, TIMELINE_STAY_, __VA_ARGS__)

/* From here on: the parts of these two macros. */

/* timeline.hpp replaces these by ones that take more types. */
#define TIMELINE_HANDLE_(tl) (tl)
#define TIMELINE_LEVEL_(level) (level)

/* The format among the arguments: only a literal compiles beside another literal. */
#define TIMELINE_FORMAT_(format, ...) "" format

/* Follows the call, so that it is not a tail call, which would remove the frame of its function. */
#define TIMELINE_STAY_ __asm__ __volatile__("")

/* An empty format is not a mistake: it is logged like any other. */
#define TIMELINE_QUIET_ \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wformat-zero-length\"")
#define TIMELINE_QUIET_END_ _Pragma("GCC diagnostic pop")

#define TIMELINE_STATEMENT_(tl, level, flags, after, ...)                                                \
  do {                                                                                                   \
    TIMELINE_QUIET_                                                                                      \
    static timeline_site_t timeline_site_ = {                                                            \
        TIMELINE_CATEGORY, TIMELINE_FORMAT_(__VA_ARGS__, 0), __FILE__, __LINE__, flags, {0}, {0}, 0};    \
    timeline_t *const timeline_tl_ = TIMELINE_HANDLE_(tl);                                               \
    uint32_t timeline_event_;                                                                            \
    if (timeline_says_(timeline_tl_, &timeline_site_, TIMELINE_LEVEL_(level), &timeline_event_)) {       \
      timeline_printf_(timeline_tl_, &timeline_site_, timeline_event_, __VA_ARGS__);                     \
      after;                                                                                             \
    }                                                                                                    \
    TIMELINE_QUIET_END_                                                                                  \
  } while (0)

#ifdef __cplusplus
#define TIMELINE_CAST_(type, value) (static_cast<type>(value))
#define TIMELINE_POINTER_CAST_(type, value) (reinterpret_cast<type>(value))
#else
#define TIMELINE_CAST_(type, value) ((type)(value))
#define TIMELINE_POINTER_CAST_(type, value) ((type)(value))
#endif

/* Whether a statement logs now, and which event. */
__attribute__((unused)) static inline bool timeline_says_(timeline_t *tl, timeline_site_t *site, int32_t level,
                                                          uint32_t *event) {
  if (!tl || level < TIMELINE_ERROR || level > TIMELINE_LIBRARY) return false;
  const uint32_t priority = TIMELINE_CAST_(uint32_t, level);
  /* The bits above the event are the handle and the level. Acquire (pairs with the Release in
   * timeline_site_define): a thread that sees the event sees the types. */
  const uint64_t word = __atomic_load_n(&site->events[(tl->serial + priority) % 8], __ATOMIC_ACQUIRE);
  *event = TIMELINE_CAST_(uint32_t, word & 0xffffff);
  if (__builtin_expect(word >> 24 != (TIMELINE_CAST_(uint64_t, tl->serial) << 8 | priority), 0))
    *event = timeline_site_define(tl, site, level);
  /* Event 0 is never enabled. volatile: as in timeline_enabled. */
  const volatile uint8_t *const enabled = tl->enabled + *event;
  return *enabled != 0;
}

/* The limit where there is none. */
#define TIMELINE_NO_LIMIT_ (~TIMELINE_CAST_(size_t, 0))

/* A marker of msgpack, and a big-endian number behind it. */
__attribute__((unused)) static inline unsigned char *timeline_put_(unsigned char *to, unsigned marker,
                                                                   uint64_t number, unsigned bytes) {
  *to++ = TIMELINE_CAST_(unsigned char, marker);
  while (bytes-- > 0) *to++ = TIMELINE_CAST_(unsigned char, number >> (8 * bytes) & 0xff);
  return to;
}

/* The header of a string that is cut to `length` bytes: four bytes. */
__attribute__((unused)) static inline unsigned char *timeline_put_cut_(unsigned char *to, size_t length) {
  to = timeline_put_(to, 0xc8, length, 2);
  *to++ = 1;
  return to;
}

/* A string: at most `limit` bytes of it, in at most `room` bytes, which are at least four. */
__attribute__((unused)) static inline unsigned char *timeline_put_text_(unsigned char *to, const char *text,
                                                                        size_t limit, size_t room) {
  if (!text) return timeline_put_(to, 0xc0, 0, 0);
  /* A text longer than its room need not be read to its end. */
  const size_t most = limit < room ? limit : room;
  const void *const end = memchr(text, 0, most);
  size_t length = end ? TIMELINE_CAST_(size_t, TIMELINE_CAST_(const char *, end) - text) : most;
  if (length <= 0xff && length + 2 <= room) {
    to = timeline_put_(to, 0xd9, length, 1);
  } else if (length + 3 <= room) {
    to = timeline_put_(to, 0xda, length, 2);
  } else {
    /* Cut before a character of UTF-8, which has up to three bytes after its first. */
    length = room - 4;
    size_t whole = length;
    for (int i = 0; i < 3 && whole > 0 && (text[whole] & 0xc0) == 0x80; i++) whole--;
    if ((text[whole] & 0xc0) == 0xc0) length = whole;
    to = timeline_put_cut_(to, length);
  }
  memcpy(to, text, length);
  return to + length;
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

/* Like timeline_put_text_, for a wide string. The limit counts bytes, and divides no character. */
__attribute__((unused)) static inline unsigned char *timeline_put_wide_(unsigned char *to, const wchar_t *text,
                                                                        size_t limit, size_t room) {
  if (!text) return timeline_put_(to, 0xc0, 0, 0);
  unsigned char *const begin = to + 4;
  size_t length = 0;
  bool cut = false;
  while (length < limit && *text) {
    unsigned char piece[4];
    const size_t more = timeline_utf8_(*text++, piece);
    if (length + more > limit) break;
    cut = length + more > room - 4;
    if (cut) break;
    memcpy(begin + length, piece, more);
    length += more;
  }
  if (cut) {
    timeline_put_cut_(to, length);
    return begin + length;
  }
  memmove(timeline_put_(to, 0xda, length, 2), begin, length);
  return begin + length - 1;
}

/* The whole text, written by vsnprintf; nothing if that fails. */
__attribute__((unused, format(printf, 3, 0))) static inline unsigned char *timeline_put_all_(
    unsigned char *to, size_t room, const char *format, va_list arguments) {
  const size_t most = room - 4;
  const int length = vsnprintf(TIMELINE_POINTER_CAST_(char *, to + 3), most + 1, format, arguments);
  if (length < 0) return to;
  if (TIMELINE_CAST_(size_t, length) <= most)
    return timeline_put_(to, 0xda, TIMELINE_CAST_(size_t, length), 2) + length;
  memmove(to + 4, to + 3, most);
  return timeline_put_cut_(to, most) + most;
}

/* Encodes the values by the types of the site, and logs them.
 *
 * Not inlined: a call stack begins at its return address. */
__attribute__((unused, noinline, format(printf, 4, 5))) static void timeline_printf_(
    timeline_t *tl, timeline_site_t *site, uint32_t event, const char *format, ...) {
  const int error = errno;
  unsigned char payload[1528]; /* 32 entries */
  unsigned char *const end = payload + (tl->payload < sizeof payload ? tl->payload : sizeof payload);
  unsigned char *at = payload;
  /* The values still to come take at least this. */
  size_t reserved = __atomic_load_n(&site->reserve, __ATOMIC_RELAXED);
  if (site->flags & TIMELINE_SITE_BACKTRACE)
    at += timeline_backtrace(tl, __builtin_return_address(0), at, TIMELINE_CAST_(size_t, end - at) - reserved);
  size_t before = TIMELINE_NO_LIMIT_; /* The int before, as a precision; none below 0. */
  va_list arguments;
  va_start(arguments, format);
  for (unsigned i = 0; i < 32; i++) {
    const uint32_t type = __atomic_load_n(&site->types[i], __ATOMIC_RELAXED);
    if (type == 0) break;
    size_t limit = type >> 8 == 0xffffff ? TIMELINE_NO_LIMIT_ : type >> 8;
    switch (type & 0xff) {
      case 'i': {
        const int number = va_arg(arguments, int);
        before = number < 0 ? TIMELINE_NO_LIMIT_ : TIMELINE_CAST_(size_t, number);
        at = timeline_put_(at, 0xd2, TIMELINE_CAST_(uint32_t, number), 4);
        reserved -= 5;
        break;
      }
      case 'u':
        at = timeline_put_(at, 0xce, va_arg(arguments, unsigned), 4);
        reserved -= 5;
        break;
      case 'l':
        at = timeline_put_(at, 0xd3, TIMELINE_CAST_(uint64_t, va_arg(arguments, int64_t)), 8);
        reserved -= 9;
        break;
      case 'U':
        at = timeline_put_(at, 0xcf, va_arg(arguments, uint64_t), 8);
        reserved -= 9;
        break;
      case 'p':
        at = timeline_put_(at, 0xcf, TIMELINE_POINTER_CAST_(uintptr_t, va_arg(arguments, void *)), 8);
        reserved -= 9;
        break;
      case 'd': {
        const double number = va_arg(arguments, double);
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        at = timeline_put_(at, 0xcb, bits, 8);
        reserved -= 9;
        break;
      }
      case 'D': {
        const long double number = va_arg(arguments, long double);
        at = timeline_put_(at, 0xd8, 2, 1);
        memset(at, 0, 16);
        /* The bytes after the x87's 80 bits are padding, which may hold anything. */
        memcpy(at, &number, __LDBL_MANT_DIG__ == 64 ? 10 : sizeof number);
        at += 16;
        reserved -= 18;
        break;
      }
      case 'S':
      case 's':
        if ((type & 0xff) == 'S') limit = before;
        reserved -= 4;
        at = timeline_put_text_(at, va_arg(arguments, const char *), limit,
                                TIMELINE_CAST_(size_t, end - at) - reserved);
        break;
      case 'W':
      case 'w':
        if ((type & 0xff) == 'W') limit = before;
        reserved -= 4;
        at = timeline_put_wide_(at, va_arg(arguments, const wchar_t *), limit,
                                TIMELINE_CAST_(size_t, end - at) - reserved);
        break;
      case 'n':
        (void)va_arg(arguments, void *);
        break;
      case 'v':
        errno = error; /* %m */
        at = timeline_put_all_(at, TIMELINE_CAST_(size_t, end - at), format, arguments);
        break;
      default:
        break;
    }
  }
  va_end(arguments);
  timeline_log_payload(tl, event, payload, TIMELINE_CAST_(size_t, at - payload), site->flags);
  errno = error;
}

#endif /* __GNUC__ */

#ifdef __cplusplus
}
#endif
#endif

#endif /* C99 */
