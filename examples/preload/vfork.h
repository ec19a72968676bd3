/* Has what a child of vfork calls counted, and not logged. */
#ifndef PRELOAD_VFORK_H
#define PRELOAD_VFORK_H

#include <sys/syscall.h>

/* A child of vfork has the thread pointer of the thread that waits for it, and with it the CPU
 * number that the kernel keeps there. But the kernel keeps it for that thread alone, and would not
 * restart an append of the child: the child would write into the lane of a CPU that it may not be
 * on, over events of others. Programs do open and close files there, so `inside` stays AN_EVENT
 * until the child is gone: its calls are counted.
 *
 * Assembly, because the child returns first, and overwrites the stack that the parent returns to.
 * The parent needs only registers, which the kernel keeps for each of the two. The child jumps
 * instead of returning, because it also shares the shadow stack, if there is one, and must not pop
 * it. Other architectures have no lanes of CPUs and need none of this. */
#if defined __x86_64__ && defined __LP64__
_Static_assert(AN_EVENT == 1 && sizeof inside == 4, "as the assembly has it");
_Static_assert(SYS_vfork == 58, "as the assembly has it");
__asm__(".pushsection .text\n"
        ".globl vfork, __vfork\n"
        ".type vfork, @function\n"
        ".set __vfork, vfork\n"
        "vfork:\n"
        ".cfi_startproc\n"
        "    endbr64\n"
        "    movq inside@GOTTPOFF(%rip), %rdx\n"
        "    movl %fs:(%rdx), %esi\n"
        "    movl $1, %fs:(%rdx)\n"
        ".cfi_remember_state\n"
        "    popq %rdi\n"
        ".cfi_adjust_cfa_offset -8\n"
        ".cfi_register %rip, %rdi\n"
        "    movl $58, %eax\n"
        "    syscall\n"
        "    testl %eax, %eax\n"
        "    jnz 1f\n"
        "    jmp *%rdi\n"
        "1:  pushq %rdi\n"
        ".cfi_restore_state\n"
        "    movl %esi, %fs:(%rdx)\n"
        "    cmpl $-4095, %eax\n"
        "    jae 2f\n"
        "    ret\n"
        "2:  negl %eax\n"
        "    pushq %rax\n"
        ".cfi_adjust_cfa_offset 8\n"
        "    call __errno_location@PLT\n"
        "    popq %rcx\n"
        ".cfi_adjust_cfa_offset -8\n"
        "    movl %ecx, (%rax)\n"
        "    movl $-1, %eax\n"
        "    ret\n"
        ".cfi_endproc\n"
        ".size vfork, . - vfork\n"
        ".popsection\n");
#endif

#endif
