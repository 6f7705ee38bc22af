#ifndef PMPS_DARWIN_SYS_STAT_H
#define PMPS_DARWIN_SYS_STAT_H

#include <sys/types.h>

int mkdir(const char *path, mode_t mode);

#endif
