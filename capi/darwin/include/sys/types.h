/* Darwin's basic types, 64 bits. */
#ifndef PMPS_DARWIN_SYS_TYPES_H
#define PMPS_DARWIN_SYS_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef long ssize_t;
typedef long time_t;
typedef int64_t off_t;
typedef int32_t pid_t;
typedef uint32_t uid_t;
typedef uint32_t gid_t;
typedef uint32_t useconds_t;
typedef uint16_t mode_t;

#endif
