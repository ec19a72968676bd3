/* Prints the events of a timeline, the oldest first: priority, category, text, and how many values. lost DIR TIMELINE */
#include <timeline.h>

#include "check.h"

int main(int argc, char **argv) {
  CHECK(argc == 3);
  timeline_attached_t *attached = NULL;
  CHECK_EQ(timeline_attach(argv[2], &attached), TIMELINE_OK);
  timeline_cursor_t *cursor = NULL;
  CHECK_EQ(timeline_events(attached, TIMELINE_OLDEST_FIRST, &cursor), TIMELINE_OK);
  timeline_event_t event;
  while (timeline_next(cursor, &event) == TIMELINE_OK) {
    char text[256];
    CHECK_EQ(timeline_render(&event, text, sizeof text, NULL), TIMELINE_OK);
    timeline_event_value_t values[4];
    uint32_t count;
    CHECK_EQ(timeline_values(&event, values, 4, &count), TIMELINE_OK);
    printf("%d '%s' %s %u\n", event.priority, event.category, text, count);
  }
  timeline_cursor_free(cursor);
  timeline_attached_free(attached);
  return 0;
}
