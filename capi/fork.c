/*
 * fork.c - a forked child keeps the memory of the Go runtime but none of its threads: whatever
 * entered it would hang. The flag that is set here, in the only thread that a child starts with, keeps
 * it out.
 */
#include <pthread.h>

#include "shim.h"

bool in_child;

static void entered_child(void) { in_child = true; }

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, entered_child); }
