/*
 * capture.c - MTLCaptureManager, MTLCaptureDescriptor, MTLCaptureScope: the switch, without anything
 * being captured. A trace document is a file that says so. As on a Mac, a process may write one only
 * with MTL_CAPTURE_ENABLED=1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metal_internal.h"

enum { TO_DEVELOPER_TOOLS = 1, TO_DOCUMENT = 2 };
enum { NOT_SUPPORTED = 1, ALREADY_CAPTURING = 2, INVALID_DESCRIPTOR = 3 };

typedef struct {
  object head;
  int64_t destination;
  id object, url;
} capture_descriptor;

typedef struct {
  object head;
  id default_scope;
  bool capturing;
  pthread_mutex_t lock;
} capture_manager;

typedef struct {
  labelled head;
  id queue; /* NULL: all of the device's */
} capture_scope;

ACCESSORS(capture_descriptor, int64_t, destination)

static id capture_descriptor_new(class_ *self) {
  id d = object_make(self);
  ((capture_descriptor *)d)->destination = TO_DEVELOPER_TOOLS;
  return d;
}

static void capture_descriptor_dealloc(id self) {
  release(((capture_descriptor *)self)->object);
  release(((capture_descriptor *)self)->url);
}

static id capture_descriptor_object(id self) { return ((capture_descriptor *)self)->object; }
static id capture_descriptor_url(id self) { return ((capture_descriptor *)self)->url; }
static void capture_descriptor_set_url(id self, SEL cmd, id url) { (void)cmd, replace(&((capture_descriptor *)self)->url, url); }

static void capture_descriptor_set_object(id self, SEL cmd, id captured) {
  (void)cmd;
  if (captured && !is_kind(captured, "MTLDevice") && !is_kind(captured, "MTLCommandQueue") && !is_kind(captured, "MTLCaptureScope"))
    misuse("an object of class %s; want a device, a command queue or a capture scope", class_title(captured));
  replace(&((capture_descriptor *)self)->object, captured);
}

static bool enabled(void) {
  const char *text = getenv("MTL_CAPTURE_ENABLED");
  return text && strcmp(text, "1") == 0;
}

static id the_manager;
static id manager_shared(class_ *self) { return (void)self, the_manager; }
static BOOL manager_supports(id self, SEL cmd, int64_t destination) { return (void)self, (void)cmd, destination == TO_DOCUMENT && enabled(); }

static BOOL manager_is_capturing(id self) {
  capture_manager *m = (capture_manager *)self;
  pthread_mutex_lock(&m->lock);
  bool capturing = m->capturing;
  pthread_mutex_unlock(&m->lock);
  return capturing;
}

/* refusal says why a capture cannot begin; 0 if it can. */
static int64_t refusal(const capture_manager *m, const capture_descriptor *d, const char **why) {
  if (m->capturing) return *why = "already capturing", ALREADY_CAPTURING;
  if (!d->object || (d->destination == TO_DOCUMENT && !d->url)) return *why = "the descriptor lacks an object or a URL", INVALID_DESCRIPTOR;
  if (d->destination != TO_DOCUMENT || !enabled()) return *why = "capturing is not enabled; set MTL_CAPTURE_ENABLED=1", NOT_SUPPORTED;
  FILE *document = fopen(url_path(d->url), "wx");
  if (!document) return *why = "the trace document cannot be written, or exists", INVALID_DESCRIPTOR;
  fputs("fakemetal captures nothing\n", document);
  fclose(document);
  return 0;
}

static BOOL manager_start(id self, SEL cmd, id descriptor, id *error) {
  (void)cmd;
  capture_manager *m = (capture_manager *)self;
  const char *why = "";
  pthread_mutex_lock(&m->lock);
  int64_t code = refusal(m, (const capture_descriptor *)descriptor, &why);
  m->capturing |= code == 0;
  pthread_mutex_unlock(&m->lock);
  if (code != 0) error_out(error, "MTLCaptureError", code, why);
  return code == 0;
}

static void manager_stop(id self) {
  capture_manager *m = (capture_manager *)self;
  pthread_mutex_lock(&m->lock);
  if (!m->capturing) misuse("nothing is being captured");
  m->capturing = false;
  pthread_mutex_unlock(&m->lock);
}

static id scope_new(id queue) {
  capture_scope *s = (capture_scope *)object_new("FakeCaptureScope");
  s->queue = retain(queue);
  return &s->head.head;
}

static id manager_scope_of_queue(id self, SEL cmd, id queue) { return (void)self, (void)cmd, scope_new(queue); }
static id manager_scope_of_device(id self, SEL cmd, id device) { return (void)self, (void)cmd, (void)device, scope_new(NULL); }
static id manager_default_scope(id self) { return ((capture_manager *)self)->default_scope; }
static void manager_set_default_scope(id self, SEL cmd, id scope) { (void)cmd, replace(&((capture_manager *)self)->default_scope, scope); }
static void scope_dealloc(id self) { release(((capture_scope *)self)->queue); }
static id scope_queue(id self) { return ((capture_scope *)self)->queue; }
static void scope_mark(id self) { (void)self; }

static const method descriptor_methods[] = {
    CLASS("new", capture_descriptor_new),
    CLASS("alloc", capture_descriptor_new),
    INSTANCE("destination", capture_descriptor_destination),
    INSTANCE("setDestination:", capture_descriptor_set_destination),
    INSTANCE("captureObject", capture_descriptor_object),
    INSTANCE("setCaptureObject:", capture_descriptor_set_object),
    INSTANCE("outputURL", capture_descriptor_url),
    INSTANCE("setOutputURL:", capture_descriptor_set_url),
};

static const method manager_methods[] = {
    CLASS("sharedCaptureManager", manager_shared),
    INSTANCE("supportsDestination:", manager_supports),
    INSTANCE("isCapturing", manager_is_capturing),
    INSTANCE("startCaptureWithDescriptor:error:", manager_start),
    INSTANCE("stopCapture", manager_stop),
    INSTANCE("newCaptureScopeWithCommandQueue:", manager_scope_of_queue),
    INSTANCE("newCaptureScopeWithDevice:", manager_scope_of_device),
    INSTANCE("defaultCaptureScope", manager_default_scope),
    INSTANCE("setDefaultCaptureScope:", manager_set_default_scope),
};

static const method scope_methods[] = {
    LABELLED,
    OF_DEVICE,
    INSTANCE("commandQueue", scope_queue),
    INSTANCE("beginScope", scope_mark),
    INSTANCE("endScope", scope_mark),
};

__attribute__((constructor)) static void define(void) {
  static const class_def definitions[] = {
      {"MTLCaptureDescriptor", "NSObject", NULL, sizeof(capture_descriptor), capture_descriptor_dealloc, METHODS(descriptor_methods)},
      {"MTLCaptureManager", "NSObject", NULL, sizeof(capture_manager), NULL, METHODS(manager_methods)},
      {"FakeCaptureScope", "FakeLabelled", "MTLCaptureScope", sizeof(capture_scope), scope_dealloc, METHODS(scope_methods)},
  };
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) class_define(&definitions[i]);
  the_manager = object_new("MTLCaptureManager");
  pthread_mutex_init(&((capture_manager *)the_manager)->lock, NULL);
  object_keep_for_ever(the_manager);
}
