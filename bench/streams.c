/*
 * streams.c - what waiting for nothing costs a C caller. Prints lines of `name nanoseconds`: the median
 * of several rounds.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "paddlemps.h"

enum { ROUNDS = 15, CALLS = 100000 };

static const pmps_place mps = {PMPS_MPS, 0};
static pmps_stream *stream;
static pmps_event *event;

static void check(pmps_error *error) {
  if (!error) return;
  fprintf(stderr, "%s\n", pmps_error_message(error));
  exit(1);
}

static void device(void) { check(pmps_device_synchronize(&mps)); }
static void one_stream(void) { check(pmps_stream_synchronize(stream)); }
static void one_event(void) { check(pmps_event_synchronize(event)); }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *x, const void *y) {
  return (*(const double *)x > *(const double *)y) - (*(const double *)x < *(const double *)y);
}

static void report(const char *name, void (*wait)(void)) {
  double rounds[ROUNDS];
  for (int r = 0; r < ROUNDS; r++) {
    const double start = now();
    for (int i = 0; i < CALLS; i++) wait();
    rounds[r] = (now() - start) / CALLS;
  }
  qsort(rounds, ROUNDS, sizeof *rounds, ascending);
  printf("%s %.1f\n", name, rounds[ROUNDS / 2]);
}

int main(void) {
  check(pmps_stream_new(&mps, &stream));
  check(pmps_event_new(&mps, 0, &event));
  check(pmps_event_record(event, stream));
  report("pmps_device_synchronize", device);
  report("pmps_stream_synchronize", one_stream);
  report("pmps_event_synchronize", one_event);
  pmps_event_free(event);
  pmps_stream_free(stream);
  return 0;
}
