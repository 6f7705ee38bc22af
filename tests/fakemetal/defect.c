/* defect.c - reads which defect is planted. */
#include "defect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

defect planted_defect = DEFECTS;

static const char *const names[DEFECTS] = {
    [NO_DEFECT] = "",
    [MATMUL_LONG_K] = "matmul_long_k",
    [COPY_TAIL] = "copy_tail",
    [GRID_TAIL] = "grid_tail",
    [BARRIER_SKIPPED] = "barrier_skipped",
    [MEMORY_BARRIER_SKIPPED] = "memory_barrier_skipped",
    [BFLOAT16_TRUNCATED] = "bfloat16_truncated",
    [STALE_CONSTANTS] = "stale_constants",
    [EVENT_EARLY] = "event_early",
    [HEAP_LEAK] = "heap_leak",
    [FAST_MATH] = "fast_math",
    [FUNCTIONS_ALL_FAST] = "fast_functions",
    [UINT_DIVISION] = "uint_division",
    [SELECTOR_MISSING] = "selector_missing",
    [ALIAS_OFFSET] = "alias_offset",
    [INT64_TRUNCATED] = "int64_truncated",
    [SELECT_NAN] = "select_nan",
    [SMALL_FLUSHED] = "small_flushed",
    [PACKAGE_ORDER] = "package_order",
};

defect defect_read(void) {
  const char *wanted = getenv("FAKEMETAL_DEFECT");
  for (int i = 0; i < DEFECTS; i++)
    if (strcmp(wanted ? wanted : "", names[i]) == 0) return planted_defect = (defect)i;
  fprintf(stderr, "fakemetal: FAKEMETAL_DEFECT is \"%s\"; want a name of tests/selftest/defects.tsv\n", wanted);
  abort();
}
