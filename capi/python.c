/*
 * The fast family as CPython calls its own built-in functions: METH_FASTCALL, arguments in a C array.
 * Through ctypes the conversions of a call cost several hundred nanoseconds, more than everything else
 * in an addition of eight floats; this way they cost a few tens.
 *
 * There is no Python header here and nothing to link: the three functions of the interpreter that are
 * needed come by address, and both they and the calling convention belong to Python's stable ABI. One
 * library serves every CPython.
 */
#include "shim.h"

static unsigned long long (*as_uint64)(void *);    /* PyLong_AsUnsignedLongLong */
static void *(*from_uint64)(unsigned long long);   /* PyLong_FromUnsignedLongLong */
static void *(*occurred)(void);                    /* PyErr_Occurred */

void pmps_python_init(void *as, void *from, void *error) {
  as_uint64 = (unsigned long long (*)(void *))as;
  from_uint64 = (void *(*)(unsigned long long))from;
  occurred = (void *(*)(void))error;
}

/* Reads the operator and as many integers as there should be. False: one of them is no such integer,
 * and the interpreter has been told. */
static bool read(void *op, void *const *args, int64_t given, int count, uint64_t *words) {
  words[0] = as_uint64(op);
  for (int i = 0; i < count; i++) {
    words[i + 1] = i < given ? as_uint64(args[i]) : 0;
    if (words[i + 1] == UINT64_MAX && occurred()) return false;
  }
  return true;
}

void *pmps_python_unary(void *op, void *const *args, int64_t count) {
  uint64_t w[3];
  return read(op, args, count, 2, w) ? from_uint64(pmps_fast_unary(w[0], w[1], w[2])) : NULL;
}

void *pmps_python_binary(void *op, void *const *args, int64_t count) {
  uint64_t w[4];
  return read(op, args, count, 3, w) ? from_uint64(pmps_fast_binary(w[0], w[1], w[2], w[3])) : NULL;
}

void *pmps_python_idle(void *what, void *const *args, int64_t count) {
  uint64_t w[1];
  return read(what, args, count, 0, w) ? from_uint64(pmps_fast_idle(w[0])) : NULL;
}

void *pmps_python_scalar(void *op, void *const *args, int64_t count) {
  uint64_t w[5];
  return read(op, args, count, 4, w) ? from_uint64(pmps_fast_scalar(w[0], w[1], w[2], w[3], w[4])) : NULL;
}
