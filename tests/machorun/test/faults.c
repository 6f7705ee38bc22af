/*
 * faults.c - whatever a program of 50 operators on two streams asks of Metal is made to fail in turn: each time
 * there is an error, or the right result where memory was asked for again; nothing is left, and the program is
 * right afterwards. Metal is the double of PADDLE_MPS_METAL_LIBRARY, which fails on demand.
 */
#include <dlfcn.h>
#include <time.h>

#include "../../c/check.h"

enum { SIDE = 8, OPERATORS = 50 };

static struct {
  int64_t (*count)(const char *what);
  void (*reset)(void);
  bool (*fail)(const char *what, int64_t nth, int code);
} fake;

static bool find_fake(void) {
  const char *path = getenv("PADDLE_MPS_METAL_LIBRARY");
  void *library = path ? dlopen(path, RTLD_NOW) : NULL;
  if (!library) return false;
  *(void **)&fake.count = dlsym(library, "fakemetal_count");
  *(void **)&fake.reset = dlsym(library, "fakemetal_reset");
  *(void **)&fake.fail = dlsym(library, "fakemetal_fail");
  return fake.count && fake.reset && fake.fail;
}

/* What a run has in hand. After the first error it does nothing more. */
typedef struct {
  pmps_stream *streams[2];
  pmps_tensor *x, *one, *half, *nothing, *identity;
  pmps_error *error;
} program;

static void try(program *p, pmps_error *error) {
  if (!p->error) p->error = error;
  else pmps_error_free(error);
}

/* square makes a tensor with a value on the diagonal and another everywhere else. */
static pmps_tensor *square(program *p, float diagonal, float rest) {
  float values[SIDE][SIDE];
  int64_t dims[] = {SIDE, SIDE};
  pmps_tensor *tensor = NULL;
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) values[i][j] = i == j ? diagonal : rest;
  if (!p->error) try(p, pmps_tensor_from_host(&mps, PMPS_FLOAT32, 2, dims, values, &tensor));
  return tensor;
}

/* step replaces x by the result of an operator, on the streams in turn. */
static void step(program *p, int number, pmps_op op, const pmps_tensor *y) {
  if (p->error) return;
  try(p, pmps_stream_set_current(p->streams[number % 2]));
  pmps_arg args[] = {of_tensor(p->x), of_tensor(y)};
  pmps_tensor *result = NULL;
  size_t count = 1;
  if (!p->error) try(p, pmps_op_call(op, args, 2, NULL, 0, &result, &count));
  if (p->error) return;
  pmps_tensor_free(p->x);
  p->x = result;
}

/* begin makes streams and tensors. Nothing is compiled and no memory is kept from before. */
static void begin(program *p) {
  memset(p, 0, sizeof *p);
  pmps_error_free(pmps_memory_empty_cache(&mps));
  for (int i = 0; i < 2; i++)
    if (!p->error) try(p, pmps_stream_new(&mps, &p->streams[i]));
  p->x = square(p, 1025, 1025);
  p->one = square(p, 1, 1), p->half = square(p, 0.5f, 0.5f), p->nothing = square(p, 0, 0), p->identity = square(p, 1, 0);
}

/* end reads the result and frees everything; it returns the first error that was reported. */
static pmps_error *end(program *p, float *result) {
  float values[SIDE][SIDE];
  if (!p->error) try(p, pmps_tensor_read(p->x, values, sizeof values));
  if (!p->error) *result = values[SIDE - 1][0];
  pmps_error_free(pmps_stream_set_current(NULL));
  try(p, pmps_device_synchronize(&mps));
  pmps_tensor *tensors[] = {p->x, p->one, p->half, p->nothing, p->identity};
  for (int i = 0; i < 5; i++) pmps_tensor_free(tensors[i]);
  for (int i = 0; i < 2; i++) pmps_stream_free(p->streams[i]);
  return p->error;
}

/* run goes from 1025 to 2: half of the way to 1, ten times. */
static pmps_error *run(float *result) {
  program p;
  begin(&p);
  for (int i = 0; i < OPERATORS; i += 5) {
    step(&p, i, PMPS_OP_ADD, p.one);
    step(&p, i + 1, PMPS_OP_MULTIPLY, p.half);
    step(&p, i + 2, PMPS_OP_MAXIMUM, p.nothing);
    step(&p, i + 3, PMPS_OP_MATMUL, p.identity);
    step(&p, i + 4, PMPS_OP_SUBTRACT, p.nothing);
  }
  return end(&p, result);
}

static int64_t settled(int64_t wanted) {
  int64_t now = fake.count("live_objects");
  for (int i = 0; i < 2000 && now != wanted; i++) {
    nanosleep(&(struct timespec){0, 1000000}, NULL); /* the double's threads let go in their own time */
    pmps_error_free(pmps_memory_empty_cache(&mps));
    now = fake.count("live_objects");
  }
  return now;
}

static void each_failure_is_told(void) {
  float result = 0;
  OK(run(&result));
  EXPECT(result == 2);
  pmps_error_free(pmps_memory_empty_cache(&mps));
  int64_t handles = pmps_live_handles(), objects = settled(-1);
  int reported = 0, harmless = 0;
  for (int64_t n = 1;; n++) {
    fake.reset();
    fake.fail("any", n, 0);
    pmps_error *error = run(&result);
    if (fake.count("failed") == 0) {
      OK(error);
      break; /* there was no n-th one */
    }
    reported += error != NULL, harmless += error == NULL;
    EXPECT(error || result == 2);
    pmps_error_free(error);
    EXPECT(pmps_live_handles() == handles);
    EXPECT(settled(objects) == objects);
    if (failing) {
      printf("  after failure %lld\n", (long long)n);
      break;
    }
  }
  fake.reset();
  OK(run(&result));
  EXPECT(result == 2);
  EXPECT(reported > 2 * harmless);
  printf("  %d failures reported, %d harmless\n", reported, harmless);
}

int main(void) {
  if (!find_fake()) {
    printf("FAIL PADDLE_MPS_METAL_LIBRARY names no double of Metal\n");
    return 1;
  }
  RUN(each_failure_is_told);
  return failed_tests != 0;
}
