/* Spans of C, defined and as statements, and however their scopes are left. span DIR: an empty
 * directory. */
#include <stdint.h>

#include <timeline.h>

#include "check.h"

static timeline_t *tl;
static timeline_attached_t *at;
static timeline_cursor_t *cursor;
static int evaluated;

static int once(int n) {
  evaluated++;
  return n;
}

/* The next event that was logged. */
static void expect(const char *wanted, int line) {
  timeline_event_t event;
  char text[4096];
  CHECK_EQ(timeline_next(cursor, &event), TIMELINE_OK);
  CHECK_EQ(timeline_render(&event, text, sizeof text, NULL), TIMELINE_OK);
  /* What was on the stack is not logged. */
  for (unsigned i = event.argument_count; i < 4 && !event.payload; i++) CHECK_EQ(event.args[i], 0);
  if (strcmp(text, wanted) == 0) return;
  fprintf(stderr, "line %d: is \"%s\", expected \"%s\"\n", line, text, wanted);
  exit(1);
}
#define EXPECT(wanted) expect(wanted, __LINE__)

static void expect_none(int line) {
  timeline_event_t event;
  char text[4096];
  if (timeline_next(cursor, &event) == TIMELINE_END) return;
  CHECK_EQ(timeline_render(&event, text, sizeof text, NULL), TIMELINE_OK);
  fprintf(stderr, "line %d: is \"%s\", expected nothing\n", line, text);
  exit(1);
}
#define EXPECT_NONE() expect_none(__LINE__)

static void defined(void) {
  timeline_span_events_t breath, request, bad = {7, 7};
  uint32_t begin, end;
  CHECK_EQ(timeline_define_span(tl, "c", TIMELINE_INFO, "breath $packets", NULL, &breath), TIMELINE_OK);
  CHECK_EQ(timeline_define(tl, "c", TIMELINE_INFO, "begin breath $packets", &begin), TIMELINE_OK);
  CHECK_EQ(timeline_define(tl, "c", TIMELINE_INFO, "end breath $packets", &end), TIMELINE_OK);
  CHECK(breath.begin == begin && breath.end == end);
  timeline_log(tl, breath.begin, 10, 0, 0, 0);
  timeline_log(tl, breath.end, 17, 0, 0, 0);
  EXPECT("begin breath packets(10)");
  EXPECT("end breath packets(17)");
  const timeline_attributes_t attributes = {"itv", false};
  CHECK_EQ(timeline_define_async_span(tl, "c", TIMELINE_INFO, "request $id", &attributes, &request), TIMELINE_OK);
  timeline_log(tl, request.begin, 7, 0, 0, 0);
  CHECK_EQ(timeline_channel(tl, "itv", true), TIMELINE_OK);
  timeline_log(tl, request.begin, 8, 0, 0, 0);
  timeline_log(tl, request.end, 8, 0, 0, 0);
  EXPECT("start request id(8)");
  EXPECT("finish request id(8)");
  CHECK_FAILS(timeline_define_span(tl, "c", TIMELINE_INFO, "$n breath", NULL, &bad), TIMELINE_E_ARGUMENT,
              "which name the span");
  CHECK(bad.begin == 0 && bad.end == 0);
  CHECK_FAILS(timeline_define_async_span(tl, "c", TIMELINE_INFO, "request", NULL, &bad), TIMELINE_E_ARGUMENT,
              "which is its key");
  CHECK_FAILS(timeline_define_span(NULL, "c", TIMELINE_INFO, "a", NULL, &bad), TIMELINE_E_ARGUMENT, "NULL");
  CHECK_FAILS(timeline_define_span(tl, "c", TIMELINE_INFO, NULL, NULL, &bad), TIMELINE_E_ARGUMENT, "message");
  CHECK_FAILS(timeline_define_span(tl, "c", 99, "a", NULL, &bad), TIMELINE_E_ARGUMENT, "priority");
  CHECK_FAILS(timeline_define_span(tl, "c", TIMELINE_INFO, "a", NULL, NULL), TIMELINE_E_ARGUMENT, "events");
}

/* Leaves its scopes in the way that `how` says. */
static int leave(int how) {
  TIMELINE_SPAN(tl, TIMELINE_INFO, "c", "outer $how", how);
  for (int turn = 0; turn < 2; turn++) {
    TIMELINE_SPAN(tl, TIMELINE_INFO, "c", "turn $turn", turn);
    if (how == 1) return how;
    if (how == 2) break;
    if (how == 3) continue;
    if (how == 4) goto out;
    TIMELINE_EVENT(tl, TIMELINE_INFO, "c", "inside");
  }
  TIMELINE_EVENT(tl, TIMELINE_INFO, "c", "behind");
out:
  return 0;
}

static void scopes(void) {
  leave(0);
  EXPECT("begin outer how(0)");
  for (int turn = 0; turn < 2; turn++) {
    EXPECT(turn ? "begin turn turn(1)" : "begin turn turn(0)");
    EXPECT("inside");
    EXPECT(turn ? "end turn turn(1)" : "end turn turn(0)");
  }
  EXPECT("behind");
  EXPECT("end outer how(0)");
  for (int how = 1; how <= 4; how++) {
    static const char *const begins[] = {"", "begin outer how(1)", "begin outer how(2)", "begin outer how(3)",
                                         "begin outer how(4)"};
    static const char *const ends[] = {"", "end outer how(1)", "end outer how(2)", "end outer how(3)",
                                       "end outer how(4)"};
    leave(how);
    EXPECT(begins[how]);
    EXPECT("begin turn turn(0)");
    EXPECT("end turn turn(0)");
    if (how == 3) {
      EXPECT("begin turn turn(1)");
      EXPECT("end turn turn(1)");
    }
    if (how == 2 || how == 3) EXPECT("behind");
    EXPECT(ends[how]);
  }
}

/* Spans of one macro are on one line. */
#define BOTH(turn)                                             \
  TIMELINE_SPAN(tl, TIMELINE_INFO, "c", "first $turn", turn);  \
  TIMELINE_SPAN(tl, TIMELINE_INFO, "c", "second $name", "two")

static void one_line(void) {
  {
    BOTH(1);
  }
  EXPECT("begin first turn(1)");
  EXPECT("begin second name(two)");
  EXPECT("end second name(two)");
  EXPECT("end first turn(1)");
}

/* The end has the arguments of the begin, whatever became of them. */
static void arguments(void) {
  char name[32] = "eth0";
  uint8_t bytes[] = {1, 2, 3};
  int number = 1;
  {
    TIMELINE_SPAN(tl, TIMELINE_INFO, "c", "none");
    TIMELINE_SPAN(tl, TIMELINE_INFO, "c", "four $a $b $c:f64 $d:bool", number, -2L, 0.5, true);
    TIMELINE_SPAN(tl, TIMELINE_INFO, "c", "six $a $b $c $d $e $f:u8", number, 2, 3, 4, 5, 257);
    TIMELINE_SPAN(tl, TIMELINE_INFO, "c", "text $name:str $n $bytes:u8[]", name, number, TIMELINE_ARRAY(bytes, 3));
    TIMELINE_SPAN(tl, TIMELINE_INFO, "c", "interned $name:istr $copy:str $other:istr", name, name,
                  TIMELINE_TEXT("lo and more", 2));
    number = 7;
    bytes[0] = 9;
    strcpy(name, "changed");
  }
  EXPECT("begin none");
  EXPECT("begin four a(1) b(-2) c(0.5) d(true)");
  EXPECT("begin six a(1) b(2) c(3) d(4) e(5) f(1)");
  EXPECT("begin text name(eth0) n(1) bytes([1, 2, 3])");
  EXPECT("begin interned name(eth0) copy(eth0) other(lo)");
  EXPECT("end interned name(eth0) copy(eth0) other(lo)");
  EXPECT("end text name(eth0) n(1) bytes([1, 2, 3])");
  EXPECT("end six a(1) b(2) c(3) d(4) e(5) f(1)");
  EXPECT("end four a(1) b(-2) c(0.5) d(true)");
  EXPECT("end none");
}

static void run(int level, int before, int within) {
  CHECK_EQ(timeline_priority(tl, before), TIMELINE_OK);
  TIMELINE_SPAN(tl, level, "c", "once $n", once(3));
  CHECK_EQ(timeline_priority(tl, within), TIMELINE_OK);
}

/* There is no end without a begin, and a span that is disabled evaluates nothing. */
static void levels(void) {
  run(TIMELINE_TRACE, TIMELINE_INFO, TIMELINE_ALL);
  EXPECT_NONE();
  CHECK_EQ(evaluated, 0);
  run(TIMELINE_TRACE, TIMELINE_ALL, TIMELINE_INFO);
  EXPECT("begin once n(3)");
  EXPECT_NONE();
  run(TIMELINE_INFO, TIMELINE_INFO, TIMELINE_ALL);
  EXPECT("begin once n(3)");
  EXPECT("end once n(3)");
  CHECK_EQ(evaluated, 2);
  run(99, TIMELINE_ALL, TIMELINE_ALL);
  {
    timeline_t *none = NULL;
    TIMELINE_SPAN(none, TIMELINE_INFO, "c", "nowhere $n", once(1));
    TIMELINE_SPAN(tl, TIMELINE_INFO, "c", "$n is no name", once(1));
    CHECK(strstr(timeline_last_error(), "which name the span"));
    /* The timeline says so of both events. */
    for (int i = 0; i < 2; i++) {
      timeline_event_t event;
      CHECK_EQ(timeline_next(cursor, &event), TIMELINE_OK);
      CHECK_EQ(strcmp(event.category, "timeline"), 0);
    }
  }
  EXPECT_NONE();
  CHECK_EQ(evaluated, 2);
  CHECK_EQ(timeline_switch(tl, "all,-c.begin_*"), TIMELINE_OK);
  { TIMELINE_SPAN(tl, TIMELINE_INFO, "c", "without a begin"); }
  CHECK_EQ(timeline_switch(tl, "all"), TIMELINE_OK);
  EXPECT_NONE();
}

static void packet(void) { TIMELINE_SPAN(tl, TIMELINE_PACKET, "c", "packet"); }

/* The first run defines both events, although it logs none: the next one may be one of a handler. */
static void first_run(void) {
  CHECK_EQ(timeline_priority(tl, TIMELINE_INFO), TIMELINE_OK);
  packet();
  uint32_t later;
  CHECK_EQ(timeline_define(tl, "c", TIMELINE_INFO, "defined later", &later), TIMELINE_OK);
  CHECK_EQ(timeline_priority(tl, TIMELINE_ALL), TIMELINE_OK);
  packet();
  for (int i = 0; i < 2; i++) {
    timeline_event_t event;
    CHECK_EQ(timeline_next(cursor, &event), TIMELINE_OK);
    CHECK(event.event < later);
    CHECK(event.line != 0 && strcmp(event.file, __FILE__) == 0);
  }
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  char path[4096];
  snprintf(path, sizeof path, "%s/ring", argv[1]);
  CHECK_EQ(timeline_new(path, 4096, 65536, &tl), TIMELINE_OK);
  CHECK_EQ(timeline_attach(path, &at), TIMELINE_OK);
  CHECK_EQ(timeline_follow(at, TIMELINE_FROM_OLDEST, &cursor), TIMELINE_OK);
  defined();
  scopes();
  one_line();
  arguments();
  levels();
  first_run();
  EXPECT_NONE();
  timeline_cursor_free(cursor);
  timeline_attached_free(at);
  timeline_free(tl);
  puts("span: ok");
  return 0;
}
