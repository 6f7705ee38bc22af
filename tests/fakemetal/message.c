/*
 * message.c - what happens between objc_msgSend and the method: the receiver, the selector, the macOS
 * and the arguments are checked, and the thread remembers what it is doing.
 */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "class.h"

/* The message that a thread is in. */
static __thread struct {
  const char *class_name; /* NULL: name is no message */
  const char *name;
  char kind;
} current = {NULL, "outside any message", 0};

void doing(const char *what) { current.class_name = NULL, current.name = what; }

_Noreturn void misuse(const char *format, ...) {
  char what[1024];
  int major, minor;
  va_list list;
  va_start(list, format);
  vsnprintf(what, sizeof what, format, list);
  va_end(list);
  macos_version(&major, &minor);
  fflush(stdout);
  if (current.class_name)
    fprintf(stderr, "fakemetal: %c[%s %s]: %s", current.kind, current.class_name, current.name, what);
  else
    fprintf(stderr, "fakemetal: %s: %s", current.name, what);
  fprintf(stderr, " (macOS %d.%d, seed %llu)\n", major, minor, (unsigned long long)random_seed());
  fflush(stderr);
  abort();
}

#if defined(__aarch64__)
enum { BY_X8 = 1 }; /* memory for a result has a register of its own, and one entry serves all */
#else
enum { BY_X8 = 0 };
#endif

/* What the trampolines save: the registers of a call, and where its stack arguments begin. The order
 * of the fields is that of send_*.S. */
typedef struct {
  uintptr_t integers[8];
  double floats[8][2];
} registers;

static const char *noun(const argument *a) {
  static __thread char text[80];
  snprintf(text, sizeof text, "argument %s:", a->keyword);
  return text;
}

/* check_alive is check_live, which wants words only where something is wrong. */
static void check_alive(const argument *a, id value) {
  if (!is_live(value)) check_live(value, noun(a));
}

static void check_element(const argument *a, id item, const char *wanted) {
  check_alive(a, item);
  if (wanted[0] && !is_kind(item, wanted))
    misuse("argument %s: holds an object of class %s; want %s", a->keyword, class_title(item), wanted);
}

static void check_elements(const argument *a, id collection) {
  if (a->value[0]) {
    for (size_t i = 0; i < dictionary_count(collection); i++) {
      id key, value;
      dictionary_at(collection, i, &key, &value);
      check_element(a, key, a->element);
      check_element(a, value, a->value);
    }
  } else if (strcmp(a->type, "NSArray") == 0) {
    for (size_t i = 0; i < array_count(collection); i++) check_element(a, array_at(collection, i), a->element);
  }
}

static void check_argument(argument *a, id value) {
  if (!value && !a->nullable) misuse("argument %s: is nil", a->keyword);
  if (!value) return;
  if (a->block) misuse("argument %s: is a block; the fake knows none", a->keyword);
  check_alive(a, value);
  class_ *kind = value->magic == MAGIC_CLASS ? NULL : value->isa;
  if (a->type[0] && (!kind || atomic_load_explicit(&a->accepted, memory_order_relaxed) != kind)) {
    if (strcmp(a->type, "NSCopying") != 0 && !is_kind(value, a->type))
      misuse("argument %s: is of class %s; want %s", a->keyword, class_title(value), a->type);
    if (kind) atomic_store_explicit(&a->accepted, kind, memory_order_relaxed);
  }
  check_elements(a, value);
}

static void check_arguments(entry *e, const registers *r, const char *stack) {
  for (int i = 0; i < e->argument_count; i++) {
    argument *a = &e->arguments[i];
    uintptr_t value;
    if (a->slot >= 0) value = r->integers[a->slot];
    else memcpy(&value, stack - 1 - a->slot, sizeof value);
    check_argument(a, (id)value);
  }
}

static _Noreturn void unknown(id self, SEL cmd) {
  if (!cmd || !is_selector(cmd)) {
    current.name = "?";
    misuse("the selector %p was not registered", (const void *)cmd);
  }
  if (row_of_selector(cmd)) misuse("Apple has such a method, %s has not or the fake lacks it", class_title(self));
  misuse("unrecognized selector");
}

/* What a message to nil ends in: zeroes. In send_*.S. */
extern void objc_answer_nil(void);

/* Answers the function that the trampoline is to jump to. stret says that the caller passed memory for
 * the result, which only amd64 does in an integer register. */
__attribute__((visibility("hidden"))) IMP objc_lookup(const registers *r, const char *stack, int stret) {
  id self = (id)r->integers[stret];
  SEL cmd = (SEL)r->integers[stret + 1];
  count(COUNT_SENDS, 1);
  if (!self) return objc_answer_nil;
  if (!is_live(self)) {
    doing(is_selector(cmd) ? cmd : "objc_msgSend");
    check_live(self, "the receiver");
  }
  bool to_class = self->magic == MAGIC_CLASS;
  class_ *c = to_class ? (class_ *)self : self->isa;
  current.class_name = c->name, current.name = cmd, current.kind = to_class ? '+' : '-';
  entry *e = class_method(c, cmd, to_class);
  if (!e) unknown(self, cmd);
  if (!e->available || !c->available) misuse("needs macOS %s", e->row->since);
  if (e->stret != (stret != 0) && !BY_X8) misuse("answers %s; want objc_msgSend%s", e->row->result, e->stret ? "_stret" : "");
  if (e->argument_count > 0) check_arguments(e, r, stack);
  return e->imp;
}
