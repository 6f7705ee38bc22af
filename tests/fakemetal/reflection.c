/*
 * reflection.c - MTLComputePipelineReflection and MTLBinding: what a kernel wants to be bound.
 *
 * Source: the pages of both, and of -[MTLDevice newComputePipelineStateWithFunction:options:reflection:
 * error:]. Every argument counts as used: the fake does not look into a kernel's body.
 */
#include "metal_internal.h"
#include "shader.h"

enum { TYPE_BUFFER = 0, TYPE_THREADGROUP = 1 }; /* MTLBindingType */
enum { READ_ONLY = 0, READ_WRITE = 1 };         /* MTLBindingAccess */
enum { BINDING_INFO = 1 };                      /* MTLPipelineOption */

typedef struct {
  object head;
  id bindings;
} reflection;

typedef struct {
  object head;
  id name;
  int64_t type;
  uint64_t access, index;
} binding;

static void add(id bindings, int64_t type, int index, bool writable, const char *name) {
  binding *b = (binding *)object_new("FakeBinding");
  b->name = string_new(name);
  b->type = type, b->index = (uint64_t)index, b->access = writable ? READ_WRITE : READ_ONLY;
  array_add(bindings, &b->head);
  release(&b->head);
}

static id reflect(const shader_function *f) {
  reflection *r = (reflection *)object_new("MTLComputePipelineReflection");
  r->bindings = object_new("NSMutableArray");
  for (int i = 0; i < SHADER_BUFFERS; i++) {
    bool writable = false;
    if (shader_buffer(f, i, &writable) == SHADER_BUFFER) add(r->bindings, TYPE_BUFFER, i, writable, shader_buffer_name(f, i));
    if (shader_wants_threadgroup(f, i)) add(r->bindings, TYPE_THREADGROUP, i, true, "");
  }
  return &r->head;
}

id device_new_pipeline_reflected(id self, SEL cmd, id function, uint64_t options, id *to, id *error) {
  id made = device_new_pipeline(self, cmd, function, error);
  if (made && to && (options & BINDING_INFO)) *to = autorelease(reflect(pipeline_function(made)));
  return made;
}

static void reflection_dealloc(id self) { release(((reflection *)self)->bindings); }
static id reflection_bindings(id self) { return ((reflection *)self)->bindings; }

static void binding_dealloc(id self) { release(((binding *)self)->name); }
static id binding_name(id self) { return ((binding *)self)->name; }
static int64_t binding_type(id self) { return ((binding *)self)->type; }
static uint64_t binding_access(id self) { return ((binding *)self)->access; }
static uint64_t binding_index(id self) { return ((binding *)self)->index; }
static BOOL binding_yes(id self) { return (void)self, true; }

static const method reflection_methods[] = {INSTANCE("bindings", reflection_bindings)};

static const method binding_methods[] = {
    INSTANCE("name", binding_name),
    INSTANCE("type", binding_type),
    INSTANCE("access", binding_access),
    INSTANCE("index", binding_index),
    INSTANCE("isUsed", binding_yes),
    INSTANCE("isArgument", binding_yes),
};

__attribute__((constructor)) static void define(void) {
  static const class_def definitions[] = {
      {"MTLComputePipelineReflection", "NSObject", NULL, sizeof(reflection), reflection_dealloc, METHODS(reflection_methods)},
      {"FakeBinding", "NSObject", "MTLBinding", sizeof(binding), binding_dealloc, METHODS(binding_methods)},
  };
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) class_define(&definitions[i]);
}
