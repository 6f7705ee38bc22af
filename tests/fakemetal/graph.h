/*
 * graph.h - what the files that stand for MetalPerformanceShadersGraph share.
 *
 * A graph is nodes in the order in which they were added. A node is verified when it is added: its
 * operator infers the shapes and types of its outputs, and ends the process where Apple's verifier
 * would, or should. Values are computed in double precision or in 64-bit integers and rounded to the
 * declared type after each node; that happens on the queue's thread, when the command buffer runs.
 *
 * Sources: Apple's documentation of MPSGraph and of MPSNDArray; for what it leaves open, the behaviour
 * that others have measured on macOS.
 */
#ifndef FAKEMETAL_GRAPH_H
#define FAKEMETAL_GRAPH_H

#include "class.h"
#include "metal.h"

/* ---- graph_type.c: types and shapes. */

enum { MOST_AXES = 16 };

/* MPSDataType. The low 16 bits count the bits of an element. */
enum {
  FLOAT32 = 0x10000020,
  FLOAT16 = 0x10000010,
  BFLOAT16 = 0x90000010,
  INT8 = 0x20000008,
  INT16 = 0x20000010,
  INT32 = 0x20000020,
  INT64 = 0x20000040,
  UINT8 = 8,
  UINT16 = 16,
  UINT32 = 32,
  BOOL8 = 0x80000008,
};

/* The extents of a tensor; the last axis is the fastest. */
typedef struct {
  int rank;
  int64_t at[MOST_AXES];
} shape;

enum { UNKNOWN = -1 }; /* an extent that depends on values */

/* What a tensor is without its values. */
typedef struct {
  uint32_t type;
  shape shape;
} form;

/* An element: a real number, or an integer or truth value. */
typedef union {
  double real;
  int64_t whole;
} cell;

typedef struct {
  form form;
  int64_t count;
  cell *cells;
  double *exact; /* products that have not been rounded, where an operator may use them; else NULL */
} value;

/* Ends the process unless it is a type that the pretended macOS has. */
void type_check(uint32_t type);
const char *type_name(uint32_t type);
size_t type_size(uint32_t type);
bool type_is_real(uint32_t type);
bool type_is_signed(uint32_t type);

/* The nearest value of a type, ties to even; what an integer keeps of more bits. In the worst case
 * float32 has no subnormals, and ties of float16 go away from zero. */
cell type_round(uint32_t type, cell c);
/* A value with an error, in the worst case only: once rounded it is off by up to so many units in the
 * last place. */
double type_perturb(uint32_t type, double v, double ulps);
/* A value of one type as another: toward zero, and to the nearest end of the range. */
cell type_convert(uint32_t from, uint32_t to, cell c);
/* The largest and the smallest finite value. */
cell type_most(uint32_t type);
cell type_least(uint32_t type);
cell type_of_number(uint32_t type, double v);
bool cell_is_true(uint32_t type, cell c);

cell type_load(uint32_t type, const void *at);
void type_store(uint32_t type, void *at, cell c);

int64_t shape_count(const shape *s);
bool shape_equal(const shape *a, const shape *b);
bool shape_known(const shape *s);
const char *shape_text(const shape *s); /* [2, 3]; one of a few buffers of the thread */
void shape_strides(const shape *s, int64_t *strides);
/* An axis from 0 on; a negative one counts from the end. */
int shape_axis(const shape *s, int64_t axis);
/* The shape that two broadcast to. */
shape shape_broadcast(const shape *a, const shape *b);
/* Strides that read a shape as a larger one that it broadcasts to. */
void shape_spread(const shape *from, const shape *to, int64_t *strides);
/* Where the element with a number is, under other strides. */
int64_t shape_offset(const shape *s, int64_t number, const int64_t *strides);
/* The indices of the element with a number, and back. */
void shape_split(const shape *s, int64_t number, int64_t *index);
int64_t shape_join(const shape *s, const int64_t *index);
/* An MPSShape; every extent at least 1, and sizes that MPSGraph can address. */
shape shape_of(id numbers);
id shape_numbers(const shape *s);
/* Ends the process unless a tensor of that form can be. */
void form_check(const form *f);

void value_make(value *v, const form *f);
void value_copy(value *v, const value *from);

/* ---- graph.c: graphs. */

typedef struct node node;
typedef struct graph graph;

/* MPSGraphTensor. */
typedef struct {
  object head;
  graph *graph; /* NULL once that is gone */
  node *node;
  int64_t number; /* in the graph */
  form form;
} tensor;

/* A list of numbers that a method was given. */
typedef struct {
  bool given; /* nil is no list */
  int count;
  int64_t *at;
} list;

/* An operator of the graph, of which selectors are the names. */
typedef struct {
  const char *selector;
  IMP method;                                                  /* collects the arguments in a node */
  void (*infer)(node *n);                                      /* verifies them and adds the outputs */
  void (*compute)(const node *n, const value *in, value *out); /* out is made, unless its shape is unknown */
  bool open;                                                   /* takes tensors with unknown extents */
} operator;

enum { MOST_LISTS = 3 };

/* MPSGraphOperation. */
struct node {
  object head;
  graph *graph;
  const operator *op;
  id name;
  tensor **in, **out;
  int ins, outs;
  list lists[MOST_LISTS];
  int list_count;
  int64_t axis, numbers[4];
  bool flags[2];
  double scalar;
  id descriptor; /* retained */
  value constant;
};

/* MPSGraph. */
struct graph {
  object head;
  uint64_t options;
  node **nodes;
  tensor **tensors;
  int64_t node_count, tensor_count, node_room, tensor_room;
};

/* Registers operators: rows of structs that begin with one. */
void operators_add(const void *rows, size_t count, size_t size);
#define OPERATORS(rows) operators_add(rows, sizeof(rows) / sizeof *(rows), sizeof *(rows))

/* Each file's operators; called before MPSGraph is defined. */
void elementwise_operators(void);
void shape_operators(void);
void join_operators(void);
void reduce_operators(void);
void order_operators(void);
void matrix_operators(void);
void index_operators(void);
void random_operators(void);
void convolution_operators(void);
void pooling_operators(void);
void normalization_operators(void);

/* A node of the operator that the message names. */
node *node_begin(id graph, SEL cmd, id name);
void node_input(node *n, id tensor);
void node_inputs(node *n, id tensors);
void node_list(node *n, id numbers);
tensor *node_output(node *n, uint32_t type, shape s);
id node_end(node *n);      /* verifies it; its first output */
id node_end_many(node *n); /* all outputs, an array */

/* Ends the process unless a list has as many numbers as there are axes. */
void list_check(const list *l, int rank, const char *what);
/* A list as a shape; its extents are checked when a tensor has it. */
shape list_shape(const list *l);

/* Ends the process unless two inputs have one type: MPSGraph promotes nothing. */
void node_same_type(const node *n, int a, int b);
/* Ends the process unless an input has a floating type. */
void node_real_type(const node *n, int i);

static inline const form *input(const node *n, int i) { return &n->in[i]->form; }

/* ---- graph_run.c: MPSGraph's methods that compile and run. */

id graph_compile(id self, SEL cmd, id device, id feeds, id targets, id operations, id descriptor);
void graph_encode_into(id self, SEL cmd, id commands, id feeds, id operations, id results, id descriptor);
id graph_encode(id self, SEL cmd, id commands, id feeds, id targets, id operations, id descriptor);
void graph_run_into(id self, SEL cmd, id queue, id feeds, id operations, id results);
id graph_run_on(id self, SEL cmd, id queue, id feeds, id targets, id operations);

/* MPSGraphExecutable. */
typedef struct {
  object head;
  graph *graph;
  node **nodes; /* that are computed, in order */
  tensor **feeds, **targets;
  int64_t node_count, tensor_count;
  int feed_count, target_count;
  uint64_t options;
  bool halves;   /* float32 is computed in half precision */
  char *package; /* the folder that it was loaded from; NULL if it was compiled */
  _Atomic uint64_t code, between; /* bytes of the device, with FAKEMETAL_GRAPH_MEMORY: of itself, and for what is between operations */
} executable;

/* Finds what the targets need, from the last node back. */
void executable_select(executable *x);

/* ---- graph_package.c: executables on disk. */

/* Writes a folder, as -[MPSGraphExecutable serializeToMPSGraphPackageAtURL:descriptor:] does. */
void package_write(const executable *x, const char *path);
/* Looks whether a folder is whole; the rest of it is read by package_read. False where a test wants nil. */
bool package_open(executable *x, const char *path);
/* Reads the graph of an executable that was loaded and has none yet. */
void package_read(executable *x);

/* ---- graph_data.c: memory. */

/* How the elements of an MPSNDArray or an MPSGraphTensorData lie in a buffer. */
typedef struct {
  id buffer;
  size_t offset;
  form form;
  int64_t strides[MOST_AXES]; /* in bytes */
} view;

const view *tensor_data_view(id data);
id tensor_data_new(const form *f); /* over memory of its own; +1, NULL where there is none */
form shaped_type_form(id type);
void view_read(const view *v, value *to);
void view_write(const view *v, const value *from);

/* ---- graph_command.c: MPSCommandBuffer. */

id mps_command_buffer_current(id self);
/* Commits what is encoded so far and goes on in a new command buffer. */
void mps_command_buffer_continue(id self);
id mps_command_buffer_of_queue(id queue);

#endif
