// What was freed is closed: who comes late harms nobody, and is counted. freed DIR: an empty directory.
#include <timeline.h>

#include <dirent.h>
#include <stdlib.h>

#include "check.h"

static int count_files(void) {
  DIR *dir = opendir("/proc/self/fd");
  int count = 0;
  while (readdir(dir)) count++;
  closedir(dir);
  return count;
}

static bool is_mapped(const char *path) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[4096];
  bool found = false;
  while (fgets(line, sizeof line, maps))
    if (strstr(line, path)) found = true;
  fclose(maps);
  return found;
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  char path[512], other[512];
  snprintf(path, sizeof path, "%s/ring", argv[1]);
  snprintf(other, sizeof other, "%s/other", argv[1]);
  timeline_t *tl = NULL, *same = NULL;
  uint32_t event = 0, important = 0;
  const timeline_attributes_t attributes = {NULL, true};
  const int files = count_files();
  CHECK(timeline_new(path, 1024, 0, &tl) == TIMELINE_OK);
  CHECK(timeline_define(tl, "freed", TIMELINE_INFO, "logged $n", &event) == TIMELINE_OK);
  CHECK(timeline_define_with(tl, "freed", TIMELINE_INFO, "important $n", &attributes, &important) == TIMELINE_OK);
  timeline_log(tl, event, 1, 0, 0, 0);

  // It is open until each owner has freed it.
  CHECK(timeline_share(tl) == tl && timeline_share(NULL) == NULL);
  timeline_free(tl);
  timeline_log(tl, event, 2, 0, 0, 0);
  CHECK(timeline_level(tl) == TIMELINE_ALL);
  timeline_free(tl);
  CHECK(count_files() == files && !is_mapped(path));

  // Five events that come late.
  timeline_log(tl, event, 3, 0, 0, 0);
  timeline_log(tl, important, 4, 0, 0, 0);
  const uint64_t words[] = {5};
  timeline_log_payload(tl, event, words, 1, 0);
  for (int n = 0; n < 2; n++)
    if (timeline_enabled(tl, event)) timeline_log(tl, event, 6, 0, 0, 0);
  uint32_t late = 7;
  CHECK(timeline_define(tl, "freed", TIMELINE_INFO, "late", &late) == TIMELINE_E_ARGUMENT && late == 0);
  CHECK(strstr(timeline_last_error(), "was freed"));
  CHECK(timeline_priority(tl, TIMELINE_NONE) == TIMELINE_E_ARGUMENT);
  CHECK(timeline_thread(tl, "late", "") == TIMELINE_E_ARGUMENT);

  // The name is free, for others and for us, more often than a process can have timelines.
  for (int n = 0; n < 70; n++) {
    CHECK(timeline_new(other, 256, 4096, &same) == TIMELINE_OK);
    CHECK(timeline_define(same, "freed", TIMELINE_INFO, "logged $n", &event) == TIMELINE_OK);
    timeline_log(same, event, n, 0, 0, 0);
    timeline_free(same);
    timeline_log(same, event, n, 0, 0, 0);
  }
  CHECK(count_files() == files && !is_mapped(other));

  // A burst ends with its sampler, although the timeline was freed before.
  timeline_sampler_t *sampler = NULL;
  CHECK(timeline_open(other, &same) == TIMELINE_OK);
  CHECK(timeline_sample(same, TIMELINE_ALL, 1000000, 2000000, &sampler) == TIMELINE_OK);
  timeline_free(same);
  timeline_log(same, event, 0, 0, 0, 0);
  timeline_sampler_free(sampler);
  timeline_log(same, event, 0, 0, 0, 0);
  puts("freed: ok");
  return 0;
}
