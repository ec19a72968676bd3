/* timeline-worker: a program records itself. The C interface of libtimeline-worker.
 *
 * Generated from ffi/worker/src by cbindgen: change the documentation there, not here.
 *
 *   timeline_worker_t *worker = NULL;
 *   timeline_worker_options_t options = {0};
 *   options.file = "flight.tla";
 *   if (timeline_worker_start(tl, &options, &worker) != TIMELINE_OK)
 *     fprintf(stderr, "%s\n", timeline_worker_last_error());
 *   ...
 *   timeline_worker_stop(worker, NULL);
 *
 * A worker reads the timeline as any recorder does, from its own mapping: threads that log do
 * nothing for it, and libtimeline does not know of it. So this library works with programs that link
 * libtimeline as a shared or a static library. It shares no code with it, and no variables: it finds
 * the timeline of a handle by the file that is mapped there, which /proc/self/maps names.
 *
 * Errors: as in timeline.h, but `timeline_worker_last_error` has the message. After a failed
 * timeline_worker_start, every function takes NULL and does nothing: a program may ignore every
 * error here, and is then not recorded.
 *
 * Fork: the worker goes on in the parent, and records what the child logs to the same timeline. In
 * the child, functions that are given the parent's worker do nothing to it and return
 * TIMELINE_E_ARGUMENT; a child that is to record by itself starts a worker of its own, to another
 * file.
 *
 * Exit: a worker that was not stopped is stopped when the program calls exit or returns from main.
 * What is logged by handlers that run later stays in the ring. After _exit or a signal that kills,
 * the file has what was written by then, and the ring the rest: the next worker or `timeline record`
 * takes it from there.
 *
 * Link with -ltimeline-worker -ltimeline.
 */

#ifndef TIMELINE_WORKER_H
#define TIMELINE_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include "timeline.h"

/**
 * A store tells when the events are in its file.
 */
#define TIMELINE_WORKER_WRITTEN 0

/**
 * A store tells when the events are on its disk.
 */
#define TIMELINE_WORKER_DURABLE 1

/**
 * A store tells nothing: any program that writes what it reads to a file is one.
 */
#define TIMELINE_WORKER_NOTHING 2

/**
 * A recording of a timeline by its own program, from `timeline_worker_start` until
 * `timeline_worker_stop`. Any thread may use it.
 */
typedef struct timeline_worker_t timeline_worker_t;

/**
 * Options of a worker; in `timeline_worker_options_t options = {0}` all have their defaults. The
 * texts are needed only until `timeline_worker_start` returns. Options for a directory are not
 * looked at for a store, and the other way round: so a program may give both, and leave to who
 * starts it where to record to.
 *
 * If neither `file` nor `store` is given, the environment is asked: `TIMELINE_FILE=PATH` or
 * `TIMELINE_TO=HOST[:PORT]`, of which only one may be set. A program that has more rights than who
 * started it does not read them.
 */
typedef struct timeline_worker_options_t {
  /**
   * A file to record to; or a directory of numbered files, if there is one or if the path ends
   * with `/`. An archive of the same timeline that is there is continued.
   */
  const char *file;
  /**
   * A store to send to, and not to a file: `HOST` or `HOST:PORT`; the port is 1980 if none is
   * given.
   */
  const char *store;
  /**
   * For a directory: begin a new file before a file becomes larger than this, in bytes; at least
   * 65,536. 0: never.
   */
  uint64_t rotate_size;
  /**
   * For a directory: begin a new file after this time, in nanoseconds. 0: never.
   */
  uint64_t rotate_every_ns;
  /**
   * For a directory: remove the oldest files when all together become larger than this, in
   * bytes; at least 65,536. 0: never.
   */
  uint64_t keep_size;
  /**
   * For a store: most bytes that wait for its answers. Beyond that, events stay in the ring. 0:
   * 64 MiB.
   */
  uint64_t buffer;
  /**
   * For a store: what it tells, so that events need not be sent again:
   * `TIMELINE_WORKER_WRITTEN`, `TIMELINE_WORKER_DURABLE` or `TIMELINE_WORKER_NOTHING`.
   */
  uint32_t acknowledge;
  /**
   * Start no thread: `timeline_worker_update` records.
   */
  bool without_thread;
  /**
   * For a store: what it keeps with the recording, as `NAME=VALUE,NAME=VALUE`; or NULL.
   */
  const char *labels;
  /**
   * For a store on another machine: the fingerprint of its certificate, as the store printed it;
   * or NULL. Then `~/.config/timeline/stores` has to name it.
   */
  const char *fingerprint;
  /**
   * For a store: a file with the token that it asks for; or NULL. Then it is the one in the
   * variable `TIMELINE_TOKEN`, if that is set.
   */
  const char *token_file;
  /**
   * How long the thread waits at least and at most before it looks into the ring again, in
   * nanoseconds; 0: 1 and 50 milliseconds. It waits longer as long as nothing is logged. What is
   * logged in the longest of these times has to fit in the ring.
   */
  uint64_t shortest_wait_ns;
  /**
   * See `shortest_wait_ns`.
   */
  uint64_t longest_wait_ns;
} timeline_worker_options_t;

/**
 * What was recorded so far, or in all.
 */
typedef struct timeline_worker_totals_t {
  /**
   * Events recorded.
   */
  uint64_t events;
  /**
   * Entries of the ring that were overwritten before the recording began. An event takes one
   * entry, or several with a payload.
   */
  uint64_t overwritten;
  /**
   * Entries that were overwritten since, before they were recorded.
   */
  uint64_t missed;
  /**
   * Places where events may be missing whose number is not known: between runs of the program.
   */
  uint64_t missed_unknown;
  /**
   * At the end: entries that stay in the ring, because there was no time for them.
   */
  uint64_t left;
  /**
   * At the end: events that were sent and not acknowledged by the store.
   */
  uint64_t unsent;
  /**
   * Bytes written.
   */
  uint64_t bytes;
} timeline_worker_totals_t;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Fills options in from an argument of the command line of a program, if it is meant for a worker:
 * `-tracefile=PATH` records to a file, `-tracehost=HOST[:PORT]` sends to a store; both may begin
 * with two dashes. The last of several counts. (`timeline_option` follows `-trace=`.) Who passes
 * arguments of its command line to this lets whoever starts it decide which files are written.
 *
 * `options`: gets `file` or `store`, which lead into `argument`, and the other becomes NULL.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_END` if the argument is another one, or `TIMELINE_E_ARGUMENT`
 * if there is no path or address in it; then the options stay as they are. Any thread.
 *
 * # Safety
 * `options` is NULL or can be written; `argument` is NULL or a NUL-terminated string.
 */
timeline_status_t timeline_worker_option(struct timeline_worker_options_t *options, const char *argument);

/**
 * Starts to record a timeline of this program: to a file, or to a store, in a thread of its own
 * unless `options->without_thread` is set. It begins with the oldest event in the ring. An archive
 * of the same timeline that is there is continued. What the ring of the last run still has that
 * the archive lacks is recorded before: of a program that was killed, nothing is lost that way.
 *
 * `tl`: the timeline. It may be freed before the worker is stopped; its name must not be removed
 * before this returns. `options`: where to, and how; NULL is the same as options that are all 0:
 * the environment is asked. `out`: receives the worker, or NULL if the environment asks for none;
 * untouched when the call fails.
 *
 * A recording to a file has begun when this returns, so that all that is wrong with the file is an
 * error here. That takes the time to read and hash the file of the program.
 *
 * Returns `TIMELINE_OK`; `TIMELINE_END` if nobody says where to record to; `TIMELINE_E_ARGUMENT`
 * for options that contradict themselves, or a file that is something else than an archive of this
 * timeline; `TIMELINE_E_BUSY` (another recorder writes the file); `TIMELINE_E_FULL` (64 workers
 * run in this process) or `TIMELINE_E_IO`. Any thread.
 *
 * # Safety
 * `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `options`
 * is NULL or readable, and its texts are NULL or NUL-terminated strings; `out` is NULL or
 * writable.
 */
timeline_status_t timeline_worker_start(const timeline_t *tl,
                                        const struct timeline_worker_options_t *options,
                                        struct timeline_worker_t **out);

/**
 * Records what was logged since, by a worker that has no thread; a worker with a thread needs no
 * such call, and does nothing.
 *
 * It waits neither for a disk to have room nor for a store. It makes at least one step, of some
 * ten thousand events, and begins none behind the given time; so it returns later than that by a
 * step at most, and by what the system takes to write a file. Rare calls cost no memory, because
 * the ring is the buffer; what the ring overwrites meanwhile is counted as missed. What was
 * recorded may wait up to a second for more to be written with it: `timeline_worker_flush` writes
 * it at once.
 *
 * `worker`: NULL does nothing. `most_ns`: how long it may take, in nanoseconds.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT` (also in a forked child), `TIMELINE_E_CORRUPT` or
 * `TIMELINE_E_IO`. Any thread.
 *
 * # Safety
 * `worker` is NULL or was returned by `timeline_worker_start` and not stopped yet.
 */
timeline_status_t timeline_worker_update(struct timeline_worker_t *worker, uint64_t most_ns);

/**
 * Writes what was logged before this call, and waits until it is in the file, or until the store
 * has acknowledged it.
 *
 * `worker`: NULL does nothing. `most_ns`: how long to wait, in nanoseconds.
 *
 * Returns `TIMELINE_OK`; `TIMELINE_E_BUSY` if it was not done in this time, with what is in the
 * way if that is known; `TIMELINE_E_ARGUMENT` (also in a forked child), `TIMELINE_E_CORRUPT` or
 * `TIMELINE_E_IO`. Any thread.
 *
 * # Safety
 * `worker` is NULL or was returned by `timeline_worker_start` and not stopped yet.
 */
timeline_status_t timeline_worker_flush(struct timeline_worker_t *worker, uint64_t most_ns);

/**
 * Says what was recorded so far.
 *
 * `worker`: with NULL, all numbers are 0. `totals`: receives the numbers; untouched when the call
 * fails.
 *
 * Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT` (also in a forked child). Any thread.
 *
 * # Safety
 * `worker` is NULL or was returned by `timeline_worker_start` and not stopped yet; `totals` is
 * NULL or writable.
 */
timeline_status_t timeline_worker_totals(struct timeline_worker_t *worker,
                                         struct timeline_worker_totals_t *totals);

/**
 * Says what is in the way of a worker at present: the disk is full, or there is no store, say. It
 * is tried again and again, and the ring keeps what is logged meanwhile.
 *
 * `text`: receives a sentence, ended by a NUL and cut to fit; `""` if nothing is in the way.
 * `size`: how many bytes it may have, with the NUL; at least 1.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_END` if nothing is in the way, or `TIMELINE_E_ARGUMENT` (also
 * in a forked child). Any thread.
 *
 * # Safety
 * `worker` is NULL or was returned by `timeline_worker_start` and not stopped yet; `text` is NULL
 * or has room for `size` bytes.
 */
timeline_status_t timeline_worker_trouble(struct timeline_worker_t *worker, char *text, size_t size);

/**
 * Stops a worker: records what was logged before this call, for at most a second and a half,
 * writes it, makes it durable, and waits for a store for at most two seconds. The worker is freed.
 *
 * `worker`: from `timeline_worker_start`, or NULL, which does nothing. Stopping it twice is
 * undefined behaviour. `totals`: receives what was recorded; untouched when the call fails; or
 * NULL.
 *
 * Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT` (in a forked child, where nothing is stopped),
 * `TIMELINE_E_CORRUPT` or `TIMELINE_E_IO`. Any thread.
 *
 * # Safety
 * `worker` is NULL or was returned by `timeline_worker_start` and not stopped yet, and no other
 * thread uses it any more; `totals` is NULL or writable.
 */
timeline_status_t timeline_worker_stop(struct timeline_worker_t *worker,
                                       struct timeline_worker_totals_t *totals);

/**
 * Returns the message of the last failed call of this thread to a function of this library: what
 * was expected, what came, what to do. `""` when none has failed yet; never NULL.
 *
 * The text is UTF-8 and stays valid until the next failing call of the same thread, or the
 * thread's end. Any thread; each has its own.
 */
const char *timeline_worker_last_error(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TIMELINE_WORKER_H */
