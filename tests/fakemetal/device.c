/*
 * device.c - MTLDevice: what a GPU is and has. Which GPU it is, and its limits, are data: limits.h.
 */
#include <stdatomic.h>
#include <stdio.h>

#include "limits.h"
#include "metal_internal.h"

/* ---- What all classes of Metal share. */

void replace(id *field, id value) {
  retain(value);
  release(*field);
  *field = value;
}

id labelled_label(id self) { return ((labelled *)self)->label; }
void labelled_set_label(id self, SEL cmd, id label) { (void)cmd, replace(&((labelled *)self)->label, label); }
id any_device(id self) { return (void)self, metal_device(); }

static void labelled_dealloc(id self) { release(((labelled *)self)->label); }

/* ---- Memory. */

static _Atomic uint64_t taken;

uint64_t device_taken(void) { return atomic_load(&taken); }
uint64_t max_buffer_length(void) { return limit_buffer(machine_memory()); }

static uint64_t pages(uint64_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

bool device_take(uint64_t bytes) {
  uint64_t before = atomic_fetch_add(&taken, pages(bytes));
  if (before + pages(bytes) <= machine_memory()) return true;
  atomic_fetch_sub(&taken, pages(bytes));
  return false;
}

void device_give(uint64_t bytes) { atomic_fetch_sub(&taken, pages(bytes)); }

/* ---- MTLDevice. */

static id the_device, the_architecture;
id metal_device(void) { return the_device; }

static id device_name(id self) {
  char text[64];
  (void)self;
  snprintf(text, sizeof text, "fakemetal (%s)", gpu()->name);
  return string_of(text);
}
static uint64_t device_registry_id(id self) { return (void)self, UINT64_C(0x1000003ab); }
static id device_architecture(id self) { return (void)self, the_architecture; }

static id architecture_name(id self) { return (void)self, string_of(gpu()->architecture); }
static BOOL device_supports(id self, SEL cmd, int64_t family) { return (void)self, (void)cmd, limit_family(family); }

static BOOL yes(id self) { return (void)self, true; }
static BOOL no(id self) { return (void)self, false; }
static uint64_t device_working_set(id self) { return (void)self, limit_working_set(machine_memory()); }
static uint64_t device_max_buffer(id self) { return (void)self, max_buffer_length(); }
static uint64_t device_allocated(id self) { return (void)self, device_taken(); }
static uint64_t device_max_threadgroup_memory(id self) { return (void)self, gpu()->group_bytes; }

static size3 device_max_threads(id self) {
  const uint64_t n = gpu()->group_threads;
  return (void)self, (size3){n, n, n};
}

static const method device_methods[] = {
    INSTANCE("name", device_name),
    INSTANCE("registryID", device_registry_id),
    INSTANCE("architecture", device_architecture),
    INSTANCE("supportsFamily:", device_supports),
    INSTANCE("hasUnifiedMemory", yes),
    INSTANCE("isHeadless", no),
    INSTANCE("isLowPower", no),
    INSTANCE("isRemovable", no),
    INSTANCE("recommendedMaxWorkingSetSize", device_working_set),
    INSTANCE("maxBufferLength", device_max_buffer),
    INSTANCE("currentAllocatedSize", device_allocated),
    INSTANCE("maxThreadsPerThreadgroup", device_max_threads),
    INSTANCE("maxThreadgroupMemoryLength", device_max_threadgroup_memory),
    INSTANCE("newCommandQueue", device_new_queue),
    INSTANCE("newCommandQueueWithMaxCommandBufferCount:", device_new_queue_of),
    INSTANCE("newHeapWithDescriptor:", device_new_heap),
    INSTANCE("heapBufferSizeAndAlignWithLength:options:", device_heap_buffer_size),
    INSTANCE("newBufferWithLength:options:", device_new_buffer),
    INSTANCE("newBufferWithBytes:length:options:", device_new_buffer_bytes),
    INSTANCE("newBufferWithBytesNoCopy:length:options:deallocator:", device_new_buffer_no_copy),
    INSTANCE("newEvent", device_new_event),
    INSTANCE("newSharedEvent", device_new_shared_event),
    INSTANCE("newFence", device_new_fence),
    INSTANCE("newLibraryWithSource:options:error:", device_new_library_source),
    INSTANCE("newLibraryWithURL:error:", device_new_library_url),
    INSTANCE("newComputePipelineStateWithFunction:error:", device_new_pipeline),
    INSTANCE("newComputePipelineStateWithFunction:options:reflection:error:", device_new_pipeline_reflected),
};

static const method architecture_methods[] = {INSTANCE("name", architecture_name)};

/* Objects of these classes are made when the first of them is looked up. */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_device(void) {
  gpu(); /* ends the process where there is none such */
  the_architecture = object_new("FakeArchitecture");
  the_device = object_new("FakeDevice");
  object_keep_for_ever(the_architecture);
  object_keep_for_ever(the_device);
}

FAKEMETAL_API id MTLCreateSystemDefaultDevice(void) {
  doing("MTLCreateSystemDefaultDevice");
  pthread_once(&once, make_device);
  return retain(the_device);
}

FAKEMETAL_API id MTLCopyAllDevices(void) {
  doing("MTLCopyAllDevices");
  pthread_once(&once, make_device);
  return array_new(&the_device, 1);
}

__attribute__((constructor)) static void define(void) {
  static const class_def definitions[] = {
      {"FakeLabelled", "NSObject", NULL, sizeof(labelled), labelled_dealloc, NULL, 0},
      {"FakeArchitecture", "NSObject", "MTLArchitecture", sizeof(object), NULL, METHODS(architecture_methods)},
      {"FakeDevice", "NSObject", "MTLDevice", sizeof(object), NULL, METHODS(device_methods)},
  };
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) class_define(&definitions[i]);
}
