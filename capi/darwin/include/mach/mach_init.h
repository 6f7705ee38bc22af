/* mach/mach_init.h - what process metrics of the command-line tool need of the kernel's interface: types of tasks and ports. */
#ifndef PMPS_DARWIN_MACH_INIT_H
#define PMPS_DARWIN_MACH_INIT_H

typedef int kern_return_t;
typedef int integer_t;
typedef unsigned int natural_t;
typedef natural_t mach_msg_type_number_t;
typedef unsigned int mach_port_t;
typedef mach_port_t task_t;
typedef unsigned long long mach_vm_address_t;
typedef unsigned long long mach_vm_size_t;

#define KERN_SUCCESS 0
#define MACH_PORT_NULL 0

extern mach_port_t mach_task_self_;
#define mach_task_self() mach_task_self_

#endif
