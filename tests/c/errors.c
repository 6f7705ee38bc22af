/* errors.c - versions, error objects, names. */
#include "check.h"
#include "suite.h"

static void versions_agree(void) {
  EXPECT(pmps_abi_version() == PMPS_ABI_VERSION);
  EXPECT(strcmp(pmps_version(), PMPS_VERSION) == 0);
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", PMPS_VERSION_MAJOR, PMPS_VERSION_MINOR, PMPS_VERSION_PATCH);
  EXPECT(strcmp(text, PMPS_VERSION) == 0);
  OK(pmps_init(PMPS_ABI_VERSION));
  OK(pmps_init(PMPS_ABI_VERSION + 1)); /* a caller that knows more functions */
  FAILS(pmps_init(PMPS_ABI_VERSION + 0x10000), PMPS_UNSUPPORTED, "ABI 3.0; want 2.0");
}

static void codes_have_names(void) {
  EXPECT(strcmp(pmps_code_name(PMPS_OK), "OK") == 0);
  EXPECT(strcmp(pmps_code_name(PMPS_INDEX_OUT_OF_RANGE), "INDEX_OUT_OF_RANGE") == 0);
  EXPECT(strcmp(pmps_code_name(PMPS_ARITHMETIC), "ARITHMETIC") == 0);
  EXPECT(strcmp(pmps_code_name((pmps_code)(PMPS_CANCELLED + 1)), "UNKNOWN") == 0);
  EXPECT(strcmp(pmps_code_name((pmps_code)(-1)), "UNKNOWN") == 0);
  for (int code = PMPS_OK; code <= PMPS_CANCELLED; code++) {
    EXPECT(pmps_code_name((pmps_code)code) && strcmp(pmps_code_name((pmps_code)code), "UNKNOWN") != 0);
  }
}

static pmps_error *some_error(void) {
  pmps_op op;
  return pmps_op_find("no such operator", &op);
}

static void errors_are_objects(void) {
  pmps_error *error = some_error();
  EXPECT(pmps_error_code(error) == PMPS_NOT_FOUND);
  EXPECT(strcmp(pmps_error_message(error), "[op] no operator is named \"no such operator\"") == 0);
  EXPECT(pmps_live_handles() == 1);
  pmps_error_free(error);
  EXPECT(pmps_live_handles() == 0);
}

static void freed_errors_are_recognised(void) {
  pmps_error *old = some_error();
  pmps_error_free(old);
  pmps_error_free(old);
  pmps_error *young = some_error(); /* takes the place of the old one */
  EXPECT(young != old);
  EXPECT(pmps_error_code(old) == PMPS_OK);
  EXPECT(strcmp(pmps_error_message(old), "") == 0);
  pmps_error_free(old);
  EXPECT(pmps_error_code(young) == PMPS_NOT_FOUND);
  pmps_error_free(young);
}

static void foreign_errors_are_nothing(void) {
  pmps_tensor *tensor = ramp(NULL, 2);
  const uint64_t foreign[] = {0, 1, 0x1234, bits(tensor), UINT64_MAX, (uint64_t)0xF << 60, bits(&tensor)};
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
    pmps_error *error = (pmps_error *)(uintptr_t)foreign[i];
    EXPECT(pmps_error_code(error) == PMPS_OK);
    EXPECT(strcmp(pmps_error_message(error), "") == 0);
    pmps_error_free(error);
  }
  EXPECT(first(tensor) == 0);
  pmps_tensor_free(tensor);
}

/* More than a chunk of them, freed from both ends. */
static void many_errors(void) {
  enum { N = 1000 };
  static pmps_error *errors[N];
  for (int i = 0; i < N; i++) errors[i] = some_error();
  EXPECT(pmps_live_handles() == N);
  for (int i = 0; i < N; i++) EXPECT(pmps_error_code(errors[i]) == PMPS_NOT_FOUND);
  for (int i = 0; i < N / 2; i++) {
    pmps_error_free(errors[i]);
    pmps_error_free(errors[N - 1 - i]);
  }
  EXPECT(pmps_live_handles() == 0);
}

static void dtypes_have_names_and_sizes(void) {
  const struct {
    int32_t dtype;
    const char *name;
    int64_t size;
  } cases[] = {
      {PMPS_BOOL, "bool", 1},       {PMPS_UINT8, "uint8", 1},       {PMPS_INT8, "int8", 1},
      {PMPS_INT16, "int16", 2},     {PMPS_INT32, "int32", 4},       {PMPS_INT64, "int64", 8},
      {PMPS_FLOAT16, "float16", 2}, {PMPS_BFLOAT16, "bfloat16", 2}, {PMPS_FLOAT32, "float32", 4},
      {PMPS_FLOAT64, "float64", 8}, {PMPS_COMPLEX64, "complex64", 8}, {PMPS_COMPLEX128, "complex128", 16},
      {PMPS_UINT16, "uint16", 2},   {PMPS_UINT32, "uint32", 4},     {PMPS_UINT64, "uint64", 8},
      {PMPS_FLOAT8_E4M3FN, "float8_e4m3fn", 1},
      {PMPS_FLOAT8_E4M3FNUZ, "float8_e4m3fnuz", 1},
      {PMPS_FLOAT8_E5M2, "float8_e5m2", 1},
      {PMPS_FLOAT8_E5M2FNUZ, "float8_e5m2fnuz", 1},
      {PMPS_INT4, "int4", 0},       {PMPS_UINT4, "uint4", 0},       {PMPS_STRING, "string", 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    EXPECT(strcmp(pmps_dtype_name(cases[i].dtype), cases[i].name) == 0);
    EXPECT(pmps_dtype_size(cases[i].dtype) == cases[i].size);
  }
  for (int32_t d = PMPS_UINT16; d <= PMPS_STRING; d++) { /* which no tensor has yet */
    const int64_t dims[] = {2};
    pmps_tensor *x = NULL;
    FAILS(pmps_tensor_empty(NULL, d, 1, dims, &x), PMPS_TYPE_MISMATCH, "there are no tensors of");
    EXPECT(!x);
  }
  const int32_t unknown[] = {0, PMPS_STRING + 1, -1, 256 + PMPS_BOOL, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
    EXPECT(pmps_dtype_name(unknown[i]) == NULL);
    EXPECT(pmps_dtype_size(unknown[i]) == 0);
  }
}

void errors_suite(void) {
  RUN(versions_agree);
  RUN(codes_have_names);
  RUN(errors_are_objects);
  RUN(freed_errors_are_recognised);
  RUN(foreign_errors_are_nothing);
  RUN(many_errors);
  RUN(dtypes_have_names_and_sizes);
}
