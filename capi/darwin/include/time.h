#ifndef PMPS_DARWIN_TIME_H
#define PMPS_DARWIN_TIME_H

#include <sys/types.h>

struct timespec {
  time_t tv_sec;
  long tv_nsec;
};

int nanosleep(const struct timespec *time, struct timespec *rest);

typedef enum { CLOCK_REALTIME = 0, CLOCK_MONOTONIC = 6 } clockid_t;

int clock_gettime(clockid_t clock, struct timespec *time);

#endif
