/* harsh.c - reads the switches of harsh.h, each time that one is asked for. */
#include "harsh.h"

#include <stdlib.h>

#include "defect.h"

static const char *const names[HARSH] = {
    [FAST_FUNCTIONS] = "FAKEMETAL_FAST_FUNCTIONS",
    [NAIVE_FMOD] = "FAKEMETAL_NAIVE_FMOD",
    [CONTRACTION] = "FAKEMETAL_CONTRACTION",
    [SMALL_GROUPS] = "FAKEMETAL_GROUP",
    [WRONG_DIVISION] = "FAKEMETAL_DIVISION",
    [GRAPH_FUSION] = "FAKEMETAL_GRAPH_FUSION",
    [GRAPH_LIMITS] = "FAKEMETAL_GRAPH_LIMITS",
};

static int64_t number(const char *name, int64_t otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtoll(text, NULL, 0) : otherwise;
}

int64_t harsh(harshness which) {
  if ((which == FAST_FUNCTIONS && planted(FUNCTIONS_ALL_FAST)) || (which == WRONG_DIVISION && planted(UINT_DIVISION))) return 1;
  return number(names[which], number("FAKEMETAL_WORST", 0) != 0);
}
