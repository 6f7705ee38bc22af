// program.cpp - many operators as one call, for any number of rows.
#include <cstdio>
#include <exception>
#include <vector>

#include "paddlemps.hpp"

namespace pm = paddlemps;

constexpr std::int64_t inputs = 4, outputs = 2;

// A matrix of one value.
static pm::Tensor filled(pm::Place place, std::int64_t rows, std::int64_t columns, float value) {
  return pm::Tensor::from(place, {rows, columns}, std::vector<float>(static_cast<std::size_t>(rows * columns), value));
}

// relu(x @ w) three times, then softmax.
static pm::Program network(pm::Place place) {
  pm::Graph graph;
  pm::Value x = graph.input(PMPS_FLOAT32, {graph.symbol(), inputs});
  const pm::Value w = graph.constant(filled(place, inputs, inputs, 0.25f));
  for (int i = 0; i < 3; i++) x = graph.call(PMPS_OP_RELU, {graph.call(PMPS_OP_MATMUL, {x, w})});
  x = graph.call(PMPS_OP_MATMUL, {x, graph.constant(filled(place, inputs, outputs, 1))});
  return pm::Program(place, graph, {graph.call(PMPS_OP_SOFTMAX, {x}, {pm::attr("axis", 1)})});
}

static bool run() {
  const pm::Place place = pm::Place::best();
  const pm::Program program = network(place);
  program.prepare({{64, inputs}});  // optional: the first run of a size compiles otherwise
  bool good = true;
  for (const std::int64_t rows : {64, 3, 64}) {
    const std::vector<pm::Tensor> out = program.run({filled(place, rows, inputs, 1)});
    good = good && out[0].values<float>() == std::vector<float>(static_cast<std::size_t>(rows * outputs), 1.0f / outputs);
  }
  const pm::ProgramInfo info = program.info();
  std::printf("%d operators, compiled for %d sizes\n", static_cast<int>(info.operators), static_cast<int>(info.compilations));
  return good && info.operators == 8 && info.compilations == 2;
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
