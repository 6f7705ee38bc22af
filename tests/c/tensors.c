/* tensors.c - making, viewing, reading, writing, mapping and moving tensors. */
#include "check.h"
#include "suite.h"

static const pmps_place *places[2];
static int place_count;

static void host_memory_goes_round(void) {
  for (int p = 0; p < place_count; p++) {
    const int64_t dims[] = {2, 3};
    const int16_t in[] = {1, -2, 3, -4, 5, -6};
    int16_t out[6] = {0};
    pmps_tensor *tensor = NULL;
    OK(pmps_tensor_from_host(places[p], PMPS_INT16, 2, dims, in, &tensor));
    pmps_tensor_info info = {.struct_size = sizeof info};
    OK(pmps_tensor_get_info(tensor, &info));
    EXPECT(info.dtype == PMPS_INT16 && info.rank == 2 && info.numel == 6 && info.offset == 0);
    EXPECT(info.dims[0] == 2 && info.dims[1] == 3 && info.strides[0] == 3 && info.strides[1] == 1);
    EXPECT(info.place.kind == places[p]->kind && info.place.index == 0 && info.storage_id != 0);
    OK(pmps_tensor_read(tensor, out, sizeof out));
    EXPECT(memcmp(in, out, sizeof in) == 0);
    const int16_t next[] = {9, 8, 7, 6, 5, 4};
    OK(pmps_tensor_write(tensor, next, sizeof next));
    OK(pmps_tensor_read(tensor, out, sizeof out));
    EXPECT(memcmp(next, out, sizeof next) == 0);
    FAILS(pmps_tensor_read(tensor, out, sizeof out - 1), PMPS_INVALID_ARGUMENT, "want 12");
    FAILS(pmps_tensor_write(tensor, out, sizeof out + 1), PMPS_INVALID_ARGUMENT, "want 12");
    FAILS(pmps_tensor_read(tensor, NULL, sizeof out), PMPS_INVALID_ARGUMENT, "null");
    FAILS(pmps_tensor_write(tensor, NULL, sizeof out), PMPS_INVALID_ARGUMENT, "null");
    FAILS(pmps_tensor_read(tensor, out, SIZE_MAX), PMPS_INVALID_ARGUMENT, "size");
    pmps_tensor_free(tensor);
  }
}

static void empty_and_0d_tensors(void) {
  for (int p = 0; p < place_count; p++) {
    const int64_t dims[] = {0, 5};
    pmps_tensor *none = NULL, *one = NULL;
    OK(pmps_tensor_from_host(places[p], PMPS_FLOAT32, 2, dims, NULL, &none));
    OK(pmps_tensor_read(none, NULL, 0));
    const float value = 2.5f;
    float got = 0;
    OK(pmps_tensor_from_host(places[p], PMPS_FLOAT32, 0, NULL, &value, &one));
    OK(pmps_tensor_read(one, &got, sizeof got));
    EXPECT(got == 2.5f);
    pmps_tensor_free(none);
    pmps_tensor_free(one);
  }
}

static void bad_shapes_are_refused(void) {
  const int64_t negative[] = {2, -1}, huge[] = {INT64_MAX, 2}, wrapping[] = {(int64_t)1 << 32, (int64_t)1 << 32, 0};
  const int64_t ten[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, too_large[] = {(int64_t)1 << 50};
  const float data[4] = {0};
  pmps_tensor *const untouched = (pmps_tensor *)(uintptr_t)77;
  pmps_tensor *tensor = untouched;
  FAILS(pmps_tensor_empty(&cpu, PMPS_FLOAT32, 2, negative, &tensor), PMPS_INVALID_ARGUMENT, "negative");
  FAILS(pmps_tensor_empty(&cpu, PMPS_FLOAT32, 2, huge, &tensor), PMPS_INVALID_ARGUMENT, "address space");
  FAILS(pmps_tensor_empty(&cpu, PMPS_FLOAT32, 3, wrapping, &tensor), PMPS_INVALID_ARGUMENT, "address space");
  FAILS(pmps_tensor_empty(&cpu, PMPS_FLOAT32, 1, too_large, &tensor), PMPS_OUT_OF_MEMORY, "");
  FAILS(pmps_tensor_empty(&cpu, PMPS_FLOAT32, 10, ten, &tensor), PMPS_INVALID_ARGUMENT, "rank is 10; want 0 to 9");
  FAILS(pmps_tensor_empty(&cpu, PMPS_FLOAT32, -1, ten, &tensor), PMPS_INVALID_ARGUMENT, "rank is -1");
  FAILS(pmps_tensor_empty(&cpu, PMPS_FLOAT32, 1, NULL, &tensor), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_tensor_empty(&cpu, 0, 1, ten, &tensor), PMPS_TYPE_MISMATCH, "dtype 0");
  FAILS(pmps_tensor_empty(&cpu, 256 + PMPS_FLOAT32, 1, ten, &tensor), PMPS_TYPE_MISMATCH, "dtype 265");
  FAILS(pmps_tensor_empty(&cpu, PMPS_FLOAT32, 1, ten, NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_tensor_from_host(&cpu, PMPS_FLOAT32, 1, ten, NULL, &tensor), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_tensor_from_host(&cpu, PMPS_FLOAT32, 1, ten, data, NULL), PMPS_INVALID_ARGUMENT, "null");
  EXPECT(tensor == untouched);
  const pmps_place nowhere = {PMPS_MPS, 5};
  FAILS(pmps_tensor_empty(&nowhere, PMPS_FLOAT32, 1, ten, &tensor), PMPS_UNAVAILABLE, "mps");
}

static int deleted;
static void *deleted_user;

static void count_deleted(void *user) {
  deleted++;
  deleted_user = user;
}

/* Every other column of a matrix, read from its end: both strides are ours, one is negative. */
static void own_memory_is_used_in_place(void) {
  float memory[12] = {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23};
  const int64_t dims[] = {3, 2}, strides[] = {4, -2};
  pmps_tensor *tensor = NULL, *view = NULL, *sum = NULL;
  deleted = 0;
  OK(pmps_tensor_from_memory(PMPS_FLOAT32, 2, dims, strides, memory + 3, count_deleted, memory, &tensor));
  float out[6];
  OK(pmps_tensor_read(tensor, out, sizeof out));
  const float want[] = {3, 1, 13, 11, 23, 21};
  EXPECT(memcmp(out, want, sizeof want) == 0);
  memory[3] = 100; /* seen through the tensor */
  EXPECT(first(tensor) == 100);
  const pmps_index column[] = {{PMPS_INDEX_ELLIPSIS, 0, 0, 0, 0}, {PMPS_INDEX_INT, 0, 1, 0, 0}};
  OK(pmps_tensor_index(tensor, column, 2, &view));
  const float ones[] = {-1, -2, -3};
  OK(pmps_tensor_write(view, ones, sizeof ones)); /* seen in the memory */
  EXPECT(memory[1] == -1 && memory[5] == -2 && memory[9] == -3 && memory[2] == 2);
  sum = apply(PMPS_OP_ADD, tensor, tensor);
  EXPECT(first(sum) == 200);
  pmps_tensor_free(tensor);
  EXPECT(deleted == 0); /* the view still uses it */
  pmps_tensor_free(view);
  EXPECT(deleted == 1 && deleted_user == memory);
  EXPECT(first(sum) == 200);
  pmps_tensor_free(sum);
  EXPECT(deleted == 1);
}

static void bad_own_memory_is_refused(void) {
  float memory[4] = {0};
  const int64_t four[] = {4}, strides[] = {INT64_MAX}, lowest[] = {INT64_MIN}, none[] = {0};
  pmps_tensor *tensor = NULL;
  deleted = 0;
  FAILS(pmps_tensor_from_memory(PMPS_FLOAT32, 1, four, NULL, NULL, count_deleted, NULL, &tensor),
        PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_tensor_from_memory(PMPS_FLOAT32, 1, four, strides, memory, count_deleted, NULL, &tensor),
        PMPS_INVALID_ARGUMENT, "address space");
  FAILS(pmps_tensor_from_memory(PMPS_FLOAT32, 1, four, lowest, memory, count_deleted, NULL, &tensor),
        PMPS_INVALID_ARGUMENT, "address space");
  FAILS(pmps_tensor_from_memory(PMPS_FLOAT32, 1, four, NULL, (char *)memory + 1, count_deleted, NULL, &tensor),
        PMPS_INVALID_ARGUMENT, "multiple of 4");
  FAILS(pmps_tensor_from_memory(99, 1, four, NULL, memory, count_deleted, NULL, &tensor), PMPS_TYPE_MISMATCH, "99");
  FAILS(pmps_tensor_from_memory(PMPS_FLOAT32, 1, four, NULL, memory, count_deleted, NULL, NULL),
        PMPS_INVALID_ARGUMENT, "null");
  EXPECT(deleted == 0 && tensor == NULL);
  OK(pmps_tensor_from_memory(PMPS_FLOAT32, 1, none, NULL, NULL, NULL, NULL, &tensor)); /* nothing of nothing */
  pmps_tensor_free(tensor);
}

static void handles_are_freed_in_any_order(void) {
  pmps_tensor *tensor = ramp(places[place_count - 1], 6), *same = NULL, *view = NULL, *twice = NULL;
  OK(pmps_tensor_retain(tensor, &same));
  EXPECT(same != tensor);
  const pmps_index tail = {PMPS_INDEX_SLICE, 1, 2, 0, 0};
  OK(pmps_tensor_index(tensor, &tail, 1, &view));
  pmps_tensor_info info = {.struct_size = sizeof info}, other = info;
  OK(pmps_tensor_get_info(view, &info));
  OK(pmps_tensor_get_info(same, &other));
  EXPECT(info.offset == 2 && info.dims[0] == 4 && info.storage_id == other.storage_id);
  twice = apply(PMPS_OP_ADD, view, view);
  pmps_tensor_free(tensor);
  pmps_tensor_free(tensor);
  EXPECT(first(view) == 2 && first(same) == 0);
  pmps_tensor_free(same);
  EXPECT(first(view) == 2);
  pmps_tensor_free(view);
  EXPECT(first(twice) == 4);
  pmps_tensor_free(twice);
  FAILS(pmps_tensor_retain(twice, NULL), PMPS_INVALID_HANDLE, "tensor");
}

static void indexing_is_pythons(void) {
  pmps_tensor *tensor = ramp(&cpu, 10), *view = NULL;
  /* [None, 8:1:-3]: 8, 5, 2 */
  const pmps_index items[] = {{PMPS_INDEX_NEW_AXIS, 0, 0, 0, 0}, {PMPS_INDEX_SLICE, 7, 8, 1, -3}};
  OK(pmps_tensor_index(tensor, items, 2, &view));
  pmps_tensor_info info = {.struct_size = sizeof info};
  OK(pmps_tensor_get_info(view, &info));
  EXPECT(info.rank == 2 && info.dims[0] == 1 && info.dims[1] == 3 && info.strides[1] == -3 && info.offset == 8);
  float out[3];
  OK(pmps_tensor_read(view, out, sizeof out));
  EXPECT(out[0] == 8 && out[1] == 5 && out[2] == 2);
  pmps_tensor_free(view);
  const pmps_index outside = {PMPS_INDEX_INT, 0, 10, 0, 0}, unknown = {9, 0, 0, 0, 0}, has = {PMPS_INDEX_SLICE, 8, 0, 0, 0};
  const pmps_index still = {PMPS_INDEX_SLICE, 4, 0, 0, 0};
  FAILS(pmps_tensor_index(tensor, &outside, 1, &view), PMPS_INDEX_OUT_OF_RANGE, "10");
  FAILS(pmps_tensor_index(tensor, items + 1, 0, NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_tensor_index(tensor, &unknown, 1, &view), PMPS_TYPE_MISMATCH, "kind 9");
  FAILS(pmps_tensor_index(tensor, &has, 1, &view), PMPS_INVALID_ARGUMENT, "has");
  FAILS(pmps_tensor_index(tensor, &still, 1, &view), PMPS_INVALID_ARGUMENT, "step");
  FAILS(pmps_tensor_index(tensor, NULL, 1, &view), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_tensor_index(tensor, items, SIZE_MAX, &view), PMPS_INVALID_ARGUMENT, "at most");
  pmps_tensor_free(tensor);
}

static void mapping_gives_an_address(void) {
  for (int p = 0; p < place_count; p++) {
    pmps_tensor *tensor = ramp(places[p], 8), *twice = apply(PMPS_OP_ADD, tensor, tensor);
    void *data = NULL;
    OK(pmps_tensor_map(twice, &data));
    float *values = data;
    EXPECT(values[7] == 14); /* waited for */
    values[0] = 5;
    pmps_tensor_unmap(twice);
    EXPECT(first(twice) == 5);
    FAILS(pmps_tensor_map(twice, NULL), PMPS_INVALID_ARGUMENT, "null");
    pmps_tensor_free(tensor);
    pmps_tensor_free(twice);
  }
}

static char room[2 * 16384];

/* A place works in the memory of the program, whose deleter is called when all tensors over it are freed. */
static void memory_is_shared(void) {
  float *page = (float *)(room + 16384 - (uintptr_t)room % 16384);
  const int64_t dims[] = {4};
  pmps_tensor *tensor = NULL, *there = NULL, *back = NULL;
  deleted = 0;
  for (int i = 0; i < 4; i++) page[i] = 1;
  OK(pmps_tensor_from_memory(PMPS_FLOAT32, 1, dims, NULL, page, count_deleted, page, &tensor));
  FAILS(pmps_tensor_share(tensor, &cpu, NULL), PMPS_INVALID_ARGUMENT, "null");
  if (has_mps()) {
    OK(pmps_tensor_share(tensor, &mps, &there));
    page[3] = 5; /* seen through both */
    const pmps_arg args[] = {of_tensor(there), of_tensor(there)};
    OK(pmps_op_call_into(PMPS_OP_ADD, args, 2, NULL, 0, there));
    OK(pmps_device_synchronize(&mps));
    EXPECT(page[0] == 2 && page[3] == 10 && first(tensor) == 2);
    OK(pmps_tensor_share(there, &cpu, &back));
    EXPECT(first(back) == 2);
    pmps_tensor_free(there);
  } else {
    FAILS(pmps_tensor_share(tensor, &mps, &there), PMPS_UNAVAILABLE, "mps is not available");
    OK(pmps_tensor_share(tensor, &cpu, &back));
  }
  pmps_tensor_free(tensor);
  EXPECT(deleted == 0);
  pmps_tensor_free(back);
  EXPECT(deleted == 1 && deleted_user == page);
}

static void bits_are_viewed(void) {
  const int64_t dims[] = {2, 4};
  const float values[] = {1, 2, 3, 4, 5, 6, 7, 8};
  int32_t bits[8];
  pmps_tensor *tensor = NULL, *view = NULL, *wide = NULL, *none = NULL;
  pmps_tensor_info info = {.struct_size = sizeof info};
  OK(pmps_tensor_from_host(&cpu, PMPS_FLOAT32, 2, dims, values, &tensor));
  OK(pmps_tensor_view(tensor, PMPS_INT32, &view));
  OK(pmps_tensor_read(view, bits, sizeof bits));
  EXPECT(bits[0] == 0x3f800000);
  bits[0] = 0x40000000; /* 2.0, seen through both */
  OK(pmps_tensor_write(view, bits, sizeof bits));
  EXPECT(first(tensor) == 2);
  OK(pmps_tensor_view(tensor, PMPS_INT64, &wide));
  OK(pmps_tensor_get_info(wide, &info));
  EXPECT(info.dims[0] == 2 && info.dims[1] == 2 && info.strides[0] == 2);
  FAILS(pmps_tensor_view(tensor, 99, &none), PMPS_TYPE_MISMATCH, "dtype 99");
  FAILS(pmps_tensor_view(tensor, PMPS_INT32, NULL), PMPS_INVALID_ARGUMENT, "null");
  EXPECT(!none);
  pmps_tensor_free(wide);
  pmps_tensor_free(view);
  pmps_tensor_free(tensor);
}

static void tensors_move(void) {
  pmps_tensor *tensor = ramp(&cpu, 3), *same = NULL, *copy = NULL, *there = NULL;
  pmps_tensor_info a = {.struct_size = sizeof a}, b = a, c = a;
  OK(pmps_tensor_to(tensor, NULL, false, &same));
  OK(pmps_tensor_to(tensor, &cpu, true, &copy));
  OK(pmps_tensor_get_info(tensor, &a));
  OK(pmps_tensor_get_info(same, &b));
  OK(pmps_tensor_get_info(copy, &c));
  EXPECT(a.storage_id == b.storage_id && a.storage_id != c.storage_id);
  FAILS(pmps_tensor_to(tensor, &cpu, true, NULL), PMPS_INVALID_ARGUMENT, "null");
  if (has_mps()) {
    OK(pmps_tensor_to(tensor, &mps, false, &there));
    OK(pmps_tensor_get_info(there, &c));
    EXPECT(c.place.kind == PMPS_MPS);
    const pmps_arg args[] = {of_tensor(tensor), of_tensor(there)};
    pmps_tensor *sum = NULL;
    size_t count = 1;
    FAILS(pmps_op_call(PMPS_OP_ADD, args, 2, NULL, 0, &sum, &count), PMPS_INVALID_ARGUMENT, "mps:0");
    pmps_tensor_free(there);
  } else {
    FAILS(pmps_tensor_to(tensor, &mps, false, &there), PMPS_UNAVAILABLE, "mps is not available");
  }
  pmps_tensor_free(tensor);
  pmps_tensor_free(same);
  pmps_tensor_free(copy);
}

void tensors_suite(void) {
  places[0] = &cpu;
  places[1] = &mps;
  place_count = has_mps() ? 2 : 1;
  RUN(host_memory_goes_round);
  RUN(empty_and_0d_tensors);
  RUN(bad_shapes_are_refused);
  RUN(own_memory_is_used_in_place);
  RUN(bad_own_memory_is_refused);
  RUN(handles_are_freed_in_any_order);
  RUN(indexing_is_pythons);
  RUN(mapping_gives_an_address);
  RUN(tensors_move);
  RUN(bits_are_viewed);
  RUN(memory_is_shared);
}
