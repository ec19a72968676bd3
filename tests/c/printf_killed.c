/* Logs events of many entries from some threads until it is killed. printf_killed RING THREADS */
#include <pthread.h>

#include <timeline.h>

#include "check.h"

static timeline_t *tl;

static char *filled(char *to, int number, int length) {
  memset(to, 'a' + number % 26, (size_t)length);
  to[length] = 0;
  return to;
}

static void *work(void *of) {
  static const long double half = 0.5L;
  const int who = *(int *)of;
  char first[800], second[800];
  for (int number = 0;; number++) {
    TIMELINE_PRINTF(tl, TIMELINE_INFO, "%d %d %s %Lf %s", who, number, filled(first, number, number % 700), half + number,
                    filled(second, number, number * 7 % 700));
  }
  return NULL;
}

int main(int argc, char **argv) {
  enum { MOST = 16 };
  CHECK(argc == 3);
  const int threads = atoi(argv[2]);
  CHECK(threads > 0 && threads <= MOST);
  CHECK_EQ(timeline_new(argv[1], 32768, 65536, &tl), TIMELINE_OK);
  pthread_t ids[MOST];
  int numbers[MOST];
  for (int i = 0; i < threads; i++) {
    numbers[i] = i;
    CHECK(pthread_create(&ids[i], NULL, work, &numbers[i]) == 0);
  }
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  return 1;
}
