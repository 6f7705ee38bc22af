/*
 * start.c - an environment that makes no sense: every call says what is wrong, again and again, and
 * getters answer nothing. The text that the message must contain is the only argument.
 */
#include "check.h"

static const char *text;

static void calls_say_what_is_wrong(void) {
  const int64_t n = 1;
  pmps_tensor *tensor = NULL;
  pmps_stream *stream = NULL;
  for (int i = 0; i < 2; i++) {
    FAILS(pmps_tensor_empty(NULL, PMPS_FLOAT32, 1, &n, &tensor), PMPS_INVALID_ARGUMENT, text);
    FAILS(pmps_stream_new(NULL, &stream), PMPS_INVALID_ARGUMENT, text);
    EXPECT(pmps_fast_unary(PMPS_OP_NEG, 1, 0) == 0);
    FAILS(pmps_fast_error(), PMPS_INVALID_ARGUMENT, text);
  }
  EXPECT(pmps_device_count(PMPS_CPU) == 0);
  pmps_tensor_free((pmps_tensor *)(uintptr_t)1);
  EXPECT(pmps_live_handles() == 0);
}

int main(int argc, char **argv) {
  text = argc > 1 ? argv[1] : "";
  RUN(calls_say_what_is_wrong);
  return failed_tests != 0;
}
