/*
 * python.c - built-in functions for CPython: see the end of paddlemps.h.
 *
 * Through ctypes the conversions of a call cost more than everything else in an operator on eight floats;
 * here they cost a few tens of nanoseconds. This file reads the arguments that programs usually pass: tensors,
 * exact bools, ints and floats, lists and tuples of ints, dtypes and their names. A call with any other
 * argument, and every failure, is passed to `otherwise`, a Python function that handles all of them.
 *
 * A tensor is made here and not by Python code, so that no signal handler can run between the creation of a
 * handle and that of the object which owns it; it is freed here for the same reason.
 */
#include <stdatomic.h>
#include <string.h>

#include "shim.h"

#define NOINLINE __attribute__((noinline))

enum { MAX_ARGUMENTS = 32, MAX_NUMBERS = 64, MAX_ITEMS = 16, KEPT = 64, ALLOCATE = 47 /* Py_tp_alloc */ };
enum { RECENT = 64, RECENT_RANK = 4 };

/* A Meta that has been looked up, with the description that it is for. */
typedef struct {
  void *meta; /* NULL: none */
  int32_t head[4];
  int64_t layout[2 * RECENT_RANK];
} recent_meta;

/* An interpreter. It is never freed: functions that are bound to it may be called until the process ends. */
typedef struct {
  pmps_python_api api;
  recent_meta *recent; /* RECENT of them, by a hash of the description */
} interpreter;

typedef void *(*allocator)(void *type, intptr_t items);

/* ---- Tensors that are freed late
 *
 * Freeing a tensor costs a call into Go. The next operator, which enters Go anyway, frees one almost for nothing.
 */

static uint64_t kept[KEPT];
static _Atomic uint32_t kept_count;
static atomic_flag kept_lock = ATOMIC_FLAG_INIT; /* held for a few instructions; needed where Python has no global lock */

static void lock(void) {
  while (atomic_flag_test_and_set_explicit(&kept_lock, memory_order_acquire)) {
  }
}

static void unlock(void) { atomic_flag_clear_explicit(&kept_lock, memory_order_release); }

/* Takes all handles that are kept, and returns how many there were. */
static uint32_t take_all(uint64_t *handles) {
  lock();
  uint32_t count = kept_count;
  memcpy(handles, kept, count * sizeof *kept);
  kept_count = 0;
  unlock();
  return count;
}

/* Frees all handles that are kept, and returns how many there were. */
static uint32_t free_all(void) {
  uint64_t handles[KEPT];
  uint32_t count = take_all(handles);
  if (count) pmps_fast_release(handles, count);
  return count;
}

/* Keeps a handle to be freed by a later call. If there are KEPT of them already, frees those first. */
static void free_late(uint64_t handle) {
  for (;;) {
    lock();
    bool room = kept_count < KEPT;
    if (room) kept[kept_count++] = handle;
    unlock();
    if (room) return;
    free_all();
  }
}

/* A handle to free with the next call, 0 for none. */
static uint64_t take_one(void) {
  if (!kept_count) return 0;
  lock();
  uint64_t handle = kept_count ? kept[--kept_count] : 0;
  unlock();
  return handle;
}

/* ---- Slots of tensors: see pmps_python_tensor. An offset of 0 is not known. */

static void **slot(void *object, intptr_t offset) { return (void **)((char *)object + offset); }

/* What a slot holds, owned; NULL if it is empty. No error is set. */
static void *get_slot(const interpreter *in, void *tensor, intptr_t offset, void *name) {
  void *value = offset ? *slot(tensor, offset) : in->api.PyObject_GetAttr(tensor, name);
  if (offset && value) in->api.Py_IncRef(value);
  if (!offset && !value) in->api.PyErr_Clear();
  return value;
}

/* Fills a slot of a tensor that is being made. */
static bool set_slot(const interpreter *in, void *tensor, intptr_t offset, void *name, void *value) {
  if (!offset) return !in->api.PyObject_SetAttr(tensor, name, value);
  in->api.Py_IncRef(value);
  *slot(tensor, offset) = value;
  return true;
}

/* ---- From C to Python. Objects that are returned are owned; NULL: Python's error is set. */

/* Where a Meta for such a description is remembered; NULL where it is not. */
static recent_meta *recent_of(const interpreter *in, const described *d) {
  const int32_t rank = d->head[1];
  if (!in->api.tensor->meta_offset || rank > RECENT_RANK) return NULL; /* Python's lock guards them */
  uint64_t hash = (uint64_t)d->head[0] + 31 * (uint64_t)d->head[2] + 127 * (uint64_t)d->head[3];
  for (int32_t i = 0; i < rank; i++) hash = (hash ^ (uint64_t)d->layout[i]) * 0x9e3779b97f4a7c15;
  return &in->recent[hash >> 32 & (RECENT - 1)];
}

static size_t layout_size(const described *d) { return 2 * (size_t)d->head[1] * sizeof *d->layout; }

/* The Meta of a described tensor, by its bytes. */
static void *look_up_meta(const interpreter *in, const described *d) {
  const pmps_python_api *py = &in->api;
  intptr_t size = (intptr_t)(sizeof d->head + layout_size(d));
  void *key = py->PyBytes_FromStringAndSize((const char *)d->head, size);
  if (!key) return NULL;
  void *meta = py->PyObject_GetItem(py->metas, key);
  if (!meta) {
    py->PyErr_Clear(); /* a KeyError */
    meta = py->PyObject_CallFunctionObjArgs(py->describe, key, NULL);
  }
  py->Py_DecRef(key);
  return meta;
}

/* The same; one that was looked up before is remembered. */
static void *meta_of(const interpreter *in, const described *d) {
  recent_meta *recent = recent_of(in, d);
  if (recent && recent->meta && !memcmp(recent->head, d->head, sizeof d->head) && !memcmp(recent->layout, d->layout, layout_size(d))) {
    in->api.Py_IncRef(recent->meta);
    return recent->meta;
  }
  void *meta = look_up_meta(in, d);
  if (!meta || !recent) return meta;
  void *former = recent->meta;
  in->api.Py_IncRef(recent->meta = meta);
  memcpy(recent->head, d->head, sizeof d->head);
  memcpy(recent->layout, d->layout, layout_size(d));
  if (former) in->api.Py_DecRef(former);
  return meta;
}

/* A tensor that owns a handle. If it cannot be made, the handle is freed. */
static void *tensor_of(const interpreter *in, uint64_t handle, void *shape) {
  const pmps_python_api *py = &in->api;
  const pmps_python_tensor *t = py->tensor;
  allocator allocate = (allocator)(uintptr_t)py->PyType_GetSlot(t->type, ALLOCATE);
  void *tensor = allocate(t->type, 0);
  void *number = tensor ? py->PyLong_FromUnsignedLongLong(handle) : NULL;
  /* The shape comes first: once there is a handle, the tensor frees it. */
  bool good = number && set_slot(in, tensor, t->shape_offset, py->name_shape, shape) &&
              set_slot(in, tensor, t->handle_offset, py->name_handle, number);
  if (number) py->Py_DecRef(number);
  if (good) return tensor;
  pmps_fast_release(&handle, 1);
  if (tensor) py->Py_DecRef(tensor);
  return NULL;
}

/* A tensor with its Meta. */
static void *result_of(const interpreter *in, const described *d) {
  const pmps_python_api *py = &in->api;
  void *meta = meta_of(in, d);
  void *dims = meta && d->late ? py->PyObject_GetAttr(meta, py->name_dims) : NULL;
  void *tensor = meta ? tensor_of(in, d->handle, dims ? dims : py->none) : NULL;
  if (!meta) pmps_fast_release(&d->handle, 1);
  if (tensor && !set_slot(in, tensor, py->tensor->meta_offset, py->name_meta, meta)) py->PyErr_Clear(); /* it is made when needed */
  if (dims) py->Py_DecRef(dims);
  if (meta) py->Py_DecRef(meta);
  return tensor;
}

static void *results_of(const interpreter *in, const described_list *results) {
  const pmps_python_api *py = &in->api;
  if (!results->listed) return result_of(in, &results->of[0]);
  void *list = py->PyList_New((intptr_t)results->count);
  for (int64_t i = 0; i < results->count; i++) {
    void *item = list ? result_of(in, &results->of[i]) : NULL;
    if (!item) {
      for (int64_t rest = i + (list ? 1 : 0); rest < results->count; rest++) pmps_fast_release(&results->of[rest].handle, 1);
      if (list) py->Py_DecRef(list);
      return NULL;
    }
    py->PyList_SetItem(list, (intptr_t)i, item);
  }
  return list;
}

static void *tuple_of(const pmps_python_api *py, void *const *items, int64_t count) {
  void *tuple = py->PyTuple_New((intptr_t)count);
  for (int64_t i = 0; tuple && i < count; i++) {
    py->Py_IncRef(items[i]);
    py->PyTuple_SetItem(tuple, (intptr_t)i, items[i]);
  }
  return tuple;
}

/* The result of `otherwise` for a call. */
static void *otherwise(const interpreter *in, void *function, void *const *args, int64_t count, int reason) {
  const pmps_python_api *py = &in->api;
  void *given = tuple_of(py, args, count), *number = py->PyLong_FromLongLong(reason), *result = NULL;
  if (given && number) result = py->PyObject_CallFunctionObjArgs(py->otherwise, function, given, number, NULL);
  if (given) py->Py_DecRef(given);
  if (number) py->Py_DecRef(number);
  return result;
}

/* ---- From Python to C. false: the object is of another kind; no error is set. */

/* Not inlined in all its callers, nor are read_operand and read_attribute: the library would be a page larger. */
static NOINLINE bool is(const interpreter *in, void *object, const void *type) {
  intptr_t offset = in->api.tensor->type_offset;
  if (offset) return *slot(object, offset) == type;
  void *its = in->api.PyObject_Type(object);
  in->api.Py_DecRef(its); /* the object keeps it */
  return its == type;
}

/* Whether a conversion that returned its error value has failed; clears the error. */
static bool failed(const interpreter *in) {
  if (!in->api.PyErr_Occurred()) return false;
  in->api.PyErr_Clear();
  return true;
}

static bool read_int(const interpreter *in, void *object, int64_t *number) {
  if (!is(in, object, in->api.int_type)) return false;
  *number = in->api.PyLong_AsLongLong(object);
  return *number != -1 || !failed(in);
}

static bool read_word(const interpreter *in, void *object, uint64_t *word) {
  *word = in->api.PyLong_AsUnsignedLongLong(object);
  return *word != UINT64_MAX || !failed(in);
}

static bool read_bool(const interpreter *in, const void *object, int64_t *value) {
  *value = object == in->api.yes;
  return object == in->api.yes || object == in->api.no;
}

static bool read_handle(const interpreter *in, void *object, uint64_t *handle) {
  if (!is(in, object, in->api.tensor->type) && !is(in, object, in->api.tensor->parameter)) return false;
  void *number = get_slot(in, object, in->api.tensor->handle_offset, in->api.name_handle);
  if (!number) return false;
  bool good = read_word(in, number, handle);
  in->api.Py_DecRef(number);
  return good;
}

/* The kind of a number and its bits: those of an int64_t or of a double. */
static bool read_scalar(const interpreter *in, void *object, uint32_t *kind, uint64_t *bits) {
  int64_t number;
  if (is(in, object, in->api.float_type)) {
    double value = in->api.PyFloat_AsDouble(object);
    memcpy(bits, &value, sizeof *bits);
    *kind = PMPS_ARG_FLOAT;
    return true;
  }
  if (read_bool(in, object, &number))
    *kind = PMPS_ARG_BOOL;
  else if (read_int(in, object, &number))
    *kind = PMPS_ARG_INT;
  else
    return false;
  *bits = (uint64_t)number;
  return true;
}

/* A call that is being read. */
typedef struct {
  const interpreter *in;
  prepared call;
  pmps_arg args[MAX_ARGUMENTS];
  pmps_attr attrs[MAX_ARGUMENTS];
  int64_t numbers[MAX_NUMBERS];
  int used;
} reader;

static NOINLINE bool read_operand(reader *r, void *object, uint8_t kind) {
  if (r->call.arg_count == MAX_ARGUMENTS) return false;
  pmps_arg *arg = &r->args[r->call.arg_count++];
  uint64_t bits = 0;
  arg->kind = PMPS_ARG_TENSOR;
  arg->reserved = 0;
  if (!read_handle(r->in, object, &bits)) {
    if (object == r->in->api.none && kind & PMPS_PYTHON_OPTIONAL)
      arg->kind = PMPS_ARG_NONE;
    else if (!(kind & PMPS_PYTHON_SCALAR) || !read_scalar(r->in, object, &arg->kind, &bits))
      return false;
  }
  memcpy(&arg->value, &bits, sizeof bits);
  return true;
}

/* Reads the items of a list or tuple with a function that reads one. */
static bool read_items(reader *r, void *object, bool (*read)(reader *, void *)) {
  const pmps_python_api *py = &r->in->api;
  if (!is(r->in, object, py->list_type) && !is(r->in, object, py->tuple_type)) return false;
  intptr_t size = py->PySequence_Size(object);
  for (intptr_t i = 0; i < size; i++) {
    void *item = py->PySequence_GetItem(object, i); /* another thread may have shortened the list */
    if (!item) return py->PyErr_Clear(), false;
    bool good = read(r, item);
    py->Py_DecRef(item);
    if (!good) return false;
  }
  return size >= 0;
}

static bool read_tensor_item(reader *r, void *item) { return read_operand(r, item, 0); }

/* Several tensors, at least one. */
static bool read_tensors(reader *r, void *object) {
  uint64_t before = r->call.arg_count;
  return read_items(r, object, read_tensor_item) && r->call.arg_count > before;
}

static bool read_number_item(reader *r, void *item) {
  return r->used < MAX_NUMBERS && read_int(r->in, item, &r->numbers[r->used]) && ++r->used;
}

/* Several numbers; a single one is read as a list of one. */
static bool read_ints(reader *r, void *object, pmps_attr *attr) {
  int from = r->used;
  attr->kind = PMPS_ATTR_INTS;
  if (!read_number_item(r, object) && !read_items(r, object, read_number_item)) return false;
  attr->value.ints = &r->numbers[from];
  attr->count = r->used - from;
  return true;
}

/* A dtype, or the name of one. */
static bool read_dtype(const interpreter *in, void *object, pmps_attr *attr) {
  const pmps_python_api *py = &in->api;
  attr->kind = PMPS_ATTR_DTYPE;
  void *dtype = object;
  if (is(in, object, py->str_type))
    dtype = py->PyObject_GetItem(py->dtypes, object);
  else if (is(in, object, py->dtype_type))
    py->Py_IncRef(object);
  else
    return false;
  void *number = dtype ? py->PyObject_GetAttr(dtype, py->name_number) : NULL;
  bool good = number && read_int(in, number, &attr->value.i);
  if (!number) py->PyErr_Clear();
  if (number) py->Py_DecRef(number);
  if (dtype) py->Py_DecRef(dtype);
  return good;
}

static bool read_float(const interpreter *in, void *object, pmps_attr *attr) {
  int64_t whole;
  attr->kind = PMPS_ATTR_FLOAT;
  if (is(in, object, in->api.float_type))
    attr->value.f = in->api.PyFloat_AsDouble(object);
  else if (read_int(in, object, &whole))
    attr->value.f = (double)whole;
  else
    return false;
  return true;
}

/* An item of a list of floats, whose bits are kept. */
static bool read_float_item(reader *r, void *item) {
  pmps_attr one;
  if (r->used == MAX_NUMBERS || !read_float(r->in, item, &one)) return false;
  memcpy(&r->numbers[r->used++], &one.value.f, sizeof one.value.f);
  return true;
}

/* Several floats. */
static bool read_floats(reader *r, void *object, pmps_attr *attr) {
  int from = r->used;
  attr->kind = PMPS_ATTR_FLOATS;
  if (!read_items(r, object, read_float_item)) return false;
  attr->value.floats = (const double *)(const void *)&r->numbers[from];
  attr->count = r->used - from;
  return true;
}

/* A text. Its bytes belong to the object, which the caller of the function holds. */
static bool read_text(const interpreter *in, void *object, pmps_attr *attr) {
  if (!is(in, object, in->api.str_type)) return false;
  intptr_t size;
  attr->kind = PMPS_ATTR_STRING;
  attr->value.string = in->api.PyUnicode_AsUTF8AndSize(object, &size);
  attr->count = size;
  return attr->value.string || (in->api.PyErr_Clear(), false); /* half of a surrogate pair */
}

/* The types of attributes that are read, by their numbers in the table of operators. */
enum { BOOL_TYPE = 1, INT_TYPE, FLOAT_TYPE, INTS_TYPE, DTYPE_TYPE, SCALAR_TYPE, STRING_TYPE, FLOATS_TYPE };

static NOINLINE bool read_attribute(reader *r, void *object, uint8_t type) {
  if (r->call.attr_count == MAX_ARGUMENTS) return false;
  pmps_attr *attr = &r->attrs[r->call.attr_count++];
  memset(attr, 0, sizeof *attr);
  if (object == r->in->api.none) return type == INT_TYPE || type == INTS_TYPE || type == FLOATS_TYPE || type == DTYPE_TYPE; /* the default */
  switch (type) {
    case BOOL_TYPE: return attr->kind = PMPS_ATTR_BOOL, read_bool(r->in, object, &attr->value.i);
    case INT_TYPE: return attr->kind = PMPS_ATTR_INT, read_int(r->in, object, &attr->value.i);
    case FLOAT_TYPE: return read_float(r->in, object, attr);
    case INTS_TYPE: return read_ints(r, object, attr);
    case DTYPE_TYPE: return read_dtype(r->in, object, attr);
    case STRING_TYPE: return read_text(r->in, object, attr);
    case FLOATS_TYPE: return read_floats(r, object, attr);
    case SCALAR_TYPE: {
      uint64_t bits = 0;
      bool good = read_scalar(r->in, object, &attr->kind, &bits);
      memcpy(&attr->value, &bits, sizeof bits);
      attr->kind--; /* the kinds of operands begin with that of a tensor */
      return good;
    }
    default: return false; /* `otherwise` reads these */
  }
}

/* Reads the argument before the operands; see pmps_python_lead. */
static bool read_lead(reader *r, void *object) {
  if (r->call.lead == PMPS_PYTHON_OUTPUT) return read_handle(r->in, object, &r->call.where);
  return is(r->in, object, r->in->api.int_type) && read_word(r->in, object, &r->call.where);
}

/* Reads the arguments of a call. */
static bool read_call(reader *r, const pmps_python_function *f, const uint8_t *kinds, void *const *args, int64_t count) {
  int64_t next = 0;
  if (r->call.lead != PMPS_PYTHON_OPERANDS && (count < 1 || !read_lead(r, args[next++]))) return false;
  for (int i = 0; i < f->operands; i++, next++) {
    if (next >= count) return false;
    bool several = kinds[i] & PMPS_PYTHON_VARIADIC;
    if (several ? !read_tensors(r, args[next]) : !read_operand(r, args[next], kinds[i])) return false;
  }
  for (int i = 0; i < f->attributes && next < count; i++, next++) {
    if (!read_attribute(r, args[next], kinds[f->operands + i])) return false;
  }
  return next == count;
}

/* A slice of exact ints and None. */
static bool read_slice(const interpreter *in, void *slice, pmps_index *item) {
  void *const names[] = {in->api.name_start, in->api.name_stop, in->api.name_step};
  int64_t *const bounds[] = {&item->start, &item->stop, &item->step};
  item->kind = PMPS_INDEX_SLICE;
  bool good = is(in, slice, in->api.slice_type);
  for (int i = 0; good && i < 3; i++) {
    void *bound = in->api.PyObject_GetAttr(slice, names[i]);
    if (!bound) return in->api.PyErr_Clear(), false;
    if (bound != in->api.none) {
      item->has |= 1 << i;
      good = read_int(in, bound, bounds[i]);
    }
    in->api.Py_DecRef(bound);
  }
  return good;
}

/* An item of an index expression that makes a view. */
static bool read_item(const interpreter *in, void *object, pmps_index *item) {
  *item = (pmps_index){.kind = PMPS_INDEX_INT};
  if (read_int(in, object, &item->start)) return true;
  if (object == in->api.none) return item->kind = PMPS_INDEX_NEW_AXIS, true;
  if (object == in->api.ellipsis) return item->kind = PMPS_INDEX_ELLIPSIS, true;
  return read_slice(in, object, item);
}

/* Reads an index expression into MAX_ITEMS items. Returns how many there are, -1 for one that is not read here. */
static int read_key(const interpreter *in, void *key, pmps_index *items) {
  const pmps_python_api *py = &in->api;
  if (!is(in, key, py->tuple_type)) return read_item(in, key, items) ? 1 : -1;
  intptr_t size = py->PySequence_Size(key);
  if (size < 0 || size > MAX_ITEMS) return -1;
  for (intptr_t i = 0; i < size; i++) {
    void *item = py->PySequence_GetItem(key, i);
    if (!item) return py->PyErr_Clear(), -1;
    bool good = read_item(in, item, &items[i]);
    py->Py_DecRef(item);
    if (!good) return -1;
  }
  return (int)size;
}

/* ---- The functions */

/* The first interpreter: its functions are the same in all of them. */
static const interpreter *any;

/* Reads the bytes that a function is bound to, which need not be aligned; kinds are the bytes that follow. */
static const interpreter *bound(void *self, pmps_python_function *f, const uint8_t **kinds) {
  const char *bytes = any->api.PyBytes_AsString(self);
  memcpy(f, bytes, sizeof *f);
  *kinds = (const uint8_t *)bytes + sizeof *f;
  return f->context;
}

/* Makes a call. A long one is made without the interpreter's lock. */
static uint64_t make(const interpreter *in, prepared *call, described_list *results) {
  uint64_t state = prepared_call(call, results);
  if (state != CALL_LONG) return state;
  call->release = 0;
  call->unlocked = 1;
  void *thread = in->api.PyEval_SaveThread();
  state = prepared_call(call, results);
  in->api.PyEval_RestoreThread(thread);
  return state;
}

static void *python_call(void *self, void *const *args, int64_t count) {
  pmps_python_function f;
  const uint8_t *kinds;
  reader r;
  described_list results;
  r.in = bound(self, &f, &kinds);
  r.call = (prepared){.op = f.number, .lead = f.lead, .where = UINT64_MAX, .args = r.args, .attrs = r.attrs};
  r.used = 0;
  if (!read_call(&r, &f, kinds, args, count)) return otherwise(r.in, self, args, count, PMPS_PYTHON_UNUSUAL);
  r.call.release = take_one();
  switch (make(r.in, &r.call, &results)) {
    case CALL_DONE: break;
    case CALL_HEAVY: return otherwise(r.in, self, args, count, PMPS_PYTHON_HEAVY);
    case CALL_MANY: return otherwise(r.in, self, args, count, PMPS_PYTHON_UNUSUAL);
    default: return otherwise(r.in, self, args, count, PMPS_PYTHON_FAILED);
  }
  if (f.lead != PMPS_PYTHON_OUTPUT) return results_of(r.in, &results);
  r.in->api.Py_IncRef(r.in->api.none);
  return r.in->api.none;
}

/* Runs a program. A long run is made without the interpreter's lock. */
static uint64_t make_run(const interpreter *in, program_inputs *given, described_list *results) {
  uint64_t state = program_call(given, results);
  if (state != CALL_LONG) return state;
  given->release = 0;
  given->unlocked = 1;
  void *thread = in->api.PyEval_SaveThread();
  state = program_call(given, results);
  in->api.PyEval_RestoreThread(thread);
  return state;
}

static void *python_program(void *self, void *const *args, int64_t count) {
  pmps_python_function f;
  const uint8_t *kinds;
  const interpreter *in = bound(self, &f, &kinds);
  uint64_t handles[MAX_ARGUMENTS];
  program_inputs given = {.program = f.number, .count = (uint64_t)count, .inputs = handles};
  given.recording = f.lead & PMPS_PYTHON_RECORDING;
  described_list results;
  bool usual = count <= MAX_ARGUMENTS;
  for (int64_t i = 0; usual && i < count; i++) usual = read_handle(in, args[i], &handles[i]);
  if (!usual) return otherwise(in, self, args, count, PMPS_PYTHON_UNUSUAL);
  given.release = take_one();
  switch (make_run(in, &given, &results)) {
    case CALL_DONE: break;
    case CALL_HEAVY: return otherwise(in, self, args, count, PMPS_PYTHON_HEAVY);
    case CALL_MANY: return otherwise(in, self, args, count, PMPS_PYTHON_UNUSUAL);
    case CALL_OTHER: return otherwise(in, self, args, count, PMPS_PYTHON_OTHER);
    default: return otherwise(in, self, args, count, PMPS_PYTHON_FAILED);
  }
  if (f.lead & PMPS_PYTHON_SINGLE) results.listed = 0;
  return results_of(in, &results);
}

/* Runs the latest program of a traced function; NotImplemented if it is not for these arguments. */
static void *run_latest(const pmps_python_api *py, void *traced, void *const *args, int64_t count) {
  void *latest = py->PyObject_GetAttr(traced, py->name_latest); /* another thread may replace it */
  void *function = latest ? py->PyObject_GetAttr(latest, py->name_bound) : NULL;
  void *result = NULL;
  if (function == py->none)
    py->Py_IncRef(result = py->not_implemented);
  else if (function)
    result = python_program(function, args, count);
  if (function) py->Py_DecRef(function);
  if (latest) py->Py_DecRef(latest);
  return result;
}

static void *python_traced(void *self, void *const *args, int64_t count, void *names) {
  const pmps_python_api *py = &any->api;
  if (count && !names && !py->PySequence_Size(py->traces)) {
    void *result = run_latest(py, self, args, count);
    if (result != py->not_implemented) return result;
    py->Py_DecRef(result);
  }
  int64_t total = count + (names ? py->PySequence_Size(names) : 0);
  void *values = tuple_of(py, args, total), *result = NULL;
  void *handler = values ? py->PyObject_GetAttr(self, py->name_otherwise) : NULL;
  if (handler) result = py->PyObject_CallFunctionObjArgs(handler, values, names ? names : py->none, NULL);
  if (handler) py->Py_DecRef(handler);
  if (values) py->Py_DecRef(values);
  return result;
}

/* The tensor of a fast call, with the shape that is the last argument. */
static void *shaped(const interpreter *in, uint64_t handle, void *self, void *const *args, int64_t count) {
  if (!handle) return otherwise(in, self, args, count, PMPS_PYTHON_FAILED);
  return tensor_of(in, handle, args[count - 1]);
}

static void *python_unary(void *self, void *const *args, int64_t count) {
  pmps_python_function f;
  const uint8_t *kinds;
  const interpreter *in = bound(self, &f, &kinds);
  uint64_t x;
  if (count != 2 || !read_word(in, args[0], &x)) return otherwise(in, self, args, count, PMPS_PYTHON_UNUSUAL);
  return shaped(in, pmps_fast_unary(f.number, x, take_one()), self, args, count);
}

static void *python_binary(void *self, void *const *args, int64_t count) {
  pmps_python_function f;
  const uint8_t *kinds;
  const interpreter *in = bound(self, &f, &kinds);
  uint64_t x, y;
  if (count != 3 || !read_word(in, args[0], &x) || !read_word(in, args[1], &y))
    return otherwise(in, self, args, count, PMPS_PYTHON_UNUSUAL);
  return shaped(in, pmps_fast_binary(f.number, x, y, take_one()), self, args, count);
}

static void *python_scalar(void *self, void *const *args, int64_t count) {
  pmps_python_function f;
  const uint8_t *kinds;
  const interpreter *in = bound(self, &f, &kinds);
  uint64_t x, bits;
  uint32_t kind;
  if (count != 4 || !read_word(in, args[0], &x) || !read_scalar(in, args[1], &kind, &bits))
    return otherwise(in, self, args, count, PMPS_PYTHON_UNUSUAL);
  if (args[2] == in->api.yes) kind += 16; /* the number is the first operand */
  return shaped(in, pmps_fast_scalar(f.number, x, kind, bits, take_one()), self, args, count);
}

/* What functions of the entry `index` are bound to: see paddlemps.h. */
enum { VIEW_KEY, VIEW_BITS };

/* index(tensor, dtype) of a function that is bound to VIEW_BITS. `otherwise` makes the call again, and so the error of one that fails. */
static void *view_of_bits(const interpreter *in, uint64_t x, void *self, void *const *args) {
  pmps_attr dtype;
  pmps_tensor *view;
  if (!read_dtype(in, args[1], &dtype)) return otherwise(in, self, args, 2, PMPS_PYTHON_UNUSUAL);
  pmps_error *error = pmps_tensor_view((pmps_tensor *)(uintptr_t)x, (int32_t)dtype.value.i, &view);
  if (!error) return tensor_of(in, (uint64_t)(uintptr_t)view, in->api.none);
  pmps_error_free(error);
  return otherwise(in, self, args, 2, PMPS_PYTHON_UNUSUAL);
}

static void *python_index(void *self, void *const *args, int64_t count) {
  pmps_python_function f;
  const uint8_t *kinds;
  const interpreter *in = bound(self, &f, &kinds);
  uint64_t x;
  pmps_index items[MAX_ITEMS];
  if (count != 2 || !read_handle(in, args[0], &x)) return otherwise(in, self, args, count, PMPS_PYTHON_UNUSUAL);
  if (f.number == VIEW_BITS) return view_of_bits(in, x, self, args);
  int size = read_key(in, args[1], items);
  if (size < 0) return in->api.Py_IncRef(in->api.none), in->api.none;
  uint64_t view = pmps_fast_index(x, items, (uint64_t)size, take_one());
  if (!view) return otherwise(in, self, args, count, PMPS_PYTHON_FAILED);
  return tensor_of(in, view, in->api.none); /* its memory is shared: it is not freed late */
}

static void *python_idle(void *self, void *const *args, int64_t count) {
  (void)args, (void)count;
  pmps_python_function f;
  const uint8_t *kinds;
  const interpreter *in = bound(self, &f, &kinds);
  void *answer = pmps_fast_idle(f.number) ? in->api.yes : in->api.no;
  in->api.Py_IncRef(answer);
  return answer;
}

static void *python_describe(void *self, void *const *args, int64_t count) {
  pmps_python_function f;
  const uint8_t *kinds;
  const interpreter *in = bound(self, &f, &kinds);
  described d;
  if (count != 1 || !read_word(in, args[0], &d.handle)) return otherwise(in, self, args, count, PMPS_PYTHON_UNUSUAL);
  if (!tensor_describe(d.handle, &d)) return otherwise(in, self, args, count, PMPS_PYTHON_FAILED);
  return meta_of(in, &d);
}

static void *python_flush(void *self, void *const *args, int64_t count) {
  (void)self, (void)args, (void)count;
  return any->api.PyLong_FromLongLong(free_all());
}

/* Frees a tensor. One that could not be completed has no handle. */
static void *python_free(void *tensor, void *unused) {
  (void)unused;
  const pmps_python_api *py = &any->api;
  uint64_t handle = 0;
  void *number = get_slot(any, tensor, py->tensor->handle_offset, py->name_handle);
  void *shape = number ? get_slot(any, tensor, py->tensor->shape_offset, py->name_shape) : NULL;
  bool late = shape && shape != py->none;
  if (number && !read_word(any, number, &handle)) handle = 0;
  if (shape) py->Py_DecRef(shape);
  if (number) py->Py_DecRef(number);
  if (handle && late) free_late(handle);
  if (handle && !late) pmps_fast_release(&handle, 1);
  py->Py_IncRef(py->none);
  return py->none;
}

/* Frees what a capsule holds that was not consumed. It may be called while an exception is set, as when a library refuses
 * the dtype of a tensor, which a destructor in Python could not be. */
static void python_release(void *capsule) {
  const pmps_python_api *py = &any->api;
  if (py->PyCapsule_IsValid(capsule, "dltensor")) {
    DLManagedTensor *plain = py->PyCapsule_GetPointer(capsule, "dltensor");
    if (plain->deleter) plain->deleter(plain);
  } else if (py->PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    DLManagedTensorVersioned *versioned = py->PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (versioned->deleter) versioned->deleter(versioned);
  }
}

/* ---- What the library holds of Python: see pmps_python_entries.held */

enum { CLOSED, OPEN, VALID, CHANGED };

/* Whether links show what they hold, from held to collected. It is decided once, by the first question: the collector goes through
 * a link several times, and has to see the same each time. */
static _Atomic int window = CLOSED;

static uint64_t *python_held(uint64_t caller, const uint64_t *tensors, uint64_t count, const uint64_t *programs, uint64_t program_count) {
  int closed = CLOSED;
  if (!atomic_compare_exchange_strong(&window, &closed, OPEN)) return NULL;
  uint64_t *found = held_by(caller, tensors, count, programs, program_count);
  if (!found) window = CLOSED;
  return found;
}

static void python_collected(uint64_t *found) {
  free(found);
  held_end();
  window = CLOSED;
}

static bool shows(void) {
  int open = OPEN;
  if (window == OPEN) atomic_compare_exchange_strong(&window, &open, held_unchanged() ? VALID : CHANGED);
  return window == VALID;
}

static int python_traverse(void *link, int (*visit)(void *object, void *arg), void *arg) {
  void *items = *slot(link, any->api.tensor->link_offset);
  return items && shows() ? visit(items, arg) : 0;
}

/* A function's address as an object pointer: POSIX allows the conversion, ISO C does not. */
#define ENTRY(function) ((void *)(uintptr_t)(function))

bool pmps_python_init(const pmps_python_api *api, pmps_python_entries *entries) {
  if (!api || !entries || api->struct_size != sizeof *api) return false;
  interpreter *in = malloc(sizeof *in);
  recent_meta *recent = calloc(RECENT, sizeof *recent);
  if (!in || !recent) return free(in), free(recent), false;
  *in = (interpreter){*api, recent};
  if (!any) any = in;
  *entries = (pmps_python_entries){
      .context = in,
      .unary = ENTRY(python_unary),
      .binary = ENTRY(python_binary),
      .scalar = ENTRY(python_scalar),
      .call = ENTRY(python_call),
      .program = ENTRY(python_program),
      .idle = ENTRY(python_idle),
      .describe = ENTRY(python_describe),
      .flush = ENTRY(python_flush),
      .index = ENTRY(python_index),
      .free = ENTRY(python_free),
      .traced = ENTRY(python_traced),
      .release = ENTRY(python_release),
      .held = ENTRY(python_held),
      .collected = ENTRY(python_collected),
      .traverse = ENTRY(python_traverse),
  };
  return true;
}
