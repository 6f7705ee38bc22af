// memory.cpp - tensors over memory owned by the program, CPU access to memory of the device, and statistics.
#include <cstdio>
#include <exception>
#include <numeric>
#include <vector>

#include "paddlemps.hpp"

namespace pm = paddlemps;

// A tensor over an array of the program. Writes of the program are visible in it, and a callback reports the release.
static bool lends() {
  float table[2][3] = {{1, 2, 3}, {4, 5, 6}};
  bool returned = false;
  bool good = false;
  {
    const pm::Tensor x = pm::Tensor::over(&table[0][0], {2, 3}, [&returned] { returned = true; });
    table[1][2] = 60;
    const std::vector<float> bottom = x[{pm::at(-1), pm::slice(1)}].values<float>();
    good = bottom == std::vector<float>{5, 60} && !returned;
  }
  return good && returned;
}

// A tensor that takes ownership of a vector, without a copy.
static bool keeps() {
  std::vector<double> values(1000);
  std::iota(values.begin(), values.end(), 1.0);
  const pm::Tensor x = pm::Tensor::over(std::move(values), {10, 100});
  return pm::call(PMPS_OP_SUM, {x}).item<double>() == 500500;
}

// Memory of the device, written by the CPU in place.
static bool maps(pm::Place place) {
  pm::Tensor x = pm::Tensor::empty(place, PMPS_FLOAT32, {2, 2});
  {
    const auto elements = x.map<float>();
    std::iota(elements.begin(), elements.end(), 1.0f);
  }
  pm::call_into(x, PMPS_OP_MULTIPLY, {x, x});
  return x.values<float>() == std::vector<float>{1, 4, 9, 16} && pm::Dims(x.shape()) == pm::Dims{2, 2};
}

// Statistics of the memory in use.
static bool counts(pm::Place place) {
  const auto in_use = [&] { return pm::memory_stats(place).allocated_bytes.current; };
  const std::int64_t before = in_use();
  {
    const pm::Tensor x = pm::Tensor::empty(place, PMPS_FLOAT32, {1024, 1024});
    if (in_use() - before != 4 << 20) return false;
  }
  pm::empty_cache(place);
  std::printf("in use: %lld bytes\n", static_cast<long long>(in_use()));
  return in_use() == before;
}

int main() {
  try {
    pm::init();
    const pm::Place place = pm::Place::best();
    const bool good = lends() && keeps() && maps(place) && counts(place);
    return good && pmps_live_handles() == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
