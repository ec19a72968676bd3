/* Fills every text of a timeline that a program can set with one that a terminal must not see.
 *
 *   hostile_texts NAME TEXT DUMP
 *
 * Makes the timeline NAME with TEXT in all places, writes its dump to the file DUMP, prints a line,
 * and waits until its input ends. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* HOSTILE of the test. */
#define TIMELINE_CATEGORY "\x1b]2;x\a\xc2\x9b" "2J\xe2\x80\xae\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf\xd8\x9c\xe2\x81\xa6"
#include <timeline.h>

static timeline_t *tl;

static void check(int ok) {
  if (!ok) {
    fprintf(stderr, "hostile_texts: %s\n", timeline_last_error());
    exit(1);
  }
}

/* The test gives it another name. */
__attribute__((noinline)) void hostile_function(const char *text) {
  TIMELINE_BACKTRACE(tl, TIMELINE_ERROR, TIMELINE_CATEGORY "%s\r\n%s", text, text);
}

static void *other_thread(void *text) {
  prctl(PR_SET_NAME, (const char *)text + 1);
  uint32_t event;
  char message[256];
  snprintf(message, sizeof message, "%s $x %s", (char *)text, (char *)text);
  check(timeline_define(tl, text, TIMELINE_INFO, message, &event) == TIMELINE_OK);
  timeline_log(tl, event, 1, 0, 0, 0);
  hostile_function(text);
  return NULL;
}

int main(int argc, char **argv) {
  check(argc == 4);
  check(timeline_new(argv[1], 4096, 0, &tl) == TIMELINE_OK);
  pthread_t thread;
  check(pthread_create(&thread, NULL, other_thread, argv[2]) == 0);
  check(pthread_join(thread, NULL) == 0);
  const int dump = open(argv[3], O_WRONLY | O_CREAT, 0600);
  check(timeline_dump(argv[1], 0, dump) == TIMELINE_OK);
  puts("ready");
  fflush(stdout);
  return getchar() == 'x';
}
