/*
 * defect.h - what can be wrong with the device on purpose, so that whoever checks devices can be checked.
 *
 * FAKEMETAL_DEFECT names one, by the rows of tests/selftest/defects.tsv; an unknown name ends the process.
 */
#ifndef FAKEMETAL_DEFECT_H
#define FAKEMETAL_DEFECT_H

#include <stdbool.h>

typedef enum {
  NO_DEFECT,
  MATMUL_LONG_K,
  COPY_TAIL,
  GRID_TAIL,
  BARRIER_SKIPPED,
  BFLOAT16_TRUNCATED,
  STALE_CONSTANTS,
  EVENT_EARLY,
  QUEUE_REORDERED,
  HEAP_LEAK,
  FAST_MATH,
  SELECTOR_MISSING,
  ALIAS_OFFSET,
  INT64_TRUNCATED,
  SELECT_NAN,
  SMALL_FLUSHED,
  DEFECTS
} defect;

/* The one that is planted; DEFECTS until somebody asks, which the definition of the first class does. */
__attribute__((visibility("hidden"))) extern defect planted_defect;
__attribute__((visibility("hidden"))) defect defect_read(void);

static inline bool planted(defect d) { return (planted_defect == DEFECTS ? defect_read() : planted_defect) == d; }

#endif
