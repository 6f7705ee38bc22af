/*
 * shader_run.c - runs the threads of a dispatch, each a fiber, and checks what they touch.
 *
 * A fiber runs until its kernel ends or until it has to meet others. When all fibers of a threadgroup
 * stand still, those that wait for each other are let go: a SIMD group at a SIMD-group function, the
 * whole threadgroup at a barrier. Whatever Metal calls undefined there ends the dispatch instead. A
 * kernel in which threads never meet runs all its threads on one fiber, one after the other.
 *
 * The order of threadgroups and of threads is random; FAKEMETAL_SEED repeats one.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "defect.h"
#include "shader_internal.h"

enum { MAX_THREADS = 1024, STACK = 64 << 10, DECLARED = 64, THREADGROUP_MEMORY = 32768, RANGES = 2 * SHADER_BUFFERS + DECLARED + 4, POISON = 0xfb }; /* RANGES: beside residents */

typedef enum { READY, AT_BARRIER, AT_SIMD, ENDED } fiber_state;

typedef struct {
  void *sp;
  fiber_state state;
  const void *site;           /* the instruction that waits */
  const void *in;             /* AT_SIMD: the lane's value */
  char *all;                  /* AT_SIMD: room for the values of all lanes */
  uint64_t size;
  uint32_t active;            /* AT_SIMD: the lanes that took part */
  shader_thread thread;
} fiber;

typedef enum { IN_BUFFER, IN_RESIDENT, IN_THREADGROUP, IN_PRIVATE } range_kind;

typedef struct {
  uintptr_t start, end;
  range_kind kind;
  int index;
  bool writable;
  uintptr_t limit;           /* where the next binding begins, of one buffer as a rule */
  uintptr_t low, high;       /* of the bytes that have been used */
} range;

/* What an OS thread runs; kept for its next dispatch. */
typedef struct {
  const shader_function *function;
  const shader_dispatch *dispatch;
  shader_frame frame;
  shader_thread shape;        /* what is equal for all threads of a group */
  range *ranges;
  int range_room, range_count, fixed_ranges, last_range;
  fiber *fibers;              /* MAX_THREADS */
  char *stacks;               /* MAX_THREADS times STACK */
  int count, running;
  void *scheduler;
  char *failure;
  uint64_t random;
  shader_tally *tally;        /* where FAKEMETAL_COUNT is set */
  shader_races *races;        /* where FAKEMETAL_RACES was set once */
  bool racing;                /* where it is now */
  uint32_t barriers, simd_barriers[MAX_THREADS / SHADER_SIMD]; /* that were passed, of any threadgroup; from 1 */
  bool atomic;                /* the access is that of an atomic function */
} run;

static pthread_key_t run_key;
static pthread_once_t run_once = PTHREAD_ONCE_INIT;
static atomic_uint_fast64_t seed;

static void run_free(void *p) {
  run *r = p;
  munmap(r->stacks, (size_t)MAX_THREADS * STACK);
  shader_tally_free(r->tally);
  shader_races_free(r->races);
  free(r->ranges);
  free(r->fibers);
  free(r);
}

static void run_start(void) {
  const char *text = getenv("FAKEMETAL_SEED");
  seed = text ? strtoull(text, NULL, 0) : 1;
  pthread_key_create(&run_key, run_free);
}

#if defined(__APPLE__)
static run *here(void) { return pthread_getspecific(run_key); }
static void settle(run *r) { pthread_setspecific(run_key, r); }
#else
static _Thread_local run *this_run;
static run *here(void) { return this_run; }
static void settle(run *r) {
  this_run = r;
  pthread_setspecific(run_key, r);
}
#endif

bool shader_worst_case(void) {
  const char *text = getenv("FAKEMETAL_WORST");
  return text && strcmp(text, "1") == 0;
}

static bool shader_race_checking(void) {
  const char *text = getenv("FAKEMETAL_RACES");
  return text && strcmp(text, "1") == 0;
}

bool shader_counting(void) {
  const char *text = getenv("FAKEMETAL_COUNT");
  return text && strcmp(text, "1") == 0;
}

static uint64_t dice(run *r) {
  r->random ^= r->random << 13;
  r->random ^= r->random >> 7;
  r->random ^= r->random << 17;
  return r->random;
}

static run *run_of_thread(void) {
  pthread_once(&run_once, run_start);
  run *r = here();
  if (r) return r;
  r = calloc(1, sizeof *r);
  if (!r) return NULL;
  r->fibers = calloc(MAX_THREADS, sizeof *r->fibers);
  r->stacks = mmap(NULL, (size_t)MAX_THREADS * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
  if (!r->fibers || r->stacks == MAP_FAILED) {
    free(r->fibers);
    free(r);
    return NULL;
  }
  if (shader_counting()) r->tally = shader_tally_new();
  settle(r);
  return r;
}

/* ---- Failures: the fiber that did wrong never runs again. */

static void leave(run *r) { shader_switch(&r->fibers[r->running].sp, r->scheduler); }

static void fail(run *r, char *words) {
  const shader_thread *t = &r->fibers[r->running].thread;
  r->failure = shader_format("kernel %s, thread (%u, %u, %u): %s (FAKEMETAL_SEED=%llu)", r->function->name,
                             t->grid[0], t->grid[1], t->grid[2], words, (unsigned long long)seed);
  free(words);
  for (;;) leave(r);
}

/* ---- Memory: where a kernel may read and write. */

static void allow(run *r, const void *start, size_t size, range_kind kind, int index, bool writable) {
  if (size == 0 || r->range_count == r->range_room) return;
  uintptr_t at = (uintptr_t)start;
  r->ranges[r->range_count++] = (range){at, at + size, kind, index, writable, at + size, 0, 0};
}

static const char *nearby(run *r, uintptr_t at, range *found) {
  uintptr_t best = 1 << 16; /* farther away it is not named */
  const char *name = NULL;
  for (int i = 0; i < r->range_count; i++) {
    range *g = &r->ranges[i];
    uintptr_t away = at < g->start ? g->start - at : at >= g->end ? at - g->end + 1 : 0;
    if (away >= best || g->kind == IN_PRIVATE) continue;
    best = away;
    *found = *g;
    name = g->kind == IN_BUFFER ? "buffer" : g->kind == IN_RESIDENT ? "resident resource" : "threadgroup memory";
  }
  return name;
}

static void outside(run *r, uintptr_t at, uint64_t size, bool write) {
  range g;
  const char *name = nearby(r, at, &g), *verb = write ? "writes" : "reads";
  if (!name) fail(r, shader_format("%s %llu bytes that nothing is bound to", verb, (unsigned long long)size));
  fail(r, shader_format("%s %llu bytes at offset %lld of %s %d, which has %llu%s", verb, (unsigned long long)size,
                        (long long)(at - g.start), name, g.index, (unsigned long long)(g.end - g.start),
                        at >= g.start && at + size <= g.end ? " and may only be read" : ""));
}

/* touch notes an access for the binding that begins next below it and allows it. */
static void touch(run *r, range *g, uintptr_t at, uint64_t size, bool write) {
  if (at >= g->limit)
    for (int i = 0; i < r->fixed_ranges; i++) {
      range *o = &r->ranges[i];
      if (o->kind == IN_BUFFER && o->start <= at && o->start > g->start && (o->writable || !write)) g = o;
    }
  if (at < g->low || !g->high) g->low = at;
  if (at + size > g->high) g->high = at + size;
}

/* race ends the dispatch if another thread uses the same threadgroup memory and no barrier is between. */
static void race(run *r, const range *g, uintptr_t at, uint64_t size, bool write) {
  const shader_thread *t = &r->fibers[r->running].thread;
  int64_t other = shader_race(r->races, at, size, write, t->index, r->barriers, r->simd_barriers[t->simd]);
  if (other >= 0)
    fail(r, shader_format("%s offset %lld of threadgroup memory %d, which thread %lld of the threadgroup uses too, with no barrier between",
                          write ? "writes" : "reads", (long long)(at - g->start), g->index, (long long)other));
}

static void check(const void *address, uint64_t size, int32_t write) {
  run *r = here();
  uintptr_t at = (uintptr_t)address;
  for (int n = 0, i = r->last_range; n <= r->range_count; n++, i = n - 1) {
    range *g = &r->ranges[i];
    if (i < r->range_count && at >= g->start && at + size <= g->end && (g->writable || !write)) {
      r->last_range = i;
      touch(r, g, at, size, write);
      if (g->kind == IN_THREADGROUP && r->racing && !r->atomic) race(r, g, at, size, write);
      return;
    }
  }
  outside(r, at, size, write);
}

static void atomic(int32_t begins) { here()->atomic = begins != 0; }

/* counted is check in a kernel that is counted. */
static void counted(const void *address, uint64_t size, int32_t write, const void *site) {
  check(address, size, write);
  run *r = here();
  const range *g = &r->ranges[r->last_range];
  if (!r->tally || g->kind == IN_PRIVATE) return;
  if (g->kind == IN_THREADGROUP) {
    shader_tally_counts(r->tally)->threadgroup_accesses++;
    shader_tally_counts(r->tally)->threadgroup_bytes += (int64_t)size;
    return;
  }
  shader_tally_access(r->tally, r->fibers[r->running].thread.index, (uint64_t)(uintptr_t)address, size, write != 0,
                      g->kind == IN_BUFFER && r->dispatch->buffers[g->index].constant, site);
}

static void arithmetic(uint32_t instructions) {
  run *r = here();
  if (r->tally) shader_tally_arithmetic(r->tally, instructions);
}

static void mute(int32_t step) {
  run *r = here();
  if (r->tally) shader_tally_mute(r->tally, step);
}

static void wrong(const char *words) { fail(here(), shader_format("%s", words)); }

/* frame stops a thread whose functions call themselves too often: on a GPU that ends the command buffer with an error too
 * (MTLCommandBufferErrorStackOverflow). */
static void frame(const void *address) {
  enum { SPARE = 8 << 10 }; /* for what is called from here */
  run *r = here();
  const char *lowest = r->stacks + (r->function->meets ? r->running * (size_t)STACK : 0);
  if ((const char *)address < lowest + SPARE) fail(r, shader_format("uses too many stack frames: a function calls itself too often"));
}

static void misaligned(const void *address, uint64_t alignment) {
  run *r = here();
  range g;
  uintptr_t at = (uintptr_t)address;
  const char *name = nearby(r, at, &g);
  fail(r, shader_format("uses offset %lld of %s %d as an element that is aligned to %llu bytes",
                        name ? (long long)(at - g.start) : (long long)at, name ? name : "private memory",
                        name ? g.index : 0, (unsigned long long)alignment));
}

/* declare is called for a threadgroup variable when the first thread of a group reaches it. */
static void declare(void *variable, uint64_t size) {
  run *r = here();
  for (int i = r->fixed_ranges; i < r->range_count; i++)
    if (r->ranges[i].start == (uintptr_t)variable) return;
  if (r->range_count == r->range_room) fail(r, shader_format("declares too many threadgroup variables"));
  allow(r, variable, size, IN_THREADGROUP, r->range_count - r->fixed_ranges, true);
  memset(variable, POISON, size);
  size_t total = 0;
  for (int i = r->fixed_ranges; i < r->range_count; i++) total += r->ranges[i].end - r->ranges[i].start;
  atomic_store((_Atomic size_t *)&r->function->declared, total);
  for (int i = 0; i < SHADER_BUFFERS; i++) total += r->dispatch->threadgroup[i];
  if (total > THREADGROUP_MEMORY)
    fail(r, shader_format("uses %zu bytes of threadgroup memory; there are %d", total, THREADGROUP_MEMORY));
}

/* ---- Meeting. */

static void barrier(uint64_t place) {
  if (planted(BARRIER_SKIPPED)) return;
  run *r = here();
  fiber *f = &r->fibers[r->running];
  f->state = AT_BARRIER, f->site = place ? (const void *)(uintptr_t)place : __builtin_return_address(0);
  leave(r);
}

static uint32_t exchange(const void *in, void *all, uint64_t size) {
  run *r = here();
  fiber *f = &r->fibers[r->running];
  f->state = AT_SIMD, f->site = __builtin_return_address(0), f->in = in, f->all = all, f->size = size;
  leave(r);
  return f->active;
}

static uint32_t lane(void) {
  const run *r = here();
  return r->fibers[r->running].thread.lane;
}

const shader_services shader_service = {barrier, exchange, lane, declare, check, misaligned, counted, arithmetic, mute, atomic, frame, wrong, 0, 0, 0, 0};

/* blame makes a fiber the one for which a failure of the whole group is reported. */
static void blame(run *r, int who, char *words) {
  const shader_thread *t = &r->fibers[who].thread;
  r->failure = shader_format("kernel %s, threadgroup (%u, %u, %u): %s (FAKEMETAL_SEED=%llu)", r->function->name,
                             t->group[0], t->group[1], t->group[2], words, (unsigned long long)seed);
  free(words);
}

/* meet_simd lets the lanes from first on go that wait for each other. False: they do not meet. */
static bool meet_simd(run *r, int first) {
  int end = first + SHADER_SIMD < r->count ? first + SHADER_SIMD : r->count, one = -1;
  uint32_t active = 0;
  for (int i = first; i < end; i++) {
    if (r->fibers[i].state != AT_SIMD) continue;
    if (one >= 0 && r->fibers[i].site != r->fibers[one].site) return false;
    one = i;
    active |= 1u << (i - first);
  }
  for (int i = first; i < end; i++)
    if (one >= 0 && r->fibers[i].state == AT_BARRIER) return false;
  for (int i = first; i < end; i++) {
    fiber *f = &r->fibers[i];
    if (f->state != AT_SIMD) continue;
    for (int j = first; j < end; j++)
      if (active >> (j - first) & 1) memcpy(f->all + (j - first) * f->size, r->fibers[j].in, f->size);
    f->active = active;
  }
  for (int i = first; i < end; i++)
    if (r->fibers[i].state == AT_SIMD) r->fibers[i].state = READY;
  if (one >= 0 && r->fibers[one].size == 0) r->simd_barriers[first / SHADER_SIMD]++;
  if (r->tally && active) shader_tally_counts(r->tally)->meetings++;
  return true;
}

/* meet_barrier lets the group go if it stands at one barrier, all of it. */
static bool meet_barrier(run *r) {
  for (int i = 0; i < r->count; i++)
    if (r->fibers[i].state != AT_BARRIER || r->fibers[i].site != r->fibers[0].site) return false;
  for (int i = 0; i < r->count; i++) r->fibers[i].state = READY;
  r->barriers++;
  if (r->tally) shader_tally_counts(r->tally)->barriers++;
  return true;
}

/* release is called when no fiber can run. It makes some ready, or says why none ever will be. */
static void release(run *r) {
  bool simd = false;
  int waiting = 0, ended = 0;
  for (int i = 0; i < r->count; i++) {
    ended += r->fibers[i].state == ENDED;
    waiting += r->fibers[i].state == AT_BARRIER;
    simd |= r->fibers[i].state == AT_SIMD;
  }
  if (ended == r->count) return;
  if (!simd) {
    if (!meet_barrier(r))
      blame(r, 0, shader_format("a barrier was reached by %d of %d threads, or different barriers were", waiting, r->count));
    return;
  }
  for (int first = 0; first < r->count; first += SHADER_SIMD)
    if (!meet_simd(r, first)) {
      blame(r, first, shader_format("the threads of a SIMD group wait in different places"));
      return;
    }
}

/* ---- Threads and groups. */

static void place(run *r, fiber *f, uint64_t index) {
  shader_thread *t = &f->thread;
  *t = r->shape;
  uint64_t rest = index;
  for (int i = 0; i < 3; i++) {
    t->in_group[i] = rest % t->group_size[i];
    rest /= t->group_size[i];
    t->grid[i] = t->group[i] * t->nominal_size[i] + t->in_group[i];
  }
  t->index = index;
  t->lane = index % SHADER_SIMD;
  t->simd = index / SHADER_SIMD;
}

/* fiber_main is where a fiber begins: one thread, or all threads of a group that never meet. */
static void fiber_main(void) {
  run *r = here();
  fiber *f = &r->fibers[r->running];
  if (r->function->meets) {
    r->function->entry(&r->frame, &f->thread);
  } else {
    uint64_t total = (uint64_t)r->shape.group_size[0] * r->shape.group_size[1] * r->shape.group_size[2];
    uint64_t start = dice(r) % total;
    for (uint64_t i = 0; i < total; i++) {
      place(r, f, (start + i) % total);
      r->function->entry(&r->frame, &f->thread);
    }
  }
  f->state = ENDED;
  for (;;) leave(r);
}

static void fiber_start(run *r, int i) {
  fiber *f = &r->fibers[i];
  size_t size = r->function->meets ? STACK : (size_t)MAX_THREADS * STACK;
  void **sp = (void **)(r->stacks + i * (size_t)STACK + size);
  f->state = READY;
#if defined(__x86_64__)
  sp -= 8; /* a return address for alignment, the entry, six registers */
  memset(sp, 0, 8 * sizeof *sp);
  sp[6] = (void *)fiber_main;
#else
  sp -= 22; /* ten integer registers, the frame pointer, the entry in the link register, eight others */
  memset(sp, 0, 22 * sizeof *sp);
  sp[11] = (void *)fiber_main;
#endif
  f->sp = sp;
}

/* pick is a random fiber that can run, -1 for none. */
static int pick(run *r) {
  int start = dice(r) % r->count;
  for (int i = 0; i < r->count; i++) {
    int j = (start + i) % r->count;
    if (r->fibers[j].state == READY) return j;
  }
  return -1;
}

static void run_group(run *r) {
  uint64_t total = (uint64_t)r->shape.group_size[0] * r->shape.group_size[1] * r->shape.group_size[2];
  r->count = r->function->meets ? (int)total : 1;
  r->shape.simds = (total + SHADER_SIMD - 1) / SHADER_SIMD;
  r->range_count = r->fixed_ranges;
  r->barriers++;
  r->atomic = false;
  for (int i = 0; i < SHADER_BUFFERS; i++)
    if (r->frame.threadgroup[i]) memset(r->frame.threadgroup[i], POISON, r->dispatch->threadgroup[i]);
  for (int i = 0; i < r->count; i++) {
    fiber_start(r, i);
    place(r, &r->fibers[i], i);
  }
  while (!r->failure) {
    r->running = pick(r);
    if (r->running >= 0) {
      shader_switch(&r->scheduler, r->fibers[r->running].sp);
      continue;
    }
    release(r);
    if (pick(r) < 0) return;
  }
}

static void shape_group(run *r, uint64_t index) {
  const shader_dispatch *d = r->dispatch;
  for (int i = 0; i < 3; i++) {
    uint64_t at = index % d->groups[i];
    index /= d->groups[i];
    uint64_t left = d->threads[i] - at * d->group[i];
    r->shape.group[i] = at;
    r->shape.nominal_size[i] = d->group[i];
    r->shape.group_size[i] = left < d->group[i] ? left : d->group[i];
    r->shape.groups[i] = d->groups[i];
    r->shape.grid_size[i] = d->threads[i];
  }
}

/* left_out says whether GRID_TAIL loses the group: one that is not full, beyond the first threads. */
static bool left_out(const run *r) {
  enum { FIRST = 1024 };
  const shader_thread *s = &r->shape;
  return planted(GRID_TAIL) && s->group_size[0] < s->nominal_size[0] && s->group[0] * s->nominal_size[0] >= FIRST;
}

/* stride is a step through n that visits everything. */
static uint64_t stride(run *r, uint64_t n) {
  for (;;) {
    uint64_t a = dice(r) % n + 1, b = n, s = a;
    while (b) {
      uint64_t rest = a % b;
      a = b, b = rest;
    }
    if (a == 1) return s;
  }
}

/* limit says for each binding where the next one begins. */
static void limit(run *r) {
  for (int i = 0; i < r->range_count; i++)
    for (int j = 0; j < r->range_count; j++) {
      range *g = &r->ranges[i];
      const range *o = &r->ranges[j];
      if (g->kind == IN_BUFFER && o->kind == IN_BUFFER && o->start > g->start && o->start < g->limit) g->limit = o->start;
    }
}

static char *bind(run *r) {
  const shader_function *fn = r->function;
  memset(&r->frame, 0, sizeof r->frame);
  r->range_count = r->last_range = 0;
  int room = RANGES + r->dispatch->resident_count;
  if (r->range_room < room) {
    range *more = realloc(r->ranges, (size_t)room * sizeof *more);
    if (!more) return shader_format("no memory");
    r->ranges = more, r->range_room = room;
  }
  allow(r, r->stacks, (size_t)MAX_THREADS * STACK, IN_PRIVATE, 0, true);
  for (int i = 0; i < SHADER_BUFFERS; i++) {
    const shader_binding *b = &r->dispatch->buffers[i];
    if (fn->buffers[i].kind == SHADER_BUFFER) {
      if (!b->base) return shader_format("kernel %s: nothing is bound at buffer %d", fn->name, i);
      r->frame.buffers[i] = (char *)b->base + b->offset;
      allow(r, r->frame.buffers[i], b->length - b->offset, IN_BUFFER, i, fn->buffers[i].writable);
    }
    if (!fn->threadgroup[i]) continue;
    size_t size = r->dispatch->threadgroup[i];
    if (size == 0) return shader_format("kernel %s: the length of threadgroup memory %d was not set", fn->name, i);
    if (!(r->frame.threadgroup[i] = aligned_alloc(16, (size + 15) / 16 * 16))) return shader_format("no memory");
    allow(r, r->frame.threadgroup[i], size, IN_THREADGROUP, i, true);
  }
  for (int i = 0; i < r->dispatch->resident_count; i++) {
    const shader_resident *s = &r->dispatch->residents[i];
    allow(r, s->base, s->length, IN_RESIDENT, i, s->writable);
  }
  allow(r, &r->frame, sizeof r->frame, IN_PRIVATE, 0, false);
  allow(r, r->fibers, MAX_THREADS * sizeof *r->fibers, IN_PRIVATE, 0, false);
  allow(r, fn->library->image, fn->library->image_end - fn->library->image, IN_PRIVATE, 0, false);
  r->fixed_ranges = r->range_count;
  limit(r);
  return NULL;
}

/* subnormals makes float arithmetic take subnormal numbers for zero and make none, or lets it have them
 * again, as before says; it answers how it was. */
static uint64_t subnormals(bool flush, uint64_t before) {
  uint64_t now;
#if defined(__x86_64__)
  now = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(flush ? now | 0x8040 : before);
#else
  __asm__ volatile("mrs %0, fpcr" : "=r"(now));
  before = flush ? now | 1u << 24 : before;
  __asm__ volatile("msr fpcr, %0" ::"r"(before));
#endif
  return now;
}

static void tell(const run *r, shader_extent *touched) {
  for (int i = 0; i < r->fixed_ranges; i++) {
    const range *g = &r->ranges[i];
    if (g->kind == IN_BUFFER) touched[g->index] = (shader_extent){g->low, g->high};
  }
}

char *shader_run(const shader_function *function, const shader_dispatch *dispatch, shader_counts *counts, shader_extent *touched) {
  run *r = run_of_thread();
  if (!r) return shader_format("no memory");
  r->function = function, r->dispatch = dispatch, r->failure = NULL;
  r->random = (seed + 1) * 0x9e3779b97f4a7c15u | 1;
  if (r->tally) shader_tally_begin(r->tally);
  r->racing = shader_race_checking();
  if (r->racing && !r->races) r->races = shader_races_new();
  char *failure = bind(r);
  uint64_t n = dispatch->groups[0] * dispatch->groups[1] * dispatch->groups[2];
  if (!failure && n > 0) {
    bool worst = shader_worst_case();
    uint64_t before = worst ? subnormals(true, 0) : 0;
    uint64_t at = dice(r) % n, step = stride(r, n);
    for (uint64_t i = 0; i < n && !r->failure; i++, at = (at + step) % n) {
      shape_group(r, at);
      if (!left_out(r)) run_group(r);
      if (r->tally) shader_tally_group(r->tally, (uint64_t)r->shape.group_size[0] * r->shape.group_size[1] * r->shape.group_size[2]);
    }
    if (worst) subnormals(false, before);
    failure = r->failure;
  }
  if (touched) tell(r, touched);
  for (int i = 0; i < SHADER_BUFFERS; i++) free(r->frame.threadgroup[i]);
  memset(&r->frame, 0, sizeof r->frame);
  *counts = r->tally ? *shader_tally_counts(r->tally) : (shader_counts){0};
  return failure;
}
