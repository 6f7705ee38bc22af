/*
 * send_arm64.S - objc_msgSend for AAPCS64, of Linux and of Darwin: save every register that may hold an
 * argument, ask objc_lookup for the method, restore, jump there. Memory for a large result is in x8,
 * so that one entry serves all results.
 */
#if defined(__aarch64__)
#if defined(__APPLE__)
#define NAME(name) _##name
#define HIDDEN(name) .private_extern NAME(name)
#else
#define NAME(name) name
#define HIDDEN(name) .hidden name
#endif

    .text
    .p2align 2
    .globl NAME(objc_msgSend)
NAME(objc_msgSend):
    .cfi_startproc
    stp x29, x30, [sp, #-224]!
    .cfi_def_cfa_offset 224
    .cfi_offset x29, -224
    .cfi_offset x30, -216
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    stp q0, q1, [sp, #80]
    stp q2, q3, [sp, #112]
    stp q4, q5, [sp, #144]
    stp q6, q7, [sp, #176]
    str x8, [sp, #208]
    add x0, sp, #16
    add x1, sp, #224
    mov w2, #0
    bl NAME(objc_lookup)
    mov x16, x0
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldp x4, x5, [sp, #48]
    ldp x6, x7, [sp, #64]
    ldp q0, q1, [sp, #80]
    ldp q2, q3, [sp, #112]
    ldp q4, q5, [sp, #144]
    ldp q6, q7, [sp, #176]
    ldr x8, [sp, #208]
    ldp x29, x30, [sp], #224
    .cfi_def_cfa_offset 0
    br x16
    .cfi_endproc

    HIDDEN(objc_answer_nil)
    .globl NAME(objc_answer_nil)
NAME(objc_answer_nil):
    mov x0, #0
    mov x1, #0
    movi v0.2d, #0
    movi v1.2d, #0
    movi v2.2d, #0
    movi v3.2d, #0
    ret
#if !defined(__APPLE__)
    .type objc_msgSend, %function
    .type objc_answer_nil, %function
    .section .note.GNU-stack, "", %progbits
#endif
#endif
