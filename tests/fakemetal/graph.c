/*
 * graph.c - MPSGraph with its tensors and operations: how nodes are added, placeholders and constants.
 * Operators are in the other graph_*.c, each a row that names its selector.
 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- The registry of operators. */

typedef struct {
  SEL sel;
  const operator *op;
} registered;

static registered *registry;
static size_t registry_count;

void operators_add(const void *rows, size_t count, size_t size) {
  registry = realloc(registry, (registry_count + count) * sizeof *registry);
  for (size_t i = 0; i < count; i++) {
    const operator *op = (const operator *)(const void *)((const char *)rows + i * size);
    registry[registry_count++] = (registered){selector(op->selector), op};
  }
}

static const operator *operator_of(SEL cmd) {
  for (size_t i = 0; i < registry_count; i++)
    if (registry[i].sel == cmd) return registry[i].op;
  misuse("the fake has no operator for it");
}

/* ---- Nodes. */

/* No other thread may add to the graph until the node is finished: it is busy from here on. */
node *node_begin(id to, SEL cmd, id name) {
  enter(to);
  node *n = (node *)object_new("MPSGraphOperation");
  n->graph = (graph *)to, n->op = operator_of(cmd), n->name = retain(name);
  return n;
}

void node_input(node *n, id given) {
  tensor *t = (tensor *)given;
  if (!t) misuse("a tensor is nil");
  if (!t->graph) misuse("a tensor belongs to a graph that has been released");
  if (t->graph != n->graph) misuse("a tensor belongs to another graph");
  if (!n->op->open && !shape_known(&t->form.shape))
    misuse("a tensor of shape %s, which depends on values; the fake can only cast it", shape_text(&t->form.shape));
  n->in = realloc(n->in, (size_t)(n->ins + 1) * sizeof *n->in);
  n->in[n->ins++] = t;
}

void node_inputs(node *n, id given) {
  for (size_t i = 0; i < array_count(given); i++) node_input(n, array_at(given, i));
}

void node_list(node *n, id numbers) {
  list *l = &n->lists[n->list_count++];
  l->given = numbers != NULL, l->count = (int)array_count(numbers);
  l->at = calloc((size_t)l->count + 1, sizeof *l->at);
  for (int i = 0; i < l->count; i++) l->at[i] = number_integer(array_at(numbers, (size_t)i));
}

void list_check(const list *l, int rank, const char *what) {
  if (l->count != rank) misuse("%d %s for %d axes", l->count, what, rank);
}

shape list_shape(const list *l) {
  if (l->count > MOST_AXES) misuse("a shape of %d axes; MPSGraph takes %d", l->count, MOST_AXES);
  shape s = {.rank = l->count};
  memcpy(s.at, l->at, (size_t)l->count * sizeof *s.at);
  return s;
}

void node_same_type(const node *n, int a, int b) {
  uint32_t x = input(n, a)->type, y = input(n, b)->type;
  if (x != y) misuse("operands of types %s and %s; MPSGraph promotes nothing", type_name(x), type_name(y));
}

void node_real_type(const node *n, int i) {
  if (!type_is_real(input(n, i)->type)) misuse("takes no %s", type_name(input(n, i)->type));
}

/* grow makes room for one more item. */
static void *grow(void *items, int64_t count, int64_t *room, size_t size) {
  if (count < *room) return items;
  *room = *room ? *room * 2 : 16;
  return realloc(items, (size_t)*room * size);
}

tensor *node_output(node *n, uint32_t type, shape s) {
  graph *g = n->graph;
  tensor *t = (tensor *)object_new("MPSGraphTensor");
  t->graph = g, t->node = n, t->number = g->tensor_count, t->form = (form){type, s};
  form_check(&t->form);
  g->tensors = grow(g->tensors, g->tensor_count, &g->tensor_room, sizeof *g->tensors);
  g->tensors[g->tensor_count++] = t;
  n->out = realloc(n->out, (size_t)(n->outs + 1) * sizeof *n->out);
  n->out[n->outs++] = t;
  return t;
}

/* finish verifies a node and adds it; nodes are in the order in which they can be computed. */
static void finish(node *n) {
  graph *g = n->graph;
  n->op->infer(n);
  g->nodes = grow(g->nodes, g->node_count, &g->node_room, sizeof *g->nodes);
  g->nodes[g->node_count++] = n;
  leave(&g->head);
}

/* The graph owns its tensors: what is answered is not autoreleased, and dies with the graph. */
id node_end(node *n) {
  finish(n);
  return &n->out[0]->head;
}

static id tensor_array(tensor *const *tensors, int count) {
  id a = object_new("NSMutableArray");
  for (int i = 0; i < count; i++) array_add(a, &tensors[i]->head);
  return autorelease(a);
}

id node_end_many(node *n) {
  finish(n);
  return tensor_array(n->out, n->outs);
}

static void node_dealloc(id self) {
  node *n = (node *)self;
  for (int i = 0; i < n->list_count; i++) free(n->lists[i].at);
  free(n->in), free(n->out), free(n->constant.cells);
  release(n->name), release(n->descriptor);
}

static id node_graph(id self) { return (id)((node *)self)->graph; }
static id node_name(id self) { return ((node *)self)->name; }
static id node_input_tensors(id self) { return tensor_array(((node *)self)->in, ((node *)self)->ins); }
static id node_output_tensors(id self) { return tensor_array(((node *)self)->out, ((node *)self)->outs); }

static const method node_methods[] = {
    INSTANCE("graph", node_graph),
    INSTANCE("name", node_name),
    INSTANCE("inputTensors", node_input_tensors),
    INSTANCE("outputTensors", node_output_tensors),
};

/* ---- MPSGraphTensor. */

static const tensor *living(id self) {
  if (!((tensor *)self)->graph) misuse("the tensor's graph has been released");
  return (tensor *)self;
}

static id tensor_shape(id self) { return shape_numbers(&living(self)->form.shape); }
static uint32_t tensor_type(id self) { return living(self)->form.type; }
static id tensor_operation(id self) { return &living(self)->node->head; }

static const method tensor_methods[] = {
    INSTANCE("shape", tensor_shape),
    INSTANCE("dataType", tensor_type),
    INSTANCE("operation", tensor_operation),
};

/* ---- Placeholders and constants: operators without inputs. */

static form form_given(id numbers, uint32_t type) {
  if (!numbers) misuse("the shape is nil; the fake wants shapes that are known");
  form f = {type, shape_of(numbers)};
  form_check(&f);
  if (!shape_known(&f.shape)) misuse("shape %s has an unknown extent; the fake wants shapes that are known", shape_text(&f.shape));
  return f;
}

static void infer_constant(node *n) { node_output(n, n->constant.form.type, n->constant.form.shape); }

static void compute_constant(const node *n, const value *in, value *out) {
  (void)in;
  memcpy(out->cells, n->constant.cells, (size_t)out->count * sizeof *out->cells);
}

static id placeholder(id self, SEL cmd, id numbers, uint32_t type, id name) {
  node *n = node_begin(self, cmd, name);
  n->constant.form = form_given(numbers, type);
  return node_end(n);
}

static id placeholder_of_floats(id self, SEL cmd, id numbers, id name) { return placeholder(self, cmd, numbers, FLOAT32, name); }

static id constant_data(id self, SEL cmd, id data, id numbers, uint32_t type) {
  node *n = node_begin(self, cmd, NULL);
  form f = form_given(numbers, type);
  const void *bytes;
  size_t length, size = type_size(type);
  data_of(data, &bytes, &length);
  value_make(&n->constant, &f);
  if (length != (size_t)n->constant.count * size)
    misuse("data of %zu bytes; shape %s of %s has %zu", length, shape_text(&f.shape), type_name(type), (size_t)n->constant.count * size);
  for (int64_t i = 0; i < n->constant.count; i++) n->constant.cells[i] = type_load(type, (const char *)bytes + (size_t)i * size);
  return node_end(n);
}

static id constant_of(id self, SEL cmd, double v, form f) {
  node *n = node_begin(self, cmd, NULL);
  value_make(&n->constant, &f);
  for (int64_t i = 0; i < n->constant.count; i++) n->constant.cells[i] = type_of_number(f.type, v);
  return node_end(n);
}

static id constant_scalar(id self, SEL cmd, double v, uint32_t type) {
  type_check(type);
  return constant_of(self, cmd, v, (form){type, {1, {1}}});
}

static id constant_scalar_of(id self, SEL cmd, double v, id numbers, uint32_t type) { return constant_of(self, cmd, v, form_given(numbers, type)); }

static const operator sources[] = {
    {"placeholderWithShape:dataType:name:", (IMP)placeholder, infer_constant, NULL, false},
    {"placeholderWithShape:name:", (IMP)placeholder_of_floats, infer_constant, NULL, false},
    {"constantWithData:shape:dataType:", (IMP)constant_data, infer_constant, compute_constant, false},
    {"constantWithScalar:dataType:", (IMP)constant_scalar, infer_constant, compute_constant, false},
    {"constantWithScalar:shape:dataType:", (IMP)constant_scalar_of, infer_constant, compute_constant, false},
};

/* ---- MPSGraph. */

enum { SYNCHRONIZE_RESULTS = 1 };

static id graph_new(class_ *self) {
  graph *g = (graph *)object_make(self);
  g->options = SYNCHRONIZE_RESULTS;
  count(COUNT_GRAPHS, 1);
  return &g->head;
}

static void graph_dealloc(id self) {
  graph *g = (graph *)self;
  for (int64_t i = 0; i < g->tensor_count; i++) g->tensors[i]->graph = NULL, release(&g->tensors[i]->head);
  for (int64_t i = 0; i < g->node_count; i++) g->nodes[i]->graph = NULL, release(&g->nodes[i]->head);
  free(g->tensors), free(g->nodes);
}

static uint64_t graph_options(id self) { return ((graph *)self)->options; }
static void graph_set_options(id self, SEL cmd, uint64_t options) { (void)cmd, ((graph *)self)->options = options; }

static id graph_placeholders(id self) {
  graph *g = (graph *)self;
  id a = object_new("NSMutableArray");
  for (int64_t i = 0; i < g->node_count; i++)
    if (!g->nodes[i]->op->compute) array_add(a, &g->nodes[i]->out[0]->head);
  return autorelease(a);
}

static const method graph_methods[] = {
    CLASS("new", graph_new),
    CLASS("alloc", graph_new),
    INSTANCE("options", graph_options),
    INSTANCE("setOptions:", graph_set_options),
    INSTANCE("placeholderTensors", graph_placeholders),
    INSTANCE("compileWithDevice:feeds:targetTensors:targetOperations:compilationDescriptor:", graph_compile),
    INSTANCE("encodeToCommandBuffer:feeds:targetOperations:resultsDictionary:executionDescriptor:", graph_encode_into),
    INSTANCE("encodeToCommandBuffer:feeds:targetTensors:targetOperations:executionDescriptor:", graph_encode),
    INSTANCE("runWithMTLCommandQueue:feeds:targetOperations:resultsDictionary:", graph_run_into),
    INSTANCE("runWithMTLCommandQueue:feeds:targetTensors:targetOperations:", graph_run_on),
};

/* define_graph makes the class with a method for each operator. */
static void define_graph(void) {
  size_t own = sizeof graph_methods / sizeof *graph_methods;
  method *all = malloc((own + registry_count) * sizeof *all);
  memcpy(all, graph_methods, sizeof graph_methods);
  for (size_t i = 0; i < registry_count; i++) all[own + i] = (method){registry[i].op->selector, registry[i].op->method, false};
  class_def d = {"MPSGraph", "NSObject", NULL, sizeof(graph), graph_dealloc, all, (int)(own + registry_count)};
  class_define(&d);
  free(all);
}

__attribute__((constructor)) static void define(void) {
  static const class_def definitions[] = {
      {"MPSGraphOperation", "NSObject", NULL, sizeof(node), node_dealloc, METHODS(node_methods)},
      {"MPSGraphTensor", "NSObject", NULL, sizeof(tensor), NULL, METHODS(tensor_methods)},
  };
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) class_define(&definitions[i]);
  OPERATORS(sources);
  elementwise_operators();
  shape_operators();
  join_operators();
  reduce_operators();
  order_operators();
  matrix_operators();
  index_operators();
  random_operators();
  convolution_operators();
  pooling_operators();
  normalization_operators();
  define_graph();
}
