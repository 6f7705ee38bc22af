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
  uint64_t first_id = 0, second_id = 0;
  OK(pmps_stream_get_place(one, &at));
  EXPECT(at.kind == place()->kind && at.index == 0);
  OK(pmps_stream_get_id(one, &first_id));
  OK(pmps_stream_get_id(two, &second_id));
  EXPECT(first_id > 0 && second_id > first_id);

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

/* What can be waited for in slices, and the function that does it. */
static pmps_stream *sliced_stream;
static pmps_event *sliced_event;
static pmps_tensor *sliced_tensor;

static pmps_error *slice_device(int64_t ms, uint64_t *wait) { return pmps_device_wait_for(place(), ms, wait); }
static pmps_error *slice_stream(int64_t ms, uint64_t *wait) { return pmps_stream_wait_for(sliced_stream, ms, wait); }
static pmps_error *slice_event(int64_t ms, uint64_t *wait) { return pmps_event_wait_for(sliced_event, ms, wait); }
static pmps_error *slice_tensor(int64_t ms, uint64_t *wait) {
  return pmps_tensor_wait_for(sliced_tensor, false, ms, wait);
}

static void waits_come_in_slices(void) {
  pmps_error *(*const slices[])(int64_t, uint64_t *) = {slice_device, slice_stream, slice_event, slice_tensor};
  pmps_tensor *x = ramp(place(), 1 << 20), *made[16];
  bool done = false;
  OK(pmps_stream_default(place(), &sliced_stream));
  OK(pmps_event_new(place(), 0, &sliced_event));
  for (size_t k = 0; k < sizeof slices / sizeof *slices; k++) {
    uint64_t wait = 0;
    for (int i = 0; i < 16; i++) made[i] = apply(PMPS_OP_EXP, x, NULL);
    OK(pmps_event_record(sliced_event, NULL));
    sliced_tensor = made[15];
    FAILS(slices[k](-1, &wait), PMPS_INVALID_ARGUMENT, "timeout_ms");
    FAILS(slices[k](1, NULL), PMPS_INVALID_ARGUMENT, "null");
    OK(slices[k](0, &wait)); /* whatever it says, it says it at once */
    EXPECT(wait == 0 || has_mps());
    for (int i = 0; i < 1000 && wait; i++) OK(slices[k](10, &wait));
    EXPECT(wait == 0);
    if (slices[k] != slice_tensor) {
      OK(pmps_stream_query(sliced_stream, &done));
      EXPECT(done);
    }
    OK(slices[k](INT64_MAX, &wait));
    wait = 12345; /* not the number of any wait */
    OK(slices[k](INT64_MAX, &wait));
    EXPECT(wait == 0);
    for (int i = 0; i < 16; i++) {
      EXPECT(first(made[i]) == 1);
      pmps_tensor_free(made[i]);
    }
  }
  pmps_event_free(sliced_event);
  pmps_tensor_free(x);
}

/* A call that would have to wait is refused by the fast family, and made after the wait. */
static void fast_calls_never_wait(void) {
  if (!has_mps()) return;
  pmps_tensor *x = ramp(place(), 1 << 18);
  uint64_t last = bits(apply(PMPS_OP_ADD, x, x));
  int refused = 0;
  for (int i = 0; i < 2000; i++) {
    uint64_t next = pmps_fast_binary(PMPS_OP_ADD, bits(x), bits(x), 0);
    while (!next) {
      FAILS(pmps_fast_error(), PMPS_BUSY, "pmps_fast_wait");
      EXPECT(pmps_fast_idle((uint64_t)PMPS_MPS << 32) == 0);
      while (!pmps_fast_wait(10)) continue;
      next = pmps_fast_binary(PMPS_OP_ADD, bits(x), bits(x), 0);
      refused++;
    }
    pmps_fast_release(&last, 1);
    last = next;
  }
  EXPECT(refused > 0);
  OK(pmps_device_synchronize(place()));
  const pmps_arg arg = of_tensor(x);
  EXPECT(pmps_fast_call_into(PMPS_OP_NEG, &arg, 1, NULL, 0, last, 0) == last);
  float *out = malloc(sizeof *out << 18);
  while (!pmps_fast_read(last, out, sizeof *out << 18)) {
    FAILS(pmps_fast_error(), PMPS_BUSY, "pmps_fast_wait");
    while (!pmps_fast_wait(10)) continue;
  }
  EXPECT(out[7] == -7);
  free(out);
  EXPECT(pmps_fast_read(last, NULL, 0) == 0);
  FAILS(pmps_fast_error(), PMPS_INVALID_ARGUMENT, "bytes");
  OK(pmps_device_synchronize(place()));
  EXPECT(pmps_fast_idle((uint64_t)PMPS_MPS << 32) == 1 && pmps_fast_wait(0) == 1);
  EXPECT(pmps_fast_idle((uint64_t)PMPS_MPS << 32 | 7) == 0 && pmps_fast_idle(UINT64_MAX) == 0);
  pmps_fast_release(&last, 1);
  pmps_tensor_free(x);
}

/* A copy between places keeps its source, which may be freed or written to at once. */
static void copies_keep_their_source(void) {
  if (!has_mps()) return;
  const int64_t n = 1 << 20;
  pmps_tensor *ones[] = {ramp(&cpu, n), ramp(place(), n)};
  const pmps_place *to[] = {place(), &cpu};
  float *zeros = calloc((size_t)n, sizeof *zeros), *out = malloc((size_t)n * sizeof *out);
  for (int k = 0; k < 2; k++) {
    pmps_tensor *busy = apply(PMPS_OP_EXP, ones[1], NULL), *written = NULL, *freed = NULL, *source = NULL;
    OK(pmps_tensor_to(ones[k], k ? place() : &cpu, true, &source));
    OK(pmps_tensor_to(source, to[k], false, &freed));
    OK(pmps_tensor_to(source, to[k], false, &written));
    OK(pmps_tensor_write(source, zeros, (size_t)n * sizeof *zeros));
    pmps_tensor_free(source);
    pmps_tensor *reused = ramp(k ? place() : &cpu, n);
    pmps_tensor *const copies[] = {freed, written};
    for (int i = 0; i < 2; i++) {
      OK(pmps_tensor_read(copies[i], out, (size_t)n * sizeof *out));
      EXPECT(out[1] == 1 && out[n - 1] == (float)(n - 1));
      pmps_tensor_free(copies[i]);
    }
    pmps_tensor_free(reused);
    pmps_tensor_free(busy);
  }
  free(zeros);
  free(out);
  pmps_tensor_free(ones[0]);
  pmps_tensor_free(ones[1]);
}

static void events_mark_points(void) {
  pmps_event *start = NULL, *end = NULL, *untimed = NULL;
  pmps_stream *stream = NULL;
  bool done = false;
  double ms = -1;
  FAILS(pmps_event_new(place(), 2, &start), PMPS_INVALID_ARGUMENT, "PMPS_EVENT_TIMING");
  OK(pmps_event_new(place(), PMPS_EVENT_TIMING, &start));
  OK(pmps_event_new(place(), PMPS_EVENT_TIMING, &end));
  OK(pmps_event_new(place(), 0, &untimed));
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
  OK(pmps_event_record(untimed, NULL));
  OK(pmps_event_synchronize(untimed));
  FAILS(pmps_event_elapsed(untimed, end, &ms), PMPS_INVALID_ARGUMENT, "enable_timing");
  FAILS(pmps_event_elapsed(start, untimed, &ms), PMPS_INVALID_ARGUMENT, "enable_timing");
  pmps_event_free(untimed);
  pmps_event_free(start);
  pmps_stream_free(stream);
  pmps_event_free(end);
}

/* A failure that comes after the call is returned by reads of the result, and once by the stream. */
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
  OK(pmps_event_new(place(), 0, &event));
  FAILS(pmps_stream_new(place(), NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_stream_default(place(), NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_stream_get_current(place(), NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_stream_get_place(stream, NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_stream_query(stream, NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_stream_get_id(stream, NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_event_new(place(), 0, NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_event_query(event, NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_event_elapsed(event, event, NULL), PMPS_INVALID_ARGUMENT, "null");
  pmps_event_free(event);
}

void streams_suite(void) {
  RUN(streams_order_themselves);
  RUN(current_streams_are_kept);
  RUN(a_freed_current_stream_is_an_error);
  RUN(waits_come_in_slices);
  RUN(fast_calls_never_wait);
  RUN(copies_keep_their_source);
  RUN(events_mark_points);
  RUN(late_failures_are_kept);
  RUN(outputs_must_not_be_null);
}
