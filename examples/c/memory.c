/*
 * memory.c - tensors over memory owned by the program, CPU access to memory of the device, and memory statistics.
 */
#include "must.h"

enum { ROWS = 3, COLUMNS = 4 };

/* Called once, from any thread, when the library no longer uses the memory. */
static void give_back(void *user) {
  *(int *)user = 1;
  puts("the memory is the program's again");
}

/* A tensor over a C array without a copy, bottom row first. Writes of the program are visible in the tensor. */
static int lend(void) {
  static float table[ROWS][COLUMNS];
  const int64_t dims[2] = {ROWS, COLUMNS}, upside_down[2] = {-COLUMNS, 1};
  float out[ROWS * COLUMNS];
  int returned = 0, good;
  pmps_tensor *flipped;
  must(pmps_tensor_from_memory(PMPS_FLOAT32, 2, dims, upside_down, table[ROWS - 1], give_back, &returned, &flipped));
  table[0][0] = 1;
  table[ROWS - 1][0] = 3;
  must(pmps_tensor_read(flipped, out, sizeof out));
  good = out[0] == 3 && out[(ROWS - 1) * COLUMNS] == 1 && !returned;
  pmps_tensor_free(flipped);
  return good && returned;
}

/* A tensor of the device, written by the CPU in place. */
static int map(const pmps_place *place) {
  const int64_t dims[1] = {ROWS};
  float *elements, out[ROWS];
  pmps_tensor *x, *sum;
  int i;
  must(pmps_tensor_empty(place, PMPS_FLOAT32, 1, dims, &x));
  must(pmps_tensor_map(x, (void **)&elements));
  for (i = 0; i < ROWS; i++) elements[i] = (float)i;
  pmps_tensor_unmap(x);
  sum = binary(PMPS_OP_ADD, x, x);
  must(pmps_tensor_read(sum, out, sizeof out));
  pmps_tensor_free(x);
  pmps_tensor_free(sum);
  return out[0] == 0 && out[1] == 2 && out[2] == 4;
}

static pmps_memory_stats statistics(const pmps_place *place) {
  pmps_memory_stats stats;
  memset(&stats, 0, sizeof stats);
  stats.struct_size = sizeof stats;
  must(pmps_memory_get_stats(place, &stats));
  return stats;
}

/* Freed memory is kept for reuse until the cache is emptied. */
static int count(const pmps_place *place) {
  const int64_t dims[1] = {1 << 20};
  pmps_memory_stats before = statistics(place), during, after;
  pmps_tensor *x;
  must(pmps_tensor_empty(place, PMPS_FLOAT32, 1, dims, &x));
  during = statistics(place);
  pmps_tensor_free(x);
  must(pmps_memory_empty_cache(place));
  after = statistics(place);
  printf("in use: %lld bytes, then %lld; reserved at last: %lld\n", (long long)during.allocated_bytes.current,
         (long long)after.allocated_bytes.current, (long long)after.reserved_bytes.current);
  return during.allocated_bytes.current - before.allocated_bytes.current == 4 << 20 &&
         after.allocated_bytes.current == before.allocated_bytes.current;
}

int main(void) {
  const pmps_place place = best_place();
  int good = 1;
  must(pmps_init(PMPS_ABI_VERSION));
  good &= lend();
  good &= map(&place);
  good &= count(&place);
  return finish(good);
}
