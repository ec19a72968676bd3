/* A library that takes another's place in memory. printf_replaced DIR FIRST SECOND: FIRST and
 * SECOND are libraries with `void plugin(void (*)(void))`, which calls its argument. The first is
 * unloaded before the second is loaded.
 *
 * Leaves DIR/ring, with a call stack through each, and prints `PLUGIN PID ADDRESS` for each. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

#include <timeline.h>

#include "check.h"

static timeline_t *tl;
static const char *through;
static uint64_t address;

static void back(void) {
  address = (uint64_t)(uintptr_t)__builtin_return_address(0);
  TIMELINE_BACKTRACE(tl, TIMELINE_INFO, "through %s", through);
}

static void call(const char *path) {
  void *library = dlopen(path, RTLD_NOW);
  CHECK(library != NULL);
  void (*plugin)(void (*)(void)) = (void (*)(void (*)(void)))(uintptr_t)dlsym(library, "plugin");
  CHECK(plugin != NULL);
  through = path;
  plugin(back);
  printf("%s %d %" PRIx64 "\n", path, (int)getpid(), address);
  CHECK_EQ(dlclose(library), 0);
  CHECK(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL);
}

int main(int argc, char **argv) {
  CHECK(argc == 4);
  char path[512];
  snprintf(path, sizeof path, "%s/ring", argv[1]);
  CHECK_EQ(timeline_new(path, 65536, 0, &tl), TIMELINE_OK);
  call(argv[2]);
  call(argv[3]);
  puts("printf_replaced: ok");
  return 0;
}
