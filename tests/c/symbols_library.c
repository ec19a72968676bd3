/* A shared library with exported and static functions, for tests/c/symbols.c. */
#include <stdint.h>

#define NOINLINE __attribute__((noinline, noclone))

static NOINLINE uintptr_t returns_to(void) {
  __asm__ volatile("");
  return (uintptr_t)__builtin_return_address(0);
}

static NOINLINE uintptr_t library_hidden(void) {
  uintptr_t here = returns_to();
  __asm__ volatile("");
  return here;
}

uintptr_t library_exported(void);
NOINLINE uintptr_t library_exported(void) {
  uintptr_t here = returns_to();
  __asm__ volatile("");
  return here;
}

uintptr_t library_static(uintptr_t *start);
uintptr_t library_static(uintptr_t *start) {
  *start = (uintptr_t)library_hidden;
  uintptr_t here = library_hidden();
  __asm__ volatile("");
  return here;
}
