/* timeline-analysis: a program analyses logs. The C interface of libtimeline-analysis.
 *
 * Generated from ffi/analysis/src by cbindgen: change the documentation there, not here.
 *
 *   typedef struct { timeline_analysis_field_t bytes; uint64_t sum; } traffic_t;
 *
 *   static timeline_status_t begin(timeline_subscriptions_t *wanted, void *user) {
 *     traffic_t *traffic = user;
 *     timeline_status_t status = timeline_analysis_events(wanted, "net", "net.sent*", NULL);
 *     return status != TIMELINE_OK ? status : timeline_analysis_field(wanted, "bytes", &traffic->bytes);
 *   }
 *
 *   static timeline_status_t event(const timeline_analysis_event_t *event, void *user) {
 *     traffic_t *traffic = user;
 *     uint64_t bytes;
 *     timeline_status_t status = timeline_analysis_u64(event, traffic->bytes, &bytes);
 *     if (status == TIMELINE_OK) traffic->sum += bytes;
 *     return status == TIMELINE_END ? TIMELINE_OK : status;   // TIMELINE_END: the event has none
 *   }
 *
 *   traffic_t traffic = {0};
 *   timeline_analyzer_t analyzer = {&traffic, begin, event, NULL, NULL, NULL};
 *   const char *paths[] = {"/timeline"};
 *   timeline_analysis_t *analysis = NULL;
 *   if (timeline_analysis_open(paths, 1, TIMELINE_ANALYSIS_HELD, &analysis) != TIMELINE_OK ||
 *       timeline_analysis_add(analysis, &analyzer) != TIMELINE_OK ||
 *       timeline_analysis_run(analysis, NULL) != TIMELINE_OK)
 *     fprintf(stderr, "%s\n", timeline_analysis_last_error());
 *   timeline_analysis_free(analysis);
 *
 * Analysers subscribe to events by patterns, ask for handles of their fields, and receive the events
 * in the order of time, over all threads. A program that would rather ask for the next event than be
 * called uses timeline_analysis_next.
 *
 * Unknown is an answer: what asks for something returns TIMELINE_END if it is not known, or not
 * there, and leaves the place for the result as it was.
 *
 * Errors: as in timeline.h, but `timeline_analysis_last_error` has the message.
 *
 * Threads: one thread at a time uses an analysis; only timeline_analysis_cancel may be called at any
 * time by any thread. Callbacks are called by the thread that runs the analysis, which cannot be
 * cancelled (pthread_cancel) meanwhile. They must not leave by longjmp or by a C++ exception.
 *
 * Texts that are given end with a NUL, which their size does not count, and are UTF-8. A text that
 * was logged may have a NUL in it.
 *
 * Link with -ltimeline-analysis -ltimeline. It works with the shared and with the static library, of
 * which it knows nothing.
 */

#ifndef TIMELINE_ANALYSIS_H
#define TIMELINE_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "timeline.h"

/**
 * For `timeline_analysis_number`: when it was logged, in nanoseconds since 1970.
 */
#define TIMELINE_ANALYSIS_TIME 1

/**
 * A number: the ticks of its clock.
 */
#define TIMELINE_ANALYSIS_TICKS 2

/**
 * A number: `TIMELINE_ERROR` to `TIMELINE_LIBRARY`.
 */
#define TIMELINE_ANALYSIS_PRIORITY 3

/**
 * A number: the processor that logged it.
 */
#define TIMELINE_ANALYSIS_CORE 4

/**
 * A number: the NUMA node of that processor.
 */
#define TIMELINE_ANALYSIS_NODE 5

/**
 * A number: the kernel's id of the thread that logged it.
 */
#define TIMELINE_ANALYSIS_TID 6

/**
 * A number: the process of that thread. It is looked for in the log.
 */
#define TIMELINE_ANALYSIS_PID 7

/**
 * A number: that of its log, in the order of the paths, from 0 on.
 */
#define TIMELINE_ANALYSIS_LOG 8

/**
 * A number: that of the first subscription of the analyser that wants it.
 */
#define TIMELINE_ANALYSIS_SUBSCRIPTION 9

/**
 * A number: 1 for an important event, see `timeline_define_with`; else 0.
 */
#define TIMELINE_ANALYSIS_IMPORTANT 10

/**
 * For `timeline_analysis_text`: the category.
 */
#define TIMELINE_ANALYSIS_CATEGORY 101

/**
 * A text: the name of the event, such as `net.got_packet`.
 */
#define TIMELINE_ANALYSIS_NAME 102

/**
 * A text: the message with the values in their places, as `timeline dump` shows it. Takes longer
 * than all else. If the definition cannot be read, it is all values of the event.
 */
#define TIMELINE_ANALYSIS_MESSAGE 103

/**
 * A text: the name of the thread that logged it. Like the next two, it is looked for in the log.
 */
#define TIMELINE_ANALYSIS_THREAD 104

/**
 * A text: the group of that thread, if its program gave it one.
 */
#define TIMELINE_ANALYSIS_GROUP 105

/**
 * A text: the name of the process of that thread.
 */
#define TIMELINE_ANALYSIS_PROCESS 106

/**
 * A text: the name of the machine. Of a snapshot it is not known.
 */
#define TIMELINE_ANALYSIS_HOST 107

/**
 * A text: the path of its log.
 */
#define TIMELINE_ANALYSIS_PATH 108

/**
 * A text: which of the machine's clocks the ticks are of.
 */
#define TIMELINE_ANALYSIS_CLOCK 109

/**
 * A text: the kernel's boot id. It is another one on each machine, and after each start of it.
 * Ticks of one clock and one boot id can be compared.
 */
#define TIMELINE_ANALYSIS_BOOT 110

/**
 * Something may come at once.
 */
#define TIMELINE_ANALYSIS_MORE 0

/**
 * Nothing was new, and something may come: wait before asking again.
 */
#define TIMELINE_ANALYSIS_IDLE 1

/**
 * The end: no more events come.
 */
#define TIMELINE_ANALYSIS_WHOLE 2

/**
 * The end: the analysis was cancelled.
 */
#define TIMELINE_ANALYSIS_CANCELLED 3

/**
 * The end: all analysers have enough.
 */
#define TIMELINE_ANALYSIS_ENOUGH 4

/**
 * A loss: so many entries were overwritten before they were read.
 */
#define TIMELINE_LACK_UNREAD 1

/**
 * A loss: so many entries were overwritten before a recorder read them.
 */
#define TIMELINE_LACK_UNRECORDED 2

/**
 * A loss of which nobody knows how much it is: no recorder ran between two runs of a program.
 */
#define TIMELINE_LACK_UNKNOWN 3

/**
 * A loss: so many bytes of an archive belong to no whole frame.
 */
#define TIMELINE_LACK_DAMAGED 4

/**
 * A loss: so many files of an archive were removed before they were read.
 */
#define TIMELINE_LACK_REMOVED 5

/**
 * A loss: so many entries that were recorded are gone, with a frame or a file.
 */
#define TIMELINE_LACK_GONE 6

/**
 * A loss: so many events of an archive cannot be read from their blocks.
 */
#define TIMELINE_LACK_UNREADABLE 7

/**
 * For `timeline_analysis_open`: what the logs hold by now.
 */
#define TIMELINE_ANALYSIS_HELD 0

/**
 * What comes to the logs: of timelines from the oldest event in the ring on, of archives that are
 * recorded what comes behind what they held when they were opened.
 */
#define TIMELINE_ANALYSIS_FROM_OLDEST 1

/**
 * What comes to the logs: of timelines from the first call on that runs the analysis, steps, or
 * asks for an event, of archives as above.
 */
#define TIMELINE_ANALYSIS_FROM_NOW 2

/**
 * What `timeline_analysis_next` gives: an event that is wanted.
 */
#define TIMELINE_ANALYSIS_EVENT 5

/**
 * What it gives: a place where events are missing.
 */
#define TIMELINE_ANALYSIS_GAP 6

/**
 * What it gives: how much of a log is missing.
 */
#define TIMELINE_ANALYSIS_LOSS 7

/**
 * An event that an analysis gives: valid until the callback returns, or until the next call of
 * `timeline_analysis_next`.
 */
typedef struct timeline_analysis_event_t timeline_analysis_event_t;

/**
 * An analysis of logs, from `timeline_analysis_open` until `timeline_analysis_free`.
 */
typedef struct timeline_analysis_t timeline_analysis_t;

/**
 * What an analyser wants: a callback `begin` is given it, or `timeline_analysis_subscriptions`
 * gives it.
 */
typedef struct timeline_subscriptions_t timeline_subscriptions_t;

/**
 * A handle of a field, from `timeline_analysis_field`. It belongs to the analyser that asked for
 * it. 0, as in `{0}`, is of no field: events have none such.
 */
typedef uint32_t timeline_analysis_field_t;

/**
 * A place where events are missing: overwritten, missed, damaged, or removed.
 */
typedef struct timeline_analysis_gap_t {
  /**
   * The number of the log, in the order of the paths.
   */
  size_t log;
  /**
   * How many entries are missing right before the next event of its lane, if `knows_entries`. An
   * event takes one entry, or several with a payload.
   */
  uint64_t entries;
  /**
   * When the next event was logged, in nanoseconds since 1970, if `knows_before`.
   */
  uint64_t before;
  /**
   * Whether it is known how many entries are missing.
   */
  bool knows_entries;
  /**
   * Whether it is known when the next event was logged.
   */
  bool knows_before;
} timeline_analysis_gap_t;

/**
 * How much of a log is missing.
 */
typedef struct timeline_analysis_loss_t {
  /**
   * The number of the log, in the order of the paths.
   */
  size_t log;
  /**
   * What is missing: `TIMELINE_LACK_UNREAD` to `TIMELINE_LACK_UNREADABLE`.
   */
  uint32_t what;
  /**
   * Whether it is known how much: not of `TIMELINE_LACK_UNKNOWN`.
   */
  bool knows_amount;
  /**
   * How much, if that is known.
   */
  uint64_t amount;
  /**
   * The same in words. Valid until the callback returns, or until the next call of
   * `timeline_analysis_next`.
   */
  const char *text;
} timeline_analysis_loss_t;

/**
 * An analyser: callbacks, which are all given `user`. `begin` and `event` must not be NULL.
 *
 * A callback returns `TIMELINE_OK`, or what a call returned that failed: `timeline_analysis_fail`,
 * or a read of a field that has another type. Then the analysis ends for all of its analysers, and
 * fails with that status and message.
 */
typedef struct timeline_analyzer_t {
  /**
   * What the callbacks are given.
   */
  void *user;
  /**
   * Says which events are wanted, and asks for handles of their fields. Called once, before all
   * others. `subscriptions` is valid until it returns.
   */
  timeline_status_t (*begin)(struct timeline_subscriptions_t *subscriptions, void *user);
  /**
   * Takes the next event that is wanted. The important ones come first, the others in the order
   * of time. `event`, and all that its getters give, is valid until it returns. If it returns
   * `TIMELINE_END`, the analyser wants no more; the analysis ends when none wants more.
   */
  timeline_status_t (*event)(const struct timeline_analysis_event_t *event, void *user);
  /**
   * Between the event before and the next one, others may be missing, of any thread: what began
   * before may have ended unseen. Called for all gaps, whatever is wanted; may be NULL.
   */
  timeline_status_t (*gap)(const struct timeline_analysis_gap_t *gap, void *user);
  /**
   * So much of a log is missing. Of a log that is followed, this comes before the events that
   * were read together with the loss; otherwise behind the last event. May be NULL.
   */
  timeline_status_t (*loss)(const struct timeline_analysis_loss_t *loss, void *user);
  /**
   * All that came was given: `end` is `TIMELINE_ANALYSIS_WHOLE`, `TIMELINE_ANALYSIS_CANCELLED`
   * or `TIMELINE_ANALYSIS_ENOUGH`. Not called if the analysis failed; may be NULL.
   */
  timeline_status_t (*end)(uint32_t end, void *user);
} timeline_analyzer_t;

/**
 * What `timeline_analysis_next` gives.
 */
typedef struct timeline_analysis_item_t {
  /**
   * `TIMELINE_ANALYSIS_EVENT`, `TIMELINE_ANALYSIS_GAP`, `TIMELINE_ANALYSIS_LOSS`,
   * `TIMELINE_ANALYSIS_IDLE`, or an end: `TIMELINE_ANALYSIS_WHOLE` or
   * `TIMELINE_ANALYSIS_CANCELLED`.
   */
  uint32_t kind;
  /**
   * Of an event: valid until the next call of `timeline_analysis_next`. Else NULL.
   */
  const struct timeline_analysis_event_t *event;
  /**
   * Of a gap.
   */
  struct timeline_analysis_gap_t gap;
  /**
   * Of a loss.
   */
  struct timeline_analysis_loss_t loss;
} timeline_analysis_item_t;

/**
 * An analyser of the program cannot go on, for a reason of its own: see
 * `timeline_analysis_fail`.
 */
#define TIMELINE_E_ANALYZER 14

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Says why an analyser cannot go on. A callback that returns what this returns ends the analysis,
 * which fails with this status and this text.
 *
 * `reason`: a sentence; what is not UTF-8 in it becomes U+FFFD.
 *
 * Returns `TIMELINE_E_ANALYZER`, or `TIMELINE_E_ARGUMENT` for NULL. Any thread.
 *
 * # Safety
 * `reason` is NULL or a NUL-terminated string.
 */
timeline_status_t timeline_analysis_fail(const char *reason);

/**
 * Subscribes to events. Each event comes once, even if several subscriptions want it.
 *
 * `category`: a pattern of categories, and `name`: one of the names of events, which begin with
 * the category: `"net"` and `"net.got_*"`, or `"*"` and `"*.oom"`. In a pattern, `*` is any text
 * and `?` any one character. If both are NULL, all events are wanted, also those of which nobody
 * knows what they mean. `number`: receives the number of the subscription, of those of its
 * analyser; the first one has 0. May be NULL.
 *
 * Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT`.
 *
 * # Safety
 * `subscriptions` is NULL, or was given to a callback `begin` that has not returned, or by
 * `timeline_analysis_subscriptions`; `category` and `name` are NULL or NUL-terminated strings;
 * `number` is NULL or writable.
 */
timeline_status_t timeline_analysis_events(struct timeline_subscriptions_t *subscriptions,
                                           const char *category,
                                           const char *name,
                                           uint32_t *number);

/**
 * Asks for the handle of a field. Events of all subscriptions of the analyser are asked by it:
 * where a field is, is looked for once for each definition of events.
 *
 * `name`: the field's name, or its place from `"0"` on where a message names none, as that of a
 * printf. `field`: receives the handle; untouched when the call fails.
 *
 * Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT`.
 *
 * # Safety
 * `subscriptions` is NULL, or was given to a callback `begin` that has not returned, or by
 * `timeline_analysis_subscriptions`; `name` is NULL or a NUL-terminated string; `field` is NULL or
 * writable.
 */
timeline_status_t timeline_analysis_field(struct timeline_subscriptions_t *subscriptions,
                                          const char *name,
                                          timeline_analysis_field_t *field);

/**
 * Says a number that is known of an event.
 *
 * `what`: `TIMELINE_ANALYSIS_TIME` to `TIMELINE_ANALYSIS_IMPORTANT`. `number`: receives it;
 * untouched unless the call returns `TIMELINE_OK`.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_END` if it is not known, or `TIMELINE_E_ARGUMENT`.
 *
 * # Safety
 * `event` is NULL, or was given by this library and is still valid; `number` is NULL or writable.
 */
timeline_status_t timeline_analysis_number(const struct timeline_analysis_event_t *event,
                                           uint32_t what,
                                           uint64_t *number);

/**
 * Says a text that is known of an event.
 *
 * `what`: `TIMELINE_ANALYSIS_CATEGORY` to `TIMELINE_ANALYSIS_BOOT`. `text`: receives it; valid as
 * long as the event, and untouched unless the call returns `TIMELINE_OK`. `size`: receives how
 * many bytes it has, without the NUL; may be NULL.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_END` if it is not known, or `TIMELINE_E_ARGUMENT`.
 *
 * # Safety
 * `event` is NULL, or was given by this library and is still valid; `text` is NULL or writable,
 * and so is `size`.
 */
timeline_status_t timeline_analysis_text(const struct timeline_analysis_event_t *event,
                                         uint32_t what,
                                         const char **text,
                                         size_t *size);

/**
 * Reads a field as a signed number: one of a whole number all of whose values fit, such as `i64`,
 * `i8`, `u32`, `ns`, an enum or flags; also one for which the message gives no type.
 *
 * `field`: a handle of the same analyser. `value`: receives the number; untouched unless the call
 * returns `TIMELINE_OK`.
 *
 * Returns `TIMELINE_OK`; `TIMELINE_END` if events of this definition have no such field, or this
 * event has no value in it; `TIMELINE_E_ARGUMENT` if the field has another type: the message names
 * both.
 *
 * # Safety
 * `event` is NULL, or was given by this library and is still valid; `value` is NULL or writable.
 */
timeline_status_t timeline_analysis_i64(const struct timeline_analysis_event_t *event,
                                        timeline_analysis_field_t field,
                                        int64_t *value);

/**
 * Reads a field as an unsigned number: one of a whole number without a sign, such as `u64`, `u8`,
 * `hex`, `ptr`, `bytes` or `char`. Otherwise like `timeline_analysis_i64`.
 *
 * # Safety
 * `event` is NULL, or was given by this library and is still valid; `value` is NULL or writable.
 */
timeline_status_t timeline_analysis_u64(const struct timeline_analysis_event_t *event,
                                        timeline_analysis_field_t field,
                                        uint64_t *value);

/**
 * Reads a field as a number with a fraction: an `f64` or an `f32`. Otherwise like
 * `timeline_analysis_i64`.
 *
 * # Safety
 * `event` is NULL, or was given by this library and is still valid; `value` is NULL or writable.
 */
timeline_status_t timeline_analysis_f64(const struct timeline_analysis_event_t *event,
                                        timeline_analysis_field_t field,
                                        double *value);

/**
 * Reads a field as a truth value: a `bool`. Otherwise like `timeline_analysis_i64`.
 *
 * # Safety
 * `event` is NULL, or was given by this library and is still valid; `value` is NULL or writable.
 */
timeline_status_t timeline_analysis_bool(const struct timeline_analysis_event_t *event,
                                         timeline_analysis_field_t field,
                                         bool *value);

/**
 * Reads a field as a text: a `str`, `wstr` or `istr`. What is not UTF-8 in it is U+FFFD;
 * `timeline_analysis_value` has the bytes as they are.
 *
 * `value`: receives the text; valid as long as the event. `size`: receives how many bytes it has,
 * without the NUL; may be NULL. Both are untouched unless the call returns `TIMELINE_OK`.
 *
 * Returns what `timeline_analysis_i64` returns. A text whose pointer was NULL is none.
 *
 * # Safety
 * `event` is NULL, or was given by this library and is still valid; `value` is NULL or writable,
 * and so is `size`.
 */
timeline_status_t timeline_analysis_str(const struct timeline_analysis_event_t *event,
                                        timeline_analysis_field_t field,
                                        const char **value,
                                        size_t *size);

/**
 * Reads a field whose numbers have names: an enum or flags.
 *
 * `value`: receives the number. `name`: receives its name, of flags the names of all bits that are
 * set, with `|` between; NULL if it has none. Valid as long as the event; may be NULL. Both are
 * untouched unless the call returns `TIMELINE_OK`.
 *
 * Returns what `timeline_analysis_i64` returns.
 *
 * # Safety
 * `event` is NULL, or was given by this library and is still valid; `value` is NULL or writable,
 * and so is `name`.
 */
timeline_status_t timeline_analysis_label(const struct timeline_analysis_event_t *event,
                                          timeline_analysis_field_t field,
                                          int64_t *value,
                                          const char **name);

/**
 * Reads a field of any type, as it was logged: a text as its bytes, and whether it was cut.
 *
 * `value`: receives it, with its type; `data` in it is valid as long as the event. Untouched
 * unless the call returns `TIMELINE_OK`.
 *
 * Returns `TIMELINE_OK`; `TIMELINE_END` if events of this definition have no such field, or this
 * event has no value in it; or `TIMELINE_E_ARGUMENT`.
 *
 * # Safety
 * `event` is NULL, or was given by this library and is still valid; `value` is NULL or writable.
 */
timeline_status_t timeline_analysis_value(const struct timeline_analysis_event_t *event,
                                          timeline_analysis_field_t field,
                                          timeline_event_value_t *value);

/**
 * Reads a field as an array of numbers of this type, and of no other.
 *
 * `type`: `TIMELINE_U8`, say, for a field of `u8[]`. `value`: receives it: `data` has `count`
 * elements of that type, in any alignment (copy them with `memcpy`), and is valid as long as the
 * event; `cut` says whether the program had no room for all of them. Untouched unless the call
 * returns `TIMELINE_OK`.
 *
 * Returns what `timeline_analysis_i64` returns.
 *
 * # Safety
 * `event` is NULL, or was given by this library and is still valid; `value` is NULL or writable.
 */
timeline_status_t timeline_analysis_array(const struct timeline_analysis_event_t *event,
                                          timeline_analysis_field_t field,
                                          uint32_t type,
                                          timeline_event_value_t *value);

/**
 * Opens logs to analyse them together: timelines, snapshots, archives, directories of archives.
 *
 * `paths` and `count`: the names of timelines or paths of files, at least one. `extent`: how far
 * they are read: `TIMELINE_ANALYSIS_HELD`, `TIMELINE_ANALYSIS_FROM_OLDEST` or
 * `TIMELINE_ANALYSIS_FROM_NOW`. Of logs that are followed, the events that a look finds come in
 * the order of time; one may be a little older than the last one of the look before, but comes
 * before none that happened before it. A timeline never ends by itself, an archive ends when its
 * recorder does. `out`: receives the analysis; untouched when the call fails.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_NOT_FOUND`, `TIMELINE_E_NOT_A_TIMELINE` (it is something
 * else), `TIMELINE_E_VERSION`, `TIMELINE_E_CORRUPT`, `TIMELINE_E_ARGUMENT` or `TIMELINE_E_IO`. Any
 * thread.
 *
 * # Safety
 * `paths` is NULL or has `count` pointers that are NULL or NUL-terminated strings; `out` is NULL
 * or writable.
 */
timeline_status_t timeline_analysis_open(const char *const *paths,
                                         size_t count,
                                         uint32_t extent,
                                         struct timeline_analysis_t **out);

/**
 * Opens an archive whose bytes come: through a pipe, over a connection to which `timeline record
 * --to` sends, or of a file. At most a frame waits for its rest.
 *
 * `descriptor`: what they are read from until they end. The program may close it once this has
 * returned. `out`: receives the analysis; untouched when the call fails.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT` or `TIMELINE_E_IO`. Any thread.
 *
 * # Safety
 * `out` is NULL or writable.
 */
timeline_status_t timeline_analysis_open_descriptor(int descriptor, struct timeline_analysis_t **out);

/**
 * Adds an analyser. Several take part in one pass: each is given the events that it wants.
 *
 * `analyzer`: its callbacks, which are copied. They are called by `timeline_analysis_run` and
 * `timeline_analysis_step`, on the thread that calls these, and not for this analysis again.
 *
 * Returns `TIMELINE_OK`, or `TIMELINE_E_ARGUMENT`, also if the analysis has begun;
 * `TIMELINE_E_BUSY` in a callback.
 *
 * # Safety
 * `analysis` is NULL or was opened and not freed yet; `analyzer` is NULL or readable; its
 * functions can be called until the analysis is freed.
 */
timeline_status_t timeline_analysis_add(struct timeline_analysis_t *analysis,
                                        const struct timeline_analyzer_t *analyzer);

/**
 * Runs to the end: until no more events come, it is cancelled, or no analyser wants more. Waits
 * for what comes to logs that are followed.
 *
 * `end`: receives `TIMELINE_ANALYSIS_WHOLE`, `TIMELINE_ANALYSIS_CANCELLED` or
 * `TIMELINE_ANALYSIS_ENOUGH`; may be NULL. Untouched when the call fails.
 *
 * Returns `TIMELINE_OK`; what a callback returned that failed; `TIMELINE_E_CORRUPT` or
 * `TIMELINE_E_IO` if a log cannot be read; `TIMELINE_E_ARGUMENT`, also if it has failed before;
 * `TIMELINE_E_BUSY` in a callback. One thread at a time.
 *
 * # Safety
 * `analysis` is NULL or was opened and not freed yet; `end` is NULL or writable.
 */
timeline_status_t timeline_analysis_run(struct timeline_analysis_t *analysis, uint32_t *end);

/**
 * Gives analysers what is there, for a limited time. It makes at least one step, of some thousand
 * events or of what is new in logs that are followed, and begins none behind the given time. It
 * waits for nothing, except that it waits ten milliseconds for a descriptor.
 *
 * `most_ns`: how long it may take, in nanoseconds. `outcome`: receives `TIMELINE_ANALYSIS_MORE`,
 * `TIMELINE_ANALYSIS_IDLE` (wait before the next step), or an end: `TIMELINE_ANALYSIS_WHOLE`,
 * `TIMELINE_ANALYSIS_CANCELLED` or `TIMELINE_ANALYSIS_ENOUGH`, also of each later step. Untouched
 * when the call fails.
 *
 * Returns what `timeline_analysis_run` returns. One thread at a time.
 *
 * # Safety
 * `analysis` is NULL or was opened and not freed yet; `outcome` is NULL or writable.
 */
timeline_status_t timeline_analysis_step(struct timeline_analysis_t *analysis,
                                         uint64_t most_ns,
                                         uint32_t *outcome);

/**
 * Has the program ask for events by `timeline_analysis_next`, in place of analysers that are
 * called. What it wants is said to the result.
 *
 * `out`: receives what takes subscriptions and gives handles of fields; valid until the analysis
 * is freed. Untouched when the call fails.
 *
 * Returns `TIMELINE_OK`; `TIMELINE_E_ARGUMENT`, also if there are analysers, or the first event
 * was asked for; `TIMELINE_E_BUSY`. One thread at a time.
 *
 * # Safety
 * `analysis` is NULL or was opened and not freed yet; `out` is NULL or writable.
 */
timeline_status_t timeline_analysis_subscriptions(struct timeline_analysis_t *analysis,
                                                  struct timeline_subscriptions_t **out);

/**
 * Gives what comes next: an event that is wanted, a place where others are missing, a loss, that
 * nothing is new, or the end.
 *
 * `most_ns`: how long it may wait for something new, in nanoseconds; with 0 it waits for nothing,
 * except ten milliseconds for a descriptor. `item`: receives it; untouched when the call fails.
 * What the item before led to is no longer valid.
 *
 * Returns `TIMELINE_OK`; `TIMELINE_E_CORRUPT` or `TIMELINE_E_IO` if a log cannot be read;
 * `TIMELINE_E_ARGUMENT`, also without `timeline_analysis_subscriptions`, or if it has failed
 * before; `TIMELINE_E_BUSY`. One thread at a time.
 *
 * # Safety
 * `analysis` is NULL or was opened and not freed yet; `item` is NULL or writable.
 */
timeline_status_t timeline_analysis_next(struct timeline_analysis_t *analysis,
                                         uint64_t most_ns,
                                         struct timeline_analysis_item_t *item);

/**
 * Has an analysis end soon: what runs or is asked for next says `TIMELINE_ANALYSIS_CANCELLED`.
 *
 * `analysis`: NULL does nothing. Any thread, also in a callback or in the handler of a signal.
 *
 * # Safety
 * `analysis` is NULL or was opened and not freed yet.
 */
void timeline_analysis_cancel(struct timeline_analysis_t *analysis);

/**
 * Frees an analysis, whether it has ended or not. Not in one of its callbacks: there, it does
 * nothing.
 *
 * `analysis`: NULL does nothing. Freeing it twice is undefined behaviour.
 *
 * # Safety
 * `analysis` is NULL or was opened and not freed yet, and no other thread uses it any more.
 */
void timeline_analysis_free(struct timeline_analysis_t *analysis);

/**
 * Returns the message of the last failed call of this thread to a function of this library: what
 * was expected, what came, what to do. `""` when none has failed yet; never NULL.
 *
 * The text is UTF-8 and stays valid until the next failing call of the same thread, or the
 * thread's end. Any thread; each has its own.
 */
const char *timeline_analysis_last_error(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TIMELINE_ANALYSIS_H */
