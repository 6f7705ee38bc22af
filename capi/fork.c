/*
 * fork.c - a forked child has the memory of the Go runtime but none of its threads: a call into Go would
 * hang. The flag that is set here, in the only thread that a child starts with, makes all functions return
 * before they enter Go.
 */
#include <pthread.h>

#include "shim.h"

bool in_child;

static void entered_child(void) { in_child = true; }

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, entered_child); }
