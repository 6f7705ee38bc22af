/*
 * shader_count.c - what the threads of a dispatch ask of memory, by a model of a GPU (FAKEMETAL_COUNT=1).
 *
 * The model, which stands in for the clock of a GPU that is not there:
 * - 32 threads of a threadgroup with consecutive indices are a SIMD group. The n-th access of each at one
 *   place of the compiled kernel is one instruction of the SIMD group.
 * - Its bytes are those that the instruction touches, each once: what several lanes read is read once. What
 *   different instructions touch counts each time: there is no cache.
 * - Its transactions are the lines of 128 bytes that it touches. The ideal is its bytes over 128, rounded up.
 * - What the encoder has set as bytes is in registers: it counts apart, and makes no transactions.
 * - Threadgroup memory is counted by accesses of threads and their bytes; its banks are not modelled.
 * - Arithmetic is counted by shader_arithmetic.c.
 */
#include <stdlib.h>
#include <string.h>

#include "shader_internal.h"

enum { THREADS = 1024, SITES = 1024, LINE = 128, MOST = 1 << 23 };

/* An access, in words that sort by instruction and then by address. */
typedef struct {
  uint64_t instruction; /* SIMD group, site, how often the thread has been there */
  uint64_t address;
  uint32_t size;
  bool write, constant;
} access;

struct shader_tally {
  shader_counts counts;
  const void *sites[2 * SITES]; /* a hash table; the index is a site's number */
  int site_count;
  uint32_t (*times)[2 * SITES]; /* of each thread at each site */
  access *log;
  size_t count, room;
  int muted;
};

shader_tally *shader_tally_new(void) {
  shader_tally *t = calloc(1, sizeof *t);
  t->times = calloc(THREADS, sizeof *t->times);
  return t;
}

void shader_tally_free(shader_tally *t) {
  if (!t) return;
  free(t->times);
  free(t->log);
  free(t);
}

/* site_of numbers the places of a kernel. A kernel with more of them than there is room for shares the last. */
static int site_of(shader_tally *t, const void *site) {
  size_t at = ((uintptr_t)site * UINT64_C(0x9e3779b97f4a7c15)) >> 53;
  for (; t->sites[at] && t->sites[at] != site; at = (at + 1) % (2 * SITES)) continue;
  if (!t->sites[at] && t->site_count < SITES) t->sites[at] = site, t->site_count++;
  return (int)at;
}

static int compare(const void *a, const void *b) {
  const access *x = a, *y = b;
  if (x->instruction != y->instruction) return x->instruction < y->instruction ? -1 : 1;
  return (x->address > y->address) - (x->address < y->address);
}

/* finish counts one instruction, whose accesses are in the order of their addresses. */
static void finish(shader_tally *t, const access *from, size_t n) {
  shader_counts *c = &t->counts;
  uint64_t bytes = 0, transactions = 0, touched = 0, line = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t start = from[i].address, end = start + from[i].size;
    for (uint64_t l = start / LINE + 1; l <= (end - 1) / LINE + 1; l++)
      if (l > line) transactions++, line = l;
    if (start < touched) start = touched;
    if (end > start) bytes += end - start, touched = end;
  }
  int64_t ideal = (int64_t)((bytes + LINE - 1) / LINE);
  if (from->constant) {
    c->constant_bytes += (int64_t)bytes;
  } else if (from->write) {
    c->stores++, c->stored_bytes += (int64_t)bytes, c->store_transactions += (int64_t)transactions, c->store_ideal += ideal;
  } else {
    c->loads++, c->loaded_bytes += (int64_t)bytes, c->load_transactions += (int64_t)transactions, c->load_ideal += ideal;
  }
}

static void flush(shader_tally *t) {
  qsort(t->log, t->count, sizeof *t->log, compare);
  for (size_t i = 0, n; i < t->count; i += n) {
    for (n = 1; i + n < t->count && t->log[i + n].instruction == t->log[i].instruction;) n++;
    finish(t, t->log + i, n);
  }
  t->count = 0;
}

/* A log that is full is counted early, which may split an instruction: the count is then too high, never too low. */
void shader_tally_access(shader_tally *t, uint32_t thread, uint64_t address, uint64_t size, bool write, bool constant, const void *site) {
  if (t->count == MOST) flush(t);
  if (t->count == t->room) {
    t->room = t->room ? 2 * t->room : 4096;
    t->log = realloc(t->log, t->room * sizeof *t->log);
  }
  int at = site_of(t, site);
  uint64_t instruction = (uint64_t)(thread / SHADER_SIMD) << 48 | (uint64_t)at << 36 | t->times[thread][at]++;
  t->log[t->count++] = (access){instruction, address, (uint32_t)size, write, constant};
}

void shader_tally_arithmetic(shader_tally *t, uint32_t instructions) {
  if (t->muted == 0) t->counts.arithmetic += instructions;
}

void shader_tally_mute(shader_tally *t, int step) {
  if (step > 0 && t->muted == 0) t->counts.arithmetic++;
  t->muted += step;
}

void shader_tally_group(shader_tally *t, uint64_t threads) {
  flush(t);
  t->muted = 0;
  memset(t->times, 0, threads * sizeof *t->times);
  t->counts.groups++, t->counts.threads += (int64_t)threads;
  t->counts.simdgroups += (int64_t)((threads + SHADER_SIMD - 1) / SHADER_SIMD);
}

void shader_tally_begin(shader_tally *t) {
  t->counts = (shader_counts){0};
  memset(t->sites, 0, sizeof t->sites);
  t->site_count = 0;
}

shader_counts *shader_tally_counts(shader_tally *t) { return &t->counts; }
