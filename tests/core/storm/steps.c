/* Logs forty events, for debuggers: in a ring of small chunks, so that some of the calls take a new one. steps NAME */
#include <stdio.h>

#include <timeline.h>

enum { EVENTS = 40 };

int main(int argc, char **argv) {
  timeline_t *tl = NULL;
  uint32_t event = 0;
  if (argc != 2 || timeline_open(argv[1], &tl) != TIMELINE_OK ||
      timeline_define(tl, "core", TIMELINE_INFO, "step $who $number $mixed $turned", &event) != TIMELINE_OK) {
    fprintf(stderr, "steps: %s\n", timeline_last_error());
    return 1;
  }
  for (int64_t i = 0; i < EVENTS; i++) timeline_log(tl, event, 7, i, -i, i * i);
  timeline_free(tl);
  puts("steps: ok");
  return 0;
}
