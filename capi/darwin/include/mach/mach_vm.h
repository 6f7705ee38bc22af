/* mach/mach_vm.h - regions of a task's memory. */
#ifndef PMPS_DARWIN_MACH_VM_H
#define PMPS_DARWIN_MACH_VM_H

#include <mach/mach_init.h>

#pragma pack(push, 4)
typedef struct {
    int protection, max_protection;
    unsigned int inheritance;
    int shared, reserved;
    unsigned long long offset;
    int behavior;
    unsigned short user_wired_count;
} vm_region_basic_info_data_64_t;
#pragma pack(pop)

#define VM_REGION_BASIC_INFO_64 9
#define VM_REGION_BASIC_INFO_COUNT_64 ((mach_msg_type_number_t)(sizeof(vm_region_basic_info_data_64_t) / sizeof(int)))

typedef int *vm_region_info_t;

kern_return_t mach_vm_region(task_t task, mach_vm_address_t *address, mach_vm_size_t *size, int flavor, vm_region_info_t info,
                             mach_msg_type_number_t *count, mach_port_t *object);

#endif
