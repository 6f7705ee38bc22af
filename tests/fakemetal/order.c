/* order.c - see order.h. One lock guards it all. */
#include "order.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "objc.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;

/* ---- Sets. */

static pass_set *sets;
static uint64_t numbers[PASSES], begun; /* of the pass in each slot, 0 where it is over */

void set_open(pass_set *s) {
  memset(s->bits, 0, sizeof s->bits);
  pthread_mutex_lock(&lock);
  s->next = sets, s->link = &sets;
  if (sets) sets->link = &s->next;
  sets = s;
  pthread_mutex_unlock(&lock);
}

void set_close(pass_set *s) {
  pthread_mutex_lock(&lock);
  *s->link = s->next;
  if (s->next) s->next->link = s->link;
  pthread_mutex_unlock(&lock);
}

static void add(pass_set *to, const pass_set *from) {
  for (int i = 0; i < PASSES / 64; i++) to->bits[i] |= from->bits[i];
}

void set_add(pass_set *to, const pass_set *from) {
  pthread_mutex_lock(&lock);
  add(to, from);
  pthread_mutex_unlock(&lock);
}

static bool has(const pass_set *s, uint32_t slot) { return s->bits[slot / 64] >> slot % 64 & 1; }

void set_add_pass(pass_set *to, pass p) {
  pthread_mutex_lock(&lock);
  if (numbers[p.slot] == p.number) to->bits[p.slot / 64] |= UINT64_C(1) << p.slot % 64;
  pthread_mutex_unlock(&lock);
}

/* The pass that had the slot is over, or so old that it is forgotten. */
pass pass_begin(void) {
  pthread_mutex_lock(&lock);
  pass p = {0, ++begun};
  while (p.slot < PASSES && numbers[(begun + p.slot) % PASSES]) p.slot++;
  p.slot = (uint32_t)((begun + p.slot) % PASSES);
  for (pass_set *s = sets; s; s = s->next) s->bits[p.slot / 64] &= ~(UINT64_C(1) << p.slot % 64);
  numbers[p.slot] = p.number;
  pthread_mutex_unlock(&lock);
  return p;
}

void set_over(const pass_set *s) {
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < PASSES; i++)
    if (has(s, i)) numbers[i] = 0;
  pthread_mutex_unlock(&lock);
}

/* ---- Untracked memory. */

struct access {
  uintptr_t low, high;
  pass by;
  bool writes;
};

static void race(const struct access *a, uintptr_t low, bool writes) {
  misuse("an untracked resource is %s that another pass %s, in no order (%llu bytes from %p on); want a fence or an event between them",
         writes ? "written" : "used", a->writes ? "writes" : "reads", (unsigned long long)(a->high - a->low), (void *)(low > a->low ? low : a->low));
}

void hazard_use(hazard *h, uintptr_t low, uintptr_t high, bool writes, pass p, const pass_set *after) {
  if (!h->untracked || low >= high) return;
  pthread_mutex_lock(&lock);
  int kept = 0;
  for (int i = 0; i < h->count; i++) {
    const struct access a = h->accesses[i];
    if (numbers[a.by.slot] != a.by.number) continue;
    bool meet = a.low < high && low < a.high, mine = a.by.number == p.number;
    if (meet && (writes || a.writes) && !mine && !has(after, a.by.slot)) race(&a, low, writes);
    bool hidden = a.low >= low && a.high <= high && (writes || !a.writes) && (mine || (writes && has(after, a.by.slot)));
    if (!hidden) h->accesses[kept++] = a;
  }
  h->count = kept;
  if (h->count == h->room) h->accesses = realloc(h->accesses, (size_t)(h->room = h->room ? 2 * h->room : 16) * sizeof *h->accesses);
  h->accesses[h->count++] = (struct access){low, high, p, writes};
  pthread_mutex_unlock(&lock);
}

/* ---- Tracked memory. */

typedef struct {
  hazard *memory;
  bool writes;
} touch;

struct arrival {
  int references;
  bool ended;
  touch *touches;
  int touch_count, touch_room;
  arrival **before; /* that it waits for, held */
  int before_count, before_room;
  pass_set passes; /* once it has ended */
};

arrival *arrival_new(void) {
  arrival *a = calloc(1, sizeof *a);
  a->references = 1;
  set_open(&a->passes);
  return a;
}

/* drop gives a reference back; the lock is held. */
static void drop(arrival *a) {
  if (!a || --a->references > 0) return;
  for (int i = 0; i < a->before_count; i++) drop(a->before[i]);
  *a->passes.link = a->passes.next;
  if (a->passes.next) a->passes.next->link = a->passes.link;
  free(a->before), free(a->touches), free(a);
}

void arrival_touch(arrival *a, hazard *h, bool writes) {
  if (h->untracked) return;
  for (int i = 0; i < a->touch_count; i++)
    if (a->touches[i].memory == h) {
      a->touches[i].writes |= writes;
      return;
    }
  if (a->touch_count == a->touch_room) a->touches = realloc(a->touches, (size_t)(a->touch_room = a->touch_room ? 2 * a->touch_room : 4) * sizeof *a->touches);
  a->touches[a->touch_count++] = (touch){h, writes};
}

static void wait_later(arrival *a, arrival *for_) {
  if (!for_ || for_ == a) return;
  if (a->before_count == a->before_room) a->before = realloc(a->before, (size_t)(a->before_room = a->before_room ? 2 * a->before_room : 4) * sizeof(arrival *));
  a->before[a->before_count++] = for_;
  for_->references++;
}

static void forget_readers(hazard *h) {
  for (int i = 0; i < h->reader_count; i++) drop(h->readers[i]);
  free(h->readers);
  h->readers = NULL, h->reader_count = 0;
}

/* drop_ended forgets readers that have ended, so that their number stays small. */
static void drop_ended(hazard *h) {
  int kept = 0;
  for (int i = 0; i < h->reader_count; i++) {
    if (h->readers[i]->ended) drop(h->readers[i]);
    else h->readers[kept++] = h->readers[i];
  }
  h->reader_count = kept;
}

static void arrive_at(arrival *a, hazard *h, bool writes) {
  wait_later(a, h->writer);
  a->references++;
  if (!writes) {
    drop_ended(h);
    h->readers = realloc(h->readers, (size_t)(h->reader_count + 1) * sizeof(arrival *));
    h->readers[h->reader_count++] = a;
    return;
  }
  for (int i = 0; i < h->reader_count; i++) wait_later(a, h->readers[i]);
  forget_readers(h);
  drop(h->writer);
  h->writer = a;
}

void arrival_arrive(arrival *a) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < a->touch_count; i++) arrive_at(a, a->touches[i].memory, a->touches[i].writes);
  pthread_mutex_unlock(&lock);
}

void arrival_wait(arrival *a, pass_set *after) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < a->before_count; i++) {
    while (!a->before[i]->ended) pthread_cond_wait(&ended, &lock);
    add(after, &a->before[i]->passes);
    drop(a->before[i]);
  }
  a->before_count = 0;
  pthread_mutex_unlock(&lock);
}

void arrival_end(arrival *a, const pass_set *passes) {
  pthread_mutex_lock(&lock);
  if (passes) add(&a->passes, passes);
  a->ended = true;
  drop(a);
  pthread_cond_broadcast(&ended);
  pthread_mutex_unlock(&lock);
}

void hazard_close(hazard *h) {
  pthread_mutex_lock(&lock);
  drop(h->writer);
  forget_readers(h);
  free(h->accesses);
  pthread_mutex_unlock(&lock);
}
