/* shader_switch_amd64.S - changes from one fiber to another: System V ABI, callee-saved registers. */
#if defined(__x86_64__)
    .text
    .globl shader_switch
    .hidden shader_switch
    .type shader_switch, @function
shader_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size shader_switch, . - shader_switch
#endif
#if !defined(__APPLE__)
    .section .note.GNU-stack, "", %progbits
#endif
