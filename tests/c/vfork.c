/* Children of vfork log before the thread that waits for them has: they run in its memory, but must
 * not join in its name. (After it has logged, they must not log.) vfork DIR; prints the pid of a
 * forked child, its second thread's id, and the pids of the children of vfork. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <timeline.h>

#include "check.h"

static timeline_t *tl;
static uint32_t event;

/* Logs one event in a child of vfork, and returns its pid. */
static pid_t vforked(int64_t who) {
  const pid_t pid = vfork();
  if (pid == 0) {
    timeline_log(tl, event, who, 0, 0, 0);
    _exit(0);
  }
  int status = 1;
  CHECK_EQ(waitpid(pid, &status, 0), pid);
  CHECK_EQ(status, 0);
  return pid;
}

static void count_up(int64_t who, int64_t end) {
  for (int64_t i = 0; i < end; i++) timeline_log(tl, event, who, i, 0, 0);
}

static pid_t tid, dead[2];

/* A thread that has not logged, in a process that has. */
static void *in_a_thread(void *unused) {
  tid = (pid_t)syscall(SYS_gettid);
  dead[1] = vforked(3);
  count_up(4, 1000);
  return unused;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  char path[4096];
  snprintf(path, sizeof path, "%s/ring", argv[1]);
  CHECK_EQ(timeline_new(path, 1 << 18, 0, &tl), TIMELINE_OK);
  CHECK_EQ(timeline_define(tl, "vfork", TIMELINE_INFO, "$who logs $number", &event), TIMELINE_OK);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    dead[0] = vforked(1);
    count_up(2, 100000);
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, in_a_thread, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    printf("%d %d %d %d\n", (int)getpid(), (int)tid, (int)dead[0], (int)dead[1]);
    timeline_free(tl);
    exit(0);
  }
  int status = 1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
  timeline_free(tl);
  return 0;
}
