/*
 * graph_random.c - random tensors: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel Random Numbers:
 * As Easy as 1, 2, 3", 2011) with its state in a tensor. The same seed gives the
 * same stream. Which one is unspecified for Apple's, so that of the mock depends on FAKEMETAL_SEED as well.
 */
#include <math.h>
#include <string.h>

#include "graph.h"

/* ---- MPSGraphRandomOpDescriptor. */

enum { UNIFORM = 0, NORMAL = 1, TRUNCATED_NORMAL = 2 };

typedef struct {
  object head;
  uint64_t distribution, samplingMethod;
  uint32_t dataType;
  float min, max, mean, standardDeviation;
  int64_t minInteger, maxInteger;
} random_descriptor;

#define FIELD(number, field)                                                                   \
  static number get_##field(id self) { return ((random_descriptor *)self)->field; }            \
  static void set_##field(id self, SEL cmd, number v) { (void)cmd, ((random_descriptor *)self)->field = v; }
FIELD(uint64_t, distribution)
FIELD(uint64_t, samplingMethod)
FIELD(uint32_t, dataType)
FIELD(float, min)
FIELD(float, max)
FIELD(float, mean)
FIELD(float, standardDeviation)
FIELD(int64_t, minInteger)
FIELD(int64_t, maxInteger)

static void check_kind(uint64_t distribution, uint32_t type) {
  if (distribution > TRUNCATED_NORMAL) misuse("distribution %llu", (unsigned long long)distribution);
  if (type != FLOAT32 && type != FLOAT16 && type != INT32 && type != INT64) misuse("takes no %s", type_name(type));
  if (distribution != UNIFORM && !type_is_real(type)) misuse("a normal distribution of %s", type_name(type));
}

static id descriptor_with(class_ *self, SEL cmd, uint64_t distribution, uint32_t type) {
  (void)cmd;
  check_kind(distribution, type);
  random_descriptor *d = (random_descriptor *)object_make(self);
  d->distribution = distribution, d->dataType = type;
  d->max = 1, d->standardDeviation = 1, d->maxInteger = INT32_MAX;
  return autorelease(&d->head);
}

static const method descriptor_methods[] = {
    CLASS("descriptorWithDistribution:dataType:", descriptor_with),
    INSTANCE("distribution", get_distribution),
    INSTANCE("setDistribution:", set_distribution),
    INSTANCE("dataType", get_dataType),
    INSTANCE("setDataType:", set_dataType),
    INSTANCE("min", get_min),
    INSTANCE("setMin:", set_min),
    INSTANCE("max", get_max),
    INSTANCE("setMax:", set_max),
    INSTANCE("minInteger", get_minInteger),
    INSTANCE("setMinInteger:", set_minInteger),
    INSTANCE("maxInteger", get_maxInteger),
    INSTANCE("setMaxInteger:", set_maxInteger),
    INSTANCE("mean", get_mean),
    INSTANCE("setMean:", set_mean),
    INSTANCE("standardDeviation", get_standardDeviation),
    INSTANCE("setStandardDeviation:", set_standardDeviation),
    INSTANCE("samplingMethod", get_samplingMethod),
    INSTANCE("setSamplingMethod:", set_samplingMethod),
};

/* ---- Philox. */

enum { STATE_LENGTH = 7, ROUNDS = 10 };

/* A state as a tensor has it: a counter of four words, a key of two, and one word that is not used. */
typedef struct {
  uint32_t counter[4], key[2];
  uint32_t ready[4]; /* words that are made and not taken */
  int left;
} philox;

static void advance(philox *p) {
  for (int i = 0; i < 4 && ++p->counter[i] == 0; i++) {}
}

static void make_words(philox *p) {
  uint32_t c[4] = {p->counter[0], p->counter[1], p->counter[2], p->counter[3]}, k0 = p->key[0], k1 = p->key[1];
  for (int i = 0; i < ROUNDS; i++, k0 += 0x9e3779b9, k1 += 0xbb67ae85) {
    uint64_t a = UINT64_C(0xd2511f53) * c[0], b = UINT64_C(0xcd9e8d57) * c[2];
    uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k0, (uint32_t)b, (uint32_t)(a >> 32) ^ c[3] ^ k1, (uint32_t)a};
    for (int w = 0; w < 4; w++) c[w] = next[w];
  }
  for (int w = 0; w < 4; w++) p->ready[w] = c[w];
  p->left = 4;
  advance(p);
}

static uint32_t word(philox *p) {
  if (p->left == 0) make_words(p);
  return p->ready[4 - p->left--];
}

static double unit(philox *p) { return (word(p) >> 8) * 0x1p-24; }

static philox philox_of(const value *state) {
  philox p = {.left = 0};
  for (int i = 0; i < 6; i++) *(i < 4 ? &p.counter[i] : &p.key[i - 4]) = (uint32_t)state->cells[i].whole;
  return p;
}

static philox philox_seeded(uint64_t seed) {
  seed ^= random_seed() * UINT64_C(0x9e3779b97f4a7c15);
  return (philox){.key = {(uint32_t)seed, (uint32_t)(seed >> 32)}};
}

static void philox_save(const philox *p, value *state) {
  for (int i = 0; i < 6; i++) state->cells[i].whole = (int32_t)(i < 4 ? p->counter[i] : p->key[i - 4]);
}

/* ---- Values. */

static double normal(philox *p, const random_descriptor *d) {
  double radius = sqrt(-2 * log(1 - unit(p)));
  return d->mean + d->standardDeviation * radius * cos(2 * acos(-1) * unit(p));
}

static double real_value(philox *p, const random_descriptor *d) {
  if (d->distribution == UNIFORM) return d->min + unit(p) * ((double)d->max - d->min);
  double v = normal(p, d);
  while (d->distribution == TRUNCATED_NORMAL && (v < d->min || v > d->max)) v = normal(p, d);
  return v;
}

static int64_t whole_value(philox *p, const random_descriptor *d) {
  uint64_t range = (uint64_t)d->maxInteger - (uint64_t)d->minInteger, bits = (uint64_t)word(p) << 32;
  return d->minInteger + (int64_t)((bits | word(p)) % range);
}

/* A uniform number that rounding has moved to the end of its range is the one before it. */
static cell value_of(philox *p, const random_descriptor *d) {
  if (!type_is_real(d->dataType)) return type_round(d->dataType, (cell){.whole = whole_value(p, d)});
  cell c = type_round(d->dataType, (cell){.real = real_value(p, d)});
  if (d->distribution == UNIFORM && d->max > d->min && c.real >= d->max) c.real = d->min;
  return c;
}

static void fill(philox *p, const random_descriptor *d, value *out) {
  for (int64_t i = 0; i < out->count; i++) out->cells[i] = value_of(p, d);
}

/* ---- Operators. numbers[0]: the seed. */

static void infer_state(node *n) { node_output(n, INT32, (shape){1, {STATE_LENGTH}}); }

static void compute_state(const node *n, const value *in, value *out) {
  (void)in;
  philox p = philox_seeded((uint64_t)n->numbers[0]);
  philox_save(&p, out);
}

static void infer_random(node *n) {
  const random_descriptor *d = (const random_descriptor *)n->descriptor;
  check_kind(d->distribution, d->dataType); /* its setters check nothing */
  bool bounded = !type_is_real(d->dataType) || d->distribution != NORMAL;
  if (bounded && (type_is_real(d->dataType) ? !(d->min <= d->max) : d->minInteger >= d->maxInteger)) misuse("an empty range");
  if (n->ins > 0 && (input(n, 0)->type != INT32 || shape_count(&input(n, 0)->shape) != STATE_LENGTH))
    misuse("a state of %s %s; want Int32 [%d]", type_name(input(n, 0)->type), shape_text(&input(n, 0)->shape), STATE_LENGTH);
  node_output(n, d->dataType, list_shape(&n->lists[0]));
  if (n->ins > 0) node_output(n, INT32, input(n, 0)->shape);
}

static void compute_random(const node *n, const value *in, value *out) {
  philox p = n->ins > 0 ? philox_of(in) : philox_seeded((uint64_t)n->numbers[0]);
  fill(&p, (const random_descriptor *)n->descriptor, &out[0]);
  if (n->ins > 0) philox_save(&p, &out[1]);
}

static id philox_state(id self, SEL cmd, uint64_t seed, id name) {
  node *n = node_begin(self, cmd, name);
  n->numbers[0] = (int64_t)seed;
  return node_end(n);
}

/* The descriptor may change later: the node has a copy. */
static node *begin_random(id self, SEL cmd, id shape, id descriptor, id name) {
  node *n = node_begin(self, cmd, name);
  const random_descriptor *from = (const random_descriptor *)descriptor;
  random_descriptor *d = (random_descriptor *)object_make(descriptor->isa);
  memcpy(&d->head + 1, &from->head + 1, sizeof *d - sizeof d->head);
  n->descriptor = &d->head;
  node_list(n, shape);
  return n;
}

static id random_with_state(id self, SEL cmd, id shape, id descriptor, id state, id name) {
  node *n = begin_random(self, cmd, shape, descriptor, name);
  node_input(n, state);
  return node_end_many(n);
}

static id random_with_seed(id self, SEL cmd, id shape, id descriptor, uint64_t seed, id name) {
  node *n = begin_random(self, cmd, shape, descriptor, name);
  n->numbers[0] = (int64_t)seed;
  return node_end(n);
}

static id random_anyhow(id self, SEL cmd, id shape, id descriptor, id name) {
  return random_with_seed(self, cmd, shape, descriptor, random_bits(), name);
}

static const operator rows[] = {
    {"randomPhiloxStateTensorWithSeed:name:", (IMP)philox_state, infer_state, compute_state, false},
    {"randomTensorWithShape:descriptor:stateTensor:name:", (IMP)random_with_state, infer_random, compute_random, false},
    {"randomTensorWithShape:descriptor:seed:name:", (IMP)random_with_seed, infer_random, compute_random, false},
    {"randomTensorWithShape:descriptor:name:", (IMP)random_anyhow, infer_random, compute_random, false},
};

void random_operators(void) { OPERATORS(rows); }

__attribute__((constructor)) static void define(void) {
  static const class_def definition = {"MPSGraphRandomOpDescriptor", "NSObject", NULL, sizeof(random_descriptor), NULL, METHODS(descriptor_methods)};
  class_define(&definition);
}
