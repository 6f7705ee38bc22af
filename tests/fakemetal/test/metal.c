/*
 * metal.c - tests of the classes that stand for Metal: that work is done, in what order and when; and
 * what each misuse is answered with.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
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
    "kernel void follow(device const ulong *list [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "  reinterpret_cast<device float *>(list[0])[i] *= 2; }\n"
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
/* After a fault the queue may be dead. */
static void renew_queue(void) { objc_release(queue), queue = send0(gpu, "newCommandQueue"); }
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

static size_align size_of(uint64_t length) {
  return ((size_align(*)(id, SEL, uint64_t, uint64_t))message)(gpu, sel_registerName("heapBufferSizeAndAlignWithLength:options:"), length, SHARED);
}

static void try_device(void) {
  void *pool = objc_autoreleasePoolPush();
  id all = MTLCopyAllDevices();
  expect(send1(all, "objectAtIndex:", 0) == gpu && number(all, "count") == 1, "there is one device");
  objc_release(all);
  signed char (*has)(id, SEL, int64_t) = (signed char (*)(id, SEL, int64_t))message;
  SEL family = sel_registerName("supportsFamily:");
  expect(has(gpu, family, 1007) && has(gpu, family, 5001) && !has(gpu, family, 1008), "it is of the family Apple7");
  size_align a = size_of(1000);
  expect(a.size >= 1024 && a.size % 256 == 0 && a.align == 256, "a struct of 16 bytes is answered");
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
  id h = heap_of(size_of(65536).size, PLACEMENT, 2);
  id whole = send3(h, "newBufferWithLength:options:offset:", 65536, SHARED | TRACKED, 0);
  id part = send3(h, "newBufferWithLength:options:offset:", 100, SHARED | TRACKED, 512);
  objc_release(h);
  contents(part)[0] = 7;
  expect(contents(whole)[128] == 7, "buffers of a placement heap alias, and keep it alive");
  objc_release(whole), objc_release(part);
  id automatic = heap_of(size_of(1000).size, 0, 2), one = send2(automatic, "newBufferWithLength:options:", 1000, SHARED);
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
  renew_queue();
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
  expect(number(send0(l, "functionNames"), "count") == 5, "a library tells its functions");
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
static void last_of_heap(void) { open_gpu(), send3(heap_of(4096, PLACEMENT, 2), "newBufferWithLength:options:offset:", 256, TRACKED, 3840); }
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
static void group_of_385(void) { bound("twice"), dispatch(e0, 2048, 385); }
static void large_grid(void) { bound("twice"), dispatch(e0, UINT64_C(1) << 32, 32); }

/* Encoded and never committed. */
static void many_groups(void) {
  bound("twice");
  ((void (*)(id, SEL, size3, size3))message)(e0, sel_registerName("dispatchThreadgroups:threadsPerThreadgroup:"), (size3){UINT64_C(1) << 27, 1, 1}, (size3){32, 1, 1});
  end(e0);
}

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

/* twice_in commits a command buffer that doubles x. */
static id twice_in(id q, id x, id p, id fence) {
  id cb = send0(q, "commandBuffer"), e = compute(cb);
  if (fence) send1(e, "waitForFence:", fence);
  send1(e, "setComputePipelineState:", p);
  bind(e, x, 0, 0);
  dispatch(e, 16, 16);
  if (fence) send1(e, "updateFence:", fence);
  end(e);
  return cb;
}

/* Command buffers of a queue have no order over memory that is not tracked, whatever the clock says. */
static void hazard_of_two(void) {
  open_gpu();
  id x = buffer(64, UNTRACKED), p = pipeline("twice"), one = twice_in(queue, x, p, NULL), two = twice_in(queue, x, p, NULL);
  send0(one, "commit");
  usleep(50000);
  finish(two);
}

/* Values of an event order what has been committed before one is signalled, and no other work. */
static void event_orders(void) {
  open_gpu();
  id event = send0(gpu, "newSharedEvent"), x = buffer(64, UNTRACKED), p = pipeline("twice"), f = send0(gpu, "newFence");
  for (uint64_t i = 0; i < 200; i++) {
    id cb = i % 2 ? send0(queue, "commandBuffer") : twice_in(queue, x, p, f);
    if (i > 0) send2(cb, "encodeWaitForEvent:value:", event, i);
    send2(cb, "encodeSignalEvent:value:", event, i + 1);
    send0(cb, "commit");
  }
  id last = twice_in(queue, x, p, f);
  finish(last);
}

/* A command buffer ends while one that was committed before it still waits. */
static void overlap_shows(void) {
  open_gpu();
  id event = send0(gpu, "newSharedEvent"), one = send0(queue, "commandBuffer"), two = twice_in(queue, buffer(64, UNTRACKED), pipeline("twice"), NULL);
  send2(one, "encodeWaitForEvent:value:", event, 1);
  send0(one, "commit"), send0(two, "commit");
  send0(two, "waitUntilCompleted");
  if (status(two) != 4 || status(one) >= 4) abort();
  send1(event, "setSignaledValue:", 1);
  send0(one, "waitUntilCompleted");
  if (status(one) != 4) abort();
}

/* Memory that is tracked joins command buffers of one queue. */
static void tracked_in_order(void) {
  open_gpu();
  id x = buffer(64, SHARED), p = pipeline("twice"), cb = NULL;
  contents(x)[0] = 1;
  for (int i = 0; i < 20; i++) send0(cb = twice_in(queue, x, p, NULL), "commit");
  send0(cb, "waitUntilCompleted");
  if (contents(x)[0] != 1 << 20) abort();
}

/* deadlock is MoltenVK#1775: the wait arrives first and touches the heap; the signal, which touches it too, comes
 * behind it. It answers the code of the error of the wait. */
static int64_t deadlock(uint64_t tracking, bool scheduled_first) {
  id h = heap_of(size_of(65536).size, PLACEMENT, tracking == TRACKED ? 2 : 1), event = send0(gpu, "newSharedEvent"), other = send0(gpu, "newCommandQueue");
  id x = send3(h, "newBufferWithLength:options:offset:", 64, tracking, 0), y = send3(h, "newBufferWithLength:options:offset:", 64, tracking, 16384);
  id wait = send0(queue, "commandBuffer"), signal = twice_in(other, y, pipeline("twice"), NULL);
  send2(wait, "encodeWaitForEvent:value:", event, 1);
  id e = compute(wait);
  send1(e, "setComputePipelineState:", pipeline("twice"));
  bind(e, x, 0, 0);
  dispatch(e, 16, 16);
  end(e);
  send2(signal, "encodeSignalEvent:value:", event, 1);
  id first = scheduled_first ? signal : wait, second = scheduled_first ? wait : signal;
  send0(first, "commit"), send0(first, "waitUntilScheduled"), send0(second, "commit");
  send0(signal, "waitUntilCompleted"), send0(wait, "waitUntilCompleted");
  return status(signal) != 4 ? -1 : status(wait) == 4 ? 0 : SEND(int64_t, (id, SEL), send0(wait, "error"), "code");
}

static void deadlock_tracked(void) {
  open_gpu();
  if (deadlock(TRACKED, false) != 2) abort();
}

static void no_deadlock(void) {
  open_gpu();
  if (deadlock(TRACKED, true) != 0 || deadlock(UNTRACKED, false) != 0) abort();
}

/* What a fault leaves: events that are never signalled, a queue that is dead, and in the end a process. */
static int64_t ended(id cb) {
  finish(cb);
  return status(cb) == 4 ? 0 : SEND(int64_t, (id, SEL), send0(cb, "error"), "code");
}

static void fault(id q, int64_t code) {
  fakemetal_fail("command_buffer", 1, (int)code);
  if (ended(send0(q, "commandBuffer")) != code) abort();
}

static void silent_failure(void) {
  open_gpu();
  id event = send0(gpu, "newSharedEvent"), cb = command_buffer(), other = send0(gpu, "newCommandQueue"), waits = send0(other, "commandBuffer");
  fakemetal_fail("command_buffer", 1, 3);
  send2(cb, "encodeSignalEvent:value:", event, 1);
  if (ended(cb) != 3 || number(event, "signaledValue") != 0) abort();
  send2(waits, "encodeWaitForEvent:value:", event, 1);
  if (ended(waits) != 2 || ended(send0(other, "commandBuffer")) != 4 || ended(send0(queue, "commandBuffer")) != 4) abort();
  if (ended(send0(send0(gpu, "newCommandQueue"), "commandBuffer")) != 0) abort();
}

static void queue_lives(void) {
  open_gpu();
  fault(queue, 8); /* no memory is no fault */
  if (ended(command_buffer()) != 0) abort();
}

static void penalty(void) {
  open_gpu();
  for (int i = 0; i < 3; i++) fault(send0(gpu, "newCommandQueue"), 3);
  id fresh = send0(gpu, "newCommandQueue");
  if (ended(send0(fresh, "commandBuffer")) != 4) abort();
  usleep(600000);
  if (ended(send0(fresh, "commandBuffer")) != 0) abort();
}

static void readonly_pages(void) {
  open_gpu();
  char *pages = mmap(NULL, 32768, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char *aligned = pages + (16384 - (uintptr_t)pages % 16384) % 16384;
  if (send4(gpu, "newBufferWithBytesNoCopy:length:options:deallocator:", aligned, 16384, SHARED, NULL)) abort();
  mprotect(pages, 32768, PROT_READ | PROT_WRITE);
  if (!send4(gpu, "newBufferWithBytesNoCopy:length:options:deallocator:", aligned, 16384, SHARED, NULL)) abort();
}


/* ---- The switches of harsh.c: which are on, and what those of this file do. */

static void switches_are(bool on) {
  char name[64];
  int64_t count = 0, value;
  for (; (value = fakemetal_switch(count, name, sizeof name)) >= 0; count++) {
    bool watchdog = strncmp(name, "FAKEMETAL_WATCHDOG_MS ", 22) == 0;
    if (strncmp(name, "FAKEMETAL_", 10) != 0 || (watchdog ? value != (on ? 5000 : 60000) : (value > 0) != on)) abort();
  }
  if (count < 21) abort();
}

static void all_on(void) { switches_are(true); }
static void all_off(void) { switches_are(false); }

/* one_off has all switches but one. */
static void one_off(void) {
  char name[64];
  int64_t off = 0;
  for (int64_t i = 0, value; (value = fakemetal_switch(i, name, sizeof name)) >= 0; i++) off += value == 0;
  if (off != 1) abort();
}

static size_align need_of(uint64_t length) {
  return ((size_align(*)(id, SEL, uint64_t, uint64_t))message)(gpu, sel_registerName("heapBufferSizeAndAlignWithLength:options:"), length, SHARED);
}

static void more_of_a_heap(void) {
  open_gpu();
  if (need_of(256).size <= 256 || need_of(1 << 20).align != 16384 || need_of(1 << 20).size <= 1 << 20) abort();
}

static void no_more_of_a_heap(void) {
  open_gpu();
  if (need_of(256).size != 256 || need_of(1 << 20).align != 256) abort();
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void slow_compiler(void) {
  open_gpu();
  double begun = now();
  id p = pipeline("twice"); /* with its library */
  if (!p || now() - begun < 2 * 0.030) abort();
}

static void long_source(void) {
  open_gpu();
  id l = library(), error = NULL, f = send1(l, "newFunctionWithName:", text("twice"));
  if (!l || send2(gpu, "newComputePipelineStateWithFunction:error:", f, &error)) abort();
  if (!strstr((const char *)send0(send0(error, "localizedDescription"), "UTF8String"), "internal error")) abort();
  setenv("FAKEMETAL_LONG_SOURCE", "100000", 1);
  if (!send2(gpu, "newComputePipelineStateWithFunction:error:", f, NULL)) abort();
}

static void tracked_is_counted(void) {
  open_gpu();
  id b = buffer(64, SHARED | UNTRACKED), p = pipeline("twice");
  for (int i = 0; i < 2; i++) {
    id cb = command_buffer(), e = compute(cb);
    send1(e, "setComputePipelineState:", p);
    bind(e, i ? buffer(64, SHARED) : b, 0, 0);
    dispatch(e, 16, 16);
    end(e);
    finish(cb);
    if ((fakemetal_count("tracked_uses") > 0) != (i > 0)) abort();
  }
}

/* follow_with runs a kernel that follows an address in a heap, which is resident or not. */
static void follow_with(bool resident) {
  open_gpu();
  id x = send3(heap_of(65536, PLACEMENT, 0), "newBufferWithLength:options:offset:", 64, SHARED, 16384);
  id list = buffer(8, SHARED), p = pipeline("follow");
  uint64_t address = SEND(uint64_t, (id, SEL), x, "gpuAddress");
  if (address == (uint64_t)(uintptr_t)contents(x)) abort();
  memcpy(contents(list), &address, sizeof address);
  contents(x)[3] = 5;
  id cb = command_buffer(), e = compute(cb);
  send1(e, "setComputePipelineState:", p);
  bind(e, list, 0, 0);
  if (resident) send2(e, "useResource:usage:", x, 3);
  dispatch(e, 4, 4);
  end(e);
  finish(cb);
  if (status(cb) != 4 || contents(x)[3] != 10) abort();
}

static void follow(void) { follow_with(true); }
static void follow_absent(void) { follow_with(false); }

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

/* sum encodes slots[to] = slots[from] + slots[from], 16 floats each. */
static void sum(id e, id slots, uint64_t from, uint64_t to) {
  static const uint32_t n = 16;
  bind(e, slots, 64 * from, 0), bind(e, slots, 64 * from, 1), bind(e, slots, 64 * to, 2);
  send3(e, "setBytes:length:atIndex:", &n, 4, 3);
  dispatch(e, n, n);
}

static id concurrent_encoder(id cb) {
  id e = send1(cb, "computeCommandEncoderWithDispatchType:", 1);
  send1(e, "setComputePipelineState:", pipeline("add"));
  return e;
}

/* two encodes two sums into one concurrent encoder. */
static void two(uint64_t from, uint64_t to, uint64_t from2, uint64_t to2, bool barrier) {
  open_gpu();
  id cb = command_buffer(), e = concurrent_encoder(cb), slots = buffer(1024, UNTRACKED);
  sum(e, slots, from, to);
  if (barrier) send1(e, "memoryBarrierWithScope:", 1);
  sum(e, slots, from2, to2);
  end(e), finish(cb);
}

static void read_after_write(void) { two(0, 1, 1, 2, false); }
static void write_after_read(void) { two(0, 1, 2, 0, false); }
static void write_after_write(void) { two(0, 1, 2, 1, false); }
static void overlapping(void) {
  open_gpu();
  id cb = command_buffer(), e = concurrent_encoder(cb), slots = buffer(1024, UNTRACKED);
  sum(e, slots, 0, 4);
  static const uint32_t n = 16;
  bind(e, slots, 0, 0), bind(e, slots, 0, 1), bind(e, slots, 64 * 4 + 60, 2);
  send3(e, "setBytes:length:atIndex:", &n, 4, 3);
  dispatch(e, n, n);
  end(e), finish(cb);
}
static void apart(void) { two(0, 1, 0, 2, false); }
static void ordered(void) { two(0, 1, 1, 0, true); }

/* An earlier barrier does not order what comes behind it. */
static void barrier_before(void) {
  open_gpu();
  id cb = command_buffer(), e = concurrent_encoder(cb), slots = buffer(1024, UNTRACKED);
  sum(e, slots, 0, 1);
  send1(e, "memoryBarrierWithScope:", 1);
  sum(e, slots, 1, 2), sum(e, slots, 3, 4), sum(e, slots, 4, 5);
  end(e), finish(cb);
}

/* chain doubles from slot to slot, with a barrier each, and answers the last one. */
static float chain(void) {
  open_gpu();
  id cb = command_buffer(), e = concurrent_encoder(cb), slots = buffer(1024, UNTRACKED);
  memset(contents(slots), 0, 1024);
  contents(slots)[0] = 1;
  for (uint64_t i = 0; i < 12; i++) {
    sum(e, slots, i, i + 1);
    send1(e, "memoryBarrierWithScope:", 1);
  }
  end(e), finish(cb);
  return contents(slots)[16 * 12];
}

static void barriers_order(void) {
  if (chain() != 1 << 12 || fakemetal_count("memory_barriers") != 12) abort();
}

static void barriers_lost(void) {
  if (chain() == 1 << 12) abort();
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

/* Pipelines of the worst case take fewer threads than 1024, but always some; the number is that of a kernel. */
static void small_pipelines(void) {
  open_gpu();
  static const char *const names[] = {"twice", "spread", "add"};
  uint64_t least = 1024, most = 0;
  bool stable = true;
  for (int i = 0; i < 3; i++) {
    uint64_t n = number(pipeline(names[i]), "maxTotalThreadsPerThreadgroup");
    least = n < least ? n : least, most = n > most ? n : most;
    stable &= n % 32 == 0 && n == number(pipeline(names[i]), "maxTotalThreadsPerThreadgroup");
  }
  exit(!(stable && least >= 384 && least < most && number(pipeline("twice"), "threadExecutionWidth") == 32));
}

/* tanh_of_50 is what a kernel computes that is compiled with options. */
static float tanh_of_50(id options) {
  static const char source_of_tanh[] =
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void f(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = tanh(x[i]); }";
  id l = send3(gpu, "newLibraryWithSource:options:error:", text(source_of_tanh), options, NULL);
  id p = pipeline_of(send1(l, "newFunctionWithName:", text("f"))), x = buffer(4, SHARED), cb = command_buffer(), e = compute(cb);
  contents(x)[0] = 50;
  send1(e, "setComputePipelineState:", p);
  bind(e, x, 0, 0);
  dispatch(e, 1, 1);
  end(e);
  finish(cb);
  return contents(x)[0];
}

static id new_options(void) { return send0(objc_getClass("MTLCompileOptions"), "new"); }

/* Math mode and functions are two switches; setFastMathEnabled: sets both. */
static void math_switches(void) {
  open_gpu();
  id mode = new_options(), both = new_options(), old = new_options();
  send1(mode, "setMathMode:", 0);
  send1(both, "setMathMode:", 0), send1(both, "setMathFloatingPointFunctions:", 1);
  SEND(void, (id, SEL, signed char), old, "setFastMathEnabled:", 0);
  bool set = number(mode, "mathFloatingPointFunctions") == 0 && number(old, "mathFloatingPointFunctions") == 1 && number(old, "mathMode") == 0;
  exit(!(set && isnan(tanh_of_50(mode)) && fabsf(tanh_of_50(both) - 1) < 1e-6f && fabsf(tanh_of_50(old) - 1) < 1e-6f));
}

static void unknown_functions(void) { open_gpu(), send1(new_options(), "setMathFloatingPointFunctions:", 2); }

static const struct {
  const char *name, *environment, *want;
  void (*body)(void);
} rows[] = {
    {"an empty buffer", NULL, "-[FakeDevice newBufferWithLength:options:]: length is 0", empty_buffer},
    {"an empty heap", NULL, "the descriptor's size is 0", empty_heap},
    {"a placement that is not aligned", NULL, "offset 100 is no multiple of 256", skew_offset},
    {"a placement beyond the heap", "FAKEMETAL_WORST=0", "offset 256 and size 4096 leave the heap of 4096 bytes", beyond_heap},
    {"a placement whose size rounded up is beyond the heap", "FAKEMETAL_WORST=1", "offset 3840 and size 512 leave the heap of 4096 bytes", last_of_heap},
    {"a GPU that there is not", "FAKEMETAL_GPU=M0", "FAKEMETAL_GPU is \"M0\"", open_gpu},
    {"a private buffer in a shared heap", NULL, "storage mode 2 in a heap of storage mode 0", private_in_shared},
    {"an offset in an automatic heap", NULL, "the heap is of type automatic and takes no offset", no_placement},
    {"a queue as a buffer", NULL, "-[FakeComputeCommandEncoder setBuffer:offset:atIndex:]: argument setBuffer: is of class FakeCommandQueue; want MTLBuffer", queue_as_buffer},
    {"an index beyond the last", NULL, "index 31; there are 31", index_31},
    {"an offset beyond the buffer", NULL, "offset 16 is not in the buffer, which has 16 bytes", offset_beyond},
    {"too many constant bytes", NULL, "4097 bytes; want 1 to 4096", long_bytes},
    {"an address in memory that is not resident", "FAKEMETAL_ADDRESSES=1 FAKEMETAL_STRICT=1", "reads 4 bytes that nothing is bound to", follow_absent},
    {"a dispatch without a pipeline", NULL, "no compute pipeline state is set", no_pipeline},
    {"a dispatch without a buffer", NULL, "the kernel wants a buffer at index 0; none is set", nothing_bound},
    {"constant bytes that are written", NULL, "the kernel writes at index 0, where constant bytes are set", write_to_bytes},
    {"an empty grid", NULL, "the grid is empty", empty_grid},
    {"an empty threadgroup", NULL, "the threadgroup is empty", empty_group},
    {"a grid of too many threads", NULL, "positions in the grid exceed 32 bits", large_grid},
    {"a threadgroup larger than the pipeline takes", "FAKEMETAL_GROUP=384", "385 x 1 x 1 threads in a threadgroup; the pipeline takes 384", group_of_385},
    {"a threadgroup that is too large", "FAKEMETAL_GROUP=0", "1025 x 1 x 1 threads in a threadgroup; the pipeline takes 1024", large_group},
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
    {"an untracked hazard", NULL, "an untracked resource is written that another pass writes, in no order (64 bytes", hazard},
    {"one of two command buffers", NULL, "an untracked resource is written that another pass writes, in no order", hazard_of_two},
    {"a concurrent dispatch that reads what another writes", NULL, "want a memory barrier between them", read_after_write},
    {"one that writes what another reads", NULL, "want a memory barrier between them", write_after_read},
    {"one that writes what another writes", NULL, "(64 of them, after 0 barriers); want a memory barrier between them", write_after_write},
    {"one that writes four bytes of those", NULL, "(4 of them, after 0 barriers); want a memory barrier between them", overlapping},
    {"two behind one barrier", NULL, "(64 of them, after 1 barriers); want a memory barrier between them", barrier_before},
    {"floating-point functions that are none", NULL, "floating-point functions 2", unknown_functions},
    {"floating-point functions on an old system", "FAKEMETAL_MACOS=14.0", "needs macOS 15.0", unknown_functions},
    {"waitUntilSignaledValue: on an old system", "FAKEMETAL_MACOS=11.0", "needs macOS 12.0", old_event},
};

/* Limits, each as published: see limits.c. */
static void limits_are(bool known, uint64_t family, uint64_t working_set, uint64_t longest) {
  open_gpu();
  signed char (*has)(id, SEL, uint64_t) = (signed char (*)(id, SEL, uint64_t))message;
  bool right = has(gpu, sel_registerName("supportsFamily:"), family) == known && number(gpu, "maxThreadgroupMemoryLength") == 32768;
  if (!right || number(gpu, "recommendedMaxWorkingSetSize") - working_set >= 16384 || number(gpu, "maxBufferLength") != longest) abort();
}

static void m1_on_13(void) { limits_are(false, 1008, 5726623061, UINT64_C(4) << 30); }
static void m1_max_on_13(void) { limits_are(false, 5002, UINT64_C(49152) << 20, UINT64_C(36864) << 20); }
static void m2_on_14(void) { limits_are(true, 1008, 17179869184, UINT64_C(12) << 30); }
static void m4_on_15(void) { limits_are(true, 1009, 11453246122, 8589934592); }
static void m4_on_26(void) { limits_are(true, 5002, 40200896512, 30150672384); }
static void m5_on_26(void) { limits_are(true, 1010, 115448725504, 86586540032); }

int main(void) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) misused(rows[i].name, rows[i].environment, rows[i].want, rows[i].body);
  lives("a fence orders passes over untracked memory", NULL, no_hazard);
  lives("so does a wait for the end", NULL, hazard_after_wait);
  lives("concurrent dispatches may read the same", NULL, apart);
  lives("a memory barrier orders concurrent dispatches", NULL, ordered);
  lives("so do twelve", NULL, barriers_order);
  lives("without them the result is wrong", "FAKEMETAL_DEFECT=memory_barrier_skipped", barriers_lost);
  lives("an M1 of 8 GiB on macOS 13", "FAKEMETAL_MACOS=13.0 FAKEMETAL_MEMORY=0x200000000", m1_on_13);
  lives("one of 64 GiB", "FAKEMETAL_MACOS=13.0 FAKEMETAL_MEMORY=0x1000000000", m1_max_on_13);
  lives("an M2 of 24 GiB on macOS 14", "FAKEMETAL_GPU=M2 FAKEMETAL_MACOS=14.0 FAKEMETAL_MEMORY=0x600000000", m2_on_14);
  lives("an M4 of 16 GiB on macOS 15", "FAKEMETAL_GPU=M4 FAKEMETAL_MACOS=15.2 FAKEMETAL_MEMORY=0x400000000", m4_on_15);
  lives("an M4 of 48 GiB on macOS 26", "FAKEMETAL_GPU=M4 FAKEMETAL_MACOS=26.0 FAKEMETAL_MEMORY=0xc00000000", m4_on_26);
  lives("an M5 of 128 GiB on macOS 26", "FAKEMETAL_GPU=M5 FAKEMETAL_MACOS=26.0 FAKEMETAL_MEMORY=0x2000000000", m5_on_26);
  lives("events order untracked memory", "FAKEMETAL_OVERLAP=1", event_orders);
  lives("command buffers of a queue overlap", "FAKEMETAL_OVERLAP=1", overlap_shows);
  lives("tracked memory orders them", "FAKEMETAL_OVERLAP=1 FAKEMETAL_TRACKED_ORDER=1 FAKEMETAL_DELAY_US=2000", tracked_in_order);
  lives("a wait before its signal, in a tracked heap, ends by the watchdog", "FAKEMETAL_TRACKED_ORDER=1 FAKEMETAL_WATCHDOG_MS=300", deadlock_tracked);
  lives("behind it, or in an untracked heap, it does not", "FAKEMETAL_TRACKED_ORDER=1 FAKEMETAL_WATCHDOG_MS=300", no_deadlock);
  lives("a fault signals nothing and ends the queue", "FAKEMETAL_SILENT_FAILURES=1 FAKEMETAL_DEAD_QUEUES=1 FAKEMETAL_WATCHDOG_MS=200", silent_failure);
  lives("no other failure does", "FAKEMETAL_DEAD_QUEUES=1", queue_lives);
  lives("after three faults the process is ignored for a while", "FAKEMETAL_PENALTY_MS=500", penalty);
  lives("kernels follow addresses in resident memory", "FAKEMETAL_ADDRESSES=1", follow);
  lives("pages that may only be read take a copy", "FAKEMETAL_READONLY_PAGES=1", readonly_pages);
  lives("the worst case has all switches", "FAKEMETAL_WORST=1", all_on);
  lives("without it there is none", "FAKEMETAL_WORST=0", all_off);
  lives("one that is set to 0 stays off", "FAKEMETAL_WORST=1 FAKEMETAL_OVERLAP=0", one_off);
  lives("buffers take more of a heap than their length", "FAKEMETAL_HEAP_SIZES=1", more_of_a_heap);
  lives("or just that", "FAKEMETAL_HEAP_SIZES=0", no_more_of_a_heap);
  lives("compilers take time", "FAKEMETAL_COMPILE_MS=30", slow_compiler);
  lives("there is no pipeline of a long source", "FAKEMETAL_LONG_SOURCE=100", long_source);
  lives("uses of tracked memory are counted", NULL, tracked_is_counted);
  lives("a result is stale until the program waits", "FAKEMETAL_DELAY_US=200000", stale_without_wait);
  lives("a grid of groups has more threads", NULL, many_groups);
  lives("pipelines take fewer threads in the worst case", "FAKEMETAL_WORST=1", small_pipelines);
  lives("math mode and functions are two switches", "FAKEMETAL_FAST_FUNCTIONS=1", math_switches);
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
