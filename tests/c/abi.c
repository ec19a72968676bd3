/* Every function of timeline.h, with right and wrong arguments. abi DIR: an empty directory. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <timeline.h>

#include "check.h"

/* 65 arguments. */
static const char too_many[] = "$a $b $c $d $e $a $b $c $d $e $a $b $c $d $e $a $b $c $d $e $a $b $c $d $e $a $b $c $d $e "
                         "$a $b $c $d $e $a $b $c $d $e $a $b $c $d $e $a $b $c $d $e $a $b $c $d $e $a $b $c $d $e "
                         "$a $b $c $d $e";

static char ring[4096], other[4096], snapshot[4096], text[4096];
#define NOT_UTF8 "caf\xe9"
static void *const UNTOUCHED = (void *)0x5a5a;

static void names(void) {
  int32_t number = -1;
  const char *const priorities[] = {"error", "warning", "info", "trace", "app", "packet", "library"};
  for (int32_t i = 0; i < 7; i++) {
    CHECK_EQ(timeline_priority_parse(priorities[i], &number), TIMELINE_OK);
    CHECK_EQ(number, i + TIMELINE_ERROR);
    CHECK_EQ(timeline_level_parse(priorities[i], &number), TIMELINE_OK);
    CHECK_EQ(number, i + TIMELINE_ERROR);
  }
  CHECK_EQ(timeline_level_parse("none", &number), TIMELINE_OK);
  CHECK_EQ(number, TIMELINE_NONE);
  CHECK_EQ(timeline_level_parse("all", &number), TIMELINE_OK);
  CHECK_EQ(number, TIMELINE_ALL);

  CHECK_FAILS(timeline_priority_parse("all", &number), TIMELINE_E_ARGUMENT, "\"all\"");
  CHECK_FAILS(timeline_level_parse("loud", &number), TIMELINE_E_ARGUMENT, "\"loud\"");
  CHECK_FAILS(timeline_level_parse("", &number), TIMELINE_E_ARGUMENT, "expected");
  CHECK_FAILS(timeline_level_parse(NOT_UTF8, &number), TIMELINE_E_ARGUMENT, "caf\\xe9");
  CHECK_FAILS(timeline_level_parse(NULL, &number), TIMELINE_E_ARGUMENT, "name is NULL");
  CHECK_FAILS(timeline_priority_parse(NULL, &number), TIMELINE_E_ARGUMENT, "name is NULL");
  CHECK_EQ(number, TIMELINE_ALL);
  CHECK_FAILS(timeline_level_parse("all", NULL), TIMELINE_E_ARGUMENT, "level is NULL");
  CHECK_FAILS(timeline_priority_parse("error", NULL), TIMELINE_E_ARGUMENT, "priority is NULL");

  uint32_t count = 77;
  timeline_field_t fields[TIMELINE_MAX_FIELDS];
  CHECK_EQ(timeline_fields("nothing", fields, &count), TIMELINE_OK);
  CHECK_EQ(count, 0);
  const char *const typed = "took $t:ns of $x, $ratio:f64 in $mode:enum(red=1,green=2)\nnot $these";
  CHECK_EQ(timeline_fields(typed, fields, &count), TIMELINE_OK);
  CHECK_EQ(count, 4);
  CHECK_EQ(fields[0].type, TIMELINE_NS);
  CHECK_EQ(fields[1].type, TIMELINE_I64);
  CHECK_EQ(fields[2].type, TIMELINE_F64);
  CHECK_EQ(fields[3].type, TIMELINE_ENUM);
  CHECK(fields[2].name_length == 5 && memcmp(fields[2].name, "ratio", 5) == 0);
  CHECK(fields[3].labels_length == 13 && memcmp(fields[3].labels, "red=1,green=2", 13) == 0);
  CHECK(fields[2].labels == NULL && fields[2].labels_length == 0);
  uint32_t five = 0;
  timeline_field_t others[TIMELINE_MAX_FIELDS];
  CHECK_EQ(timeline_fields("$a $b $c $d $e:u16[]", others, &five), TIMELINE_OK);
  CHECK_EQ(five, 5);
  CHECK_EQ(others[4].type, TIMELINE_ARRAY_OF | TIMELINE_U16);
  CHECK_FAILS(timeline_fields(too_many, fields, &count), TIMELINE_E_ARGUMENT, "65");
  CHECK_FAILS(timeline_fields("$a:int", fields, &count), TIMELINE_E_ARGUMENT, "expected one of i8, i16");
  CHECK_FAILS(timeline_fields(NULL, fields, &count), TIMELINE_E_ARGUMENT, "message is NULL");
  CHECK_FAILS(timeline_fields(NOT_UTF8, fields, &count), TIMELINE_E_ARGUMENT, "UTF-8");
  CHECK_FAILS(timeline_fields("$a", NULL, &count), TIMELINE_E_ARGUMENT, "fields is NULL");
  CHECK_FAILS(timeline_fields("$a", fields, NULL), TIMELINE_E_ARGUMENT, "count is NULL");
  CHECK_EQ(count, 4);
}

/* A failed call leaves its output alone, and says why. */
static void refusals_without_a_timeline(void) {
  timeline_t *tl = UNTOUCHED;
  CHECK_FAILS(timeline_new(NULL, 0, 0, &tl), TIMELINE_E_ARGUMENT, "path is NULL");
  CHECK_FAILS(timeline_new("", 0, 0, &tl), TIMELINE_E_ARGUMENT, "path is empty");
  CHECK_FAILS(timeline_new(ring, 0, 0, NULL), TIMELINE_E_ARGUMENT, "out is NULL");
  CHECK_FAILS(timeline_new(ring, 0, 0, (timeline_t **)(void *)(text + 1)), TIMELINE_E_ARGUMENT, "multiple of 8");
  CHECK_FAILS(timeline_new(ring, 1000, 0, &tl), TIMELINE_E_ARGUMENT, "1000");
  CHECK_FAILS(timeline_new(ring, 128, 0, &tl), TIMELINE_E_ARGUMENT, "128");
  CHECK_FAILS(timeline_new(ring, UINT64_MAX, 0, &tl), TIMELINE_E_ARGUMENT, "18446744073709551615");
  CHECK_FAILS(timeline_new(ring, 256, 1, &tl), TIMELINE_E_ARGUMENT, "1");
  CHECK_FAILS(timeline_new("/no/such/directory/ring", 256, 0, &tl), TIMELINE_E_IO, "/no/such/directory/ring");
  CHECK_FAILS(timeline_open(ring, &tl), TIMELINE_E_NOT_FOUND, ring);
  CHECK_FAILS(timeline_open(NULL, &tl), TIMELINE_E_ARGUMENT, "path is NULL");
  CHECK_FAILS(timeline_open(ring, NULL), TIMELINE_E_ARGUMENT, "out is NULL");
  const timeline_options_t loose = {.mode = 0666}, odd = {.entries = 1000};
  CHECK_FAILS(timeline_new_with(ring, &loose, &tl), TIMELINE_E_ARGUMENT, "0666");
  CHECK_FAILS(timeline_open_or_create(ring, &odd, &tl), TIMELINE_E_ARGUMENT, "1000");
  CHECK_FAILS(timeline_open_or_create(ring, (const timeline_options_t *)(const void *)(text + 1), &tl),
              TIMELINE_E_ARGUMENT, "multiple of 8");
  CHECK_FAILS(timeline_open_or_create(NULL, NULL, &tl), TIMELINE_E_ARGUMENT, "path is NULL");
  CHECK_FAILS(timeline_open_or_create(ring, NULL, NULL), TIMELINE_E_ARGUMENT, "out is NULL");
  CHECK_FAILS(timeline_open_with(ring, NULL, &tl), TIMELINE_E_NOT_FOUND, ring);
  CHECK(tl == UNTOUCHED);
  CHECK_FAILS(timeline_unlink(ring), TIMELINE_E_NOT_FOUND, ring);
  CHECK_FAILS(timeline_unlink(NULL), TIMELINE_E_ARGUMENT, "path is NULL");

  timeline_attached_t *at = UNTOUCHED;
  CHECK_FAILS(timeline_attach(ring, &at), TIMELINE_E_NOT_FOUND, ring);
  CHECK_FAILS(timeline_attach("/proc/self/status", &at), TIMELINE_E_NOT_A_TIMELINE, "/proc/self/status");
  CHECK_FAILS(timeline_attach(NULL, &at), TIMELINE_E_ARGUMENT, "path is NULL");
  CHECK_FAILS(timeline_attach(ring, NULL), TIMELINE_E_ARGUMENT, "out is NULL");
  CHECK(at == UNTOUCHED);
  CHECK_FAILS(timeline_dump(ring, 0, 1), TIMELINE_E_NOT_FOUND, ring);
  CHECK_FAILS(timeline_dump(ring, 0, -1), TIMELINE_E_ARGUMENT, "fd is -1");
  CHECK_FAILS(timeline_dump(NULL, 0, 1), TIMELINE_E_ARGUMENT, "path is NULL");

  /* NULL handles: functions with a status refuse them, others do nothing. */
  uint32_t event = 7;
  timeline_sampler_t *sampler = UNTOUCHED;
  timeline_cursor_t *cursor = UNTOUCHED;
  timeline_event_t read;
  CHECK_FAILS(timeline_define(NULL, "c", TIMELINE_TRACE, "m", &event), TIMELINE_E_ARGUMENT, "the timeline is NULL");
  CHECK_EQ(event, 0);
  CHECK_FAILS(timeline_priority(NULL, TIMELINE_ALL), TIMELINE_E_ARGUMENT, "the timeline is NULL");
  CHECK_FAILS(timeline_save(NULL, snapshot), TIMELINE_E_ARGUMENT, "the timeline is NULL");
  CHECK_FAILS(timeline_sample(NULL, TIMELINE_ALL, 1, 2, &sampler), TIMELINE_E_ARGUMENT, "the timeline is NULL");
  CHECK_FAILS(timeline_events(NULL, TIMELINE_OLDEST_FIRST, &cursor), TIMELINE_E_ARGUMENT, "is NULL");
  CHECK_FAILS(timeline_follow(NULL, TIMELINE_FROM_NOW, &cursor), TIMELINE_E_ARGUMENT, "is NULL");
  CHECK_FAILS(timeline_next(NULL, &read), TIMELINE_E_ARGUMENT, "the cursor is NULL");
  CHECK(sampler == UNTOUCHED && cursor == UNTOUCHED);
  CHECK_EQ(timeline_level(NULL), TIMELINE_NONE);
  CHECK_EQ(timeline_missed(NULL), 0);
  CHECK(!timeline_enabled(NULL, 1));
  timeline_log(NULL, 1, 1, 2, 3, 4);
  timeline_free(NULL);
  timeline_sampler_free(NULL);
  timeline_attached_free(NULL);
  timeline_cursor_free(NULL);
}

static uint32_t define(timeline_t *tl, int32_t priority, const char *message) {
  uint32_t event = 0;
  CHECK_EQ(timeline_define(tl, "example", priority, message, &event), TIMELINE_OK);
  CHECK(event != 0);
  return event;
}

static void definitions_and_levels(timeline_t *tl) {
  const uint32_t error = define(tl, TIMELINE_ERROR, "failed with $status");
  const uint32_t trace = define(tl, TIMELINE_TRACE, "processed $tcp, $udp, and $other\n  tcp: segments\n");
  const uint32_t library = define(tl, TIMELINE_LIBRARY, "called");
  CHECK(error != trace && trace != library);
  CHECK_EQ(define(tl, TIMELINE_ERROR, "failed with $status"), error);

  uint32_t event = 7;
  CHECK_FAILS(timeline_define(tl, "c", TIMELINE_TRACE, too_many, &event), TIMELINE_E_ARGUMENT, "65");
  CHECK_EQ(event, 0);
  const int32_t wrong[] = {TIMELINE_NONE, TIMELINE_ALL, -1, 9, 256 + TIMELINE_TRACE, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    event = 7;
    CHECK_FAILS(timeline_define(tl, "c", wrong[i], "m", &event), TIMELINE_E_ARGUMENT, "is no priority: expected 1 to 7");
    CHECK_EQ(event, 0);
  }
  event = 7;
  CHECK_FAILS(timeline_define(tl, NULL, TIMELINE_TRACE, "m", &event), TIMELINE_E_ARGUMENT, "category is NULL");
  CHECK_EQ(event, 0);
  CHECK_FAILS(timeline_define(tl, "c", TIMELINE_TRACE, NULL, &event), TIMELINE_E_ARGUMENT, "message is NULL");
  CHECK_FAILS(timeline_define(tl, NOT_UTF8, TIMELINE_TRACE, "m", &event), TIMELINE_E_ARGUMENT, "category is not UTF-8 at byte 3");
  CHECK_FAILS(timeline_define(tl, "c", TIMELINE_TRACE, NOT_UTF8, &event), TIMELINE_E_ARGUMENT, "message is not UTF-8");
  CHECK_FAILS(timeline_define(tl, "c", TIMELINE_TRACE, "m", NULL), TIMELINE_E_ARGUMENT, "event is NULL");

  CHECK_EQ(timeline_level(tl), TIMELINE_ALL);
  for (int32_t level = TIMELINE_NONE; level <= TIMELINE_ALL; level++) {
    CHECK_EQ(timeline_priority(tl, level), TIMELINE_OK);
    CHECK_EQ(timeline_level(tl), level);
    CHECK_EQ(timeline_enabled(tl, error), level >= TIMELINE_ERROR);
    CHECK_EQ(timeline_enabled(tl, trace), level >= TIMELINE_TRACE);
    CHECK_EQ(timeline_enabled(tl, library), level >= TIMELINE_LIBRARY);
    /* Never enabled: event 0, an undefined event, and numbers far outside the table. */
    CHECK(!timeline_enabled(tl, 0));
    CHECK(!timeline_enabled(tl, library + 1));
    CHECK(!timeline_enabled(tl, tl->events));
    CHECK(!timeline_enabled(tl, UINT32_MAX));
  }
  CHECK_FAILS(timeline_priority(tl, 9), TIMELINE_E_ARGUMENT, "9 is no level");
  CHECK_FAILS(timeline_priority(tl, -1), TIMELINE_E_ARGUMENT, "-1 is no level");
  CHECK_EQ(timeline_level(tl), TIMELINE_ALL);

  timeline_log(tl, 0, 1, 2, 3, 4);
  timeline_log(tl, library + 1, 1, 2, 3, 4);
  timeline_log(tl, tl->events, 1, 2, 3, 4);
  timeline_log(tl, UINT32_MAX, 1, 2, 3, 4);
  timeline_log(tl, error, -1, 0, 0, 0);
  timeline_log(tl, trace, 10, 20, 3, 0);
  timeline_log(tl, trace, INT64_MAX, INT64_MIN, 0, 99);
  CHECK_EQ(timeline_priority(tl, TIMELINE_WARNING), TIMELINE_OK);
  timeline_log(tl, trace, 666, 666, 666, 666);
  CHECK_EQ(timeline_priority(tl, TIMELINE_ALL), TIMELINE_OK);
}

/* The values of "failed with $status", -1, in any room. */
static void check_values(const timeline_event_t *event) {
  timeline_event_value_t values[2];
  uint32_t count = 0;
  CHECK_EQ(timeline_values(event, NULL, 0, &count), TIMELINE_OK);
  CHECK_EQ(count, 1);
  memset(values, '#', sizeof values);
  CHECK_EQ(timeline_values(event, values, 2, &count), TIMELINE_OK);
  CHECK(values[0].kind == TIMELINE_IS_SIGNED && values[0].type == TIMELINE_I64 && values[0].integer == -1);
  CHECK(values[0].natural == 0 && values[0].data == NULL && !values[0].cut);
  CHECK_EQ(values[1].kind, 0x23232323);
  count = 7;
  const timeline_event_t blank = {0};
  CHECK_FAILS(timeline_values(NULL, values, 2, &count), TIMELINE_E_ARGUMENT, "event is NULL");
  CHECK_FAILS(timeline_values(event, NULL, 2, &count), TIMELINE_E_ARGUMENT, "values is NULL");
  CHECK_FAILS(timeline_values(event, values, 2, NULL), TIMELINE_E_ARGUMENT, "count is NULL");
  CHECK_FAILS(timeline_values(&blank, values, 2, &count), TIMELINE_E_ARGUMENT, "message is NULL");
  CHECK_EQ(count, 7);
}

/* The three events above, from a live timeline or a file, in either order. */
static void reading(const char *path) {
  static const char *const expected[] = {
      "failed with status(-1)",
      "processed tcp(10), udp(20), and other(3)",
      "processed tcp(9223372036854775807), udp(-9223372036854775808), and other(0)",
  };
  timeline_attached_t *at = NULL;
  CHECK_EQ(timeline_attach(path, &at), TIMELINE_OK);
  timeline_cursor_t *cursor = UNTOUCHED;
  CHECK_FAILS(timeline_events(at, 2, &cursor), TIMELINE_E_ARGUMENT, "2 is no order");
  CHECK_FAILS(timeline_follow(at, -1, &cursor), TIMELINE_E_ARGUMENT, "-1 is no place to begin");
  CHECK_FAILS(timeline_events(at, 0, NULL), TIMELINE_E_ARGUMENT, "out is NULL");
  CHECK_FAILS(timeline_follow(at, 0, NULL), TIMELINE_E_ARGUMENT, "out is NULL");
  CHECK(cursor == UNTOUCHED);

  for (int32_t order = TIMELINE_OLDEST_FIRST; order <= TIMELINE_NEWEST_FIRST; order++) {
    CHECK_EQ(timeline_events(at, order, &cursor), TIMELINE_OK);
    /* The cursor must go on by itself. */
    if (order == TIMELINE_NEWEST_FIRST) timeline_attached_free(at);
    CHECK_FAILS(timeline_next(cursor, NULL), TIMELINE_E_ARGUMENT, "event is NULL");
    timeline_event_t event = {0};
    uint64_t before = 0;
    for (int i = 0; i < 3; i++) {
      const int which = order == TIMELINE_OLDEST_FIRST ? i : 2 - i;
      CHECK_EQ(timeline_next(cursor, &event), TIMELINE_OK);
      size_t needed = 0;
      CHECK_EQ(timeline_render(&event, text, sizeof text, &needed), TIMELINE_OK);
      if (strcmp(text, expected[which]) != 0) {
        fprintf(stderr, "event %d is \"%s\", expected \"%s\"\n", i, text, expected[which]);
        exit(1);
      }
      CHECK_EQ(needed, strlen(expected[which]));
      CHECK(i == 0 || (order == TIMELINE_OLDEST_FIRST ? event.ticks >= before : event.ticks <= before));
      before = event.ticks;
      CHECK(strcmp(event.category, "example") == 0);
      CHECK_EQ(event.priority, which == 0 ? TIMELINE_ERROR : TIMELINE_TRACE);
      CHECK_EQ(event.argument_count, which == 0 ? 1 : 3);
      CHECK_EQ(event.pid, getpid());
      CHECK_EQ(event.tid, getpid()); /* the main thread */
      CHECK(event.unix_nanos > UINT64_C(1500000000000000000));
      CHECK(event.thread[0] && event.process[0]);
    }
    const timeline_event_t last = event;
    CHECK_EQ(timeline_next(cursor, &event), TIMELINE_END);
    CHECK_EQ(timeline_next(cursor, &event), TIMELINE_END);
    CHECK(memcmp(&last, &event, sizeof last) == 0);
    CHECK_EQ(timeline_missed(cursor), 0);
    if (order == TIMELINE_NEWEST_FIRST) {
      /* Cut anywhere, always with its NUL and no byte behind it. */
      const char *const whole = "failed with status(-1)";
      for (size_t size = 0; size <= strlen(whole) + 2; size++) {
        memset(text, '#', sizeof text);
        size_t needed = 0;
        CHECK_EQ(timeline_render(&event, size ? text : NULL, size, &needed), TIMELINE_OK);
        CHECK_EQ(needed, strlen(whole));
        if (size) {
          CHECK_EQ(strlen(text), size - 1 < needed ? size - 1 : needed);
          CHECK(strncmp(text, whole, strlen(text)) == 0);
        }
        CHECK_EQ(text[size], '#');
      }
      CHECK_EQ(timeline_render(&event, text, sizeof text, NULL), TIMELINE_OK);
      CHECK_FAILS(timeline_render(&event, NULL, 1, NULL), TIMELINE_E_ARGUMENT, "buffer is NULL");
      CHECK_FAILS(timeline_render(NULL, text, sizeof text, NULL), TIMELINE_E_ARGUMENT, "event is NULL");
      const timeline_event_t blank = {0};
      CHECK_FAILS(timeline_render(&blank, text, sizeof text, NULL), TIMELINE_E_ARGUMENT, "message is NULL");
      check_values(&event);
    }
    timeline_cursor_free(cursor);
  }
}

/* In a ring of its own, with room for two of them. */
static void important_events(void) {
  char kept[5000];
  snprintf(kept, sizeof kept, "%s-kept", ring);
  const timeline_options_t options = {.entries = 256, .important_entries = 2};
  const timeline_options_t too_many = {.entries = 256, .important_entries = UINT64_C(1) << 32};
  const timeline_attributes_t important = {.important = true}, none = {0};
  timeline_t *tl = NULL;
  uint32_t event = 0, same = 0, plain = 0;
  CHECK_FAILS(timeline_new_with(kept, &too_many, &tl), TIMELINE_E_ARGUMENT, "important events");
  CHECK_EQ(timeline_new_with(kept, &options, &tl), TIMELINE_OK);
  CHECK_EQ(timeline_define_with(tl, "c", TIMELINE_INFO, "id $id", &important, &event), TIMELINE_OK);
  CHECK_EQ(timeline_define_with(tl, "c", TIMELINE_INFO, "id $id", &important, &same), TIMELINE_OK);
  CHECK_EQ(timeline_define_with(tl, "c", TIMELINE_INFO, "id $id", &none, &plain), TIMELINE_OK);
  CHECK_EQ(same, event);
  CHECK_EQ(timeline_define_with(tl, "c", TIMELINE_INFO, "id $id", NULL, &same), TIMELINE_OK);
  CHECK(same == plain && plain != event && timeline_enabled(tl, event));
  for (int64_t id = 1; id <= 3; id++) timeline_log(tl, event, id, 0, 0, 0);
  CHECK_EQ(timeline_dropped_important(tl), 1);
  CHECK_EQ(timeline_dropped_important(NULL), 0);
  for (int i = 0; i < 1000; i++) timeline_log(tl, plain, 0, 0, 0, 0);
  timeline_attached_t *at = NULL;
  timeline_cursor_t *cursor = NULL;
  timeline_event_t read;
  CHECK_EQ(timeline_attach(kept, &at), TIMELINE_OK);
  CHECK_EQ(timeline_follow(at, TIMELINE_FROM_NOW, &cursor), TIMELINE_OK);
  for (int64_t id = 1; id <= 2; id++) {
    CHECK_EQ(timeline_next(cursor, &read), TIMELINE_OK);
    CHECK(read.important && read.event == event && read.args[0] == id);
  }
  CHECK_EQ(timeline_next(cursor, &read), TIMELINE_END);
  timeline_log(tl, plain, 0, 0, 0, 0);
  CHECK_EQ(timeline_next(cursor, &read), TIMELINE_OK);
  CHECK(!read.important);
  timeline_cursor_free(cursor);
  timeline_attached_free(at);
  timeline_free(tl);
  CHECK_EQ(timeline_unlink(kept), TIMELINE_OK);
}

static void following(timeline_t *tl) {
  timeline_attached_t *at = NULL;
  timeline_cursor_t *now = NULL, *oldest = NULL;
  timeline_event_t event;
  CHECK_EQ(timeline_attach(ring, &at), TIMELINE_OK);
  CHECK_EQ(timeline_follow(at, TIMELINE_FROM_NOW, &now), TIMELINE_OK);
  CHECK_EQ(timeline_follow(at, TIMELINE_FROM_OLDEST, &oldest), TIMELINE_OK);
  CHECK_EQ(timeline_next(now, &event), TIMELINE_END);
  for (int i = 0; i < 3; i++) CHECK_EQ(timeline_next(oldest, &event), TIMELINE_OK);
  CHECK_EQ(timeline_next(oldest, &event), TIMELINE_END);

  /* Defined and logged after both began. */
  const uint32_t late = define(tl, TIMELINE_PACKET, "late \xc3\xa9v\xc3\xa9nement $number");
  for (int64_t i = 0; i < 10; i++) {
    timeline_log(tl, late, i, 0, 0, 0);
    timeline_cursor_t *const both[] = {now, oldest};
    for (int c = 0; c < 2; c++) {
      CHECK_EQ(timeline_next(both[c], &event), TIMELINE_OK);
      CHECK_EQ(event.event, late);
      CHECK_EQ(event.args[0], i);
      CHECK_EQ(event.priority, TIMELINE_PACKET);
      CHECK_EQ(timeline_next(both[c], &event), TIMELINE_END);
    }
  }
  /* Cut between the characters, never inside one: "late " and an e with two bytes. */
  CHECK_EQ(timeline_render(&event, text, 7, NULL), TIMELINE_OK);
  CHECK(strcmp(text, "late ") == 0);
  CHECK_EQ(timeline_render(&event, text, 8, NULL), TIMELINE_OK);
  CHECK(strcmp(text, "late \xc3\xa9") == 0);

  /* Lap the followers: entries that they missed are counted, and none comes twice. */
  const uint64_t laps = 5000;
  for (uint64_t i = 0; i < laps; i++) timeline_log(tl, late, (int64_t)i, 0, 0, 0);
  uint64_t seen = 0, told = 0;
  int64_t before = -1;
  while (timeline_next(now, &event) == TIMELINE_OK) {
    CHECK(event.args[0] > before);
    before = event.args[0];
    told += event.missed;
    seen++;
  }
  CHECK_EQ(told, timeline_missed(now));
  CHECK_EQ(before, laps - 1);
  CHECK(seen < laps);
  CHECK_EQ(seen + timeline_missed(now), laps);
  timeline_attached_free(at);
  timeline_cursor_free(oldest);
  timeline_cursor_free(now);
}

static void sampling(timeline_t *tl) {
  const uint32_t detail = define(tl, TIMELINE_LIBRARY, "detail");
  timeline_sampler_t *sampler = UNTOUCHED;
  CHECK_FAILS(timeline_sample(tl, 9, 1000, 2000, &sampler), TIMELINE_E_ARGUMENT, "9 is no level");
  CHECK_FAILS(timeline_sample(tl, TIMELINE_ALL, 1000, 2000, NULL), TIMELINE_E_ARGUMENT, "out is NULL");
  CHECK_EQ(timeline_sample(tl, TIMELINE_ALL, 3000, 2000, &sampler), TIMELINE_E_ARGUMENT);
  CHECK(sampler == UNTOUCHED);

  CHECK_EQ(timeline_priority(tl, TIMELINE_ERROR), TIMELINE_OK);
  CHECK_EQ(timeline_sample(tl, TIMELINE_ALL, 100000, 1000000, &sampler), TIMELINE_OK);
  timeline_sampler_t *second = UNTOUCHED;
  CHECK_EQ(timeline_sample(tl, TIMELINE_ALL, 100000, 1000000, &second), TIMELINE_E_BUSY);
  CHECK(second == UNTOUCHED);
  /* It is raised, it falls, it is raised again. */
  while (!timeline_enabled(tl, detail)) {}
  while (timeline_enabled(tl, detail)) {}
  while (!timeline_enabled(tl, detail)) {}
  timeline_sampler_free(sampler);
  CHECK(!timeline_enabled(tl, detail));
  CHECK_EQ(timeline_level(tl), TIMELINE_ERROR);
  CHECK_EQ(timeline_priority(tl, TIMELINE_ALL), TIMELINE_OK);
}

/* A sampler goes on for the other writers after its handle is freed. */
static void sampling_outlives_the_handle(void) {
  timeline_t *watching = NULL, *tl = NULL;
  timeline_sampler_t *sampler = NULL;
  CHECK_EQ(timeline_open_with(ring, &(timeline_options_t){.trust_user = 1}, &watching), TIMELINE_OK);
  CHECK_EQ(timeline_open_or_create(ring, NULL, &tl), TIMELINE_OK);
  const uint32_t detail = define(watching, TIMELINE_LIBRARY, "detail");
  CHECK_EQ(timeline_priority(watching, TIMELINE_NONE), TIMELINE_OK);
  CHECK_EQ(timeline_sample(tl, TIMELINE_ALL, 100000, 1000000, &sampler), TIMELINE_OK);
  timeline_free(tl);
  while (!timeline_enabled(watching, detail)) {}
  while (timeline_enabled(watching, detail)) {}
  while (!timeline_enabled(watching, detail)) {}
  timeline_sampler_free(sampler);
  CHECK(!timeline_enabled(watching, detail));
  CHECK_EQ(timeline_priority(watching, TIMELINE_ALL), TIMELINE_OK);
  timeline_free(watching);
}

static void *errors_of_another_thread(void *message) {
  CHECK(strcmp(timeline_last_error(), "") == 0);
  CHECK_FAILS(timeline_level_parse("other", &(int32_t){0}), TIMELINE_E_ARGUMENT, "other");
  return message;
}

static void errors_belong_to_threads(void) {
  CHECK_FAILS(timeline_level_parse("mine", &(int32_t){0}), TIMELINE_E_ARGUMENT, "mine");
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, errors_of_another_thread, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK(strstr(timeline_last_error(), "mine"));
  int32_t level = 0;
  CHECK_EQ(timeline_level_parse("all", &level), TIMELINE_OK);
  CHECK(strstr(timeline_last_error(), "mine"));
}

static size_t dumped(const char *path, uint64_t max) {
  int fd = open(other, O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(fd >= 0);
  CHECK_EQ(timeline_dump(path, max, fd), TIMELINE_OK);
  CHECK_EQ(lseek(fd, 0, SEEK_SET), 0); /* still open */
  ssize_t got = read(fd, text, sizeof text - 1);
  CHECK(got > 0);
  text[got] = 0;
  CHECK_EQ(close(fd), 0);
  size_t lines = 0;
  for (char *c = text; *c; c++) lines += *c == '\n';
  return lines;
}

static void dumping(void) {
  CHECK_EQ(dumped(ring, 0), 4);
  CHECK_EQ(dumped(snapshot, 0), 4);
  CHECK(strstr(text, "processed tcp(10), udp(20), and other(3)"));
  CHECK(strstr(text, "numa") == text);
  CHECK_EQ(dumped(snapshot, 2), 3);
  int fd = open("/dev/full", O_WRONLY);
  CHECK_FAILS(timeline_dump(snapshot, 0, fd), TIMELINE_E_IO, "cannot write the dump");
  CHECK_EQ(close(fd), 0);
  CHECK_FAILS(timeline_dump(snapshot, 0, fd), TIMELINE_E_IO, "cannot write the dump");
}

static void switching(timeline_t *tl) {
  CHECK_EQ(timeline_switch(tl, "none,other=all,+example.*"), TIMELINE_OK);
  CHECK_EQ(timeline_level(tl), TIMELINE_NONE);
  CHECK(timeline_enabled(tl, define(tl, TIMELINE_LIBRARY, "switched on by name")));
  CHECK_EQ(timeline_switch(tl, "-example.switched_on_*"), TIMELINE_OK);
  CHECK(!timeline_enabled(tl, define(tl, TIMELINE_LIBRARY, "switched on by name")));
  CHECK_EQ(timeline_switch(tl, "all"), TIMELINE_OK);
  CHECK_FAILS(timeline_switch(tl, "all,none"), TIMELINE_E_ARGUMENT, "\"none\" is no rule");
  CHECK_FAILS(timeline_switch(tl, NULL), TIMELINE_E_ARGUMENT, "rules is NULL");
  CHECK_FAILS(timeline_switch(NULL, "all"), TIMELINE_E_ARGUMENT, "the timeline is NULL");
  const timeline_attributes_t both = {.channels = "itv|bbc"};
  uint32_t news = 7;
  CHECK_EQ(timeline_define_with(tl, "example", TIMELINE_INFO, "news", &both, &news), TIMELINE_OK);
  CHECK(!timeline_enabled(tl, news));
  CHECK_EQ(timeline_channel(tl, "itv", true), TIMELINE_OK);
  CHECK(!timeline_enabled(tl, news));
  CHECK_EQ(timeline_option(tl, "--trace=bbc:info"), TIMELINE_OK);
  CHECK(timeline_enabled(tl, news));
  CHECK_EQ(timeline_level(tl), TIMELINE_INFO);
  CHECK_EQ(timeline_option(tl, "-trace=-itv:all"), TIMELINE_OK);
  CHECK(!timeline_enabled(tl, news));
  CHECK_EQ(timeline_option(tl, "-v"), TIMELINE_END);
  CHECK_EQ(timeline_option(tl, "-trace="), TIMELINE_OK);
  CHECK_FAILS(timeline_option(tl, "-trace=a b"), TIMELINE_E_ARGUMENT, "\"a b\" cannot name a channel");
  CHECK_FAILS(timeline_option(tl, NULL), TIMELINE_E_ARGUMENT, "argument is NULL");
  CHECK_FAILS(timeline_channel(tl, "", true), TIMELINE_E_ARGUMENT, "\"\" cannot name a channel");
  CHECK_FAILS(timeline_channel(tl, NULL, true), TIMELINE_E_ARGUMENT, "name is NULL");
  CHECK_FAILS(timeline_channel(NULL, "itv", true), TIMELINE_E_ARGUMENT, "the timeline is NULL");
  char path[sizeof ring + 8];
  snprintf(path, sizeof path, "%s.events", ring);
  timeline_catalogue_t *catalogue = NULL;
  timeline_defined_t one;
  FILE *file = fopen(path, "w");
  CHECK(file && fputs("[engine]\npacket itv=on|got packet $len\nprose\n\ninfo important|idle\n", file) >= 0 && fclose(file) == 0);
  CHECK_EQ(timeline_define_file(tl, path, &catalogue), TIMELINE_OK);
  CHECK_EQ(timeline_defined(catalogue, 0, &one), TIMELINE_OK);
  CHECK(strcmp(one.name, "engine.got_packet") == 0 && strcmp(one.category, "engine") == 0);
  CHECK(strcmp(one.message, "got packet $len\nprose") == 0 && strcmp(one.channels, "itv=on") == 0);
  CHECK_EQ(one.priority, TIMELINE_PACKET);
  CHECK(!one.important);
  CHECK_EQ(timeline_event_named(catalogue, "engine.got_packet"), one.event);
  CHECK_EQ(timeline_event_named(catalogue, "engine.got"), 0);
  CHECK_EQ(timeline_event_named(NULL, NULL), 0);
  CHECK_EQ(timeline_defined(catalogue, 1, &one), TIMELINE_OK);
  CHECK(timeline_enabled(tl, one.event) && one.important);
  CHECK_EQ(timeline_defined(catalogue, 2, &one), TIMELINE_END);
  CHECK_FAILS(timeline_defined(catalogue, 0, NULL), TIMELINE_E_ARGUMENT, "defined is NULL");
  CHECK_FAILS(timeline_defined(NULL, 0, &one), TIMELINE_E_ARGUMENT, "the catalogue is NULL");
  timeline_catalogue_free(catalogue);
  timeline_catalogue_free(NULL);
  CHECK((file = fopen(path, "w")) && fputs("\nloud|x\n", file) >= 0 && fclose(file) == 0);
  CHECK_FAILS(timeline_define_file(tl, path, &catalogue), TIMELINE_E_ARGUMENT, ".events:2: expected a priority");
  CHECK_EQ(remove(path), 0);
  CHECK_FAILS(timeline_define_file(tl, path, &catalogue), TIMELINE_E_IO, path);
  const timeline_attributes_t wrong_channels = {.channels = "itv,bbc"};
  CHECK_FAILS(timeline_define_with(tl, "example", TIMELINE_INFO, "news", &wrong_channels, &news), TIMELINE_E_ARGUMENT,
              "\"itv,bbc\" cannot name a channel");
  CHECK_EQ(news, 0);
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  snprintf(ring, sizeof ring, "%s/ring", argv[1]);
  snprintf(other, sizeof other, "%s/dump", argv[1]);
  snprintf(snapshot, sizeof snapshot, "%s/snapshot.timeline", argv[1]);
  CHECK(strcmp(timeline_last_error(), "") == 0);
  CHECK(timeline_version()[0] >= '0' && timeline_version()[0] <= '9');
  names();
  refusals_without_a_timeline();

  timeline_t *tl = NULL, *joined = NULL, *again = UNTOUCHED;
  CHECK_EQ(timeline_new(ring, 256, 4096, &tl), TIMELINE_OK);
  CHECK_FAILS(timeline_new(ring, 256, 4096, &again), TIMELINE_E_IN_USE, ring);
  CHECK(again == UNTOUCHED);
  CHECK_EQ(timeline_open(ring, &joined), TIMELINE_OK);
  CHECK(tl->serial != 0 && joined->serial != 0 && tl->serial != joined->serial);
  CHECK(tl->events > 1 && tl->events == joined->events);

  definitions_and_levels(tl);
  CHECK_EQ(define(joined, TIMELINE_ERROR, "failed with $status"), define(tl, TIMELINE_ERROR, "failed with $status"));
  CHECK_EQ(timeline_priority(joined, TIMELINE_INFO), TIMELINE_OK);
  CHECK_EQ(timeline_level(tl), TIMELINE_INFO);
  CHECK_EQ(timeline_priority(tl, TIMELINE_ALL), TIMELINE_OK);

  reading(ring);
  CHECK_FAILS(timeline_save(tl, NULL), TIMELINE_E_ARGUMENT, "file is NULL");
  CHECK_FAILS(timeline_save(tl, "/no/such/directory/file"), TIMELINE_E_IO, "/no/such/directory");
  CHECK_EQ(timeline_save(tl, snapshot), TIMELINE_OK);
  reading(snapshot);
  dumping();
  following(tl);
  important_events();
  sampling(tl);
  sampling_outlives_the_handle();
  errors_belong_to_threads();
  switching(tl);

  /* Full tables say so, and definitions that fit still work. */
  uint32_t event = 7;
  timeline_status_t status;
  int defined = 0;
  do {
    snprintf(text, sizeof text, "filler %d of the string table", defined++);
    status = timeline_define(tl, "filler", TIMELINE_INFO, text, &event);
  } while (status == TIMELINE_OK);
  CHECK_EQ(status, TIMELINE_E_FULL);
  CHECK_EQ(event, 0);
  CHECK(strstr(timeline_last_error(), "full"));
  CHECK(defined > 10);
  timeline_log(tl, event, 1, 2, 3, 4);
  CHECK(define(tl, TIMELINE_ERROR, "failed with $status") != 0);

  timeline_free(tl);
  timeline_log(joined, define(joined, TIMELINE_ERROR, "failed with $status"), 1, 0, 0, 0);
  CHECK_FAILS(timeline_open(snapshot, &again), TIMELINE_E_ARGUMENT, snapshot);
  CHECK_EQ(timeline_unlink(ring), TIMELINE_OK);
  CHECK_FAILS(timeline_unlink(ring), TIMELINE_E_NOT_FOUND, ring);
  timeline_free(joined);
  puts("abi: ok");
  return 0;
}
