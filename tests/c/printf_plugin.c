/* A library that is loaded late, and calls back. */
void plugin(void (*back)(void));
static volatile int calls;
void plugin(void (*back)(void)) {
  back();
  calls++; /* Not a tail call. */
}
