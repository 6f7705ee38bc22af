/*
 * graph_text.h - for the tests of graphs: operators applied to tensors that are written as text.
 *
 * A tensor is "f32 2 3: 1 2 3 4 5 6". An argument of an operator is a tensor, which becomes a placeholder;
 * "(tensor; tensor)", an array of them; "[1 2]", an array of numbers; "#f16", a type; "=0.5", the one
 * argument that is a double; "nil", or an integer. Arguments are separated by '|'; the name is left out.
 */
#ifndef FAKEMETAL_GRAPH_TEXT_H
#define FAKEMETAL_GRAPH_TEXT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { MOST_VALUES = 64, MOST_TENSORS = 8, MOST_ARGUMENTS = 8 };

typedef struct {
  uint32_t type;
  int rank, count;
  int64_t shape[17];
  double values[MOST_VALUES];
} text_tensor;

/* A graph with what it was fed. */
typedef struct {
  id gpu, queue, graph;
  id placeholders[MOST_TENSORS], datas[MOST_TENSORS];
  intptr_t feeds;
} text_graph;

static const struct {
  const char *name;
  uint32_t type;
} text_types[] = {
    {"f32", 0x10000020}, {"f16", 0x10000010}, {"bf16", 0x90000010}, {"i8", 0x20000008}, {"i16", 0x20000010},
    {"i32", 0x20000020}, {"i64", 0x20000040}, {"u8", 8},            {"u16", 16},        {"u32", 32},
    {"b", 0x80000008},
};

static inline uint32_t type_named(const char *text, size_t length) {
  for (size_t i = 0; i < sizeof text_types / sizeof *text_types; i++)
    if (strlen(text_types[i].name) == length && strncmp(text, text_types[i].name, length) == 0) return text_types[i].type;
  return (uint32_t)strtoul(text, NULL, 0);
}

static inline size_t size_of(uint32_t type) { return (type & 0xffff) / 8; }

static inline id class_of(const char *name) { return objc_getClass(name); }
static inline id integer(int64_t v) { return send1(class_of("NSNumber"), "numberWithLongLong:", v); }
static inline id array_of(id *items, intptr_t count) { return send2(class_of("NSArray"), "arrayWithObjects:count:", items, count); }

static inline id integers(const int64_t *numbers, intptr_t count) {
  id items[32];
  for (int i = 0; i < count; i++) items[i] = integer(numbers[i]);
  return array_of(items, count);
}

/* read_tensor answers what follows the text of a tensor. */
static inline const char *read_tensor(const char *text, text_tensor *t) {
  char *end;
  *t = (text_tensor){0};
  size_t length = strcspn(text, " :");
  t->type = type_named(text, length);
  for (text += length; *text != ':'; text = end) t->shape[t->rank++] = strtoll(text, &end, 0);
  for (text++; t->count < MOST_VALUES; text = end) {
    double v = strtod(text, &end);
    if (end == text) break;
    t->values[t->count++] = v;
  }
  return text + strspn(text, " ");
}

/* Halves: enough of a conversion for values that are exact. */
static inline double half_value(uint16_t bits, int exponent_bits) {
  int fraction = 15 - exponent_bits, most = (1 << exponent_bits) - 1, e = bits >> fraction & most, f = bits & ((1 << fraction) - 1);
  double v = e == most ? (f ? NAN : INFINITY) : ldexp(e ? f + (1 << fraction) : f, (e ? e : 1) - most / 2 - fraction);
  return bits >> 15 ? -v : v;
}

static inline uint16_t half_bits(double v, int exponent_bits) {
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    double w = half_value((uint16_t)bits, exponent_bits);
    if ((w == v && signbit(w) == signbit(v)) || (isnan(w) && isnan(v))) return (uint16_t)bits;
  }
  abort();
}

static inline void put(uint32_t type, char *at, double v) {
  int64_t whole = isfinite(v) ? (int64_t)v : 0;
  float f = (float)v;
  uint16_t half = type == 0x10000010 ? half_bits(v, 5) : type == 0x90000010 ? half_bits(v, 8) : 0;
  memcpy(at, type == 0x10000020 ? (void *)&f : half || type & 0x10000000 ? (void *)&half : (void *)&whole, size_of(type));
}

static inline double get(uint32_t type, const char *at) {
  int64_t whole = 0;
  float f;
  memcpy(&f, at, size_of(type) < 4 ? size_of(type) : 4);
  memcpy(&whole, at, size_of(type));
  if (type == 0x10000020) return f;
  if (type == 0x10000010) return half_value((uint16_t)whole, 5);
  if (type == 0x90000010) return half_value((uint16_t)whole, 8);
  int unused = 64 - (int)(type & 0xffff);
  return type & 0x20000000 ? (double)((int64_t)((uint64_t)whole << unused) >> unused) : (double)whole;
}

static inline id buffer_of(id gpu, const text_tensor *t) {
  id b = send2(gpu, "newBufferWithLength:options:", 4096, 0);
  char *bytes = send0(b, "contents");
  for (int i = 0; i < t->count; i++) put(t->type, bytes + (size_t)i * size_of(t->type), t->values[i]);
  return b;
}

static inline id data_over(id buffer, const text_tensor *t) {
  return send3(send0(class_of("MPSGraphTensorData"), "alloc"), "initWithMTLBuffer:shape:dataType:", buffer, integers(t->shape, t->rank), (uintptr_t)t->type);
}

static inline void open_graph(text_graph *g) {
  *g = (text_graph){.gpu = MTLCreateSystemDefaultDevice()};
  g->queue = send0(g->gpu, "newCommandQueue");
  g->graph = send0(class_of("MPSGraph"), "new");
}

static inline void close_graph(text_graph *g) {
  for (int i = 0; i < g->feeds; i++) objc_release(g->datas[i]);
  objc_release(g->graph), objc_release(g->queue), objc_release(g->gpu);
}

/* feed makes a placeholder with values. */
static inline id feed(text_graph *g, const text_tensor *t) {
  id p = send3(g->graph, "placeholderWithShape:dataType:name:", integers(t->shape, t->rank), (uintptr_t)t->type, NULL);
  id b = buffer_of(g->gpu, t);
  g->placeholders[g->feeds] = p, g->datas[g->feeds++] = data_over(b, t);
  objc_release(b);
  return p;
}

static inline id feed_text(text_graph *g, const char *text) {
  text_tensor t;
  read_tensor(text, &t);
  return feed(g, &t);
}

static inline id feeds_of(text_graph *g) {
  return send3(class_of("NSDictionary"), "dictionaryWithObjects:forKeys:count:", g->datas, g->placeholders, g->feeds);
}

static inline id read_list(const char *text) {
  int64_t numbers[32];
  int count = 0;
  for (char *end; *text && *text != ']'; text = end + strspn(end, " ")) numbers[count++] = strtoll(text, &end, 0);
  return integers(numbers, count);
}

static inline id read_tensors(text_graph *g, const char *text) {
  id items[MOST_TENSORS];
  int count = 0;
  while (*text && *text != ')') {
    text_tensor t;
    text = read_tensor(text, &t);
    items[count++] = feed(g, &t);
    text += strspn(text, "; ");
  }
  return array_of(items, count);
}

static inline uintptr_t read_argument(text_graph *g, const char *text, double *real) {
  switch (*text) {
  case '[': return (uintptr_t)read_list(text + 1);
  case '(': return (uintptr_t)read_tensors(g, text + 1);
  case '#': return type_named(text + 1, strcspn(text + 1, " "));
  case '=': return *real = strtod(text + 1, NULL), UINTPTR_MAX;
  case 'n': return 0;
  default: return strchr("fbiu", *text) ? (uintptr_t)feed_text(g, text) : (uintptr_t)strtoll(text, NULL, 0);
  }
}

/* apply sends the message: a double stands in a register of its own, wherever it is in the list. */
static inline id apply(text_graph *g, const char *name, const char *text) {
  uintptr_t a[MOST_ARGUMENTS + 1] = {0};
  double real = 0;
  char parts[512], *rest = parts;
  strcpy(parts, text);
  for (int i = 0; rest && *rest;) {
    char *part = strsep(&rest, "|");
    part += strspn(part, " ");
    uintptr_t v = read_argument(g, part, &real);
    if (*part != '=') a[i++] = v;
  }
  return ((id(*)(id, SEL, double, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t))message)(
      g->graph, sel_registerName(name), real, a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
}

/* run_into runs the graph for tensors and puts what they are into buffers of 4096 bytes, +1. */
static inline void run_into(text_graph *g, id *targets, const text_tensor *forms, id *buffers, intptr_t count) {
  id results[MOST_TENSORS];
  for (int i = 0; i < count; i++) {
    buffers[i] = send2(g->gpu, "newBufferWithLength:options:", 4096, 0);
    results[i] = data_over(buffers[i], &forms[i]);
  }
  id into = send3(class_of("NSDictionary"), "dictionaryWithObjects:forKeys:count:", results, targets, count);
  send4(g->graph, "runWithMTLCommandQueue:feeds:targetOperations:resultsDictionary:", g->queue, feeds_of(g), NULL, into);
  for (int i = 0; i < count; i++) objc_release(results[i]);
}

static inline double ulp_of(uint32_t type, double v) {
  int precision = type == 0x10000020 ? 24 : type == 0x10000010 ? 11 : 8, e;
  frexp(v, &e);
  return type & 0x10000000 ? ldexp(1, e - precision) : 0;
}

/* same compares with what is written, which is rounded to the type first; -0 is not 0. */
static inline bool same(uint32_t type, double got, double want, double ulps) {
  if (type == 0x10000020) want = (float)want;
  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
  return (got == want && signbit(got) == signbit(want)) || fabs(got - want) <= ulps * ulp_of(type, want);
}

/* run_and_compare says whether a tensor, or each of an array, is what is written; texts are separated
 * by ';'. */
static inline bool run_and_compare(text_graph *g, id answer, const char *wanted, double ulps) {
  id targets[MOST_TENSORS], buffers[MOST_TENSORS];
  text_tensor want[MOST_TENSORS];
  intptr_t count = 0;
  bool right = true, many = SEND(signed char, (id, SEL, id), answer, "isKindOfClass:", class_of("NSArray"));
  for (const char *text = wanted; *text; text += strspn(text, "; "), count++) {
    text = read_tensor(text, &want[count]);
    targets[count] = many ? send1(answer, "objectAtIndex:", count) : answer;
  }
  run_into(g, targets, want, buffers, count);
  for (intptr_t i = 0; i < count; i++) {
    for (int k = 0; k < want[i].count; k++) {
      double got = get(want[i].type, (char *)send0(buffers[i], "contents") + (size_t)k * size_of(want[i].type));
      if (same(want[i].type, got, want[i].values[k], ulps)) continue;
      right = false;
      printf("    result %d, element %d: got %.9g; want %.9g\n", (int)i, k, got, want[i].values[k]);
    }
    objc_release(buffers[i]);
  }
  return right;
}

/* yields says whether an operator answers what is written. */
static inline bool yields(const char *name, const char *arguments, const char *wanted, double ulps) {
  void *pool = objc_autoreleasePoolPush();
  text_graph g;
  open_graph(&g);
  bool right = run_and_compare(&g, apply(&g, name, arguments), wanted, ulps);
  close_graph(&g);
  objc_autoreleasePoolPop(pool);
  return right;
}

#endif
