/*
 * harsh.h - ways in which hardware, its driver, its compiler and MPSGraph may be harsher than the mock is by default.
 *
 * Each is a switch of the environment; harsh.c has the list. FAKEMETAL_WORST=1 turns all of them on; a switch that is
 * set to 0 stays off, so that a failure can be attributed to one of them.
 */
#ifndef FAKEMETAL_HARSH_H
#define FAKEMETAL_HARSH_H

#include <stdint.h>

typedef enum {
  TRACKED_ORDER,
  WATCHDOG_MS,
  SILENT_FAILURES,
  DEAD_QUEUES,
  PENALTY_MS,
  FAST_FUNCTIONS,
  SMALL_GROUPS,
  HEAP_SIZES,
  NAIVE_FMOD,
  CONTRACTION,
  COMPILE_MS,
  LONG_SOURCE,
  LONG_GRAPH,
  OVERLAP,
  READONLY_PAGES,
  GRAPH_FUSION,
  GRAPH_FAST_MATH,
  GRAPH_LIMITS,
  GRAPH_MEMORY,
  GRAPH_ENCODE_US,
  WRONG_DIVISION,
  HARSH
} harshness;

/* The value of a switch: 0 where it is off. */
int64_t harsh(harshness which);

/* Sleeps as long as a switch in microseconds or milliseconds says. */
void harsh_sleep(harshness which);

#endif
