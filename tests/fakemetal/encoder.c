/*
 * encoder.c - MTLComputeCommandEncoder and MTLBlitCommandEncoder: checks what is encoded at once, and
 * appends it to the command buffer as work for the queue's thread.
 *
 * Dispatches of a concurrent encoder have no order but that of its memory barriers: they run in a random one, and two of
 * them that use the same bytes with no barrier between them, one writing, are misuse, whatever order they ran in.
 *
 * Sources: the pages of both protocols, MTLDispatchTypeConcurrent, and for limits "Metal Feature Set Tables". What the
 * pages ask for on macOS in general is asked for here, also where an Apple GPU would do without.
 */
#include <stdlib.h>
#include <string.h>

#include "defect.h"
#include "metal_internal.h"
#include "shader.h"

typedef struct {
  id buffer;
  uint64_t offset, length;
  unsigned char *bytes; /* of setBytes, MAX_BYTES of room; length is not 0 where they are what is bound */
} slot;

typedef struct dispatch dispatch;

/* What a dispatch of a concurrent encoder has used. */
typedef struct {
  const dispatch *by;
  shader_extent bytes;
  bool writes;
} use;

/* An encoder's work as it runs. */
typedef struct {
  work work;
  uint64_t barriers; /* before the dispatches whose uses are known */
  use *uses;
  int count, room;
  shader_resident *residents; /* that were made resident so far */
  int resident_count, resident_room;
} session;

typedef struct {
  labelled head;
  id command_buffer;
  bool ended, concurrent;
  session *session;  /* of the command buffer, which frees it behind the last command */
  uint64_t barriers; /* of a concurrent encoder, so far */
  id pipeline;
  slot slots[SHADER_BUFFERS];
  uint64_t threadgroup[SHADER_BUFFERS];
  dispatch *open; /* of a concurrent encoder, since its last barrier */
} encoder;

/* A dispatch, with all that it needs when it runs. */
struct dispatch {
  dispatch *next;
  const shader_function *function;
  shader_dispatch what;
  session *session;
  bool concurrent;
  uint64_t barriers; /* before it */
  hazard *memory[SHADER_BUFFERS];
  uint32_t writable; /* bit i: it may write what is bound at i */
  int residents;     /* how many of the session's are resident */
  _Alignas(16) unsigned char constants[];
};

/* ---- What both kinds share. */

static char *run_begin(void *context) { return work_begin(&((session *)context)->work), NULL; }
static char *run_end(void *context) { return work_end(&((session *)context)->work), NULL; }

static void drop_session(void *context) {
  free(((session *)context)->uses);
  free(((session *)context)->residents);
  free(context);
}

static encoder *encoder_new(id command_buffer, const char *class_name) {
  command_buffer_check_open(command_buffer);
  encoder *e = (encoder *)object_new(class_name);
  command_buffer_set_encoder(command_buffer, &e->head.head);
  e->command_buffer = retain(command_buffer);
  e->session = calloc(1, sizeof *e->session);
  command_buffer_append(command_buffer, run_begin, NULL, e->session, ALWAYS, NULL);
  count(COUNT_ENCODERS, 1);
  autorelease(&e->head.head);
  return e;
}

static encoder *open_encoder(id self) {
  encoder *e = (encoder *)self;
  if (e->ended) misuse("the encoder has ended encoding");
  return e;
}

static void uses(encoder *e, id used, bool writes) { command_buffer_touch(e->command_buffer, used, writes); }

static void flush(encoder *e);

static void encoder_end(id self) {
  encoder *e = open_encoder(self);
  flush(e);
  command_buffer_append(e->command_buffer, run_end, drop_session, e->session, ALWAYS, NULL);
  e->ended = true;
  command_buffer_set_encoder(e->command_buffer, NULL);
}

static void encoder_dealloc(id self) {
  encoder *e = (encoder *)self;
  if (!e->ended) misuse("an encoder of class %s is released without endEncoding", class_title(self));
  for (int i = 0; i < SHADER_BUFFERS; i++) release(e->slots[i].buffer), free(e->slots[i].bytes);
  release(e->pipeline);
  release(e->command_buffer);
}

typedef struct {
  work *work;
  id fence;
  uint64_t update;
} fence_point;

static void drop_fence(void *context) {
  release(((fence_point *)context)->fence);
  free(context);
}

static void number_update(void *context) { ((fence_point *)context)->update = fence_next(((fence_point *)context)->fence); }
static void number_wait(void *context) { ((fence_point *)context)->update = fence_last(((fence_point *)context)->fence); }

static char *run_update(void *context) {
  const fence_point *p = context;
  work_update(p->work, p->fence, p->update);
  return NULL;
}

static char *run_wait(void *context) {
  const fence_point *p = context;
  return work_await(p->work, p->fence, p->update);
}

static void append_fence(encoder *e, id fence, char *(*run)(void *), void (*commit)(void *)) {
  fence_point *p = malloc(sizeof *p);
  *p = (fence_point){&e->session->work, retain(fence), 0};
  command_buffer_append(e->command_buffer, run, drop_fence, p, ALWAYS, commit);
}

static void encoder_update_fence(id self, SEL cmd, id fence) {
  (void)cmd;
  encoder *e = open_encoder(self);
  flush(e);
  append_fence(e, fence, run_update, number_update);
}

static void encoder_wait_for_fence(id self, SEL cmd, id fence) { (void)cmd, append_fence(open_encoder(self), fence, run_wait, number_wait); }

#define OF_ENCODER                                    \
  LABELLED, OF_DEVICE,                                \
  INSTANCE("endEncoding", encoder_end),               \
  INSTANCE("updateFence:", encoder_update_fence),     \
  INSTANCE("waitForFence:", encoder_wait_for_fence)

/* ---- Compute: arguments. */

id command_buffer_compute_encoder(id self) { return &encoder_new(self, "FakeComputeCommandEncoder")->head.head; }

id command_buffer_compute_encoder_of(id self, SEL cmd, uint64_t dispatch_type) {
  (void)cmd;
  if (dispatch_type > 1) misuse("dispatch type %llu", (unsigned long long)dispatch_type);
  encoder *e = encoder_new(self, "FakeComputeCommandEncoder");
  e->concurrent = dispatch_type == 1;
  return &e->head.head;
}

static uint64_t compute_dispatch_type(id self) { return ((encoder *)self)->concurrent; }
static void compute_set_pipeline(id self, SEL cmd, id pipeline) { (void)cmd, replace(&open_encoder(self)->pipeline, pipeline); }

static slot *slot_at(encoder *e, uint64_t index) {
  if (index >= SHADER_BUFFERS) misuse("index %llu; there are %d", (unsigned long long)index, SHADER_BUFFERS);
  return &e->slots[index];
}

static void compute_set_buffer(id self, SEL cmd, id buffer, uint64_t offset, uint64_t index) {
  (void)cmd;
  encoder *e = open_encoder(self);
  slot *s = slot_at(e, index);
  if (buffer && offset >= buffer_length(buffer))
    misuse("offset %llu is not in the buffer, which has %zu bytes", (unsigned long long)offset, buffer_length(buffer));
  enter(self);
  if (buffer) command_buffer_keep(e->command_buffer, buffer);
  replace(&s->buffer, buffer);
  s->offset = offset, s->length = 0;
  leave(self);
}

static void compute_set_offset(id self, SEL cmd, uint64_t offset, uint64_t index) {
  slot *s = slot_at(open_encoder(self), index);
  if (!s->buffer) misuse("no buffer is set at index %llu", (unsigned long long)index);
  compute_set_buffer(self, cmd, s->buffer, offset, index);
}

static void compute_set_buffers(id self, SEL cmd, const id *buffers, const uint64_t *offsets, range r) {
  for (uint64_t i = 0; i < r.length; i++) {
    if (!is_live(buffers[i]) || (buffers[i] && !is_kind(buffers[i], "MTLBuffer"))) misuse("buffers[%llu] is no buffer", (unsigned long long)i);
    compute_set_buffer(self, cmd, buffers[i], offsets[i], r.location + i);
  }
}

static void compute_set_bytes(id self, SEL cmd, const void *bytes, uint64_t length, uint64_t index) {
  (void)cmd;
  slot *s = slot_at(open_encoder(self), index);
  if (!bytes) misuse("bytes are NULL");
  if (length == 0 || length > MAX_BYTES) misuse("%llu bytes; want 1 to %d", (unsigned long long)length, MAX_BYTES);
  if (planted(STALE_CONSTANTS) && s->length == length) return;
  enter(self);
  if (!s->bytes) s->bytes = malloc(MAX_BYTES);
  memcpy(s->bytes, bytes, length);
  replace(&s->buffer, NULL);
  s->offset = 0, s->length = length;
  leave(self);
}

static void compute_set_threadgroup(id self, SEL cmd, uint64_t length, uint64_t index) {
  (void)cmd;
  encoder *e = open_encoder(self);
  slot_at(e, index);
  if (length % 16 != 0) misuse("%llu bytes of threadgroup memory; want a multiple of 16", (unsigned long long)length);
  if (length > MAX_THREADGROUP_MEMORY) misuse("%llu bytes of threadgroup memory; there are %d", (unsigned long long)length, MAX_THREADGROUP_MEMORY);
  e->threadgroup[index] = length;
}

/* make_resident lets the dispatches that follow use addresses in a resource. In which order they use it is not checked. */
static void make_resident(encoder *e, id resource, bool writes) {
  session *s = e->session;
  const shader_resident new = resource_resident(resource, writes);
  for (int i = 0; i < s->resident_count; i++)
    if (s->residents[i].base == new.base && s->residents[i].length == new.length && s->residents[i].writable == new.writable) return;
  if (s->resident_count == s->resident_room)
    s->residents = realloc(s->residents, (size_t)(s->resident_room = s->resident_room ? 2 * s->resident_room : 16) * sizeof *s->residents);
  s->residents[s->resident_count++] = new;
}

static void compute_use_resource(id self, SEL cmd, id resource, uint64_t usage) {
  (void)cmd;
  enum { READ = 1, WRITE = 2 };
  if (usage == 0 || usage > (READ | WRITE)) misuse("usage %llu", (unsigned long long)usage);
  encoder *e = open_encoder(self);
  if (!is_live(resource) || !is_kind(resource, "MTLBuffer")) misuse("the resource is no buffer; nothing else is imitated");
  uses(e, resource, (usage & WRITE) != 0);
  make_resident(e, resource, (usage & WRITE) != 0);
}

static void compute_use_heap(id self, SEL cmd, id heap) {
  (void)cmd;
  encoder *e = open_encoder(self);
  command_buffer_keep(e->command_buffer, heap);
  make_resident(e, heap, false);
}

/* ---- Compute: dispatches. */

/* unordered checks what a dispatch has used against those of the same encoder that no barrier separates from it. */
static void unordered(const dispatch *d, shader_extent bytes, bool writes) {
  session *s = d->session;
  for (int i = 0; i < s->count; i++) {
    const use *u = &s->uses[i];
    if (u->by == d || !(writes || u->writes) || u->bytes.low >= bytes.high || bytes.low >= u->bytes.high) continue;
    misuse("dispatches of a concurrent encoder share memory that one writes: kernel %s %s bytes that kernel %s %s (%llu of them, "
           "after %llu barriers); want a memory barrier between them",
           shader_function_name(d->function), writes ? "writes" : "reads", shader_function_name(u->by->function), u->writes ? "writes" : "reads",
           (unsigned long long)((u->bytes.high < bytes.high ? u->bytes.high : bytes.high) - (u->bytes.low > bytes.low ? u->bytes.low : bytes.low)),
           (unsigned long long)d->barriers);
  }
  if (s->count == s->room) s->uses = realloc(s->uses, (size_t)(s->room = s->room ? 2 * s->room : 16) * sizeof *s->uses);
  s->uses[s->count++] = (use){d, bytes, writes};
}

/* used says what a dispatch has touched, to memory and to the encoder. */
static void used(const dispatch *d, const shader_extent *touched) {
  session *s = d->session;
  if (s->barriers != d->barriers) s->count = 0, s->barriers = d->barriers;
  for (int i = 0; i < SHADER_BUFFERS; i++) {
    if (!d->memory[i] || touched[i].low >= touched[i].high) continue;
    bool writes = d->writable >> i & 1;
    work_use(&s->work, d->memory[i], touched[i].low, touched[i].high, writes);
    if (d->concurrent) unordered(d, touched[i], writes);
  }
}

/* What a kernel does wrong ends its command buffer, as where the GPU's own memory protection sees it. With
 * FAKEMETAL_STRICT=1 it ends the process, so that no test can overlook it. */
static char *run_dispatch(void *context) {
  enum { PAGE_FAULT = 3 };
  dispatch *d = context;
  shader_extent touched[SHADER_BUFFERS] = {{0, 0}};
  shader_counts counts;
  d->what.residents = d->session->residents, d->what.resident_count = d->residents;
  char *wrong = shader_run(d->function, &d->what, &counts, touched);
  if (shader_counting()) count_dispatch(shader_function_name(d->function), &counts);
  used(d, touched);
  if (wrong && strict()) misuse("%s", wrong);
  if (wrong) command_buffer_error_code(PAGE_FAULT);
  return wrong;
}

/* bind takes what is bound at an index into the dispatch, after the constants that are there. */
static size_t bind(encoder *e, dispatch *d, int i, size_t constants) {
  slot *s = &e->slots[i];
  bool writes = false;
  if (shader_buffer(d->function, i, &writes) != SHADER_BUFFER) return constants;
  if (s->buffer) {
    d->what.buffers[i] = (shader_binding){buffer_bytes(s->buffer), buffer_length(s->buffer), s->offset, false};
    d->memory[i] = buffer_hazard(s->buffer);
    d->writable |= writes ? UINT32_C(1) << i : 0;
    uses(e, s->buffer, writes);
    return constants;
  }
  if (s->length == 0) misuse("the kernel wants a buffer at index %d; none is set", i);
  if (writes) misuse("the kernel writes at index %d, where constant bytes are set", i);
  memcpy(d->constants + constants, s->bytes, s->length);
  d->what.buffers[i] = (shader_binding){d->constants + constants, s->length, 0, true};
  return constants + (s->length + 63) / 64 * 64;
}

static size_t room_of_constants(const encoder *e) {
  size_t room = 0;
  for (int i = 0; i < SHADER_BUFFERS; i++) room += (e->slots[i].length + 63) / 64 * 64;
  return room;
}

static void bind_threadgroup(const encoder *e, dispatch *d) {
  size_t total = shader_static_threadgroup(d->function);
  for (int i = 0; i < SHADER_BUFFERS; i++) {
    if (!shader_wants_threadgroup(d->function, i)) continue;
    if (e->threadgroup[i] == 0) misuse("the kernel wants threadgroup memory at index %d; its length is not set", i);
    total += d->what.threadgroup[i] = e->threadgroup[i];
  }
  if (total > MAX_THREADGROUP_MEMORY) misuse("%zu bytes of threadgroup memory; there are %d", total, MAX_THREADGROUP_MEMORY);
}

static void check_sizes(const encoder *e, size3 grid, size3 group) {
  if (!e->pipeline) misuse("no compute pipeline state is set");
  if (grid.width == 0 || grid.height == 0 || grid.depth == 0) misuse("the grid is empty");
  if (group.width == 0 || group.height == 0 || group.depth == 0) misuse("the threadgroup is empty");
  uint64_t most = pipeline_max_threads(e->pipeline);
  if (group.width > MAX_THREADS || group.height > MAX_THREADS || group.depth > MAX_THREADS ||
      group.width * group.height * group.depth > most)
    misuse("%llu x %llu x %llu threads in a threadgroup; the pipeline takes %llu", (unsigned long long)group.width,
           (unsigned long long)group.height, (unsigned long long)group.depth, (unsigned long long)most);
}

/* Positions are of 32 bits: of threads, or of threadgroups where these are what is dispatched. */
static void check_positions(size3 counts) {
  if (counts.width > UINT32_MAX || counts.height > UINT32_MAX || counts.depth > UINT32_MAX) misuse("positions in the grid exceed 32 bits");
}

static void append_dispatch(encoder *e, dispatch *d) {
  count(COUNT_DISPATCHES, 1);
  if (!e->concurrent) return command_buffer_append(e->command_buffer, run_dispatch, free, d, WORK, NULL);
  d->concurrent = true, d->barriers = e->barriers;
  d->next = e->open, e->open = d;
}

/* flush appends the dispatches of a concurrent encoder in a random order, because none is specified. */
static void flush(encoder *e) {
  uint64_t n = 0;
  for (dispatch *d = e->open; d; d = d->next) n++;
  for (; n > 0; n--) {
    dispatch **at = &e->open;
    for (uint64_t skip = random_bits() % n; skip > 0; skip--) at = &(*at)->next;
    dispatch *d = *at;
    *at = d->next;
    command_buffer_append(e->command_buffer, run_dispatch, free, d, WORK, NULL);
  }
}

static uint64_t groups_of(uint64_t threads, uint64_t group) { return (threads + group - 1) / group; }

static void encode(id self, size3 threads, size3 group) {
  encoder *e = open_encoder(self);
  check_sizes(e, threads, group);
  enter(self);
  dispatch *d = calloc(1, sizeof *d + room_of_constants(e));
  d->function = pipeline_function(e->pipeline), d->session = e->session, d->residents = e->session->resident_count;
  command_buffer_keep(e->command_buffer, e->pipeline);
  for (size_t i = 0, constants = 0; i < SHADER_BUFFERS; i++) constants = bind(e, d, (int)i, constants);
  bind_threadgroup(e, d);
  const uint64_t t[3] = {threads.width, threads.height, threads.depth}, g[3] = {group.width, group.height, group.depth};
  for (int i = 0; i < 3; i++) d->what.threads[i] = t[i], d->what.group[i] = g[i], d->what.groups[i] = groups_of(t[i], g[i]);
  append_dispatch(e, d);
  leave(self);
}

static void compute_dispatch_threads(id self, SEL cmd, size3 threads, size3 group) {
  (void)cmd;
  check_positions(threads);
  encode(self, threads, group);
}

static void compute_dispatch_groups(id self, SEL cmd, size3 groups, size3 group) {
  (void)cmd;
  check_positions(groups);
  encode(self, (size3){groups.width * group.width, groups.height * group.height, groups.depth * group.depth}, group);
}

/* put_barrier orders what comes before and after. */
static void put_barrier(encoder *e) {
  count(COUNT_MEMORY_BARRIERS, 1);
  e->barriers++;
  if (!planted(MEMORY_BARRIER_SKIPPED)) flush(e);
}

static void compute_barrier(id self, SEL cmd, uint64_t scope) {
  (void)cmd;
  if (scope == 0) misuse("the scope is empty");
  put_barrier(open_encoder(self));
}

static void compute_barrier_resources(id self, SEL cmd, const id *resources, uint64_t n) {
  (void)cmd;
  for (uint64_t i = 0; i < n; i++)
    if (!is_live(resources[i]) || !is_kind(resources[i], "MTLResource")) misuse("resources[%llu] is no resource", (unsigned long long)i);
  put_barrier(open_encoder(self));
}

static const method compute_methods[] = {
    OF_ENCODER,
    INSTANCE("dispatchType", compute_dispatch_type),
    INSTANCE("setComputePipelineState:", compute_set_pipeline),
    INSTANCE("setBuffer:offset:atIndex:", compute_set_buffer),
    INSTANCE("setBufferOffset:atIndex:", compute_set_offset),
    INSTANCE("setBuffers:offsets:withRange:", compute_set_buffers),
    INSTANCE("setBytes:length:atIndex:", compute_set_bytes),
    INSTANCE("setThreadgroupMemoryLength:atIndex:", compute_set_threadgroup),
    INSTANCE("useResource:usage:", compute_use_resource),
    INSTANCE("useHeap:", compute_use_heap),
    INSTANCE("dispatchThreads:threadsPerThreadgroup:", compute_dispatch_threads),
    INSTANCE("dispatchThreadgroups:threadsPerThreadgroup:", compute_dispatch_groups),
    INSTANCE("memoryBarrierWithScope:", compute_barrier),
    INSTANCE("memoryBarrierWithResources:count:", compute_barrier_resources),
};

/* ---- Blit. */

typedef struct {
  char *to;
  const char *from; /* NULL: fill with value */
  size_t size;
  int value;
  work *work;
  hazard *read, *written;
} transfer;

static char *run_transfer(void *context) {
  enum { LONG = 64 << 10, TAIL = 16 };
  transfer *t = context;
  if (t->from) work_use(t->work, t->read, (uintptr_t)t->from, (uintptr_t)t->from + t->size, false);
  work_use(t->work, t->written, (uintptr_t)t->to, (uintptr_t)t->to + t->size, true);
  if (planted(COPY_TAIL) && t->size >= LONG) t->size -= TAIL;
  if (t->from) memcpy(t->to, t->from, t->size);
  else memset(t->to, t->value, t->size);
  return NULL;
}

static void append_transfer(encoder *e, transfer given) {
  transfer *t = malloc(sizeof *t);
  *t = given, t->work = &e->session->work;
  command_buffer_append(e->command_buffer, run_transfer, free, t, WORK, NULL);
}

static void check_part(const char *what, id buffer, uint64_t offset, uint64_t size) {
  if (size == 0) misuse("%s: the size is 0", what);
  if (offset % 4 != 0 || size % 4 != 0)
    misuse("%s: offset %llu and size %llu; macOS wants multiples of 4", what, (unsigned long long)offset, (unsigned long long)size);
  if (offset > buffer_length(buffer) || size > buffer_length(buffer) - offset)
    misuse("%s: offset %llu and size %llu leave the buffer of %zu bytes", what, (unsigned long long)offset, (unsigned long long)size, buffer_length(buffer));
}

id command_buffer_blit_encoder(id self) { return &encoder_new(self, "FakeBlitCommandEncoder")->head.head; }

static void blit_copy(id self, SEL cmd, id from, uint64_t from_offset, id to, uint64_t to_offset, uint64_t size) {
  (void)cmd;
  encoder *e = open_encoder(self);
  check_part("source", from, from_offset, size);
  check_part("destination", to, to_offset, size);
  transfer t = {(char *)buffer_bytes(to) + to_offset, (char *)buffer_bytes(from) + from_offset, size, 0, NULL, buffer_hazard(from), buffer_hazard(to)};
  if (t.to < t.from + size && t.from < t.to + size) misuse("source and destination overlap");
  uses(e, from, false);
  uses(e, to, true);
  count(COUNT_COPIED_BYTES, (int64_t)size);
  append_transfer(e, t);
}

static void blit_fill(id self, SEL cmd, id buffer, range r, uint8_t value) {
  (void)cmd;
  encoder *e = open_encoder(self);
  check_part("range", buffer, r.location, r.length);
  uses(e, buffer, true);
  append_transfer(e, (transfer){(char *)buffer_bytes(buffer) + r.location, NULL, r.length, value, NULL, NULL, buffer_hazard(buffer)});
}

static void blit_synchronize(id self, SEL cmd, id resource) {
  (void)cmd, (void)resource;
  open_encoder(self);
}

static const method blit_methods[] = {
    OF_ENCODER,
    INSTANCE("copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", blit_copy),
    INSTANCE("fillBuffer:range:value:", blit_fill),
    INSTANCE("synchronizeResource:", blit_synchronize),
};

__attribute__((constructor)) static void define(void) {
  static const class_def definitions[] = {
      {"FakeComputeCommandEncoder", "FakeLabelled", "MTLComputeCommandEncoder", sizeof(encoder), encoder_dealloc, METHODS(compute_methods)},
      {"FakeBlitCommandEncoder", "FakeLabelled", "MTLBlitCommandEncoder", sizeof(encoder), encoder_dealloc, METHODS(blit_methods)},
  };
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) class_define(&definitions[i]);
}
