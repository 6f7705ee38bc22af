/*
 * send_amd64.S - objc_msgSend and objc_msgSend_stret for the System V calling convention: save every
 * register that may hold an argument, ask objc_lookup for the method, restore, jump there.
 */
#if defined(__x86_64__)
#if defined(__APPLE__)
#define NAME(name) _##name
#define HIDDEN(name) .private_extern NAME(name)
#else
#define NAME(name) name
#define HIDDEN(name) .hidden name
#endif

/* 64 bytes of integer registers (two unused), 128 of vector registers, rax and padding. */
#define FRAME 208

.macro SEND symbol, stret
    .globl \symbol
#if !defined(__APPLE__)
    .type \symbol, @function
#endif
\symbol:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    subq $FRAME, %rsp
    movq %rdi, 0(%rsp)
    movq %rsi, 8(%rsp)
    movq %rdx, 16(%rsp)
    movq %rcx, 24(%rsp)
    movq %r8, 32(%rsp)
    movq %r9, 40(%rsp)
    movups %xmm0, 64(%rsp)
    movups %xmm1, 80(%rsp)
    movups %xmm2, 96(%rsp)
    movups %xmm3, 112(%rsp)
    movups %xmm4, 128(%rsp)
    movups %xmm5, 144(%rsp)
    movups %xmm6, 160(%rsp)
    movups %xmm7, 176(%rsp)
    movq %rax, 192(%rsp)
    movq %rsp, %rdi
    leaq 16(%rbp), %rsi
    movl $\stret, %edx
    callq NAME(objc_lookup)
    movq %rax, %r11
    movq 0(%rsp), %rdi
    movq 8(%rsp), %rsi
    movq 16(%rsp), %rdx
    movq 24(%rsp), %rcx
    movq 32(%rsp), %r8
    movq 40(%rsp), %r9
    movups 64(%rsp), %xmm0
    movups 80(%rsp), %xmm1
    movups 96(%rsp), %xmm2
    movups 112(%rsp), %xmm3
    movups 128(%rsp), %xmm4
    movups 144(%rsp), %xmm5
    movups 160(%rsp), %xmm6
    movups 176(%rsp), %xmm7
    movq 192(%rsp), %rax
    leave
    .cfi_def_cfa %rsp, 8
    jmpq *%r11
    .cfi_endproc
#if !defined(__APPLE__)
    .size \symbol, . - \symbol
#endif
.endm

    .text
    SEND NAME(objc_msgSend), 0
    SEND NAME(objc_msgSend_stret), 1

    HIDDEN(objc_answer_nil)
    .globl NAME(objc_answer_nil)
NAME(objc_answer_nil):
    xorl %eax, %eax
    xorl %edx, %edx
    xorps %xmm0, %xmm0
    xorps %xmm1, %xmm1
    ret
#if !defined(__APPLE__)
    .type objc_answer_nil, @function
    .size objc_answer_nil, . - objc_answer_nil
    .section .note.GNU-stack, "", @progbits
#endif
#endif
