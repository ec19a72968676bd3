/* A library that is loaded late, and calls its argument. */
void plugin(void (*back)(void));
static volatile int calls;
#if AHEAD
void ahead(void);
void ahead(void) { calls--; }
#endif
void plugin(void (*back)(void)) {
  back();
  calls++; /* Not a tail call. */
}
