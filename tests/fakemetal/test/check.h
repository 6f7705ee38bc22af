/*
 * check.h - for the tests of the fake: sends in C, and a line `ok` or `FAIL` for each test.
 */
#ifndef FAKEMETAL_CHECK_H
#define FAKEMETAL_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../control.h"

typedef void *id;
typedef const char *SEL;

typedef struct {
  uint64_t width, height, depth;
} size3;
typedef struct {
  uint64_t size, align;
} size_align;
typedef struct {
  uint64_t location, length;
} range;

extern id objc_getClass(const char *name);
extern SEL sel_registerName(const char *name);
extern id objc_retain(id), MTLCopyAllDevices(void), MTLCreateSystemDefaultDevice(void);
extern void objc_release(id);
extern void *objc_autoreleasePoolPush(void);
extern void objc_autoreleasePoolPop(void *);

/* objc_msgSend and objc_msgSend_stret as variables: a compiler refuses to call a function as another. */
extern void (*message)(void), (*message_stret)(void);

/* SEND(result, (id, SEL, types), receiver, "selector:", arguments...); the rest is for words. */
#define SEND(result, types, receiver, name, ...) \
  ((result(*) types)message)((id)(receiver), sel_registerName(name), ##__VA_ARGS__)
#define send0(receiver, name) SEND(id, (id, SEL), receiver, name)
#define send1(receiver, name, a) SEND(id, (id, SEL, id), receiver, name, (id)(a))
#define send2(receiver, name, a, b) SEND(id, (id, SEL, id, id), receiver, name, (id)(a), (id)(b))
#define send3(receiver, name, a, b, c) SEND(id, (id, SEL, id, id, id), receiver, name, (id)(a), (id)(b), (id)(c))
#define send4(receiver, name, a, b, c, d) \
  SEND(id, (id, SEL, id, id, id, id), receiver, name, (id)(a), (id)(b), (id)(c), (id)(d))
#define send5(receiver, name, a, b, c, d, e) \
  SEND(id, (id, SEL, id, id, id, id, id), receiver, name, (id)(a), (id)(b), (id)(c), (id)(d), (id)(e))
#define number(receiver, name) SEND(uint64_t, (id, SEL), receiver, name)

static inline id text(const char *utf8) { return send1(objc_getClass("NSString"), "stringWithUTF8String:", utf8); }

/* A test: its line, and what failed in it. */
void expect(bool right, const char *name);
int failures(void); /* of expect, and of misuse rows */

/* Runs body in a child with a pool, which has to end by abort() after printing words that contain
 * want. environment is "NAME=value ..." or NULL. */
void misused(const char *name, const char *environment, const char *want, void (*body)(void));

/* The same for a body that is to end well. */
void lives(const char *name, const char *environment, void (*body)(void));

#endif
