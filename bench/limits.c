/*
 * limits.c - what the machine can do: the bandwidth of a STREAM triad and the peak of fused multiply-adds.
 *
 * Reads lines `what threads bytes` and answers each with a line: the level of vector instructions (`level`), or a
 * figure in 1e9 a second. `plain` and `nontemporal` are the bytes that a triad a[i] = b[i] + s * c[i] reads and writes,
 * with either kind of store, where each of the three arrays has that many bytes; what the cache reads before it writes
 * is not counted, as in STREAM. `float32` and `float64` are the arithmetic operations of fused multiply-adds, two each.
 * A figure is the mean over at least 20 ms. Compile for the machine: -O3 -march=native.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
enum { BYTES = 64 };
#elif defined(__AVX__)
enum { BYTES = 32 };
#else
enum { BYTES = 16 };
#endif
typedef float vector32 __attribute__((vector_size(BYTES)));
typedef double vector64 __attribute__((vector_size(BYTES)));

enum { MOST_THREADS = 256, LOOPS = 4096 };
static const double LEAST = 0.02; /* seconds of a measurement */

/* A request, and the part of a thread: floats `from` to `to` of the arrays. */
struct part {
  const char *what;
  float *a, *b, *c;
  size_t from, to;
  double rate; /* bytes or operations a second */
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void triad(float *restrict a, const float *restrict b, const float *restrict c, size_t n) {
  for (size_t i = 0; i < n; i++) a[i] = b[i] + 3.0f * c[i];
  __asm__ volatile("" ::: "memory");
}

/* triad_nontemporal writes past the cache where the compiler has such stores. */
static void triad_nontemporal(float *restrict a, const float *restrict b, const float *restrict c, size_t n) {
#if defined(__AVX512F__)
  for (size_t i = 0; i + 16 <= n; i += 16)
    _mm512_stream_ps(a + i, _mm512_fmadd_ps(_mm512_set1_ps(3), _mm512_loadu_ps(c + i), _mm512_loadu_ps(b + i)));
  _mm_sfence();
#elif defined(__AVX__) && defined(__FMA__)
  for (size_t i = 0; i + 8 <= n; i += 8)
    _mm256_stream_ps(a + i, _mm256_fmadd_ps(_mm256_set1_ps(3), _mm256_loadu_ps(c + i), _mm256_loadu_ps(b + i)));
  _mm_sfence();
#else
  triad(a, b, c, n);
#endif
}

/* Ten chains of multiply-adds, none of which waits for another; the assembly keeps them from being joined. */
#if defined(__x86_64__)
#define KEEP(x) __asm__ volatile("" : "+x"(x))
#else
#define KEEP(x) __asm__ volatile("" : "+w"(x))
#endif
#define CHAIN(x)   \
  x = x * m + s; \
  KEEP(x)
#define MULTIPLY_ADDS(name, vector)                                                                         \
  static double name(void) {                                                                                \
    vector x0 = {0}, x1 = x0, x2 = x0, x3 = x0, x4 = x0, x5 = x0, x6 = x0, x7 = x0, x8 = x0, x9 = x0, m, s; \
    m = x0 + 0.5f, s = x0 + 1;                                                                              \
    for (int n = 0; n < LOOPS; n++) {                                                                       \
      CHAIN(x0); CHAIN(x1); CHAIN(x2); CHAIN(x3); CHAIN(x4);                                                \
      CHAIN(x5); CHAIN(x6); CHAIN(x7); CHAIN(x8); CHAIN(x9);                                                \
    }                                                                                                       \
    return 2.0 * LOOPS * 10 * (double)(sizeof m / sizeof m[0]);                                             \
  }
MULTIPLY_ADDS(multiply_adds32, vector32)
MULTIPLY_ADDS(multiply_adds64, vector64)

static void *work(void *given) {
  struct part *p = given;
  float *a = p->a + p->from, *b = p->b + p->from, *c = p->c + p->from;
  size_t n = p->to - p->from;
  double start = now(), amount = 0;
  do {
    if (!strcmp(p->what, "float32")) {
      amount += multiply_adds32();
    } else if (!strcmp(p->what, "float64")) {
      amount += multiply_adds64();
    } else {
      /* a clock costs as much as a triad of a few KiB */
      for (size_t done = 0; done < 1 << 18; done += n + 1) {
        (*p->what == 'n' ? triad_nontemporal : triad)(a, b, c, n);
        amount += 3.0 * sizeof(float) * (double)n;
      }
    }
  } while (now() < start + LEAST);
  p->rate = amount / (now() - start);
  return NULL;
}

/* arrays makes room for three arrays of `bytes`; it is kept, because new memory costs more than a triad. */
static float *arrays(size_t bytes) {
  static float *room;
  static size_t size;
  if (bytes > size) {
    free(room);
    size = bytes;
    room = aligned_alloc(64, 3 * bytes);
    if (!room) exit(1);
    for (size_t i = 0; i < 3 * bytes / sizeof *room; i++) room[i] = 1;
  }
  return room;
}

static double measure(const char *what, int threads, size_t bytes) {
  static struct part parts[MOST_THREADS];
  pthread_t started[MOST_THREADS];
  float *room = arrays(bytes);
  size_t n = bytes / sizeof *room;
  for (int i = 0; i < threads; i++) {
    size_t from = n * (size_t)i / (size_t)threads / 16 * 16, to = n * (size_t)(i + 1) / (size_t)threads / 16 * 16;
    parts[i] = (struct part){what, room, room + n, room + 2 * n, from, to, 0};
    if (pthread_create(&started[i], NULL, work, &parts[i])) exit(1);
  }
  double rate = 0;
  for (int i = 0; i < threads; i++) {
    pthread_join(started[i], NULL);
    rate += parts[i].rate;
  }
  return rate * 1e-9;
}

/* level is what package vec chooses on this processor, unless GODEBUG takes something away from it. */
static const char *level(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return "avx512";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "avx2";
#endif
  return "portable";
}

int main(void) {
  char what[16];
  int threads;
  size_t bytes;
  while (scanf("%15s %d %zu", what, &threads, &bytes) == 3) {
    if (!strcmp(what, "level"))
      puts(level());
    else
      printf("%.3f\n", measure(what, threads < MOST_THREADS ? threads : MOST_THREADS, bytes < 4096 ? 4096 : bytes));
    fflush(stdout);
  }
  return 0;
}
