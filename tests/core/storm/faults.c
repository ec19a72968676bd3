/* faults FAULT: does what memcheck must find, so that it is known to look. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *volatile lost;
static volatile size_t size = 64;

int main(int argc, char **argv) {
  const char *fault = argc > 1 ? argv[1] : "";
  char *bytes = malloc(size);
  if (!bytes) return 1;
  lost = bytes;
  if (strcmp(fault, "beyond") == 0 && lost[size]) puts("not zero");
  if (strcmp(fault, "undefined") == 0 && lost[size / 2]) puts("not zero");
  if (strcmp(fault, "leaked") != 0) free(bytes);
  bytes = NULL;
  lost = NULL;
  return 0;
}
