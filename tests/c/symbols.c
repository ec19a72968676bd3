/* Prints modules, addresses and return addresses as the loader names them:
   tests/ffi/symbols.rs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <inttypes.h>
#include <link.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uintptr_t library_exported(void);
uintptr_t library_static(uintptr_t *start);

#define NOINLINE __attribute__((noinline, noclone))

static jmp_buf back;
static uintptr_t returns_to;

/* `leave` does not return, so no code need follow the call in `calls_last`: the next byte belongs
 * to `follows`. */
NOINLINE __attribute__((noreturn)) void leave(void) {
  returns_to = (uintptr_t)__builtin_return_address(0);
  longjmp(back, 1);
}
NOINLINE void calls_last(void) {
  __asm__ volatile("");
  leave();
}
NOINLINE uintptr_t follows(void) {
  __asm__ volatile("");
  return (uintptr_t)__builtin_return_address(0);
}

static NOINLINE uintptr_t of_this_file(void) {
  uintptr_t here = follows();
  __asm__ volatile("");
  return here;
}

int exported_data[16] = {1};

static void build_id(const struct dl_phdr_info *info) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    const char *note = (const char *)(info->dlpi_addr + header->p_vaddr);
    const char *end = note + header->p_memsz;
    if (header->p_type != PT_NOTE) {
      continue;
    }
    while (note + sizeof(ElfW(Nhdr)) <= end) {
      const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)note;
      size_t align = header->p_align == 8 ? 8 : 4;
      size_t desc = (sizeof *n + n->n_namesz + align - 1) / align * align;
      if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && memcmp(n + 1, "GNU", 4) == 0) {
        for (size_t b = 0; b < n->n_descsz; b++) {
          printf("%02x", (unsigned char)note[desc + b]);
        }
        return;
      }
      note += (desc + n->n_descsz + align - 1) / align * align;
    }
  }
  printf("-");
}

static void ask(uintptr_t address) {
  Dl_info info;
  if (!dladdr((void *)address, &info)) {
    printf("nothing %" PRIxPTR "\n", address);
    return;
  }
  printf("address %" PRIxPTR " %s %" PRIxPTR " %s %" PRIxPTR "\n", address, info.dli_fname, (uintptr_t)info.dli_fbase,
         info.dli_sname ? info.dli_sname : "-", (uintptr_t)info.dli_saddr);
}

static int module(struct dl_phdr_info *info, size_t size, void *program) {
  uintptr_t low = UINTPTR_MAX, high = 0;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    if (header->p_type == PT_LOAD) {
      low = header->p_vaddr < low ? header->p_vaddr : low;
      high = header->p_vaddr + header->p_memsz > high ? header->p_vaddr + header->p_memsz : high;
    }
  }
  low = (info->dlpi_addr + low) & ~(uintptr_t)4095;
  high += info->dlpi_addr;
  printf("module %ld %" PRIxPTR " %" PRIxPTR " %" PRIxPTR " ", (long)getpid(), low, low, high);
  build_id(info);
  printf(" %s\n", *info->dlpi_name ? info->dlpi_name : (const char *)program);
  /* The vDSO has no file. */
  if (strstr(info->dlpi_name, "vdso")) {
    return 0;
  }
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    if (header->p_type == PT_LOAD) {
      uintptr_t start = info->dlpi_addr + header->p_vaddr;
      /* All symbols of small objects, some of the C library. */
      uintptr_t step = header->p_memsz < 65536 ? 1 : 61;
      for (uintptr_t address = start; address < start + header->p_memsz; address += step) {
        ask(address);
      }
    }
  }
  return 0;
}

int main(int argc, char **argv) {
  (void)argc;
  dl_iterate_phdr(module, argv[0]);
  ask(8);
  ask((uintptr_t)exported_data + 5);
  if (setjmp(back) == 0) {
    calls_last();
  }
  printf("last %" PRIxPTR " %" PRIxPTR "\n", returns_to, (uintptr_t)calls_last);
  printf("called of_this_file %" PRIxPTR " %" PRIxPTR "\n", of_this_file(), (uintptr_t)of_this_file);
  uintptr_t start;
  uintptr_t inside = library_static(&start);
  printf("called library_hidden %" PRIxPTR " %" PRIxPTR "\n", inside, start);
  inside = library_exported();
  /* Its address may be that of its PLT entry in the program. */
  printf("called library_exported %" PRIxPTR "\n", inside);
  return 0;
}
