/* devices.c - places, what devices say of themselves, memory statistics, generators. */
#include "check.h"
#include "suite.h"

static void devices_are_counted(void) {
  EXPECT(pmps_device_count(PMPS_CPU) == 1);
  EXPECT(pmps_device_count(2) == 0);
  EXPECT(pmps_device_count(-1) == 0);
  const char *wanted = getenv("PADDLE_MPS_DEVICE");
  if (wanted && strcmp(wanted, "host") == 0) EXPECT(pmps_device_count(PMPS_MPS) == 1);
}

static void devices_say_what_they_are(void) {
  pmps_device_info info = {.struct_size = sizeof info};
  OK(pmps_device_get_info(NULL, &info));
  EXPECT(info.struct_size == sizeof info);
  EXPECT(strcmp(info.backend, "host") == 0);
  EXPECT(strlen(info.name) > 0 && strlen(info.uuid) == 36);
  EXPECT(info.total_memory > info.recommended_memory && info.recommended_memory > 0);
  EXPECT(info.multi_processor_count > 0 && info.has_float64 == 1 && info.has_bfloat16 == 1);
  char uuid[sizeof info.uuid];
  memcpy(uuid, info.uuid, sizeof uuid);
  if (!has_mps()) return;
  OK(pmps_device_get_info(&mps, &info));
  EXPECT(strcmp(info.uuid, uuid) != 0);
  if (strcmp(info.backend, "host") == 0) EXPECT(strncmp(info.name, "Emulated MPS (CPU: ", 19) == 0);
}

static void missing_devices_are_explained(void) {
  pmps_device_info info = {.struct_size = sizeof info};
  const pmps_place third = {PMPS_MPS, 2}, negative = {PMPS_MPS, -1}, second_cpu = {PMPS_CPU, 1}, other = {7, 0};
  if (has_mps()) {
    FAILS(pmps_device_get_info(&third, &info), PMPS_UNAVAILABLE, "mps:2 does not exist");
  } else {
    FAILS(pmps_device_get_info(&mps, &info), PMPS_UNAVAILABLE, "mps is not available: this is ");
    FAILS(pmps_device_get_info(&third, &info), PMPS_UNAVAILABLE,
          "Use place='cpu', or PADDLE_MPS_DEVICE=host for an emulated mps (CPU speed).");
  }
  FAILS(pmps_device_synchronize(&negative), PMPS_UNAVAILABLE, "mps");
  FAILS(pmps_device_synchronize(&second_cpu), PMPS_UNAVAILABLE, "cpu:1");
  FAILS(pmps_device_synchronize(&other), PMPS_INVALID_ARGUMENT, "kind 7");
}

/* A caller compiled with a longer struct gets zeros behind what the library knows; one that forgot
 * the size gets an error. */
static void structs_may_grow(void) {
  struct {
    pmps_memory_stats stats;
    int64_t newer, beyond;
  } longer;
  memset(&longer, 0xAA, sizeof longer);
  longer.stats.struct_size = sizeof longer - sizeof longer.beyond;
  OK(pmps_memory_get_stats(&cpu, &longer.stats));
  EXPECT(longer.stats.struct_size == sizeof longer - sizeof longer.beyond);
  EXPECT(longer.stats.limit_bytes > 0);
  EXPECT(longer.newer == 0);
  EXPECT(longer.beyond == (int64_t)0xAAAAAAAAAAAAAAAA);

  const size_t wrong[] = {0, 8, sizeof(pmps_memory_stats) - 1, (size_t)1 << 20, SIZE_MAX};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    pmps_memory_stats stats = {.struct_size = wrong[i], .limit_bytes = -7};
    FAILS(pmps_memory_get_stats(&cpu, &stats), PMPS_INVALID_ARGUMENT, "struct_size");
    EXPECT(stats.limit_bytes == -7);
  }
  FAILS(pmps_memory_get_stats(&cpu, NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_device_get_info(&cpu, NULL), PMPS_INVALID_ARGUMENT, "null");
}

static void memory_is_accounted(const pmps_place *place) {
  pmps_memory_stats before = {.struct_size = sizeof before}, during = before, after = before;
  OK(pmps_memory_empty_cache(place));
  OK(pmps_memory_reset_peak(place));
  OK(pmps_memory_get_stats(place, &before));
  const int64_t dims[] = {1000, 1000};
  pmps_tensor *tensor = NULL;
  OK(pmps_tensor_empty(place, PMPS_FLOAT32, 2, dims, &tensor));
  OK(pmps_memory_get_stats(place, &during));
  pmps_tensor_free(tensor);
  OK(pmps_memory_get_stats(place, &after));

  int64_t grown = during.allocated_bytes.current - before.allocated_bytes.current;
  EXPECT(grown >= 4000000 && grown < 4100000);
  EXPECT(during.requested_bytes.current - before.requested_bytes.current == 4000000);
  EXPECT(during.allocation.current - before.allocation.current == 1);
  EXPECT(during.reserved_bytes.current >= grown && during.segment.current > 0);
  EXPECT(after.allocated_bytes.current == before.allocated_bytes.current);
  EXPECT(after.allocated_bytes.peak >= during.allocated_bytes.current);
  EXPECT(after.allocated_bytes.freed - before.allocated_bytes.freed >= 4000000);
  OK(pmps_memory_reset_peak(place));
  OK(pmps_memory_empty_cache(place));
  OK(pmps_memory_get_stats(place, &after));
  EXPECT(after.allocated_bytes.peak == after.allocated_bytes.current);
  EXPECT(after.reserved_bytes.current <= before.reserved_bytes.current);
}

static void memory_is_accounted_for(void) {
  memory_is_accounted(&cpu);
  if (has_mps()) memory_is_accounted(&mps);
}

/* A program that holds one tensor for the day when memory is short. */
static pmps_tensor *reserve;
static int asked;

static bool give_up_reserve(int64_t need, void *user) {
  EXPECT(need >= 40 << 20 && user == &asked);
  asked++;
  bool had = reserve != NULL;
  pmps_tensor_free(reserve);
  reserve = NULL;
  return had;
}

static void limits_hold(void) {
  const pmps_place *place = has_mps() ? &mps : &cpu;
  const int64_t dims[] = {10 << 20};
  pmps_tensor *tensor = NULL;
  pmps_memory_stats stats = {.struct_size = sizeof stats};
  OK(pmps_memory_get_stats(place, &stats));
  const int64_t standard = stats.limit_bytes;
  FAILS(pmps_memory_set_limit(place, -1), PMPS_INVALID_ARGUMENT, "limit is -1 bytes");
  FAILS(pmps_memory_set_limit(place, INT64_MAX), PMPS_INVALID_ARGUMENT, "95 % of the memory");
  OK(pmps_memory_empty_cache(place));
  OK(pmps_memory_get_stats(place, &stats));
  OK(pmps_memory_set_limit(place, stats.reserved_bytes.current + (64 << 20)));

  OK(pmps_tensor_empty(place, PMPS_FLOAT32, 1, dims, &reserve));
  FAILS(pmps_tensor_empty(place, PMPS_FLOAT32, 1, dims, &tensor), PMPS_OUT_OF_MEMORY, "40.00 MiB requested");
  pmps_memory_on_pressure(give_up_reserve, &asked);
  OK(pmps_tensor_empty(place, PMPS_FLOAT32, 1, dims, &tensor));
  EXPECT(asked == 1 && !reserve && tensor);
  pmps_tensor *more = NULL;
  FAILS(pmps_tensor_empty(place, PMPS_FLOAT32, 1, dims, &more), PMPS_OUT_OF_MEMORY, "limit");
  EXPECT(asked == 2 && !more);
  pmps_memory_on_pressure(NULL, NULL);
  pmps_tensor_free(tensor);
  OK(pmps_memory_set_limit(place, 0));
  OK(pmps_memory_get_stats(place, &stats));
  EXPECT(stats.limit_bytes == standard && stats.num_ooms >= 2);
  EXPECT(stats.available_bytes > 0 && stats.available_bytes <= standard - stats.reserved_bytes.current);
  OK(pmps_memory_reset_accumulated(place));
  OK(pmps_memory_get_stats(place, &stats));
  EXPECT(stats.num_ooms == 0 && stats.allocated_bytes.allocated == 0 && stats.allocated_bytes.freed == 0);
  EXPECT(stats.program_cache.hits == 0 && stats.program_cache.misses == 0 && stats.program_cache.compile_ns == 0);
}

static uint64_t stack_of_the_test(void *user) {
  ++*(int *)user;
  return 77;
}

static void memory_can_be_looked_at(void) {
  const pmps_place *place = has_mps() ? &mps : &cpu;
  const int64_t dims[] = {12345};
  int stacks = 0;
  char *json = NULL;
  pmps_tensor *tensor = NULL;
  FAILS(pmps_memory_record_history(place, -1, NULL, NULL), PMPS_INVALID_ARGUMENT, "max_entries is -1");
  FAILS(pmps_memory_record_history(place, 1 << 25, NULL, NULL), PMPS_INVALID_ARGUMENT, "max_entries");
  FAILS(pmps_memory_snapshot(place, NULL), PMPS_INVALID_ARGUMENT, "null");
  OK(pmps_memory_record_history(place, 100, stack_of_the_test, &stacks));
  OK(pmps_tensor_empty(place, PMPS_FLOAT32, 1, dims, &tensor));
  EXPECT(stacks == 1);
  OK(pmps_memory_snapshot(place, &json));
  EXPECT(json && strstr(json, "\"requested_size\":49380,\"state\":\"active_allocated\",\"stack\":77"));
  EXPECT(json && strstr(json, "\"action\":\"alloc\""));
  pmps_text_free(json);
  OK(pmps_memory_record_history(place, 0, NULL, NULL));
  pmps_tensor_free(tensor);
  OK(pmps_tensor_empty(place, PMPS_FLOAT32, 1, dims, &tensor));
  EXPECT(stacks == 1);
  OK(pmps_memory_snapshot(place, &json));
  EXPECT(json && strstr(json, "\"trace\":[]") && !strstr(json, "\"stack\""));
  pmps_text_free(json);
  pmps_text_free(NULL);
  pmps_tensor_free(tensor);
}

static void generators_keep_their_state(void) {
  const pmps_place *place = has_mps() ? &mps : &cpu;
  uint64_t seed = 0, counter = 1;
  OK(pmps_rng_seed(place, 42));
  OK(pmps_rng_get_state(place, &seed, &counter));
  EXPECT(seed == 42 && counter == 0);
  OK(pmps_rng_set_state(place, UINT64_MAX, 99));
  OK(pmps_rng_get_state(place, &seed, &counter));
  EXPECT(seed == UINT64_MAX && counter == 99);
  FAILS(pmps_rng_get_state(place, NULL, &counter), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_rng_get_state(place, &seed, NULL), PMPS_INVALID_ARGUMENT, "null");
}

void devices_suite(void) {
  RUN(devices_are_counted);
  RUN(devices_say_what_they_are);
  RUN(missing_devices_are_explained);
  RUN(structs_may_grow);
  RUN(memory_is_accounted_for);
  RUN(limits_hold);
  RUN(memory_can_be_looked_at);
  RUN(generators_keep_their_state);
}
