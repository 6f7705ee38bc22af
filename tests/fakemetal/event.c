/*
 * event.c - MTLEvent, MTLSharedEvent and MTLFence. Their values only grow; Metal leaves open what
 * happens otherwise. Source: "Synchronizing Events", the pages of the three classes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "defect.h"
#include "metal_internal.h"

/* What comes before a value: the passes of the signal that reached it first. */
typedef struct {
  uint64_t value;
  pass_set before;
} reached;
enum { REACHED = 64 }; /* that are kept; what is older counts as the oldest */

typedef struct {
  labelled head;
  uint64_t value;
  uint64_t updates; /* of a fence: in command buffers that are committed */
  uint64_t promised; /* by signals in such */
  reached *history[REACHED];
  int count;
} event;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static id new_event(const char *class_name) {
  if (fails(FAIL_EVENT)) return NULL;
  count(COUNT_EVENTS, 1);
  return object_new(class_name);
}

id device_new_event(id self) { return (void)self, new_event("FakeEvent"); }
id device_new_shared_event(id self) { return (void)self, new_event("FakeSharedEvent"); }
id device_new_fence(id self) { return (void)self, new_event("FakeFence"); }

static void event_dealloc(id self) {
  event *e = (event *)self;
  for (int i = 0; i < e->count; i++) set_close(&e->history[i]->before), free(e->history[i]);
}

/* remember notes what comes before a value that has just been reached; the lock is held. */
static void remember(event *e, uint64_t value, const pass_set *before) {
  reached *r;
  if (e->count == REACHED) {
    r = e->history[0];
    memmove(e->history, e->history + 1, (REACHED - 1) * sizeof *e->history);
    e->count--;
    set_close(&r->before);
  } else {
    r = malloc(sizeof *r);
  }
  r->value = value;
  set_open(&r->before);
  if (before) set_add(&r->before, before);
  e->history[e->count++] = r;
}

static const pass_set *before_value(const event *e, uint64_t value) {
  for (int i = 0; i < e->count; i++)
    if (e->history[i]->value >= value) return &e->history[i]->before;
  return NULL;
}

void event_signal(id self, uint64_t value, const pass_set *before) {
  event *e = (event *)self;
  bool disorder = planted(EVENT_EARLY) || is_kind(self, "FakeFence");
  pthread_mutex_lock(&lock);
  if (disorder && value < e->value) value = e->value;
  if (value < e->value)
    misuse("an event falls from %llu to %llu; its value may only grow", (unsigned long long)e->value, (unsigned long long)value);
  e->value = value;
  remember(e, value, before);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

void event_after(id self, uint64_t value, pass_set *after) {
  pthread_mutex_lock(&lock);
  const pass_set *before = before_value((event *)self, value);
  if (before) set_add(after, before);
  pthread_mutex_unlock(&lock);
}

/* seen says that the CPU has seen a value: what comes before it is over. The lock is held. */
static void seen(const event *e, uint64_t value) {
  const pass_set *before = before_value(e, value);
  if (before) set_over(before);
}

void event_promise(id self, uint64_t value) {
  event *e = (event *)self;
  pthread_mutex_lock(&lock);
  if (value > e->promised) e->promised = value;
  pthread_mutex_unlock(&lock);
}

bool event_promised(id self, uint64_t value) {
  const event *e = (event *)self;
  pthread_mutex_lock(&lock);
  bool is = e->value >= value || e->promised >= value;
  pthread_mutex_unlock(&lock);
  return is;
}

uint64_t fence_next(id self) { return __atomic_add_fetch(&((event *)self)->updates, 1, __ATOMIC_SEQ_CST); }
uint64_t fence_last(id self) { return __atomic_load_n(&((event *)self)->updates, __ATOMIC_SEQ_CST); }

bool event_wait(id self, uint64_t value, double seconds) {
  event *e = (event *)self;
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  double whole = (double)(int64_t)seconds, rest = (double)end.tv_nsec + (seconds - whole) * 1e9;
  end.tv_sec += (time_t)whole + (rest >= 1e9);
  end.tv_nsec = (long)(rest >= 1e9 ? rest - 1e9 : rest);
  pthread_mutex_lock(&lock);
  while (e->value < value && pthread_cond_timedwait(&changed, &lock, &end) != ETIMEDOUT) {}
  bool reached = e->value >= value;
  pthread_mutex_unlock(&lock);
  return reached;
}

static uint64_t event_value(id self) {
  pthread_mutex_lock(&lock);
  const event *e = (event *)self;
  uint64_t value = e->value;
  seen(e, value);
  pthread_mutex_unlock(&lock);
  return value;
}

static void event_set_value(id self, SEL cmd, uint64_t value) { (void)cmd, event_signal(self, value, NULL); }

static BOOL event_wait_ms(id self, SEL cmd, uint64_t value, uint64_t ms) {
  (void)cmd;
  enum { LONGEST_MS = 1000000000 }; /* some days: a time beyond the clock's range is for ever, too */
  count(COUNT_WAITS, 1);
  if (!event_wait(self, value, (double)(ms < LONGEST_MS ? ms : LONGEST_MS) / 1e3)) return false;
  pthread_mutex_lock(&lock);
  seen((event *)self, value);
  pthread_mutex_unlock(&lock);
  return true;
}

static const method event_methods[] = {LABELLED, OF_DEVICE};

static const method shared_event_methods[] = {
    LABELLED,
    OF_DEVICE,
    INSTANCE("signaledValue", event_value),
    INSTANCE("setSignaledValue:", event_set_value),
    INSTANCE("waitUntilSignaledValue:timeoutMS:", event_wait_ms),
};

__attribute__((constructor)) static void define(void) {
  static const class_def definitions[] = {
      {"FakeEvent", "FakeLabelled", "MTLEvent", sizeof(event), event_dealloc, METHODS(event_methods)},
      {"FakeSharedEvent", "FakeLabelled", "MTLSharedEvent", sizeof(event), event_dealloc, METHODS(shared_event_methods)},
      {"FakeFence", "FakeLabelled", "MTLFence", sizeof(event), event_dealloc, METHODS(event_methods)},
  };
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) class_define(&definitions[i]);
}
