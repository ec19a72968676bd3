/* A backtrace after any instruction of an append leads to the log call's caller. For x86-64. unwind
 * DIR ADDRESS SIZE ADDRESS SIZE: the places in the library of the function that appends, and of the
 * one that tries to. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <ucontext.h>

#include <timeline.h>

#include "check.h"

enum { TRAP = 0x100, DEEP = 64 };

static timeline_t *tl;
static uint32_t event;
/* The return address of the function that logs: one frame beyond the library's and its own. */
static void *caller;

static struct {
  uintptr_t begin, end;
  unsigned samples, blind;
} functions[2];

static void on_step(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)info;
  const ucontext_t *const interrupted = context;
  const uintptr_t at = (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP];
  for (int i = 0; i < 2; i++) {
    if (at < functions[i].begin || at >= functions[i].end) continue;
    void *frames[DEEP];
    const int count = backtrace(frames, DEEP);
    int found = 0;
    for (int frame = 0; frame < count; frame++) found |= frames[frame] == caller;
    functions[i].samples++;
    functions[i].blind += !found;
  }
}

__attribute__((noinline)) static void log_stepped(void) {
  caller = __builtin_return_address(0);
  __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP);
  timeline_log(tl, event, 1, 2, 3, 4);
  __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~(unsigned long long)TRAP);
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 6);
  char path[4096];
  snprintf(path, sizeof path, "%s/ring", argv[1]);
  CHECK_EQ(timeline_new(path, 1 << 16, 0, &tl), TIMELINE_OK);
  CHECK_EQ(timeline_define(tl, "unwind", TIMELINE_INFO, "step $a $b $c $d", &event), TIMELINE_OK);
  timeline_log(tl, event, 0, 0, 0, 0);

  Dl_info library;
  CHECK(dladdr(dlsym(RTLD_DEFAULT, "timeline_log"), &library) != 0);
  for (int i = 0; i < 2; i++) {
    functions[i].begin = (uintptr_t)library.dli_fbase + strtoull(argv[2 + 2 * i], NULL, 16);
    functions[i].end = functions[i].begin + strtoull(argv[3 + 2 * i], NULL, 16);
  }

  /* The first one loads the unwinder, which a handler should not. */
  void *frames[DEEP];
  CHECK(backtrace(frames, DEEP) > 0);
  struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
  CHECK_EQ(sigaction(SIGTRAP, &action, NULL), 0);
  log_stepped();

  for (int i = 0; i < 2; i++) CHECK_EQ(functions[i].blind, 0);
  CHECK(functions[0].samples > 3);
  /* Only with restartable sequences does the library try. */
  const unsigned *const rseq = dlsym(RTLD_DEFAULT, "__rseq_size");
  if (rseq && *rseq) CHECK(functions[1].samples > 3);
  puts("unwind: ok");
  return 0;
}
