/*
 * objc.c - classes, selectors and objects; retain counts, and zombies: an object that was released for
 * the last time stays recognisable for a while, so that a use of it is reported as such.
 */
#include "objc.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "class.h"
#include "defect.h"

/* ---- Selectors: a table that only grows. */

enum { SELECTOR_BUCKETS = 4096 };

typedef struct name {
  struct name *next;
  char text[];
} name;

static name *selectors[SELECTOR_BUCKETS];
static pthread_mutex_t selector_lock = PTHREAD_MUTEX_INITIALIZER;

static size_t hash_text(const char *text) {
  size_t h = 5381;
  for (; *text; text++) h = h * 33 + (unsigned char)*text;
  return h;
}

SEL selector(const char *text) {
  name **bucket = &selectors[hash_text(text) % SELECTOR_BUCKETS], *n;
  pthread_mutex_lock(&selector_lock);
  for (n = *bucket; n && strcmp(n->text, text) != 0;) n = n->next;
  if (!n) {
    n = malloc(sizeof *n + strlen(text) + 1);
    strcpy(n->text, text);
    n->next = *bucket, *bucket = n;
  }
  pthread_mutex_unlock(&selector_lock);
  return n->text;
}

bool is_selector(SEL candidate) {
  bool found = false;
  pthread_mutex_lock(&selector_lock);
  for (int i = 0; i < SELECTOR_BUCKETS && !found; i++)
    for (name *n = selectors[i]; n && !found; n = n->next) found = n->text == candidate;
  pthread_mutex_unlock(&selector_lock);
  return found;
}

/* ---- Classes: made before main, never changed after. */

static class_ *classes;

class_ *class_named(const char *text) {
  for (class_ *c = classes; c; c = c->next)
    if (strcmp(c->name, text) == 0) return c;
  return NULL;
}

static size_t slot_of(const class_ *c, SEL sel, bool class_method) {
  return (((uintptr_t)sel >> 4) + class_method) & (c->slots - 1);
}

entry *class_own_method(const class_ *c, SEL sel, bool class_method) {
  for (size_t i = slot_of(c, sel, class_method);; i = (i + 1) & (c->slots - 1)) {
    entry *e = &c->methods[i];
    if (!e->sel || (e->sel == sel && e->class_method == class_method)) return e->sel ? e : NULL;
  }
}

class_ *class_super(class_ *c) {
  if (!c->super && c->super_name) c->super = class_named(c->super_name);
  return c->super;
}

entry *class_method(class_ *c, SEL sel, bool class_method) {
  entry *e = NULL;
  for (class_ *k = c; k && !e; k = class_super(k)) e = class_own_method(k, sel, class_method);
  /* What NSObject's instances answer, classes do too: they are objects. */
  if (!e && class_method) e = class_own_method(class_named("NSObject"), sel, false);
  return e;
}

/* What SELECTOR_MISSING takes away. */
static const char unused[] = "cumulativeMinimumWithTensor:axis:exclusive:reverse:name:";

static void add_method(class_ *c, const method *m) {
  char kind = m->class_method ? '+' : '-';
  entry e = {.sel = selector(m->selector), .imp = m->imp, .class_method = m->class_method};
  e.row = row_find(c->name, c->protocol, m->selector, kind);
  if (!e.row) {
    fprintf(stderr, "fakemetal: %c[%s %s] is not in the table of Apple's interface\n", kind, c->name, m->selector);
    abort();
  }
  e.available = row_available(e.row) && !(planted(SELECTOR_MISSING) && strcmp(m->selector, unused) == 0);
  e.arguments = row_arguments(e.row, &e.argument_count, &e.stret);
  size_t i = slot_of(c, e.sel, e.class_method);
  while (c->methods[i].sel) i = (i + 1) & (c->slots - 1);
  c->methods[i] = e;
}

void class_define(const class_def *d) {
  class_ *c = calloc(1, sizeof *c);
  atomic_store(&c->header.refs, 1);
  atomic_store(&c->header.magic, MAGIC_CLASS);
  atomic_store(&c->header.flags, OBJECT_SINGLETON);
  c->name = d->name, c->super_name = d->super, c->protocol = d->protocol;
  c->size = d->size, c->dealloc = d->dealloc;
  c->available = class_available(d->name);
  for (c->slots = 8; c->slots < (size_t)d->count * 2;) c->slots *= 2;
  c->methods = calloc(c->slots, sizeof *c->methods);
  for (int i = 0; i < d->count; i++) add_method(c, &d->methods[i]);
  c->next = classes, classes = c;
}

/* ---- Objects. */

static bool plausible(id any) { return (uintptr_t)any > 4096 && (uintptr_t)any % 8 == 0; }
static bool is_class(id any) { return plausible(any) && any->magic == MAGIC_CLASS; }
static bool is_object(id any) { return plausible(any) && any->magic == MAGIC_OBJECT; }

bool is_live(id any) { return !any || is_object(any) || is_class(any); }

const char *class_title(id any) {
  if (!any) return "nil";
  if (is_class(any)) return ((class_ *)any)->name;
  return plausible(any) && (any->magic == MAGIC_OBJECT || any->magic == MAGIC_ZOMBIE) ? any->isa->name : "?";
}

void check_live(id any, const char *role) {
  if (is_live(any)) return;
  if (plausible(any) && any->magic == MAGIC_ZOMBIE)
    misuse("%s is an object of class %s that has been released for the last time", role, any->isa->name);
  misuse("%s is not an object: %p", role, (void *)any);
}

bool is_kind(id any, const char *wanted) {
  if (!any) return false;
  for (class_ *c = is_class(any) ? (class_ *)any : any->isa; c; c = class_super(c))
    if (strcmp(c->name, wanted) == 0 || protocol_conforms(c->protocol, wanted) || protocol_conforms(c->name, wanted))
      return true;
  return false;
}

bool responds(id any, const char *name) {
  if (!any) return false;
  entry *e = is_class(any) ? class_method((class_ *)any, selector(name), true)
                           : class_method(any->isa, selector(name), false);
  return e && e->available;
}

id object_make(class_ *isa) {
  id o = calloc(1, isa->size);
  o->isa = isa;
  atomic_store(&o->refs, 1);
  atomic_store(&o->magic, MAGIC_OBJECT);
  atomic_fetch_add(&isa->live, 1);
  return o;
}

id object_new(const char *name) { return object_make(class_named(name)); }

id retain(id o) {
  if (!o) return o;
  check_live(o, "what is retained");
  atomic_fetch_add(&o->refs, 1);
  return o;
}

/* The last objects that died, oldest first: memory that is not used again yet. */
enum { GRAVES = 1 << 14 };
static id graves[GRAVES];
static size_t next_grave;
static pthread_mutex_t grave_lock = PTHREAD_MUTEX_INITIALIZER;

static void quarantine(id o) {
  pthread_mutex_lock(&grave_lock);
  id oldest = graves[next_grave % GRAVES];
  graves[next_grave++ % GRAVES] = o;
  pthread_mutex_unlock(&grave_lock);
  if (!oldest) return;
  oldest->magic = 0;
  free(oldest);
}

static void die(id o) {
  if (o->flags & OBJECT_SINGLETON) misuse("%s belongs to Metal and is released more often than retained", class_title(o));
  for (class_ *c = o->isa; c; c = class_super(c))
    if (c->dealloc) c->dealloc(o);
  atomic_fetch_sub(&o->isa->live, 1);
  atomic_store(&o->magic, MAGIC_ZOMBIE);
  memset(o + 1, 0xdd, o->isa->size - sizeof *o);
  quarantine(o);
}

void release(id o) {
  if (!o || is_class(o)) return;
  check_live(o, "what is released");
  if (atomic_fetch_sub(&o->refs, 1) == 1) die(o);
}

void enter(id o) {
  if (atomic_fetch_or(&o->flags, OBJECT_BUSY) & OBJECT_BUSY)
    misuse("another thread is using this %s at the same time", class_title(o));
}

void leave(id o) { atomic_fetch_and(&o->flags, ~(uint32_t)OBJECT_BUSY); }

/* ---- Leaks. */

int64_t live_of_class(const char *text) {
  class_ *c = class_named(text);
  return c ? atomic_load(&c->live) : -1;
}

int64_t fakemetal_leaks(bool print) {
  int64_t total = 0;
  for (class_ *c = classes; c; c = c->next) {
    int64_t n = atomic_load(&c->live) - atomic_load(&c->singletons);
    total += n;
    if (print && n != 0) fprintf(stderr, "fakemetal: %lld live objects of class %s\n", (long long)n, c->name);
  }
  return total;
}

void object_keep_for_ever(id o) {
  atomic_fetch_or(&o->flags, OBJECT_SINGLETON);
  atomic_fetch_add(&o->isa->singletons, 1);
}

__attribute__((destructor)) static void report(void) {
  const char *wanted = getenv("FAKEMETAL_LEAKS");
  if (wanted && strcmp(wanted, "1") == 0) fprintf(stderr, "fakemetal: %lld objects leaked\n", (long long)fakemetal_leaks(true));
}

/* ---- libobjc's functions. */

FAKEMETAL_API class_ *objc_lookUpClass(const char *text) {
  class_ *c = text ? class_named(text) : NULL;
  return c && c->available ? c : NULL;
}

FAKEMETAL_API class_ *objc_getClass(const char *text) { return objc_lookUpClass(text); }
FAKEMETAL_API SEL sel_registerName(const char *text) { return selector(text); }
FAKEMETAL_API const char *sel_getName(SEL sel) { return sel ? sel : "<null selector>"; }
FAKEMETAL_API class_ *object_getClass(id o) { return !o ? NULL : is_class(o) ? (class_ *)o : o->isa; }
FAKEMETAL_API const char *object_getClassName(id o) { return class_title(o); }
FAKEMETAL_API const char *class_getName(class_ *c) { return c ? c->name : "nil"; }

static entry *available_method(class_ *c, SEL sel, bool of_class) {
  entry *e = c && sel ? class_method(c, selector(sel), of_class) : NULL;
  return e && e->available ? e : NULL;
}

FAKEMETAL_API entry *class_getInstanceMethod(class_ *c, SEL sel) { return available_method(c, sel, false); }
FAKEMETAL_API entry *class_getClassMethod(class_ *c, SEL sel) { return available_method(c, sel, true); }
FAKEMETAL_API const char *method_getTypeEncoding(entry *e) { return e ? e->row->encoding : NULL; }
FAKEMETAL_API signed char class_respondsToSelector(class_ *c, SEL sel) { return class_getInstanceMethod(c, sel) != NULL; }

FAKEMETAL_API id objc_retain(id o) {
  doing("objc_retain");
  return retain(o);
}

FAKEMETAL_API void objc_release(id o) {
  doing("objc_release");
  release(o);
}

FAKEMETAL_API id objc_autorelease(id o) {
  doing("objc_autorelease");
  return autorelease(o);
}
