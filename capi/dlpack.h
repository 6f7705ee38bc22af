/*
 * dlpack.h - the exchange structures of DLPack (https://dmlc.github.io/dlpack), laid out as its
 * specification says: the unversioned one of 0.8 and the versioned one of 1.x. Only what this library
 * reads and writes is named.
 */
#ifndef PADDLEMPS_DLPACK_H
#define PADDLEMPS_DLPACK_H

#include <stddef.h>
#include <stdint.h>

/* Device types, DLDeviceType. */
enum { DL_CPU = 1 };

/* Kinds of numbers, DLDataTypeCode. */
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_BOOL = 6 };

/* Bits of DLManagedTensorVersioned.flags. */
#define DL_READ_ONLY ((uint64_t)1)

typedef struct {
  int32_t device_type;
  int32_t device_id;
} DLDevice;

typedef struct {
  uint8_t code; /* kind of number */
  uint8_t bits; /* of one lane */
  uint16_t lanes;
} DLDataType;

typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides;     /* in elements; NULL: contiguous */
  uint64_t byte_offset; /* from data to the element with all indices zero */
} DLTensor;

typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensor *self); /* may be NULL */
} DLManagedTensor;

typedef struct {
  uint32_t major;
  uint32_t minor;
} DLPackVersion;

typedef struct DLManagedTensorVersioned {
  DLPackVersion version; /* another major number: nothing but deleter may be read */
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned *self); /* may be NULL */
  uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;

#endif
