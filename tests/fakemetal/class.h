/*
 * class.h - how the runtime keeps classes and methods; for objc.c, message.c and NSObject.
 */
#ifndef FAKEMETAL_CLASS_H
#define FAKEMETAL_CLASS_H

#include "objc.h"
#include "table.h"

enum { MAGIC_OBJECT = 0x4f424a43, MAGIC_CLASS = 0x434c4153, MAGIC_ZOMBIE = 0x5a4f4d42 };

/* A method of a class. */
typedef struct {
  SEL sel; /* NULL: the slot is free */
  IMP imp;
  bool class_method, available, stret;
  const row *row;
  argument *arguments;
  int argument_count;
} entry;

struct class_ {
  object header; /* a class is an object: it receives the class methods */
  const char *name, *super_name, *protocol;
  class_ *_Atomic super; /* found when first asked for */
  class_ *next;
  size_t size, slots; /* of an object; of the hash table of methods, a power of two */
  void (*dealloc)(id);
  entry *methods;
  bool available;
  _Atomic int64_t live, singletons;
};

entry *class_own_method(const class_ *c, SEL sel, bool class_method);
entry *class_method(class_ *c, SEL sel, bool class_method); /* its own or a super's; NULL */
class_ *class_super(class_ *c);
bool is_selector(SEL candidate);

/* Ends the process unless any is nil or alive; role is what the message calls it. */
void check_live(id any, const char *role);

/* Takes an object out of the count of leaks, and makes its last release misuse. */
void object_keep_for_ever(id object);

#endif
