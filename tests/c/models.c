/*
 * models.c - programs of ONNX models: inputs and outputs, runs at several sizes, errors.
 */
#include "check.h"
#include "suite.h"

/* y = x * w, with w = [0, 2, 4] and x of float[n, 3]. */
static const unsigned char product[] = {
    8,  8,  18, 0,  58, 95, 10, 23, 10, 1,  120, 10, 1,  119, 18, 1,   121, 26,  7,  112, 114, 111, 100, 117, 99, 116, 34,
    3,  77, 117, 108, 18, 1, 103, 42, 21, 8,  3,  16, 1,  66, 1,  119, 74, 12, 0,  0,  0,  0,  0,  0,  0,  64, 0,
    0,  128, 64, 90, 20, 10, 1,  120, 18, 15, 10, 13, 8,  1,  18, 9,  10, 3,  18, 1,  110, 10, 2,  8,  3,  98, 20,
    10, 1,  121, 18, 15, 10, 13, 8,  1,  18, 9,  10, 3,  18, 1,  110, 10, 2,  8,  3,  66, 4,  10, 0,  16, 17,
};

static void models_become_programs(void) {
  const pmps_place *places[2] = {&cpu, &mps};
  for (int i = 0; i < (has_mps() ? 2 : 1); i++) {
    pmps_program *program = NULL;
    OK(pmps_program_load(places[i], NULL, product, sizeof product, &program));
    pmps_value_info info = {.struct_size = sizeof info};
    char *name = NULL, *type = NULL;
    for (int output = 0; output < 2; output++) {
      OK(pmps_program_get_port(program, output, 0, &info, &name, &type));
      EXPECT(!strcmp(name, output ? "y" : "x") && !strcmp(type, "float[n, 3]"));
      EXPECT(info.dtype == PMPS_FLOAT32 && info.rank == 2 && info.dims[0] == -1 && info.dims[1] == 3);
      pmps_text_free(name);
      pmps_text_free(type);
    }
    FAILS(pmps_program_get_port(program, false, 1, &info, NULL, NULL), PMPS_INDEX_OUT_OF_RANGE, "want one below 1");
    char *json = NULL;
    OK(pmps_program_describe(program, &json));
    EXPECT(strstr(json, "\"graph_name\":\"g\"") && strstr(json, "\"metadata\":{}") && strstr(json, "\"shape\":[\"n\",3]"));
    pmps_text_free(json);
    for (int64_t rows = 1; rows < 3; rows++) {
      const float values[6] = {1, 1, 1, 1, 2, 3};
      float made[6] = {0};
      const int64_t dims[2] = {rows, 3};
      pmps_tensor *x = NULL, *y = NULL;
      size_t count = 1;
      OK(pmps_tensor_from_host(places[i], PMPS_FLOAT32, 2, dims, values, &x));
      OK(pmps_program_run(program, &x, 1, &y, &count));
      OK(pmps_tensor_read(y, made, (size_t)rows * 3 * sizeof(float)));
      EXPECT(made[0] == 0 && made[1] == 2 && made[2] == 4 && (rows == 1 || (made[4] == 4 && made[5] == 12)));
      pmps_tensor_free(x);
      pmps_tensor_free(y);
    }
    pmps_program_free(program);
  }
}

static void models_have_errors(void) {
  pmps_program *program = NULL;
  FAILS(pmps_program_load(&cpu, NULL, product, 50, &program), PMPS_INVALID_ARGUMENT, "[onnx] the file is damaged");
  FAILS(pmps_program_load(&cpu, "none.onnx", NULL, 0, &program), PMPS_INVALID_ARGUMENT, "[onnx] open none.onnx");
  FAILS(pmps_program_load(&cpu, NULL, NULL, 0, &program), PMPS_INVALID_ARGUMENT, "want one of the two");
  FAILS(pmps_program_load(&cpu, "a", product, 1, &program), PMPS_INVALID_ARGUMENT, "want one of the two");
  FAILS(pmps_program_load(&cpu, NULL, product, sizeof product, NULL), PMPS_INVALID_ARGUMENT, "null");
  EXPECT(!program);
  OK(pmps_program_load(&cpu, NULL, product, sizeof product, &program));
  pmps_tensor *x = ramp(&cpu, 3), *y = NULL;
  size_t count = 1;
  FAILS(pmps_program_run(program, &x, 1, &y, &count), PMPS_INVALID_ARGUMENT, "[onnx] input \"x\" is float32[3]; want float[n, 3]");
  FAILS(pmps_program_get_port(program, false, 0, NULL, NULL, NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_program_describe(program, NULL), PMPS_INVALID_ARGUMENT, "null");
  pmps_tensor_free(x);
  pmps_program_free(program);
}

/* y = x with "!" behind each string, and x of string[n]. */
static const unsigned char exclaim[] = {
    8, 8, 58, 74, 10, 23, 10, 1, 120, 10, 1, 119, 18, 1, 121, 34, 12, 83, 116, 114, 105, 110, 103, 67, 111, 110, 99,
    97, 116, 18, 1, 103, 42, 8, 16, 8, 50, 1, 33, 66, 1, 119, 90, 16, 10, 1, 120, 18, 11, 10, 9, 8, 8, 18, 5, 10, 3,
    18, 1, 110, 98, 16, 10, 1, 121, 18, 11, 10, 9, 8, 8, 18, 5, 10, 3, 18, 1, 110, 66, 4, 10, 0, 16, 20,
};

static void strings_go_in_and_come_out(void) {
  const pmps_place *places[2] = {&cpu, &mps};
  const char words[] = "\3\0\0\0a\0b\0\0\0\0\2\0\0\0\303\244"; /* with a NUL within, an empty one, and a letter of two bytes */
  const char want[] = "\4\0\0\0a\0b!\1\0\0\0!\3\0\0\0\303\244!";
  const int64_t three = 3, zero = 0;
  for (int i = 0; i < (has_mps() ? 2 : 1); i++) {
    pmps_program *program = NULL;
    OK(pmps_program_load(places[i], NULL, exclaim, sizeof exclaim, &program));
    pmps_value_info info = {.struct_size = sizeof info};
    char *type = NULL, *data = NULL;
    OK(pmps_program_get_port(program, false, 0, &info, NULL, &type));
    EXPECT(info.dtype == PMPS_STRING && info.rank == 1 && !strcmp(type, "string[n]"));
    pmps_text_free(type);
    pmps_tensor *x = NULL, *y = NULL;
    size_t count = 1, size = 0;
    OK(pmps_tensor_from_strings(places[i], 1, &three, words, sizeof words - 1, &x));
    OK(pmps_program_run(program, &x, 1, &y, &count));
    pmps_program_free(program); /* the strings of a result are its own */
    pmps_tensor_free(x);
    OK(pmps_tensor_get_strings(y, &data, &size));
    EXPECT(size == sizeof want - 1 && !memcmp(data, want, size));
    pmps_text_free(data);
    pmps_tensor_free(y);
    OK(pmps_tensor_from_strings(places[i], 1, &zero, NULL, 0, &x));
    OK(pmps_tensor_get_strings(x, &data, &size));
    EXPECT(size == 0);
    pmps_text_free(data);
    pmps_tensor_free(x);
  }
}

static void strings_have_errors(void) {
  const int64_t one = 1, two = 2, minus = -1, huge = INT64_MAX / 16;
  pmps_tensor *x = NULL, *y = NULL;
  char *data = NULL;
  size_t size = 0, count = 1;
  FAILS(pmps_tensor_from_strings(&cpu, 1, &one, "\1\0\0\0\377", 5, &x), PMPS_INVALID_ARGUMENT, "string 0 is not UTF-8");
  FAILS(pmps_tensor_from_strings(&cpu, 1, &one, "\2\0\0\0a", 5, &x), PMPS_INVALID_ARGUMENT, "string 0 has 2 bytes from byte 4 on");
  FAILS(pmps_tensor_from_strings(&cpu, 1, &two, "\1\0\0\0abc", 7, &x), PMPS_INVALID_ARGUMENT, "want at least 4 for each of 2");
  FAILS(pmps_tensor_from_strings(&cpu, 0, NULL, "\0\0\0\0a", 5, &x), PMPS_INVALID_ARGUMENT, "end at byte 4 of 5");
  FAILS(pmps_tensor_from_strings(&cpu, 1, &huge, "", 0, &x), PMPS_INVALID_ARGUMENT, "got 0 bytes");
  FAILS(pmps_tensor_from_strings(&cpu, 1, &minus, "", 0, &x), PMPS_INVALID_ARGUMENT, "-1");
  FAILS(pmps_tensor_from_strings(&cpu, 1, &one, NULL, 5, &x), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_tensor_from_strings(&cpu, 1, &one, "\0\0\0\0", 4, NULL), PMPS_INVALID_ARGUMENT, "null");
  EXPECT(!x);
  pmps_program *program = NULL;
  OK(pmps_program_load(&cpu, NULL, exclaim, sizeof exclaim, &program));
  OK(pmps_tensor_empty(&cpu, PMPS_INT64, 1, &one, &x));
  FAILS(pmps_tensor_get_strings(x, &data, &size), PMPS_TYPE_MISMATCH, "got a tensor of int64; want one of strings");
  FAILS(pmps_program_run(program, &x, 1, &y, &count), PMPS_TYPE_MISMATCH, "input 0 is a tensor of int64[1]; want a tensor of strings for input \"x\", string[n]");
  pmps_tensor_free(x);
  OK(pmps_tensor_from_strings(&cpu, 0, NULL, "\0\0\0\0", 4, &x));
  FAILS(pmps_program_run(program, &x, 1, &y, &count), PMPS_INVALID_ARGUMENT, "input \"x\" is string[]; want string[n]");
  FAILS(pmps_program_run_into(program, &x, 1, &x, 1), PMPS_UNSUPPORTED, "an output is strings");
  int64_t number = 0;
  FAILS(pmps_tensor_read(x, &number, sizeof number), PMPS_TYPE_MISMATCH, "[tensor_read] got a tensor of strings; want tensor_get_strings");
  void *mapped = NULL;
  FAILS(pmps_tensor_map(x, &mapped), PMPS_TYPE_MISMATCH, "[tensor_map] got a tensor of strings");
  struct DLManagedTensor *exported = NULL;
  FAILS(pmps_tensor_to_dlpack(x, &exported), PMPS_TYPE_MISMATCH, "[to_dlpack] got a tensor of strings");
  FAILS(pmps_tensor_get_strings(x, NULL, &size), PMPS_INVALID_ARGUMENT, "null");
  pmps_program_free(program);
  OK(pmps_program_load(&cpu, NULL, product, sizeof product, &program));
  FAILS(pmps_program_run(program, &x, 1, &y, &count), PMPS_TYPE_MISMATCH, "input 0 is a tensor of strings; want one of float32");
  pmps_program_free(program);
  const int64_t beyond = 1;
  OK(pmps_tensor_write(x, &beyond, sizeof beyond));
  FAILS(pmps_tensor_get_strings(x, &data, &size), PMPS_INVALID_ARGUMENT, "were overwritten");
  EXPECT(!data && !y);
  pmps_tensor_free(x);
}

static void no_handles_are_left(void) { EXPECT(pmps_live_handles() == 0); }

void models_suite(void) {
  RUN(models_become_programs);
  RUN(models_have_errors);
  RUN(strings_go_in_and_come_out);
  RUN(strings_have_errors);
  RUN(no_handles_are_left);
}
