// dlpack.cpp - sharing memory with another library in both directions, without a copy.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <vector>

// Layout as in https://dmlc.github.io/dlpack. A program that has dlpack.h includes that instead.
struct DLTensor {
  void* data;
  struct {
    std::int32_t type, id;  // type 1: the CPU
  } device;
  std::int32_t ndim;
  struct {
    std::uint8_t code, bits;  // code 2: floating point
    std::uint16_t lanes;
  } dtype;
  std::int64_t *shape, *strides;  // strides in elements; null: contiguous
  std::uint64_t byte_offset;
};

struct DLManagedTensorVersioned {
  struct {
    std::uint32_t major, minor;
  } version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  std::uint64_t flags;
  DLTensor dl_tensor;
};

#include "paddlemps.hpp"

namespace pm = paddlemps;

// A tensor exported by another library: owns its elements and deletes itself when its deleter is called.
struct Lent {
  std::vector<float> values;
  std::int64_t shape;
  bool* returned;
  DLManagedTensorVersioned managed{};

  Lent(std::vector<float> numbers, bool* flag)
      : values(std::move(numbers)), shape(static_cast<std::int64_t>(values.size())), returned(flag) {
    managed.version = {1, 0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensorVersioned* self) { delete static_cast<Lent*>(self->manager_ctx); };
    managed.dl_tensor = {values.data(), {1, 0}, 1, {2, 32, 1}, &shape, nullptr, 0};
  }
  ~Lent() { *returned = true; }
};

// The import function of another library: returns the sum of the elements and releases the tensor.
static float add_up(DLManagedTensorVersioned* taken) {
  const DLTensor& t = taken->dl_tensor;
  const auto* first = reinterpret_cast<const float*>(static_cast<const char*>(t.data) + t.byte_offset);
  float sum = 0;
  for (std::int64_t i = 0; i < t.shape[0]; i++) sum += first[i * (t.strides ? t.strides[0] : 1)];
  taken->deleter(taken);
  return sum;
}

static bool run() {
  bool returned = false;
  auto lent = std::make_unique<Lent>(std::vector<float>{1, 2, 3, 4}, &returned);
  pm::Tensor doubled = [&] {
    const pm::Tensor x = pm::Tensor::from_dlpack(&lent->managed);
    (void)lent.release();  // from_dlpack has not thrown, so the tensor owns it now
    return x * 2;
  }();
  if (!returned) return false;
  const float sum = add_up(doubled[{pm::slice(1)}].to_dlpack_versioned());
  std::printf("twice the sum of what follows the first: %g\n", static_cast<double>(sum));
  return sum == 18;
}

int main() {
  try {
    pm::init();
    const bool good = run();
    return good && pmps_live_handles() == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
