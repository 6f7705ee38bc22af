/*
 * graph.c - tests of how graphs are built, compiled and run, and of what each misuse is answered with.
 * What the operators answer is in the other graph_*.c, what they refuse in graph_misuse.c.
 */
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "graph_text.h"

#define ADD "additionWithPrimaryTensor:secondaryTensor:name:"
#define SUBTRACT "subtractionWithPrimaryTensor:secondaryTensor:name:"
#define ENCODE "encodeToCommandBuffer:inputsArray:resultsArray:executionDescriptor:"

enum { F32 = 0x10000020, I32 = 0x20000020 };

static text_graph g;

static void open_it(void) { open_graph(&g); }

static id feed_one(const char *text) { return feed_text(&g, text); }
static id subtract(id x, id y) { return send3(g.graph, SUBTRACT, x, y, NULL); }
static int64_t length(id array) { return (int64_t)number(array, "count"); }
static id at(id array, intptr_t i) { return send1(array, "objectAtIndex:", i); }

static id shaped(id p) {
  return send2(send0(class_of("MPSGraphShapedType"), "alloc"), "initWithShape:dataType:", send0(p, "shape"), (uintptr_t)(uint32_t)number(p, "dataType"));
}

/* compile_with makes an executable of what was fed and one target, +0. */
static id compile_with(id descriptor, id target) {
  id types[MOST_TENSORS], device = send1(class_of("MPSGraphDevice"), "deviceWithMTLDevice:", g.gpu);
  for (intptr_t i = 0; i < g.feeds; i++) types[i] = shaped(g.placeholders[i]);
  id feeds = send3(class_of("NSDictionary"), "dictionaryWithObjects:forKeys:count:", types, g.placeholders, g.feeds);
  for (intptr_t i = 0; i < g.feeds; i++) objc_release(types[i]);
  return send5(g.graph, "compileWithDevice:feeds:targetTensors:targetOperations:compilationDescriptor:", device, feeds, array_of(&target, 1), NULL,
               descriptor);
}

static id compile(id target) { return compile_with(NULL, target); }

/* inputs are the data of the feeds in the order of an executable. */
static id inputs(id program) {
  id order = send0(program, "feedTensors"), datas[MOST_TENSORS];
  intptr_t count = length(order);
  for (intptr_t i = 0; i < count; i++)
    for (intptr_t k = 0; k < g.feeds; k++)
      if (at(order, i) == g.placeholders[k]) datas[i] = g.datas[k];
  return array_of(datas, count);
}

static id output(const char *text, id *data) {
  text_tensor t;
  read_tensor(text, &t);
  id b = buffer_of(g.gpu, &t);
  *data = data_over(b, &t);
  return b;
}

static float *floats(id b) { return send0(b, "contents"); }
static id commands(void) { return send1(class_of("MPSCommandBuffer"), "commandBufferFromCommandQueue:", g.queue); }

static void finish(id cb) {
  send0(cb, "commit");
  send0(cb, "waitUntilCompleted");
}

/* ---- What has to work. */

static void try_building(void) {
  id x = feed_one("f32 2 3: 1 2 3 4 5 6"), y = send3(g.graph, ADD, x, x, text("twice"));
  id s = send0(y, "shape");
  expect(length(s) == 2 && number(at(s, 1), "longLongValue") == 3 && (uint32_t)number(y, "dataType") == F32, "a tensor knows its shape and type");
  id operation = send0(y, "operation");
  expect(strcmp(send0(send0(operation, "name"), "UTF8String"), "twice") == 0 && length(send0(operation, "inputTensors")) == 2, "an operation knows its name and inputs");
  expect(length(send0(g.graph, "placeholderTensors")) == 1, "a graph knows its placeholders");
}

static bool answers(id target, const char *form, const float *want, int count) {
  text_tensor t;
  id b;
  read_tensor(form, &t);
  run_into(&g, &target, &t, &b, 1);
  bool right = memcmp(floats(b), want, (size_t)count * sizeof *want) == 0;
  objc_release(b);
  return right;
}

static void try_constants(void) {
  float values[] = {5, 6};
  id data = send2(class_of("NSData"), "dataWithBytes:length:", values, (intptr_t)sizeof values);
  id c = send3(g.graph, "constantWithData:shape:dataType:", data, integers((int64_t[]){2}, 1), (uintptr_t)F32);
  id one = ((id(*)(id, SEL, double, uint32_t))message)(g.graph, sel_registerName("constantWithScalar:dataType:"), 1, F32);
  id two = ((id(*)(id, SEL, double, id, uint32_t))message)(g.graph, sel_registerName("constantWithScalar:shape:dataType:"), 2, integers((int64_t[]){1}, 1), F32);
  id sum = send3(g.graph, ADD, subtract(c, one), two, NULL);
  expect(answers(sum, "f32 2:", (float[]){6, 7}, 2), "constants of data, of a scalar and of a shape");
}

static void try_executable(void) {
  feed_one("f32 3: 5 7 9"), feed_one("f32 1: 2");
  id target = subtract(g.placeholders[0], g.placeholders[1]), result;
  id b = output("f32 3: 0 0 0", &result);
  bool first = false, second = false, right = true;
  for (int i = 0; i < 32; i++) {
    id program = compile(target);
    first |= at(send0(program, "feedTensors"), 0) == g.placeholders[0];
    second |= at(send0(program, "feedTensors"), 0) == g.placeholders[1];
    floats(b)[0] = 0;
    send4(program, "runWithMTLCommandQueue:inputsArray:resultsArray:executionDescriptor:", g.queue, inputs(program), array_of(&result, 1), NULL);
    right &= floats(b)[0] == 3 && floats(b)[1] == 5 && floats(b)[2] == 7;
  }
  expect(right, "an executable runs");
  expect(first && second, "its inputs are in an order of its own");
  objc_release(result), objc_release(b);
}

static void try_encoding(void) {
  feed_one("f32 2: 1 2");
  id program = compile(send3(g.graph, ADD, g.placeholders[0], g.placeholders[0], NULL)), result;
  id b = output("f32 2: 0 0", &result);
  int moved = 0;
  bool stale = true, right = true;
  for (int i = 0; i < 40; i++) {
    id cb = commands();
    floats(b)[0] = 0;
    send4(program, ENCODE, cb, inputs(program), array_of(&result, 1), NULL);
    moved += send0(cb, "commandBuffer") != send0(cb, "rootCommandBuffer");
    stale &= floats(b)[0] == 0;
    finish(cb);
    right &= floats(b)[0] == 2 && floats(b)[1] == 4;
  }
  expect(stale && right, "encoded work runs after the commit");
  expect(moved > 0 && moved < 40, "encoding goes on in another command buffer, sometimes");
  id cb = commands(), fresh = send4(program, ENCODE, cb, inputs(program), NULL, NULL);
  finish(cb);
  float read[2];
  SEND(void, (id, SEL, void *, void *), send0(at(fresh, 0), "mpsndarray"), "readBytes:strideBytes:", read, NULL);
  expect(read[0] == 2 && read[1] == 4, "without memory for them results get their own");
  objc_release(result), objc_release(b);
}

enum { PATH = 256 };

/* A package of a difference in a new folder of TMPDIR, which run.sh removes; path (PATH bytes) is where. */
static id serialized(char *path) {
  const char *folder = getenv("TMPDIR");
  static int made;
  snprintf(path, PATH - 32, "%s/fakemetal-%d-%d", folder ? folder : "/tmp", (int)getpid(), made++);
  if (mkdir(path, 0700) != 0) abort();
  strcat(path, "/p.mpsgraphpackage");
  id d = send0(class_of("MPSGraphExecutableSerializationDescriptor"), "new"), url = send1(class_of("NSURL"), "fileURLWithPath:", text(path));
  feed_one("f32 3: 5 7 9"), feed_one("f32 1: 2");
  id program = compile(subtract(g.placeholders[0], g.placeholders[1]));
  send2(program, "serializeToMPSGraphPackageAtURL:descriptor:", url, d);
  objc_release(d);
  return program;
}

static id loaded(const char *path) {
  id url = send1(class_of("NSURL"), "fileURLWithPath:", text(path));
  return send2(send0(class_of("MPSGraphExecutable"), "alloc"), "initWithMPSGraphPackageAtURL:compilationDescriptor:", url, NULL);
}

/* Removes a file of a package; all of it without a name. */
static void drop(const char *path, const char *name) {
  char file[PATH + 32];
  snprintf(file, sizeof file, "%s/%s", path, name ? name : "manifest.plist");
  remove(file);
  if (name) return;
  drop(path, "model.bin");
  remove(path);
  snprintf(file, sizeof file, "%.*s", (int)(strrchr(path, '/') - path), path);
  remove(file);
}

static void try_package(void) {
  char path[PATH];
  id order = send0(serialized(path), "feedTensors"), program = loaded(path), result, datas[2];
  id b = output("f32 3: 0 0 0", &result);
  expect(program && !send0(program, "feedTensors") && !send0(program, "targetTensors"), "an executable is loaded, and knows no tensors");
  for (intptr_t i = 0; i < 2; i++) datas[i] = g.datas[at(order, i) == g.placeholders[1]];
  send4(program, "runWithMTLCommandQueue:inputsArray:resultsArray:executionDescriptor:", g.queue, array_of(datas, 2), array_of(&result, 1), NULL);
  expect(floats(b)[0] == 3 && floats(b)[1] == 5 && floats(b)[2] == 7, "it runs, its inputs in the order that they had");
  fakemetal_fail("package_read", 1, 0);
  expect(!loaded(path), "loading can be made to fail");
  drop(path, NULL);
  fakemetal_fail("package_write", 1, 0);
  serialized(path);
  expect(access(path, F_OK) != 0, "writing can be made to fail");
  drop(path, NULL);
  objc_release(result), objc_release(b), objc_release(program);
}

static void try_graph_forms(void) {
  id x = feed_one("f32 2: 3 4"), y = subtract(x, send2(g.graph, "identityWithTensor:name:", x, NULL)), targets[] = {x, y};
  id found = send4(g.graph, "runWithMTLCommandQueue:feeds:targetTensors:targetOperations:", g.queue, feeds_of(&g), array_of(targets, 2), NULL);
  expect(length(found) == 2 && send1(found, "objectForKey:", x) && send1(found, "objectForKey:", y), "a graph answers its targets; a placeholder may be one");
  id cb = commands(), result, b = output("f32 2: 9 9", &result);
  id results = send2(class_of("NSDictionary"), "dictionaryWithObject:forKey:", result, y);
  send5(g.graph, "encodeToCommandBuffer:feeds:targetOperations:resultsDictionary:executionDescriptor:", cb, feeds_of(&g), NULL, results, NULL);
  finish(cb);
  expect(floats(b)[0] == 0 && floats(b)[1] == 0, "a graph can be encoded");
  objc_release(result), objc_release(b);
}

static void try_over_feed(void) {
  text_tensor t;
  read_tensor("f32 3: 1 2 3", &t);
  id x = feed(&g, &t), y = send2(g.graph, "reverseTensor:name:", x, NULL);
  id results = send2(class_of("NSDictionary"), "dictionaryWithObject:forKey:", g.datas[0], y);
  send4(g.graph, "runWithMTLCommandQueue:feeds:targetOperations:resultsDictionary:", g.queue, feeds_of(&g), NULL, results);
  float read[3];
  SEND(void, (id, SEL, void *, void *), send0(g.datas[0], "mpsndarray"), "readBytes:strideBytes:", read, NULL);
  expect(read[0] == 3 && read[2] == 1, "a result may lie over a feed");
}

/* A view of columns 1 and 2 of three rows of four. */
static void try_arrays(void) {
  text_tensor t;
  read_tensor("f32 12: 0 1 2 3 4 5 6 7 8 9 10 11", &t);
  id b = buffer_of(g.gpu, &t);
  id d = send2(class_of("MPSNDArrayDescriptor"), "descriptorWithDataType:shape:", (uintptr_t)F32, integers((int64_t[]){3, 2}, 2));
  send1(d, "setPreferPackedRows:", 1);
  id whole = send3(send0(class_of("MPSNDArray"), "alloc"), "initWithBuffer:offset:descriptor:", b, 4, d);
  id part = send2(whole, "arrayViewWithShape:strides:", integers((int64_t[]){3, 2}, 2), integers((int64_t[]){4, 1}, 2));
  expect(send2(whole, "arrayViewWithShape:strides:", integers((int64_t[]){2, 3}, 2), integers((int64_t[]){1, 4}, 2)) == NULL, "a transposed array is no view");
  id data = send1(send0(class_of("MPSGraphTensorData"), "alloc"), "initWithMPSNDArray:", part);
  id x = send3(g.graph, "placeholderWithShape:dataType:name:", integers((int64_t[]){3, 2}, 2), (uintptr_t)F32, NULL);
  g.placeholders[g.feeds] = x, g.datas[g.feeds++] = data;
  expect(answers(send2(g.graph, "identityWithTensor:name:", x, NULL), "f32 3 2:", (float[]){1, 2, 5, 6, 9, 10}, 6), "an array with an offset and strides is read");
  objc_release(whole);
  send1(d, "setPreferPackedRows:", 0);
  whole = send3(send0(class_of("MPSNDArray"), "alloc"), "initWithBuffer:offset:descriptor:", b, 0, d);
  float read[6];
  SEND(void, (id, SEL, void *, void *), whole, "readBytes:strideBytes:", read, NULL);
  expect(read[1] == 1 && read[2] == 4 && read[5] == 9, "rows that are not packed begin at multiples of 16 bytes");
  objc_release(whole), objc_release(b);
}

static void try_rows(void) {
  text_tensor t;
  read_tensor("f32 8: 1 2 0 0 3 4 0 0", &t);
  id b = buffer_of(g.gpu, &t), x = send3(g.graph, "placeholderWithShape:dataType:name:", integers((int64_t[]){2, 2}, 2), (uintptr_t)F32, NULL);
  g.placeholders[g.feeds] = x;
  g.datas[g.feeds++] = send4(send0(class_of("MPSGraphTensorData"), "alloc"), "initWithMTLBuffer:shape:dataType:rowBytes:", b, integers((int64_t[]){2, 2}, 2), (uintptr_t)F32, 16);
  expect(answers(send2(g.graph, "identityWithTensor:name:", x, NULL), "f32 2 2:", (float[]){1, 2, 3, 4}, 4), "rows may be longer than they need");
  objc_release(b);
}

static void try_events(void) {
  feed_one("f32 1: 1");
  id program = compile(send3(g.graph, ADD, g.placeholders[0], g.placeholders[0], NULL)), event = send0(g.gpu, "newSharedEvent"), result;
  id b = output("f32 1: 0", &result), how = send0(class_of("MPSGraphExecutableExecutionDescriptor"), "new");
  SEND(void, (id, SEL, id, uint64_t, uint64_t), how, "signalEvent:atExecutionEvent:value:", event, 0, 7);
  id cb = commands();
  send4(program, ENCODE, cb, inputs(program), array_of(&result, 1), how);
  finish(cb);
  expect(number(event, "signaledValue") == 7 && floats(b)[0] == 2, "an event is signalled when the run is over");
  objc_release(how), objc_release(event), objc_release(result), objc_release(b);
}

static void try_failures(void) {
  feed_one("f32 1: 1");
  id target = send3(g.graph, ADD, g.placeholders[0], g.placeholders[0], NULL), result;
  fakemetal_fail("executable", 1, 0);
  expect(compile(target) == NULL && compile(target) != NULL, "an executable can be made to fail");
  id program = compile(target), b = output("f32 1: 9", &result), cb = commands();
  send4(program, ENCODE, cb, inputs(program), array_of(&result, 1), NULL);
  fakemetal_fail("command_buffer", 1, 8);
  finish(cb);
  expect(SEND(int64_t, (id, SEL), cb, "status") == 5 && floats(b)[0] == 9, "a command buffer that fails leaves the results alone");
  objc_release(result), objc_release(b);
}

static void try_counters(void) {
  feed_one("f32 1: 1");
  fakemetal_reset();
  id program = compile(send3(g.graph, ADD, g.placeholders[0], g.placeholders[0], NULL)), result, b = output("f32 1: 0", &result), cb = commands();
  for (int i = 0; i < 3; i++) send4(program, ENCODE, cb, inputs(program), array_of(&result, 1), NULL);
  finish(cb);
  expect(fakemetal_count("compiles") == 1 && fakemetal_count("executables") == 1 && fakemetal_count("encoded_graphs") == 3 && fakemetal_count("tensor_datas") == 1, "compiles, runs and tensor data are counted");
  objc_release(result), objc_release(b);
}

enum { DRAWS = 1000 };

/* draw fills values with random numbers of a descriptor; the state begins with a seed. */
static void draw(id descriptor, intptr_t seed, float *values) {
  void *pool = objc_autoreleasePoolPush();
  id s = integers((int64_t[]){DRAWS}, 1), state = send2(g.graph, "randomPhiloxStateTensorWithSeed:name:", seed, NULL);
  id both = send4(g.graph, "randomTensorWithShape:descriptor:stateTensor:name:", s, descriptor, state, NULL), target = at(both, 0);
  id found = send4(g.graph, "runWithMTLCommandQueue:feeds:targetTensors:targetOperations:", g.queue, send0(class_of("NSDictionary"), "dictionary"), array_of(&target, 1), NULL);
  SEND(void, (id, SEL, void *, void *), send0(send1(found, "objectForKey:", target), "mpsndarray"), "readBytes:strideBytes:", values, NULL);
  objc_autoreleasePoolPop(pool);
}

static void try_random(void) {
  float a[DRAWS], b[DRAWS], c[DRAWS];
  double sum = 0, squares = 0;
  id uniform = send2(class_of("MPSGraphRandomOpDescriptor"), "descriptorWithDistribution:dataType:", 0, (uintptr_t)F32);
  SEND(void, (id, SEL, float), uniform, "setMin:", -1.0f);
  draw(uniform, 1, a), draw(uniform, 1, b), draw(uniform, 2, c);
  expect(memcmp(a, b, sizeof a) == 0 && memcmp(a, c, sizeof a) != 0, "a seed is a stream");
  bool inside = true;
  for (int i = 0; i < DRAWS; i++) inside &= a[i] >= -1 && a[i] < 1, sum += a[i];
  expect(inside && fabs(sum / DRAWS) < 0.1, "uniform numbers lie within their range, on both sides of the middle");
  id normal = send2(class_of("MPSGraphRandomOpDescriptor"), "descriptorWithDistribution:dataType:", 1, (uintptr_t)F32);
  SEND(void, (id, SEL, float), normal, "setMean:", 3.0f);
  SEND(void, (id, SEL, float), normal, "setStandardDeviation:", 2.0f);
  draw(normal, 1, a);
  for (int i = 0; i < DRAWS; i++) squares += (a[i] - 3) * (a[i] - 3);
  expect(fabs(sqrt(squares / DRAWS) - 2) < 0.2, "normal numbers have their mean and deviation");
}

static void try_attention(void) {
  id q = feed_one("f32 1 1 1 2: 1 0"), k = feed_one("f32 1 1 2 2: 0 0 0 0"), v = feed_one("f32 1 1 2 2: 1 2 3 4");
  id y = SEND(id, (id, SEL, id, id, id, float, id), g.graph, "scaledDotProductAttentionWithQueryTensor:keyTensor:valueTensor:scale:name:", q, k, v, 0.5f, NULL);
  expect(answers(y, "f32 1 1 1 2:", (float[]){2, 3}, 2), "attention to equal keys is the mean of the values");
}

/* computed is what an executable of a level answers for 1 + 2^-12. */
static float computed(intptr_t level) {
  open_it();
  id how = send0(class_of("MPSGraphCompilationDescriptor"), "new"), result;
  send1(how, "setOptimizationLevel:", level);
  feed_one("f32 1: 1"), feed_one("f32 1: 0.000244140625");
  id program = compile_with(how, send3(g.graph, ADD, g.placeholders[0], g.placeholders[1], NULL)), b = output("f32 1: 0", &result);
  send4(program, "runWithMTLCommandQueue:inputsArray:resultsArray:executionDescriptor:", g.queue, inputs(program), array_of(&result, 1), NULL);
  return floats(b)[0];
}

static void levels(void) { exit(computed(0) != 1.000244140625f || computed(1) != 1); }

/* ---- What has to be refused. */

static void nil_tensor(void) { open_it(), send3(g.graph, ADD, NULL, feed_one("f32 1: 1"), NULL); }
static void not_a_tensor(void) { open_it(), send3(g.graph, ADD, g.gpu, feed_one("f32 1: 1"), NULL); }

static void other_graph(void) {
  open_it();
  id x = feed_one("f32 1: 1");
  open_it();
  send3(g.graph, ADD, x, feed_one("f32 1: 1"), NULL);
}

static void dead_graph(void) {
  open_it();
  id x = objc_retain(feed_one("f32 1: 1"));
  objc_release(g.graph);
  send0(x, "shape");
}

static void dead_tensor(void) {
  open_it();
  id x = feed_one("f32 1: 1");
  objc_release(g.graph);
  send0(x, "shape");
}

static void open_shape(void) { open_it(), send3(g.graph, "placeholderWithShape:dataType:name:", NULL, (uintptr_t)F32, NULL); }

static void short_constant(void) {
  open_it();
  send3(g.graph, "constantWithData:shape:dataType:", send2(class_of("NSData"), "dataWithBytes:length:", "abcd", 4), integers((int64_t[]){2}, 1), (uintptr_t)F32);
}

static void short_buffer(void) {
  open_it();
  id b = send2(g.gpu, "newBufferWithLength:options:", 4096, 0);
  text_tensor t = {.type = F32, .rank = 1, .shape = {1025}};
  data_over(b, &t);
}

static void small_buffer(void) {
  open_it();
  text_tensor t = {.type = 0x10000010, .rank = 2, .shape = {2, 4}};
  data_over(send2(g.gpu, "newBufferWithLength:options:", 16, 0), &t);
}

static void scalar_data(void) {
  open_it();
  text_tensor t = {.type = F32};
  data_over(send2(g.gpu, "newBufferWithLength:options:", 4096, 0), &t);
}

static void no_feed(void) {
  open_it();
  id x = feed_one("f32 1: 1"), y = subtract(x, x);
  g.feeds = 0;
  compile(y);
}

static void fed_result(void) {
  open_it();
  id x = feed_one("f32 1: 1"), y = subtract(x, x);
  g.placeholders[0] = y;
  compile(y);
}

static void other_feed(void) {
  open_it();
  id x = feed_one("f32 2: 1 2"), y = subtract(x, x);
  feed_one("f32 1: 1");
  g.datas[0] = g.datas[1], g.feeds = 1;
  send4(g.graph, "runWithMTLCommandQueue:feeds:targetTensors:targetOperations:", g.queue, feeds_of(&g), array_of(&y, 1), NULL);
}

/* encode_wrongly encodes a sum with a result of some form. */
static void encode_wrongly(const char *form, bool encoder) {
  open_it();
  id x = feed_one("f32 2: 1 2"), program = compile(subtract(x, x)), result, cb = commands();
  output(form, &result);
  if (encoder) send0(send0(cb, "commandBuffer"), "computeCommandEncoder");
  send4(program, ENCODE, cb, inputs(program), array_of(&result, 1), NULL);
}

static void other_result(void) { encode_wrongly("f32 3: 0 0 0", false); }
static void other_type(void) { encode_wrongly("i32 2: 0 0", false); }
static void open_encoder(void) { encode_wrongly("f32 2: 0 0", true); }

static void few_inputs(void) {
  open_it();
  id x = feed_one("f32 1: 1"), y = feed_one("f32 1: 1"), program = compile(subtract(x, y));
  send4(program, ENCODE, commands(), array_of(g.datas, 1), NULL, NULL);
}

static void no_target(void) {
  open_it();
  send4(g.graph, "runWithMTLCommandQueue:feeds:targetTensors:targetOperations:", g.queue, feeds_of(&g), array_of(NULL, 0), NULL);
}

static void committed(void) {
  open_it();
  id cb = send0(g.queue, "commandBuffer");
  send0(cb, "commit");
  send1(class_of("MPSCommandBuffer"), "commandBufferWithCommandBuffer:", cb);
}

static void use_nonzero(void) {
  open_it();
  id x = send2(g.graph, "nonZeroIndicesOfTensor:name:", feed_one("f32 2: 1 0"), NULL);
  subtract(x, x);
}

static void short_nonzero(void) {
  open_it();
  id x = send2(g.graph, "nonZeroIndicesOfTensor:name:", feed_one("f32 2: 1 0"), NULL), b;
  text_tensor two;
  read_tensor("i32 2 1:", &two);
  run_into(&g, &x, &two, &b, 1);
}

static void array_on_14(void) {
  open_it();
  id d = send2(class_of("MPSNDArrayDescriptor"), "descriptorWithDataType:shape:", (uintptr_t)F32, integers((int64_t[]){1}, 1));
  send3(send0(class_of("MPSNDArray"), "alloc"), "initWithBuffer:offset:descriptor:", send2(g.gpu, "newBufferWithLength:options:", 4096, 0), 0, d);
}

static void package_twice(void) {
  char path[PATH];
  open_it();
  id program = serialized(path), d = send0(class_of("MPSGraphExecutableSerializationDescriptor"), "new");
  drop(path, "model.bin"); /* the test ends here: it leaves a folder with one file */
  send2(program, "serializeToMPSGraphPackageAtURL:descriptor:", send1(class_of("NSURL"), "fileURLWithPath:", text(path)), d);
}

static void package_without(const char *name) {
  char path[PATH];
  open_it();
  serialized(path);
  drop(path, name);
  loaded(path);
}

static void no_manifest(void) { package_without("manifest.plist"); }
static void no_model(void) { package_without("model.bin"); }

static void gone_package(void) {
  char path[PATH];
  open_it();
  serialized(path);
  id program = loaded(path), types[2] = {shaped(g.placeholders[0]), shaped(g.placeholders[1])};
  drop(path, NULL);
  send3(program, "specializeWithDevice:inputTypes:compilationDescriptor:", NULL, array_of(types, 2), NULL);
}

static void lenient(void) {
  char path[PATH];
  open_it();
  serialized(path);
  drop(path, "model.bin");
  bool refused = !loaded(path);
  drop(path, NULL);
  exit(!refused);
}

static void *build_much(void *x) {
  void *pool = objc_autoreleasePoolPush();
  for (int i = 0; i < 20000; i++) send3(g.graph, ADD, x, x, NULL);
  objc_autoreleasePoolPop(pool);
  return NULL;
}

static void two_builders(void) {
  pthread_t threads[4];
  open_it();
  id x = feed_one("f32 1: 1");
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, build_much, x);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

static const struct {
  const char *what, *environment, *want;
  void (*body)(void);
} misuses[] = {
    {"a tensor that is nil", NULL, "argument additionWithPrimaryTensor: is nil", nil_tensor},
    {"a device as a tensor", NULL, "is of class FakeDevice; want MPSGraphTensor", not_a_tensor},
    {"a tensor of another graph", NULL, "a tensor belongs to another graph", other_graph},
    {"a tensor that outlives its graph", NULL, "the tensor's graph has been released", dead_graph},
    {"a tensor that died with its graph", NULL, "released for the last time", dead_tensor},
    {"a placeholder without a shape", NULL, "the fake wants shapes that are known", open_shape},
    {"a constant with too few bytes", NULL, "data of 4 bytes; shape [2] of Float32 has 8", short_constant},
    {"a buffer with too few bytes", NULL, "buffer is not large enough. Must be 4100 bytes", short_buffer},
    {"a buffer without slack", NULL, "buffer is not large enough. Must be 32 bytes", small_buffer},
    {"data without axes", NULL, "a shape of 0 axes; want 1 to 16", scalar_data},
    {"a placeholder that is not fed", NULL, "a placeholder of Float32 [1] is not fed", no_feed},
    {"a feed that is no placeholder", NULL, "a feed is no placeholder", fed_result},
    {"a feed of another shape", NULL, "a feed of Float32 [1]; want Float32 [2]", other_feed},
    {"a result of another shape", NULL, "a result of Float32 [3]; want Float32 [2]", other_result},
    {"a result of another type", NULL, "a result of Int32 [2]; want Float32 [2]", other_type},
    {"a graph while an encoder is open", NULL, "has an encoder that has not ended encoding", open_encoder},
    {"an input too few", NULL, "1 inputs; want 2", few_inputs},
    {"no targets", NULL, "there are no target tensors", no_target},
    {"a committed command buffer", NULL, "the command buffer is committed already", committed},
    {"a tensor of unknown shape in a sum", NULL, "which depends on values", use_nonzero},
    {"a result for more than there is", NULL, "a result of Int32 [2, 1]; want Int32 [1, 1]", short_nonzero},
    {"an array with an offset on an old system", "FAKEMETAL_MACOS=14.0", "needs macOS 15.0", array_on_14},
    {"a package where there is one", NULL, "creating .mpsgraphpackage directory failed", package_twice},
    {"a package without its manifest", NULL, "couldn't be opened", no_manifest},
    {"a package without its model", NULL, "couldn't be opened", no_model},
    {"a package that goes before it is used", NULL, "is no longer there", gone_package},
    {"a package on an old system", "FAKEMETAL_MACOS=13.3", "needs macOS 14.0", no_model},
    {"two threads that build a graph", NULL, "another thread is using this MPSGraph at the same time", two_builders},
};

/* ---- What graphs cost, by the switches of harsh.h. */

static uint64_t taken(void) { return number(g.gpu, "currentAllocatedSize"); }

/* long_between is 1 + the sum of a million ones, which are between operations: 4 MB. */
static id long_between(void) {
  id x = feed_one("f32 1: 1"), ones = SEND(id, (id, SEL, double, id, uint32_t), g.graph, "constantWithScalar:shape:dataType:", 1.0, integers((int64_t[]){1000000}, 1), F32);
  id zero[] = {integer(0)};
  return send3(g.graph, ADD, x, send3(g.graph, "reductionSumWithTensor:axes:name:", ones, array_of(zero, 1), NULL), NULL);
}

/* memory_of_graphs is taken by an executable, by its first run for what is between operations, and given back with it. */
static void memory_of_graphs(void) {
  open_it();
  void *pool = objc_autoreleasePoolPush();
  id target = long_between(), result, b = output("f32 1: 0", &result);
  uint64_t before = taken();
  id program = objc_retain(compile(target));
  uint64_t compiled = taken();
  for (int i = 0; i < 2; i++) {
    id cb = commands();
    send4(program, ENCODE, cb, inputs(program), array_of(&result, 1), NULL);
    finish(cb);
    if (taken() < compiled + 4000000 || taken() >= compiled + 2 * 4000000) abort();
  }
  objc_autoreleasePoolPop(pool);
  objc_release(program);
  usleep(20000); /* the queue's thread releases the run */
  if (compiled <= before || taken() > before || floats(b)[0] != 1000001) abort();
}

/* no_memory fails a run that has no room for what is between operations. */
static void no_memory(void) {
  open_it();
  id target = long_between(), result, program = compile(target), cb = commands();
  output("f32 1: 0", &result);
  send4(program, ENCODE, cb, inputs(program), array_of(&result, 1), NULL);
  finish(cb);
  if (number(send0(cb, "error"), "code") != 8) abort();
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void slow_graphs(void) {
  open_it();
  id x = feed_one("f32 1: 1"), result, b = output("f32 1: 0", &result);
  double begun = now();
  id program = compile(subtract(x, x)), cb = commands();
  if (now() - begun < 0.030) abort();
  begun = now();
  send4(program, ENCODE, cb, inputs(program), array_of(&result, 1), NULL);
  if (now() - begun < 0.020) abort();
  finish(cb);
  if (floats(b)[0] != 0) abort();
}

static void long_graph(void) {
  open_it();
  id x = feed_one("f32 1: 1"), two = subtract(x, subtract(x, x));
  if (!compile(two) || compile(subtract(x, two))) abort();
}

static void (*const tries[])(void) = {
    try_building, try_constants, try_executable, try_package, try_encoding, try_graph_forms, try_over_feed, try_arrays, try_rows, try_events, try_failures, try_counters, try_random, try_attention,
};

int main(void) {
  for (size_t i = 0; i < sizeof misuses / sizeof *misuses; i++) misused(misuses[i].what, misuses[i].environment, misuses[i].want, misuses[i].body);
  lives("with level 1 the worst case is half precision", "FAKEMETAL_WORST=1", levels);
  lives("graphs take memory", "FAKEMETAL_GRAPH_MEMORY=1", memory_of_graphs);
  lives("where there is none a run fails", "FAKEMETAL_GRAPH_MEMORY=1 FAKEMETAL_MEMORY=3000000", no_memory);
  lives("compiling and encoding a graph takes time", "FAKEMETAL_COMPILE_MS=30 FAKEMETAL_GRAPH_ENCODE_US=20000", slow_graphs);
  lives("there is no executable of a long graph", "FAKEMETAL_LONG_GRAPH=2", long_graph);
  lives("a damaged package gives nil where that is wanted", "FAKEMETAL_LENIENT_PACKAGES=1", lenient);
  if (getenv("CHECK_ROW")) return 0;
  int64_t before = fakemetal_count("live_objects");
  for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
    void *pool = objc_autoreleasePoolPush();
    open_it();
    tries[i]();
    close_graph(&g);
    objc_autoreleasePoolPop(pool);
  }
  usleep(20000); /* the queues' threads let go of the last command buffers */
  expect(fakemetal_leaks(true) == before, "nothing is left of all these graphs");
  return failures() != 0;
}
