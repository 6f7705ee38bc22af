/*
 * event.c - MTLEvent, MTLSharedEvent and MTLFence. Their values only grow; Metal leaves open what
 * happens otherwise. Source: "Synchronizing Events", the pages of the three classes.
 */
#include <errno.h>
#include <stdatomic.h>
#include <time.h>

#include "defect.h"
#include "metal_internal.h"

typedef struct {
  labelled head;
  uint64_t value;
  _Atomic uint64_t pass; /* what has been encoded before its last signal or update */
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

void event_mark(id self, uint64_t pass) {
  event *e = (event *)self;
  if (pass > e->pass) atomic_store(&e->pass, pass);
}

uint64_t event_pass(id self) { return ((event *)self)->pass; }

void event_signal(id self, uint64_t value) {
  event *e = (event *)self;
  bool disorder = planted(EVENT_EARLY) || planted(QUEUE_REORDERED);
  pthread_mutex_lock(&lock);
  if (disorder && value < e->value) value = e->value;
  if (value < e->value)
    misuse("an event falls from %llu to %llu; its value may only grow", (unsigned long long)e->value, (unsigned long long)value);
  e->value = value;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

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
  uint64_t value = ((event *)self)->value;
  pthread_mutex_unlock(&lock);
  return value;
}

static void event_set_value(id self, SEL cmd, uint64_t value) { (void)cmd, event_signal(self, value); }

static BOOL event_wait_ms(id self, SEL cmd, uint64_t value, uint64_t ms) {
  (void)cmd;
  enum { LONGEST_MS = 1000000000 }; /* some days: a time beyond the clock's range is for ever, too */
  count(COUNT_WAITS, 1);
  return event_wait(self, value, (double)(ms < LONGEST_MS ? ms : LONGEST_MS) / 1e3);
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
      {"FakeEvent", "FakeLabelled", "MTLEvent", sizeof(event), NULL, METHODS(event_methods)},
      {"FakeSharedEvent", "FakeLabelled", "MTLSharedEvent", sizeof(event), NULL, METHODS(shared_event_methods)},
      {"FakeFence", "FakeLabelled", "MTLFence", sizeof(event), NULL, METHODS(event_methods)},
  };
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) class_define(&definitions[i]);
}
