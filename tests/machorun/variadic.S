/*
 * variadic.S - Darwin's compiler puts every argument behind the named ones on the stack, eight bytes each,
 * where Linux's expects them in registers first. Each function here hands the address of the first of them to
 * one that is not variadic, as its next argument.
 */
    .macro pass name, register, to
    .globl \name
    .type \name, %function
\name:
    mov \register, sp
    b \to
    .endm

    .text
    pass variadic_open, x2, stacked_open
    pass variadic_openat, x3, stacked_openat
    pass variadic_fcntl, x2, stacked_fcntl
    pass variadic_ioctl, x2, stacked_ioctl
    pass variadic_printf, x1, stacked_printf
    pass variadic_fprintf, x2, stacked_fprintf
    pass variadic_sprintf, x2, stacked_sprintf
    pass variadic_snprintf, x3, stacked_snprintf
    pass variadic_sscanf, x2, stacked_sscanf
    .section .note.GNU-stack, "", %progbits
