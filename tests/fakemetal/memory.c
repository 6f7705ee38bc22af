/*
 * memory.c - MTLHeap and MTLBuffer.
 *
 * Memory is mapped, so that buffers begin at a page as Metal's do. In a placement heap buffers are
 * windows that may overlap; one of an automatic heap has memory of its own, dirty, since Metal promises
 * nothing about what is in it. With FAKEMETAL_ADDRESSES=1 the memory of placement heaps is mapped twice, so that gpuAddress
 * is another address than contents, as on a GPU; memory of another owner has one address.
 * Source: the pages of MTLHeap, MTLHeapDescriptor, MTLBuffer, MTLResource.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "defect.h"
#include "harsh.h"
#include "limits.h"
#include "metal_internal.h"

enum { HEAP_AUTOMATIC = 0, HEAP_PLACEMENT = 1 };
enum { DIRT = 0xa5 };

typedef struct {
  object head;
  uint64_t size, storageMode, hazardTrackingMode, cpuCacheMode;
  int64_t type;
} heap_descriptor;

typedef struct {
  labelled head;
  char *bytes; /* of a placement heap */
  char *seen;  /* the same memory as the GPU sees it: another mapping once gpuAddress was asked for */
  int file;    /* that is mapped; -1: none */
  uint64_t size, used, options;
  int64_t type;
  hazard use;
  pthread_mutex_t lock; /* of used */
} heap;

typedef struct {
  labelled head;
  heap *heap;
  char *bytes;
  uint64_t length, options, offset;
  bool mapped; /* the bytes are its own */
  hazard use;
} buffer;

static char *map(uint64_t size) {
  char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return bytes == MAP_FAILED ? NULL : bytes;
}

#if defined(__linux__)
/* shared_file is memory that can be mapped more than once; -1 unless GPU addresses are to be unlike those of the CPU. */
static int shared_file(uint64_t size) {
  const char *text = getenv("FAKEMETAL_ADDRESSES");
  if (!text || strcmp(text, "1") != 0) return -1;
  int file = memfd_create("fakemetal", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, (off_t)size) == 0) return file;
  if (file >= 0) close(file);
  return -1;
}
#else
static int shared_file(uint64_t size) { return (void)size, -1; }
#endif

static char *map_file(int file, uint64_t size) {
  char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  return bytes == MAP_FAILED ? NULL : bytes;
}

/* ---- MTLHeapDescriptor. */

ACCESSORS(heap_descriptor, uint64_t, size)
ACCESSORS(heap_descriptor, uint64_t, storageMode)
ACCESSORS(heap_descriptor, uint64_t, hazardTrackingMode)
ACCESSORS(heap_descriptor, uint64_t, cpuCacheMode)
ACCESSORS(heap_descriptor, int64_t, type)

static id heap_descriptor_new(class_ *self) {
  heap_descriptor *d = (heap_descriptor *)object_make(self);
  d->storageMode = STORAGE_PRIVATE;
  return &d->head;
}

static uint64_t options_of(const heap_descriptor *d) {
  uint64_t tracking = d->hazardTrackingMode == TRACKING_DEFAULT ? TRACKING_UNTRACKED : d->hazardTrackingMode;
  return d->cpuCacheMode | d->storageMode << 4 | tracking << 8;
}

static const method heap_descriptor_methods[] = {
    CLASS("new", heap_descriptor_new),
    CLASS("alloc", heap_descriptor_new),
    INSTANCE("size", heap_descriptor_size),
    INSTANCE("setSize:", heap_descriptor_set_size),
    INSTANCE("storageMode", heap_descriptor_storageMode),
    INSTANCE("setStorageMode:", heap_descriptor_set_storageMode),
    INSTANCE("hazardTrackingMode", heap_descriptor_hazardTrackingMode),
    INSTANCE("setHazardTrackingMode:", heap_descriptor_set_hazardTrackingMode),
    INSTANCE("cpuCacheMode", heap_descriptor_cpuCacheMode),
    INSTANCE("setCpuCacheMode:", heap_descriptor_set_cpuCacheMode),
    INSTANCE("type", heap_descriptor_type),
    INSTANCE("setType:", heap_descriptor_set_type),
};

/* ---- MTLHeap. */

id device_new_heap(id self, SEL cmd, id descriptor) {
  (void)self, (void)cmd;
  const heap_descriptor *d = (const heap_descriptor *)descriptor;
  if (d->size == 0) misuse("the descriptor's size is 0");
  if (d->type != HEAP_AUTOMATIC && d->type != HEAP_PLACEMENT) misuse("heap type %lld", (long long)d->type);
  if (d->storageMode != STORAGE_SHARED && d->storageMode != STORAGE_PRIVATE)
    misuse("heaps of an Apple GPU are shared or private; storage mode is %llu", (unsigned long long)d->storageMode);
  if (fails(FAIL_HEAP) || d->size > machine_memory() || !device_take(d->size)) return NULL;
  heap *h = (heap *)object_new("FakeHeap");
  h->size = d->size, h->type = d->type, h->options = options_of(d);
  h->use.untracked = tracking_of(h->options) == TRACKING_UNTRACKED;
  pthread_mutex_init(&h->lock, NULL);
  h->file = h->type == HEAP_PLACEMENT ? shared_file(h->size) : -1;
  if (h->type == HEAP_PLACEMENT) h->seen = h->bytes = h->file < 0 ? map(h->size) : map_file(h->file, h->size);
  if (h->bytes && worst_case()) memset(h->bytes, DIRT, h->size < (64 << 20) ? h->size : (64 << 20));
  count(COUNT_HEAPS, 1);
  return &h->head.head;
}

static void heap_dealloc(id self) {
  heap *h = (heap *)self;
  hazard_close(&h->use);
  pthread_mutex_destroy(&h->lock);
  if (planted(HEAP_LEAK)) return;
  if (h->seen && h->seen != h->bytes) munmap(h->seen, h->size);
  if (h->bytes) munmap(h->bytes, h->size);
  if (h->file >= 0) close(h->file);
  device_give(h->size);
}

size_align device_heap_buffer_size(id self, SEL cmd, uint64_t length, uint64_t options) {
  (void)self, (void)cmd, (void)options;
  if (length == 0) misuse("length is 0");
  return (size_align){limit_heap_size(length), limit_heap_align(length)};
}

/* heap_seen is a placement heap's memory as the GPU sees it. */
static char *heap_seen(heap *h) {
  pthread_mutex_lock(&h->lock);
  if (h->file >= 0 && h->seen == h->bytes) {
    char *again = map_file(h->file, h->size);
    if (again) h->seen = again;
  }
  pthread_mutex_unlock(&h->lock);
  return h->seen;
}

static uint64_t heap_size(id self) { return ((heap *)self)->size; }
static int64_t heap_type(id self) { return ((heap *)self)->type; }
static uint64_t heap_storage(id self) { return (uint64_t)storage_of(((heap *)self)->options); }
static uint64_t heap_tracking(id self) { return (uint64_t)tracking_of(((heap *)self)->options); }
static uint64_t heap_options(id self) { return ((heap *)self)->options; }
static uint64_t heap_used(id self) { return ((heap *)self)->used; }

static uint64_t heap_available(id self, SEL cmd, uint64_t align) {
  (void)cmd;
  heap *h = (heap *)self;
  if (h->type == HEAP_PLACEMENT) misuse("the heap is of type placement");
  return (h->size - h->used) / (align ? align : 1) * (align ? align : 1);
}

/* heap_buffer makes a buffer after the checks that both kinds of heap have in common. */
static buffer *heap_buffer(heap *h, uint64_t length, uint64_t options) {
  if (length == 0) misuse("length is 0");
  if (storage_of(options) != storage_of(h->options))
    misuse("storage mode %d in a heap of storage mode %d", storage_of(options), storage_of(h->options));
  if (tracking_of(options) != TRACKING_DEFAULT && tracking_of(options) != tracking_of(h->options))
    misuse("hazard tracking mode %d in a heap of mode %d", tracking_of(options), tracking_of(h->options));
  if (fails(FAIL_BUFFER)) return NULL;
  buffer *b = (buffer *)object_new("FakeBuffer");
  b->length = length, b->options = h->options;
  b->heap = (heap *)retain(&h->head.head);
  count(COUNT_BUFFERS, 1);
  return b;
}

static bool heap_reserve(heap *h, uint64_t size) {
  pthread_mutex_lock(&h->lock);
  bool fits = h->used + size <= h->size;
  if (fits) h->used += size;
  pthread_mutex_unlock(&h->lock);
  return fits;
}

static id heap_new_buffer(id self, SEL cmd, uint64_t length, uint64_t options) {
  heap *h = (heap *)self;
  if (h->type != HEAP_AUTOMATIC) misuse("the heap is of type placement; say an offset");
  uint64_t size = length ? device_heap_buffer_size(self, cmd, length, options).size : 0;
  if (size > h->size || !heap_reserve(h, size)) return NULL;
  buffer *b = heap_buffer(h, length, options);
  if (!b) return h->used -= size, NULL;
  b->bytes = map(length), b->mapped = true;
  memset(b->bytes, DIRT, length < PAGE ? length : PAGE);
  return &b->head.head;
}

static id heap_new_buffer_at(id self, SEL cmd, uint64_t length, uint64_t options, uint64_t offset) {
  heap *h = (heap *)self;
  if (h->type != HEAP_PLACEMENT) misuse("the heap is of type automatic and takes no offset");
  size_align need = length ? device_heap_buffer_size(self, cmd, length, options) : (size_align){0, 1};
  uint64_t size = need.size;
  if (offset % need.align != 0)
    misuse("offset %llu is no multiple of %llu, as heapBufferSizeAndAlignWithLength:options: demands", (unsigned long long)offset, (unsigned long long)need.align);
  if (offset > h->size || size > h->size - offset)
    misuse("offset %llu and size %llu leave the heap of %llu bytes", (unsigned long long)offset, (unsigned long long)size, (unsigned long long)h->size);
  buffer *b = heap_buffer(h, length, options);
  if (!b) return NULL;
  b->bytes = h->bytes + (planted(ALIAS_OFFSET) ? offset / PAGE * PAGE : offset), b->offset = offset;
  pthread_mutex_lock(&h->lock);
  h->used += size; /* windows that overlap are counted more than once, as Metal does */
  pthread_mutex_unlock(&h->lock);
  return &b->head.head;
}

static uint64_t purgeable(id self, SEL cmd, uint64_t state) {
  (void)self, (void)cmd, (void)state;
  enum { NON_VOLATILE = 2 };
  return NON_VOLATILE;
}

static const method heap_methods[] = {
    LABELLED,
    OF_DEVICE,
    INSTANCE("size", heap_size),
    INSTANCE("type", heap_type),
    INSTANCE("storageMode", heap_storage),
    INSTANCE("hazardTrackingMode", heap_tracking),
    INSTANCE("resourceOptions", heap_options),
    INSTANCE("usedSize", heap_used),
    INSTANCE("currentAllocatedSize", heap_size),
    INSTANCE("maxAvailableSizeWithAlignment:", heap_available),
    INSTANCE("newBufferWithLength:options:", heap_new_buffer),
    INSTANCE("newBufferWithLength:options:offset:", heap_new_buffer_at),
    INSTANCE("setPurgeableState:", purgeable),
};

/* ---- MTLBuffer. */

/* owned makes a buffer of the device's, over bytes or over memory of its own. NULL where it fails. */
static buffer *owned(void *bytes, uint64_t length, uint64_t options) {
  if (length == 0) misuse("length is 0");
  if (storage_of(options) == STORAGE_MEMORYLESS) misuse("buffers cannot be memoryless");
  if (fails(FAIL_BUFFER) || length > max_buffer_length() || !device_take(length)) return NULL;
  char *memory = bytes ? bytes : map(length);
  if (!memory) return device_give(length), NULL;
  buffer *b = (buffer *)object_new("FakeBuffer");
  b->bytes = memory, b->mapped = !bytes, b->length = length;
  b->options = tracking_of(options) == TRACKING_DEFAULT ? options | TRACKING_TRACKED << 8 : options;
  b->use.untracked = tracking_of(b->options) == TRACKING_UNTRACKED;
  count(COUNT_BUFFERS, 1);
  return b;
}

id device_new_buffer(id self, SEL cmd, uint64_t length, uint64_t options) {
  (void)self, (void)cmd;
  return (id)owned(NULL, length, options);
}

id buffer_new(size_t length) { return (id)owned(NULL, length, 0); }

id device_new_buffer_bytes(id self, SEL cmd, const void *bytes, uint64_t length, uint64_t options) {
  (void)self, (void)cmd;
  if (!bytes) misuse("bytes are NULL");
  if (storage_of(options) == STORAGE_PRIVATE) misuse("private buffers cannot be made of bytes");
  buffer *b = owned(NULL, length, options);
  if (!b) return NULL;
  memcpy(b->bytes, bytes, length);
  count(COUNT_COPIED_BYTES, (int64_t)length);
  return &b->head.head;
}

/* writable says whether no page may only be read, by the system's list of mappings; true where there is none. */
static bool writable(const char *bytes, uint64_t length) {
  unsigned long low, high, start = (unsigned long)bytes;
  char line[512], may[5];
  bool all = true;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps))
    if (sscanf(line, "%lx-%lx %4s", &low, &high, may) == 3 && low < start + length && start < high && may[1] != 'w') all = false;
  if (maps) fclose(maps);
  return all;
}

id device_new_buffer_no_copy(id self, SEL cmd, void *bytes, uint64_t length, uint64_t options, id deallocator) {
  (void)self, (void)cmd, (void)deallocator;
  if (!bytes) misuse("bytes are NULL");
  if (storage_of(options) == STORAGE_PRIVATE) misuse("private buffers cannot be made of bytes");
  if ((uintptr_t)bytes % PAGE != 0 || length % PAGE != 0) return NULL;
  if (harsh(READONLY_PAGES) && !writable(bytes, length)) return NULL;
  return (id)owned(bytes, length, options);
}

static void buffer_dealloc(id self) {
  buffer *b = (buffer *)self;
  hazard_close(&b->use);
  if (b->mapped) munmap(b->bytes, b->length);
  if (!b->heap) return device_give(b->length);
  pthread_mutex_lock(&b->heap->lock);
  b->heap->used -= limit_heap_size(b->length);
  pthread_mutex_unlock(&b->heap->lock);
  release(&b->heap->head.head);
}

void *buffer_bytes(id self) { return ((buffer *)self)->bytes; }
size_t buffer_length(id self) { return ((buffer *)self)->length; }

static void *buffer_contents(id self) {
  buffer *b = (buffer *)self;
  return storage_of(b->options) == STORAGE_PRIVATE ? NULL : b->bytes;
}

static void buffer_modified(id self, SEL cmd, range r) {
  (void)cmd;
  buffer *b = (buffer *)self;
  if (storage_of(b->options) != STORAGE_MANAGED) misuse("the buffer is not managed");
  if (r.location > b->length || r.length > b->length - r.location) misuse("the range leaves the buffer");
}

static uint64_t buffer_get_length(id self) { return ((buffer *)self)->length; }

/* buffer_seen is where the GPU sees a buffer. */
static char *buffer_seen(const buffer *b) {
  if (!b->heap || b->heap->type != HEAP_PLACEMENT) return b->bytes;
  return heap_seen(b->heap) + (b->bytes - b->heap->bytes);
}

static uint64_t buffer_address(id self) { return (uintptr_t)buffer_seen((buffer *)self); }
static uint64_t buffer_options(id self) { return ((buffer *)self)->options; }
static uint64_t buffer_storage(id self) { return (uint64_t)storage_of(((buffer *)self)->options); }
static uint64_t buffer_tracking(id self) { return (uint64_t)tracking_of(((buffer *)self)->options); }
static id buffer_heap(id self) { return (id)((buffer *)self)->heap; }
static uint64_t buffer_offset(id self) { return ((buffer *)self)->offset; }
static uint64_t buffer_allocated(id self) { return (((buffer *)self)->length + PAGE - 1) / PAGE * PAGE; }

static const method buffer_methods[] = {
    LABELLED,
    OF_DEVICE,
    INSTANCE("contents", buffer_contents),
    INSTANCE("length", buffer_get_length),
    INSTANCE("gpuAddress", buffer_address),
    INSTANCE("didModifyRange:", buffer_modified),
    INSTANCE("resourceOptions", buffer_options),
    INSTANCE("storageMode", buffer_storage),
    INSTANCE("hazardTrackingMode", buffer_tracking),
    INSTANCE("heap", buffer_heap),
    INSTANCE("heapOffset", buffer_offset),
    INSTANCE("allocatedSize", buffer_allocated),
    INSTANCE("setPurgeableState:", purgeable),
};

shader_resident resource_resident(id resource, bool writable) {
  if (is_kind(resource, "MTLHeap")) {
    heap *h = (heap *)resource;
    return (shader_resident){h->type == HEAP_PLACEMENT ? heap_seen(h) : NULL, h->type == HEAP_PLACEMENT ? h->size : 0, false};
  }
  const buffer *b = (buffer *)resource;
  return (shader_resident){buffer_seen(b), b->length, writable};
}

/* Resources of a heap are tracked as the heap is, all at once. */
hazard *buffer_hazard(id self) {
  buffer *b = (buffer *)self;
  return b->heap ? &b->heap->use : &b->use;
}

__attribute__((constructor)) static void define(void) {
  static const class_def definitions[] = {
      {"MTLHeapDescriptor", "NSObject", NULL, sizeof(heap_descriptor), NULL, METHODS(heap_descriptor_methods)},
      {"FakeHeap", "FakeLabelled", "MTLHeap", sizeof(heap), heap_dealloc, METHODS(heap_methods)},
      {"FakeBuffer", "FakeLabelled", "MTLBuffer", sizeof(buffer), buffer_dealloc, METHODS(buffer_methods)},
  };
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) class_define(&definitions[i]);
}
