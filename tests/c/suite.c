/*
 * suite.c - runs the groups of tests; run.sh starts it once for every device. The log comes first,
 * because the library says what it starts with when it starts.
 */
#define _POSIX_C_SOURCE 200809L
#include "suite.h"

#include <stdatomic.h>
#include <time.h>

#include "check.h"

static atomic_int messages;

static void count_message(int32_t level, const char *message, void *user) {
  if (level == 2 && strstr(message, "[start] cpu is ") && user == &messages) messages++;
}

static void log_reaches_the_callback(void) {
  pmps_log_set(count_message, &messages, 2);
  EXPECT(pmps_device_count(PMPS_CPU) == 1);
  const struct timespec nap = {0, 1000000};
  for (int i = 0; i < 5000 && messages == 0; i++) nanosleep(&nap, NULL); /* it comes from another thread */
  EXPECT(messages == 1);
  pmps_log_set(NULL, NULL, 1);
}

static void nothing_is_left(void) { EXPECT(pmps_live_handles() == 0); }

int main(void) {
  RUN(log_reaches_the_callback);
  errors_suite();
  devices_suite();
  streams_suite();
  tensors_suite();
  dlpack_suite();
  operators_suite();
  fast_suite();
  gradients_suite();
  traces_suite();
  models_suite();
  triton_suite();
  profile_suite();
  handles_suite();
  RUN(nothing_is_left);
  return failed_tests != 0;
}
