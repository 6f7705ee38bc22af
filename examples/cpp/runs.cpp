// runs.cpp - asynchronous runs of a program, waited for when their results are needed, with a deadline.
#include <chrono>
#include <cstdio>
#include <exception>
#include <vector>

#include "paddlemps.hpp"

namespace pm = paddlemps;

constexpr std::int64_t size = 128;

// x @ w @ w ... of 50 products: a run can be cancelled between any two of them.
static pm::Program products(pm::Place place) {
  pm::Graph graph;
  const std::vector<float> share(size * size, 1.0f / size);
  const pm::Value w = graph.constant(pm::Tensor::from(place, {size, size}, share));
  pm::Value x = graph.input(PMPS_FLOAT32, {graph.symbol(), size});
  for (int i = 0; i < 50; i++) x = graph.call(PMPS_OP_MATMUL, {x, w});
  return pm::Program(place, graph, {x});
}

static bool run() {
  const pm::Place place = pm::Place::best();
  std::vector<pm::Run> runs;
  {
    const pm::Program program = products(place);
    for (int i = 0; i < 8; i++) {
      const pm::Tensor x = pm::Tensor::from(place, {4, size}, std::vector<float>(4 * size, static_cast<float>(i)));
      runs.push_back(program.start({x}));  // returns at once
    }
  }  // the runs keep the program and their inputs

  // The first half is wanted in any case, and the rest only if it is there within 5 ms.
  bool good = true;
  for (int i = 0; i < 4; i++) {
    const std::vector<pm::Tensor> y = runs[i].wait();
    good = good && y[0][{pm::at(0), pm::at(0)}].item<float>() == static_cast<float>(i);
  }
  int late = 0;
  for (int i = 4; i < 8; i++) {
    if (runs[i].wait_for(std::chrono::milliseconds(5))) continue;
    runs[i].cancel();
    try {
      runs[i].wait();  // it may have come to its end nevertheless
    } catch (const pm::Error& error) {
      good = good && error.code() == PMPS_CANCELLED;
      late++;
    }
  }
  std::printf("%d runs were cancelled\n", late);
  return good;
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
