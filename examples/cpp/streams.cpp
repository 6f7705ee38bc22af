// streams.cpp - work on two streams, ordered by shared tensors and by an event.
#include <cstdio>
#include <exception>
#include <vector>

#include "paddlemps.hpp"

namespace pm = paddlemps;

constexpr std::int64_t size = 256;

static pm::Tensor filled(pm::Place place, float value) {
  return pm::Tensor::from(place, {size, size}, std::vector<float>(size * size, value));
}

// Computes x @ y @ y ... and returns before the work is done. Queued work keeps its inputs alive.
static pm::Tensor chain(pm::Tensor x, const pm::Tensor& y) {
  for (int i = 0; i < 8; i++) x = pm::call(PMPS_OP_MATMUL, {x, y});
  return x;
}

static bool run() {
  const pm::Place place = pm::Place::best();
  const pm::Tensor scale = filled(place, 1.0f / size);
  pm::Stream one(place), two(place);
  pm::Event begun(place, PMPS_EVENT_TIMING), ended(place, PMPS_EVENT_TIMING);

  one.record(begun);
  const pm::Tensor left = [&] {
    const pm::OnStream here(one);
    return chain(filled(place, 1), scale);
  }();
  one.record(ended);

  const pm::OnStream here(two);
  const pm::Tensor right = chain(filled(place, 2), scale);
  const pm::Tensor sum = left + right;  // on stream two, which waits for left

  two.wait(ended);  // an explicit dependency, without shared tensors
  two.synchronize();
  const double milliseconds = pm::elapsed(begun, ended);
  std::printf("left half: %.2f ms\n", milliseconds);
  return ended.query() && milliseconds >= 0 && sum[{pm::at(-1), pm::at(-1)}].item<float>() == 3;
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
