/*
 * dlpack.c - sharing memory with another library in both directions, without a copy. This program also plays the
 * other library: a list of measurements with a DLPack interface.
 */
#include "must.h"

/* Layout as in https://dmlc.github.io/dlpack. A program that has dlpack.h includes that instead. */
typedef struct {
  void *data;
  struct {
    int32_t type, id; /* type 1: the CPU */
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits; /* code 2: floating point */
    uint16_t lanes;
  } dtype;
  int64_t *shape, *strides; /* strides in elements; NULL: contiguous */
  uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensorVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;

enum { COUNT = 4 };

typedef struct {
  float values[COUNT];
  int64_t shape[1];
  int borrowed;
  DLManagedTensorVersioned managed;
} measurements;

static void returned(DLManagedTensorVersioned *self) {
  ((measurements *)self->manager_ctx)->borrowed = 0;
  puts("the measurements are no longer borrowed");
}

/* The export function of the other library. */
static DLManagedTensorVersioned *lend(measurements *m) {
  DLManagedTensorVersioned *managed = &m->managed;
  memset(managed, 0, sizeof *managed);
  m->shape[0] = COUNT;
  m->borrowed = 1;
  managed->version.major = 1;
  managed->manager_ctx = m;
  managed->deleter = returned;
  managed->dl_tensor.data = m->values;
  managed->dl_tensor.device.type = 1;
  managed->dl_tensor.ndim = 1;
  managed->dl_tensor.dtype.code = 2;
  managed->dl_tensor.dtype.bits = 32;
  managed->dl_tensor.dtype.lanes = 1;
  managed->dl_tensor.shape = m->shape;
  return managed;
}

/* The import function of the other library: returns the sum of the elements and releases the tensor. */
static float add_up(DLManagedTensorVersioned *taken) {
  const DLTensor *t = &taken->dl_tensor;
  const float *first = (const float *)((const char *)t->data + t->byte_offset);
  const int64_t step = t->strides ? t->strides[0] : 1;
  float sum = 0;
  int64_t i;
  for (i = 0; i < t->shape[0]; i++) sum += first[i * step];
  taken->deleter(taken);
  return sum;
}

int main(void) {
  measurements m = {{1, 2, 3, 4}, {0}, 0, {{0, 0}, NULL, NULL, 0, {NULL, {0, 0}, 0, {0, 0, 0}, NULL, NULL, 0}}};
  pmps_tensor *x, *doubled;
  DLManagedTensorVersioned *out;
  float sum;
  int good;

  must(pmps_init(PMPS_ABI_VERSION));
  must(pmps_tensor_from_dlpack_versioned(lend(&m), &x));
  m.values[0] = 10; /* shared memory: visible in x */
  doubled = binary(PMPS_OP_ADD, x, x);
  good = m.borrowed;
  pmps_tensor_free(x);
  good &= !m.borrowed;

  must(pmps_tensor_to_dlpack_versioned(doubled, &out));
  pmps_tensor_free(doubled); /* out still owns a reference to the memory */
  sum = add_up(out);
  printf("twice the sum: %g\n", sum);
  return finish(good && sum == 38);
}
