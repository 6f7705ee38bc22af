/*
 * pairs.c - what a pair of malloc and free costs: the loops of pairs.go in C. Prints "threads size ns",
 * size 0 for the churn. With mimalloc it runs under LD_PRELOAD.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 9, COUNT = 400000, LIVE = 1000 };

static const size_t sizes[] = {256, 4096, 100000, 3 << 20, 0};

typedef struct {
  size_t size;
  uint64_t seed;
} loop;

static void *pairs(void *p) {
  loop *l = p;
  for (int i = 0; i < COUNT; i++) {
    void *volatile x = malloc(l->size);
    free(x);
  }
  return NULL;
}

static void *churn(void *p) {
  loop *l = p;
  void **live = calloc(LIVE, sizeof *live);
  uint64_t seed = l->seed;
  for (int i = 0; i < COUNT; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    void **slot = &live[(seed >> 33) % LIVE];
    free(*slot);
    *slot = malloc(((size_t)1 << ((seed >> 50) % 14)) + (seed >> 40) % 4096);
  }
  for (int i = 0; i < LIVE; i++) free(live[i]);
  free(live);
  return NULL;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static int smaller(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double measure(size_t size, int threads) {
  double rounds[ROUNDS];
  for (int r = 0; r < ROUNDS; r++) {
    pthread_t others[2];
    loop loops[2] = {{size, 1}, {size, 2}};
    double start = now();
    for (int t = 0; t < threads; t++) pthread_create(&others[t], NULL, size ? pairs : churn, &loops[t]);
    for (int t = 0; t < threads; t++) pthread_join(others[t], NULL);
    rounds[r] = (now() - start) / COUNT;
  }
  qsort(rounds, ROUNDS, sizeof *rounds, smaller);
  return rounds[ROUNDS / 2];
}

int main(void) {
  for (int threads = 1; threads <= 2; threads++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
      printf("%d %zu %.1f\n", threads, sizes[i], measure(sizes[i], threads));
  return 0;
}
