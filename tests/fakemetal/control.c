/* control.c - the environment, counters, failures on demand and the random numbers of the fake. */
#include "control.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct {
  int major, minor;
  int64_t family;
  uint64_t memory, seed, delay_us;
  bool worst, strict;
} settings;
static _Atomic uint64_t randomness;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint64_t number(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static void read_environment(void) {
  const char *macos = getenv("FAKEMETAL_MACOS");
  if (!macos || sscanf(macos, "%d.%d", &settings.major, &settings.minor) < 1) settings.major = 15;
  settings.family = (int64_t)number("FAKEMETAL_FAMILY", 1007);
  settings.memory = number("FAKEMETAL_MEMORY", UINT64_C(16) << 30);
  settings.seed = number("FAKEMETAL_SEED", 1);
  settings.delay_us = number("FAKEMETAL_DELAY_US", 0);
  settings.worst = number("FAKEMETAL_WORST", 0) != 0;
  settings.strict = number("FAKEMETAL_STRICT", 0) != 0;
  atomic_store(&randomness, settings.seed * UINT64_C(0x9e3779b97f4a7c15));
}

static void ready(void) { pthread_once(&once, read_environment); }

void macos_version(int *major, int *minor) {
  ready();
  *major = settings.major, *minor = settings.minor;
}

bool macos_at_least(int major, int minor) {
  ready();
  return settings.major > major || (settings.major == major && settings.minor >= minor);
}

bool worst_case(void) { return ready(), settings.worst; }
bool strict(void) { return ready(), settings.strict; }
int64_t gpu_family(void) { return ready(), settings.family; }
uint64_t machine_memory(void) { return ready(), settings.memory; }
uint64_t random_seed(void) { return ready(), settings.seed; }

/* SplitMix64 (Steele, Lea, Flood 2014): threads may share its state. */
uint64_t random_bits(void) {
  ready();
  uint64_t z = atomic_fetch_add(&randomness, UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

void delay(void) {
  ready();
  if (settings.delay_us == 0) return;
  uint64_t us = random_bits() % (settings.delay_us + 1);
  struct timespec t = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
  nanosleep(&t, NULL);
}

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool closed;
} gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};

void fakemetal_hold(bool hold) {
  pthread_mutex_lock(&gate.lock);
  gate.closed = hold;
  pthread_cond_broadcast(&gate.changed);
  pthread_mutex_unlock(&gate.lock);
}

void await_gate(void) {
  pthread_mutex_lock(&gate.lock);
  while (gate.closed) pthread_cond_wait(&gate.changed, &gate.lock);
  pthread_mutex_unlock(&gate.lock);
}

/* ---- Counters. */

static _Atomic int64_t counters[COUNTERS];
static const char *const counter_names[COUNTERS] = {
    [COUNT_SENDS] = "sends",
    [COUNT_COMMITS] = "commits",
    [COUNT_DISPATCHES] = "dispatches",
    [COUNT_COMPILES] = "compiles",
    [COUNT_LIBRARIES] = "libraries",
    [COUNT_PIPELINES] = "pipelines",
    [COUNT_BUFFERS] = "buffers",
    [COUNT_HEAPS] = "heaps",
    [COUNT_QUEUES] = "queues",
    [COUNT_EVENTS] = "events",
    [COUNT_COMMAND_BUFFERS] = "command_buffers",
    [COUNT_ENCODERS] = "encoders",
    [COUNT_COPIED_BYTES] = "copied_bytes",
    [COUNT_GRAPHS] = "graphs",
    [COUNT_EXECUTABLES] = "executables",
    [COUNT_ENCODED_GRAPHS] = "encoded_graphs",
    [COUNT_TENSOR_DATAS] = "tensor_datas",
    [COUNT_FALLIBLE] = "fallible",
    [COUNT_FAILED] = "failed",
    [COUNT_WAITS] = "waits",
    [COUNT_REFUSED] = "refused",
    [COUNT_EARLY_WAITS] = "early_waits",
    [COUNT_MEMORY_BARRIERS] = "memory_barriers",
    [COUNT_TRACKED_USES] = "tracked_uses",
    [COUNT_PACKAGES_WRITTEN] = "packages_written",
    [COUNT_PACKAGES_READ] = "packages_read",
};

void count(counter which, int64_t n) { atomic_fetch_add_explicit(&counters[which], n, memory_order_relaxed); }

int64_t live_of_class(const char *name); /* objc.c */

int64_t fakemetal_count(const char *what) {
  if (strcmp(what, "live_objects") == 0) return fakemetal_leaks(false);
  if (strncmp(what, "live:", 5) == 0) return live_of_class(what + 5);
  for (int i = 0; i < COUNTERS; i++)
    if (strcmp(what, counter_names[i]) == 0) return atomic_load(&counters[i]);
  return -1;
}

/* ---- What dispatches did, of FAKEMETAL_COUNT. */

static struct {
  pthread_mutex_t lock;
  struct ended {
    char name[64];
    shader_counts counts;
  } *list;
  int64_t count, room;
} ended = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct {
  const char *name;
  size_t at;
} dispatch_counts[] = {
#define COUNT_OF(field) {#field, offsetof(shader_counts, field)}
    COUNT_OF(threads), COUNT_OF(groups), COUNT_OF(simdgroups), COUNT_OF(loads), COUNT_OF(stores),
    COUNT_OF(loaded_bytes), COUNT_OF(stored_bytes), COUNT_OF(load_transactions), COUNT_OF(store_transactions),
    COUNT_OF(load_ideal), COUNT_OF(store_ideal), COUNT_OF(constant_bytes), COUNT_OF(threadgroup_accesses),
    COUNT_OF(threadgroup_bytes),
    COUNT_OF(barriers), COUNT_OF(meetings), COUNT_OF(arithmetic),
#undef COUNT_OF
};

void count_dispatch(const char *name, const shader_counts *counts) {
  pthread_mutex_lock(&ended.lock);
  if (ended.count == ended.room) {
    ended.room = ended.room ? 2 * ended.room : 64;
    ended.list = realloc(ended.list, (size_t)ended.room * sizeof *ended.list);
  }
  struct ended *e = &ended.list[ended.count++];
  snprintf(e->name, sizeof e->name, "%s", name);
  e->counts = *counts;
  pthread_mutex_unlock(&ended.lock);
}

int64_t fakemetal_dispatch(const char *what, int64_t nth) {
  int64_t answer = -1;
  pthread_mutex_lock(&ended.lock);
  if (strcmp(what, "dispatches") == 0) answer = ended.count;
  for (size_t i = 0; nth >= 0 && nth < ended.count && i < sizeof dispatch_counts / sizeof *dispatch_counts; i++)
    if (strcmp(what, dispatch_counts[i].name) == 0) memcpy(&answer, (char *)&ended.list[nth].counts + dispatch_counts[i].at, sizeof answer);
  pthread_mutex_unlock(&ended.lock);
  return answer;
}

bool fakemetal_dispatch_name(int64_t nth, char *name, uint64_t room) {
  pthread_mutex_lock(&ended.lock);
  bool known = nth >= 0 && nth < ended.count;
  if (known) snprintf(name, room, "%s", ended.list[nth].name);
  pthread_mutex_unlock(&ended.lock);
  return known;
}

/* ---- Failures. */

static struct {
  int64_t left; /* until it fails; 0: it does not */
  int code;
} orders[FAILURES + 1]; /* the last is for any kind */
static pthread_mutex_t order_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int last_code;
static const char *const failure_names[FAILURES + 1] = {
    [FAIL_HEAP] = "heap",
    [FAIL_BUFFER] = "buffer",
    [FAIL_LIBRARY] = "library",
    [FAIL_FUNCTION] = "function",
    [FAIL_PIPELINE] = "pipeline",
    [FAIL_COMMAND_BUFFER] = "command_buffer",
    [FAIL_EXECUTABLE] = "executable",
    [FAIL_QUEUE] = "queue",
    [FAIL_EVENT] = "event",
    [FAIL_PACKAGE_WRITE] = "package_write",
    [FAIL_PACKAGE_READ] = "package_read",
    [FAILURES] = "any",
};

static bool due(int which) {
  if (orders[which].left == 0 || --orders[which].left > 0) return false;
  last_code = orders[which].code;
  return true;
}

bool fails(failure which) {
  count(COUNT_FALLIBLE, 1);
  pthread_mutex_lock(&order_lock);
  bool one = due((int)which), any = due(FAILURES);
  pthread_mutex_unlock(&order_lock);
  if (one || any) count(COUNT_FAILED, 1);
  return one || any;
}

int fail_code(void) { return last_code; }

bool fakemetal_fail(const char *what, int64_t nth, int code) {
  for (int i = 0; i <= FAILURES; i++) {
    if (strcmp(what, failure_names[i]) != 0) continue;
    pthread_mutex_lock(&order_lock);
    orders[i].left = nth, orders[i].code = code;
    pthread_mutex_unlock(&order_lock);
    return true;
  }
  return false;
}

void fakemetal_reset(void) {
  for (int i = 0; i < COUNTERS; i++) atomic_store(&counters[i], 0);
  pthread_mutex_lock(&ended.lock);
  ended.count = 0;
  pthread_mutex_unlock(&ended.lock);
  pthread_mutex_lock(&order_lock);
  memset(orders, 0, sizeof orders);
  pthread_mutex_unlock(&order_lock);
}

const char *fakemetal_name(void) { return "fakemetal"; }
