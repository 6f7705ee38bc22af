/*
 * count.c - kernels whose counts are known by hand, under FAKEMETAL_COUNT=1. One line a test: `ok` or `FAIL`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../shader.h"

enum { LENGTH = 16384 };

static _Alignas(128) float in[LENGTH], out[LENGTH];
static const uint32_t limit = 1000000;

#define XY "device const float *x [[buffer(0)]], device float *y [[buffer(1)]], constant uint &n [[buffer(2)]]"
#define XY4 "device const float4 *x [[buffer(0)]], device float4 *y [[buffer(1)]], constant uint &n [[buffer(2)]]"
#define INDEX ", uint i [[thread_position_in_grid]]) "

/* Of 256 threads in groups of 64, which are eight SIMD groups. A count of -1 is not looked at. */
static const struct {
  const char *name, *body;
  shader_counts want;
} counted[] = {
    {"a copy", "kernel void f(" XY INDEX "{ y[i] = x[i]; }",
     {256, 4, 8, 8, 8, 1024, 1024, 8, 8, 8, 8, 0, 0, 0, 0, 0, 0}},
    {"a copy by vectors", "kernel void f(" XY4 INDEX "{ y[i] = x[i]; }",
     {256, 4, 8, 8, 8, 4096, 4096, 32, 32, 32, 32, 0, 0, 0, 0, 0, 0}},
    {"a copy that starts within a line", "kernel void f(" XY INDEX "{ y[i] = x[i + 1]; }",
     {256, 4, 8, 8, 8, 1024, 1024, 16, 8, 8, 8, 0, 0, 0, 0, 0, -1}},
    {"every 32nd element", "kernel void f(" XY INDEX "{ y[i] = x[32 * i]; }",
     {256, 4, 8, 8, 8, 1024, 1024, 256, 8, 8, 8, 0, 0, 0, 0, 0, -1}},
    {"one element for all", "kernel void f(" XY INDEX "{ y[i] = x[7]; }",
     {256, 4, 8, 8, 8, 32, 1024, 8, 8, 8, 8, 0, 0, 0, 0, 0, 0}},
    {"rows by threads", "kernel void f(" XY INDEX "{ float s = 0; for (uint k = 0; k < 32; k++) s += x[32 * i + k]; y[i] = s; }",
     {256, 4, 8, 8 * 32, 8, 32 * 1024, 1024, 8 * 32 * 32, 8, 8 * 32, 8, 0, 0, 0, 0, 0, -1}},
    {"a constant", "kernel void f(" XY INDEX "{ y[i] = float(n); }",
     {256, 4, 8, 0, 8, 0, 1024, 0, 8, 0, 8, 32, 0, 0, 0, 0, 256}},
    {"one thread in two", "kernel void f(" XY INDEX "{ if (i & 1) y[i] = x[i]; }",
     {256, 4, 8, 8, 8, 512, 512, 8, 8, 8, 8, 0, 0, 0, 0, 0, 512}},
    {"arithmetic", "kernel void f(" XY INDEX "{ float a = x[i]; y[i] = exp(a * a + 1.0f); }",
     {256, 4, 8, 8, 8, 1024, 1024, 8, 8, 8, 8, 0, 0, 0, 0, 0, 3 * 256}},
    {"a barrier and a sum",
     "kernel void f(" XY ", uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {\n"
     "threadgroup float t[64]; t[l] = x[i]; threadgroup_barrier(mem_flags::mem_threadgroup); y[i] = simd_sum(t[63 - l]); }",
     {256, 4, 8, 8, 8, 1024, 1024, 8, 8, 8, 8, 0, 512, 2048, 4, 8, -1}},
};

static const char *const names[] = {"threads", "groups", "simdgroups", "loads", "stores", "loaded bytes", "stored bytes", "load transactions",
                                    "store transactions", "ideal loads", "ideal stores", "constant bytes", "threadgroup accesses", "threadgroup bytes",
                                    "barriers", "meetings", "arithmetic"};

static char *run(const char *body, shader_counts *counts) {
  static const char head[] = "#include <metal_stdlib>\nusing namespace metal;\n";
  const shader_options safe = {0x30000, false, false, NULL};
  char *source = malloc(strlen(head) + strlen(body) + 1), *error = NULL;
  shader_library *l = shader_compile(strcat(strcpy(source, head), body), &safe, &error);
  free(source);
  if (!l) return error;
  shader_dispatch d = {.buffers = {{in, sizeof in, 0, false}, {out, sizeof out, 0, false}, {(void *)&limit, 4, 0, true}},
                       .groups = {4, 1, 1}, .group = {64, 1, 1}, .threads = {256, 1, 1}};
  error = shader_run(shader_find(l, "f"), &d, counts, NULL);
  shader_library_free(l);
  return error;
}

int main(void) {
  int failed = 0;
  for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
    shader_counts got;
    char *error = run(counted[i].body, &got);
    const int64_t *g = (const int64_t *)&got, *w = (const int64_t *)&counted[i].want;
    bool good = !error;
    for (size_t k = 0; !error && k < sizeof names / sizeof *names; k++) good &= w[k] < 0 || g[k] == w[k];
    printf("%s counts of %s\n", good ? "ok" : "FAIL", counted[i].name);
    if (error) printf("    %s\n", error);
    for (size_t k = 0; !error && k < sizeof names / sizeof *names; k++)
      if (w[k] >= 0 && g[k] != w[k]) printf("    got %lld %s; want %lld\n", (long long)g[k], names[k], (long long)w[k]);
    failed += !good;
    free(error);
  }
  return failed != 0;
}
