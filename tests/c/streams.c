/* streams.c - streams, events, and what is current in a thread. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "check.h"
#include "suite.h"

static const pmps_place *place(void) { return has_mps() ? &mps : &cpu; }

static void streams_order_themselves(void) {
  pmps_stream *one = NULL, *two = NULL;
  OK(pmps_stream_new(place(), &one));
  OK(pmps_stream_new(place(), &two));
  pmps_place at = {-1, -1};
  OK(pmps_stream_get_place(one, &at));
  EXPECT(at.kind == place()->kind && at.index == 0);

  pmps_tensor *x = ramp(place(), 1 << 18);
  for (int i = 0; i < 20; i++) { /* each sum is made on the other stream than its input */
    OK(pmps_stream_set_current(i % 2 ? one : two));
    pmps_tensor *sum = apply(PMPS_OP_ADD, x, x);
    pmps_tensor *half = apply(PMPS_OP_SUBTRACT, sum, x);
    pmps_tensor_free(sum);
    pmps_tensor_free(x);
    x = half;
  }
  OK(pmps_stream_set_current(NULL));
  OK(pmps_stream_synchronize(one));
  OK(pmps_stream_synchronize(two));
  bool done = false;
  OK(pmps_stream_query(one, &done));
  EXPECT(done);
  pmps_index last = {PMPS_INDEX_INT, 0, -1, 0, 0};
  pmps_tensor *end = NULL;
  OK(pmps_tensor_index(x, &last, 1, &end));
  EXPECT(first(end) == (1 << 18) - 1);
  pmps_tensor_free(end);
  pmps_tensor_free(x);
  pmps_stream_free(one);
  pmps_stream_free(two);
}

static void current_streams_are_kept(void) {
  pmps_stream *initial = NULL, *mine = NULL, *now = NULL, *again = NULL;
  OK(pmps_stream_default(place(), &initial));
  OK(pmps_stream_default(place(), &again));
  EXPECT(initial && initial == again);
  OK(pmps_stream_get_current(place(), &now));
  EXPECT(now == initial);
  OK(pmps_stream_new(place(), &mine));
  OK(pmps_stream_set_current(mine));
  OK(pmps_stream_get_current(place(), &now));
  EXPECT(now == mine);
  FAILS(pmps_stream_set_current((pmps_stream *)(uintptr_t)99), PMPS_INVALID_HANDLE, "stream");
  OK(pmps_stream_get_current(place(), &now));
  EXPECT(now == mine);
  OK(pmps_stream_set_current(NULL));
  OK(pmps_stream_get_current(place(), &now));
  EXPECT(now == initial);
  pmps_stream_free(mine);
  pmps_stream_free(initial); /* borrowed: stays */
  OK(pmps_stream_synchronize(initial));
}

static void a_freed_current_stream_is_an_error(void) {
  pmps_stream *stream = NULL;
  pmps_tensor *x = ramp(place(), 4);
  OK(pmps_stream_new(place(), &stream));
  OK(pmps_stream_set_current(stream));
  pmps_stream_free(stream);
  if (has_mps()) {
    const pmps_arg arg = of_tensor(x);
    pmps_tensor *y = NULL;
    size_t count = 1;
    FAILS(pmps_op_call(PMPS_OP_NEG, &arg, 1, NULL, 0, &y, &count), PMPS_INVALID_HANDLE, "current stream was freed");
    EXPECT(pmps_fast_unary(PMPS_OP_NEG, bits(x), 0) == 0);
    FAILS(pmps_fast_error(), PMPS_INVALID_HANDLE, "current stream was freed");
  }
  OK(pmps_stream_set_current(NULL));
  pmps_tensor *y = apply(PMPS_OP_NEG, x, NULL);
  pmps_tensor_free(x);
  pmps_tensor_free(y);
}

static void waits_have_time_outs(void) {
  pmps_stream *stream = NULL;
  bool done = false;
  OK(pmps_stream_default(place(), &stream));
  FAILS(pmps_stream_wait_for(stream, -1, &done), PMPS_INVALID_ARGUMENT, "timeout_ms");
  pmps_tensor *x = ramp(place(), 1 << 20), *made[16];
  for (int i = 0; i < 16; i++) made[i] = apply(PMPS_OP_EXP, x, NULL);
  OK(pmps_stream_wait_for(stream, 0, &done)); /* whatever it says, it says it at once */
  for (int i = 0; i < 1000 && !done; i++) OK(pmps_stream_wait_for(stream, 10, &done));
  EXPECT(done);
  OK(pmps_stream_wait_for(stream, INT64_MAX, &done));
  EXPECT(done);
  for (int i = 0; i < 16; i++) {
    EXPECT(first(made[i]) == 1);
    pmps_tensor_free(made[i]);
  }
  pmps_tensor_free(x);
}

static void events_mark_points(void) {
  pmps_event *start = NULL, *end = NULL;
  pmps_stream *stream = NULL;
  bool done = false;
  double ms = -1;
  OK(pmps_event_new(place(), &start));
  OK(pmps_event_new(place(), &end));
  OK(pmps_stream_new(place(), &stream));
  OK(pmps_event_query(start, &done));
  EXPECT(done); /* nothing was recorded */
  FAILS(pmps_event_elapsed(start, end, &ms), PMPS_INVALID_ARGUMENT, "recorded");
  OK(pmps_event_record(start, NULL));
  OK(pmps_stream_wait_event(stream, start));
  const struct timespec nap = {0, 20000000};
  nanosleep(&nap, NULL);
  OK(pmps_event_record(end, stream));
  OK(pmps_event_synchronize(end));
  OK(pmps_event_synchronize(start));
  OK(pmps_event_query(end, &done));
  EXPECT(done);
  OK(pmps_event_elapsed(start, end, &ms));
  EXPECT(ms >= 15 && ms < 10000);
  pmps_event_free(start);
  pmps_stream_free(stream);
  pmps_event_free(end);
}

/* A failure that comes after the call is found by whoever reads, and told once by the stream. */
static void late_failures_are_kept(void) {
  const int64_t n = 4;
  const int32_t ones[] = {1, 1, 1, 1}, zeros[] = {0, 0, 0, 0};
  pmps_tensor *x = NULL, *y = NULL, *q = NULL;
  OK(pmps_tensor_from_host(place(), PMPS_INT32, 1, &n, ones, &x));
  OK(pmps_tensor_from_host(place(), PMPS_INT32, 1, &n, zeros, &y));
  const pmps_arg args[] = {of_tensor(x), of_tensor(y)};
  size_t count = 1;
  pmps_error *error = pmps_op_call(PMPS_OP_FLOOR_DIVIDE, args, 2, NULL, 0, &q, &count);
  if (!has_mps()) {
    FAILS(error, PMPS_ARITHMETIC, "floor_divide");
  } else {
    OK(error);
    int32_t out[4];
    FAILS(pmps_tensor_read(q, out, sizeof out), PMPS_ARITHMETIC, "floor_divide");
    FAILS(pmps_tensor_read(q, out, sizeof out), PMPS_ARITHMETIC, "floor_divide");
    FAILS(pmps_device_synchronize(place()), PMPS_ARITHMETIC, "floor_divide");
    OK(pmps_device_synchronize(place()));
    pmps_tensor_free(q);
  }
  pmps_tensor_free(x);
  pmps_tensor_free(y);
}

static void outputs_must_not_be_null(void) {
  pmps_stream *stream = NULL;
  pmps_event *event = NULL;
  OK(pmps_stream_default(place(), &stream));
  OK(pmps_event_new(place(), &event));
  FAILS(pmps_stream_new(place(), NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_stream_default(place(), NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_stream_get_current(place(), NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_stream_get_place(stream, NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_stream_query(stream, NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_stream_wait_for(stream, 1, NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_event_new(place(), NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_event_query(event, NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_event_elapsed(event, event, NULL), PMPS_INVALID_ARGUMENT, "null");
  pmps_event_free(event);
}

void streams_suite(void) {
  RUN(streams_order_themselves);
  RUN(current_streams_are_kept);
  RUN(a_freed_current_stream_is_an_error);
  RUN(waits_have_time_outs);
  RUN(events_mark_points);
  RUN(late_failures_are_kept);
  RUN(outputs_must_not_be_null);
}
