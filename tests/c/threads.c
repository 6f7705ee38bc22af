/*
 * threads.c - eight threads at once: on tensors of their own, on one that all share, with errors of
 * their own, and freeing what others may be using.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { THREADS = 8, ROUNDS = 400 };

static pmps_tensor *shared;
static pmps_event *shared_event;
static atomic_int wrong;
static atomic_int deleted;

static const pmps_place *place(void) { return has_mps() ? &mps : &cpu; }

/* Runs one function in all threads; it adds to wrong what does not go as it should. */
static void in_threads(void *(*body)(void *)) {
  pthread_t threads[THREADS];
  wrong = 0;
  for (intptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, body, (void *)i);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  EXPECT(wrong == 0);
}

static void wants(bool condition) { wrong += !condition; }

static float read_one(uint64_t handle) {
  float value = -1;
  pmps_error *error = pmps_tensor_read((pmps_tensor *)(uintptr_t)handle, &value, sizeof value);
  wants(!error);
  pmps_error_free(error);
  return value;
}

static void *compute(void *number) {
  const float mine = (float)(intptr_t)number;
  pmps_tensor *tensor = NULL;
  pmps_stream *stream = NULL;
  wants(!pmps_tensor_from_host(place(), PMPS_FLOAT32, 0, NULL, &mine, &tensor));
  wants(!pmps_stream_new(place(), &stream) && !pmps_stream_set_current(stream));
  uint64_t sum = fast_binary(PMPS_OP_SUBTRACT, bits(tensor), bits(tensor), 0), before = 0;
  for (int i = 0; i < ROUNDS; i++) {
    const uint64_t next = fast_binary(PMPS_OP_ADD, sum, bits(tensor), before);
    before = sum;
    sum = next;
  }
  wants(read_one(sum) == mine * ROUNDS);
  const uint64_t both[] = {before, sum};
  pmps_fast_release(both, 2);
  pmps_tensor_free(tensor);
  wants(!pmps_stream_set_current(NULL));
  pmps_stream_free(stream);
  return NULL;
}

static void *use_shared(void *number) {
  (void)number;
  for (int i = 0; i < ROUNDS; i++) {
    uint64_t sum = fast_binary(PMPS_OP_ADD, bits(shared), bits(shared), 0);
    wants(sum && read_one(sum) == 8);
    pmps_tensor_free((pmps_tensor *)(uintptr_t)sum);
    wants(!pmps_event_record(shared_event, NULL));
    wants(!pmps_event_synchronize(shared_event));
  }
  return NULL;
}

static void *fail(void *number) {
  for (int i = 0; i < ROUNDS; i++) {
    const unsigned kind = 64 + (unsigned)(intptr_t)number; /* none that exists, one a thread */
    char text[16];
    snprintf(text, sizeof text, "kind %u;", kind);
    wants(pmps_fast_scalar(PMPS_OP_ADD, bits(shared), kind, 0, 0) == 0);
    pmps_error *error = pmps_fast_error();
    wants(pmps_error_code(error) == PMPS_TYPE_MISMATCH && strstr(pmps_error_message(error), text));
    pmps_error_free(error);
  }
  pmps_fast_unary(PMPS_OP_NEG, 0, 0); /* left behind: goes with the thread */
  return NULL;
}

static void count_deleted(void *user) {
  (void)user;
  deleted++;
}

static _Atomic(uint64_t) victim;

/* Half of the threads make and swap in tensors over foreign memory and free the old ones; the others
 * use whatever is there, which is a right answer or a stale handle, and nothing else. */
static void *race_frees(void *number) {
  static float memory[4] = {4, 4, 4, 4};
  for (int i = 0; i < ROUNDS; i++) {
    if ((intptr_t)number % 2) {
      pmps_tensor *tensor = NULL;
      wants(!pmps_tensor_from_memory(PMPS_FLOAT32, 0, NULL, NULL, memory, count_deleted, NULL, &tensor));
      pmps_tensor_free((pmps_tensor *)(uintptr_t)atomic_exchange(&victim, bits(tensor)));
    } else {
      uint64_t sum = pmps_fast_binary(PMPS_OP_ADD, victim, victim, 0);
      if (sum) {
        wants(read_one(sum) == 8);
        pmps_fast_release(&sum, 1);
      } else {
        pmps_error *error = pmps_fast_error();
        wants(pmps_error_code(error) == PMPS_INVALID_HANDLE);
        pmps_error_free(error);
      }
    }
  }
  return NULL;
}

static void threads_compute(void) { in_threads(compute); }
static void threads_share_a_tensor(void) { in_threads(use_shared); }
static void threads_have_their_own_errors(void) { in_threads(fail); }

static void freeing_races_with_using(void) {
  in_threads(race_frees);
  pmps_tensor_free((pmps_tensor *)(uintptr_t)victim);
  EXPECT(deleted == THREADS / 2 * ROUNDS);
}

static void nothing_is_left(void) {
  pmps_tensor_free(shared);
  pmps_event_free(shared_event);
  EXPECT(pmps_live_handles() == 0);
}

int main(void) {
  const float four = 4;
  OK(pmps_tensor_from_host(place(), PMPS_FLOAT32, 0, NULL, &four, &shared));
  OK(pmps_event_new(place(), PMPS_EVENT_TIMING, &shared_event));
  RUN(threads_share_a_tensor);
  RUN(threads_have_their_own_errors);
  RUN(freeing_races_with_using);
  RUN(threads_compute);
  RUN(nothing_is_left);
  return failed_tests != 0;
}
