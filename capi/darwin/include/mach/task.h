/* mach/task.h - the memory of a task. */
#ifndef PMPS_DARWIN_MACH_TASK_H
#define PMPS_DARWIN_MACH_TASK_H

#include <mach/mach_init.h>

#pragma pack(push, 4)
typedef struct {
    mach_vm_size_t virtual_size, resident_size, resident_size_max; /* bytes */
    int user_time[2], system_time[2];                              /* seconds, microseconds */
    int policy;
    integer_t suspend_count;
} mach_task_basic_info_data_t;
#pragma pack(pop)

#define MACH_TASK_BASIC_INFO 20
#define MACH_TASK_BASIC_INFO_COUNT ((mach_msg_type_number_t)(sizeof(mach_task_basic_info_data_t) / sizeof(natural_t)))

typedef integer_t *task_info_t;

kern_return_t task_info(task_t task, natural_t flavor, task_info_t info, mach_msg_type_number_t *count);

#endif
