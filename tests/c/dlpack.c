/*
 * dlpack.c - exchanging memory through DLPack. The structures are written down here a second time,
 * from the specification, so that a mistake in the library's own is seen.
 */
#include "check.h"
#include "suite.h"

typedef struct {
  void *data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} Tensor;

typedef struct DLManagedTensor {
  Tensor dl;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensor *);
} Plain;

typedef struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned *);
  uint64_t flags;
  Tensor dl;
} Versioned;

static int deleted;
static void delete_plain(Plain *self) { deleted += self->manager_ctx == self; }
static void delete_versioned(Versioned *self) { deleted += self->manager_ctx == self; }

static float memory[12];
static int64_t dims[] = {2, 3};

static Tensor matrix(void) {
  for (int i = 0; i < 12; i++) memory[i] = (float)i;
  const Tensor t = {memory, 1, 0, 2, 2, 32, 1, dims, NULL, 0};
  return t;
}

static Plain plain(Tensor t) {
  const Plain p = {t, NULL, delete_plain};
  return p;
}

static void imports_share_memory(void) {
  Plain p = plain(matrix());
  p.manager_ctx = &p;
  deleted = 0;
  pmps_tensor *tensor = NULL, *sum = NULL;
  OK(pmps_tensor_from_dlpack(&p, &tensor));
  memory[0] = 50;
  EXPECT(first(tensor) == 50);
  const float next[] = {6, 5, 4, 3, 2, 1};
  OK(pmps_tensor_write(tensor, next, sizeof next));
  EXPECT(memory[0] == 6 && memory[5] == 1 && memory[6] == 6);
  sum = apply(PMPS_OP_ADD, tensor, tensor);
  EXPECT(deleted == 0);
  pmps_tensor_free(tensor);
  EXPECT(deleted == 1);
  pmps_tensor_free(tensor);
  EXPECT(deleted == 1);
  EXPECT(first(sum) == 12);
  pmps_tensor_free(sum);
}

static void imports_take_any_layout(void) {
  static int64_t strides[] = {-6, 2}, broadcast[] = {0, 1};
  Tensor t = matrix();
  t.strides = strides;
  t.byte_offset = 6 * sizeof(float);
  Versioned v = {1, 3, &v, delete_versioned, 0, t};
  deleted = 0;
  pmps_tensor *tensor = NULL;
  float out[6];
  OK(pmps_tensor_from_dlpack_versioned(&v, &tensor));
  OK(pmps_tensor_read(tensor, out, sizeof out));
  const float want[] = {6, 8, 10, 0, 2, 4};
  EXPECT(memcmp(out, want, sizeof want) == 0);
  pmps_tensor_free(tensor);
  EXPECT(deleted == 1);

  v.dl.strides = broadcast;
  OK(pmps_tensor_from_dlpack_versioned(&v, &tensor));
  OK(pmps_tensor_read(tensor, out, sizeof out));
  EXPECT(out[0] == 6 && out[3] == 6 && out[5] == 8);
  pmps_tensor_free(tensor);
  EXPECT(deleted == 2);

  Plain p = plain(matrix());
  p.deleter = NULL; /* allowed */
  OK(pmps_tensor_from_dlpack(&p, &tensor));
  pmps_tensor_free(tensor);
}

static void imports_are_checked(void) {
  static int64_t far[] = {INT64_MAX, 1}, negative[] = {2, -3};
  pmps_tensor *tensor = NULL;
  deleted = 0;
#define REFUSED(change, code, text) \
  do { \
    Plain p = plain(matrix()); \
    p.manager_ctx = &p; \
    p.dl.change; \
    FAILS(pmps_tensor_from_dlpack(&p, &tensor), code, text); \
  } while (0)
  REFUSED(device_type = 2, PMPS_UNSUPPORTED, "device of type 2");
  REFUSED(code = 5, PMPS_TYPE_MISMATCH, "complex numbers");
  REFUSED(bits = 24, PMPS_TYPE_MISMATCH, "24 bits");
  REFUSED(lanes = 4, PMPS_TYPE_MISMATCH, "4 lanes");
  REFUSED(ndim = -1, PMPS_INVALID_ARGUMENT, "rank is -1");
  REFUSED(ndim = 10, PMPS_INVALID_ARGUMENT, "rank is 10");
  REFUSED(shape = NULL, PMPS_INVALID_ARGUMENT, "null");
  REFUSED(shape = negative, PMPS_INVALID_ARGUMENT, "negative");
  REFUSED(strides = far, PMPS_INVALID_ARGUMENT, "address space");
  REFUSED(byte_offset = 2, PMPS_INVALID_ARGUMENT, "multiple of 4");
  REFUSED(byte_offset = UINT64_MAX, PMPS_INVALID_ARGUMENT, "byte_offset");
  REFUSED(data = NULL, PMPS_INVALID_ARGUMENT, "null");
#undef REFUSED
  Versioned v = {2, 0, &v, delete_versioned, 0, matrix()};
  FAILS(pmps_tensor_from_dlpack_versioned(&v, &tensor), PMPS_UNSUPPORTED, "version 2.0; want 1.x");
  v.major = 1;
  v.flags = 1;
  FAILS(pmps_tensor_from_dlpack_versioned(&v, &tensor), PMPS_UNSUPPORTED, "read-only");
  FAILS(pmps_tensor_from_dlpack(NULL, &tensor), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_tensor_from_dlpack_versioned(NULL, &tensor), PMPS_INVALID_ARGUMENT, "null");
  v.flags = 0;
  FAILS(pmps_tensor_from_dlpack_versioned(&v, NULL), PMPS_INVALID_ARGUMENT, "null");
  EXPECT(deleted == 0 && tensor == NULL); /* what was refused is still the caller's */
}

/* A tensor without elements may begin anywhere, so that what is exported can be imported again. */
static void empty_tensors_lie_anywhere(void) {
  int64_t none[] = {1, 0};
  pmps_tensor *bytes = NULL, *halves = NULL, *back = NULL;
  Plain own = plain(matrix()), *p = NULL;
  own.manager_ctx = &own;
  own.dl.shape = none;
  own.dl.data = (char *)memory + 1;
  own.dl.code = 1;
  own.dl.bits = 8;
  deleted = 0;
  OK(pmps_tensor_from_dlpack(&own, &bytes));
  OK(pmps_tensor_view(bytes, PMPS_FLOAT16, &halves));
  OK(pmps_tensor_to_dlpack(halves, &p));
  EXPECT((uintptr_t)p->dl.data % 2 == 1);
  OK(pmps_tensor_from_dlpack(p, &back));
  pmps_tensor_free(bytes);
  pmps_tensor_free(halves);
  EXPECT(deleted == 0);
  pmps_tensor_free(back);
  EXPECT(deleted == 1 && pmps_live_handles() == 0);
}

static void exports_share_memory(void) {
  const pmps_place *places[] = {&cpu, &mps};
  for (int i = 0; i < (has_mps() ? 2 : 1); i++) {
    pmps_tensor *tensor = ramp(places[i], 8), *view = NULL;
    const pmps_index odd = {PMPS_INDEX_SLICE, 5, 1, 0, 2};
    OK(pmps_tensor_index(tensor, &odd, 1, &view));
    Plain *p = NULL;
    Versioned *v = NULL;
    OK(pmps_tensor_to_dlpack(view, &p));
    OK(pmps_tensor_to_dlpack_versioned(view, &v));
    pmps_tensor_free(view);
    EXPECT(v->major == 1 && v->flags == 0);
    const Tensor both[] = {p->dl, v->dl};
    for (int k = 0; k < 2; k++) {
      const Tensor *t = &both[k];
      EXPECT(t->device_type == 1 && t->device_id == 0 && t->ndim == 1 && t->byte_offset == 0);
      EXPECT(t->code == 2 && t->bits == 32 && t->lanes == 1 && t->shape[0] == 4 && t->strides[0] == 2);
      EXPECT(((float *)t->data)[2] == 3);
    }
    ((float *)p->dl.data)[-1] = 70; /* the whole storage is one memory */
    EXPECT(first(tensor) == 70);
    pmps_tensor_free(tensor);
    p->deleter(p);
    EXPECT(((float *)v->dl.data)[0] == 1); /* still alive */
    EXPECT(pmps_live_handles() == 1);
    v->deleter(v);
    EXPECT(pmps_live_handles() == 0);
  }
}

static void round_trips_keep_the_dtype(void) {
  const int64_t one[] = {1};
  for (int32_t d = PMPS_BOOL; d <= PMPS_COMPLEX128; d++) {
    pmps_tensor *out = NULL, *back = NULL;
    Versioned *v = NULL;
    OK(pmps_tensor_empty(&cpu, d, 1, one, &out));
    OK(pmps_tensor_to_dlpack_versioned(out, &v));
    OK(pmps_tensor_from_dlpack_versioned(v, &back));
    pmps_tensor_info info = {.struct_size = sizeof info};
    OK(pmps_tensor_get_info(back, &info));
    EXPECT(info.dtype == d);
    pmps_tensor_free(out);
    pmps_tensor_free(back);
  }
  EXPECT(pmps_live_handles() == 0);
}

void dlpack_suite(void) {
  RUN(imports_share_memory);
  RUN(imports_take_any_layout);
  RUN(imports_are_checked);
  RUN(empty_tensors_lie_anywhere);
  RUN(exports_share_memory);
  RUN(round_trips_keep_the_dtype);
}
