/* profile.c - recordings: what is in them, how they are bounded, and what is refused. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

#include "check.h"
#include "suite.h"

/* How often a text is in another one. */
static int times(const char *text, const char *part) {
  int n = 0;
  for (const char *p = text; (p = strstr(p, part)); p++) n++;
  return n;
}

static void calls_are_recorded_once(void) {
  const pmps_place *place = has_mps() ? &mps : &cpu;
  pmps_tensor *x = ramp(place, 6), *y = NULL;
  char *json = NULL;
  OK(pmps_profile_start(PMPS_PROFILE_SHAPES | PMPS_PROFILE_MEMORY, 0));
  const uint64_t begun = pmps_profile_begin();
  EXPECT(begun != 0);
  y = apply(PMPS_OP_ADD, x, x);
  const uint64_t fast = pmps_fast_unary(PMPS_OP_EXP, bits(x), 0);
  EXPECT(fast != 0);
  pmps_profile_end(begun, "Stage", "a \"stage\"");
  OK(pmps_profile_stop(&json));
  if (!json) return;
  EXPECT(times(json, "\"cat\":\"Operator\",\"name\":\"add\"") == 1);
  EXPECT(times(json, "\"cat\":\"Operator\",\"name\":\"exp\"") == 1);
  EXPECT(times(json, "\"cat\":\"Operator\"") == 2);
  EXPECT(times(json, "\"input_shapes\":{\"x\":[[6]],\"y\":[[6]]},\"input_dtypes\":{\"x\":[\"float32\"],\"y\":[\"float32\"]}") == 1);
  EXPECT(times(json, "\"cat\":\"Stage\",\"name\":\"a \\\"stage\\\"\"") == 1);
  EXPECT(times(json, "\"cat\":\"Kernel\"") >= 1);
  EXPECT(times(json, "\"name\":\"memory of cpu\"") >= 2 && strstr(json, "\"dropped\":0,"));
  pmps_text_free(json);
  pmps_tensor_free(x);
  pmps_tensor_free(y);
  pmps_fast_release(&fast, 1);
}

static void recordings_are_one_at_a_time(void) {
  char *json = NULL;
  FAILS(pmps_profile_stop(&json), PMPS_INVALID_ARGUMENT, "there is no recording");
  FAILS(pmps_profile_start(64, 0), PMPS_INVALID_ARGUMENT, "flags are 0x40");
  FAILS(pmps_profile_start(0, -1), PMPS_INVALID_ARGUMENT, "max_events is -1");
  FAILS(pmps_profile_start(0, INT64_MAX), PMPS_INVALID_ARGUMENT, "max_events is 9223372036854775807");
  EXPECT(pmps_profile_begin() == 0);
  pmps_profile_end(0, "nothing", "is recorded");
  pmps_profile_end(1, "nothing", "is recorded");
  OK(pmps_profile_start(0, 0));
  FAILS(pmps_profile_start(0, 0), PMPS_INVALID_ARGUMENT, "a recording is under way");
  const uint64_t begun = pmps_profile_begin();
  OK(pmps_profile_stop(NULL));
  OK(pmps_profile_start(0, 0));
  pmps_profile_end(begun, "Stage", "of another recording");
  pmps_profile_end(pmps_profile_begin(), NULL, "no category");
  pmps_profile_end(pmps_profile_begin(), "no name", NULL);
  OK(pmps_profile_stop(&json));
  EXPECT(json && strstr(json, "\"events\":0,") && !json[strlen(json)]);
  pmps_text_free(json);
}

static void recordings_are_bounded(void) {
  char *json = NULL, name[16];
  OK(pmps_profile_start(0, 100));
  for (int i = 0; i < 1000; i++) {
    snprintf(name, sizeof name, "span %d", i);
    pmps_profile_end(pmps_profile_begin(), "Stage", name);
  }
  OK(pmps_profile_stop(&json));
  EXPECT(json && strstr(json, "\"events\":100,\"dropped\":900,\"limit\":100"));
  EXPECT(json && !strstr(json, "\"span 899\"") && strstr(json, "\"span 900\"") && strstr(json, "\"span 999\""));
  pmps_text_free(json);
}

static void *call(void *given) {
  for (int i = 0; i < 200; i++) {
    const uint64_t begun = pmps_profile_begin();
    pmps_tensor_free(apply(PMPS_OP_ADD, given, given));
    pmps_profile_end(begun, "Stage", "of a thread");
  }
  return NULL;
}

static void threads_are_recorded_together(void) {
  pthread_t threads[4];
  char *json = NULL;
  pmps_tensor *x = ramp(&cpu, 4);
  OK(pmps_profile_start(0, 0));
  for (int i = 0; i < 4; i++) EXPECT(!pthread_create(&threads[i], NULL, call, x));
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  OK(pmps_profile_stop(&json));
  if (!json) return;
  EXPECT(times(json, "\"cat\":\"Operator\",\"name\":\"add\"") == 800);
  EXPECT(times(json, "\"cat\":\"Stage\",\"name\":\"of a thread\"") == 800);
  pmps_text_free(json);
  pmps_tensor_free(x);
}

void profile_suite(void) {
  RUN(calls_are_recorded_once);
  RUN(recordings_are_one_at_a_time);
  RUN(recordings_are_bounded);
  RUN(threads_are_recorded_together);
}
