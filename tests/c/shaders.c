/*
 * shaders.c - libraries, kernels, borrowed objects of Metal and captures, from C. It runs once on the Metal
 * device, over the mock of Apple's libraries, and once on devices that do not support them.
 */
#include "check.h"

static const char source[] =
    "kernel void full(device float *out, constant float &value, uint i [[thread_position_in_grid]]) { out[i] = value; }\n"
    "kernel void copy(device float *to, device const float *from, uint2 at [[thread_position_in_grid]],\n"
    "                 uint2 size [[threads_per_grid]]) { uint i = at.y * size.x + at.x; to[i] = from[i]; }\n";

static bool on_metal(void) {
  pmps_device_info info = {.struct_size = sizeof info};
  pmps_error *error = pmps_device_get_info(&mps, &info);
  pmps_error_free(error);
  return !error && strcmp(info.backend, "metal") == 0;
}

static pmps_kernel *kernel_of(const char *name) {
  pmps_library *library = NULL;
  pmps_kernel *kernel = NULL;
  OK(pmps_library_new(&mps, source, &library));
  OK(pmps_library_get_kernel(library, name, &kernel));
  pmps_library_free(library); /* the kernel stays */
  return kernel;
}

static void libraries_say_what_is_in_them(void) {
  pmps_library *library = NULL;
  pmps_kernel *kernel = NULL;
  char *names = NULL;
  OK(pmps_library_new(&mps, source, &library));
  OK(pmps_library_get_names(library, &names));
  EXPECT(names && strcmp(names, "full\ncopy") == 0);
  pmps_text_free(names);
  FAILS(pmps_library_get_kernel(library, "missing", &kernel), PMPS_NOT_FOUND, "[missing]");
  OK(pmps_library_get_kernel(library, "copy", &kernel));
  pmps_kernel_info info = {.struct_size = sizeof info};
  OK(pmps_kernel_get_info(kernel, &info));
  EXPECT(info.thread_execution_width == 32 && info.max_threads_per_threadgroup == 1024 && info.argument_count == 2);
  info.struct_size = 8;
  FAILS(pmps_kernel_get_info(kernel, &info), PMPS_INVALID_ARGUMENT, "struct_size");
  EXPECT(pmps_live_handles() == 2);
  pmps_kernel_free(kernel);
  pmps_library_free(library);
  pmps_library_free(library);
  FAILS(pmps_library_get_names(library, &names), PMPS_INVALID_HANDLE, "library");
  FAILS(pmps_kernel_get_info(kernel, &info), PMPS_INVALID_HANDLE, "kernel");
  FAILS(pmps_library_new(&mps, "kernel void f(", &library), PMPS_SYNTAX, "program_source:1:");
  FAILS(pmps_library_load(&mps, "missing.metallib", &library), PMPS_INVALID_ARGUMENT, "missing.metallib");
}

static void kernels_run_in_order(void) {
  pmps_kernel *full = kernel_of("full"), *copy = kernel_of("copy");
  pmps_tensor *x = ramp(&mps, 6), *y = ramp(&mps, 6);
  const float seven = 7;
  const pmps_kernel_arg fill[] = {{x, NULL, 0}, {NULL, &seven, sizeof seven}}, both[] = {{y, NULL, 0}, {x, NULL, 0}};
  const uint64_t threads[3] = {3, 2, 1}, group[3] = {2, 2, 1}, huge[3] = {2048, 1, 1};
  OK(pmps_kernel_run(full, fill, 2, NULL, NULL));
  pmps_tensor *z = apply(PMPS_OP_ADD, x, x);
  OK(pmps_kernel_run(copy, both, 2, threads, group));
  EXPECT(first(z) == 14 && first(y) == 7);
  float all[6] = {0};
  OK(pmps_tensor_read(y, all, sizeof all));
  EXPECT(all[5] == 7);
  FAILS(pmps_kernel_run(copy, both, 1, NULL, NULL), PMPS_INVALID_ARGUMENT, "[copy] argument 1 (from) is missing");
  FAILS(pmps_kernel_run(copy, both, 2, threads, huge), PMPS_INVALID_ARGUMENT, "2048 x 1 x 1");
  FAILS(pmps_kernel_run(full, fill + 1, 1, NULL, NULL), PMPS_INVALID_ARGUMENT, "want the threads to be given");
  const pmps_kernel_arg muddled[] = {{x, &seven, 4}, {NULL, &seven, 4}}, freed[] = {{z, NULL, 0}, {NULL, &seven, 4}};
  FAILS(pmps_kernel_run(full, muddled, 2, NULL, NULL), PMPS_INVALID_ARGUMENT, "a tensor and bytes");
  pmps_tensor_free(z);
  FAILS(pmps_kernel_run(full, freed, 2, NULL, NULL), PMPS_INVALID_HANDLE, "[full] argument 0");
  pmps_tensor_free(x);
  pmps_tensor_free(y);
  pmps_kernel_free(full);
  pmps_kernel_free(copy);
}

static void objects_are_borrowed(void) {
  void *device = NULL, *queue = NULL, *other = NULL, *buffer = NULL, *same = NULL;
  size_t offset = 0, later = 0;
  pmps_stream *stream = NULL, *main_stream = NULL;
  OK(pmps_device_get_metal(&mps, &device));
  OK(pmps_stream_new(&mps, &stream));
  OK(pmps_stream_default(&mps, &main_stream));
  OK(pmps_stream_get_metal(stream, &queue));
  OK(pmps_stream_get_metal(main_stream, &other));
  EXPECT(device && queue && other && queue != other && device != queue);
  pmps_tensor *x = ramp(&mps, 8), *part = NULL;
  const pmps_index from3 = {PMPS_INDEX_SLICE, 1, 3, 0, 0};
  OK(pmps_tensor_index(x, &from3, 1, &part));
  OK(pmps_tensor_get_metal(x, &buffer, &offset));
  OK(pmps_tensor_get_metal(part, &same, &later));
  EXPECT(buffer && buffer == same && later == offset + 12);
  FAILS(pmps_tensor_get_metal(x, NULL, &offset), PMPS_INVALID_ARGUMENT, "null");
  pmps_tensor_free(part);
  pmps_tensor_free(x);
  pmps_stream_free(stream);
}

static void captures_have_to_be_allowed(void) {
  bool enabled = true, capturing = true;
  OK(pmps_capture_get_state(&mps, &enabled, &capturing));
  EXPECT(!enabled && !capturing);
  FAILS(pmps_capture_begin(&mps, "trace.gputrace"), PMPS_UNSUPPORTED, "MTL_CAPTURE_ENABLED=1");
  FAILS(pmps_capture_end(&mps), PMPS_INVALID_ARGUMENT, "nothing is being captured");
}

static void others_have_none_of_it(void) {
  void *object = NULL;
  size_t offset = 0;
  bool enabled = true, capturing = true;
  pmps_library *library = NULL;
  pmps_kernel *kernel = NULL;
  pmps_stream *stream = NULL;
  pmps_tensor *x = ramp(&cpu, 2);
  OK(pmps_stream_default(&cpu, &stream));
  FAILS(pmps_library_new(&cpu, source, &library), PMPS_UNSUPPORTED, "want device metal");
  FAILS(pmps_library_load(&cpu, "kernels.metallib", &library), PMPS_UNSUPPORTED, "want device metal");
  FAILS(pmps_library_get_kernel(library, "full", &kernel), PMPS_INVALID_HANDLE, "library");
  FAILS(pmps_kernel_run(kernel, NULL, 0, NULL, NULL), PMPS_INVALID_HANDLE, "kernel");
  FAILS(pmps_device_get_metal(&cpu, &object), PMPS_UNSUPPORTED, "want device metal");
  FAILS(pmps_stream_get_metal(stream, &object), PMPS_UNSUPPORTED, "want device metal");
  FAILS(pmps_tensor_get_metal(x, &object, &offset), PMPS_UNSUPPORTED, "want device metal");
  OK(pmps_capture_get_state(&cpu, &enabled, &capturing));
  EXPECT(!enabled && !capturing && !object && !library && !kernel);
  FAILS(pmps_capture_begin(&cpu, "trace.gputrace"), PMPS_UNSUPPORTED, "want device metal");
  FAILS(pmps_capture_end(&cpu), PMPS_UNSUPPORTED, "want device metal");
  pmps_tensor_free(x);
}

static void nothing_is_left(void) { EXPECT(pmps_live_handles() == 0); }

int main(void) {
  RUN(others_have_none_of_it);
  if (on_metal()) {
    RUN(libraries_say_what_is_in_them);
    RUN(kernels_run_in_order);
    RUN(objects_are_borrowed);
    RUN(captures_have_to_be_allowed);
  }
  RUN(nothing_is_left);
  return failed_tests != 0;
}
