/*
 * checked.S - calls the function whose address is in x16. If it answers -1, the error number that it has
 * left is turned into Darwin's, and the answer fills all of x0, as after a system call of Darwin's, where
 * Go looks at all of it.
 */
    .text
    .globl checked_call
    .type checked_call, %function
checked_call:
    stp x29, x30, [sp, #-16]!
    mov x29, sp
    blr x16
    cmn w0, #1
    b.ne 1f
    bl translate_error
    mov x0, #-1
1:  ldp x29, x30, [sp], #16
    ret
    .section .note.GNU-stack, "", %progbits
