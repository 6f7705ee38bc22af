/*
 * triton.c - the compiler of Triton IR: texts that it gives, and its errors. It needs no device.
 */
#include "check.h"
#include "suite.h"

static const char one[] =
    "module {\n  tt.func public @one(%x: !tt.ptr<f32>) {\n    %c = arith.constant 1.000000e+00 : f32\n"
    "    tt.store %x, %c : !tt.ptr<f32>\n    tt.return\n  }\n}\n";
static const char wide[] =
    "module {\n  tt.func public @f(%x: !tt.ptr<f64>) {\n    %v = tt.load %x : !tt.ptr<f64>\n"
    "    %w = arith.addf %v, %v : f64\n    tt.store %x, %w : !tt.ptr<f64>\n    tt.return\n  }\n}\n";

static void triton_ir_becomes_source(void) {
  char *source = NULL, *metadata = NULL, *again = NULL, *same = NULL;
  OK(pmps_triton_compile(one, sizeof one - 1, NULL, &source, &metadata));
  EXPECT(source && strstr(source, "kernel void one(") && strstr(source, "device float *x [[buffer(0)]]"));
  EXPECT(metadata && strstr(metadata, "\"name\":\"one\"") && strstr(metadata, "\"threads\":128"));
  EXPECT(source && metadata && !strncmp(source + 3, metadata, strlen(metadata)));
  OK(pmps_triton_compile(one, sizeof one - 1, "{\"num_warps\": 4}", &again, &same));
  EXPECT(source && again && !strcmp(source, again));
  pmps_text_free(again);
  pmps_text_free(same);
  pmps_text_free(source);
  pmps_text_free(metadata);
}

static void triton_ir_is_refused(void) {
  char *source = NULL, *metadata = NULL;
  FAILS(pmps_triton_compile("module {", 8, "{\"file\": \"x.ttir\"}", &source, &metadata), PMPS_INVALID_ARGUMENT, "x.ttir:1:9: ");
  FAILS(pmps_triton_compile(wide, sizeof wide - 1, NULL, &source, &metadata), PMPS_UNSUPPORTED, "f64");
  FAILS(pmps_triton_compile(one, sizeof one - 1, "{\"num_warps\": 3}", &source, &metadata), PMPS_UNSUPPORTED, "num_warps=3");
  FAILS(pmps_triton_compile(one, sizeof one - 1, "{\"num_warps\": 64}", &source, &metadata), PMPS_UNSUPPORTED,
        "out of resource: threads, required: 2048, limit: 1024");
  FAILS(pmps_triton_compile(one, sizeof one - 1, "{\"num_wraps\": 4}", &source, &metadata), PMPS_INVALID_ARGUMENT, "num_wraps");
  FAILS(pmps_triton_compile(NULL, 1, NULL, &source, &metadata), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_triton_compile(one, sizeof one - 1, NULL, NULL, &metadata), PMPS_INVALID_ARGUMENT, "null");
  EXPECT(!source && !metadata);
}

void triton_suite(void) {
  RUN(triton_ir_becomes_source);
  RUN(triton_ir_is_refused);
}
