/* The first event of a thread allocates nothing, and later ones make no system call, however many
 * chunks they fill. quiet DIR */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <timeline.h>

#include "check.h"

static volatile int counting, allocations;

/* Replaces the function of the C library for this program and its libraries. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
  allocations += counting;
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  allocations += counting;
  return __libc_calloc(count, size);
}
void *realloc(void *place, size_t size) {
  allocations += counting;
  return __libc_realloc(place, size);
}
int posix_memalign(void **place, size_t alignment, size_t size) {
  allocations += counting;
  *place = __libc_memalign(alignment, size);
  return *place ? 0 : 12;
}

static timeline_t *tl;
static uint32_t event;

static void *log_first(void *number) {
  counting = 1;
  timeline_log(tl, event, (int64_t)(intptr_t)number, 0, 0, 0);
  counting = 0;
  return NULL;
}

/* From here on, any system call kills the process, except the one that ends it. */
static void allow_nothing(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
  };
  const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  CHECK_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  counting = 1;
  free(malloc(1));
  counting = 0;
  CHECK_EQ(allocations, 1); /* the counting works */
  allocations = 0;

  char path[4096];
  snprintf(path, sizeof path, "%s/ring", argv[1]);
  CHECK_EQ(timeline_new(path, 4096, 0, &tl), TIMELINE_OK);
  CHECK_EQ(timeline_define(tl, "quiet", TIMELINE_INFO, "number $number", &event), TIMELINE_OK);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, log_first, (void *)(intptr_t)-2), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(allocations, 0);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    /* Its process joins here, too. */
    log_first((void *)(intptr_t)-1);
    CHECK_EQ(allocations, 0);
    allow_nothing();
    for (int64_t i = 0; i < 1000000; i++) timeline_log(tl, event, i, 0, 0, 0);
    syscall(SYS_exit_group, 0);
  }
  int status = 1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0); /* else killed for a system call */

  /* And the filter does kill. */
  child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    allow_nothing();
    syscall(SYS_getppid);
    syscall(SYS_exit_group, 0);
  }
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFSIGNALED(status));
  timeline_free(tl);
  puts("quiet: ok");
  return 0;
}
