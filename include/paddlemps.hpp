/*
 * paddlemps.hpp - paddlemps.h for C++17: objects that free what they own, errors as exceptions.
 *
 * Everything is inline over the C functions: there is nothing to link with but the library itself.
 * Objects of the C interface are the same objects: get() lends one to a C call, release() hands it over,
 * and each class takes over one that a C call has made.
 *
 * ERRORS
 *   What fails throws Error, which has the code and the message of the C interface, and changes nothing.
 *   Destructors and what is noexcept do not throw.
 *
 * OBJECTS
 *   Tensor, Stream, Event, Library and Kernel own one object each. They can be moved and not copied; one
 *   that was moved from may be destroyed or assigned to, and any other use of it throws. Copies of the
 *   handle and copies of the elements have names: retain() and clone().
 *
 * THREADS
 *   As in paddlemps.h: calls may come from any thread, on one C++ object from one thread at a time unless
 *   all of them are const.
 */
#ifndef PADDLEMPS_HPP
#define PADDLEMPS_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "paddlemps.h"

namespace paddlemps {

/* ---- Errors -------------------------------------------------------------------------------- */

/* A failed call: what() is "[op] what came; want what". */
class Error : public std::runtime_error {
 public:
  Error(pmps_code code, const std::string& message) : std::runtime_error(message), code_(code) {}

  pmps_code code() const noexcept { return code_; }

 private:
  pmps_code code_;
};

/* The error of code PMPS_OUT_OF_MEMORY: what a program may answer by freeing something. */
class OutOfMemory : public Error {
 public:
  explicit OutOfMemory(const std::string& message) : Error(PMPS_OUT_OF_MEMORY, message) {}
};

namespace detail {

/* Frees with a function of the C interface: a deleter of std::unique_ptr without a size. */
template <auto free>
struct Free {
  template <class T>
  void operator()(T* object) const noexcept {
    free(object);
  }
};

template <class T, void (*free)(T*)>
using Owned = std::unique_ptr<T, Free<free>>;

}  // namespace detail

/* Throws what a call of the C interface answered, and frees it; NULL is success. */
inline void check(pmps_error* error) {
  if (error == nullptr) return;
  const detail::Owned<pmps_error, pmps_error_free> owned(error);
  const pmps_code code = pmps_error_code(error);
  const std::string message = pmps_error_message(error);
  if (code == PMPS_OUT_OF_MEMORY) throw OutOfMemory(message);
  throw Error(code, message);
}

/* Refuses a library that is not the one this header belongs to: a program calls it once, first. */
inline void init() { check(pmps_init(PMPS_ABI_VERSION)); }

/* ---- Shapes and dtypes ------------------------------------------------------------------------ */

/* Numbers in a row that somebody else holds, valid while they do: what std::span is in C++20. Made of
 * braces, vectors, arrays and shapes. */
template <class T>
class Span {
 public:
  constexpr Span() noexcept = default;
  constexpr Span(const T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  constexpr Span(std::initializer_list<T> list) noexcept : Span(list.begin(), list.size()) {}

  template <class C, class = std::enable_if_t<std::is_same_v<decltype(std::data(std::declval<const C&>())), const T*>>>
  constexpr Span(const C& container) noexcept : data_(std::data(container)), size_(std::size(container)) {}

  constexpr const T* begin() const noexcept { return data_; }
  constexpr const T* end() const noexcept { return data_ + size_; }
  constexpr const T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr const T& operator[](std::size_t i) const noexcept { return data_[i]; }

  friend bool operator==(Span a, Span b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }
  friend bool operator!=(Span a, Span b) { return !(a == b); }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

/* Sizes of axes, outermost first, or their strides in elements. */
using Dims = Span<std::int64_t>;

/* The number of elements of a shape. */
inline std::int64_t numel(Dims dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

/* The dtype that a C++ type is the element of: dtype_of<float> is PMPS_FLOAT32. Half precision has no
 * type in C++17. */
template <class T>
inline constexpr pmps_dtype dtype_of = [] {
  static_assert(std::is_arithmetic_v<T>, "an element is a number or a bool");
  if constexpr (std::is_same_v<T, bool>) return PMPS_BOOL;
  else if constexpr (std::is_same_v<T, float>) return PMPS_FLOAT32;
  else if constexpr (std::is_same_v<T, double>) return PMPS_FLOAT64;
  else if constexpr (sizeof(T) == 1) return std::is_signed_v<T> ? PMPS_INT8 : PMPS_UINT8;
  else {
    static_assert(std::is_integral_v<T> && std::is_signed_v<T>, "there is no such dtype");
    return sizeof(T) == 2 ? PMPS_INT16 : sizeof(T) == 4 ? PMPS_INT32 : PMPS_INT64;
  }
}();

/* ---- Places and devices ------------------------------------------------------------------------ */

/* Where a tensor lives. */
struct Place : pmps_place {
  constexpr Place(pmps_place place) noexcept : pmps_place(place) {}

  static constexpr Place cpu() noexcept { return pmps_place{PMPS_CPU, 0}; }
  static constexpr Place mps(std::int32_t index = 0) noexcept { return pmps_place{PMPS_MPS, index}; }

  /* The first mps device, or the CPU where there is none. */
  static Place best() { return pmps_device_count(PMPS_MPS) > 0 ? mps() : cpu(); }

  friend constexpr bool operator==(Place a, Place b) noexcept { return a.kind == b.kind && a.index == b.index; }
  friend constexpr bool operator!=(Place a, Place b) noexcept { return !(a == b); }
};

namespace detail {

/* A structure that says its own size, filled in by a call. */
template <class T, class Call>
T filled(Call call) {
  T value{};
  value.struct_size = sizeof value;
  check(call(&value));
  return value;
}

}  // namespace detail

inline pmps_device_info device_info(Place place) {
  return detail::filled<pmps_device_info>([&](auto* info) { return pmps_device_get_info(&place, info); });
}

inline pmps_memory_stats memory_stats(Place place) {
  return detail::filled<pmps_memory_stats>([&](auto* stats) { return pmps_memory_get_stats(&place, stats); });
}

inline void empty_cache(Place place) { check(pmps_memory_empty_cache(&place)); }

/* Bytes that a device may reserve; 0 goes back to the default. */
inline void set_memory_limit(Place place, std::int64_t bytes) { check(pmps_memory_set_limit(&place, bytes)); }

/* A map of a device's memory as JSON: docs/memory_snapshot.md. */
inline std::string memory_snapshot(Place place) {
  char* json = nullptr;
  check(pmps_memory_snapshot(&place, &json));
  return detail::Owned<char, pmps_text_free>(json).get();
}

/* Waits for all work of a device; throws a failure that nobody has been told of. */
inline void synchronize(Place place) { check(pmps_device_synchronize(&place)); }

/* Seeds the random numbers of a device. */
inline void seed(Place place, std::uint64_t seed) { check(pmps_rng_seed(&place, seed)); }

/* ---- Tensors ------------------------------------------------------------------------------------ */

/* What a tensor is: pmps_tensor_info with its dims and strides as spans, which live as long as it. */
struct TensorInfo : pmps_tensor_info {
  Dims shape() const& noexcept { return {dims, static_cast<std::size_t>(rank)}; }
  Dims steps() const& noexcept { return {strides, static_cast<std::size_t>(rank)}; }
  Dims shape() const&& = delete;
  Dims steps() const&& = delete;

  /* Whether the elements lie in order without gaps. */
  bool contiguous() const noexcept {
    std::int64_t step = 1;
    for (std::int32_t i = rank; i-- > 0; step *= dims[i]) {
      if (dims[i] != 1 && strides[i] != step && numel != 0) return false;
    }
    return true;
  }
};

static_assert(sizeof(TensorInfo) == sizeof(pmps_tensor_info), "struct_size is that of the C interface");

template <class T>
class Mapping;

/* A view of memory that is freed with the last tensor over it. */
class Tensor {
 public:
  /* Takes over a tensor of the C interface, which becomes ours. */
  explicit Tensor(pmps_tensor* owned) noexcept : handle_(owned) {}

  /* Elements that are not defined yet. */
  static Tensor empty(Place place, pmps_dtype dtype, Dims dims) {
    return made([&](auto** t) { return pmps_tensor_empty(&place, dtype, rank(dims), dims.data(), t); });
  }

  /* A copy of values, in row-major order: as many as the shape has. */
  template <class T>
  static Tensor from(Place place, Dims dims, Span<T> values) {
    expect(numel(dims), values.size());
    return made([&](auto** t) {
      return pmps_tensor_from_host(&place, dtype_of<T>, rank(dims), dims.data(), values.data(), t);
    });
  }
  template <class T>
  static Tensor from(Place place, Dims dims, const std::vector<T>& values) {
    return from(place, dims, Span<T>(values));
  }
  template <class T>
  static Tensor from(Place place, Dims dims, std::initializer_list<T> values) {
    return from(place, dims, Span<T>(values));
  }

  /* A CPU tensor over memory of the program, without a copy. done is called once, from any thread, when
   * the library has no more use for it, and must not throw; it is not called when over throws. */
  template <class T>
  static Tensor over(T* data, Dims dims, std::function<void()> done) {
    auto user = std::make_unique<std::function<void()>>(std::move(done));
    Tensor tensor = made([&](auto** t) {
      return pmps_tensor_from_memory(dtype_of<T>, rank(dims), dims.data(), nullptr, data, call_done, user.get(), t);
    });
    (void)user.release(); /* call_done's from now on */
    return tensor;
  }

  /* A CPU tensor over the elements of a vector that the tensor keeps, without a copy. */
  template <class T>
  static Tensor over(std::vector<T>&& values, Dims dims) {
    expect(numel(dims), values.size());
    auto kept = std::make_shared<std::vector<T>>(std::move(values));
    return over(kept->data(), dims, [kept]() mutable { kept.reset(); });
  }

  /* A tensor over memory of another library, without a copy: it owns dl from now on, and not if it throws. */
  static Tensor from_dlpack(DLManagedTensor* dl) {
    return made([&](auto** t) { return pmps_tensor_from_dlpack(dl, t); });
  }
  static Tensor from_dlpack(DLManagedTensorVersioned* dl) {
    return made([&](auto** t) { return pmps_tensor_from_dlpack_versioned(dl, t); });
  }

  /* The memory for another library, without a copy, which calls its deleter. */
  DLManagedTensor* to_dlpack() const {
    DLManagedTensor* dl = nullptr;
    check(pmps_tensor_to_dlpack(get(), &dl));
    return dl;
  }
  DLManagedTensorVersioned* to_dlpack_versioned() const {
    DLManagedTensorVersioned* dl = nullptr;
    check(pmps_tensor_to_dlpack_versioned(get(), &dl));
    return dl;
  }

  TensorInfo info() const {
    return detail::filled<TensorInfo>([&](auto* info) { return pmps_tensor_get_info(get(), info); });
  }
  pmps_dtype dtype() const { return static_cast<pmps_dtype>(info().dtype); }
  Place place() const { return info().place; }
  std::vector<std::int64_t> shape() const {
    const TensorInfo i = info();
    return {i.shape().begin(), i.shape().end()};
  }

  /* Another handle to the same view. */
  Tensor retain() const {
    return made([&](auto** t) { return pmps_tensor_retain(get(), t); });
  }

  /* The tensor on a place: the same one if it is there already, else a copy, which may still be under way;
   * what uses it waits. */
  Tensor to(Place place) const {
    return made([&](auto** t) { return pmps_tensor_to(get(), &place, false, t); });
  }

  /* The tensor on a place in the memory that it has, without a copy; see pmps_tensor_share. */
  Tensor share(Place place) const {
    return made([&](auto** t) { return pmps_tensor_share(get(), &place, t); });
  }

  /* A copy of the elements, on the same place. */
  Tensor clone() const {
    const Place here = place();
    return made([&](auto** t) { return pmps_tensor_to(get(), &here, true, t); });
  }

  /* A view by basic indexing: t[{at(0), slice(1, 3)}] is t[0, 1:3]. */
  Tensor operator[](std::initializer_list<pmps_index> items) const {
    return made([&](auto** t) { return pmps_tensor_index(get(), items.begin(), items.size(), t); });
  }

  /* The elements, row-major, when they are computed; throws the failure of what computes them. A bool
   * is read as std::uint8_t. */
  template <class T>
  std::vector<T> values() const {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no elements to write to: use std::uint8_t");
    const TensorInfo i = info();
    holds<T>(i);
    std::vector<T> out(static_cast<std::size_t>(i.numel));
    check(pmps_tensor_read(get(), out.data(), out.size() * sizeof(T)));
    return out;
  }

  /* The only element. */
  template <class T>
  T item() const {
    const std::vector<T> all = values<T>();
    expect(1, all.size());
    return all[0];
  }

  /* Overwrites all elements. */
  template <class T>
  void write(Span<T> values) {
    holds<T>(info());
    check(pmps_tensor_write(get(), values.data(), values.size() * sizeof(T)));
  }

  /* The elements where they lie, for the CPU, until the mapping is destroyed. */
  template <class T>
  Mapping<T> map() const;

  pmps_tensor* get() const noexcept { return handle_.get(); }
  pmps_tensor* release() noexcept { return handle_.release(); }

  /* An operand of call, and an argument of Kernel::run: borrowed for the call. */
  operator pmps_arg() const noexcept {
    pmps_arg arg{};
    arg.kind = PMPS_ARG_TENSOR;
    arg.value.tensor = get();
    return arg;
  }
  operator pmps_kernel_arg() const noexcept { return {get(), nullptr, 0}; }

 private:
  template <class Call>
  static Tensor made(Call call) {
    pmps_tensor* tensor = nullptr;
    check(call(&tensor));
    return Tensor(tensor);
  }

  static std::int32_t rank(Dims dims) noexcept { return static_cast<std::int32_t>(dims.size()); }

  static void expect(std::int64_t wanted, std::size_t came) {
    if (wanted == static_cast<std::int64_t>(came)) return;
    throw Error(PMPS_INVALID_ARGUMENT, "[tensor] there are " + std::to_string(came) + " elements; want " + std::to_string(wanted));
  }

  template <class T>
  static void holds(const TensorInfo& info) {
    if (info.dtype == dtype_of<T> || (info.dtype == PMPS_BOOL && std::is_same_v<T, std::uint8_t>)) return;
    throw Error(PMPS_TYPE_MISMATCH, std::string("[tensor] elements are asked for as ") + pmps_dtype_name(dtype_of<T>) +
                                        "; want " + pmps_dtype_name(info.dtype));
  }

  static void call_done(void* user) noexcept {
    const std::unique_ptr<std::function<void()>> done(static_cast<std::function<void()>*>(user));
    if (*done) (*done)();
  }

  template <class T>
  friend class Mapping;

  detail::Owned<pmps_tensor, pmps_tensor_free> handle_;
};

/* The elements of a contiguous tensor as the CPU sees them. It keeps the tensor's memory. Work that is
 * submitted meanwhile does not wait for the CPU. */
template <class T>
class Mapping {
 public:
  explicit Mapping(const Tensor& tensor) : tensor_(tensor.retain()) {
    const TensorInfo info = tensor.info();
    Tensor::holds<T>(info);
    if (!info.contiguous()) throw Error(PMPS_INVALID_ARGUMENT, "[map] the tensor has gaps; want a contiguous one");
    void* data = nullptr;
    check(pmps_tensor_map(tensor_.get(), &data));
    data_ = static_cast<T*>(data);
    size_ = static_cast<std::size_t>(info.numel);
  }
  Mapping(Mapping&& other) noexcept
      : tensor_(std::move(other.tensor_)), data_(other.data_), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping() { pmps_tensor_unmap(tensor_.get()); }

  T* begin() const noexcept { return data_; }
  T* end() const noexcept { return data_ + size_; }
  T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  T& operator[](std::size_t i) const noexcept { return data_[i]; }

 private:
  Tensor tensor_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

template <class T>
Mapping<T> Tensor::map() const {
  return Mapping<T>(*this);
}

/* Items of an index expression: x[3], x[1:], x[::2], x[None], x[...]. */
inline constexpr std::int64_t omitted = INT64_MIN;

inline pmps_index at(std::int64_t index) noexcept { return {PMPS_INDEX_INT, 0, index, 0, 0}; }

inline pmps_index slice(std::int64_t start = omitted, std::int64_t stop = omitted, std::int64_t step = omitted) noexcept {
  const std::int32_t has = (start != omitted ? 1 : 0) | (stop != omitted ? 2 : 0) | (step != omitted ? 4 : 0);
  return {PMPS_INDEX_SLICE, has, start, stop, step};
}

inline pmps_index new_axis() noexcept { return {PMPS_INDEX_NEW_AXIS, 0, 0, 0, 0}; }
inline pmps_index ellipsis() noexcept { return {PMPS_INDEX_ELLIPSIS, 0, 0, 0, 0}; }

/* ---- Operators ---------------------------------------------------------------------------------- */

/* A scalar operand, weak as in Paddle: it takes the tensor's dtype. */
template <class T>
pmps_arg scalar(T value) noexcept {
  static_assert(std::is_arithmetic_v<T>, "a scalar is a number or a bool");
  pmps_arg arg{};
  if constexpr (std::is_floating_point_v<T>) {
    arg.kind = PMPS_ARG_FLOAT;
    arg.value.f = value;
  } else {
    arg.kind = std::is_same_v<T, bool> ? PMPS_ARG_BOOL : PMPS_ARG_INT;
    arg.value.i = static_cast<std::int64_t>(value);
  }
  return arg;
}

/* An optional operand that is not given. */
inline pmps_arg none() noexcept { return {}; }

namespace detail {

/* A name that is too long has no zero at its end, which the library answers. */
inline pmps_attr named(std::string_view name, pmps_attr_kind kind) noexcept {
  pmps_attr attr{};
  std::copy_n(name.data(), std::min(name.size(), sizeof attr.name), attr.name);
  attr.kind = kind;
  return attr;
}

}  // namespace detail

/* An attribute: attr("axis", -1), attr("keepdim", true), attr("dtype", PMPS_INT64). */
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
pmps_attr attr(std::string_view name, T value) noexcept {
  constexpr pmps_attr_kind kind = std::is_floating_point_v<T> ? PMPS_ATTR_FLOAT
                                  : std::is_same_v<T, bool>   ? PMPS_ATTR_BOOL
                                                              : PMPS_ATTR_INT;
  pmps_attr attr = detail::named(name, kind);
  if constexpr (kind == PMPS_ATTR_FLOAT) attr.value.f = value;
  else attr.value.i = static_cast<std::int64_t>(value);
  return attr;
}

inline pmps_attr attr(std::string_view name, pmps_dtype value) noexcept {
  pmps_attr attr = detail::named(name, PMPS_ATTR_DTYPE);
  attr.value.i = value;
  return attr;
}

/* A list: attr("shape", {2, 3}). The numbers are borrowed for the call. */
inline pmps_attr attr(std::string_view name, Dims values) noexcept {
  pmps_attr attr = detail::named(name, PMPS_ATTR_INTS);
  attr.value.ints = values.data();
  attr.count = static_cast<std::int64_t>(values.size());
  return attr;
}

using Args = std::initializer_list<pmps_arg>;
using Attrs = std::initializer_list<pmps_attr>;

/* The number of an operator by name. */
inline pmps_op find(const char* name) {
  pmps_op op = 0;
  check(pmps_op_find(name, &op));
  return op;
}

/* Runs an operator on this thread's stream; all its results, of which there may be so many. */
inline std::vector<Tensor> call_all(pmps_op op, Args args, Attrs attrs = {}, std::size_t most = 64) {
  std::vector<pmps_tensor*> outputs(most);
  std::vector<Tensor> results;
  results.reserve(most); /* before there is something to lose */
  std::size_t count = most;
  check(pmps_op_call(op, args.begin(), args.size(), attrs.begin(), attrs.size(), outputs.data(), &count));
  for (std::size_t i = 0; i < count; i++) results.emplace_back(outputs[i]);
  return results;
}

/* The result of an operator that has one: call(PMPS_OP_MEAN, {x}, {attr("axis", -1)}). */
inline Tensor call(pmps_op op, Args args, Attrs attrs = {}) {
  pmps_tensor* output = nullptr;
  std::size_t count = 1;
  check(pmps_op_call(op, args.begin(), args.size(), attrs.begin(), attrs.size(), &output, &count));
  return Tensor(output);
}

/* An operator without tensors, on a place: call_on(place, PMPS_OP_ARANGE, ...). */
inline Tensor call_on(Place place, pmps_op op, Args args, Attrs attrs = {}) {
  pmps_tensor* output = nullptr;
  std::size_t count = 1;
  check(pmps_op_call_on(&place, op, args.begin(), args.size(), attrs.begin(), attrs.size(), &output, &count));
  return Tensor(output);
}

/* An operator whose result goes into a tensor that exists, which may be among its operands. */
inline void call_into(Tensor& output, pmps_op op, Args args, Attrs attrs = {}) {
  check(pmps_op_call_into(op, args.begin(), args.size(), attrs.begin(), attrs.size(), output.get()));
}

namespace detail {

/* x + y where one is a tensor and the other a tensor or a number. */
template <class T>
constexpr bool is_tensor = std::is_same_v<std::decay_t<T>, Tensor>;

template <class A, class B>
using Operands = std::enable_if_t<(is_tensor<A> || is_tensor<B>) && (is_tensor<A> || std::is_arithmetic_v<A>) &&
                                  (is_tensor<B> || std::is_arithmetic_v<B>)>;

template <class T>
pmps_arg operand(const T& value) noexcept {
  if constexpr (is_tensor<T>) return value;
  else return scalar(value);
}

}  // namespace detail

template <class A, class B, class = detail::Operands<A, B>>
Tensor operator+(const A& a, const B& b) {
  return call(PMPS_OP_ADD, {detail::operand(a), detail::operand(b)});
}

template <class A, class B, class = detail::Operands<A, B>>
Tensor operator-(const A& a, const B& b) {
  return call(PMPS_OP_SUBTRACT, {detail::operand(a), detail::operand(b)});
}

template <class A, class B, class = detail::Operands<A, B>>
Tensor operator*(const A& a, const B& b) {
  return call(PMPS_OP_MULTIPLY, {detail::operand(a), detail::operand(b)});
}

template <class A, class B, class = detail::Operands<A, B>>
Tensor operator/(const A& a, const B& b) {
  return call(PMPS_OP_DIVIDE, {detail::operand(a), detail::operand(b)});
}

inline Tensor operator-(const Tensor& x) { return call(PMPS_OP_NEG, {x}); }

/* ---- Streams and events -------------------------------------------------------------------------- */

/* A point in the work of a stream. */
class Event {
 public:
  /* flags: PMPS_EVENT_TIMING for one whose time is asked for. */
  explicit Event(Place place, std::uint32_t flags = 0) {
    pmps_event* event = nullptr;
    check(pmps_event_new(&place, flags, &event));
    handle_.reset(event);
  }

  /* Waits until it has passed. */
  void synchronize() const { check(pmps_event_synchronize(get())); }

  bool query() const {
    bool done = false;
    check(pmps_event_query(get(), &done));
    return done;
  }

  pmps_event* get() const noexcept { return handle_.get(); }
  pmps_event* release() noexcept { return handle_.release(); }

 private:
  detail::Owned<pmps_event, pmps_event_free> handle_;
};

/* Milliseconds between two events with PMPS_EVENT_TIMING, by the clock of the device. */
inline double elapsed(const Event& start, const Event& end) {
  double milliseconds = 0;
  check(pmps_event_elapsed(start.get(), end.get(), &milliseconds));
  return milliseconds;
}

/* A queue of work in order. */
class Stream {
 public:
  explicit Stream(Place place) {
    pmps_stream* stream = nullptr;
    check(pmps_stream_new(&place, &stream));
    handle_.reset(stream);
  }

  /* Work from now on waits for the event; the caller does not. */
  void wait(const Event& event) { check(pmps_stream_wait_event(get(), event.get())); }

  /* Moves the event behind all work so far. */
  void record(Event& event) { check(pmps_event_record(event.get(), get())); }

  /* Waits for all work; throws a failure that nobody has been told of. */
  void synchronize() { check(pmps_stream_synchronize(get())); }

  /* Whether all work has finished. */
  bool query() const {
    bool done = false;
    check(pmps_stream_query(get(), &done));
    return done;
  }

  pmps_stream* get() const noexcept { return handle_.get(); }
  pmps_stream* release() noexcept { return handle_.release(); }

 private:
  detail::Owned<pmps_stream, pmps_stream_free> handle_;
};

/* This thread's calls use a stream on its device while the object lives, then the one from before. */
class OnStream {
 public:
  explicit OnStream(const Stream& stream) {
    pmps_place place{};
    check(pmps_stream_get_place(stream.get(), &place));
    check(pmps_stream_get_current(&place, &before_));
    check(pmps_stream_set_current(stream.get()));
  }
  OnStream(const OnStream&) = delete;
  OnStream& operator=(const OnStream&) = delete;
  ~OnStream() { pmps_error_free(pmps_stream_set_current(before_)); }

 private:
  pmps_stream* before_ = nullptr;
};

/* ---- Shaders --------------------------------------------------------------------------------------- */

/* Bytes of an argument that a kernel only reads: borrowed for the call. */
template <class T>
pmps_kernel_arg bytes(const T& value) noexcept {
  static_assert(std::is_trivially_copyable_v<T>, "bytes are what they are anywhere");
  return {nullptr, &value, sizeof value};
}

/* A function of a library, ready to run on the Metal device. */
class Kernel {
 public:
  explicit Kernel(pmps_kernel* owned) noexcept : handle_(owned) {}

  pmps_kernel_info info() const {
    return detail::filled<pmps_kernel_info>([&](auto* info) { return pmps_kernel_get_info(get(), info); });
  }

  /* Argument i is [[buffer(i)]]. One thread an element of the first tensor. */
  void run(std::initializer_list<pmps_kernel_arg> args) {
    check(pmps_kernel_run(get(), args.begin(), args.size(), nullptr, nullptr));
  }

  /* A grid of threads, in threadgroups of the library's choice or of yours. */
  void run(std::initializer_list<pmps_kernel_arg> args, const std::array<std::uint64_t, 3>& threads) {
    check(pmps_kernel_run(get(), args.begin(), args.size(), threads.data(), nullptr));
  }
  void run(std::initializer_list<pmps_kernel_arg> args, const std::array<std::uint64_t, 3>& threads,
           const std::array<std::uint64_t, 3>& group) {
    check(pmps_kernel_run(get(), args.begin(), args.size(), threads.data(), group.data()));
  }

  pmps_kernel* get() const noexcept { return handle_.get(); }
  pmps_kernel* release() noexcept { return handle_.release(); }

 private:
  detail::Owned<pmps_kernel, pmps_kernel_free> handle_;
};

/* Kernels of the program's own. */
class Library {
 public:
  explicit Library(pmps_library* owned) noexcept : handle_(owned) {}

  /* Compiles source in Metal's shading language; Error of code PMPS_SYNTAX has the compiler's words. */
  static Library compile(Place place, const std::string& source) {
    pmps_library* library = nullptr;
    check(pmps_library_new(&place, source.c_str(), &library));
    return Library(library);
  }

  /* Reads a .metallib file. */
  static Library load(Place place, const std::string& path) {
    pmps_library* library = nullptr;
    check(pmps_library_load(&place, path.c_str(), &library));
    return Library(library);
  }

  /* The names of the functions, one a line. */
  std::string names() const {
    char* names = nullptr;
    check(pmps_library_get_names(get(), &names));
    return detail::Owned<char, pmps_text_free>(names).get();
  }

  Kernel kernel(const std::string& name) const {
    pmps_kernel* kernel = nullptr;
    check(pmps_library_get_kernel(get(), name.c_str(), &kernel));
    return Kernel(kernel);
  }

  pmps_library* get() const noexcept { return handle_.get(); }
  pmps_library* release() noexcept { return handle_.release(); }

 private:
  detail::Owned<pmps_library, pmps_library_free> handle_;
};

}  // namespace paddlemps

#endif /* PADDLEMPS_HPP */
