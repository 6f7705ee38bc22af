/*
 * check.h - what the C tests share: expectations that are counted and printed, one line a test, and
 * short ways to say that a call succeeds or fails with a code.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paddlemps.h"

/* Tests that have failed in this process, and whether the running one has. */
extern int failed_tests;
extern bool failing;

/* Says what is wrong; the test goes on. */
#define EXPECT(condition) \
  do { \
    if (!(condition)) complain(__FILE__, __LINE__, #condition); \
  } while (0)

/* The call succeeds; its message is printed when it does not. */
#define OK(call) expect_ok(__FILE__, __LINE__, #call, (call))

/* The call fails with a code and a message that contains some text. */
#define FAILS(call, code, text) expect_error(__FILE__, __LINE__, #call, (call), (code), (text))

/* Runs a test and prints `ok` or `FAIL` with its name. */
#define RUN(test) run_test(#test, test)

void complain(const char *file, int line, const char *what);
void expect_ok(const char *file, int line, const char *what, pmps_error *error);
void expect_error(const char *file, int line, const char *what, pmps_error *error, pmps_code code, const char *text);
void run_test(const char *name, void (*test)(void));

/* The places that tests visit: the CPU, and mps:0 where there is one. */
extern const pmps_place cpu, mps;
bool has_mps(void);

/* A float32 tensor of n elements 0, 1, 2, ... on a place. */
pmps_tensor *ramp(const pmps_place *place, int64_t n);

/* The first element of a float32 tensor. */
float first(const pmps_tensor *tensor);

/* An operand that is a tensor, and one that is a float. */
pmps_arg of_tensor(const pmps_tensor *tensor);
pmps_arg of_float(double value);

/* An attribute with an int, and one with ints. */
pmps_attr int_attr(const char *name, int64_t value);
pmps_attr ints_attr(const char *name, const int64_t *values, int64_t count);

/* pmps_fast_binary, which waits where that is refused because the call would have to wait. 0 on other failures. */
uint64_t fast_binary(uint64_t op, uint64_t x, uint64_t y, uint64_t release);

/* The one result of an operator without attributes on up to two tensors; y may be NULL. */
pmps_tensor *apply(pmps_op op, const pmps_tensor *x, const pmps_tensor *y);

/* A handle as the fast family wants it. */
uint64_t bits(const void *handle);

#endif
