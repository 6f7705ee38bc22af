/*
 * defect.h - defects that can be injected into the device, to test the checks of devices.
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
  MEMORY_BARRIER_SKIPPED,
  BFLOAT16_TRUNCATED,
  STALE_CONSTANTS,
  EVENT_EARLY,
  HEAP_LEAK,
  FAST_MATH,
  FUNCTIONS_ALL_FAST,
  UINT_DIVISION,
  SELECTOR_MISSING,
  ALIAS_OFFSET,
  INT64_TRUNCATED,
  SELECT_NAN,
  SMALL_FLUSHED,
  PACKAGE_ORDER,
  DEFECTS
} defect;

/* The one that is planted; DEFECTS before it has been read, which the definition of the first class does. */
__attribute__((visibility("hidden"))) extern defect planted_defect;
__attribute__((visibility("hidden"))) defect defect_read(void);

static inline bool planted(defect d) { return (planted_defect == DEFECTS ? defect_read() : planted_defect) == d; }

#endif
