// functions.cc - paddlemps_ops.hpp: operands, attributes, lists, places and errors of the operators as functions.
#include <cstdio>
#include <string>
#include <vector>

#include "paddlemps_ops.hpp"

namespace pm = paddlemps;

static int failed_tests;
static bool failing;

static void expect(bool good, const char* what) {
  if (good) return;
  std::printf("  %s\n", what);
  failing = true;
}

static void same(const pm::Tensor& x, std::vector<std::int64_t> shape, std::vector<float> want, const char* what) {
  const pm::Tensor wide = pm::cast(x, PMPS_FLOAT32);
  const pm::TensorInfo info = wide.info();
  expect(info.shape() == pm::Dims(shape) && wide.values<float>() == want, what);
}

static void run(const char* name, void (*test)()) {
  failing = false;
  try {
    test();
  } catch (const std::exception& error) {
    std::printf("  %s\n", error.what());
    failing = true;
  }
  expect(pmps_live_handles() == 0, "handles are left");
  std::printf("%s %s\n", failing ? "FAIL" : "ok", name);
  failed_tests += failing;
}

static pm::Place place() { return pm::Place::best(); }
static pm::Tensor squares() { return pm::Tensor::from<float>(place(), {2, 2}, {1, 4, 9, 16}); }

static void functions_take_tensors_and_numbers() {
  const pm::Tensor x = squares();
  same(pm::sqrt(x), {2, 2}, {1, 2, 3, 4}, "sqrt(x)");
  same(pm::subtract(10, x), {2, 2}, {9, 6, 1, -6}, "subtract(10, x)");
  same(pm::greater_than(x, 3.5), {2, 2}, {0, 1, 1, 1}, "greater_than(x, 3.5)");
  same(pm::where(pm::less_equal(x, 4), x, pm::neg(x)), {2, 2}, {1, 4, -9, -16}, "where(x <= 4, x, -x)");
}

static void functions_take_attributes() {
  const pm::Tensor x = squares();
  same(pm::sum(x), {}, {30}, "sum(x)");
  same(pm::sum(x, -1), {2}, {5, 25}, "sum(x, -1)");
  same(pm::sum(x, {0, 1}, {}, true), {1, 1}, {30}, "sum(x, {0, 1}, {}, true)");
  same(pm::sum(x, -1, PMPS_INT64), {2}, {5, 25}, "sum(x, -1, int64)");
  expect(pm::sum(x, -1, PMPS_INT64).info().dtype == PMPS_INT64, "dtype of sum(x, -1, int64)");
  same(pm::matmul(x, x, false, true), {2, 2}, {17, 73, 73, 337}, "matmul(x, x, false, true)");
  same(pm::reshape(x, {4}), {4}, {1, 4, 9, 16}, "reshape(x, {4})");
  same(pm::reshape(pm::sum(x), {}), {}, {30}, "reshape(sum(x), {})");
  same(pm::sum(x, std::size_t{1}), {2}, {5, 25}, "sum(x, 1) of a size_t");
  same(pm::sum(x, 1LL), {2}, {5, 25}, "sum(x, 1) of a long long");
  same(pm::transpose(x, {1, 0}), {2, 2}, {1, 9, 4, 16}, "transpose(x, {1, 0})");
}

static void lists_go_in_and_come_out() {
  const pm::Tensor x = squares();
  same(pm::concat({x, pm::sqrt(x)}, 1), {2, 4}, {1, 4, 1, 2, 9, 16, 3, 4}, "concat({x, sqrt(x)}, 1)");
  std::vector<pm::Tensor> list;
  list.push_back(pm::abs(x));
  list.push_back(pm::neg(x));
  same(pm::concat(list, 0), {4, 2}, {1, 4, 9, 16, -1, -4, -9, -16}, "concat(list, 0)");
  const std::vector<pm::Tensor> top = pm::topk(x, 1);
  expect(top.size() == 2, "topk has two results");
  same(top[0], {2, 1}, {4, 16}, "topk(x, 1)[0]");
  same(top[1], {2, 1}, {1, 1}, "topk(x, 1)[1]");
  const pm::Tensor line = pm::full(place(), {70}, 1, PMPS_FLOAT32);
  expect(pm::split(line, std::vector<std::int64_t>(70, 1), 0, 70).size() == 70, "split into 70 parts");
}

static void creation_takes_a_place() {
  same(pm::full(place(), {2}, 7.5, PMPS_FLOAT32), {2}, {7.5f, 7.5f}, "full of a float");
  same(pm::full(place(), {2}, 7, PMPS_INT64), {2}, {7, 7}, "full of an int");
  same(pm::full(place(), {}, 7, PMPS_INT64), {}, {7}, "full without axes");
}

static void errors_are_thrown() {
  const pm::Tensor x = squares();
  bool thrown = false;
  try {
    pm::matmul(x, pm::Tensor::from<float>(place(), {3}, {1, 2, 3}));
  } catch (const pm::Error& error) {
    thrown = error.code() == PMPS_INVALID_ARGUMENT && std::string(error.what()).find("[matmul]") == 0;
  }
  expect(thrown, "matmul of shapes that do not fit");
}

int main() {
  pm::init();
  run("functions_take_tensors_and_numbers", functions_take_tensors_and_numbers);
  run("functions_take_attributes", functions_take_attributes);
  run("lists_go_in_and_come_out", lists_go_in_and_come_out);
  run("creation_takes_a_place", creation_takes_a_place);
  run("errors_are_thrown", errors_are_thrown);
  return failed_tests != 0;
}
