// objects.cc - paddlemps.hpp: what its classes own, convert and refuse.
#include <array>
#include <atomic>
#include <complex>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "paddlemps.hpp"

namespace pm = paddlemps;

static int failed_tests;
static bool failing;

#define EXPECT(...)                                                               \
  do {                                                                            \
    if (!(__VA_ARGS__)) {                                                         \
      std::printf("  %s:%d: %s\n", __FILE__, __LINE__, #__VA_ARGS__);             \
      failing = true;                                                             \
    }                                                                             \
  } while (0)

#define RUN(test) run_test(#test, test)

// A test that throws has failed, and so has one that leaves a handle behind.
static void run_test(const char* name, void (*test)()) {
  failing = false;
  try {
    test();
  } catch (const std::exception& error) {
    std::printf("  %s\n", error.what());
    failing = true;
  }
  EXPECT(pmps_live_handles() == 0);
  std::printf("%s %s\n", failing ? "FAIL" : "ok", name);
  failed_tests += failing;
}

// The code that a call fails with; PMPS_OK for one that does not.
template <class Call>
static pmps_code code_of(Call call) {
  try {
    call();
  } catch (const pm::Error& error) {
    return error.code();
  }
  return PMPS_OK;
}

static pm::Place place() { return pm::Place::best(); }

static_assert(!std::is_copy_constructible_v<pm::Tensor> && std::is_nothrow_move_constructible_v<pm::Tensor>);
static_assert(!std::is_copy_constructible_v<pm::Stream> && !std::is_copy_constructible_v<pm::Event>);
static_assert(!std::is_move_constructible_v<pm::OnStream> && !std::is_copy_constructible_v<pm::Kernel>);
static_assert(!std::is_copy_constructible_v<pm::Graph> && std::is_nothrow_move_constructible_v<pm::Program>);
static_assert(sizeof(pm::Tensor) == sizeof(void*) && sizeof(pm::Stream) == sizeof(void*));
static_assert(pm::dtype_of<float> == PMPS_FLOAT32 && pm::dtype_of<double> == PMPS_FLOAT64);
static_assert(pm::dtype_of<std::complex<float>> == PMPS_COMPLEX64);
static_assert(pm::dtype_of<std::complex<double>> == PMPS_COMPLEX128);
static_assert(pm::dtype_of<bool> == PMPS_BOOL && pm::dtype_of<std::uint8_t> == PMPS_UINT8);
static_assert(pm::dtype_of<std::int8_t> == PMPS_INT8 && pm::dtype_of<std::int16_t> == PMPS_INT16);
static_assert(pm::dtype_of<std::int32_t> == PMPS_INT32 && pm::dtype_of<long long> == PMPS_INT64);
static_assert(pm::Place::cpu() == pm::Place::cpu() && pm::Place::mps(1) != pm::Place::mps());

static void errors_are_exceptions() {
  try {
    pm::find("no such operator");
    EXPECT(false);
  } catch (const std::runtime_error& error) {
    const auto* ours = dynamic_cast<const pm::Error*>(&error);
    EXPECT(ours && ours->code() == PMPS_NOT_FOUND);
    EXPECT(std::string(error.what()) == "[op] no operator is named \"no such operator\"");
  }
  pm::check(nullptr);
  try {
    pm::Tensor::empty(place(), PMPS_UINT8, {INT64_MAX / 2});
    EXPECT(false);
  } catch (const pm::OutOfMemory& error) {
    EXPECT(error.code() == PMPS_OUT_OF_MEMORY);
  }
}

static void handles_move() {
  pm::Tensor x = pm::Tensor::from<float>(place(), {2}, {1, 2});
  pmps_tensor* handle = x.get();
  pm::Tensor y = std::move(x);
  EXPECT(y.get() == handle && x.get() == nullptr);
  EXPECT(code_of([&] { x.info(); }) == PMPS_INVALID_HANDLE);
  x = y.retain();
  EXPECT(x.get() != handle && pmps_live_handles() == 2);
  y = pm::Tensor(x.release());
  EXPECT(pmps_live_handles() == 1 && y.values<float>() == (std::vector<float>{1, 2}));
}

static void shapes_are_spans() {
  const std::array<std::int64_t, 2> array{2, 3};
  const std::vector<std::int64_t> vector{2, 3};
  for (const pm::Dims dims : {pm::Dims(array), pm::Dims(vector), pm::Dims(vector.data(), 2)}) {
    EXPECT(pm::numel(dims) == 6 && dims.size() == 2 && dims[1] == 3);
    EXPECT(pm::Tensor::empty(place(), PMPS_INT8, dims).shape() == vector);
  }
  EXPECT(pm::numel({}) == 1 && pm::Dims{} != pm::Dims(array));
  const pm::TensorInfo info = pm::Tensor::empty(place(), PMPS_FLOAT32, {4, 5})[{pm::slice(), pm::at(0)}].info();
  EXPECT(info.shape() == pm::Dims{4} && info.steps() == pm::Dims{5} && !info.contiguous());
  EXPECT(pm::Tensor::empty(place(), PMPS_FLOAT32, {0, 7}).info().contiguous());
  EXPECT(pm::Tensor::empty(place(), PMPS_FLOAT32, {1, 3})[{pm::slice(), pm::slice(0, 3)}].info().contiguous());
}

static void elements_are_checked() {
  const pm::Tensor x = pm::Tensor::from(place(), {3}, std::vector<std::int32_t>{1, 2, 3});
  EXPECT(x.dtype() == PMPS_INT32 && x.place() == place());
  EXPECT(code_of([&] { x.values<float>(); }) == PMPS_TYPE_MISMATCH);
  EXPECT(code_of([&] { x.item<std::int32_t>(); }) == PMPS_INVALID_ARGUMENT);
  EXPECT(code_of([] { pm::Tensor::from<float>(place(), {2, 2}, {1, 2, 3}); }) == PMPS_INVALID_ARGUMENT);
  EXPECT(code_of([] { pm::Tensor::over(std::vector<float>(3), {4}); }) == PMPS_INVALID_ARGUMENT);
  for (const std::vector<std::int64_t>& two : {std::vector<std::int64_t>{3, 6148914691236517206}, {-1, -2}}) { /* 2 modulo 2**64 */
    EXPECT(code_of([&] { pm::Tensor::from<float>(place(), two, {1, 2}); }) == PMPS_INVALID_ARGUMENT);
    EXPECT(code_of([&] { pm::Tensor::over(std::vector<float>(2), two); }) == PMPS_INVALID_ARGUMENT);
  }
  const pm::Tensor mask = pm::call(PMPS_OP_LESS_THAN, {x, pm::scalar(2)});
  EXPECT(mask.dtype() == PMPS_BOOL && mask.values<std::uint8_t>() == (std::vector<std::uint8_t>{1, 0, 0}));
  pm::Tensor copy = x.clone();
  copy.write(pm::Span<std::int32_t>{7, 8, 9});
  EXPECT(x[{pm::at(0)}].item<std::int32_t>() == 1 && copy[{pm::at(0)}].item<std::int32_t>() == 7);
  EXPECT(code_of([&] { copy.write(pm::Span<std::int32_t>{1}); }) == PMPS_INVALID_ARGUMENT);
}

static void memory_is_given_back_once() {
  std::atomic<int> returned{0};
  std::vector<float> values{1, 2, 3, 4};
  const auto done = [&returned] { returned++; };
  pm::Tensor view = pm::Tensor::over(values.data(), {2, 2}, done)[{pm::at(1)}];
  EXPECT(returned == 0 && view.values<float>() == (std::vector<float>{3, 4}));
  view = pm::Tensor::over(values.data(), {4}, nullptr); /* without a function to call at the end */
  EXPECT(returned == 1);
  EXPECT(code_of([&] { pm::Tensor::over(values.data(), {-1}, done); }) == PMPS_INVALID_ARGUMENT && returned == 1);
}

static void memory_is_shared() {
  alignas(16384) static float page[4] = {1, 2, 3, 4};
  const pm::Tensor there = pm::Tensor::over(page, {4}, nullptr).share(place());
  page[0] = 9;
  EXPECT(there.place().kind == place().kind && there.values<float>() == (std::vector<float>{9, 2, 3, 4}));
}

static void mappings_keep_the_memory() {
  pm::Tensor x = pm::Tensor::from<float>(place(), {2, 2}, {1, 2, 3, 4});
  EXPECT(code_of([&] { x[{pm::slice(), pm::at(0)}].map<float>(); }) == PMPS_INVALID_ARGUMENT);
  EXPECT(code_of([&] { x.map<double>(); }) == PMPS_TYPE_MISMATCH);
  pm::Mapping<float> first = x.map<float>();
  pm::Mapping<float> second = std::move(first);
  x = pm::Tensor::empty(place(), PMPS_FLOAT32, {1});
  EXPECT(first.size() == 0 && second.size() == 4 && second[3] == 4);
  float sum = 0;
  for (const float element : second) sum += element;
  EXPECT(sum == 10);
}

static void operators_take_tensors_and_numbers() {
  const pm::Tensor x = pm::Tensor::from<float>(place(), {2}, {1, 4});
  const pm::Tensor y = 10 - (x + x) / 2 * x;
  EXPECT(y.values<float>() == (std::vector<float>{9, -6}) && (-x).values<float>() == (std::vector<float>{-1, -4}));
  EXPECT((x * true).dtype() == PMPS_FLOAT32);
  const auto sum = [&](pmps_attr attr) { return pm::call(PMPS_OP_SUM, {x}, {attr}); };
  EXPECT(sum(pm::attr("keepdim", true)).shape() == std::vector<std::int64_t>{1});
  EXPECT(sum(pm::attr("dtype", PMPS_INT64)).item<std::int64_t>() == 5);
  EXPECT(sum(pm::attr("axis", {0})).item<float>() == 5);
  EXPECT(code_of([&] { sum(pm::attr("a name that is as long as it likes to be", 1)); }) == PMPS_NOT_FOUND);
  EXPECT(code_of([&] { sum(pm::attr("axis", "text")); }) == PMPS_TYPE_MISMATCH);
  const pm::Tensor ones = pm::call_on(place(), PMPS_OP_FULL, {},
                                      {pm::attr("shape", {2}), pm::attr("fill_value", 1.0), pm::attr("dtype", PMPS_FLOAT32)});
  EXPECT(ones.values<float>() == (std::vector<float>{1, 1}));
  pm::Tensor into = x.clone();
  pm::call_into(into, PMPS_OP_ADD, {into, ones});
  EXPECT(into.values<float>() == (std::vector<float>{2, 5}));
}

static void operators_may_have_several_results() {
  const pm::Tensor x = pm::Tensor::from<float>(place(), {3}, {1, 2, 3});
  const std::array<std::int64_t, 3> ones{1, 1, 1};
  const pm::Attrs thirds = {pm::attr("sections", ones)};
  const std::vector<pm::Tensor> parts = pm::call_all(pm::find("split"), {x}, thirds);
  EXPECT(parts.size() == 3 && parts[2].item<float>() == 3);
  EXPECT(code_of([&] { pm::call(pm::find("split"), {x}, thirds); }) == PMPS_INVALID_ARGUMENT);
  EXPECT(code_of([&] { pm::call_all(pm::find("split"), {x}, thirds, 2); }) == PMPS_INVALID_ARGUMENT);
  const pm::Tensor nothing = pm::Tensor::empty(place(), PMPS_FLOAT32, {0, 3});
  const auto none = {pm::attr("sections", pm::Dims()), pm::attr("axis", 0)};
  EXPECT(pm::call_all(PMPS_OP_SPLIT, {nothing}, none).empty());
  EXPECT(code_of([&] { pm::call(PMPS_OP_SPLIT, {nothing}, none); }) == PMPS_INVALID_ARGUMENT);
}

static void streams_end_with_their_scope() {
  const pm::Place here = place();
  const auto current = [&] {
    pmps_stream* stream = nullptr;
    pm::check(pmps_stream_get_current(&here, &stream));
    return stream;
  };
  pmps_stream* const before = current();
  pm::Stream outer(here), inner(here);
  {
    const pm::OnStream one(outer);
    EXPECT(current() == outer.get());
    {
      const pm::OnStream two(inner);
      EXPECT(current() == inner.get());
    }
    EXPECT(current() == outer.get());
    pm::Event event(here);
    const pm::Tensor x = pm::Tensor::from<float>(here, {1}, {3}) * 2;
    outer.record(event);
    inner.wait(event);
    event.synchronize();
    EXPECT(event.query() && code_of([&] { pm::elapsed(event, event); }) == PMPS_INVALID_ARGUMENT);
    EXPECT(x.item<float>() == 6);
  }
  EXPECT(current() == before);
  outer.synchronize();
  EXPECT(outer.query());
}

static void devices_are_described() {
  EXPECT(pm::device_info(place()).total_memory > 0);
  EXPECT(pm::memory_snapshot(place()).front() == '{');
  pm::profile_start(PMPS_PROFILE_SHAPES);
  { const pm::ProfileSpan span("from C++"); }
  EXPECT(pm::profile_stop().find("\"cat\":\"UserDefined\",\"name\":\"from C++\"") != std::string::npos);
  const pm::Tensor x = pm::Tensor::empty(place(), PMPS_UINT8, {1 << 20});
  EXPECT(pm::memory_stats(place()).allocated_bytes.current >= 1 << 20);
  EXPECT(x.to(pm::Place::cpu()).place() == pm::Place::cpu());
  pm::seed(place(), 7);
  pm::synchronize(place());
}

static void programs_are_one_call() {
  pm::Graph graph;
  const std::int64_t n = graph.symbol();
  const pm::Value x = graph.input(PMPS_FLOAT32, {n, 2});
  const pm::Value w = graph.constant(pm::Tensor::from<float>(place(), {2}, {1, 10}));
  const pm::Value y = graph.call(PMPS_OP_ADD, {graph.call(PMPS_OP_MULTIPLY, {x, w}), graph.scalar(1)});
  const std::vector<pm::Value> parts = graph.call_all(PMPS_OP_SPLIT, {y}, {pm::attr("sections", {1, 1}), pm::attr("axis", 1)});
  const pm::Value top = graph.call(PMPS_OP_CLIP, {y, graph.none(), graph.scalar(25.0)});
  EXPECT(graph.info(y).dims[0] == n && graph.info(y).dtype == PMPS_FLOAT32 && parts.size() == 2);
  EXPECT(graph.text().find("= multiply(") != std::string::npos);
  EXPECT(code_of([&] { graph.call(PMPS_OP_SPLIT, {y}, {pm::attr("sections", {1, 1}), pm::attr("axis", 1)}); }) == PMPS_INVALID_ARGUMENT);
  EXPECT(code_of([&] { pm::Program(place(), graph, {}); }) == PMPS_INVALID_ARGUMENT);
  const pm::Program program(place(), graph, {top, parts[0]});
  EXPECT(code_of([&] { graph.symbol(); }) == PMPS_INVALID_ARGUMENT);
  EXPECT(code_of([&] { program.prepare({{2}}); }) == PMPS_INVALID_ARGUMENT); /* not read beyond its end */
  program.prepare({{2, 2}});
  EXPECT(program.info().compilations == 1 && program.info().outputs == 2 && program.info().constant_bytes == 8);
  for (int round = 0; round < 2; round++) {
    const pm::Tensor in = pm::Tensor::from<float>(place(), {2, 2}, {1, 2, 3, 4});
    const std::vector<pm::Tensor> out = program.run({in});
    EXPECT(out.size() == 2 && out[0].values<float>() == (std::vector<float>{2, 21, 4, 25}));
    EXPECT(out[1].values<float>() == (std::vector<float>{2, 4}) && program.info().compilations == 1);
    EXPECT(code_of([&] { program.run({in, in}); }) == PMPS_INVALID_ARGUMENT);
  }
  const pm::Tensor longer = pm::Tensor::from<float>(place(), {1, 2}, {1, 1});
  EXPECT(program.run({longer + longer})[0].values<float>() == (std::vector<float>{3, 21}));
}

static void graphs_may_have_calls_without_results() {
  pm::Graph graph;
  const pm::Value x = graph.input(PMPS_FLOAT32, {0, 3});
  const auto none = {pm::attr("sections", pm::Dims()), pm::attr("axis", 0)};
  EXPECT(graph.call_all(PMPS_OP_SPLIT, {x}, none).empty());
  EXPECT(code_of([&] { graph.call(PMPS_OP_SPLIT, {x}, none); }) == PMPS_INVALID_ARGUMENT);
}

static void runs_are_started_and_waited_for() {
  pm::Graph graph;
  const pm::Value x = graph.input(PMPS_FLOAT32, {graph.symbol()});
  std::unique_ptr<pm::Program> program = std::make_unique<pm::Program>(place(), graph, std::initializer_list<pm::Value>{graph.call(PMPS_OP_MULTIPLY, {x, x})});
  std::vector<pm::Run> runs;
  for (float i = 0; i < 20; i++) runs.push_back(program->start({pm::Tensor::from<float>(place(), {1}, {i})}));
  const pm::Run wrong = program->start({});
  program.reset();
  for (std::size_t i = 0; i < runs.size(); i++) {
    while (!runs[i].wait_for(std::chrono::seconds(1))) {
    }
    const std::vector<pm::Tensor> out = runs[i].wait(), again = runs[i].wait(1);
    EXPECT(runs[i].ended() && out.size() == 1 && out[0].item<float>() == static_cast<float>(i * i) && again.size() == 1);
    runs[i].cancel(); /* too late */
  }
  EXPECT(code_of([&] { wrong.wait(); }) == PMPS_INVALID_ARGUMENT);
  EXPECT(code_of([&] { runs[0].wait(0); }) == PMPS_INVALID_ARGUMENT);
}

static void calls_become_a_program() {
  const pm::Tensor x = pm::Tensor::from<float>(place(), {2}, {1, 2}), w = pm::Tensor::from<float>(place(), {2}, {3, 4});
  std::unique_ptr<pm::Program> program;
  {
    pm::Trace trace(place(), {x});
    const pm::Tensor y = trace.inputs()[0] * w;
    EXPECT(code_of([&] { y.values<float>(); }) == PMPS_TRACED);
    EXPECT(trace.text().find("= multiply(") != std::string::npos);
    trace.pause(true);
    EXPECT((x + w).values<float>() == (std::vector<float>{4, 6}));
    trace.pause(false);
    program = std::make_unique<pm::Program>(trace.end({y}));
  }
  EXPECT(program->run({x})[0].values<float>() == (std::vector<float>{3, 8}));
  EXPECT(program->captured(0).values<float>() == (std::vector<float>{3, 4}) && program->info().captured == 1);
  EXPECT(program->text().find("multiply(") != std::string::npos && !program->text(true).empty());
  {
    const pm::Tensor longer = pm::Tensor::from<float>(place(), {3}, {1, 2, 3}), four = pm::Tensor::from<float>(place(), {4}, {1, 2, 3, 4});
    std::vector<pm::Program> traced;
    for (const pm::Tensor* one : {&x, &longer}) {
      pm::Trace trace(place(), {*one});
      traced.push_back(trace.end({trace.inputs()[0] * trace.inputs()[0]}));
    }
    EXPECT(traced[0].unified(traced[1]).run({four})[0].values<float>() == (std::vector<float>{1, 4, 9, 16}));
  }
  { pm::Trace dropped(place(), {}); }
  EXPECT((x + w).values<float>() == (std::vector<float>{4, 6}));
}

static void shaders_are_refused_where_there_is_no_metal() {
  if (std::string(pm::device_info(place()).backend) != "metal") {
    EXPECT(code_of([] { pm::Library::compile(place(), "kernel void k() {}"); }) == PMPS_UNSUPPORTED);
    return;
  }
  const char* source =
      "#include <metal_stdlib>\n"
      "kernel void scale(device float *x [[buffer(0)]], constant float &by [[buffer(1)]],\n"
      "                  uint i [[thread_position_in_grid]]) { x[i] *= by; }\n";
  pm::Kernel kernel = pm::Library::compile(place(), source).kernel("scale");
  EXPECT(kernel.info().argument_count == 2);
  const pm::Tensor x = pm::Tensor::from<float>(place(), {2}, {1, 2});
  const float by = 3;
  kernel.run({x, pm::bytes(by)});
  kernel.run({x, pm::bytes(by)}, {2, 1, 1}, {1, 1, 1});
  EXPECT(x.values<float>() == (std::vector<float>{9, 18}));
}

static void gradients_are_computed() {
  pm::Tensor x = pm::Tensor::from<float>(place(), {2}, {1, 3});
  pm::Tensor w = pm::Tensor::from<float>(place(), {2}, {5, 7});
  EXPECT(!x.requires_grad() && !x.grad());
  x.set_requires_grad();
  w.set_requires_grad();
  {
    const pm::Tensor y = x * x + w;
    EXPECT(y.requires_grad() && !y.grad_info().is_leaf);
    y.backward(true);
    y.backward();
    EXPECT(x.grad()->values<float>() == (std::vector<float>{4, 12}));
    EXPECT(w.grad()->values<float>() == (std::vector<float>{2, 2}));
    EXPECT(code_of([&] { y.backward(); }) == PMPS_INVALID_ARGUMENT);
  }
  x.set_grad(w.detach());
  EXPECT(x.grad()->values<float>() == (std::vector<float>{5, 7}));
  x.clear_grad();
  EXPECT(!x.grad());

  const pm::Tensor cube = x * x * x;
  pm::PassOptions again;
  again.create_graph = true;
  const auto dx = pm::gradients({cube}, {x, w}, again);
  EXPECT(dx.size() == 2 && dx[0] && !dx[1] && dx[0]->values<float>() == (std::vector<float>{3, 27}));
  pm::PassOptions weighted;
  weighted.grads_of = {w};
  const auto dxx = pm::gradients({*dx[0]}, {x}, weighted);
  EXPECT(dxx[0]->values<float>() == (std::vector<float>{30, 126}));
  EXPECT(code_of([&] { pm::gradients({cube, cube}, {x}, weighted); }) == PMPS_INVALID_ARGUMENT);
  EXPECT(pm::gradients({cube}, {}).empty());

  pm::Tensor middle = x + 1;
  middle.retain_grad();
  const pm::Tensor top = middle * middle;
  pm::PassOptions stopping;
  stopping.stop = {middle};
  stopping.retain_graph = true;
  EXPECT(!pm::gradients({top}, {x}, stopping)[0]);
  pm::backward({top});
  EXPECT(middle.grad()->values<float>() == (std::vector<float>{4, 8}));

  const pm::NoGrad off;
  EXPECT(!(x * x).requires_grad());
  {
    const pm::NoGrad inner;
  }
  EXPECT(!(x * x).requires_grad());
}

static void recording_is_back_on() {
  pm::Tensor x = pm::Tensor::from<float>(place(), {1}, {2});
  x.set_requires_grad();
  EXPECT((x * x).requires_grad());
}

int main() {
  pm::init();
  RUN(errors_are_exceptions);
  RUN(handles_move);
  RUN(shapes_are_spans);
  RUN(elements_are_checked);
  RUN(memory_is_given_back_once);
  RUN(memory_is_shared);
  RUN(mappings_keep_the_memory);
  RUN(operators_take_tensors_and_numbers);
  RUN(operators_may_have_several_results);
  RUN(streams_end_with_their_scope);
  RUN(devices_are_described);
  RUN(gradients_are_computed);
  RUN(recording_is_back_on);
  RUN(programs_are_one_call);
  RUN(graphs_may_have_calls_without_results);
  RUN(runs_are_started_and_waited_for);
  RUN(calls_become_a_program);
  RUN(shaders_are_refused_where_there_is_no_metal);
  return failed_tests ? 1 : 0;
}
