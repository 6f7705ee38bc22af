/*
 * objc.h - an Objective-C runtime of a few hundred lines, which checks every call.
 *
 * It stands for libobjc: classes, selectors, messages, retain counts, autorelease pools. Where Apple's
 * answers misuse with undefined behaviour, this one ends the process and says which message it was:
 * a selector that does not exist, or only in a newer macOS than the pretended one, an argument of
 * another class than Apple's interface declares, an object that is dead, a pool that is not the
 * thread's. What Apple's interface declares is read from objc/testdata/selectors.tsv when the library
 * is built; a class cannot be given a method that has no row there.
 *
 * Sources: Apple's documentation of the Objective-C Runtime and of the pools in "Advanced Memory
 * Management Programming Guide"; the System V and AAPCS64 calling conventions.
 *
 * All functions may be called from any thread unless they say otherwise.
 */
#ifndef FAKEMETAL_OBJC_H
#define FAKEMETAL_OBJC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control.h"

typedef const char *SEL; /* interned: equal names are equal pointers */
typedef struct class_ class_;
typedef signed char BOOL;

/* What every object begins with. */
typedef struct object {
  class_ *isa;
  _Atomic int64_t refs;
  _Atomic uint32_t magic; /* tells a live object from a dead one and from anything else */
  _Atomic uint32_t flags;
} object, *id;

enum {
  OBJECT_SINGLETON = 1, /* belongs to the fake: no leak, and never released for the last time */
  OBJECT_BUSY = 2,      /* a thread is within one of its methods; see enter */
};

typedef void (*IMP)(void);

/* A method; its argument types and its first macOS come from the table. */
typedef struct {
  const char *selector;
  IMP imp;
  bool class_method;
} method;

#define INSTANCE(selector, function) {selector, (IMP)(function), false}
#define CLASS(selector, function) {selector, (IMP)(function), true}

typedef struct {
  const char *name;
  const char *super;    /* NULL for none; may be defined later */
  const char *protocol; /* NULL, or the rows of the table that also describe it: FakeBuffer is an MTLBuffer */
  size_t size;          /* of its objects */
  void (*dealloc)(id);  /* releases what the object holds, not the object; NULL for nothing. Supers follow. */
  const method *methods;
  int count;
} class_def;

#define METHODS(array) array, (int)(sizeof array / sizeof *array) /* the last two fields */

/* Makes a class. To be called before main, from functions with the attribute constructor. A method
 * without a row in the table ends the process. */
void class_define(const class_def *definition);

/* A class by its name, whatever macOS is pretended; NULL if there is none. */
class_ *class_named(const char *name);
const char *class_title(id any); /* the name of its class; works for classes too */

/* The interned selector. */
SEL selector(const char *name);

/* A zeroed object, +1. */
id object_new(const char *class_name);
id object_make(class_ *isa);

id retain(id object);       /* nil is left alone */
void release(id object);    /* so it is here */
id autorelease(id object);  /* ends the process where the thread has no pool */

/* Whether it is of a class, of one that derives from it, or conforms to a protocol. */
bool is_kind(id any, const char *class_or_protocol);

/* Whether its class has the method in the pretended macOS. */
bool responds(id any, const char *selector);

/* Whether it is nil or an object that lives. */
bool is_live(id any);

/* Ends the process: "fakemetal: -[Class selector:] what (macOS 15.0, seed 1)", naming the message that
 * this thread is in. */
_Noreturn void misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says what the thread does outside any message, for misuse; NULL class for a C function. */
void doing(const char *what);

/* Brackets a method of an object that one thread at a time may use; the other one is misuse. */
void enter(id object);
void leave(id object);

/* Pushes and pops a pool for code of the fake that runs on threads of its own. */
void *pool_push(void);
void pool_pop(void *token);

/* Foundation for C. Objects come back +0, autoreleased, unless a name says new: those are +1. */
id string_new(const char *text);
const char *string_c(id string); /* NULL for nil */
id string_of(const char *text);
id number_int(int64_t value);
id number_float(double value);
double number_double(id number);
int64_t number_integer(id number);
id array_new(const id *items, size_t count);
size_t array_count(id array); /* 0 for nil */
id array_at(id array, size_t index);
void array_add(id mutable_array, id item);
id dictionary_new(const id *keys, const id *values, size_t count);
id mutable_dictionary_new(void);
size_t dictionary_count(id dictionary);
void dictionary_at(id dictionary, size_t index, id *key, id *value); /* in the order of insertion */
id dictionary_get(id dictionary, id key);                            /* NULL if it is not there */
void dictionary_set(id mutable_dictionary, id key, id value);
id error_new(const char *domain, int64_t code, const char *description);
void error_out(id *where, const char *domain, int64_t code, const char *description); /* autoreleased */
id data_new(const void *bytes, size_t length);
void data_of(id data, const void **bytes, size_t *length);
const char *url_path(id url);

#endif
