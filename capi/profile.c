/*
 * profile.c - which thread this is, for recordings: the number that Python's threading.get_native_id() and the tools of the
 * system show. It is asked for once a thread.
 */
#if defined(__linux__)
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <pthread.h>
#endif

#include "shim.h"

static PER_THREAD uint64_t number;

uint64_t thread_number(void) {
  if (number) return number;
#if defined(__linux__)
  number = (uint64_t)syscall(SYS_gettid);
#else
  pthread_threadid_np(NULL, &number);
#endif
  return number;
}
