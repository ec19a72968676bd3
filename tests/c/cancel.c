/* Threads are cancelled in each function of timeline.h, while others use the same timeline.
 *
 * Deferred, the default: the function completes, and the thread ends after it. Asynchronously,
 * after each of many instructions, and whenever the signal of another thread comes: the thread
 * ends, and the process goes on. Prints the names of the functions, and how many numbers were
 * logged at least and at most: a number that is cancelled in the middle may be there or not. Needs
 * C11, and x86-64. cancel DIR deferred|asynchronously */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

#include <timeline.h>

#include "check.h"

enum { TRAP = 0x100, EACH = 32, MOST_STEPS = 2000, ROUNDS = 300, NUMBERS = 20 };
/* Nanoseconds. Those samplers that nobody frees go on: dozens, which are to leave the CPUs to the
 * threads that are cancelled. */
enum { BURST = 1000, EVERY = 50000000 };

static char folder[4096];
static timeline_t *tl, *payloads;
static uint32_t event;

static const char *in_folder(const char *name) {
  static _Thread_local char path[8192];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

/* ---- The calls ------------------------------------------------------------------------------- */

/* The input and the result of a call. The preparation and the check run in a thread of their
 * own. */
struct at {
  timeline_t *tl;
  timeline_attached_t *attached;
  timeline_cursor_t *cursor;
  timeline_sampler_t *sampler;
  timeline_catalogue_t *catalogue;
  timeline_histogram_t *histogram;
  timeline_event_t event;
  timeline_status_t status;
  uint64_t number;
  int logged, file;
  char text[64];
};

static void prepare_file(struct at *at) {
  at->file = open(in_folder("dump"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  CHECK(at->file >= 0);
}
static void prepare_attached(struct at *at) {
  CHECK_EQ(timeline_attach(in_folder("ring"), &at->attached), TIMELINE_OK);
}
static void prepare_cursor(struct at *at) {
  prepare_attached(at);
  CHECK_EQ(timeline_events(at->attached, TIMELINE_OLDEST_FIRST, &at->cursor), TIMELINE_OK);
}
static void prepare_histogram(struct at *at) {
  CHECK_EQ(timeline_histogram(in_folder("ring"), "every cancel.*", TIMELINE_FROM_OLDEST, &at->histogram), TIMELINE_OK);
}
static void prepare_event(struct at *at) {
  prepare_cursor(at);
  CHECK_EQ(timeline_next(at->cursor, &at->event), TIMELINE_OK);
}
static void prepare_opened(struct at *at) { CHECK_EQ(timeline_open(in_folder("ring"), &at->tl), TIMELINE_OK); }
/* On a timeline of its own: if it is not freed, it goes on. */
static void prepare_sampler(struct at *at) {
  timeline_unlink(in_folder("sampled"));
  CHECK_EQ(timeline_new(in_folder("sampled"), 256, 1024, &at->tl), TIMELINE_OK);
  CHECK_EQ(timeline_sample(at->tl, TIMELINE_ALL, BURST, EVERY, &at->sampler), TIMELINE_OK);
}
static void prepare_left(struct at *at) {
  timeline_t *made = NULL;
  at->status = timeline_unlink(in_folder("left"));
  CHECK_EQ(timeline_new(in_folder("left"), 256, 1024, &made), TIMELINE_OK);
  timeline_free(made);
}

/* Once only, also if the thread is cancelled then: the rest is leaked. */
#define TAKE(handle) __atomic_exchange_n(&(handle), NULL, __ATOMIC_RELAXED)

static void call_last_error(struct at *at) { at->status = timeline_last_error() ? TIMELINE_OK : TIMELINE_E_BUG; }
static void call_version(struct at *at) { at->status = timeline_version() ? TIMELINE_OK : TIMELINE_E_BUG; }
static void call_priority_parse(struct at *at) {
  int32_t priority;
  at->status = timeline_priority_parse("info", &priority);
}
static void call_level_parse(struct at *at) {
  int32_t level;
  at->status = timeline_level_parse("all", &level);
}
static void call_priority(struct at *at) { at->status = timeline_priority(tl, TIMELINE_ALL); }
static void call_switch(struct at *at) { at->status = timeline_switch(tl, "all,other=info"); }
static void call_channel(struct at *at) { at->status = timeline_channel(tl, "itv", true); }
static void call_option(struct at *at) { at->status = timeline_option(tl, "-trace=itv:all"); }
static void write_catalogue(void) {
  FILE *file = fopen(in_folder("cancel.events"), "w");
  CHECK(file && fputs("info|first $a\nprose\n\ntrace itv|second\n", file) >= 0 && fclose(file) == 0);
}
static void prepare_catalogue_file(struct at *at) {
  write_catalogue();
  (void)at;
}
static void prepare_catalogue(struct at *at) {
  write_catalogue();
  CHECK_EQ(timeline_define_file(tl, in_folder("cancel.events"), &at->catalogue), TIMELINE_OK);
}
static void call_define_file(struct at *at) {
  at->status = timeline_define_file(tl, in_folder("cancel.events"), &at->catalogue);
}
static void call_defined(struct at *at) {
  timeline_defined_t one;
  at->status = timeline_defined(at->catalogue, 1, &one);
}
static void call_event_named(struct at *at) {
  at->status = timeline_event_named(at->catalogue, "cancel.second") ? TIMELINE_OK : TIMELINE_E_BUG;
}
static void call_catalogue_free(struct at *at) { timeline_catalogue_free(TAKE(at->catalogue)); }
static void call_level(struct at *at) {
  timeline_level(NULL); /* it drops its failure */
  at->status = timeline_level(tl) == TIMELINE_ALL ? TIMELINE_OK : TIMELINE_E_BUG;
}
static void call_new(struct at *at) { at->status = timeline_new(in_folder("left"), 256, 1024, &at->tl); }
static void call_open(struct at *at) { at->status = timeline_open(in_folder("ring"), &at->tl); }
static void call_open_or_create(struct at *at) {
  at->status = timeline_open_or_create(in_folder("ring"), NULL, &at->tl);
}
static void call_new_with(struct at *at) {
  const timeline_options_t options = {.entries = 256, .string_table_size = 1024, .mode = 0640};
  at->status = timeline_new_with(in_folder("left"), &options, &at->tl);
}
static void call_open_with(struct at *at) { at->status = timeline_open_with(in_folder("ring"), NULL, &at->tl); }
/* Of NULL: whether a cancelled thread has taken a share is not known. */
static void call_share(struct at *at) {
  (void)at;
  timeline_share(NULL);
}
static void call_free(struct at *at) { timeline_free(TAKE(at->tl)); }
static void call_unlink(struct at *at) { at->status = timeline_unlink(in_folder("left")); }
static void call_define(struct at *at) {
  uint32_t defined;
  at->status = timeline_define(tl, "cancel", TIMELINE_INFO, "a second $number", &defined);
}
static void call_define_typed(struct at *at) {
  const unsigned char given[] = {TIMELINE_U32, TIMELINE_STR, 0};
  uint32_t defined;
  uint64_t marked;
  at->status = timeline_define_typed(tl, "cancel", TIMELINE_INFO, "$a to $b:istr", given, NULL, &defined, &marked);
}
static void call_define_with(struct at *at) {
  const timeline_attributes_t attributes = {.channels = "itv", .important = true};
  uint32_t defined;
  at->status = timeline_define_with(tl, "cancel", TIMELINE_INFO, "a kept $number", &attributes, &defined);
}
static void call_define_span(struct at *at) {
  timeline_span_events_t defined;
  at->status = timeline_define_span(tl, "cancel", TIMELINE_INFO, "span $number", NULL, &defined);
}
static void call_define_async_span(struct at *at) {
  timeline_span_events_t defined;
  at->status = timeline_define_async_span(tl, "cancel", TIMELINE_INFO, "span $number", NULL, &defined);
}
static void call_dropped_important(struct at *at) {
  at->status = timeline_dropped_important(tl) == 0 ? TIMELINE_OK : TIMELINE_E_BUG;
}
static void call_fields(struct at *at) {
  timeline_field_t fields[TIMELINE_MAX_FIELDS];
  uint32_t count;
  at->status = timeline_fields("one $a", fields, &count);
}
/* More entries than a chunk has room for. */
static void log_numbers(struct at *at) {
  const int64_t number = (int64_t)at->number;
  for (; at->logged < NUMBERS; at->logged++) timeline_log(tl, event, number, ~number, 0, 0);
}
static void call_sample(struct at *at) {
  at->status = timeline_sample(tl, TIMELINE_ALL, BURST, EVERY, &at->sampler);
}
static void call_sampler_free(struct at *at) { timeline_sampler_free(TAKE(at->sampler)); }
static void call_site_define(struct at *at) {
  timeline_site_t site = {"cancel", "site %d", __FILE__, __LINE__, TIMELINE_SITE_BACKTRACE, 0, 0, 0, 0};
  at->status = timeline_site_define(tl, &site, TIMELINE_INFO, NULL) ? TIMELINE_OK : TIMELINE_E_BUG;
}
static void log_payload(struct at *at) {
  static timeline_site_t site = {"cancel", "%s", __FILE__, __LINE__, 0, 0, 0, 0, 0};
  const uint32_t defined = timeline_site_define(payloads, &site, TIMELINE_INFO, NULL);
  /* Two entries: so the rest of a chunk may have to be filled up. */
  uint64_t words[8] = {54};
  memset(words + 1, 'x', 54);
  timeline_log_payload(payloads, defined, words, 8, 0);
  (void)at;
}
static void log_interned(struct at *at) {
  static timeline_site_t site = {"cancel", "$a:istr $b", __FILE__, __LINE__, TIMELINE_SITE_EVENT, 0, 0, 0, 0};
  static const unsigned char given[] = {TIMELINE_STR, TIMELINE_I64, 0};
  const uint32_t defined = timeline_site_define(payloads, &site, TIMELINE_INFO, given);
  uint64_t words[4] = {16, 7};
  memset(words + 2, 'x', 16);
  timeline_log_interned(payloads, defined, words, 4, given, 1);
  (void)at;
}
static void call_put_text(struct at *at) {
  uint64_t words[8] = {0};
  const uint32_t end = timeline_put_text(words, 1, 2, 8, "fourteen bytes", 14);
  at->status = end == 4 && words[1] == 14 && memcmp(words + 2, "fourteen bytes", 15) == 0 ? TIMELINE_OK : TIMELINE_E_BUG;
}
static void call_put_array(struct at *at) {
  static const uint16_t given[] = {1, 2, 3, 4, 5};
  uint64_t words[8] = {0};
  const uint32_t end = timeline_put_array(words, 0, 1, 8, given, 5, 2);
  at->status = end == 3 && words[0] == 5 && words[2] == 5 ? TIMELINE_OK : TIMELINE_E_BUG;
}
static void call_backtrace(struct at *at) {
  uint64_t words[33];
  CHECK(timeline_backtrace(tl, __builtin_return_address(0), words, 33) > 1);
  (void)at;
}
static void call_thread(struct at *at) { at->status = timeline_thread(tl, "cancelled", "all"); }
static void call_save(struct at *at) { at->status = timeline_save(tl, in_folder("saved")); }
static void call_dump(struct at *at) { at->status = timeline_dump(in_folder("ring"), 0, at->file); }
static void call_attach(struct at *at) { at->status = timeline_attach(in_folder("ring"), &at->attached); }
static void call_attached_free(struct at *at) { timeline_attached_free(TAKE(at->attached)); }
static void call_events(struct at *at) {
  at->status = timeline_events(at->attached, TIMELINE_NEWEST_FIRST, &at->cursor);
}
static void call_follow(struct at *at) {
  at->status = timeline_follow(at->attached, TIMELINE_FROM_OLDEST, &at->cursor);
}
static void call_next(struct at *at) { at->status = timeline_next(at->cursor, &at->event); }
static void call_missed(struct at *at) { at->number = timeline_missed(at->cursor); }
static void call_cursor_free(struct at *at) { timeline_cursor_free(TAKE(at->cursor)); }
static void call_histogram(struct at *at) {
  at->status = timeline_histogram(in_folder("ring"), "a..b", TIMELINE_FROM_NOW, &at->histogram);
}
static void call_histogram_update(struct at *at) { at->status = timeline_histogram_update(at->histogram); }
static void call_histogram_reset(struct at *at) { at->status = timeline_histogram_reset(at->histogram); }
static void call_histogram_count(struct at *at) { at->number = timeline_histogram_count(at->histogram); }
static void call_histogram_lost(struct at *at) { at->number = timeline_histogram_lost(at->histogram); }
static void call_histogram_missed(struct at *at) { at->number = timeline_histogram_missed(at->histogram); }
static void call_histogram_missed_since(struct at *at) { at->number = timeline_histogram_missed_since(at->histogram); }
static void call_histogram_mean(struct at *at) {
  at->status = timeline_histogram_mean(at->histogram) >= 0 ? TIMELINE_OK : TIMELINE_E_BUG;
}
static void call_histogram_percentile(struct at *at) {
  at->number = timeline_histogram_percentile(at->histogram, 99);
}
static void call_histogram_free(struct at *at) { timeline_histogram_free(TAKE(at->histogram)); }
static void call_render(struct at *at) {
  at->status = timeline_render(&at->event, at->text, sizeof at->text, NULL);
}
static void call_values(struct at *at) {
  timeline_event_value_t values[4];
  uint32_t count;
  at->status = timeline_values(&at->event, values, 4, &count);
}
static void call_f32(struct at *at) { at->status = timeline_f32(1.5f) == 0x3fc00000 ? TIMELINE_OK : TIMELINE_E_BUG; }
static void call_f64(struct at *at) {
  at->status = timeline_f64(1.5) == INT64_C(0x3ff8000000000000) ? TIMELINE_OK : TIMELINE_E_BUG;
}
static void call_enabled(struct at *at) { at->status = timeline_enabled(tl, event) ? TIMELINE_OK : TIMELINE_E_BUG; }

static const struct call {
  const char *name;
  void (*prepare)(struct at *);
  void (*run)(struct at *);
} calls[] = {
    {"timeline_last_error", NULL, call_last_error},
    {"timeline_version", NULL, call_version},
    {"timeline_priority_parse", NULL, call_priority_parse},
    {"timeline_level_parse", NULL, call_level_parse},
    {"timeline_priority", NULL, call_priority},
    {"timeline_switch", NULL, call_switch},
    {"timeline_channel", NULL, call_channel},
    {"timeline_option", NULL, call_option},
    {"timeline_define_with", NULL, call_define_with},
    {"timeline_define_span", NULL, call_define_span},
    {"timeline_define_async_span", NULL, call_define_async_span},
    {"timeline_define_typed", NULL, call_define_typed},
    {"timeline_define_file", prepare_catalogue_file, call_define_file},
    {"timeline_defined", prepare_catalogue, call_defined},
    {"timeline_event_named", prepare_catalogue, call_event_named},
    {"timeline_catalogue_free", prepare_catalogue, call_catalogue_free},
    {"timeline_level", NULL, call_level},
    {"timeline_new", prepare_left, call_new},
    {"timeline_open", NULL, call_open},
    {"timeline_open_or_create", NULL, call_open_or_create},
    {"timeline_new_with", prepare_left, call_new_with},
    {"timeline_open_with", NULL, call_open_with},
    {"timeline_share", prepare_opened, call_share},
    {"timeline_free", prepare_opened, call_free},
    {"timeline_unlink", prepare_left, call_unlink},
    {"timeline_define", NULL, call_define},
    {"timeline_dropped_important", NULL, call_dropped_important},
    {"timeline_fields", NULL, call_fields},
    {"timeline_log", NULL, log_numbers},
    {"timeline_sample", NULL, call_sample},
    {"timeline_sampler_free", prepare_sampler, call_sampler_free},
    {"timeline_site_define", NULL, call_site_define},
    {"timeline_log_payload", NULL, log_payload},
    {"timeline_log_interned", NULL, log_interned},
    {"timeline_put_text", NULL, call_put_text},
    {"timeline_put_array", NULL, call_put_array},
    {"timeline_backtrace", NULL, call_backtrace},
    {"timeline_save", NULL, call_save},
    {"timeline_thread", NULL, call_thread},
    {"timeline_dump", prepare_file, call_dump},
    {"timeline_attach", NULL, call_attach},
    {"timeline_attached_free", prepare_attached, call_attached_free},
    {"timeline_events", prepare_attached, call_events},
    {"timeline_follow", prepare_attached, call_follow},
    {"timeline_next", prepare_cursor, call_next},
    {"timeline_missed", prepare_cursor, call_missed},
    {"timeline_cursor_free", prepare_cursor, call_cursor_free},
    {"timeline_render", prepare_event, call_render},
    {"timeline_values", prepare_event, call_values},
    {"timeline_enabled", NULL, call_enabled},
    {"timeline_f32", NULL, call_f32},
    {"timeline_f64", NULL, call_f64},
    {"timeline_histogram", NULL, call_histogram},
    {"timeline_histogram_update", prepare_histogram, call_histogram_update},
    {"timeline_histogram_reset", prepare_histogram, call_histogram_reset},
    {"timeline_histogram_count", prepare_histogram, call_histogram_count},
    {"timeline_histogram_lost", prepare_histogram, call_histogram_lost},
    {"timeline_histogram_missed", prepare_histogram, call_histogram_missed},
    {"timeline_histogram_missed_since", prepare_histogram, call_histogram_missed_since},
    {"timeline_histogram_mean", prepare_histogram, call_histogram_mean},
    {"timeline_histogram_percentile", prepare_histogram, call_histogram_percentile},
    {"timeline_histogram_free", prepare_histogram, call_histogram_free},
};
enum { CALLS = sizeof calls / sizeof *calls };

static void clean_up(struct at *at) {
  timeline_catalogue_free(at->catalogue);
  timeline_histogram_free(at->histogram);
  timeline_sampler_free(at->sampler);
  timeline_cursor_free(at->cursor);
  timeline_attached_free(at->attached);
  timeline_free(at->tl);
  if (at->file > 0) close(at->file);
}

/* ---- A thread that is cancelled -------------------------------------------------------------- */

struct victim {
  const struct call *call;
  struct at at;
  /* The instruction after which it is cancelled asynchronously; 0: deferred, before the call. */
  unsigned long after;
  /* Whether the thread has logged before. */
  int is_known;
  int returned;
};

static _Thread_local unsigned long steps;

static void set_trap(int on) {
  const unsigned long long flags = __builtin_ia32_readeflags_u64();
  __builtin_ia32_writeeflags_u64(on ? flags | TRAP : flags & ~(unsigned long long)TRAP);
}

static void on_step(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)info;
  if (--steps > 0) return;
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
  /* Acts at once if cancellation is not disabled. */
  pthread_cancel(pthread_self());
}

/* How many numbers were logged at least, and at most. */
static unsigned long least, most;

/* The result of a thread that was not cancelled. */
static char finished;

static void *be_cancelled(void *argument) {
  struct victim *const victim = argument;
  if (victim->is_known) {
    timeline_log(tl, event, 0, -1, 0, 0);
    timeline_log(payloads, event, 0, -1, 0, 0);
    least++, most++;
  }
  if (victim->after) {
    steps = victim->after;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    set_trap(1);
  } else {
    pthread_cancel(pthread_self());
  }
  victim->call->run(&victim->at);
  victim->returned = 1;
  set_trap(0);
  pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
  int state;
  CHECK_EQ(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state), 0);
  CHECK_EQ(state, PTHREAD_CANCEL_ENABLE);
  pthread_testcancel();
  return &finished;
}

static void *prepare(void *argument) {
  struct victim *const victim = argument;
  victim->at.status = TIMELINE_OK;
  if (victim->call->prepare) victim->call->prepare(&victim->at);
  victim->at.status = TIMELINE_OK;
  return NULL;
}

static void *run_in_thread(void *(*f)(void *), void *argument) {
  pthread_t thread;
  void *result;
  CHECK_EQ(pthread_create(&thread, NULL, f, argument), 0);
  CHECK_EQ(pthread_join(thread, &result), 0);
  return result;
}


/* Whether the thread was cancelled before it had done all its steps. */
static int cancel(struct victim *victim) {
  run_in_thread(prepare, victim);
  /* glibc gives PTHREAD_CANCELED unless pthread_setcancelstate itself acts on the cancellation. */
  const int was_cancelled = run_in_thread(be_cancelled, victim) != &finished;
  if (victim->call->run == log_numbers) {
    least += victim->at.logged;
    most += victim->at.logged + !victim->returned;
  }
  if (victim->returned && victim->at.status != TIMELINE_OK) {
    fprintf(stderr, "%s: %d\n", victim->call->name, victim->at.status);
    exit(1);
  }
  return was_cancelled;
}

/* ---------------------------------------------------------------------------------------------- */

/* How many events have that number. */
static unsigned count(int64_t number) {
  struct at at = {.file = 0};
  unsigned found = 0;
  prepare_cursor(&at);
  while (timeline_next(at.cursor, &at.event) == TIMELINE_OK) {
    if (at.event.event != event) continue;
    CHECK_EQ(at.event.args[1], ~at.event.args[0]); /* whole */
    found += at.event.args[0] == number;
  }
  clean_up(&at);
  return found;
}

/* Pending from the beginning. */
static void cancel_deferred(const struct call *call) {
  static uint64_t number = 1000;
  struct victim victim = {.call = call, .at.number = ++number};
  CHECK(cancel(&victim));
  CHECK(victim.returned);
  clean_up(&victim.at);
  if (call->run == log_numbers) CHECK_EQ(count((int64_t)number), NUMBERS);
}

/* After each of the first instructions, and then less and less often. */
static void cancel_asynchronously(const struct call *call, int is_known) {
  const int logs = call->run == log_numbers || call->run == log_payload;
  for (unsigned long after = 1; after < (logs ? MOST_STEPS : EACH); after += after < EACH ? 1 : after / 8) {
    struct victim victim = {.call = call, .after = after, .is_known = is_known};
    const int was_cancelled = cancel(&victim);
    clean_up(&victim.at);
    if (!was_cancelled) break;
  }
}

static _Atomic int begun;

/* It must not be cancelled in its calls for the level, only between them. */
static void *ask_for_levels(void *unused) {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  begun = 1;
  while (begun) {
    for (int i = 0; i < 20; i++) timeline_level(NULL);
    for (volatile int i = 0; i < 500; i++) continue;
  }
  return unused;
}

/* glibc cancels such a thread by a signal, which may come after cancellation was disabled. */
static void cancel_by_signals(void) {
  for (int round = 0; round < ROUNDS; round++) {
    pthread_t thread;
    void *result = NULL;
    begun = 0;
    CHECK_EQ(pthread_create(&thread, NULL, ask_for_levels, NULL), 0);
    while (!begun) continue;
    for (volatile int i = 0; i < round * 7 % 10000; i++) continue;
    CHECK_EQ(pthread_cancel(thread), 0);
    CHECK_EQ(pthread_join(thread, &result), 0);
  }
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 3);
  const int asynchronously = strcmp(argv[2], "asynchronously") == 0;
  snprintf(folder, sizeof folder, "%s", argv[1]);
  CHECK_EQ(timeline_new(in_folder("ring"), 1024, 65536, &tl), TIMELINE_OK);
  CHECK_EQ(timeline_define(tl, "cancel", TIMELINE_INFO, "number $number $not", &event), TIMELINE_OK);
  const struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
  CHECK_EQ(sigaction(SIGTRAP, &action, NULL), 0);
  CHECK_EQ(timeline_new(in_folder("payloads"), 1024, 65536, &payloads), TIMELINE_OK);
  for (int i = 0; i < CALLS; i++) {
    if (asynchronously) {
      cancel_asynchronously(&calls[i], 0);
      cancel_asynchronously(&calls[i], 1);
    } else {
      cancel_deferred(&calls[i]);
    }
    puts(calls[i].name);
  }
  if (asynchronously) cancel_by_signals();
  count(0);
  printf("%lu %lu\n", least, most);
  return 0;
}
