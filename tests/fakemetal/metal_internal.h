/*
 * metal_internal.h - what the files that stand for Metal share among themselves.
 */
#ifndef FAKEMETAL_METAL_INTERNAL_H
#define FAKEMETAL_METAL_INTERNAL_H

#include <pthread.h>

#include "class.h"
#include "metal.h"

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
enum { PAGE = 16384, HEAP_ALIGN = 256, MAX_THREADS = 1024, MAX_THREADGROUP_MEMORY = 32768, MAX_BYTES = 4096 };

/* The most that one buffer may have. */
uint64_t max_buffer_length(void);

/* Counts memory of the device; false where there is not so much. */
bool device_take(uint64_t bytes);
void device_give(uint64_t bytes);
uint64_t device_taken(void);

/* ---- memory.c */

/* Who used memory last, for resources whose hazards nobody tracks. Passes are numbered in the order in
 * which they were begun, on all queues. */
typedef struct {
  bool untracked;
  uint64_t writer, reader; /* passes; 0: none that could still run */
} hazard;

id device_new_heap(id self, SEL cmd, id descriptor);
size_align device_heap_buffer_size(id self, SEL cmd, uint64_t length, uint64_t options);
id device_new_buffer(id self, SEL cmd, uint64_t length, uint64_t options);
id device_new_buffer_bytes(id self, SEL cmd, const void *bytes, uint64_t length, uint64_t options);
id device_new_buffer_no_copy(id self, SEL cmd, void *bytes, uint64_t length, uint64_t options, id deallocator);

/* Notes a use by a pass that comes after all passes up to covered; misuse where the order is open. */
void buffer_hazard(id buffer, bool writes, uint64_t pass, uint64_t covered);
/* Forgets the passes from first to last: they are over. */
void buffer_settle(id buffer, uint64_t first, uint64_t last);

/* ---- queue.c */

id device_new_queue(id self);
id device_new_queue_of(id self, SEL cmd, uint64_t most);

/* A new pass of a command buffer, and the passes that it comes after. */
uint64_t command_buffer_begin_pass(id command_buffer, uint64_t *covered);
void command_buffer_cover(id command_buffer, uint64_t pass); /* what follows comes after the pass */
void command_buffer_set_encoder(id command_buffer, id encoder); /* NULL: it is closed */

/* The error that a run which fails is to end with, from within it. */
void command_buffer_error_code(int64_t code);

/* As command_buffer_encode, for work of an encoder; an event's runs even if the command buffer fails. */
void command_buffer_append(id command_buffer, char *(*run)(void *), void (*drop)(void *), void *context, bool event);

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
void event_mark(id event, uint64_t pass); /* its next signal comes after the pass */
uint64_t event_pass(id event);
/* Waits; false when the time, in seconds, is over. */
bool event_wait(id event, uint64_t value, double seconds);
void event_signal(id event, uint64_t value);

/* ---- library.c */

id device_new_library_source(id self, SEL cmd, id source, id options, id *error);
id device_new_library_url(id self, SEL cmd, id url, id *error);
id device_new_pipeline(id self, SEL cmd, id function, id *error);
id device_new_pipeline_reflected(id self, SEL cmd, id function, uint64_t options, id *reflection, id *error);
struct shader_function;
const struct shader_function *pipeline_function(id pipeline);


#endif
