/*
 * harsh.h - ways in which hardware, its compiler and MPSGraph may compute worse than the mock does.
 *
 * Each is a switch of the environment, described in control.h. FAKEMETAL_WORST=1 turns all of them on;
 * a switch that is set to 0 stays off, so that a failure can be attributed to one of them.
 */
#ifndef FAKEMETAL_HARSH_H
#define FAKEMETAL_HARSH_H

#include <stdint.h>

typedef enum {
  FAST_FUNCTIONS,
  NAIVE_FMOD,
  CONTRACTION,
  SMALL_GROUPS,
  WRONG_DIVISION,
  GRAPH_FUSION,
  GRAPH_LIMITS,
  HARSH
} harshness;

/* The value of a switch: 0 where it is off. */
int64_t harsh(harshness which);

#endif
