// streams.cpp - work on two streams, ordered by the tensors that it shares and by an event.
#include <cstdio>
#include <exception>
#include <vector>

#include "paddlemps.hpp"

namespace pm = paddlemps;

constexpr std::int64_t size = 256;

static pm::Tensor filled(pm::Place place, float value) {
  return pm::Tensor::from(place, {size, size}, std::vector<float>(size * size, value));
}

// x @ y @ y ...: the calls return before the work is done, and the work keeps what it needs.
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
  const pm::Tensor sum = left + right;  // on two, which waits for what one is still computing

  two.wait(ended);  // an order that no tensor makes
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
