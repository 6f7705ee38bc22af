/*
 * metal.c - tests of the classes that stand for Metal: that work is done, in what order and when; and
 * what each misuse is answered with.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "constant uint stride [[function_constant(0)]];\n"
    "kernel void add(device const float *x [[buffer(0)]], device const float *y [[buffer(1)]],\n"
    "                device float *z [[buffer(2)]], constant uint &n [[buffer(3)]],\n"
    "                uint i [[thread_position_in_grid]]) { if (i < n) z[i] = x[i] + y[i]; }\n"
    "kernel void twice(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] *= 2; }\n"
    "kernel void shift(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = i + stride; }\n"
    "kernel void spread(device float *x [[buffer(0)]], threadgroup float *t [[threadgroup(0)]],\n"
    "                   uint i [[thread_position_in_threadgroup]]) {\n"
    "  t[i] = x[i]; threadgroup_barrier(mem_flags::mem_threadgroup); x[i] = t[0]; }\n";

enum { SHARED = 0, PRIVATE = 0x20, UNTRACKED = 0x100, TRACKED = 0x200 };
enum { PLACEMENT = 1 };

static id gpu, queue;

static void open_gpu(void) {
  gpu = MTLCreateSystemDefaultDevice();
  queue = send0(gpu, "newCommandQueue");
}

static void close_gpu(void) {
  objc_release(queue);
  objc_release(gpu);
}

static id buffer(uint64_t length, uint64_t options) { return send2(gpu, "newBufferWithLength:options:", length, options); }
static float *contents(id b) { return (float *)send0(b, "contents"); }
static id command_buffer(void) { return send0(queue, "commandBuffer"); }
static id compute(id cb) { return send0(cb, "computeCommandEncoder"); }
static void bind(id e, id b, uint64_t offset, uint64_t index) { send3(e, "setBuffer:offset:atIndex:", b, offset, index); }
static void end(id e) { send0(e, "endEncoding"); }
static int64_t status(id cb) { return SEND(int64_t, (id, SEL), cb, "status"); }

static void finish(id cb) {
  send0(cb, "commit");
  send0(cb, "waitUntilCompleted");
}

static void dispatch(id e, uint64_t threads, uint64_t group) {
  ((void (*)(id, SEL, size3, size3))message)(e, sel_registerName("dispatchThreads:threadsPerThreadgroup:"), (size3){threads, 1, 1}, (size3){group, 1, 1});
}

static id library(void) {
  id error = NULL;
  id l = send3(gpu, "newLibraryWithSource:options:error:", text(source), NULL, &error);
  if (!l) fprintf(stderr, "%s\n", (const char *)send0(send0(error, "localizedDescription"), "UTF8String"));
  return l;
}

static id pipeline_of(id function) {
  id p = send2(gpu, "newComputePipelineStateWithFunction:error:", function, NULL);
  objc_release(function);
  return p;
}

static id pipeline(const char *name) {
  id l = library(), p = pipeline_of(send1(l, "newFunctionWithName:", text(name)));
  objc_release(l);
  return p;
}

static id heap_of(uint64_t size, int64_t type, uint64_t tracking) {
  id d = send0(objc_getClass("MTLHeapDescriptor"), "new");
  send1(d, "setSize:", size);
  send1(d, "setType:", type);
  send1(d, "setStorageMode:", 0);
  send1(d, "setHazardTrackingMode:", tracking);
  id h = send1(gpu, "newHeapWithDescriptor:", d);
  objc_release(d);
  return h;
}

/* ---- What has to work. */

static void try_device(void) {
  void *pool = objc_autoreleasePoolPush();
  id all = MTLCopyAllDevices();
  expect(send1(all, "objectAtIndex:", 0) == gpu && number(all, "count") == 1, "there is one device");
  objc_release(all);
  signed char (*has)(id, SEL, int64_t) = (signed char (*)(id, SEL, int64_t))message;
  SEL family = sel_registerName("supportsFamily:");
  expect(has(gpu, family, 1007) && has(gpu, family, 5001) && !has(gpu, family, 1008), "it is of the family Apple7");
  size_align a = ((size_align(*)(id, SEL, uint64_t, uint64_t))message)(gpu, sel_registerName("heapBufferSizeAndAlignWithLength:options:"), 1000, SHARED);
  expect(a.size == 1024 && a.align == 256, "a struct of 16 bytes is answered");
  expect(number(gpu, "recommendedMaxWorkingSetSize") < number(send0(objc_getClass("NSProcessInfo"), "processInfo"), "physicalMemory"), "the working set is less than the memory");
  objc_autoreleasePoolPop(pool);
}

static void try_buffers(void) {
  uint64_t before = number(gpu, "currentAllocatedSize");
  id b = buffer(100, SHARED), hidden = buffer(100, PRIVATE);
  expect(contents(b)[24] == 0 && contents(hidden) == NULL, "shared memory is zero, private memory is not to be seen");
  expect(number(gpu, "currentAllocatedSize") == before + 2 * 16384, "memory is counted in pages");
  id copy = send3(gpu, "newBufferWithBytes:length:options:", "abcd", 4, SHARED);
  expect(memcmp(contents(copy), "abcd", 4) == 0, "a buffer holds the bytes it was made of");
  char *pages = aligned_alloc(16384, 32768);
  id mine = send4(gpu, "newBufferWithBytesNoCopy:length:options:deallocator:", pages, 32768, SHARED, NULL);
  expect((char *)contents(mine) == pages, "a buffer may be made over pages");
  expect(send4(gpu, "newBufferWithBytesNoCopy:length:options:deallocator:", pages + 256, 16384, SHARED, NULL) == NULL, "but not over other bytes");
  expect(send4(gpu, "newBufferWithBytesNoCopy:length:options:deallocator:", pages, 20000, SHARED, NULL) == NULL, "nor over parts of pages");
  expect(buffer(UINT64_C(1) << 40, SHARED) == NULL, "a buffer that is too large is nil");
  objc_release(b), objc_release(hidden), objc_release(copy), objc_release(mine);
  free(pages);
  expect(number(gpu, "currentAllocatedSize") == before, "memory goes back");
}

static void try_heaps(void) {
  id h = heap_of(65536, PLACEMENT, 2);
  id whole = send3(h, "newBufferWithLength:options:offset:", 65536, SHARED | TRACKED, 0);
  id part = send3(h, "newBufferWithLength:options:offset:", 100, SHARED | TRACKED, 512);
  objc_release(h);
  contents(part)[0] = 7;
  expect(contents(whole)[128] == 7, "buffers of a placement heap alias, and keep it alive");
  objc_release(whole), objc_release(part);
  id automatic = heap_of(1024, 0, 2), one = send2(automatic, "newBufferWithLength:options:", 1000, SHARED);
  expect(one && send2(automatic, "newBufferWithLength:options:", 1, SHARED) == NULL, "an automatic heap is full at some time");
  objc_release(one);
  one = send2(automatic, "newBufferWithLength:options:", 1, SHARED);
  expect(one && contents(one)[0] != 0, "and has dirty memory");
  objc_release(one), objc_release(automatic);
}

/* add encodes z = x + y over n elements. */
static void add(id cb, id p, id x, id y, id z, uint32_t n) {
  id e = compute(cb);
  send1(e, "setComputePipelineState:", p);
  bind(e, x, 0, 0), bind(e, y, 0, 1), bind(e, z, 0, 2);
  send3(e, "setBytes:length:atIndex:", &n, sizeof n, 3);
  dispatch(e, n, 64);
  end(e);
}

static void try_compute(void) {
  void *pool = objc_autoreleasePoolPush();
  enum { N = 1000 };
  id p = pipeline("add"), x = buffer(4 * N, SHARED), y = buffer(4 * N, SHARED), z = buffer(4 * N, SHARED);
  for (int i = 0; i < N; i++) contents(x)[i] = (float)i, contents(y)[i] = 1;
  fakemetal_reset();
  id cb = command_buffer();
  add(cb, p, x, y, z, N);
  expect(contents(z)[N - 1] == 0 && status(cb) == 0, "nothing runs before the commit");
  finish(cb);
  expect(contents(z)[0] == 1 && contents(z)[N - 1] == N && status(cb) == 4, "a kernel runs");
  expect(send0(cb, "error") == NULL, "a command buffer that completed has no error");
  double start = SEND(double, (id, SEL), cb, "GPUStartTime"), stop = SEND(double, (id, SEL), cb, "GPUEndTime");
  expect(start > 0 && stop >= start, "a command buffer has times");
  expect(fakemetal_count("commits") == 1 && fakemetal_count("dispatches") == 1 && fakemetal_count("compiles") == 0, "commits and dispatches are counted");
  objc_release(p), objc_release(x), objc_release(y), objc_release(z);
  objc_autoreleasePoolPop(pool);
}

static void try_page_fault(void) {
  enum { PAGE_FAULT = 3 };
  void *pool = objc_autoreleasePoolPush();
  id p = pipeline("twice"), x = buffer(16, SHARED), cb = command_buffer(), e = compute(cb);
  send1(e, "setComputePipelineState:", p);
  bind(e, x, 0, 0);
  dispatch(e, 5, 5);
  end(e);
  finish(cb);
  expect(status(cb) == 5 && number(send0(cb, "error"), "code") == PAGE_FAULT, "a kernel that leaves its buffer fails its command buffer");
  objc_release(p), objc_release(x);
  objc_autoreleasePoolPop(pool);
}

static bool is_bound(id bindings, uint64_t at, const char *name, uint64_t index, uint64_t access) {
  enum { BUFFER = 0 };
  id b = send1(bindings, "objectAtIndex:", at);
  return strcmp(send0(send0(b, "name"), "UTF8String"), name) == 0 && number(b, "index") == index &&
         number(b, "access") == access && number(b, "type") == BUFFER;
}

static void try_reflection(void) {
  enum { BINDING_INFO = 1, READ_ONLY = 0, READ_WRITE = 1 };
  void *pool = objc_autoreleasePoolPush();
  id l = library(), add = send1(l, "newFunctionWithName:", text("add")), r = NULL;
  id p = send4(gpu, "newComputePipelineStateWithFunction:options:reflection:error:", add, BINDING_INFO, &r, NULL);
  id bindings = send0(r, "bindings");
  expect(p && number(bindings, "count") == 4, "a pipeline says what its kernel wants");
  expect(is_bound(bindings, 0, "x", 0, READ_ONLY) && is_bound(bindings, 2, "z", 2, READ_WRITE), "which buffers, and whether it writes them");
  expect(is_bound(bindings, 3, "n", 3, READ_ONLY), "and constants");
  objc_release(p), objc_release(add), objc_release(l);
  objc_autoreleasePoolPop(pool);
}

static void try_specialization(void) {
  void *pool = objc_autoreleasePoolPush();
  uint32_t stride = 5;
  id values = send0(objc_getClass("MTLFunctionConstantValues"), "new"), l = library();
  enum { UINT = 33 };
  send3(values, "setConstantValue:type:atIndex:", &stride, UINT, 0);
  id p = pipeline_of(send3(l, "newFunctionWithName:constantValues:error:", text("shift"), values, NULL)), x = buffer(256, SHARED);
  id cb = command_buffer(), e = compute(cb);
  send1(e, "setComputePipelineState:", p);
  bind(e, x, 0, 0);
  dispatch(e, 64, 32);
  end(e);
  finish(cb);
  expect(((uint32_t *)contents(x))[63] == 68, "function constants have values");
  expect(send1(l, "newFunctionWithName:", text("nothing")) == NULL, "a function that is not there is nil");
  expect(number(send0(l, "functionNames"), "count") == 4, "a library tells its functions");
  objc_release(values), objc_release(l), objc_release(p), objc_release(x);
  objc_autoreleasePoolPop(pool);
}

static void try_blit(void) {
  void *pool = objc_autoreleasePoolPush();
  id x = buffer(64, SHARED), y = buffer(64, SHARED), cb = command_buffer(), e = send0(cb, "blitCommandEncoder");
  ((void (*)(id, SEL, id, range, uint8_t))message)(e, sel_registerName("fillBuffer:range:value:"), x, (range){4, 8}, 0x3f);
  send5(e, "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", x, 4, y, 32, 8);
  end(e);
  finish(cb);
  const unsigned char *b = (unsigned char *)contents(y);
  expect(b[31] == 0 && b[32] == 0x3f && b[39] == 0x3f && b[40] == 0, "a fill and a copy are done, in order");
  objc_release(x), objc_release(y);
  objc_autoreleasePoolPop(pool);
}

static void try_events(void) {
  void *pool = objc_autoreleasePoolPush();
  id event = send0(gpu, "newSharedEvent"), other = send0(gpu, "newCommandQueue");
  id p = pipeline("twice"), x = buffer(4, SHARED);
  contents(x)[0] = 1;
  id late = command_buffer(), early = send0(other, "commandBuffer");
  send2(late, "encodeWaitForEvent:value:", event, 2);
  id e = compute(late);
  send1(e, "setComputePipelineState:", p);
  bind(e, x, 0, 0);
  dispatch(e, 1, 1);
  end(e);
  send0(late, "commit");
  usleep(20000);
  expect(contents(x)[0] == 1 && status(late) == 3, "a queue waits for an event");
  send1(event, "setSignaledValue:", 1);
  send2(early, "encodeSignalEvent:value:", event, 2);
  finish(early);
  send0(late, "waitUntilCompleted");
  expect(contents(x)[0] == 2 && number(event, "signaledValue") == 2, "until another queue signals it");
  expect(((signed char (*)(id, SEL, uint64_t, uint64_t))message)(event, sel_registerName("waitUntilSignaledValue:timeoutMS:"), 3, 10) == 0, "a wait has an end");
  objc_release(event), objc_release(other), objc_release(p), objc_release(x);
  objc_autoreleasePoolPop(pool);
}

static void try_most_command_buffers(void) {
  void *pool = objc_autoreleasePoolPush();
  id small = send1(gpu, "newCommandQueueWithMaxCommandBufferCount:", 2), event = send0(gpu, "newSharedEvent");
  for (int i = 0; i < 20; i++) send0(send0(small, "commandBuffer"), "commit");
  id last = send0(small, "commandBuffer");
  finish(last);
  expect(status(last) == 4, "commandBuffer waits until there is room");
  objc_release(small), objc_release(event);
  objc_autoreleasePoolPop(pool);
}

static void try_failures(void) {
  void *pool = objc_autoreleasePoolPush();
  fakemetal_reset();
  fakemetal_fail("buffer", 2, 0);
  id first = buffer(4, SHARED), second = buffer(4, SHARED), third = buffer(4, SHARED);
  expect(first && !second && third, "the second buffer from now fails");
  fakemetal_fail("library", 1, 0);
  id error = NULL;
  expect(!send3(gpu, "newLibraryWithSource:options:error:", text(source), NULL, &error) && error, "a library fails with an error");
  fakemetal_fail("command_buffer", 1, 8);
  id cb = command_buffer();
  finish(cb);
  id wrong = send0(cb, "error");
  expect(status(cb) == 5 && SEND(int64_t, (id, SEL), wrong, "code") == 8, "a command buffer ends with the error asked for");
  fakemetal_fail("any", 1, 0);
  expect(!send0(gpu, "newSharedEvent") && !fakemetal_fail("weather", 1, 0), "any fails, too; there are no other kinds");
  objc_release(first), objc_release(third);
  objc_autoreleasePoolPop(pool);
}

static void try_capture(void) {
  void *pool = objc_autoreleasePoolPush();
  id manager = send0(objc_getClass("MTLCaptureManager"), "sharedCaptureManager"), d = send0(objc_getClass("MTLCaptureDescriptor"), "new");
  id error = NULL;
  send1(d, "setCaptureObject:", gpu);
  send1(d, "setDestination:", 2);
  char path[] = "fakemetal-XXXXXX";
  close(mkstemp(path));
  unlink(path);
  send1(d, "setOutputURL:", send1(objc_getClass("NSURL"), "fileURLWithPath:", text(path)));
  signed char (*start)(id, SEL, id, id *) = (signed char (*)(id, SEL, id, id *))message;
  unsetenv("MTL_CAPTURE_ENABLED");
  expect(!start(manager, sel_registerName("startCaptureWithDescriptor:error:"), d, &error) && SEND(int64_t, (id, SEL), error, "code") == 1, "capturing has to be enabled");
  setenv("MTL_CAPTURE_ENABLED", "1", 1);
  expect(start(manager, sel_registerName("startCaptureWithDescriptor:error:"), d, &error) && access(path, R_OK) == 0, "a capture has a document");
  send0(manager, "stopCapture");
  unlink(path);
  objc_release(d);
  objc_autoreleasePoolPop(pool);
}

/* ---- What has to be refused. Each body runs in a process of its own. */

static id e0; /* an encoder of its command buffer */
static void begin(const char *kernel) {
  open_gpu();
  e0 = compute(command_buffer());
  if (kernel) send1(e0, "setComputePipelineState:", pipeline(kernel));
}

static void bound(const char *kernel) { begin(kernel), bind(e0, buffer(4096, SHARED), 0, 0); }

static void empty_buffer(void) { open_gpu(), buffer(0, SHARED); }
static void empty_heap(void) { open_gpu(), heap_of(0, PLACEMENT, 2); }
static void skew_offset(void) { open_gpu(), send3(heap_of(4096, PLACEMENT, 2), "newBufferWithLength:options:offset:", 16, TRACKED, 100); }
static void beyond_heap(void) { open_gpu(), send3(heap_of(4096, PLACEMENT, 2), "newBufferWithLength:options:offset:", 4096, TRACKED, 256); }
static void private_in_shared(void) { open_gpu(), send3(heap_of(4096, PLACEMENT, 2), "newBufferWithLength:options:offset:", 16, PRIVATE | TRACKED, 0); }
static void no_placement(void) { open_gpu(), send3(heap_of(4096, 0, 2), "newBufferWithLength:options:offset:", 16, TRACKED, 0); }
static void queue_as_buffer(void) { begin(NULL), bind(e0, queue, 0, 0); }
static void index_31(void) { begin(NULL), bind(e0, buffer(16, SHARED), 0, 31); }
static void offset_beyond(void) { begin(NULL), bind(e0, buffer(16, SHARED), 16, 0); }
static void long_bytes(void) { begin(NULL), send3(e0, "setBytes:length:atIndex:", source, 4097, 0); }
static void no_pipeline(void) { begin(NULL), dispatch(e0, 1, 1); }
static void nothing_bound(void) { begin("twice"), dispatch(e0, 1, 1); }
static void empty_grid(void) { bound("twice"), dispatch(e0, 0, 1); }
static void empty_group(void) { bound("twice"), dispatch(e0, 1, 0); }
static void large_group(void) { bound("twice"), dispatch(e0, 2048, 1025); }
static void no_threadgroup_length(void) { bound("spread"), dispatch(e0, 32, 32); }
static void skew_threadgroup(void) { begin(NULL), send2(e0, "setThreadgroupMemoryLength:atIndex:", 100, 0); }
static void large_threadgroup(void) { begin(NULL), send2(e0, "setThreadgroupMemoryLength:atIndex:", 32784, 0); }
static void after_end(void) { begin(NULL), end(e0), bind(e0, NULL, 0, 0); }
static void end_twice(void) { begin(NULL), end(e0), end(e0); }

static void write_to_bytes(void) {
  float x = 1;
  begin("twice");
  send3(e0, "setBytes:length:atIndex:", &x, sizeof x, 0);
  dispatch(e0, 1, 1);
}

static void beyond_buffer(void) {
  open_gpu();
  id cb = command_buffer(), e = compute(cb);
  send1(e, "setComputePipelineState:", pipeline("twice"));
  bind(e, buffer(16, SHARED), 0, 0);
  dispatch(e, 5, 1);
  end(e);
  finish(cb);
}

static void two_encoders(void) {
  open_gpu();
  id cb = command_buffer();
  compute(cb), compute(cb);
}

static void commit_open(void) {
  open_gpu();
  id cb = command_buffer();
  compute(cb);
  send0(cb, "commit");
}

static void commit_twice(void) {
  open_gpu();
  id cb = command_buffer();
  send0(cb, "commit"), send0(cb, "commit");
}

static void encode_committed(void) {
  open_gpu();
  id cb = command_buffer();
  send0(cb, "commit"), compute(cb);
}

static void wait_uncommitted(void) { open_gpu(), send0(command_buffer(), "waitUntilCompleted"); }

static void encoder_dropped(void) {
  open_gpu();
  id cb = command_buffer();
  void *pool = objc_autoreleasePoolPush();
  compute(cb);
  objc_autoreleasePoolPop(pool);
}

static void event_with_encoder(void) {
  open_gpu();
  id cb = command_buffer();
  compute(cb);
  send2(cb, "encodeSignalEvent:value:", send0(gpu, "newSharedEvent"), 1);
}

static void event_falls(void) {
  open_gpu();
  id event = send0(gpu, "newSharedEvent");
  send1(event, "setSignaledValue:", 2), send1(event, "setSignaledValue:", 1);
}

static void old_event(void) {
  open_gpu();
  send2(send0(gpu, "newSharedEvent"), "waitUntilSignaledValue:timeoutMS:", 0, 0);
}

static void *encode_much(void *unused) {
  float x = 1;
  for (int i = 0; i < 2000000; i++) send3(e0, "setBytes:length:atIndex:", &x, sizeof x, 0);
  return unused;
}

static void two_threads(void) {
  pthread_t threads[4];
  begin(NULL);
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, encode_much, NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

static void sixty_five(void) {
  open_gpu();
  for (int i = 0; i < 65; i++) command_buffer();
}

static void handler(void) { open_gpu(), send4(gpu, "newBufferWithBytesNoCopy:length:options:deallocator:", source, 16384, SHARED, text("block")); }
static void skew_copy(void) { open_gpu(), send5(send0(command_buffer(), "blitCommandEncoder"), "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", buffer(16, SHARED), 2, buffer(16, SHARED), 0, 4); }
static void long_copy(void) { open_gpu(), send5(send0(command_buffer(), "blitCommandEncoder"), "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", buffer(16, SHARED), 0, buffer(16, SHARED), 8, 12); }

static void overlap(void) {
  open_gpu();
  id b = buffer(16, SHARED);
  send5(send0(command_buffer(), "blitCommandEncoder"), "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", b, 0, b, 4, 8);
}

/* hazard writes an untracked buffer in one encoder and reads it in the next. */
static void hazard_with(bool fence) {
  open_gpu();
  id f = send0(gpu, "newFence"), x = buffer(64, UNTRACKED), p = pipeline("twice"), cb = command_buffer();
  for (int i = 0; i < 2; i++) {
    id e = compute(cb);
    if (fence && i == 1) send1(e, "waitForFence:", f);
    send1(e, "setComputePipelineState:", p);
    bind(e, x, 0, 0);
    dispatch(e, 16, 16);
    if (fence && i == 0) send1(e, "updateFence:", f);
    end(e);
  }
  finish(cb);
}

static void hazard(void) { hazard_with(false); }
static void no_hazard(void) { hazard_with(true); }

static void hazard_after_wait(void) {
  open_gpu();
  id x = buffer(64, UNTRACKED), p = pipeline("twice");
  for (int i = 0; i < 2; i++) {
    id cb = command_buffer(), e = compute(cb);
    send1(e, "setComputePipelineState:", p);
    bind(e, x, 0, 0);
    dispatch(e, 16, 16);
    end(e);
    finish(cb);
  }
}

static void concurrent(void) {
  open_gpu();
  id e = send1(command_buffer(), "computeCommandEncoderWithDispatchType:", 1);
  send1(e, "setComputePipelineState:", pipeline("twice"));
  bind(e, buffer(64, SHARED), 0, 0);
  dispatch(e, 16, 16), dispatch(e, 16, 16);
}

static void stale_without_wait(void) {
  open_gpu();
  id p = pipeline("twice"), x = buffer(4, SHARED), cb = command_buffer(), e = compute(cb);
  contents(x)[0] = 1;
  send1(e, "setComputePipelineState:", p);
  bind(e, x, 0, 0);
  dispatch(e, 1, 1);
  end(e);
  send0(cb, "commit");
  bool stale = contents(x)[0] == 1;
  send0(cb, "waitUntilCompleted");
  exit(!(stale && contents(x)[0] == 2));
}

static const struct {
  const char *name, *environment, *want;
  void (*body)(void);
} rows[] = {
    {"an empty buffer", NULL, "-[FakeDevice newBufferWithLength:options:]: length is 0", empty_buffer},
    {"an empty heap", NULL, "the descriptor's size is 0", empty_heap},
    {"a placement that is not aligned", NULL, "offset 100 is no multiple of 256", skew_offset},
    {"a placement beyond the heap", NULL, "offset 256 and size 4096 leave the heap of 4096 bytes", beyond_heap},
    {"a private buffer in a shared heap", NULL, "storage mode 2 in a heap of storage mode 0", private_in_shared},
    {"an offset in an automatic heap", NULL, "the heap is of type automatic and takes no offset", no_placement},
    {"a queue as a buffer", NULL, "-[FakeComputeCommandEncoder setBuffer:offset:atIndex:]: argument setBuffer: is of class FakeCommandQueue; want MTLBuffer", queue_as_buffer},
    {"an index beyond the last", NULL, "index 31; there are 31", index_31},
    {"an offset beyond the buffer", NULL, "offset 16 is not in the buffer, which has 16 bytes", offset_beyond},
    {"too many constant bytes", NULL, "4097 bytes; want 1 to 4096", long_bytes},
    {"a dispatch without a pipeline", NULL, "no compute pipeline state is set", no_pipeline},
    {"a dispatch without a buffer", NULL, "the kernel wants a buffer at index 0; none is set", nothing_bound},
    {"constant bytes that are written", NULL, "the kernel writes at index 0, where constant bytes are set", write_to_bytes},
    {"an empty grid", NULL, "the grid is empty", empty_grid},
    {"an empty threadgroup", NULL, "the threadgroup is empty", empty_group},
    {"a threadgroup that is too large", NULL, "1025 x 1 x 1 threads in a threadgroup; the pipeline takes 1024", large_group},
    {"threadgroup memory without a length", NULL, "the kernel wants threadgroup memory at index 0; its length is not set", no_threadgroup_length},
    {"threadgroup memory that is not aligned", NULL, "100 bytes of threadgroup memory; want a multiple of 16", skew_threadgroup},
    {"too much threadgroup memory", NULL, "32784 bytes of threadgroup memory; there are 32768", large_threadgroup},
    {"a store beyond the buffer", "FAKEMETAL_STRICT=1", "fakemetal: the thread of a command queue: ", beyond_buffer},
    {"an encoder after its end", NULL, "the encoder has ended encoding", after_end},
    {"an encoder ended twice", NULL, "the encoder has ended encoding", end_twice},
    {"an encoder dropped before its end", NULL, "an encoder of class FakeComputeCommandEncoder is released without endEncoding", encoder_dropped},
    {"an encoder used by two threads at a time", NULL, "another thread is using this FakeComputeCommandEncoder at the same time", two_threads},
    {"two encoders at a time", NULL, "the command buffer has an encoder that has not ended encoding", two_encoders},
    {"a commit with an open encoder", NULL, "-[FakeCommandBuffer commit]: the command buffer has an encoder", commit_open},
    {"a second commit", NULL, "the command buffer is committed already", commit_twice},
    {"an encoder after the commit", NULL, "computeCommandEncoder]: the command buffer is committed already", encode_committed},
    {"a wait before the commit", NULL, "the command buffer is not committed; the wait would be for ever", wait_uncommitted},
    {"an event while an encoder is open", NULL, "encodeSignalEvent:value:]: the command buffer has an encoder", event_with_encoder},
    {"an event whose value falls", NULL, "an event falls from 2 to 1", event_falls},
    {"a command buffer too many", NULL, "would wait for ever: the queue's 64 command buffers exist and none is committed", sixty_five},
    {"a block", NULL, "argument deallocator: is a block; the fake knows none", handler},
    {"a copy that is not aligned", NULL, "source: offset 2 and size 4; macOS wants multiples of 4", skew_copy},
    {"a copy beyond the buffer", NULL, "destination: offset 8 and size 12 leave the buffer of 16 bytes", long_copy},
    {"a copy onto itself", NULL, "source and destination overlap", overlap},
    {"an untracked hazard", NULL, "an untracked resource is used that an earlier pass writes", hazard},
    {"concurrent dispatches that share memory", NULL, "want a memory barrier between them", concurrent},
    {"waitUntilSignaledValue: on an old system", "FAKEMETAL_MACOS=11.0", "needs macOS 12.0", old_event},
};

int main(void) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) misused(rows[i].name, rows[i].environment, rows[i].want, rows[i].body);
  lives("a fence orders passes over untracked memory", NULL, no_hazard);
  lives("so does a wait for the end", NULL, hazard_after_wait);
  lives("a result is stale until somebody waits", "FAKEMETAL_DELAY_US=200000", stale_without_wait);
  if (getenv("CHECK_ROW")) return 0;
  int64_t before = fakemetal_count("live_objects");
  open_gpu();
  try_device();
  try_buffers();
  try_heaps();
  try_compute();
  try_page_fault();
  try_reflection();
  try_specialization();
  try_blit();
  try_events();
  try_most_command_buffers();
  try_failures();
  try_capture();
  close_gpu();
  usleep(20000); /* the queues' threads let go of the last command buffers */
  expect(fakemetal_leaks(true) == before, "nothing is left of all this");
  return failures() != 0;
}
