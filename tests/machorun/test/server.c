/*
 * server.c - does what the other end of a pipe asks for with the functions of paddlemps.h, so that a suite in
 * Python, which there is none for Darwin here, can try the library: see remote.py.
 *
 * A request is a letter and its operands, an answer begins with a pmps_code. After 0 come the results, after
 * any other code the message: its length and its bytes. Numbers are little-endian and as wide as in
 * paddlemps.h; handles travel as they are, 8 bytes. The server ends with its input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "paddlemps.h"

/* ---- The pipe. */

static void get(void *to, size_t size) {
  for (char *p = to; size > 0;) {
    ssize_t got = read(0, p, size);
    if (got <= 0) exit(0);
    p += got, size -= (size_t)got;
  }
}

static void put(const void *from, size_t size) {
  if (fwrite(from, 1, size, stdout) != size) exit(1);
}

static int64_t get_number(void) {
  int64_t number;
  get(&number, sizeof number);
  return number;
}

static void put_number(int64_t number) { put(&number, sizeof number); }

static void *get_bytes(size_t size) {
  void *bytes = malloc(size ? size : 1);
  if (!bytes) exit(1);
  get(bytes, size);
  return bytes;
}

static pmps_tensor *get_tensor(void) { return (pmps_tensor *)(uintptr_t)get_number(); }
static void put_tensor(const pmps_tensor *tensor) { put_number((int64_t)(uintptr_t)tensor); }

static pmps_place get_place(void) {
  pmps_place place;
  get(&place, sizeof place);
  return place;
}

/* answer begins the answer; false after a failure, which it has reported. */
static bool answer(pmps_error *error) {
  put_number(pmps_error_code(error));
  if (!error) return true;
  const char *message = pmps_error_message(error);
  put_number((int64_t)strlen(message));
  put(message, strlen(message));
  pmps_error_free(error);
  return false;
}

/* ---- Requests. */

/* backend: a place. Answers the 16 bytes of the name. */
static void backend(void) {
  pmps_place place = get_place();
  pmps_device_info info = {.struct_size = sizeof info};
  if (answer(pmps_device_get_info(&place, &info))) put(info.backend, sizeof info.backend);
}

/* new: a place, dtype, rank, dims, size, bytes. Answers a tensor. */
static void new_tensor(void) {
  pmps_place place = get_place();
  int32_t dtype = (int32_t)get_number(), rank = (int32_t)get_number();
  int64_t *dims = get_bytes((size_t)rank * sizeof *dims);
  void *data = get_bytes((size_t)get_number());
  pmps_tensor *tensor = NULL;
  if (answer(pmps_tensor_from_host(&place, dtype, rank, dims, data, &tensor))) put_tensor(tensor);
  free(dims);
  free(data);
}

/* index: a tensor, count, that many pmps_index. Answers a view. */
static void index_tensor(void) {
  pmps_tensor *tensor = get_tensor(), *view = NULL;
  size_t count = (size_t)get_number();
  pmps_index *items = get_bytes(count * sizeof *items);
  if (answer(pmps_tensor_index(tensor, items, count, &view))) put_tensor(view);
  free(items);
}

enum { MOST_OUTPUTS = 16 };

/* get_attrs reads attributes: kind, value, count, the length of the name, the name with its zero; behind one
 * of several numbers stand these, behind a text its bytes. */
static pmps_attr *get_attrs(size_t count) {
  pmps_attr *attrs = calloc(count + 1, sizeof *attrs);
  for (size_t i = 0; i < count; i++) {
    attrs[i].kind = (uint32_t)get_number();
    attrs[i].value.i = get_number();
    attrs[i].count = get_number();
    attrs[i].name = get_bytes((size_t)get_number());
    if (attrs[i].kind == PMPS_ATTR_INTS) attrs[i].value.ints = get_bytes((size_t)attrs[i].count * sizeof(int64_t));
    if (attrs[i].kind == PMPS_ATTR_STRING) attrs[i].value.string = get_bytes((size_t)attrs[i].count);
  }
  return attrs;
}

static void free_attrs(pmps_attr *attrs, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (attrs[i].kind == PMPS_ATTR_INTS) free((void *)attrs[i].value.ints);
    if (attrs[i].kind == PMPS_ATTR_STRING) free((void *)attrs[i].value.string);
    free((void *)attrs[i].name);
  }
  free(attrs);
}

/* call: a place, an operator, count, that many pmps_arg, count, attributes. Answers count, tensors. */
static void call(void) {
  pmps_place place = get_place();
  pmps_op op = (pmps_op)get_number();
  size_t arg_count = (size_t)get_number();
  pmps_arg *args = get_bytes(arg_count * sizeof *args);
  size_t attr_count = (size_t)get_number(), count = MOST_OUTPUTS;
  pmps_attr *attrs = get_attrs(attr_count);
  pmps_tensor *outputs[MOST_OUTPUTS];
  pmps_error *error = arg_count ? pmps_op_call(op, args, arg_count, attrs, attr_count, outputs, &count)
                                : pmps_op_call_on(&place, op, args, arg_count, attrs, attr_count, outputs, &count);
  if (answer(error)) {
    put_number((int64_t)count);
    for (size_t i = 0; i < count; i++) put_tensor(outputs[i]);
  }
  free_attrs(attrs, attr_count);
  free(args);
}

/* read: a tensor. Answers dtype, rank, dims, size, bytes. */
static void read_tensor(void) {
  pmps_tensor *tensor = get_tensor();
  pmps_tensor_info info = {.struct_size = sizeof info};
  pmps_error *error = pmps_tensor_get_info(tensor, &info);
  size_t size = error ? 0 : (size_t)(info.numel * pmps_dtype_size(info.dtype));
  void *data = malloc(size ? size : 1);
  if (!error) error = pmps_tensor_read(tensor, data, size);
  if (answer(error)) {
    put_number(info.dtype);
    put_number(info.rank);
    put(info.dims, (size_t)info.rank * sizeof *info.dims);
    put_number((int64_t)size);
    put(data, size);
  }
  free(data);
}

/* free: a tensor. */
static void free_tensor(void) {
  pmps_tensor_free(get_tensor());
  answer(NULL);
}

/* live: answers how many objects there are. */
static void live(void) {
  answer(NULL);
  put_number(pmps_live_handles());
}

int main(void) {
  for (;;) {
    char what;
    get(&what, sizeof what);
    switch (what) {
      case 'b': backend(); break;
      case 'n': new_tensor(); break;
      case 'i': index_tensor(); break;
      case 'c': call(); break;
      case 'r': read_tensor(); break;
      case 'f': free_tensor(); break;
      case 'l': live(); break;
      default: fprintf(stderr, "server: request %d is unknown\n", what); return 1;
    }
    fflush(stdout);
  }
}
