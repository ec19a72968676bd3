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
 * Errors: a function that can fail returns a status; `timeline_last_error` says what was expected, what
 * came and what to do. Results are written last, and only when the call succeeds (but for `event` of
 * `timeline_define`). After a failed timeline_new, logging to NULL and to event 0 does nothing, so a
 * program may ignore every error here and only goes unrecorded.
 *
 * Link with -ltimeline; the static library needs -lpthread -ldl -lm after it (pkg-config --static says so).
 *
 * To read these declarations without a preprocessor (LuaJIT's ffi.cdef): drop all from `#ifdef __cplusplus`
 * to its `#endif`, all from `#ifndef TIMELINE_NO_INLINE` to the end, and then every line that begins
 * with `#`.
 */

#ifndef TIMELINE_H
#define TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * As a level: log nothing. No event has this priority.
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
 * As a level: log everything. No event has this priority.
 */
#define TIMELINE_ALL 8

/**
 * For `timeline_events`: begin with the oldest event.
 */
#define TIMELINE_OLDEST_FIRST 0

/**
 * For `timeline_events`: begin with the newest event.
 */
#define TIMELINE_NEWEST_FIRST 1

/**
 * For `timeline_follow`: begin with the oldest event that is still there.
 */
#define TIMELINE_FROM_OLDEST 0

/**
 * For `timeline_follow`: only events from now on.
 */
#define TIMELINE_FROM_NOW 1

/**
 * A timeline attached to for reading, from `timeline_attach`. May be used from any thread.
 */
typedef struct timeline_attached_t timeline_attached_t;

/**
 * A walk over events, from `timeline_events` or `timeline_follow`. One thread at a time may use it; it goes
 * on working when its `timeline_attached_t` was freed.
 */
typedef struct timeline_cursor_t timeline_cursor_t;

/**
 * Sampling under way, from `timeline_sample` until `timeline_sampler_free`.
 */
typedef struct timeline_sampler_t timeline_sampler_t;

/**
 * What a function returns: `TIMELINE_OK`, `TIMELINE_END`, or an error, one of `TIMELINE_E_...`. The numbers
 * never change their meaning; later versions may add to them.
 */
typedef int32_t timeline_status_t;

/**
 * A timeline to write to, from `timeline_new` or `timeline_open`. Only these functions make one: more
 * lies behind the members shown, which are here for the inline check `timeline_enabled` and are not to be
 * written. Every function that takes one may be called from any thread at any time, but for
 * `timeline_free`.
 */
typedef struct timeline_t {
  /**
   * One byte for each event, not 0 when it is to be logged. Other threads and processes change it.
   */
  const uint8_t *enabled;
  /**
   * How many bytes `enabled` has: the events that can be defined, and event 0.
   */
  uint32_t events;
  /**
   * Tells this handle from every other of this process, freed ones included. Never 0.
   */
  uint32_t serial;
} timeline_t;

/**
 * One event, as `timeline_next` gives it.
 */
typedef struct timeline_event_t {
  /**
   * When, in ticks of the timeline's clock (processor cycles, as a rule).
   */
  uint64_t ticks;
  /**
   * When, in nanoseconds since 1970 UTC; 0 when it cannot be told yet.
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
   * How many of `args` the message has.
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
   * The arguments; those after `argument_count` are as they were given.
   */
  int64_t args[4];
  /**
   * The category; `""` when the definition cannot be read. Valid until both the attached timeline and the
   * cursor are freed.
   */
  const char *category;
  /**
   * The message as it was defined, all its lines, for `timeline_render`; valid as long as `category`.
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
} timeline_event_t;

/**
 * Done.
 */
#define TIMELINE_OK 0

/**
 * Not an error: no further event (of a followed timeline: none just now).
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
 * Too little space for the timeline where it was to be made.
 */
#define TIMELINE_E_NO_SPACE 5

/**
 * What is there is no timeline.
 */
#define TIMELINE_E_NOT_A_TIMELINE 6

/**
 * The timeline is of a format that this library does not know.
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
 * A table of the timeline is full (definitions, strings, writing processes), or that of this process.
 */
#define TIMELINE_E_FULL 10

/**
 * Another process is at it just now (already sampling, for one); try again later.
 */
#define TIMELINE_E_BUSY 11

/**
 * A bug in this library. The call had no effect that it reports; please report the message.
 */
#define TIMELINE_E_BUG 12

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * What went wrong in the last call of this thread that failed: what was expected, what came, what to do.
 * Calls that succeed leave it as it is; `""` when none has failed yet. Never NULL.
 *
 * The text is UTF-8 and stays valid until the next failing call of the same thread, or the thread's end.
 * May be called from any thread; each has its own.
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
 * Looks a level up by its name: those of `timeline_priority_parse`, `"all"` and `"none"`.
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
 * Sets the level of a timeline, for every thread and process that writes to it, at once: events of this
 * priority and of more important ones are logged (error < warning < info < trace < app < packet <
 * library), the others cost only the check. A new timeline has the level `TIMELINE_ALL`.
 *
 * `level`: `TIMELINE_NONE` to `TIMELINE_ALL`.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT` for a NULL timeline or a number that is no level, or
 * `TIMELINE_E_IO` when it cannot be locked. Any thread, also while others log.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet.
 */
timeline_status_t timeline_priority(struct timeline_t *tl, int32_t level);

/**
 * The level of a timeline now, `TIMELINE_NONE` to `TIMELINE_ALL`; of NULL, `TIMELINE_NONE`. What is being
 * sampled just now does not show in it. Any thread.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet.
 */
int32_t timeline_level(const struct timeline_t *tl);

/**
 * Makes a timeline and opens it for writing. When the name is left over from processes that all died,
 * their timeline is kept as `NAME.prev` and this one starts afresh.
 *
 * `path`: one leading slash and no other (`"/timeline"`) names a POSIX shared memory object; anything
 * else is the path of a file. `entries`: how many events the ring holds, a power of two of at least 256;
 * 0 means 1,048,576. `string_table_size`: bytes for the texts of the definitions; 0 means 1,048,576.
 * `out`: receives the timeline, to be freed with `timeline_free`; untouched when the call fails.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_IN_USE`, `TIMELINE_E_NO_SPACE`, `TIMELINE_E_NOT_A_TIMELINE`
 * (something else has that name; it is left alone), `TIMELINE_E_FULL` (this process has 64 open),
 * `TIMELINE_E_ARGUMENT` or `TIMELINE_E_IO`. Touches every page: takes a moment. Any thread.
 *
 * # Safety
 * `path` is NULL or a NUL-terminated string; `out` is NULL or writable.
 */
timeline_status_t timeline_new(const char *path,
                               uint64_t entries,
                               uint64_t string_table_size,
                               struct timeline_t **out);

/**
 * Opens a timeline that exists for writing, beside the threads and processes that already do.
 *
 * `path` and `out`: as for `timeline_new`.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_NOT_FOUND`, `TIMELINE_E_NOT_A_TIMELINE`, `TIMELINE_E_VERSION`,
 * `TIMELINE_E_CORRUPT`, `TIMELINE_E_FULL` (no room for one more writing process, or this one has 64
 * open), `TIMELINE_E_ARGUMENT` (also for a saved timeline, which cannot be written to) or
 * `TIMELINE_E_IO`. Any thread.
 *
 * # Safety
 * `path` is NULL or a NUL-terminated string; `out` is NULL or writable.
 */
timeline_status_t timeline_open(const char *path, struct timeline_t **out);

/**
 * Lets go of a timeline. What was logged stays where it is, for readers and for who joins later, until
 * `timeline_unlink`.
 *
 * `tl`: from `timeline_new` or `timeline_open`, or NULL, which does nothing. No thread may use it any
 * more, during this call or after: freeing twice, or logging to what was freed, is undefined behaviour.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet.
 */
void timeline_free(struct timeline_t *tl);

/**
 * Removes the name of a timeline, live or not. Processes that have it open keep it until they let go;
 * nobody else finds it any more.
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
 * Defines an event. The same definition from any thread or process gives the same event. Takes locks:
 * define first, log later.
 *
 * `category`: what the event belongs to, one word. `priority`: `TIMELINE_ERROR` to `TIMELINE_LIBRARY`.
 * `message`: UTF-8, one line or many; the words of the first line that begin with `$` (letters, digits,
 * `_`) are the arguments, at most four: `"processed $tcp, $udp, and $other"`. `event`: receives the number
 * to log with; 0, which is never logged, when the call fails.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT` (a text that is not UTF-8, no such priority, a fifth
 * argument), `TIMELINE_E_FULL` or `TIMELINE_E_IO`. Any thread.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `category` and
 * `message` are NULL or NUL-terminated strings; `event` is NULL or writable.
 */
timeline_status_t timeline_define(struct timeline_t *tl,
                                  const char *category,
                                  int32_t priority,
                                  const char *message,
                                  uint32_t *event);

/**
 * Counts the arguments of a message, without defining anything.
 *
 * `message`: as for `timeline_define`. `count`: receives 0 to 4; untouched when the call fails.
 *
 * Returns `TIMELINE_OK`, or `TIMELINE_E_ARGUMENT` for a message that could not be defined. Any thread.
 *
 * # Safety
 * `message` is NULL or a NUL-terminated string; `count` is NULL or writable.
 */
timeline_status_t timeline_argument_count(const char *message, uint32_t *count);

/**
 * Logs an event, if it is enabled. No lock, no allocation and no waiting once the calling thread has logged
 * its first event; safe in a signal handler. Check `timeline_enabled` first where the arguments cost
 * something to work out.
 *
 * `tl`: NULL logs nothing. `event`: from `timeline_define`; 0 logs nothing, and one beyond those
 * that can be defined is dropped and counted. `a0` to `a3`: the arguments of the message in order; those it does not have are
 * not shown (give 0).
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
 * `timeline_sampler_free`, which lets the level before hold again.
 *
 * `level`: what to raise it to, `TIMELINE_ERROR` to `TIMELINE_ALL`. `for_ns`: how long each time, in
 * nanoseconds (100,000 for 100 microseconds). `every_ns`: from the begin of one time to that of the next,
 * in nanoseconds (10,000,000 for 10 milliseconds); longer than `for_ns`. `out`: receives the sampler;
 * untouched when the call fails.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT`, `TIMELINE_E_BUSY` (it is being sampled already) or
 * `TIMELINE_E_IO`. Any thread.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `out` is NULL or
 * writable.
 */
timeline_status_t timeline_sample(struct timeline_t *tl,
                                  int32_t level,
                                  uint64_t for_ns,
                                  uint64_t every_ns,
                                  struct timeline_sampler_t **out);

/**
 * Stops sampling and waits for its thread to end. The timeline may have been freed before. Any thread.
 *
 * `sampler`: from `timeline_sample`, or NULL, which does nothing. Freeing it twice is undefined behaviour.
 *
 * # Safety
 * `sampler` is NULL or was returned by `timeline_sample` and not freed yet.
 */
void timeline_sampler_free(struct timeline_sampler_t *sampler);

/**
 * Saves a timeline to a file in its raw binary format: every event in it is whole, also while others log.
 * It is written under a temporary name beside it and then renamed, so that a file of that name is replaced
 * at once or not at all.
 *
 * `file`: the path of the file.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT` or `TIMELINE_E_IO` (also for lack of space; a file that
 * was there stays as it was). Any thread.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `file` is NULL or a
 * NUL-terminated string.
 */
timeline_status_t timeline_save(struct timeline_t *tl, const char *file);

/**
 * Writes the events of a timeline as text, newest to oldest, under the header row
 * `numa core -cycles category message`; `-cycles` are the cycles since the next older event.
 *
 * `path`: a live name, what a crash left, or a file that was saved. `max_entries`: how many events at most;
 * 0 means all. `fd`: an open file descriptor to write to (1 for standard output); it stays open. Flush
 * your own buffered output first.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_NOT_FOUND`, `TIMELINE_E_NOT_A_TIMELINE`, `TIMELINE_E_VERSION`,
 * `TIMELINE_E_CORRUPT`, `TIMELINE_E_ARGUMENT` or `TIMELINE_E_IO`. Any thread.
 *
 * # Safety
 * `path` is NULL or a NUL-terminated string.
 */
timeline_status_t timeline_dump(const char *path, uint64_t max_entries, int fd);

/**
 * Attaches to a timeline for reading.
 *
 * `path`: a live name, what a crash left, or a file that was saved. `out`: receives the handle, to be freed
 * with `timeline_attached_free`; untouched when the call fails.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_NOT_FOUND`, `TIMELINE_E_NOT_A_TIMELINE`, `TIMELINE_E_VERSION`,
 * `TIMELINE_E_CORRUPT`, `TIMELINE_E_ARGUMENT` or `TIMELINE_E_IO`. Any thread.
 *
 * # Safety
 * `path` is NULL or a NUL-terminated string; `out` is NULL or writable.
 */
timeline_status_t timeline_attach(const char *path, struct timeline_attached_t **out);

/**
 * Lets go of an attached timeline. Its cursors go on working until they are freed themselves.
 *
 * `attached`: from `timeline_attach`, or NULL, which does nothing. Freeing it twice is undefined behaviour.
 *
 * # Safety
 * `attached` is NULL or was returned by `timeline_attach` and not freed yet.
 */
void timeline_attached_free(struct timeline_attached_t *attached);

/**
 * Begins a walk over the events that a timeline holds now, in the order of time.
 *
 * `order`: `TIMELINE_OLDEST_FIRST` or `TIMELINE_NEWEST_FIRST`. `out`: receives the cursor, to be freed with
 * `timeline_cursor_free`; untouched when the call fails.
 *
 * Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT`. Any thread.
 *
 * # Safety
 * `attached` is NULL or was returned by `timeline_attach` and not freed yet; `out` is NULL or writable.
 */
timeline_status_t timeline_events(struct timeline_attached_t *attached,
                                  int32_t order,
                                  struct timeline_cursor_t **out);

/**
 * Begins to follow a timeline: `timeline_next` gives its events as they come, and `TIMELINE_END` when there
 * is none just now. Never waits: wait yourself and ask again.
 *
 * `from`: `TIMELINE_FROM_OLDEST` or `TIMELINE_FROM_NOW`. `out`: receives the cursor, to be freed with
 * `timeline_cursor_free`; untouched when the call fails.
 *
 * Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT`. Any thread.
 *
 * # Safety
 * `attached` is NULL or was returned by `timeline_attach` and not freed yet; `out` is NULL or writable.
 */
timeline_status_t timeline_follow(struct timeline_attached_t *attached,
                                  int32_t from,
                                  struct timeline_cursor_t **out);

/**
 * Gives the next event of a walk.
 *
 * `event`: receives it; untouched unless the call returns `TIMELINE_OK`.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_END` when there is none (after `timeline_follow`: none just now), or
 * `TIMELINE_E_ARGUMENT`. One thread at a time for each cursor.
 *
 * # Safety
 * `cursor` is NULL or was returned by `timeline_events` or `timeline_follow` and not freed yet, and no other
 * thread uses it during the call; `event` is NULL or writable.
 */
timeline_status_t timeline_next(struct timeline_cursor_t *cursor, struct timeline_event_t *event);

/**
 * How many events a walk could not give because they were overwritten before it came to them. Exact, and
 * final once `timeline_next` has returned `TIMELINE_END`. 0 for NULL. One thread at a time for each cursor.
 *
 * # Safety
 * `cursor` is NULL or was returned by `timeline_events` or `timeline_follow` and not freed yet, and no other
 * thread uses it during the call.
 */
uint64_t timeline_missed(const struct timeline_cursor_t *cursor);

/**
 * Ends a walk.
 *
 * `cursor`: from `timeline_events` or `timeline_follow`, or NULL, which does nothing. Freeing it twice is
 * undefined behaviour.
 *
 * # Safety
 * `cursor` is NULL or was returned by `timeline_events` or `timeline_follow` and not freed yet.
 */
void timeline_cursor_free(struct timeline_cursor_t *cursor);

/**
 * Writes an event out as people read it, `processed tcp(10), udp(20), and other(3)`: the first line of its
 * message with the arguments filled in.
 *
 * `event`: from `timeline_next`, its texts still valid. `buffer` and `size`: where to, and how many bytes
 * there are; what does not fit is cut between characters, and a NUL always ends it (unless `size` is 0, when
 * `buffer` may be NULL). `needed`: receives the length of the whole text without the NUL, so it was cut when
 * that is `size` or more; may be NULL.
 *
 * Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT`. Any thread.
 *
 * # Safety
 * `event` is NULL or came from `timeline_next`; `buffer` has `size` writable bytes; `needed` is NULL or
 * writable.
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
#ifdef __cplusplus
extern "C" {
#endif

/**
 * Whether `timeline_log` would log the event now: a comparison and the load of one byte, without a call.
 * False for NULL, event 0 and events out of range. Any thread. Define TIMELINE_NO_INLINE before the first
 * inclusion to leave it out.
 */
#if defined(__GNUC__)
__attribute__((unused)) /* Clang warns when the header itself is what it compiles. */
#endif
static inline bool timeline_enabled(const timeline_t *tl, uint32_t event) {
  if (!tl || event >= tl->events) return false;
  /* volatile: other threads and processes change the byte, so every call has to look again. */
  const volatile uint8_t *const enabled = tl->enabled + event;
  return *enabled != 0;
}

#ifdef __cplusplus
}
#endif
#endif
