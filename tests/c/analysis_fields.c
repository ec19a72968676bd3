/* Reads each field of an event that a test has logged, as each type. analysis_fields PATH */
#include <timeline-analysis.h>

#include "check.h"

enum { LEN, HOST, COLOR, MODE, RATIO, OK, SIZES, LETTER, TOOK, PLAIN, ABSENT, NONE, FIELDS };
static const char *const NAMES[FIELDS] = {"len", "host",   "color", "mode",  "ratio",  "ok",
                                          "sizes", "letter", "took",  "plain", "length", "none"};
static timeline_analysis_field_t fields[FIELDS];
static int events;

static void same(const char *got, const char *expected) {
  if (strcmp(got, expected) != 0) {
    fprintf(stderr, "got %s, expected %s\n", got, expected);
    exit(1);
  }
}

/* Each field as an i64, a u64, an f64, a bool, a str, a label, and an array of u16. */
enum { I64, U64, F64, BOOL, STR, LABEL, ARRAY, READERS };
static const char *const READER[READERS] = {"i64", "u64", "f64", "bool", "str", "label", "array of u16"};
static const char *const TYPES[FIELDS] = {"u32",   "str",  "enum(red=1,green=2)", "flags(r=1,w=2)", "f32", "bool",
                                          "u16[]", "char", "ns",                  "i64"};
static const char READS[FIELDS][READERS + 1] = {
    "iu-----", "----s--", "i----l-", "i----l-", "--f----", "---b---", "------a", "iu-----", "i------", "i------",
    "",        ""};

typedef struct {
  int64_t i64, label;
  uint64_t u64;
  double f64;
  bool truth;
  const char *str, *name;
  size_t size;
  timeline_event_value_t array;
} values_t;

static timeline_status_t read_as(const timeline_analysis_event_t *event, uint32_t field, int reader, values_t *to) {
  switch (reader) {
    case I64: return timeline_analysis_i64(event, field, &to->i64);
    case U64: return timeline_analysis_u64(event, field, &to->u64);
    case F64: return timeline_analysis_f64(event, field, &to->f64);
    case BOOL: return timeline_analysis_bool(event, field, &to->truth);
    case STR: return timeline_analysis_str(event, field, &to->str, &to->size);
    case LABEL: return timeline_analysis_label(event, field, &to->label, &to->name);
    default: return timeline_analysis_array(event, field, TIMELINE_U16, &to->array);
  }
}

/* What is absent is told apart from what has another type, which is named together with the reader. */
static void each_type(const timeline_analysis_event_t *event) {
  for (int field = 0; field < FIELDS; field++) {
    for (int reader = 0; reader < READERS; reader++) {
      values_t values, before;
      memset(&before, 7, sizeof before);
      values = before;
      const timeline_status_t status = read_as(event, fields[field], reader, &values);
      if (field >= ABSENT) {
        /* The text that is none is a str all the same. */
        const bool is_other = field == NONE && reader != STR;
        CHECK_EQ(status, is_other ? TIMELINE_E_ARGUMENT : TIMELINE_END);
      } else if (READS[field][reader] == '-') {
        char expected[256];
        CHECK_EQ(status, TIMELINE_E_ARGUMENT);
        snprintf(expected, sizeof expected, "the field %s of net.sent is %s, and timeline_analysis_%s does not read that",
                 NAMES[field], TYPES[field], READER[reader]);
        same(timeline_analysis_last_error(), expected);
      } else {
        if (status != TIMELINE_OK) printf("%s as %s\n", NAMES[field], READER[reader]);
        CHECK_EQ(status, TIMELINE_OK);
        continue;
      }
      CHECK(memcmp(&values, &before, sizeof values) == 0);
    }
  }
}

static void each_value(const timeline_analysis_event_t *event) {
  values_t values;
  CHECK_EQ(read_as(event, fields[LEN], I64, &values), TIMELINE_OK);
  CHECK_EQ(values.i64, 1500);
  CHECK_EQ(read_as(event, fields[LEN], U64, &values), TIMELINE_OK);
  CHECK_EQ(values.u64, 1500);
  CHECK_EQ(read_as(event, fields[HOST], STR, &values), TIMELINE_OK);
  same(values.str, "eth0");
  CHECK_EQ(values.size, 4);
  CHECK_EQ(read_as(event, fields[COLOR], LABEL, &values), TIMELINE_OK);
  same(values.name, "green");
  CHECK_EQ(values.label, 2);
  const char *kept = values.name;
  CHECK_EQ(read_as(event, fields[MODE], LABEL, &values), TIMELINE_OK);
  same(values.name, "r|w");
  same(kept, "green");
  CHECK_EQ(values.label, 3);
  CHECK_EQ(read_as(event, fields[RATIO], F64, &values), TIMELINE_OK);
  CHECK(values.f64 == 0.5);
  CHECK_EQ(read_as(event, fields[OK], BOOL, &values), TIMELINE_OK);
  CHECK(values.truth);
  CHECK_EQ(read_as(event, fields[LETTER], U64, &values), TIMELINE_OK);
  CHECK_EQ(values.u64, 0x1f600);
  CHECK_EQ(read_as(event, fields[TOOK], I64, &values), TIMELINE_OK);
  CHECK_EQ(values.i64, -9);
  CHECK_EQ(read_as(event, fields[PLAIN], I64, &values), TIMELINE_OK);
  CHECK_EQ(values.i64, -4);
  CHECK_EQ(read_as(event, fields[SIZES], ARRAY, &values), TIMELINE_OK);
  uint16_t sizes[2];
  CHECK(values.array.count == 2 && values.array.element_size == 2 && values.array.cut);
  CHECK_EQ(values.array.kind, TIMELINE_IS_ARRAY);
  memcpy(sizes, values.array.data, sizeof sizes);
  CHECK(sizes[0] == 7 && sizes[1] == 300);
  /* Without the parts that nobody needs. */
  CHECK_EQ(timeline_analysis_str(event, fields[HOST], &values.str, NULL), TIMELINE_OK);
  CHECK_EQ(timeline_analysis_label(event, fields[COLOR], &values.label, NULL), TIMELINE_OK);
}

/* As they are stored. */
static void any_value(const timeline_analysis_event_t *event) {
  timeline_event_value_t value;
  memset(&value, 7, sizeof value);
  CHECK_EQ(timeline_analysis_value(event, fields[ABSENT], &value), TIMELINE_END);
  CHECK_EQ(timeline_analysis_value(event, fields[NONE], &value), TIMELINE_END);
  CHECK_EQ(timeline_analysis_value(event, 0, &value), TIMELINE_END);
  CHECK_EQ(timeline_analysis_value(event, FIELDS + 1, &value), TIMELINE_END);
  CHECK_EQ(value.kind, 0x07070707);
  CHECK_EQ(timeline_analysis_value(event, fields[HOST], &value), TIMELINE_OK);
  CHECK(value.kind == TIMELINE_IS_TEXT && value.type == TIMELINE_STR && value.count == 4 && !value.cut);
  CHECK(memcmp(value.data, "eth0", 4) == 0);
  CHECK_EQ(timeline_analysis_value(event, fields[COLOR], &value), TIMELINE_OK);
  CHECK(value.kind == TIMELINE_IS_SIGNED && value.type == TIMELINE_ENUM && value.integer == 2);
  CHECK_EQ(timeline_analysis_value(event, fields[SIZES], &value), TIMELINE_OK);
  CHECK(value.kind == TIMELINE_IS_ARRAY && value.type == TIMELINE_ARRAY_OF + TIMELINE_U16);
  CHECK_EQ(timeline_analysis_value(event, fields[RATIO], &value), TIMELINE_OK);
  CHECK(value.kind == TIMELINE_IS_FLOAT && value.number == 0.5);
  /* A number has one type, and not those that are wider. */
  CHECK_EQ(timeline_analysis_array(event, fields[SIZES], TIMELINE_U32, &value), TIMELINE_E_ARGUMENT);
  CHECK_EQ(timeline_analysis_array(event, fields[SIZES], TIMELINE_STR, &value), TIMELINE_E_ARGUMENT);
  CHECK(strstr(timeline_analysis_last_error(), "no arrays of 20") != NULL);
}

static void look(const timeline_analysis_event_t *event) {
  events++;
  each_type(event);
  each_value(event);
  any_value(event);
}

static timeline_status_t begin(timeline_subscriptions_t *wanted, void *user) {
  CHECK(user == &events);
  CHECK_EQ(timeline_analysis_events(wanted, NULL, NULL, NULL), TIMELINE_OK);
  for (int field = 0; field < FIELDS; field++)
    CHECK_EQ(timeline_analysis_field(wanted, NAMES[field], &fields[field]), TIMELINE_OK);
  return TIMELINE_OK;
}

static timeline_status_t event(const timeline_analysis_event_t *one, void *user) {
  CHECK(user == &events);
  look(one);
  return TIMELINE_OK;
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  const char *const *paths = (const char *const *)(argv + 1);
  timeline_analysis_t *analysis = NULL;
  const timeline_analyzer_t analyzer = {&events, begin, event, NULL, NULL, NULL};
  CHECK_EQ(timeline_analysis_open(paths, 1, TIMELINE_ANALYSIS_HELD, &analysis), TIMELINE_OK);
  CHECK_EQ(timeline_analysis_add(analysis, &analyzer), TIMELINE_OK);
  CHECK_EQ(timeline_analysis_run(analysis, NULL), TIMELINE_OK);
  timeline_analysis_free(analysis);
  CHECK_EQ(events, 2);

  timeline_subscriptions_t *wanted = NULL;
  timeline_analysis_item_t item;
  CHECK_EQ(timeline_analysis_open(paths, 1, TIMELINE_ANALYSIS_HELD, &analysis), TIMELINE_OK);
  CHECK_EQ(timeline_analysis_subscriptions(analysis, &wanted), TIMELINE_OK);
  CHECK_EQ(begin(wanted, &events), TIMELINE_OK);
  for (int given = 0; given < 2; given++) {
    CHECK_EQ(timeline_analysis_next(analysis, 0, &item), TIMELINE_OK);
    CHECK_EQ(item.kind, TIMELINE_ANALYSIS_EVENT);
    look(item.event);
  }
  CHECK_EQ(timeline_analysis_next(analysis, 0, &item), TIMELINE_OK);
  CHECK(item.kind == TIMELINE_ANALYSIS_WHOLE && item.event == NULL);
  /* Not all of it was asked for. */
  timeline_analysis_free(analysis);
  puts("fields: ok");
  return 0;
}
