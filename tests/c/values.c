/* Prints the values of each event, the oldest first: an event a line. values NAME */
#include <math.h>
#include <stdint.h>

#include <timeline.h>

#include "check.h"

static void fraction(double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  if (isnan(number)) printf("nan"); else printf("%016llx", (unsigned long long)bits);
}

#define ELEMENT(c_type, format, as)                                  \
  do {                                                               \
    c_type element;                                                  \
    memcpy(&element, (const char *)value->data + i * sizeof element, sizeof element); \
    CHECK_EQ(value->element_size, sizeof element);                   \
    printf(format, (as)element);                                     \
  } while (0)

static void array(const timeline_event_value_t *value) {
  for (size_t i = 0; i < value->count; i++) {
    float f32;
    double f64;
    printf("%s", i ? "," : "");
    switch (value->type - TIMELINE_ARRAY_OF) {
      case TIMELINE_I8: ELEMENT(int8_t, "%lld", long long); break;
      case TIMELINE_I16: ELEMENT(int16_t, "%lld", long long); break;
      case TIMELINE_I32: ELEMENT(int32_t, "%lld", long long); break;
      case TIMELINE_I64: ELEMENT(int64_t, "%lld", long long); break;
      case TIMELINE_U8: ELEMENT(uint8_t, "%llu", unsigned long long); break;
      case TIMELINE_U16: ELEMENT(uint16_t, "%llu", unsigned long long); break;
      case TIMELINE_U32: ELEMENT(uint32_t, "%llu", unsigned long long); break;
      case TIMELINE_U64: ELEMENT(uint64_t, "%llu", unsigned long long); break;
      case TIMELINE_F32:
        memcpy(&f32, (const char *)value->data + i * sizeof f32, sizeof f32);
        fraction(f32);
        break;
      default:
        CHECK_EQ(value->type - TIMELINE_ARRAY_OF, TIMELINE_F64);
        memcpy(&f64, (const char *)value->data + i * sizeof f64, sizeof f64);
        fraction(f64);
    }
  }
}

static void print(const timeline_event_value_t *value) {
  const unsigned char *const bytes = value->data;
  printf(" ");
  switch (value->kind) {
    case TIMELINE_IS_NULL: printf("null"); break;
    case TIMELINE_IS_SIGNED:
      if (value->type == TIMELINE_BOOL) printf(value->integer ? "true" : "false");
      else printf("%lld", (long long)value->integer);
      break;
    case TIMELINE_IS_UNSIGNED: printf("%llu", (unsigned long long)value->natural); break;
    case TIMELINE_IS_FLOAT: fraction(value->number); break;
    case TIMELINE_IS_TEXT:
      printf("<");
      for (size_t i = 0; i < value->count; i++) printf("%02x", bytes[i]);
      printf(">");
      break;
    default:
      CHECK_EQ(value->kind, TIMELINE_IS_ARRAY);
      printf("[");
      array(value);
      printf("]");
  }
  if (value->cut) printf("+");
}

int main(int argc, char **argv) {
  timeline_attached_t *at;
  timeline_cursor_t *cursor;
  timeline_event_t event;
  CHECK_EQ(argc, 2);
  CHECK_EQ(timeline_attach(argv[1], &at), TIMELINE_OK);
  CHECK_EQ(timeline_events(at, TIMELINE_OLDEST_FIRST, &cursor), TIMELINE_OK);
  while (timeline_next(cursor, &event) == TIMELINE_OK) {
    timeline_event_value_t values[TIMELINE_MAX_FIELDS];
    uint32_t count, all;
    CHECK_EQ(timeline_values(&event, NULL, 0, &all), TIMELINE_OK);
    CHECK_EQ(timeline_values(&event, values, TIMELINE_MAX_FIELDS, &count), TIMELINE_OK);
    CHECK(count == all && count == event.argument_count);
    for (uint32_t i = 0; i < count; i++) print(&values[i]);
    printf("\n");
  }
  timeline_cursor_free(cursor);
  timeline_attached_free(at);
  return 0;
}
