/* Logs pointers to what has a name, and to what has none: tests/ffi/pointers.rs. pointers RING */
#include <stdlib.h>

#include <timeline.h>

#include "check.h"

int exported_counter[4];

__attribute__((noinline)) void exported_handler(void) {
  __asm__ volatile("");
}

int main(int count, char **arguments) {
  CHECK_EQ(count, 2);
  timeline_t *tl = NULL;
  CHECK_EQ(timeline_new(arguments[1], 256, 65536, &tl), TIMELINE_OK);
  void *const heap = malloc(16);
  const struct {
    const void *pointer;
  } of_each[] = {{(const void *)(uintptr_t)exported_handler},
                 {(const char *)exported_counter + 5},
                 {heap},
                 {NULL}};
  uint32_t plain = 0;
  CHECK_EQ(timeline_define(tl, "c", TIMELINE_INFO, "plain $a:ptr", &plain), TIMELINE_OK);
  for (int i = 0; i < 4; i++) {
    const void *const pointer = of_each[i].pointer;
    timeline_log(tl, plain, (int64_t)(uintptr_t)pointer, 0, 0, 0);
    TIMELINE_EVENT(tl, TIMELINE_INFO, "c", "event $a $n $b:str", pointer, i, "text");
    /* Integers only, and more than an entry has. */
    TIMELINE_EVENT(tl, TIMELINE_INFO, "c", "many $a $b $c $d $e", pointer, pointer, pointer, pointer, pointer);
  }
  free(heap);
  timeline_free(tl);
  return 0;
}
