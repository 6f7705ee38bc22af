/*
 * thread.S - what a descriptor of a variable of a thread calls. Darwin's code expects that no register
 * but x0, which has the descriptor and gets the address, and the two scratch registers change.
 */
    .text
    .globl thread_variable_thunk
    .type thread_variable_thunk, %function
thread_variable_thunk:
    stp x29, x30, [sp, #-16]!
    mov x29, sp
    stp x1, x2, [sp, #-16]!
    stp x3, x4, [sp, #-16]!
    stp x5, x6, [sp, #-16]!
    stp x7, x8, [sp, #-16]!
    stp x9, x10, [sp, #-16]!
    stp x11, x12, [sp, #-16]!
    stp x13, x14, [sp, #-16]!
    str x15, [sp, #-16]!
    sub sp, sp, #512
    mov x16, sp
    st1 {v0.2d, v1.2d, v2.2d, v3.2d}, [x16], #64
    st1 {v4.2d, v5.2d, v6.2d, v7.2d}, [x16], #64
    st1 {v8.2d, v9.2d, v10.2d, v11.2d}, [x16], #64
    st1 {v12.2d, v13.2d, v14.2d, v15.2d}, [x16], #64
    st1 {v16.2d, v17.2d, v18.2d, v19.2d}, [x16], #64
    st1 {v20.2d, v21.2d, v22.2d, v23.2d}, [x16], #64
    st1 {v24.2d, v25.2d, v26.2d, v27.2d}, [x16], #64
    st1 {v28.2d, v29.2d, v30.2d, v31.2d}, [x16], #64
    bl thread_variable
    mov x16, sp
    ld1 {v0.2d, v1.2d, v2.2d, v3.2d}, [x16], #64
    ld1 {v4.2d, v5.2d, v6.2d, v7.2d}, [x16], #64
    ld1 {v8.2d, v9.2d, v10.2d, v11.2d}, [x16], #64
    ld1 {v12.2d, v13.2d, v14.2d, v15.2d}, [x16], #64
    ld1 {v16.2d, v17.2d, v18.2d, v19.2d}, [x16], #64
    ld1 {v20.2d, v21.2d, v22.2d, v23.2d}, [x16], #64
    ld1 {v24.2d, v25.2d, v26.2d, v27.2d}, [x16], #64
    ld1 {v28.2d, v29.2d, v30.2d, v31.2d}, [x16]
    add sp, sp, #512
    ldr x15, [sp], #16
    ldp x13, x14, [sp], #16
    ldp x11, x12, [sp], #16
    ldp x9, x10, [sp], #16
    ldp x7, x8, [sp], #16
    ldp x5, x6, [sp], #16
    ldp x3, x4, [sp], #16
    ldp x1, x2, [sp], #16
    ldp x29, x30, [sp], #16
    ret
    .section .note.GNU-stack, "", %progbits
