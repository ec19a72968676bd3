// A program that locks all its memory pays for a ring once. locked DIR LIMIT: an empty directory, and how many KiB it may lock.
#define _GNU_SOURCE
#include <timeline.h>

#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

// In KiB, as /proc/self/status has them: the ring is somewhat larger than that, and the program
// itself may take less than that meanwhile.
enum { RING = 2048, LITTLE = 512 };

static long status(const char *field) {
  FILE *file = fopen("/proc/self/status", "r");
  char line[256];
  long kilobytes = -1;
  while (fgets(line, sizeof line, file))
    if (!strncmp(line, field, strlen(field))) kilobytes = atol(line + strlen(field));
  fclose(file);
  return kilobytes;
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

// From here on it may not lock more than that, whoever runs it.
static void limit(long kib) {
  const struct rlimit limit = {(rlim_t)kib << 10, (rlim_t)kib << 10};
  CHECK(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2];
  CHECK(syscall(SYS_capget, &header, data) == 0);
  data[0].effective &= ~(1u << CAP_IPC_LOCK);
  CHECK(syscall(SYS_capset, &header, data) == 0);
}

int main(int argc, char **argv) {
  CHECK(argc == 3);
  const long kib = atol(argv[2]);
  char path[512];
  snprintf(path, sizeof path, "%s/ring", argv[1]);
  if (kib) limit(kib);
  CHECK(mlockall(MCL_FUTURE) == 0);

  // It is locked if there is room.
  const long before = status("VmLck:");
  timeline_t *tl = NULL;
  uint32_t event = 0;
  CHECK(timeline_new(path, 32 * 1024, 32 * 1024, &tl) == TIMELINE_OK);
  CHECK(timeline_define(tl, "locked", TIMELINE_INFO, "logged $n", &event) == TIMELINE_OK);
  timeline_log(tl, event, 1, 0, 0, 0);
  const long locked = status("VmLck:"), own = status("RssAnon:"), all = status("VmRSS:");
  CHECK((locked > before + RING) == (kib == 0 || kib > RING));

  // A reader touches and locks nothing of it.
  timeline_attached_t *attached = NULL;
  CHECK(timeline_attach(path, &attached) == TIMELINE_OK);
  CHECK(status("VmLck:") < locked + LITTLE && status("VmRSS:") < all + RING);
  timeline_attached_free(attached);

  // Nor do the zeros that stand in its place once it is freed.
  timeline_free(tl);
  CHECK(!is_mapped(path));
  CHECK(status("VmLck:") < before + LITTLE && status("RssAnon:") < own + LITTLE);
  timeline_log(tl, event, 2, 0, 0, 0);
  puts("locked: ok");
  return 0;
}
