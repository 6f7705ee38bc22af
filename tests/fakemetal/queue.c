/*
 * queue.c - MTLCommandQueue and MTLCommandBuffer.
 *
 * A queue has threads of its own, which begin command buffers in the order of their commits, and not
 * before: who reads a result without waiting reads what was there before. FAKEMETAL_DELAY_US makes sure.
 * One thread runs them one behind the other; with FAKEMETAL_OVERLAP there are several (wgpu#9483 shows buffers of one
 * queue that overlap). A wait that is too long, and what becomes of a queue and of a process after a fault, are
 * kIOGPUCommandBufferCallbackErrorTimeout (mlx#2827, mlx#3830, exo#1620: about 5 s, waits included), events that a
 * killed buffer never signals (wgpu#9328), and "Ignored (for causing prior/excessive GPU errors)" (MoltenVK#2675,
 * omlx#3706: for the whole process, for a while).
 * Source: the pages of MTLCommandQueue and MTLCommandBuffer, "Setting Up a Command Structure".
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "defect.h"
#include "harsh.h"
#include "metal_internal.h"

enum { NOT_ENQUEUED, ENQUEUED, COMMITTED, SCHEDULED, COMPLETED, FAILED }; /* MTLCommandBufferStatus */
enum { ERROR_INTERNAL = 1, ERROR_TIMEOUT = 2, ERROR_PAGE_FAULT = 3, ERROR_IGNORED = 4 };
enum { OVERLAPPING = 4 }; /* command buffers of one queue at a time */
enum { DEFAULT_COMMAND_BUFFERS = 64 };

typedef struct operation {
  struct operation *next;
  char *(*run)(void *context);
  void (*drop)(void *context);
  void (*commit)(void *context);
  void *context;
  operation_kind kind;
} operation;

typedef struct command_buffer command_buffer;

/* What a queue and its thread share; it outlives the queue until the thread has seen that. */
typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  command_buffer *first, **last; /* committed, not begun: so many */
  uint64_t most, alive, running; /* command buffers that may be, that are, and those committed of them */
  int committed, threads, busy;
  bool closed, dead;
} lane;

typedef struct {
  labelled head;
  lane *lane;
} queue;

struct command_buffer {
  labelled head;
  queue *queue;
  lane *lane;
  command_buffer *next;
  int64_t status; /* guarded by the lane's lock from the commit on */
  operation *first, **last;
  id encoder; /* that is open; not retained */
  id *kept;
  size_t kept_count, kept_room;
  arrival *arrival;
  pass_set after, passes; /* what its next pass comes after, and what its next signal comes after */
  struct graph_use *uses; /* of the graph that is encoded next */
  int use_count;
  double waited; /* for events and fences, in seconds */
  bool doomed;
  int64_t code;
  id error;
  double started, ended, committed;
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- The thread. */

static __thread int64_t run_code;
void command_buffer_error_code(int64_t code) { run_code = code; }

static const char *describe(int64_t code) {
  switch (code) {
  case ERROR_TIMEOUT: return "Caused GPU Timeout Error (00000002:kIOGPUCommandBufferCallbackErrorTimeout)";
  case ERROR_IGNORED: return "Ignored (for causing prior/excessive GPU errors) (00000004:kIOGPUCommandBufferCallbackErrorSubmissionsIgnored)";
  case ERROR_PAGE_FAULT: return "Caused GPU Address Fault Error (0000000b:kIOGPUCommandBufferCallbackErrorPageFault)";
  case 8: return "Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)";
  default: return "Internal Error (0000000e:Internal Error)";
  }
}

static void fail(command_buffer *b, int64_t code, const char *what) {
  b->doomed = true;
  if (!b->error) b->error = error_new("MTLCommandBufferErrorDomain", b->code = code, what ? what : describe(code));
}

static bool skipped(const command_buffer *b, const operation *o) {
  return b->doomed && (o->kind == WORK || (o->kind == SIGNAL && harsh(SILENT_FAILURES)));
}

static __thread command_buffer *current; /* that the thread runs */
static _Atomic int working;              /* threads in the work of an encoder or of a graph */

static void run(command_buffer *b) {
  current = b;
  if (b->doomed) fail(b, b->code ? b->code : ERROR_INTERNAL, NULL);
  for (operation *o = b->first; o; o = o->next) {
    if (skipped(b, o)) continue;
    run_code = ERROR_INTERNAL;
    if (o->kind == WORK) atomic_fetch_add(&working, 1);
    char *wrong = o->run(o->context);
    if (o->kind == WORK) atomic_fetch_sub(&working, 1);
    if (wrong) fail(b, run_code, wrong);
    free(wrong);
  }
  current = NULL;
}

/* ---- Faults: what follows them in the queue, and in the process. */

static struct {
  pthread_mutex_t lock;
  int faults;
  double last, until;
} box = {PTHREAD_MUTEX_INITIALIZER, 0, 0, 0};

static bool ignored(lane *l) {
  pthread_mutex_lock(&box.lock);
  bool all = harsh(PENALTY_MS) > 0 && now() < box.until;
  pthread_mutex_unlock(&box.lock);
  pthread_mutex_lock(&l->lock);
  bool dead = l->dead;
  pthread_mutex_unlock(&l->lock);
  return all || dead;
}

/* after_fault is called with how a command buffer failed. */
static void after_fault(lane *l, int64_t code) {
  enum { FAULTS = 3 };
  if (code != ERROR_INTERNAL && code != ERROR_TIMEOUT && code != ERROR_PAGE_FAULT) return;
  if (harsh(DEAD_QUEUES)) {
    pthread_mutex_lock(&l->lock);
    l->dead = true;
    pthread_mutex_unlock(&l->lock);
  }
  double penalty = (double)harsh(PENALTY_MS) * 1e-3;
  pthread_mutex_lock(&box.lock);
  box.faults = now() - box.last < FAULTS * penalty ? box.faults + 1 : 1;
  box.last = now();
  if (box.faults >= FAULTS) box.until = box.last + penalty;
  pthread_mutex_unlock(&box.lock);
}

/* ---- Passes. */

void work_begin(work *w) {
  set_open(&w->after);
  set_add(&w->after, &current->after);
  w->self = pass_begin();
}

void work_end(work *w) {
  set_add(&current->passes, &w->after);
  set_add_pass(&current->passes, w->self);
  set_close(&w->after);
}

void work_use(const work *w, hazard *h, uintptr_t low, uintptr_t high, bool writes) { hazard_use(h, low, high, writes, w->self, &w->after); }

/* await lets the command buffer wait as long as the watchdog lets it. NULL, or what went wrong. Work that a CPU does for
 * the GPU takes longer than it would there: while some goes on, the time does not count. */
static char *await(id event, uint64_t value) {
  const double slice = 0.01, patience = (double)harsh(WATCHDOG_MS) * 1e-3;
  do {
    bool idle = atomic_load(&working) == 0;
    if (event_wait(event, value, slice)) return NULL;
    current->waited += idle ? slice : 0;
  } while (current->waited < patience);
  command_buffer_error_code(ERROR_TIMEOUT);
  return strdup(describe(ERROR_TIMEOUT));
}

char *work_await(work *w, id fence, uint64_t update) {
  char *wrong = await(fence, update);
  if (!wrong) event_after(fence, update, &w->after);
  return wrong;
}

void work_update(const work *w, id fence, uint64_t update) {
  pass_set all;
  set_open(&all);
  set_add(&all, &w->after);
  set_add_pass(&all, w->self);
  event_signal(fence, update, &all);
  set_close(&all);
}

/* drop_all releases what the command buffer retained. */
static void drop_all(command_buffer *b) {
  for (operation *o = b->first, *next; o; o = next) {
    next = o->next;
    if (o->drop) o->drop(o->context);
    free(o);
  }
  b->first = NULL, b->last = &b->first;
  for (size_t i = 0; i < b->kept_count; i++) release(b->kept[i]);
  free(b->kept);
  b->kept = NULL, b->kept_count = b->kept_room = 0;
}

static void set_status(command_buffer *b, int64_t status) {
  pthread_mutex_lock(&b->lane->lock);
  b->status = status;
  if (status >= COMPLETED) b->lane->alive--, b->lane->running--;
  pthread_cond_broadcast(&b->lane->changed);
  pthread_mutex_unlock(&b->lane->lock);
}

static void perform(command_buffer *b) {
  void *pool = pool_push();
  arrival_wait(b->arrival, &b->after);
  await_gate();
  delay();
  if (ignored(b->lane)) fail(b, ERROR_IGNORED, NULL);
  b->started = now();
  run(b);
  b->ended = now();
  if (b->doomed) after_fault(b->lane, b->code);
  arrival_end(b->arrival, &b->passes), b->arrival = NULL;
  drop_all(b);
  set_status(b, b->doomed ? FAILED : COMPLETED);
  release(&b->head.head);
  pool_pop(pool);
}

/* take waits for the next command buffer, which arrives then; NULL when the queue is gone. The lock is held. */
static command_buffer *take(lane *l) {
  while (!l->first && !l->closed) pthread_cond_wait(&l->changed, &l->lock);
  command_buffer *b = l->first;
  if (b) {
    l->committed--, l->busy++;
    if (!(l->first = b->next)) l->last = &l->first;
    if (harsh(TRACKED_ORDER)) arrival_arrive(b->arrival);
    b->status = SCHEDULED;
    pthread_cond_broadcast(&l->changed);
  }
  return b;
}

static void *serve(void *context) {
  lane *l = context;
  doing("the thread of a command queue");
  pthread_mutex_lock(&l->lock);
  for (command_buffer *b; (b = take(l)); l->busy--) {
    pthread_mutex_unlock(&l->lock);
    perform(b);
    pthread_mutex_lock(&l->lock);
  }
  bool last = --l->threads == 0;
  pthread_mutex_unlock(&l->lock);
  if (!last) return NULL;
  pthread_mutex_destroy(&l->lock);
  pthread_cond_destroy(&l->changed);
  free(l);
  return NULL;
}

/* staff makes sure that a thread is there for each command buffer that is committed, as far as there may be so many; the
 * lock is held. */
static bool staff(lane *l) {
  int most = harsh(OVERLAP) ? OVERLAPPING : 1;
  if (l->threads > 0 && (l->threads - l->busy >= l->committed || l->threads == most)) return true;
  pthread_t thread;
  if (pthread_create(&thread, NULL, serve, l) != 0) return l->threads > 0;
  pthread_detach(thread);
  l->threads++;
  return true;
}

/* ---- MTLCommandQueue. */

id device_new_queue_of(id self, SEL cmd, uint64_t most) {
  (void)self, (void)cmd;
  if (most == 0) misuse("the number of command buffers is 0");
  if (fails(FAIL_QUEUE)) return NULL;
  lane *l = calloc(1, sizeof *l);
  pthread_mutex_init(&l->lock, NULL);
  pthread_cond_init(&l->changed, NULL);
  l->last = &l->first, l->most = most;
  pthread_mutex_lock(&l->lock);
  bool staffed = staff(l);
  pthread_mutex_unlock(&l->lock);
  if (!staffed) return free(l), NULL;
  queue *q = (queue *)object_new("FakeCommandQueue");
  q->lane = l;
  count(COUNT_QUEUES, 1);
  return &q->head.head;
}

id device_new_queue(id self) { return device_new_queue_of(self, NULL, DEFAULT_COMMAND_BUFFERS); }

static void queue_dealloc(id self) {
  lane *l = ((queue *)self)->lane;
  pthread_mutex_lock(&l->lock);
  l->closed = true;
  pthread_cond_broadcast(&l->changed);
  pthread_mutex_unlock(&l->lock);
}

/* admit waits until one more command buffer may be. */
static void admit(lane *l) {
  pthread_mutex_lock(&l->lock);
  while (l->alive >= l->most) {
    if (l->running == 0)
      misuse("would wait for ever: the queue's %llu command buffers exist and none is committed", (unsigned long long)l->most);
    count(COUNT_WAITS, 1);
    pthread_cond_wait(&l->changed, &l->lock);
  }
  l->alive++;
  pthread_mutex_unlock(&l->lock);
}

id queue_command_buffer(id self) {
  queue *q = (queue *)self;
  admit(q->lane);
  command_buffer *b = (command_buffer *)object_new("FakeCommandBuffer");
  b->queue = (queue *)retain(self);
  b->lane = q->lane;
  b->last = &b->first;
  b->arrival = arrival_new();
  set_open(&b->after), set_open(&b->passes);
  count(COUNT_COMMAND_BUFFERS, 1);
  return autorelease(&b->head.head);
}

static const method queue_methods[] = {
    LABELLED,
    OF_DEVICE,
    INSTANCE("commandBuffer", queue_command_buffer),
};

/* ---- MTLCommandBuffer. */

static void command_buffer_dealloc(id self) {
  command_buffer *b = (command_buffer *)self;
  if (b->status < COMMITTED) {
    drop_all(b);
    arrival_end(b->arrival, NULL);
    pthread_mutex_lock(&b->lane->lock);
    b->lane->alive--;
    pthread_cond_broadcast(&b->lane->changed);
    pthread_mutex_unlock(&b->lane->lock);
  }
  set_close(&b->after), set_close(&b->passes);
  free(b->uses);
  release(b->error);
  release(&b->queue->head.head);
}

void command_buffer_check_open(id self) {
  if (((command_buffer *)self)->status >= COMMITTED) misuse("the command buffer is committed already");
}

static void check_no_encoder(command_buffer *b) {
  if (b->encoder) misuse("the command buffer has an encoder that has not ended encoding");
}

void command_buffer_set_encoder(id self, id encoder) {
  command_buffer *b = (command_buffer *)self;
  if (encoder) check_no_encoder(b);
  b->encoder = encoder;
}

void command_buffer_append(id self, char *(*run)(void *), void (*drop)(void *), void *context, operation_kind kind, void (*commit)(void *)) {
  command_buffer *b = (command_buffer *)self;
  operation *o = malloc(sizeof *o);
  *o = (operation){NULL, run, drop, commit, context, kind};
  *b->last = o, b->last = &o->next;
}

void command_buffer_keep(id self, id object) {
  command_buffer *b = (command_buffer *)self;
  if (b->kept_count > 0 && b->kept[b->kept_count - 1] == object) return;
  if (b->kept_count == b->kept_room) {
    b->kept_room = b->kept_room ? b->kept_room * 2 : 32;
    b->kept = realloc(b->kept, b->kept_room * sizeof *b->kept);
  }
  b->kept[b->kept_count++] = retain(object);
}

void command_buffer_touch(id self, id used, bool writes) {
  command_buffer_keep(self, used);
  if (!buffer_hazard(used)->untracked) count(COUNT_TRACKED_USES, 1);
  arrival_touch(((command_buffer *)self)->arrival, buffer_hazard(used), writes);
}

/* ---- Graphs: each run is a pass. */

typedef struct graph_use {
  hazard *memory;
  uintptr_t low, high;
  bool writes;
} graph_use;

typedef struct {
  char *(*run)(void *);
  void (*drop)(void *);
  void *context;
  graph_use *uses;
  int use_count;
} graph_run;

void command_buffer_uses(id self, id used, bool writes) {
  command_buffer *b = (command_buffer *)self;
  uintptr_t low = (uintptr_t)buffer_bytes(used);
  command_buffer_touch(self, used, writes);
  b->uses = realloc(b->uses, (size_t)(b->use_count + 1) * sizeof *b->uses);
  b->uses[b->use_count++] = (graph_use){buffer_hazard(used), low, low + buffer_length(used), writes};
}

static char *run_graph(void *context) {
  const graph_run *g = context;
  work w;
  work_begin(&w);
  for (int i = 0; i < g->use_count; i++) work_use(&w, g->uses[i].memory, g->uses[i].low, g->uses[i].high, g->uses[i].writes);
  char *wrong = g->run(g->context);
  work_end(&w);
  return wrong;
}

static void drop_graph(void *context) {
  graph_run *g = context;
  if (g->drop) g->drop(g->context);
  free(g->uses), free(g);
}

void command_buffer_encode(id self, char *(*run)(void *), void (*drop)(void *), void *context) {
  command_buffer *b = (command_buffer *)self;
  command_buffer_check_open(self);
  check_no_encoder(b);
  graph_run *g = malloc(sizeof *g);
  *g = (graph_run){run, drop, context, b->uses, b->use_count};
  b->uses = NULL, b->use_count = 0;
  command_buffer_append(self, run_graph, drop_graph, g, WORK, NULL);
}

int64_t command_buffer_status(id self) {
  command_buffer *b = (command_buffer *)self;
  pthread_mutex_lock(&b->lane->lock);
  int64_t status = b->status;
  pthread_mutex_unlock(&b->lane->lock);
  if (status >= COMPLETED) set_over(&b->passes);
  return status;
}

static void command_buffer_enqueue(id self) {
  command_buffer *b = (command_buffer *)self;
  if (b->status != NOT_ENQUEUED) misuse("the command buffer is enqueued already");
  b->status = ENQUEUED;
}

/* ---- What EVENT_EARLY does at a commit. */

static void signal_point(const void *context, const pass_set *before);
static char *run_signal(void *context);
static char *run_await(void *context);

static void signal_early(const command_buffer *b) {
  for (operation *o = b->first; o; o = o->next)
    if (o->run == run_signal) signal_point(o->context, NULL);
}

void command_buffer_commit(id self) {
  command_buffer *b = (command_buffer *)self;
  command_buffer_check_open(self);
  check_no_encoder(b);
  b->doomed = fails(FAIL_COMMAND_BUFFER);
  if (b->doomed) b->code = fail_code();
  count(COUNT_COMMITS, 1);
  if (planted(EVENT_EARLY)) signal_early(b);
  retain(self);
  pthread_mutex_lock(&b->lane->lock);
  for (operation *o = b->first; o; o = o->next)
    if (o->commit) o->commit(o->context);
  b->status = COMMITTED, b->committed = now();
  b->lane->running++;
  *b->lane->last = b, b->lane->last = &b->next;
  b->lane->committed++;
  staff(b->lane);
  pthread_cond_broadcast(&b->lane->changed);
  pthread_mutex_unlock(&b->lane->lock);
}

static void wait_for(id self, int64_t status) {
  command_buffer *b = (command_buffer *)self;
  pthread_mutex_lock(&b->lane->lock);
  if (b->status < COMMITTED) misuse("the command buffer is not committed; the wait would be for ever");
  if (b->status < status) count(COUNT_WAITS, 1);
  while (b->status < status) pthread_cond_wait(&b->lane->changed, &b->lane->lock);
  pthread_mutex_unlock(&b->lane->lock);
  if (status == COMPLETED) set_over(&b->passes);
}

void command_buffer_wait(id self) { wait_for(self, COMPLETED); }
static void command_buffer_wait_scheduled(id self) { wait_for(self, SCHEDULED); }
static id command_buffer_queue(id self) { return &((command_buffer *)self)->queue->head.head; }
static BOOL command_buffer_retains(id self) { return (void)self, true; }

static id command_buffer_get_error(id self) {
  return command_buffer_status(self) >= COMPLETED ? ((command_buffer *)self)->error : NULL;
}

static double time_of(id self, double t) { return command_buffer_status(self) >= COMPLETED ? t : 0; }
static double command_buffer_started(id self) { return time_of(self, ((command_buffer *)self)->started); }
static double command_buffer_ended(id self) { return time_of(self, ((command_buffer *)self)->ended); }
static double command_buffer_committed(id self) { return time_of(self, ((command_buffer *)self)->committed); }

/* ---- Events among the commands. */

typedef struct {
  id event;
  uint64_t value;
} event_point;

static void signal_point(const void *context, const pass_set *before) {
  const event_point *p = context;
  event_signal(p->event, p->value, before);
}

static char *run_signal(void *context) { return signal_point(context, &current->passes), NULL; }

static char *run_await(void *context) {
  const event_point *p = context;
  char *wrong = current->doomed ? NULL : await(p->event, p->value);
  if (!wrong) event_after(p->event, p->value, &current->after), set_add(&current->passes, &current->after);
  return wrong;
}

static void drop_point(void *context) {
  release(((event_point *)context)->event);
  free(context);
}

static void promise(void *context) {
  const event_point *p = context;
  event_promise(p->event, p->value);
}

static void rely(void *context) {
  const event_point *p = context;
  if (!event_promised(p->event, p->value)) count(COUNT_EARLY_WAITS, 1);
}

static void append_point(id self, id event, uint64_t value, char *(*run)(void *), operation_kind kind) {
  command_buffer_check_open(self);
  check_no_encoder((command_buffer *)self);
  event_point *p = malloc(sizeof *p);
  *p = (event_point){retain(event), value};
  command_buffer_append(self, run, drop_point, p, kind, kind == SIGNAL ? promise : rely);
}

void command_buffer_signal(id self, id event, uint64_t value) { append_point(self, event, value, run_signal, SIGNAL); }
void command_buffer_await(id self, id event, uint64_t value) { append_point(self, event, value, run_await, ALWAYS); }
static void command_buffer_signal_event(id self, SEL cmd, id event, uint64_t value) { (void)cmd, command_buffer_signal(self, event, value); }
static void command_buffer_wait_event(id self, SEL cmd, id event, uint64_t value) { (void)cmd, command_buffer_await(self, event, value); }

static const method command_buffer_methods[] = {
    LABELLED,
    OF_DEVICE,
    INSTANCE("commandQueue", command_buffer_queue),
    INSTANCE("retainedReferences", command_buffer_retains),
    INSTANCE("computeCommandEncoder", command_buffer_compute_encoder),
    INSTANCE("computeCommandEncoderWithDispatchType:", command_buffer_compute_encoder_of),
    INSTANCE("blitCommandEncoder", command_buffer_blit_encoder),
    INSTANCE("encodeSignalEvent:value:", command_buffer_signal_event),
    INSTANCE("encodeWaitForEvent:value:", command_buffer_wait_event),
    INSTANCE("enqueue", command_buffer_enqueue),
    INSTANCE("commit", command_buffer_commit),
    INSTANCE("waitUntilCompleted", command_buffer_wait),
    INSTANCE("waitUntilScheduled", command_buffer_wait_scheduled),
    INSTANCE("status", command_buffer_status),
    INSTANCE("error", command_buffer_get_error),
    INSTANCE("GPUStartTime", command_buffer_started),
    INSTANCE("GPUEndTime", command_buffer_ended),
    INSTANCE("kernelStartTime", command_buffer_committed),
    INSTANCE("kernelEndTime", command_buffer_started),
};

__attribute__((constructor)) static void define(void) {
  static const class_def definitions[] = {
      {"FakeCommandQueue", "FakeLabelled", "MTLCommandQueue", sizeof(queue), queue_dealloc, METHODS(queue_methods)},
      {"FakeCommandBuffer", "FakeLabelled", "MTLCommandBuffer", sizeof(command_buffer), command_buffer_dealloc, METHODS(command_buffer_methods)},
  };
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) class_define(&definitions[i]);
}
