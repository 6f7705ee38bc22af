/*
 * graph_run.c - MPSGraphExecutable, its descriptors, and the forms of MPSGraph that run without one.
 *
 * An executable holds the nodes that its targets need. Its inputs and results are in an order of its own,
 * which feedTensors and targetTensors tell. Encoding adds work to the command buffer, and may commit that
 * one first; values are read and written when the work runs.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "harsh.h"
#include "refuse.h"

/* ---- MPSGraphCompilationDescriptor. */

typedef struct {
  object head;
  uint64_t level, profile;
  bool waits;
} compilation;

/* Level 1 is what Apple's documentation calls the default. With it other devices than the GPU may
 * compute, one of which knows no single precision. */
enum { LEVEL_ONE = 1 };

static id compilation_new(class_ *self) {
  compilation *d = (compilation *)object_make(self);
  d->level = LEVEL_ONE;
  return &d->head;
}

static uint64_t level_of(id descriptor) { return descriptor ? ((compilation *)descriptor)->level : LEVEL_ONE; }

static uint64_t compilation_level(id self) { return ((compilation *)self)->level; }
static uint64_t compilation_profile(id self) { return ((compilation *)self)->profile; }
static BOOL compilation_waits(id self) { return ((compilation *)self)->waits; }
static void compilation_set_profile(id self, SEL cmd, uint64_t profile) { (void)cmd, ((compilation *)self)->profile = profile; }
static void compilation_set_waits(id self, SEL cmd, BOOL waits) { (void)cmd, ((compilation *)self)->waits = waits; }
static void compilation_ignore(id self) { (void)self; }

static void compilation_set_level(id self, SEL cmd, uint64_t level) {
  (void)cmd;
  if (level > LEVEL_ONE) misuse("optimization level %llu", (unsigned long long)level);
  ((compilation *)self)->level = level;
}

static const method compilation_methods[] = {
    CLASS("new", compilation_new),
    CLASS("alloc", compilation_new),
    INSTANCE("optimizationLevel", compilation_level),
    INSTANCE("setOptimizationLevel:", compilation_set_level),
    INSTANCE("optimizationProfile", compilation_profile),
    INSTANCE("setOptimizationProfile:", compilation_set_profile),
    INSTANCE("waitForCompilationCompletion", compilation_waits),
    INSTANCE("setWaitForCompilationCompletion:", compilation_set_waits),
    INSTANCE("disableTypeInference", compilation_ignore),
};

/* ---- MPSGraphExecutionDescriptor and MPSGraphExecutableExecutionDescriptor. */

enum { MOST_EVENTS = 4 };

typedef struct {
  object head;
  bool waits;
  id events[2][MOST_EVENTS]; /* to wait for, to signal */
  uint64_t values[2][MOST_EVENTS];
  int counts[2];
} execution;

static void execution_dealloc(id self) {
  execution *e = (execution *)self;
  for (int kind = 0; kind < 2; kind++)
    for (int i = 0; i < e->counts[kind]; i++) release(e->events[kind][i]);
}

static void execution_add(id self, int kind, id event, uint64_t v) {
  execution *e = (execution *)self;
  if (e->counts[kind] == MOST_EVENTS) misuse("more than %d events; the fake takes no more", MOST_EVENTS);
  e->events[kind][e->counts[kind]] = retain(event), e->values[kind][e->counts[kind]++] = v;
}

static BOOL execution_waits(id self) { return ((execution *)self)->waits; }
static void execution_set_waits(id self, SEL cmd, BOOL waits) { (void)cmd, ((execution *)self)->waits = waits; }
static void execution_await(id self, SEL cmd, id event, uint64_t v) { (void)cmd, execution_add(self, 0, event, v); }

static void execution_signal(id self, SEL cmd, id event, uint64_t stage, uint64_t v) {
  (void)cmd;
  if (stage != 0) misuse("execution stage %llu; there is only Completed, 0", (unsigned long long)stage);
  execution_add(self, 1, event, v);
}

static const method execution_methods[] = {
    INSTANCE("waitUntilCompleted", execution_waits),
    INSTANCE("setWaitUntilCompleted:", execution_set_waits),
    INSTANCE("waitForEvent:value:", execution_await),
    INSTANCE("signalEvent:atExecutionEvent:value:", execution_signal),
};

/* ---- MPSGraphExecutable. */

static void executable_dealloc(id self) {
  executable *x = (executable *)self;
  free(x->nodes), free(x->feeds), free(x->targets), free(x->package);
  if (x->code) device_give(x->code);
  if (x->between) device_give(x->between);
  if (x->graph) release(&x->graph->head);
}

/* ---- The memory that MPSGraph takes of the device by itself, and keeps for the next run of an executable. */

static bool take_code(executable *x) {
  enum { CODE = 64 << 10 };
  if (!harsh(GRAPH_MEMORY)) return true;
  if (!device_take(CODE)) return false;
  x->code = CODE;
  return true;
}

static uint64_t bytes_of(const form *f) { return (uint64_t)shape_count(&f->shape) * (f->type & 0xffff) / 8; }

static bool is_target(const executable *x, const tensor *t) {
  for (int i = 0; i < x->target_count; i++)
    if (x->targets[i] == t) return true;
  return false;
}

/* take_between is false where the device has no room for the results of operations that are no results of the executable. */
static bool take_between(executable *x) {
  uint64_t all = 0;
  if (!harsh(GRAPH_MEMORY) || x->between) return true;
  for (int64_t i = 0; i < x->node_count; i++)
    for (int k = 0; k < x->nodes[i]->outs; k++) {
      const tensor *t = x->nodes[i]->out[k];
      if (shape_known(&t->form.shape) && !is_target(x, t)) all += bytes_of(&t->form);
    }
  if (all == 0) return true;
  if (!device_take(all)) return false;
  uint64_t none = 0; /* another queue may run the same executable now */
  if (!atomic_compare_exchange_strong(&x->between, &none, all)) device_give(all);
  return true;
}

static void shuffle(tensor **tensors, int count) {
  for (int i = count; i > 1; i--) {
    int j = (int)(random_bits() % (uint64_t)i);
    tensor *swap = tensors[i - 1];
    tensors[i - 1] = tensors[j], tensors[j] = swap;
  }
}

static void check_own(const graph *g, const tensor *t, const char *what) {
  if (t->graph != g) misuse("a %s belongs to another graph, or to one that has been released", what);
}

static void check_form(const form *got, const form *want, const char *what) {
  if (got->type != want->type || !shape_equal(&got->shape, &want->shape))
    misuse("a %s of %s %s; want %s %s", what, type_name(got->type), shape_text(&got->shape), type_name(want->type), shape_text(&want->shape));
}

static bool is_fed(const executable *x, const tensor *t) {
  for (int i = 0; i < x->feed_count; i++)
    if (x->feeds[i] == t) return true;
  return false;
}

void executable_select(executable *x) {
  const graph *g = x->graph;
  bool *wanted = calloc((size_t)g->tensor_count, sizeof *wanted);
  node **last = calloc((size_t)g->node_count, sizeof *last);
  for (int i = 0; i < x->target_count; i++) wanted[x->targets[i]->number] = true;
  for (int64_t i = g->node_count; i-- > 0;) {
    node *n = g->nodes[i];
    bool needed = false;
    for (int k = 0; k < n->outs; k++) needed |= wanted[n->out[k]->number];
    if (!needed) continue;
    if (!n->op->compute && !is_fed(x, n->out[0]))
      misuse("a placeholder of %s %s is not fed", type_name(n->out[0]->form.type), shape_text(&n->out[0]->form.shape));
    if (!n->op->compute) continue;
    for (int k = 0; k < n->ins; k++) wanted[n->in[k]->number] = true;
    last[x->node_count++] = n;
  }
  x->nodes = calloc((size_t)x->node_count + 1, sizeof *x->nodes);
  for (int64_t i = 0; i < x->node_count; i++) x->nodes[i] = last[x->node_count - 1 - i];
  free(wanted), free(last);
}

/* take_feeds checks what is fed; form_of tells what form a value of the dictionary has. */
static void take_feeds(executable *x, id feeds, form (*form_of)(id)) {
  x->feeds = calloc(dictionary_count(feeds) + 1, sizeof *x->feeds);
  for (size_t i = 0; i < dictionary_count(feeds); i++) {
    id key, type;
    dictionary_at(feeds, i, &key, &type);
    tensor *t = (tensor *)key;
    form f = form_of(type);
    check_own(x->graph, t, "feed");
    if (t->node->op->compute) misuse("a feed is no placeholder");
    check_form(&f, &t->form, "feed");
    x->feeds[x->feed_count++] = t;
  }
}

static void take_targets(executable *x, id targets) {
  x->targets = calloc(array_count(targets), sizeof *x->targets);
  for (size_t i = 0; i < array_count(targets); i++) {
    tensor *t = (tensor *)array_at(targets, i);
    check_own(x->graph, t, "target");
    x->targets[x->target_count++] = t;
  }
}

/* refuses looks at all operations, so that each is noted. */
static bool refuses(const executable *x) {
  bool yes = false;
  for (int64_t i = 0; i < x->node_count; i++) {
    const char *name = x->nodes[i]->op->selector, *with = strstr(name, "With");
    char text[128];
    snprintf(text, sizeof text, "%.*s", with ? (int)(with - name) : (int)strcspn(name, ":"), name);
    yes |= refused(REFUSE_EXECUTABLE, text);
  }
  return yes;
}

static bool too_long(const executable *x) {
  int64_t most = harsh(LONG_GRAPH);
  return most > 0 && x->node_count > most;
}

/* compile answers an executable, +1, or NULL. */
static executable *compile(id self, id feeds, id targets, id operations, form (*form_of)(id)) {
  if (array_count(targets) == 0) misuse("there are no target tensors");
  if (array_count(operations) != 0) misuse("target operations; the fake computes tensors only");
  count(COUNT_COMPILES, 1);
  if (fails(FAIL_EXECUTABLE)) return NULL;
  enter(self);
  executable *x = (executable *)object_new("MPSGraphExecutable");
  x->graph = (graph *)retain(self), x->options = x->graph->options, x->tensor_count = x->graph->tensor_count;
  take_feeds(x, feeds, form_of);
  take_targets(x, targets);
  executable_select(x);
  shuffle(x->feeds, x->feed_count), shuffle(x->targets, x->target_count);
  leave(self);
  harsh_sleep(COMPILE_MS);
  if (refuses(x) || too_long(x) || !take_code(x)) return release((id)x), NULL;
  count(COUNT_EXECUTABLES, 1);
  return x;
}

id graph_compile(id self, SEL cmd, id device, id feeds, id targets, id operations, id descriptor) {
  (void)cmd, (void)device;
  executable *x = compile(self, feeds, targets, operations, shaped_type_form);
  if (x) x->halves = worst_case() && level_of(descriptor) == LEVEL_ONE;
  return autorelease((id)x);
}

static id executable_init(id self, SEL cmd, id url, id descriptor) {
  (void)cmd;
  executable *x = (executable *)self;
  x->halves = worst_case() && level_of(descriptor) == LEVEL_ONE;
  if (package_open(x, url_path(url)) && take_code(x)) return self;
  release(self);
  return NULL;
}

static void executable_serialize(id self, SEL cmd, id url, id descriptor) {
  (void)cmd, (void)descriptor;
  enter(self);
  package_write((executable *)self, url_path(url));
  leave(self);
}

/* ---- Running. */

typedef struct {
  executable *program;
  view *feeds, *results;
} job;

static void drop(void *context) {
  job *j = context;
  for (int i = 0; i < j->program->feed_count; i++) release(j->feeds[i].buffer);
  for (int i = 0; i < j->program->target_count; i++) release(j->results[i].buffer);
  release(&j->program->head);
  free(j->feeds), free(j->results), free(j);
}

static void compute(const node *n, value *values) {
  value *in = calloc((size_t)n->ins + 1, sizeof *in), *out = calloc((size_t)n->outs + 1, sizeof *out);
  for (int i = 0; i < n->ins; i++) in[i] = values[n->in[i]->number];
  for (int i = 0; i < n->outs; i++)
    if (shape_known(&n->out[i]->form.shape)) value_make(&out[i], &n->out[i]->form);
  n->op->compute(n, in, out);
  for (int i = 0; i < n->outs; i++) values[n->out[i]->number] = out[i];
  free(in), free(out);
}

static void halve(value *v) {
  for (int64_t i = 0; v->form.type == FLOAT32 && i < v->count; i++) v->cells[i] = type_round(FLOAT16, v->cells[i]);
}

/* Reads all that is fed before it writes anything, so that a result may lie over a feed. */
static char *run(void *context) {
  job *j = context;
  executable *x = j->program;
  enum { OUT_OF_MEMORY = 8 };
  if (!take_between(x)) return command_buffer_error_code(OUT_OF_MEMORY), strdup("Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)");
  value *values = calloc((size_t)x->tensor_count, sizeof *values);
  for (int i = 0; i < x->feed_count; i++) view_read(&j->feeds[i], &values[x->feeds[i]->number]);
  for (int64_t i = 0; i < x->node_count; i++) {
    compute(x->nodes[i], values);
    for (int k = 0; x->halves && k < x->nodes[i]->outs; k++) halve(&values[x->nodes[i]->out[k]->number]);
  }
  for (int i = 0; i < x->target_count; i++) {
    const value *v = &values[x->targets[i]->number];
    check_form(&j->results[i].form, &v->form, "result");
    view_write(&j->results[i], v);
  }
  for (int64_t i = 0; i < x->tensor_count; i++) free(values[i].cells), free(values[i].exact);
  free(values);
  return NULL;
}

/* take_view copies the view of tensor data and keeps its buffer. */
static view take_view(id data, id buffer, bool writes) {
  view v = *tensor_data_view(data);
  retain(v.buffer);
  command_buffer_uses(buffer, v.buffer, writes);
  return v;
}

static void take_events(id buffer, const execution *e, int kind) {
  for (int i = 0; e && i < e->counts[kind]; i++) {
    if (kind == 0) command_buffer_await(buffer, e->events[0][i], e->values[0][i]);
    else command_buffer_signal(buffer, e->events[1][i], e->values[1][i]);
  }
}

static void check_result(const view *v, const tensor *t) {
  if (shape_known(&t->form.shape)) check_form(&v->form, &t->form, "result");
}

/* enqueue adds a run to a command buffer; data is in the order of the executable. */
static void enqueue(executable *x, id commands, id const *feeds, id const *results, id descriptor) {
  enum { ONE_IN = 4 };
  for (int i = 0; i < x->feed_count; i++) check_form(&tensor_data_view(feeds[i])->form, &x->feeds[i]->form, "feed");
  for (int i = 0; i < x->target_count; i++) check_result(tensor_data_view(results[i]), x->targets[i]);
  if (random_bits() % ONE_IN == 0) mps_command_buffer_continue(commands);
  id buffer = mps_command_buffer_current(commands);
  take_events(buffer, (execution *)descriptor, 0);
  job *j = calloc(1, sizeof *j);
  j->program = (executable *)retain(&x->head);
  j->feeds = calloc((size_t)x->feed_count + 1, sizeof *j->feeds);
  j->results = calloc((size_t)x->target_count + 1, sizeof *j->results);
  for (int i = 0; i < x->feed_count; i++) j->feeds[i] = take_view(feeds[i], buffer, false);
  for (int i = 0; i < x->target_count; i++) j->results[i] = take_view(results[i], buffer, true);
  command_buffer_encode(buffer, run, drop, j);
  take_events(buffer, (execution *)descriptor, 1);
  count(COUNT_ENCODED_GRAPHS, 1);
}

static id item(id array, int i) { return array_at(array, (size_t)i); }

/* made is new data for each target, +1, or NULL. */
static id made(const executable *x) {
  id all = object_new("NSMutableArray");
  for (int i = 0; i < x->target_count; i++) {
    if (!shape_known(&x->targets[i]->form.shape)) misuse("a result whose shape depends on values; give the memory for it");
    id data = tensor_data_new(&x->targets[i]->form);
    if (!data) return release(all), NULL;
    array_add(all, data);
    release(data);
  }
  return all;
}

static id encode(id self, SEL cmd, id commands, id inputs, id results, id descriptor) {
  (void)cmd;
  executable *x = (executable *)self;
  package_read(x);
  if (array_count(inputs) != (size_t)x->feed_count) misuse("%zu inputs; want %d", array_count(inputs), x->feed_count);
  if (results && array_count(results) != (size_t)x->target_count) misuse("%zu results; want %d", array_count(results), x->target_count);
  id all = results ? retain(results) : made(x);
  if (!all) return NULL;
  harsh_sleep(GRAPH_ENCODE_US);
  id *feeds = calloc((size_t)x->feed_count + 1, sizeof *feeds), *outs = calloc((size_t)x->target_count, sizeof *outs);
  for (int i = 0; i < x->feed_count; i++) feeds[i] = item(inputs, i);
  for (int i = 0; i < x->target_count; i++) outs[i] = item(all, i);
  enter(self);
  enqueue(x, commands, feeds, outs, descriptor);
  leave(self);
  free(feeds), free(outs);
  return autorelease(all);
}

static id run_on(id self, id queue, id inputs, id results, id descriptor, bool waits) {
  id commands = mps_command_buffer_of_queue(queue);
  id all = encode(self, NULL, commands, inputs, results, descriptor);
  id buffer = mps_command_buffer_current(commands);
  command_buffer_commit(buffer);
  if (waits) command_buffer_wait(buffer);
  return all;
}

static id executable_run(id self, SEL cmd, id queue, id inputs, id results, id descriptor) {
  (void)cmd;
  return run_on(self, queue, inputs, results, descriptor, true);
}

static id executable_run_later(id self, SEL cmd, id queue, id inputs, id results, id descriptor) {
  (void)cmd;
  return run_on(self, queue, inputs, results, descriptor, descriptor && ((execution *)descriptor)->waits);
}

static id tensors_of(tensor *const *tensors, int count) {
  id all = object_new("NSMutableArray");
  for (int i = 0; i < count; i++) array_add(all, &tensors[i]->head);
  return autorelease(all);
}

/* An executable of a package has no tensors of a graph that the caller could know. */
static id executable_feeds(id self) {
  const executable *x = (executable *)self;
  return x->package ? NULL : tensors_of(x->feeds, x->feed_count);
}

static id executable_targets(id self) {
  const executable *x = (executable *)self;
  return x->package ? NULL : tensors_of(x->targets, x->target_count);
}

static uint64_t executable_options(id self) { return ((executable *)self)->options; }
static void executable_set_options(id self, SEL cmd, uint64_t options) { (void)cmd, ((executable *)self)->options = options; }

static void executable_specialize(id self, SEL cmd, id device, id types, id descriptor) {
  (void)cmd, (void)device, (void)descriptor;
  executable *x = (executable *)self;
  package_read(x);
  if (array_count(types) != (size_t)x->feed_count) misuse("%zu types; want %d", array_count(types), x->feed_count);
  for (int i = 0; i < x->feed_count; i++) {
    form f = shaped_type_form(item(types, i));
    check_form(&f, &x->feeds[i]->form, "feed");
  }
}

static const method executable_methods[] = {
    INSTANCE("feedTensors", executable_feeds),
    INSTANCE("targetTensors", executable_targets),
    INSTANCE("options", executable_options),
    INSTANCE("setOptions:", executable_set_options),
    INSTANCE("initWithMPSGraphPackageAtURL:compilationDescriptor:", executable_init),
    INSTANCE("serializeToMPSGraphPackageAtURL:descriptor:", executable_serialize),
    INSTANCE("specializeWithDevice:inputTypes:compilationDescriptor:", executable_specialize),
    INSTANCE("encodeToCommandBuffer:inputsArray:resultsArray:executionDescriptor:", encode),
    INSTANCE("runWithMTLCommandQueue:inputsArray:resultsArray:executionDescriptor:", executable_run),
    INSTANCE("runAsyncWithMTLCommandQueue:inputsArray:resultsArray:executionDescriptor:", executable_run_later),
};

/* ---- The forms of MPSGraph that compile on the way. */

static form data_form(id data) { return tensor_data_view(data)->form; }

/* in_order lists what a dictionary has for tensors. */
static id in_order(id dictionary, tensor *const *tensors, int count) {
  id all = object_new("NSMutableArray");
  for (int i = 0; i < count; i++) array_add(all, dictionary_get(dictionary, &tensors[i]->head));
  return autorelease(all);
}

static id dictionary_keys_of(id dictionary) {
  id all = object_new("NSMutableArray"), key, v;
  for (size_t i = 0; i < dictionary_count(dictionary); i++) dictionary_at(dictionary, i, &key, &v), array_add(all, key);
  return autorelease(all);
}

/* encode_graph answers the results by their tensors; results may be NULL. */
static id encode_graph(id self, id commands, id feeds, id targets, id operations, id results, id descriptor) {
  executable *x = compile(self, feeds, results ? dictionary_keys_of(results) : targets, operations, data_form);
  if (!x) return NULL;
  id inputs = in_order(feeds, x->feeds, x->feed_count);
  id outs = results ? in_order(results, x->targets, x->target_count) : NULL;
  id all = encode(&x->head, NULL, commands, inputs, outs, descriptor);
  id found = autorelease(mutable_dictionary_new());
  for (int i = 0; all && i < x->target_count; i++) dictionary_set(found, &x->targets[i]->head, item(all, i));
  release(&x->head);
  return all ? found : NULL;
}

void graph_encode_into(id self, SEL cmd, id commands, id feeds, id operations, id results, id descriptor) {
  (void)cmd;
  if (!results) misuse("the results dictionary is nil");
  encode_graph(self, commands, feeds, NULL, operations, results, descriptor);
}

id graph_encode(id self, SEL cmd, id commands, id feeds, id targets, id operations, id descriptor) {
  (void)cmd;
  return encode_graph(self, commands, feeds, targets, operations, NULL, descriptor);
}

static id run_graph(id self, id queue, id feeds, id targets, id operations, id results) {
  id commands = mps_command_buffer_of_queue(queue);
  id found = encode_graph(self, commands, feeds, targets, operations, results, NULL);
  id buffer = mps_command_buffer_current(commands);
  command_buffer_commit(buffer);
  command_buffer_wait(buffer);
  return found;
}

void graph_run_into(id self, SEL cmd, id queue, id feeds, id operations, id results) {
  (void)cmd;
  if (!results) misuse("the results dictionary is nil");
  run_graph(self, queue, feeds, NULL, operations, results);
}

id graph_run_on(id self, SEL cmd, id queue, id feeds, id targets, id operations) {
  (void)cmd;
  return run_graph(self, queue, feeds, targets, operations, NULL);
}

__attribute__((constructor)) static void define(void) {
  static const class_def definitions[] = {
      {"MPSGraphCompilationDescriptor", "NSObject", NULL, sizeof(compilation), NULL, METHODS(compilation_methods)},
      {"MPSGraphExecutionDescriptor", "NSObject", NULL, sizeof(execution), execution_dealloc, METHODS(execution_methods)},
      {"MPSGraphExecutableExecutionDescriptor", "NSObject", NULL, sizeof(execution), execution_dealloc, METHODS(execution_methods)},
      {"MPSGraphExecutable", "NSObject", NULL, sizeof(executable), executable_dealloc, METHODS(executable_methods)},
  };
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) class_define(&definitions[i]);
}
