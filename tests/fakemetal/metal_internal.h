/*
 * metal_internal.h - what the files that stand for Metal share among themselves.
 */
#ifndef FAKEMETAL_METAL_INTERNAL_H
#define FAKEMETAL_METAL_INTERNAL_H

#include <pthread.h>

#include "class.h"
#include "metal.h"
#include "order.h"
#include "shader.h"

typedef struct {
  uint64_t width, height, depth;
} size3; /* MTLSize */

typedef struct {
  uint64_t size, align;
} size_align; /* MTLSizeAndAlign */

typedef struct {
  uint64_t location, length;
} range; /* NSRange */

/* Fields of MTLResourceOptions. */
enum { STORAGE_SHARED = 0, STORAGE_MANAGED = 1, STORAGE_PRIVATE = 2, STORAGE_MEMORYLESS = 3 };
enum { TRACKING_DEFAULT = 0, TRACKING_UNTRACKED = 1, TRACKING_TRACKED = 2 };
static inline int storage_of(uint64_t options) { return (int)(options >> 4 & 15); }
static inline int tracking_of(uint64_t options) { return (int)(options >> 8 & 3); }

/* What most objects of Metal begin with. */
typedef struct {
  object head;
  id label;
} labelled;

id labelled_label(id self);
void labelled_set_label(id self, SEL cmd, id label);
id any_device(id self);
#define LABELLED INSTANCE("label", labelled_label), INSTANCE("setLabel:", labelled_set_label)
#define OF_DEVICE INSTANCE("device", any_device)

/* Defines getter and setter of a field that is a number: type_field and type_set_field. */
#define ACCESSORS(type, number, field)                                                               \
  static number type##_##field(id self) { return ((type *)self)->field; }                            \
  static void type##_set_##field(id self, SEL cmd, number value) { (void)cmd, ((type *)self)->field = value; }

/* Sets a field that holds an object. */
void replace(id *field, id value);

/* Bytes of a page of an Apple GPU's memory. */
enum { PAGE = 16384, MAX_THREADS = 1024, MAX_THREADGROUP_MEMORY = 32768, MAX_BYTES = 4096 };

/* The most that one buffer may have. */
uint64_t max_buffer_length(void);

/* Bytes of the device that are taken. */
uint64_t device_taken(void);

/* ---- memory.c */

id device_new_heap(id self, SEL cmd, id descriptor);
size_align device_heap_buffer_size(id self, SEL cmd, uint64_t length, uint64_t options);
id device_new_buffer(id self, SEL cmd, uint64_t length, uint64_t options);
id device_new_buffer_bytes(id self, SEL cmd, const void *bytes, uint64_t length, uint64_t options);
id device_new_buffer_no_copy(id self, SEL cmd, void *bytes, uint64_t length, uint64_t options, id deallocator);

/* The record of who uses a buffer: its heap's, as one resource, where it lies in one. */
hazard *buffer_hazard(id buffer);

/* Memory of a buffer or heap that kernels may follow addresses into. A heap is only read. */
shader_resident resource_resident(id resource, bool writable);

/* ---- queue.c */

id device_new_queue(id self);
id device_new_queue_of(id self, SEL cmd, uint64_t most);

/* A pass of a command buffer while it runs: an encoder's work, or a graph. */
typedef struct {
  pass self;
  pass_set after;
} work;

/* On the thread that runs the command buffer: begin comes before the work, end behind it. */
void work_begin(work *w);
void work_end(work *w);
void work_use(const work *w, hazard *h, uintptr_t low, uintptr_t high, bool writes);

/* Waits of a pass for a fence: NULL, or what went wrong. update: all that the pass has done so far. */
char *work_await(work *w, id fence, uint64_t update);
void work_update(const work *w, id fence, uint64_t update);

/* Says that a command buffer is going to use a buffer: keeps it, and orders it where it is tracked. */
void command_buffer_touch(id command_buffer, id buffer, bool writes);

void command_buffer_set_encoder(id command_buffer, id encoder); /* NULL: it is closed */

/* As command_buffer_encode, for work of an encoder. ALWAYS runs even if the command buffer has failed, SIGNAL if that
 * is not to be silent. commit is called at the commit, if it is not NULL. */
typedef enum { WORK, ALWAYS, SIGNAL } operation_kind;
void command_buffer_append(id command_buffer, char *(*run)(void *), void (*drop)(void *), void *context, operation_kind kind, void (*commit)(void *));

/* Ends the process unless commands can still be added. */
void command_buffer_check_open(id command_buffer);

/* ---- encoder.c */

id command_buffer_compute_encoder(id self);
id command_buffer_compute_encoder_of(id self, SEL cmd, uint64_t dispatch_type);
id command_buffer_blit_encoder(id self);

/* ---- event.c */

id device_new_event(id self);
id device_new_shared_event(id self);
id device_new_fence(id self);
/* Waits; false when the time, in seconds, is over. */
bool event_wait(id event, uint64_t value, double seconds);
void event_signal(id event, uint64_t value, const pass_set *before);
void event_after(id event, uint64_t value, pass_set *after); /* adds what comes before a value that has been reached */
void event_promise(id event, uint64_t value); /* a signal has been committed */
bool event_promised(id event, uint64_t value);
uint64_t fence_next(id fence); /* the number of an update, at its commit */
uint64_t fence_last(id fence); /* of the last one that is committed */

/* ---- library.c */

id device_new_library_source(id self, SEL cmd, id source, id options, id *error);
id device_new_library_url(id self, SEL cmd, id url, id *error);
id device_new_pipeline(id self, SEL cmd, id function, id *error);
id device_new_pipeline_reflected(id self, SEL cmd, id function, uint64_t options, id *reflection, id *error);
struct shader_function;
const struct shader_function *pipeline_function(id pipeline);
uint64_t pipeline_max_threads(id pipeline); /* of a threadgroup */


#endif
