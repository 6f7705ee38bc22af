/*
 * harsh.c - the list of the switches of harsh.h, and their values.
 */
#include "harsh.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "control.h"
#include "defect.h"

/* A number in brackets is that of the leniency of the mock that a switch ends, in the review of the first run on a Mac
 * (section 3). Subnormals that are flushed to zero (9) are FAKEMETAL_WORST itself; limits (15) are those of FAKEMETAL_GPU,
 * FAKEMETAL_MACOS and FAKEMETAL_MEMORY; what ends the process always has no switch: too much threadgroup memory (10), and
 * tensors of MPSGraph of 4 GiB (14). */
static const struct {
  const char *name;
  int64_t usual, worst;
  bool anew; /* read each time, because tests set it while they run; others are read once */
  const char *what;
} switches[HARSH] = {
    [TRACKED_ORDER] = {"FAKEMETAL_TRACKED_ORDER", 0, 1, false, "(1) tracked memory is ordered by arrival over all queues, a heap as one; see order.h"},
    [WATCHDOG_MS] = {"FAKEMETAL_WATCHDOG_MS", 60000, 5000, false, "(2) milliseconds that a command buffer may wait before it is ended"},
    [SILENT_FAILURES] = {"FAKEMETAL_SILENT_FAILURES", 0, 1, false, "(3) a command buffer that fails signals no events"},
    [DEAD_QUEUES] = {"FAKEMETAL_DEAD_QUEUES", 0, 1, false, "(4) a queue takes no more work after a fault or a timeout"},
    [PENALTY_MS] = {"FAKEMETAL_PENALTY_MS", 0, 1000, false, "(4) milliseconds for which all work of the process is ignored after three faults; 0: it is not"},
    [FAST_FUNCTIONS] = {"FAKEMETAL_FAST_FUNCTIONS", 0, 1, true, "(5) fast:: functions, and unqualified ones where the compile options leave them fast, are as inexact as table 8.2 of the specification allows"},
    [SMALL_GROUPS] = {"FAKEMETAL_GROUP", 0, 1, true, "(6) threads that a threadgroup of a pipeline may have; 1: as many as a number of registers leaves that comes of the kernel's name and FAKEMETAL_SEED"},
    [HEAP_SIZES] = {"FAKEMETAL_HEAP_SIZES", 0, 1, true, "(7) a buffer takes more of a heap than its length, and a long one whole pages"},
    [NAIVE_FMOD] = {"FAKEMETAL_NAIVE_FMOD", 0, 1, true, "(8) fmod, precise:: too, and MPSGraph's modulo are x - y * trunc(x / y) in float"},
    [CONTRACTION] = {"FAKEMETAL_CONTRACTION", 0, 1, true, "(8) shaders round a * b + c once, where the C++ compiler fuses the two, unless their source contains \"#pragma METAL fp contract(off)\""},
    [COMPILE_MS] = {"FAKEMETAL_COMPILE_MS", 0, 2, true, "(11) milliseconds that compiling a library, a pipeline or a graph takes"},
    [LONG_SOURCE] = {"FAKEMETAL_LONG_SOURCE", 0, 256 << 10, true, "(11) bytes of source beyond which the compiler for the GPU fails; 0: it does not"},
    [LONG_GRAPH] = {"FAKEMETAL_LONG_GRAPH", 0, 4096, true, "(11) operations beyond which MPSGraph makes no executable; 0: it makes any"},
    [OVERLAP] = {"FAKEMETAL_OVERLAP", 0, 1, false, "(12) command buffers of one queue overlap where no tracked memory joins them"},
    [READONLY_PAGES] = {"FAKEMETAL_READONLY_PAGES", 0, 1, false, "(13) no buffer without a copy over memory that may only be read"},
    [GRAPH_FUSION] = {"FAKEMETAL_GRAPH_FUSION", 0, 1, true, "(14) MPSGraph does not round a product that is added to or subtracted from"},
    [GRAPH_FAST_MATH] = {"FAKEMETAL_GRAPH_FAST_MATH", 0, 1, true, "(14) MPSGraph's tanh is NaN above 44, and its sine, cosine and tangent reduce their operand in float"},
    [GRAPH_LIMITS] = {"FAKEMETAL_GRAPH_LIMITS", 0, 1, true, "(14) MPSGraph's products read beyond the end of inner axes of 32767 elements and more, on the families up to 1008"},
    [GRAPH_MEMORY] = {"FAKEMETAL_GRAPH_MEMORY", 0, 1, true, "(14) MPSGraph takes memory of the device: for an executable until it is released, and for what is between its operations while it runs"},
    [GRAPH_ENCODE_US] = {"FAKEMETAL_GRAPH_ENCODE_US", 0, 20, true, "(14) microseconds of the CPU that encoding an executable takes"},
    [WRONG_DIVISION] = {"FAKEMETAL_DIVISION", 0, 1, true, "(16) quotients of uint are one too large from 2^32 - 128 on, and remainders are what belongs to them"},
};

static int64_t number(const char *name, int64_t otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtoll(text, NULL, 0) : otherwise;
}

static int64_t read_switch(harshness which) {
  bool worst = number("FAKEMETAL_WORST", 0) != 0;
  return number(switches[which].name, worst ? switches[which].worst : switches[which].usual);
}

int64_t harsh(harshness which) {
  static _Atomic int64_t known[HARSH]; /* one more than the value; 0: it has not been read */
  if ((which == FAST_FUNCTIONS && planted(FUNCTIONS_ALL_FAST)) || (which == WRONG_DIVISION && planted(UINT_DIVISION))) return 1;
  if (switches[which].anew) return read_switch(which);
  int64_t value = atomic_load_explicit(&known[which], memory_order_relaxed);
  if (value == 0) atomic_store_explicit(&known[which], value = read_switch(which) + 1, memory_order_relaxed);
  return value - 1;
}

void harsh_sleep(harshness which) {
  int64_t us = harsh(which) * (which == GRAPH_ENCODE_US ? 1 : 1000);
  if (us <= 0) return;
  struct timespec t = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
  nanosleep(&t, NULL);
}

int64_t fakemetal_switch(int64_t nth, char *text, uint64_t room) {
  if (nth < 0 || nth >= HARSH) return -1;
  snprintf(text, room, "%s %s", switches[nth].name, switches[nth].what);
  return harsh((harshness)nth);
}
