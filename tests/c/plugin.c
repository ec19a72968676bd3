/* A plugin with its own copy of the library, for copies.c. */
#include <stddef.h>

#include <timeline.h>

static timeline_t *tl;
static uint32_t event;

/* Why that failed, or NULL. */
const char *plugin_join(const char *path) {
  if (timeline_open(path, &tl) == TIMELINE_OK &&
      timeline_define(tl, "copies", TIMELINE_INFO, "step $who $number $minus $twice", &event) == TIMELINE_OK)
    return NULL;
  return timeline_last_error();
}

void plugin_log(int64_t who, int64_t number) { timeline_log(tl, event, who, number, -number, 2 * number); }

/* An address of this copy, which tells it from another. */
const char *plugin_version(void) { return timeline_version(); }
