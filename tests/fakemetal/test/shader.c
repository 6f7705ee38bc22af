/*
 * shader.c - shaders that have to compile and give known results, and shaders that do something which
 * Metal forbids and have to be stopped with the right words. One line a test: `ok` or `FAIL`.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../shader.h"

enum { LENGTH = 2048 };

static int failed;
/* Far apart, so that what leaves one does not reach the other. */
static struct {
  float before[LENGTH], in[LENGTH], between[LENGTH], out[LENGTH], after[LENGTH];
} memory;
static float *const in = memory.in, *const out = memory.out;

static void verdict(const char *name, const char *wrong) {
  printf("%s shader %s\n", wrong ? "FAIL" : "ok", name);
  if (wrong) printf("    %s\n", wrong);
  failed += wrong != NULL;
}

static const shader_options safe = {0x30001, false, false, NULL}, fast = {0x30001, true, true, NULL},
                            halfway = {0x30001, false, true, NULL}, /* safe math, fast functions */
                            newer = {0x30002, false, false, NULL};

static const char head[] = "#include <metal_stdlib>\nusing namespace metal;\n";

static shader_library *compile(const char *body, const shader_options *o, char **error) {
  char *source = malloc(strlen(head) + strlen(body) + 1);
  strcat(strcpy(source, head), body);
  shader_library *l = shader_compile(source, o, error);
  free(source);
  return l;
}

/* run compiles a source of one kernel `f` and runs it over in and out. NULL or what was wrong. */
static char *run(const char *body, const shader_options *o, uint64_t threads, uint64_t group) {
  char *error = NULL;
  shader_library *l = compile(body, o, &error);
  if (!l) return error;
  for (int i = 0; i < LENGTH; i++) in[i] = (float)i, out[i] = -1;
  shader_dispatch d = {
      .buffers = {{in, sizeof memory.in, 0, false}, {out, sizeof memory.out, 0, false}}, .threadgroup = {1024},
      .groups = {(threads + group - 1) / group, 1, 1}, .group = {group, 1, 1}, .threads = {threads, 1, 1}};
  shader_counts counts;
  error = shader_run(shader_find(l, shader_find(l, "f") ? "f" : "mine::inner::f"), &d, &counts, NULL);
  shader_library_free(l);
  return error;
}

/* ---- Results. */

#define XY "device const float *x [[buffer(0)]], device float *y [[buffer(1)]]"
#define INDEX "uint i [[thread_position_in_grid]]"
#define LOCAL "uint i [[thread_index_in_threadgroup]]"

static const struct {
  const char *name, *body;
  uint64_t threads, group;
  float want[3]; /* out[0], out[1], out[7] */
} results[] = {
    {"copy", "kernel void f(" XY ", " INDEX ") { y[i] = x[i]; }", 1000, 64, {0, 1, 7}},
    {"vectors", "kernel void f(device const float4 *x [[buffer(0)]], device float4 *y [[buffer(1)]], " INDEX ") { y[i] = x[i].wzyx * 2.0f + float4(0, 1, 0, 0); }", 4, 4, {6, 5, 8}},
    {"packed", "kernel void f(device const packed_float3 *x [[buffer(0)]], device packed_float3 *y [[buffer(1)]], " INDEX ") { y[i] = float3(x[i]) + 1.0f; }", 4, 4, {1, 2, 8}},
    {"half", "kernel void f(" XY ", " INDEX ") { half h = half(x[i]) + 0.5h; y[i] = h * h; }", 8, 8, {0.25f, 2.25f, 56.25f}},
    {"half rounds", "kernel void f(" XY ", " INDEX ") { y[i] = float(half(x[i] + 2049.0f)); }", 8, 8, {2048, 2050, 2056}},
    {"bfloat", "kernel void f(" XY ", " INDEX ") { y[i] = float(bfloat(x[i] + 256.0f)); }", 8, 8, {256, 256, 264}},
    {"integers", "kernel void f(" XY ", " INDEX ") { long a = -7l - long(i); y[i] = float(a / 2) + float(popcount(uint(7u)) + clz(1u)); }", 8, 8, {31, 30, 27}},
    {"simd_sum", "kernel void f(" XY ", " LOCAL ") { float s = simd_sum(x[i]); y[i] = s; }", 64, 64, {496, 496, 496}},
    {"simd prefix", "kernel void f(" XY ", " LOCAL ") { y[i] = simd_prefix_inclusive_sum(x[i]); }", 64, 64, {0, 1, 28}},
    {"simd shuffle", "kernel void f(" XY ", " LOCAL ") { y[i] = simd_shuffle_xor(x[i], 1); }", 64, 64, {1, 0, 6}},
    {"simd shuffles beyond the ends", "kernel void f(" XY ", " LOCAL ") { y[i] = simd_shuffle_and_fill_up(x[i], -5.0f, 1) + simd_shuffle_rotate_up(x[i], 1) * 100 + simd_shuffle_rotate_down(x[i], 31) * 1000; }", 32, 32, {34095, 0, 6606}},
    {"quads", "kernel void f(" XY ", " LOCAL ") { y[i] = quad_sum(x[i]) + 100 * quad_shuffle_xor(x[i], 2) + 1000 * quad_broadcast(x[i], 3); }", 32, 32, {3206, 3306, 7522}},
    {"a barrier between two conditions",
     "kernel void f(" XY ", " LOCAL ") { threadgroup float p[1]; float m = 0; if (i < 100) p[0] = 1; threadgroup_barrier(mem_flags::mem_threadgroup); if (i < 100) m += p[0]; y[i] = m; }", 256, 256, {1, 1, 1}},
    {"a reduction in two steps",
     "kernel void f(" XY ", " LOCAL ", uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]]) { threadgroup float p[8]; float m = simd_max(x[i]);\n"
     "if (lane == 0) p[sg] = m; threadgroup_barrier(mem_flags::mem_threadgroup); y[i] = simd_max(lane < 8 ? p[lane] : -INFINITY); }", 256, 256, {255, 255, 255}},
    {"simd matrices",
     "kernel void f(" XY ", " LOCAL ") { simdgroup_float8x8 a, b(2), c = make_filled_simdgroup_matrix<float, 8, 8>(1); simdgroup_load(a, x, 16, ulong2(8, 0));\n"
     "simdgroup_multiply_accumulate(c, a, b, c); simdgroup_store(c, y, 8, ulong2(0, 0), true); }", 32, 32, {17, 49, 241}},
    {"simd matrices of halves",
     "kernel void f(" XY ", " LOCAL ") { threadgroup half t[64]; t[i] = half(x[i]); t[i + 32] = half(i); simdgroup_barrier(mem_flags::mem_threadgroup);\n"
     "simdgroup_half8x8 a, b; simdgroup_float8x8 c; simdgroup_load(a, t); simdgroup_load(b, t, 8, 0, true); simdgroup_multiply(c, a, b); simdgroup_store(c, y); }", 32, 32, {140, 364, 812}},
    {"simd with lanes missing", "kernel void f(" XY ", " LOCAL ") { y[i] = simd_max(x[i]); }", 20, 20, {19, 19, 19}},
    {"threadgroup memory",
     "kernel void f(" XY ", " LOCAL ", uint n [[threads_per_threadgroup]]) { threadgroup float t[256]; t[i] = x[i];\n"
     "threadgroup_barrier(mem_flags::mem_threadgroup); y[i] = t[n - 1 - i]; }", 256, 256, {255, 254, 248}},
    {"threadgroup argument",
     "kernel void f(" XY ", threadgroup float *t [[threadgroup(0)]], " LOCAL ", uint n [[threads_per_threadgroup]]) { t[i] = x[i];\n"
     "threadgroup_barrier(mem_flags::mem_threadgroup); y[i] = t[n - 1 - i]; }", 256, 256, {255, 254, 248}},
    {"groups and edges", "kernel void f(" XY ", uint i [[thread_position_in_threadgroup]], uint g [[threadgroup_position_in_grid]], uint n [[threads_per_threadgroup]], uint m [[dispatch_threads_per_threadgroup]]) { y[g * m + i] = float(n); }", 7, 4, {4, 4, -1}},
    {"atomics", "kernel void f(device const float *x [[buffer(0)]], device atomic_int *y [[buffer(1)]], " INDEX ") { if (i == 0) atomic_store_explicit(y, 0, memory_order_relaxed); }", 1, 1, {0, -1, -1}},
    {"constant tables", "constant float table[4] = {5, 6, 7, 8};\nkernel void f(" XY ", " INDEX ") { y[i] = table[i & 3]; }", 8, 8, {5, 6, 8}},
    {"functions and structures", "struct P { float a; float b; };\nfloat g(thread const P &p, device const float *x) { return p.a * x[1] + p.b; }\nkernel void f(" XY ", " INDEX ") { P p = {float(i), 1.0f}; y[i] = g(p, x); }", 8, 8, {1, 2, 8}},
    {"macros", "#define TWICE(a) ((a) * 2)\nkernel void f(" XY ", " INDEX ") { y[i] = TWICE(x[i]); }", 8, 8, {0, 2, 14}},
    {"components of vectors", "kernel void f(device const float4 *x [[buffer(0)]], device float4 *y [[buffer(1)]], " INDEX ") { float4 v = x[i]; v.xw = v.wx; v.gb *= 10.0f; y[i] = v.wzyx; }", 2, 2, {0, 20, 7}},
    {"a copy of components", "kernel void f(" XY ", " INDEX ") { float2 v = float2(x[i], 5); auto c = v.xy; v.x = 9; y[i] = c.x; }", 8, 8, {0, 1, 7}},
    {"a member named as components are", "struct P { float xy; };\nkernel void f(" XY ", " INDEX ") { P p = {x[i]}; p.xy += 1; y[i] = p.xy; }", 8, 8, {1, 2, 8}},
    {"packed components", "kernel void f(device const packed_float3 *x [[buffer(0)]], device float *y [[buffer(1)]], " INDEX ") { packed_float3 p = x[i]; p.y += 1; p *= 2.0f; y[i] = p.zyx.y + p[2]; }", 8, 8, {8, 20, 92}},
    {"matrices", "kernel void f(" XY ", " INDEX ") { float2x2 m = float2x2(1, 2, 3, 4); float2 v = float2(x[i], 1); y[i] = (m * v).y * 1000 + (v * m).x * 10 + determinant(m) + (m * m)[0].y; }", 8, 8, {4028, 6038, 18098}},
    {"matrices of three columns", "kernel void f(" XY ", " INDEX ") { float3x3 r = float3x3(float3(1, 2, 3), float3(4, 5, 6), float3(7, 8, 10)); y[i] = determinant(r) + dot(transpose(r)[0], float3(x[i], 1, 0)); }", 8, 8, {1, 2, 8}},
    {"a determinant of four columns", "kernel void f(" XY ", " INDEX ") { float4x4 m = float4x4(2.0f); m[0][1] = 3; m[1][0] = x[i]; y[i] = determinant(m); }", 8, 8, {16, 4, -68}},
    {"constants that are no scalars", "constant float2x2 m = float2x2(1, 2, 3, 4);\nconstant float3 v = float3(1, 2, 3);\nconstant array<int, 2> a = {5, 6};\nkernel void f(" XY ", " INDEX ") { y[i] = x[i] + m[1][0] + v.z + a[1]; }", 8, 8, {12, 13, 19}},
    {"vectors of bool", "kernel void f(" XY ", " INDEX ") { float4 v = float4(x[i], 1, 2, 3); bool4 b = v > 1.5f; y[i] = float(any(b)) + 2 * float(all(b)) + 4 * float(b.x) + select(float4(8), float4(16), b).y; }", 8, 8, {9, 9, 13}},
    {"type traits and arrays",
     "template <typename T> enable_if_t<is_integral_v<T>, int> k(T) { return 1; }\ntemplate <typename T> enable_if_t<is_floating_point<T>::value, int> k(T) { return 2; }\n"
     "kernel void f(" XY ", " INDEX ") { array<int, 3> a = {1, 2, 3}; conditional_t<is_same_v<half, float>, int, float> z = 0.5; y[i] = x[i] + k(1) + 10 * k(1.0) + a[2] + a.size() + z; }", 8, 8, {27.5f, 28.5f, 34.5f}},
    {"literals are float", "kernel void f(" XY ", " INDEX ") { y[i] = max(x[i], 3.0) * .5 + 1e1 + 0x1p1 + sizeof(1.0); }", 8, 8, {17.5f, 17.5f, 19.5f}},
    {"functions of integers", "kernel void f(" XY ", " INDEX ") { y[i] = absdiff(int(i) - 3, 2) + rotate(0x80000000u, 1u) + extract_bits(0xf0u, 4, 4) + extract_bits(0xf0, 4, 4) + insert_bits(0u, 3u, 1, 2) + hadd(3, 4) + rhadd(3, 4); }", 8, 8, {33, 32, 30}},
    {"saturation", "kernel void f(" XY ", " INDEX ") { char c = i; y[i] = addsat(c, char(122)) + subsat(uchar(i), uchar(3)) + madsat(short(i), short(8000), short(1)) / 1000; }", 8, 8, {122, 131, 163}},
    {"shuffles of quads", "kernel void f(" XY ", " LOCAL ") { y[i] = quad_shuffle_down(x[i], 1) + 100 * quad_shuffle_rotate_up(x[i], 1) + 10000 * float(quad_all(x[i] < 4)); }", 32, 32, {10301, 10002, 607}},
    {"places in quads", "kernel void f(" XY ", uint i [[thread_index_in_threadgroup]], uint q [[thread_index_in_quadgroup]], uint g [[quadgroup_index_in_threadgroup]], uint n [[quadgroups_per_threadgroup]]) { y[i] = q + 10 * g + 100 * n; }", 10, 10, {300, 301, 313}},
    {"threadgroup memory in a block", "kernel void f(" XY ", " LOCAL ") { if (x[0] == 0) { threadgroup float t[64]; t[i] = x[i]; threadgroup_barrier(mem_flags::mem_threadgroup); y[i] = t[63 - i]; } }", 64, 64, {63, 62, 56}},
    {"recursion", "uint g(uint n) { return n < 2 ? 1 : n * g(n - 1); }\nkernel void f(" XY ", " INDEX ") { y[i] = g(i); }", 8, 8, {1, 1, 5040}},
    {"pointers to functions", "float twice(float x) { return 2 * x; }\nfloat thrice(float x) { return 3 * x; }\nkernel void f(" XY ", " INDEX ") { float (*g)(float) = i % 2 ? twice : thrice; y[i] = g(x[i]) + 1; }", 8, 8, {1, 3, 15}},
    {"a kernel by its attribute", "[[host_name(\"f\"), kernel]] void other(" XY ", " INDEX ") { y[i] = x[i]; }", 8, 8, {0, 1, 7}},
    {"a template of a kernel", "template <typename T> [[kernel]] void f(device const T *x [[buffer(0)]], device T *y [[buffer(1)]], " INDEX ") { y[i] = x[i] + T(1); }\ntemplate [[kernel]] void f(device const float *, device float *, uint);", 8, 8, {1, 2, 8}},
    {"an instance of a template", "template <typename T, int n> kernel void g(device const T *x [[buffer(0)]], device T *y [[buffer(1)]], " INDEX ") { threadgroup T t[n]; t[i % n] = x[i] * n; y[i] = t[i % n]; }\ntemplate [[host_name(\"f\")]] kernel void g<float, 8>(device const float *, device float *, uint);", 8, 8, {0, 8, 56}},
    {"a kernel in a namespace", "namespace mine { constant float two = 2; namespace inner { kernel void f(" XY ", " LOCAL ") { threadgroup float t[64]; t[i] = x[i]; y[i] = two * t[i]; } } }", 8, 8, {0, 2, 14}},
    {"an instance in a namespace", "namespace mine { namespace inner { template <typename T> kernel void f(device const T *x [[buffer(0)]], device T *y [[buffer(1)]], " INDEX ") { y[i] = x[i]; }\ntemplate kernel void f<float>(device const float *, device float *, uint); } }", 8, 8, {0, 1, 7}},
    {"overloads by address space", "float g(device const float *x) { return x[1]; }\nfloat g(constant float *x) { return x[1]; }\nfloat g(thread float *x) { return x[1] * 10; }\nconstant float c[2] = {0, 5};\nkernel void f(" XY ", " INDEX ") { float t[2] = {0, x[i]}; y[i] = g(x) + g(c) + g(t); }", 8, 8, {6, 16, 76}},
    {"a nan is one", "kernel void f(" XY ", " INDEX ") { y[i] = isnan(sqrt(x[i] - 0.5f)) ? 1 : 2; }", 8, 8, {1, 2, 2}},
    {"min drops a nan", "kernel void f(" XY ", " INDEX ") { y[i] = min(x[i], NAN) + fmax(x[i], NAN); }", 8, 8, {0, 2, 14}},
};

static void try_results(void) {
  for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
    char *wrong = run(results[i].body, &safe, results[i].threads, results[i].group), text[200];
    const float *w = results[i].want;
    if (!wrong && (out[0] != w[0] || out[1] != w[1] || out[7] != w[2])) {
      snprintf(text, sizeof text, "got %g %g %g; want %g %g %g", out[0], out[1], out[7], w[0], w[1], w[2]);
      wrong = text;
    }
    verdict(results[i].name, wrong);
  }
}

/* Lambda expressions are of the language since version 3.2. */
static void try_lambda(void) {
  const char *body = "kernel void f(" XY ", " INDEX ") { float b = 2; auto scaled = [&](float v) { return b * v; }; y[i] = scaled(x[i]); }";
  char *wrong = run(body, &newer, 8, 8);
  verdict("lambda expressions", wrong || out[7] != 14 ? wrong ? wrong : "a wrong result" : NULL);
  char *said = run(body, &safe, 8, 8);
  verdict("lambda expressions before version 3.2", said && strstr(said, "lambda expressions are not supported") ? NULL : "were taken");
  free(said);
}

/* ---- Misuse: what is said of it. */

static const struct {
  const char *name, *body, *words;
} misuses[] = {
    {"reads past a buffer", "kernel void f(" XY ", " INDEX ") { y[i] = x[i + 2041]; }", "reads 4 bytes at offset 8192 of buffer 0, which has 8192"},
    {"reads before a buffer", "kernel void f(" XY ", " INDEX ") { y[i] = x[int(i) - 1]; }", "reads 4 bytes at offset -4 of buffer 0"},
    {"writes past a buffer", "kernel void f(" XY ", " INDEX ") { y[i + 2041] = x[i]; }", "writes 4 bytes at offset 8192 of buffer 1"},
    {"writes what is const", "kernel void f(" XY ", " INDEX ") { ((device float *)x)[i] = y[i]; }", "buffer 0, which has 8192 and may only be read"},
    {"leaves threadgroup memory", "kernel void f(" XY ", threadgroup float *t [[threadgroup(0)]], " LOCAL ") { t[i + 256] = x[i]; }", "writes 4 bytes at offset 10"},
    {"uses a vector where none can lie", "kernel void f(" XY ", " INDEX ") { *(device float4 *)(y + 1) = float4(x[i]); }", "aligned to 16 bytes"},
    {"has a barrier for some", "kernel void f(" XY ", " LOCAL ") { if (i < 3) threadgroup_barrier(mem_flags::mem_none); y[i] = x[i]; }", "a barrier was reached by 3 of 8 threads"},
    {"has two barriers for one", "kernel void f(" XY ", " LOCAL ") { if (i < 3) threadgroup_barrier(mem_flags::mem_none); else { y[i] = 1; threadgroup_barrier(mem_flags::mem_none); } y[i] = x[i]; }", "different barriers"},
    {"meets in different places", "kernel void f(" XY ", " LOCAL ") { if (i < 3) y[i] = simd_sum(x[i]); else { y[i] = 1; y[i] = simd_max(x[i]); } }", "wait in different places"},
    {"has no address space", "kernel void f(" XY ", float *z [[buffer(2)]]) { }", "must have explicit address space qualifier"},
    {"uses an index twice", "kernel void f(" XY ", device float *z [[buffer(1)]]) { }", "parameter 1 is used more than once"},
    {"has too many buffers", "kernel void f(" XY ", device float *z [[buffer(31)]]) { }", "must be between 0 and 30"},
    {"has a matrix for some lanes", "kernel void f(" XY ", " LOCAL ") { simdgroup_float8x8 a; if (i < 3) simdgroup_load(a, x); y[i] = 1; }", "in a part of its lanes"},
    {"sums bfloat over lanes", "kernel void f(" XY ", " LOCAL ") { y[i] = float(simd_sum(bfloat(x[i]))); }", "program_source:3:"},
    {"shuffles 64 bits", "kernel void f(" XY ", " LOCAL ") { y[i] = float(simd_shuffle(long(x[i]), 1)); }", "program_source:3:"},
    {"takes an atomic maximum of floats", "kernel void f(device const float *x [[buffer(0)]], device atomic_float *y [[buffer(1)]], " INDEX ") { atomic_fetch_max_explicit(y, x[i], memory_order_relaxed); }", "program_source:3:"},
    {"uses erf", "kernel void f(" XY ", " INDEX ") { y[i] = erf(x[i]); }", "program_source:3:"},
    {"uses double", "kernel void f(" XY ", " INDEX ") {\n double d = x[i]; y[i] = d; }", "program_source:4:"},
    {"writes through constant", "kernel void f(" XY ", constant float *z [[buffer(2)]]) { z[0] = 1; }", "read-only"},
    {"has an unknown attribute", "kernel void f(" XY ", uint i [[thread_posizion]]) { }", "attribute 'thread_posizion'"},
    {"has too much threadgroup memory", "kernel void f(" XY ", " LOCAL ") { threadgroup float t[8000]; t[i] = x[i]; y[i] = t[i]; }", "uses 33024 bytes of threadgroup memory; there are 32768"},
    {"recurses too deeply", "uint g(uint n) { return n == 0x7fffffff ? 1 : 1 + g(n + 1); }\nkernel void f(" XY ", " INDEX ") { y[i] = g(i); }", "uses too many stack frames"},
    {"recurses too deeply beside others", "uint g(uint n) { return n == 0x7fffffff ? 1 : 1 + g(n + 1); }\nkernel void f(" XY ", " LOCAL ") { threadgroup_barrier(mem_flags::mem_none); y[i] = g(i); }", "uses too many stack frames"},
    {"has a constant that is not constant", "float g();\nfloat g() { return 1; }\nconstant float c = g() + g();\nkernel void f(" XY ", " INDEX ") { y[i] = c + g(); }", "is no constant expression"},
    {"ends in the middle", "kernel void f(" XY ") { float", "program_source:3:"},
    {"has parentheses without a name", "<(1);", "program_source:3:"},
    {"lacks a buffer", "kernel void f(" XY ", device float *z [[buffer(5)]]) { z[0] = 1; }", "nothing is bound at buffer 5"},
};

static void try_misuses(void) {
  for (size_t i = 0; i < sizeof misuses / sizeof *misuses; i++) {
    char *said = run(misuses[i].body, &safe, 8, 8), *wrong = NULL, text[400];
    if (!said || !strstr(said, misuses[i].words)) {
      snprintf(text, sizeof text, "said: %s; want: %s", said ? said : "nothing", misuses[i].words);
      wrong = text;
    }
    verdict(misuses[i].name, wrong);
    free(said);
  }
}

/* A reduction without its barrier gives another sum: the order of the threads sees to that. */
static void try_deleted_barrier(void) {
  static const char *const bodies[] = {
      "kernel void f(" XY ", " LOCAL ", uint n [[threads_per_threadgroup]]) { threadgroup float t[256]; t[i] = x[i];\n%s\n"
      "for (uint s = n / 2; s > 0; s /= 2) { if (i < s) t[i] += t[i + s]; threadgroup_barrier(mem_flags::mem_threadgroup); } if (i == 0) y[0] = t[0]; }",
      "kernel void f(" XY ", " LOCAL ", uint n [[threads_per_threadgroup]]) { threadgroup float t[256]; t[i] = x[i];\nthreadgroup_barrier(mem_flags::mem_threadgroup);\n"
      "for (uint s = n / 2; s > 0; s /= 2) { if (i < s) t[i] += t[i + s]; %s } if (i == 0) y[0] = t[0]; }",
  };
  for (int b = 0; b < 2; b++)
    for (int whole = 0; whole < 2; whole++) {
      char body[1000], text[100];
      snprintf(body, sizeof body, bodies[b], whole ? "threadgroup_barrier(mem_flags::mem_threadgroup);" : "");
      char *wrong = run(body, &safe, 256, 256);
      if (!wrong && (out[0] == 32640) != whole) snprintf(text, sizeof text, "sum %g with%s its barrier", out[0], whole ? "" : "out"), wrong = text;
      char name[60];
      snprintf(name, sizeof name, "reduction %d with%s its barrier", b + 1, whole ? "" : "out");
      verdict(name, wrong);
    }
}

/* With FAKEMETAL_RACES a missing barrier is found in any order of threads. */
static void try_races(void) {
  static const struct {
    const char *name, *between, *words;
  } rows[] = {
      {"a race of two threads", "", "uses too, with no barrier between"},
      {"a shuffle is no barrier", "float v = simd_shuffle_xor(x[i], 1); y[i] = v;", "uses too, with no barrier between"},
      {"a barrier ends a race", "threadgroup_barrier(mem_flags::mem_threadgroup);", NULL},
      {"a barrier of the SIMD group is enough within it", "simdgroup_barrier(mem_flags::mem_threadgroup);", NULL},
  };
  setenv("FAKEMETAL_RACES", "1", 1);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char body[600], text[400];
    snprintf(body, sizeof body, "kernel void f(" XY ", " LOCAL ") { threadgroup float t[32]; t[i] = x[i]; %s y[i] = t[31 - i]; }", rows[i].between);
    char *said = run(body, &safe, 32, 32), *wrong = NULL;
    if ((said != NULL) != (rows[i].words != NULL) || (said && !strstr(said, rows[i].words))) snprintf(text, sizeof text, "said: %s", said ? said : "nothing"), wrong = text;
    verdict(rows[i].name, wrong);
    free(said);
  }
  char *wrong = run("kernel void f(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], " LOCAL ") { threadgroup atomic_uint n[1]; if (i == 0) atomic_store_explicit(n, 0u, memory_order_relaxed);\n"
                    "threadgroup_barrier(mem_flags::mem_threadgroup); atomic_fetch_add_explicit(n, 1u, memory_order_relaxed); threadgroup_barrier(mem_flags::mem_threadgroup);\n"
                    "y[i] = atomic_load_explicit(n, memory_order_relaxed); }", &safe, 64, 64);
  verdict("atomic functions do not race", wrong ? wrong : out[0] == 64 ? NULL : "another sum");
  unsetenv("FAKEMETAL_RACES");
}

static void try_fast_math(void) {
  char *wrong = run("kernel void f(" XY ", " INDEX ") { y[i] = isnan(sqrt(x[i] - 0.5f)) ? 1 : 2; }", &fast, 8, 8);
  if (!wrong && out[0] != 2) wrong = "isnan worked in fast math";
  verdict("isnan does not work in fast math", wrong);
}

static void try_templates(void) {
  char *error = NULL;
  shader_library *l = compile(
      "template <typename T> kernel void twice(device T *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = x[i] + x[i]; }\n"
      "template [[host_name(\"twice_float\")]] kernel void twice<float>(device float *, uint);\n"
      "template [[host_name(\"twice_int\")]] [[kernel]] decltype(twice<int>) twice<int>;\n", &safe, &error);
  bool good = l && shader_find(l, "twice_float") && shader_find(l, "twice_int") && !shader_find(l, "twice") && !shader_name(l, 2);
  verdict("templates by their host names", good ? NULL : error ? error : "names are missing");
  shader_library_free(l);
}

static void try_constants(void) {
  static const char body[] =
      "constant uint factor [[function_constant(3)]];\nconstant bool given = is_function_constant_defined(factor);\n"
      "kernel void f(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], uint i [[thread_position_in_grid]]) { y[i] = given ? x[i] * factor : -5; }";
  static shader_constant constants[SHADER_CONSTANTS] = {[3] = {true, "7u"}};
  shader_options with = safe;
  with.constants = constants;
  char *wrong = run(body, &with, 8, 8);
  verdict("a function constant has its value", wrong ? wrong : out[2] == 14 ? NULL : "another value");
  wrong = run(body, &safe, 8, 8);
  verdict("a function constant that was not given", wrong ? wrong : out[2] == -5 ? NULL : "it counts as given");
}

/* ulps from the exact result, over a few values, of every function that may be inexact. */
static void try_worst_case(void) {
  static const struct {
    const char *call;
    double (*exact)(double);
    int ulp;
  } rows[] = {{"exp(x)", exp, 4}, {"log(x)", log, 4}, {"sin(x)", sin, 4}, {"tan(x)", tan, 6}, {"tanh(x)", tanh, 5}, {"sqrt(x)", sqrt, 0}};
  setenv("FAKEMETAL_WORST", "1", 1);
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    char body[300], name[60], text[100];
    snprintf(body, sizeof body, "kernel void f(device const float *v [[buffer(0)]], device float *y [[buffer(1)]], uint i [[thread_position_in_grid]]) { float x = v[i] / 16 + 0.25f; y[i] = %s; }", rows[r].call);
    char *wrong = run(body, &safe, 64, 64);
    double most = 0;
    for (int i = 0; i < 64 && !wrong; i++) {
      float want = (float)rows[r].exact((double)(in[i] / 16 + 0.25f));
      double away = fabs((double)out[i] - want) / fabs(nextafterf(want, INFINITY) - want);
      if (away > most) most = away;
    }
    if (!wrong && fabs(most - rows[r].ulp) > 1.01) snprintf(text, sizeof text, "off by %g units; want %d", most, rows[r].ulp), wrong = text;
    snprintf(name, sizeof name, "worst case of %s", rows[r].call);
    verdict(name, wrong);
  }
  unsetenv("FAKEMETAL_WORST");
}

/* ---- What hardware may do worse: results under a switch of harsh.h, and without it. */

#define CALL(expression) "kernel void f(" XY ", " INDEX ") { float v = x[i]; y[i] = " expression "; }"
#define PRAGMA "#pragma METAL fp contract(off)\n"
/* In float 8194 * 8194 is 67141632, four less than it is. */
#define PRODUCT CALL("(v + 8193.0f) * (v + 8193.0f) - 67125248.0f")
#define MODULO "kernel void f(device const float *x [[buffer(0)]], device uint *y [[buffer(1)]], " INDEX ") { uint v = "

static const struct {
  const char *name, *variable;
  const shader_options *options;
  const char *body;
  double without, with, within; /* out[1], with x = 1; for uint the bits */
  bool bits;
} harsher[] = {
    {"tanh is nan above 44", "FAST_FUNCTIONS", &halfway, CALL("isnan(tanh(50 * v)) ? 7.0f : 1.0f"), 1, 7, 0, false},
    {"but not in precise math", "FAST_FUNCTIONS", &safe, CALL("tanh(50 * v)"), 1, 1, 0, false},
    {"nor is precise::tanh", "FAST_FUNCTIONS", &halfway, CALL("precise::tanh(50 * v)"), 1, 1, 0, false},
    {"fast::tanh is", "FAST_FUNCTIONS", &safe, CALL("isnan(fast::tanh(50 * v)) ? 7.0f : 1.0f"), 1, 7, 0, false},
    {"sin of a large argument", "FAST_FUNCTIONS", &halfway, CALL("fabs(sin(1e5f * v) - 0.0357488f) > 1e-3f ? 7.0f : 1.0f"), 1, 7, 0, false},
    {"cos of a vector", "FAST_FUNCTIONS", &halfway, CALL("fabs(cos(float2(1, 2) * v).y - 0.41614684f + 0.83229367f) > 1e-4f ? 7.0f : 1.0f"), 1, 7, 0, false},
    {"exp is off by more units for larger arguments", "FAST_FUNCTIONS", &halfway, CALL("fabs(exp(60 * v) / 1.14200739e26f - 1) > 4e-6f ? 7.0f : 1.0f"), 1, 7, 0, false},
    {"pow of a negative number", "FAST_FUNCTIONS", &halfway, CALL("isnan(pow(-2 * v, 3.0f)) ? 7.0f : 1.0f"), 1, 7, 0, false},
    {"rsqrt", "FAST_FUNCTIONS", &halfway, CALL("rsqrt(4 * v) == 0.5f ? 1.0f : 7.0f"), 1, 7, 0, false},
    {"fmod of a large quotient", "NAIVE_FMOD", &safe, CALL("fmod(1e10f * v, 3.0f)"), 1, 0, 0, false},
    {"precise::fmod too", "NAIVE_FMOD", &safe, CALL("precise::fmod(1e10f * v, 3.0f) == 1.0f ? 1.0f : 7.0f"), 1, 7, 0, false},
    {"products are fused", "CONTRACTION", &safe, PRODUCT, 16384, 16388, 0, false},
    {"unless a pragma says otherwise", "CONTRACTION", &safe, PRAGMA PRODUCT, 16384, 16384, 0, false},
    {"whatever blanks it has", "CONTRACTION", &safe, "#  pragma  METAL fp contract( off )\n" PRODUCT, 16384, 16384, 0, false},
    {"4294967294 % 3", "DIVISION", &safe, MODULO "4294967293u + uint(x[i]); y[i] = v % 3; }", 2, 4294967295, 0, true},
    {"4294967294 /= 3", "DIVISION", &safe, MODULO "4294967293u + uint(x[i]); v /= 3u; y[i] = v; }", 1431655764, 1431655765, 0, true},
    {"4294967294 %= 3", "DIVISION", &safe, MODULO "4294967293u + uint(x[i]); v %= 3u; y[i] = v; }", 2, 4294967295, 0, true},
    {"smaller numbers", "DIVISION", &safe, MODULO "4294967166u + uint(x[i]); y[i] = v % 10; }", 7, 7, 0, true},
    {"other types", "DIVISION", &safe, MODULO "uint(7 * x[i]); const float r = 1 / 4.0f; int k[8 / 2] = {-7, 0, 0, 0}; y[i] = v / 2 * 100 + uint(r * 4) * 10 + uint(k[0] % 4 + 3) + uint(8ul / 4); }", 312, 312, 0, true},
};

static double measured(size_t i, bool on, char **wrong) {
  char variable[60];
  snprintf(variable, sizeof variable, "FAKEMETAL_%s", harsher[i].variable);
  if (on) setenv(variable, "1", 1);
  *wrong = run(harsher[i].body, harsher[i].options, 8, 8);
  unsetenv(variable);
  uint32_t bits;
  memcpy(&bits, &out[1], sizeof bits);
  return harsher[i].bits ? bits : (double)out[1];
}

static void try_harsher(void) {
  for (size_t i = 0; i < sizeof harsher / sizeof *harsher; i++)
    for (int on = 0; on < 2; on++) {
      char *wrong, text[100], name[100];
      double got = measured(i, on, &wrong), want = on ? harsher[i].with : harsher[i].without;
      if (!wrong && !(fabs(got - want) <= (on ? harsher[i].within : 0))) snprintf(text, sizeof text, "got %.9g; want %.9g", got, want), wrong = text;
      snprintf(name, sizeof name, "%s, %s %s", harsher[i].name, on ? "with" : "without", harsher[i].variable);
      verdict(name, wrong);
    }
}

/* The worst case turns every switch on, except one that is set to 0. */
static void try_exceptions(void) {
  setenv("FAKEMETAL_WORST", "1", 1);
  char *wrong = run(CALL("precise::fmod(1e10f * v, 3.0f) == 1.0f ? 1.0f : 7.0f"), &safe, 8, 8);
  verdict("the worst case has all switches", wrong ? wrong : out[1] == 7 ? NULL : "fmod was exact");
  setenv("FAKEMETAL_NAIVE_FMOD", "0", 1);
  wrong = run(CALL("precise::fmod(1e10f * v, 3.0f) == 1.0f ? 1.0f : 7.0f"), &safe, 8, 8);
  verdict("but one that is 0", wrong ? wrong : out[1] == 1 ? NULL : "fmod was naive");
  unsetenv("FAKEMETAL_NAIVE_FMOD");
  unsetenv("FAKEMETAL_WORST");
}

static void try_threads_of_an_attribute(void) {
  char *error = NULL;
  shader_library *l = compile("[[max_total_threads_per_threadgroup(192)]] kernel void f(device float *x [[buffer(0)]], " INDEX ") { x[i] = 1; }\n"
                              "kernel void g(device float *x [[buffer(0)]], " INDEX ") { x[i] = 1; }", &safe, &error);
  bool good = l && shader_most_threads(shader_find(l, "f")) == 192 && shader_most_threads(shader_find(l, "g")) == 0;
  verdict("threads that an attribute says", good ? NULL : error ? error : "other numbers");
  shader_library_free(l);
}

int main(void) {
  try_results();
  try_lambda();
  try_misuses();
  try_deleted_barrier();
  try_races();
  try_fast_math();
  try_templates();
  try_constants();
  try_worst_case();
  try_harsher();
  try_exceptions();
  try_threads_of_an_attribute();
  return failed != 0;
}
