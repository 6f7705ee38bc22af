/*
 * handles.c - every function that takes a handle, with handles that are null, freed, of another type,
 * or made up.
 */
#include "check.h"
#include "suite.h"

enum { BAD = 9 };

/* Handles that name no object of the type at hand: the stale one, the foreign one, then numbers. */
static void bad_handles(uint64_t list[BAD], uint64_t stale, uint64_t foreign) {
  const uint64_t all[BAD] = {0, stale, foreign, 1, 0x1234, stale + 0x4000, stale ^ (uint64_t)1 << 40, UINT64_MAX, bits(list)};
  memcpy(list, all, sizeof all);
}

#define INVALID(call) FAILS(call, PMPS_INVALID_HANDLE, "handle is null, freed or not of a")

static pmps_stream *live_stream;
static pmps_event *live_event;
static pmps_tensor *live_tensor;

static void bad_streams(void) {
  pmps_stream *freed = NULL, *out = NULL;
  OK(pmps_stream_new(NULL, &freed));
  pmps_stream_free(freed);
  uint64_t list[BAD];
  const uint64_t foreign[] = {bits(live_event), bits(live_tensor)};
  for (int k = 0; k < 2; k++) {
    bad_handles(list, bits(freed), foreign[k]);
    for (int i = 0; i < BAD; i++) {
      pmps_stream *bad = (pmps_stream *)(uintptr_t)list[i];
      bool done = false;
      pmps_place place;
      uint64_t wait = 0;
      if (bad) INVALID(pmps_stream_set_current(bad));
      INVALID(pmps_stream_get_place(bad, &place));
      INVALID(pmps_stream_query(bad, &done));
      INVALID(pmps_stream_synchronize(bad));
      INVALID(pmps_stream_get_id(bad, &wait));
      INVALID(pmps_stream_wait_for(bad, 1, &wait));
      INVALID(pmps_stream_wait_event(bad, live_event));
      if (bad) INVALID(pmps_event_record(live_event, bad));
      pmps_stream_free(bad);
    }
  }
  OK(pmps_stream_get_current(NULL, &out));
  EXPECT(out && out != freed);
}

static void bad_events(void) {
  pmps_event *freed = NULL;
  OK(pmps_event_new(NULL, 0, &freed));
  pmps_event_free(freed);
  uint64_t list[BAD];
  const uint64_t foreign[] = {bits(live_stream), bits(live_tensor)};
  for (int k = 0; k < 2; k++) {
    bad_handles(list, bits(freed), foreign[k]);
    for (int i = 0; i < BAD; i++) {
      pmps_event *bad = (pmps_event *)(uintptr_t)list[i];
      bool done = false;
      double ms = 0;
      uint64_t wait = 0;
      INVALID(pmps_event_record(bad, live_stream));
      INVALID(pmps_event_query(bad, &done));
      INVALID(pmps_event_synchronize(bad));
      INVALID(pmps_event_wait_for(bad, 1, &wait));
      INVALID(pmps_event_elapsed(bad, live_event, &ms));
      INVALID(pmps_event_elapsed(live_event, bad, &ms));
      INVALID(pmps_stream_wait_event(live_stream, bad));
      pmps_event_free(bad);
    }
  }
}

struct DLManagedTensor;
struct DLManagedTensorVersioned;

static void bad_tensor(pmps_tensor *bad) {
  pmps_tensor *out = NULL;
  pmps_tensor_info info = {.struct_size = sizeof info};
  float data[4] = {0};
  void *address = NULL;
  struct DLManagedTensor *plain = NULL;
  struct DLManagedTensorVersioned *versioned = NULL;
  const pmps_index item = {PMPS_INDEX_INT, 0, 0, 0, 0};
  INVALID(pmps_tensor_retain(bad, &out));
  INVALID(pmps_tensor_replace(bad, bad, &out));
  INVALID(pmps_tensor_get_info(bad, &info));
  INVALID(pmps_tensor_read(bad, data, sizeof data));
  INVALID(pmps_tensor_write(bad, data, sizeof data));
  uint64_t wait = 0;
  INVALID(pmps_tensor_wait_for(bad, false, 1, &wait));
  INVALID(pmps_tensor_map(bad, &address));
  INVALID(pmps_tensor_to(bad, NULL, true, &out));
  INVALID(pmps_tensor_share(bad, NULL, &out));
  INVALID(pmps_tensor_index(bad, &item, 1, &out));
  INVALID(pmps_tensor_to_dlpack(bad, &plain));
  INVALID(pmps_tensor_to_dlpack_versioned(bad, &versioned));
  pmps_tensor_unmap(bad);

  const pmps_arg args[] = {of_tensor(live_tensor), of_tensor(bad)};
  size_t count = 1;
  FAILS(pmps_op_call(PMPS_OP_ADD, args, 2, NULL, 0, &out, &count), PMPS_INVALID_HANDLE, "[add] operand 1 (y)");
  FAILS(pmps_op_call_on(NULL, PMPS_OP_ADD, args, 2, NULL, 0, &out, &count), PMPS_INVALID_HANDLE, "(y)");
  FAILS(pmps_op_call_into(PMPS_OP_ADD, args, 2, NULL, 0, live_tensor), PMPS_INVALID_HANDLE, "(y)");
  INVALID(pmps_op_call_into(PMPS_OP_NEG, args, 1, NULL, 0, bad));
  EXPECT(out == NULL && count == 1);

  const uint64_t b = bits(bad), good = bits(live_tensor);
  EXPECT(!pmps_fast_unary(PMPS_OP_NEG, b, b));
  FAILS(pmps_fast_error(), PMPS_INVALID_HANDLE, "[neg] operand 0 (x)");
  EXPECT(!pmps_fast_binary(PMPS_OP_ADD, b, good, 0));
  FAILS(pmps_fast_error(), PMPS_INVALID_HANDLE, "[add] operand 0 (x)");
  EXPECT(!pmps_fast_binary(PMPS_OP_ADD, good, b, 0));
  FAILS(pmps_fast_error(), PMPS_INVALID_HANDLE, "[add] operand 1 (y)");
  EXPECT(!pmps_fast_scalar(PMPS_OP_ADD, b, PMPS_ARG_INT, 1, 0));
  FAILS(pmps_fast_error(), PMPS_INVALID_HANDLE, "[add] operand 0 (x)");
  EXPECT(!pmps_fast_scalar(PMPS_OP_ADD, b, PMPS_ARG_INT + 16, 1, 0));
  FAILS(pmps_fast_error(), PMPS_INVALID_HANDLE, "[add] operand 1 (y)");
  EXPECT(!pmps_fast_call(PMPS_OP_ADD, args, 2, NULL, 0, UINT64_MAX, 0));
  FAILS(pmps_fast_error(), PMPS_INVALID_HANDLE, "[add] operand 1 (y)");
  EXPECT(!pmps_fast_index(b, &item, 1, 0));
  INVALID(pmps_fast_error());
  pmps_fast_release(&b, 1);
  pmps_tensor_free(bad);
}

static void bad_tensors(void) {
  pmps_tensor *freed = ramp(NULL, 4);
  pmps_tensor_free(freed);
  uint64_t list[BAD];
  pmps_op op;
  pmps_error *error = pmps_op_find("nothing", &op);
  const uint64_t foreign[] = {bits(live_stream), bits(live_event), bits(error)};
  for (int k = 0; k < 3; k++) {
    bad_handles(list, bits(freed), foreign[k]);
    for (int i = 0; i < BAD; i++) bad_tensor((pmps_tensor *)(uintptr_t)list[i]);
  }
  EXPECT(pmps_error_code(error) == PMPS_NOT_FOUND);
  pmps_error_free(error);
}

/* A handle that was freed stays invalid when its record is used again. */
static void recycled_records_have_new_handles(void) {
  pmps_tensor *old = ramp(NULL, 4);
  pmps_tensor_free(old);
  for (int i = 0; i < 3000; i++) {
    pmps_tensor *young = ramp(NULL, 1);
    EXPECT(young != old);
    pmps_tensor_free(old);
    EXPECT(first(young) == 0);
    pmps_tensor_free(young);
  }
}

static void the_live_ones_still_live(void) {
  EXPECT(pmps_live_handles() == 3);
  EXPECT(first(live_tensor) == 0);
  OK(pmps_stream_synchronize(live_stream));
  OK(pmps_event_synchronize(live_event));
  pmps_stream_free(live_stream);
  pmps_event_free(live_event);
  pmps_tensor_free(live_tensor);
}

void handles_suite(void) {
  OK(pmps_stream_new(NULL, &live_stream));
  OK(pmps_event_new(NULL, 0, &live_event));
  live_tensor = ramp(NULL, 4);
  RUN(bad_streams);
  RUN(bad_events);
  RUN(bad_tensors);
  RUN(recycled_records_have_new_handles);
  RUN(the_live_ones_still_live);
}
