/*
 * table.h - what Apple's interface declares: a row a method, read from objc/testdata/selectors.tsv.
 */
#ifndef FAKEMETAL_TABLE_H
#define FAKEMETAL_TABLE_H

#include <stdbool.h>

typedef struct {
  const char *class_name; /* class or protocol */
  char kind;              /* '+' or '-' */
  const char *selector;
  const char *result, *arguments; /* types; arguments are separated by semicolons */
  const char *since;              /* first macOS, "13.0"; "" if unknown, "UNAVAILABLE" */
  const char *encoding;           /* of the types, as @encode writes them */
} row;

/* An argument that is an object, and where a call has it. */
typedef struct {
  char keyword[48];      /* the part of the selector in front of it */
  char type[64];         /* class or protocol; "" for any */
  char element[64];      /* class of what a collection holds; "" for any */
  char value[64];        /* class of a dictionary's values; "" for any */
  int slot;              /* number of the integer register, or -1 - offset on the stack */
  bool nullable, block;
  _Atomic(struct class_ *) accepted; /* the class that was looked at last and does */
} argument;

/* The row that describes a method of a class; protocol may be NULL. NULL if Apple has none. */
const row *row_find(const char *class_name, const char *protocol, const char *selector, char kind);

/* The row of a selector in any class; NULL if nothing of Apple's has it. */
const row *row_of_selector(const char *selector);

/* Whether the pretended macOS has it. */
bool row_available(const row *r);

/* Whether the pretended macOS has a class: whether it has any of its methods. */
bool class_available(const char *class_name);

/* The objects among a method's arguments; the array is malloc'ed. stret says that the result goes
 * through a pointer in the first integer register. */
argument *row_arguments(const row *r, int *count, bool *stret);

/* Whether a protocol is another one or inherits from it. */
bool protocol_conforms(const char *protocol, const char *wanted);

#endif
