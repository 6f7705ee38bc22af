/*
 * streams.c - work on two streams. They run concurrently. Work that uses a result of the other stream waits for it
 * automatically, and an event marks a point in a stream.
 */
#include "must.h"

enum { SIZE = 256, ROUNDS = 8 };

/* Returns a SIZE x SIZE tensor of one value. */
static pmps_tensor *filled(const pmps_place *place, float value) {
  static float elements[SIZE * SIZE];
  const int64_t dims[2] = {SIZE, SIZE};
  pmps_tensor *tensor;
  int i;
  for (i = 0; i < SIZE * SIZE; i++) elements[i] = value;
  must(pmps_tensor_from_host(place, PMPS_FLOAT32, 2, dims, elements, &tensor)); /* a copy: elements may be reused */
  return tensor;
}

/* Computes x @ y @ y ... on the current stream and returns before the work is done. Frees x. */
static pmps_tensor *chain(pmps_tensor *x, const pmps_tensor *y) {
  int i;
  for (i = 0; i < ROUNDS; i++) {
    pmps_tensor *next = binary(PMPS_OP_MATMUL, x, y);
    pmps_tensor_free(x); /* its memory stays valid for queued work */
    x = next;
  }
  return x;
}

int main(void) {
  const pmps_place place = best_place();
  pmps_stream *one, *two;
  pmps_event *begun, *ended;
  pmps_tensor *scale, *left, *right, *sum;
  static float out[SIZE * SIZE];
  double milliseconds = -1;
  bool passed = false;

  must(pmps_init(PMPS_ABI_VERSION));
  must(pmps_stream_new(&place, &one));
  must(pmps_stream_new(&place, &two));
  must(pmps_event_new(&place, PMPS_EVENT_TIMING, &begun));
  must(pmps_event_new(&place, PMPS_EVENT_TIMING, &ended));
  scale = filled(&place, 1.0f / SIZE); /* a matrix of ones times this is a matrix of ones */

  must(pmps_stream_set_current(one));
  must(pmps_event_record(begun, NULL)); /* NULL: the current stream */
  left = chain(filled(&place, 1), scale);
  must(pmps_event_record(ended, NULL));

  must(pmps_stream_set_current(two));
  right = chain(filled(&place, 2), scale);
  sum = binary(PMPS_OP_ADD, left, right); /* on stream two, which waits for left */

  /* An explicit dependency, for order that does not follow from shared tensors. */
  must(pmps_stream_wait_event(two, ended));
  must(pmps_stream_synchronize(two));
  must(pmps_event_query(ended, &passed));
  must(pmps_event_elapsed(begun, ended, &milliseconds));
  printf("%d products of %d x %d matrices: %.2f ms\n", ROUNDS, SIZE, SIZE, milliseconds);
  must(pmps_tensor_read(sum, out, sizeof out));

  must(pmps_stream_set_current(NULL));
  pmps_tensor_free(scale);
  pmps_tensor_free(left);
  pmps_tensor_free(right);
  pmps_tensor_free(sum);
  pmps_event_free(begun);
  pmps_event_free(ended);
  pmps_stream_free(one);
  pmps_stream_free(two);
  return finish(passed && milliseconds >= 0 && out[0] == 3 && out[SIZE * SIZE - 1] == 3);
}
