/*
 * queue.c - MTLCommandQueue and MTLCommandBuffer.
 *
 * A queue has a thread of its own, which runs command buffers in the order of their commits, and not
 * before: who reads a result without waiting reads what was there before. FAKEMETAL_DELAY_US makes sure.
 * Source: the pages of MTLCommandQueue and MTLCommandBuffer, "Setting Up a Command Structure".
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "defect.h"
#include "metal_internal.h"

enum { NOT_ENQUEUED, ENQUEUED, COMMITTED, SCHEDULED, COMPLETED, FAILED }; /* MTLCommandBufferStatus */
enum { ERROR_INTERNAL = 1 };
enum { DEFAULT_COMMAND_BUFFERS = 64 };

typedef struct operation {
  struct operation *next;
  char *(*run)(void *context);
  void (*drop)(void *context);
  void *context;
  bool event; /* runs in any case, or others would wait for ever */
} operation;

typedef struct command_buffer command_buffer;

/* What a queue and its thread share; it outlives the queue until the thread has seen that. */
typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  command_buffer *first, **last; /* committed, not begun */
  uint64_t most, alive, running; /* command buffers that may be, that are, and those committed of them */
  bool closed;
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
  uint64_t pass, first_pass, last_pass, covered;
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
  case 2: return "Caused GPU Timeout Error (00000002:kIOGPUCommandBufferCallbackErrorTimeout)";
  case 3: return "Caused GPU Address Fault Error (0000000b:kIOGPUCommandBufferCallbackErrorPageFault)";
  case 8: return "Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)";
  default: return "Internal Error (0000000e:Internal Error)";
  }
}

static void fail(command_buffer *b, int64_t code, const char *what) {
  b->doomed = true;
  if (!b->error) b->error = error_new("MTLCommandBufferErrorDomain", code, what ? what : describe(code));
}

static void run(command_buffer *b) {
  if (b->doomed) fail(b, b->code ? b->code : ERROR_INTERNAL, NULL);
  for (operation *o = b->first; o; o = o->next) {
    if (b->doomed && !o->event) continue;
    run_code = ERROR_INTERNAL;
    char *wrong = o->run(o->context);
    if (wrong) fail(b, run_code, wrong);
    free(wrong);
  }
}

/* drop_all lets go of what the command buffer kept. */
static void drop_all(command_buffer *b) {
  for (operation *o = b->first, *next; o; o = next) {
    next = o->next;
    if (o->drop) o->drop(o->context);
    free(o);
  }
  b->first = NULL, b->last = &b->first;
  for (size_t i = 0; i < b->kept_count; i++) {
    if (is_kind(b->kept[i], "FakeBuffer") && b->last_pass > 0) buffer_settle(b->kept[i], b->first_pass, b->last_pass);
    release(b->kept[i]);
  }
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
  set_status(b, SCHEDULED);
  delay();
  b->started = now();
  run(b);
  b->ended = now();
  drop_all(b);
  set_status(b, b->doomed ? FAILED : COMPLETED);
  release(&b->head.head);
  pool_pop(pool);
}

/* take waits for the next command buffer; NULL when the queue is gone. */
static command_buffer *take(lane *l) {
  pthread_mutex_lock(&l->lock);
  while (!l->first && !l->closed) pthread_cond_wait(&l->changed, &l->lock);
  command_buffer *b = l->first;
  if (b && !(l->first = b->next)) l->last = &l->first;
  pthread_mutex_unlock(&l->lock);
  return b;
}

static void *serve(void *context) {
  lane *l = context;
  doing("the thread of a command queue");
  for (command_buffer *b; (b = take(l));) perform(b);
  pthread_mutex_destroy(&l->lock);
  pthread_cond_destroy(&l->changed);
  free(l);
  return NULL;
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
  pthread_t thread;
  if (pthread_create(&thread, NULL, serve, l) != 0) return free(l), NULL;
  pthread_detach(thread);
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
    pthread_mutex_lock(&b->lane->lock);
    b->lane->alive--;
    pthread_cond_broadcast(&b->lane->changed);
    pthread_mutex_unlock(&b->lane->lock);
  }
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

void command_buffer_append(id self, char *(*run)(void *), void (*drop)(void *), void *context, bool event) {
  command_buffer *b = (command_buffer *)self;
  operation *o = malloc(sizeof *o);
  *o = (operation){NULL, run, drop, context, event};
  *b->last = o, b->last = &o->next;
}

void command_buffer_encode(id self, char *(*run)(void *), void (*drop)(void *), void *context) {
  command_buffer_check_open(self);
  check_no_encoder((command_buffer *)self);
  command_buffer_append(self, run, drop, context, false);
  ((command_buffer *)self)->pass = 0;
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

uint64_t command_buffer_begin_pass(id self, uint64_t *covered) {
  static _Atomic uint64_t passes;
  command_buffer *b = (command_buffer *)self;
  b->last_pass = atomic_fetch_add(&passes, 1) + 1;
  if (b->first_pass == 0) b->first_pass = b->last_pass;
  *covered = b->covered;
  return b->last_pass;
}

void command_buffer_cover(id self, uint64_t pass) {
  command_buffer *b = (command_buffer *)self;
  if (pass > b->covered) b->covered = pass;
}

void command_buffer_uses(id self, id used, bool writes) {
  command_buffer *b = (command_buffer *)self;
  uint64_t covered = b->covered;
  if (b->pass == 0) b->pass = command_buffer_begin_pass(self, &covered);
  command_buffer_keep(self, used);
  buffer_hazard(used, writes, b->pass, covered);
}

int64_t command_buffer_status(id self) {
  command_buffer *b = (command_buffer *)self;
  pthread_mutex_lock(&b->lane->lock);
  int64_t status = b->status;
  pthread_mutex_unlock(&b->lane->lock);
  return status;
}

static void command_buffer_enqueue(id self) {
  command_buffer *b = (command_buffer *)self;
  if (b->status != NOT_ENQUEUED) misuse("the command buffer is enqueued already");
  b->status = ENQUEUED;
}

/* ---- What EVENT_EARLY and QUEUE_REORDERED do at a commit. */

static char *run_signal(void *context);
static char *run_await(void *context);

static void signal_early(const command_buffer *b) {
  for (operation *o = b->first; o; o = o->next)
    if (o->run == run_signal) run_signal(o->context);
}

/* jump puts a command buffer that waits for nobody before the last one that has not begun. */
static bool jump(command_buffer *b) {
  command_buffer **at = &b->lane->first;
  for (operation *o = b->first; o; o = o->next)
    if (o->run == run_await) return false;
  while (*at && (*at)->next) at = &(*at)->next;
  if (!*at) return false;
  b->next = *at, *at = b;
  return true;
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
  b->status = COMMITTED, b->committed = now();
  b->lane->running++;
  if (!planted(QUEUE_REORDERED) || !jump(b)) *b->lane->last = b, b->lane->last = &b->next;
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

enum { ERROR_TIMEOUT = 2, GPU_PATIENCE = 60 };

static char *run_signal(void *context) {
  event_point *p = context;
  event_signal(p->event, p->value);
  return NULL;
}

static char *run_await(void *context) {
  event_point *p = context;
  if (event_wait(p->event, p->value, GPU_PATIENCE)) return NULL;
  command_buffer_error_code(ERROR_TIMEOUT);
  return strdup(describe(ERROR_TIMEOUT));
}

static void drop_point(void *context) {
  release(((event_point *)context)->event);
  free(context);
}

static void append_point(id self, id event, uint64_t value, char *(*run)(void *)) {
  command_buffer_check_open(self);
  check_no_encoder((command_buffer *)self);
  event_point *p = malloc(sizeof *p);
  *p = (event_point){retain(event), value};
  command_buffer_append(self, run, drop_point, p, true);
}

void command_buffer_signal(id self, id event, uint64_t value) {
  append_point(self, event, value, run_signal);
  event_mark(event, ((command_buffer *)self)->last_pass);
}

void command_buffer_await(id self, id event, uint64_t value) {
  append_point(self, event, value, run_await);
  command_buffer_cover(self, event_pass(event));
}

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
