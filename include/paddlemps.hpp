/*
 * paddlemps.hpp - paddlemps.h for C++17: objects that free what they own, errors as exceptions.
 *
 * Everything is inline over the C functions, so you link with the library only. The classes own objects of the C
 * interface: a constructor takes ownership of one that a C call has made, get() borrows it for a C call, and
 * release() returns ownership to the caller. owned, borrowed, copied and retained are the words of paddlemps.h.
 *
 * ERRORS
 *   A function that fails throws Error, with the code and the message of the C interface, and changes nothing.
 *   Destructors and functions that are noexcept do not throw.
 *
 * OBJECTS
 *   Tensor, Stream, Event, Graph, Program, Run, Library and Kernel own one object each. They can be moved and not copied. An
 *   object that was moved from may be destroyed or assigned to; any other use of it throws. retain() makes another
 *   handle, clone() copies the elements.
 *
 * THREADS
 *   As in paddlemps.h, functions may be called from any thread. Threads may call const functions of one C++ object at
 *   the same time; others only one thread at a time.
 */
#ifndef PADDLEMPS_HPP
#define PADDLEMPS_HPP

#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "paddlemps.h"

namespace paddlemps {

/* ---- Errors -------------------------------------------------------------------------------- */

/* A failed call: what() is "[op] what was given; want what is required". */
class Error : public std::runtime_error {
 public:
  Error(pmps_code code, const std::string& message) : std::runtime_error(message), code_(code) {}

  pmps_code code() const noexcept { return code_; }

 private:
  pmps_code code_;
};

/* The error of code PMPS_OUT_OF_MEMORY: the program may free something and try again. */
class OutOfMemory : public Error {
 public:
  explicit OutOfMemory(const std::string& message) : Error(PMPS_OUT_OF_MEMORY, message) {}
};

namespace detail {

/* A deleter for std::unique_ptr that calls a function of the C interface and takes no space. */
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

/* Throws the error of a C call and frees it; NULL is success. */
inline void check(pmps_error* error) {
  if (error == nullptr) return;
  const detail::Owned<pmps_error, pmps_error_free> owned(error);
  const pmps_code code = pmps_error_code(error);
  const std::string message = pmps_error_message(error);
  if (code == PMPS_OUT_OF_MEMORY) throw OutOfMemory(message);
  throw Error(code, message);
}

/* Throws if the library has another ABI version than this header. Call it once, before anything else. */
inline void init() { check(pmps_init(PMPS_ABI_VERSION)); }

/* ---- Shapes and dtypes ------------------------------------------------------------------------ */

/* A borrowed sequence of numbers, like std::span of C++20. Constructed from braces, vectors, arrays and shapes. */
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

/* The number of elements of a shape, modulo 2**64; the library refuses shapes that have more than fit into memory. */
inline std::int64_t numel(Dims dims) {
  return static_cast<std::int64_t>(std::accumulate(dims.begin(), dims.end(), std::uint64_t{1}, std::multiplies<std::uint64_t>()));
}

/* The dtype that a C++ type is the element of: dtype_of<float> is PMPS_FLOAT32. Half precision has no
 * type in C++17. */
template <class T>
inline constexpr pmps_dtype dtype_of = [] {
  constexpr bool complex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
  static_assert(std::is_arithmetic_v<T> || complex, "an element is a number or a bool");
  if constexpr (complex) return sizeof(T) == 8 ? PMPS_COMPLEX64 : PMPS_COMPLEX128;
  else if constexpr (std::is_same_v<T, bool>) return PMPS_BOOL;
  else if constexpr (std::is_same_v<T, float>) return PMPS_FLOAT32;
  else if constexpr (std::is_same_v<T, double>) return PMPS_FLOAT64;
  else if constexpr (sizeof(T) == 1) return std::is_signed_v<T> ? PMPS_INT8 : PMPS_UINT8;
  else {
    static_assert(std::is_integral_v<T> && std::is_signed_v<T>, "there is no such dtype");
    return sizeof(T) == 2 ? PMPS_INT16 : sizeof(T) == 4 ? PMPS_INT32 : PMPS_INT64;
  }
}();

/* ---- Places and devices ------------------------------------------------------------------------ */

/* Where a tensor is. */
struct Place : pmps_place {
  constexpr Place(pmps_place place) noexcept : pmps_place(place) {}

  static constexpr Place cpu() noexcept { return pmps_place{PMPS_CPU, 0}; }
  static constexpr Place mps(std::int32_t index = 0) noexcept { return pmps_place{PMPS_MPS, index}; }

  /* The first mps device, or the CPU if there is none. */
  static Place best() { return pmps_device_count(PMPS_MPS) > 0 ? mps() : cpu(); }

  friend constexpr bool operator==(Place a, Place b) noexcept { return a.kind == b.kind && a.index == b.index; }
  friend constexpr bool operator!=(Place a, Place b) noexcept { return !(a == b); }
};

namespace detail {

/* Calls a function that fills in a structure with a struct_size. */
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

/* Limits the bytes that a device may reserve; 0 restores the default. */
inline void set_memory_limit(Place place, std::int64_t bytes) { check(pmps_memory_set_limit(&place, bytes)); }

/* A device's memory and its history as JSON: docs/memory_snapshot.md. */
inline std::string memory_snapshot(Place place) {
  char* json = nullptr;
  check(pmps_memory_snapshot(&place, &json));
  return detail::Owned<char, pmps_text_free>(json).get();
}

/* Begins a recording of what the process does; flags are PMPS_PROFILE_ constants. */
inline void profile_start(std::uint32_t flags = 0, std::int64_t max_events = 0) { check(pmps_profile_start(flags, max_events)); }

/* Ends it, and returns it as a trace for Perfetto: docs/profiler.md. */
inline std::string profile_stop() {
  char* json = nullptr;
  check(pmps_profile_stop(&json));
  return detail::Owned<char, pmps_text_free>(json).get();
}

/* A span of a recording, from its construction to its end. The texts have to stay valid as long. */
class ProfileSpan {
 public:
  explicit ProfileSpan(const char* name, const char* category = "UserDefined") noexcept
      : name_(name), category_(category), begun_(pmps_profile_begin()) {}
  ProfileSpan(const ProfileSpan&) = delete;
  ProfileSpan& operator=(const ProfileSpan&) = delete;
  ~ProfileSpan() { pmps_profile_end(begun_, category_, name_); }

 private:
  const char* name_;
  const char* category_;
  std::uint64_t begun_;
};

/* Waits for all work of a device; throws a failure that has not been reported yet. */
inline void synchronize(Place place) { check(pmps_device_synchronize(&place)); }

/* Seeds the random numbers of a device. */
inline void seed(Place place, std::uint64_t seed) { check(pmps_rng_seed(&place, seed)); }

/* ---- Tensors ------------------------------------------------------------------------------------ */

/* pmps_tensor_info, with spans of its dims and strides that are valid as long as the object. */
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

/* A view of reference-counted memory. */
class Tensor {
 public:
  /* Takes ownership of a tensor of the C interface. */
  explicit Tensor(pmps_tensor* owned) noexcept : handle_(owned) {}

  /* A contiguous tensor with undefined elements. */
  static Tensor empty(Place place, pmps_dtype dtype, Dims dims) {
    return made([&](auto** t) { return pmps_tensor_empty(&place, dtype, rank(dims), dims.data(), t); });
  }

  /* A tensor with a copy of values, in row-major order; their number must be that of the shape. */
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

  /* A CPU tensor over memory of the program (retained), without a copy. done is called once, from any thread, when
   * the library no longer uses the memory; it must not throw. It is not called if over throws. */
  template <class T>
  static Tensor over(T* data, Dims dims, std::function<void()> done) {
    auto user = std::make_unique<std::function<void()>>(std::move(done));
    Tensor tensor = made([&](auto** t) {
      return pmps_tensor_from_memory(dtype_of<T>, rank(dims), dims.data(), nullptr, data, call_done, user.get(), t);
    });
    (void)user.release(); /* owned by call_done from now on */
    return tensor;
  }

  /* A CPU tensor over the elements of a vector, without a copy. The tensor owns the vector. */
  template <class T>
  static Tensor over(std::vector<T>&& values, Dims dims) {
    expect(numel(dims), values.size());
    auto kept = std::make_shared<std::vector<T>>(std::move(values));
    return over(kept->data(), dims, [kept]() mutable { kept.reset(); });
  }

  /* A tensor over memory of another library, without a copy. It takes ownership of dl, unless it throws. */
  static Tensor from_dlpack(DLManagedTensor* dl) {
    return made([&](auto** t) { return pmps_tensor_from_dlpack(dl, t); });
  }
  static Tensor from_dlpack(DLManagedTensorVersioned* dl) {
    return made([&](auto** t) { return pmps_tensor_from_dlpack_versioned(dl, t); });
  }

  /* The memory for another library, without a copy. Owned: that library calls its deleter. */
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

  /* The tensor on a place: another handle if it is there already, else a copy. It does not wait for the copy;
   * functions that use the result do. */
  Tensor to(Place place) const {
    return made([&](auto** t) { return pmps_tensor_to(get(), &place, false, t); });
  }

  /* A tensor on a place over the same memory, without a copy; see pmps_tensor_share. */
  Tensor share(Place place) const {
    return made([&](auto** t) { return pmps_tensor_share(get(), &place, t); });
  }

  /* The same bits as elements of another dtype; see pmps_tensor_view. */
  Tensor view(std::int32_t dtype) const {
    return made([&](auto** t) { return pmps_tensor_view(get(), dtype, t); });
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

  /* A copy of the elements, row-major. Waits for the work that computes them, and throws its failure. bool is read
   * as std::uint8_t. */
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

  /* The elements in place, for the CPU, until the mapping is destroyed. */
  template <class T>
  Mapping<T> map() const;

  /* Whether calls with this tensor are recorded, so that backward and gradients can go through them. */
  bool requires_grad() const { return grad_info().requires_grad; }
  void set_requires_grad(bool required = true) { check(pmps_tensor_set_requires_grad(get(), required)); }

  pmps_grad_info grad_info() const {
    return detail::filled<pmps_grad_info>([&](auto* info) { return pmps_tensor_get_grad_info(get(), info); });
  }

  /* What backward passes have added up for a leaf, or for a tensor that retains its gradient. */
  std::optional<Tensor> grad() const {
    pmps_tensor* grad = nullptr;
    check(pmps_tensor_get_grad(get(), &grad));
    if (grad == nullptr) return std::nullopt;
    return Tensor(grad);
  }
  void set_grad(const Tensor& grad) { check(pmps_tensor_set_grad(get(), grad.get())); }
  void clear_grad() { check(pmps_tensor_set_grad(get(), nullptr)); }

  /* Makes the gradient zeros, if there is one. */
  void zero_grad() { check(pmps_tensor_zero_grad(get())); }

  /* Passes end at the tensor, whose elements are other ones than those that were computed. */
  void end_history() { check(pmps_tensor_end_history(get())); }

  /* Makes backward passes keep the gradient of a tensor that is no leaf. */
  void retain_grad() { check(pmps_tensor_retain_grad(get())); }

  /* Another handle to the same view, which requires no gradients. */
  Tensor detach() const {
    return made([&](auto** t) { return pmps_tensor_detach(get(), t); });
  }

  /* Another handle to the same view, which does not keep what the tensor was computed from: see pmps_tensor_weaken. */
  Tensor weaken() const {
    return made([&](auto** t) { return pmps_tensor_weaken(get(), t); });
  }

  /* Adds the gradients of this tensor, whose own is ones, to those of the leaves that it was computed from. */
  void backward(bool retain_graph = false) const;

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

/* The elements of a contiguous tensor, for the CPU. It keeps the memory alive. Work that is submitted meanwhile does
 * not wait for the CPU. */
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

/* ---- Gradients ---------------------------------------------------------------------------------- */

/* While the object exists, calls of this thread are not recorded. It ends on the thread that made it. */
class NoGrad {
 public:
  NoGrad() noexcept : before_(pmps_grad_set_enabled(false)) {}
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;
  ~NoGrad() { pmps_grad_set_enabled(before_); }

 private:
  bool before_;
};

/* A list of tensors, borrowed for a call: {x, y} or a vector. */
class Borrowed {
 public:
  Borrowed() = default;
  Borrowed(std::initializer_list<std::reference_wrapper<const Tensor>> tensors) {
    for (const Tensor& t : tensors) handles_.push_back(t.get());
  }
  Borrowed(const std::vector<Tensor>& tensors) {
    for (const Tensor& t : tensors) handles_.push_back(t.get());
  }

  /* NULL for an empty list. */
  pmps_tensor* const* data() const noexcept { return handles_.empty() ? nullptr : handles_.data(); }
  std::size_t size() const noexcept { return handles_.size(); }

 private:
  std::vector<pmps_tensor*> handles_;
};

/* How a backward pass is made. */
struct PassOptions {
  Borrowed grads_of = {};    /* the gradients of the results, as many; none: ones */
  Borrowed stop = {};        /* for gradients: they go no further than these */
  bool retain_graph = false; /* what was recorded stays, for another pass over it */
  bool create_graph = false; /* the pass is recorded, for gradients of gradients */
};

namespace detail {

inline pmps_grad_pass pass(const Borrowed& of, const PassOptions& options) {
  if (options.grads_of.size() != 0 && options.grads_of.size() != of.size()) {
    throw Error(PMPS_INVALID_ARGUMENT, "[backward] there are " + std::to_string(options.grads_of.size()) +
                                           " gradients; want " + std::to_string(of.size()));
  }
  pmps_grad_pass pass{};
  pass.struct_size = sizeof pass;
  pass.of = of.data();
  pass.of_count = of.size();
  pass.grads_of = options.grads_of.data();
  pass.stop = options.stop.data();
  pass.stop_count = options.stop.size();
  pass.retain_graph = options.retain_graph;
  pass.create_graph = options.create_graph;
  return pass;
}

}  // namespace detail

/* Adds the gradients of results to those of the leaves that they were computed from. */
inline void backward(const Borrowed& of, const PassOptions& options = {}) {
  const pmps_grad_pass pass = detail::pass(of, options);
  check(pmps_grad_backward(&pass, nullptr));
}

inline void Tensor::backward(bool retain_graph) const {
  PassOptions options;
  options.retain_graph = retain_graph;
  paddlemps::backward({*this}, options);
}

/* The gradients of results with respect to some tensors; empty for one that no result depends on. No leaf changes. */
inline std::vector<std::optional<Tensor>> gradients(const Borrowed& of, const Borrowed& to, const PassOptions& options = {}) {
  std::vector<std::optional<Tensor>> results;
  if (to.size() == 0) return results;
  pmps_grad_pass pass = detail::pass(of, options);
  pass.to = to.data();
  pass.to_count = to.size();
  std::vector<pmps_tensor*> found(to.size());
  results.reserve(to.size()); /* it may throw, so before the call makes anything */
  check(pmps_grad_backward(&pass, found.data()));
  for (pmps_tensor* t : found) {
    if (t != nullptr) results.emplace_back(Tensor(t));
    else results.emplace_back(std::nullopt);
  }
  return results;
}

/* ---- Operators ---------------------------------------------------------------------------------- */

/* A scalar operand. It is weak: beside a tensor it takes the tensor's dtype, by Paddle's rules. */
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

inline pmps_attr named(const char* name, pmps_attr_kind kind) noexcept {
  pmps_attr attr{};
  attr.name = name;
  attr.kind = kind;
  return attr;
}

}  // namespace detail

/* An attribute: attr("axis", -1), attr("keepdim", true), attr("dtype", PMPS_INT64). The name is borrowed
 * for the call, like the numbers and the text below. */
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
pmps_attr attr(const char* name, T value) noexcept {
  constexpr pmps_attr_kind kind = std::is_floating_point_v<T> ? PMPS_ATTR_FLOAT
                                  : std::is_same_v<T, bool>   ? PMPS_ATTR_BOOL
                                                              : PMPS_ATTR_INT;
  pmps_attr attr = detail::named(name, kind);
  if constexpr (kind == PMPS_ATTR_FLOAT) attr.value.f = value;
  else attr.value.i = static_cast<std::int64_t>(value);
  return attr;
}

inline pmps_attr attr(const char* name, pmps_dtype value) noexcept {
  pmps_attr attr = detail::named(name, PMPS_ATTR_DTYPE);
  attr.value.i = value;
  return attr;
}

/* Text: attr("mode", "reflect"). */
template <class T, class = std::enable_if_t<std::is_convertible_v<const T&, std::string_view>>, class = void>
pmps_attr attr(const char* name, const T& value) noexcept {
  const std::string_view text = value;
  pmps_attr attr = detail::named(name, PMPS_ATTR_STRING);
  attr.value.string = text.data();
  attr.count = static_cast<std::int64_t>(text.size());
  return attr;
}

/* A list: attr("shape", {2, 3}). */
inline pmps_attr attr(const char* name, Dims values) noexcept {
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

namespace detail {

/* Throws if an operator has made nothing, as a split into no parts does, where one result is wanted. */
inline void expect_one(pmps_op op, std::size_t count) {
  if (count == 1) return;
  throw Error(PMPS_INVALID_ARGUMENT, std::string("[") + pmps_op_name(op) + "] makes no result; want one, or call_all");
}

}  // namespace detail

/* Runs an operator on this thread's stream and returns all its results, at most `most`. */
inline std::vector<Tensor> call_all(pmps_op op, Args args, Attrs attrs = {}, std::size_t most = 64) {
  std::vector<pmps_tensor*> outputs(most);
  std::vector<Tensor> results;
  results.reserve(most); /* it may throw, so before the call makes anything */
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
  detail::expect_one(op, count);
  return Tensor(output);
}

/* An operator without tensor operands, on a place: call_on(place, PMPS_OP_ARANGE, ...). */
inline Tensor call_on(Place place, pmps_op op, Args args, Attrs attrs = {}) {
  pmps_tensor* output = nullptr;
  std::size_t count = 1;
  check(pmps_op_call_on(&place, op, args.begin(), args.size(), attrs.begin(), attrs.size(), &output, &count));
  detail::expect_one(op, count);
  return Tensor(output);
}

/* Runs an operator and writes its result to an existing tensor, which may be among its operands. */
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
  /* flags: PMPS_EVENT_TIMING if its time will be queried. */
  explicit Event(Place place, std::uint32_t flags = 0) {
    pmps_event* event = nullptr;
    check(pmps_event_new(&place, flags, &event));
    handle_.reset(event);
  }

  /* Waits until the work before it has finished. */
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

/* A queue whose work runs in the order of submission. */
class Stream {
 public:
  explicit Stream(Place place) {
    pmps_stream* stream = nullptr;
    check(pmps_stream_new(&place, &stream));
    handle_.reset(stream);
  }

  /* Makes work submitted from now on wait for the event. The call does not block. */
  void wait(const Event& event) { check(pmps_stream_wait_event(get(), event.get())); }

  /* Moves the event to the end of the work submitted so far. */
  void record(Event& event) { check(pmps_event_record(event.get(), get())); }

  /* Waits for all work; throws a failure that has not been reported yet. */
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

/* While the object exists, this thread's calls use a stream on its device; afterwards the previous one. */
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

/* ---- Programs ------------------------------------------------------------------------------------- */

/* A value of a graph. */
enum class Value : pmps_value {};

using Values = std::initializer_list<Value>;
using ValueInfo = pmps_value_info;
using ProgramInfo = pmps_program_info;

/* Operators and their inputs, to make a Program of. One thread at a time may use it. */
class Graph {
 public:
  Graph() {
    pmps_graph* graph = nullptr;
    check(pmps_graph_new(&graph));
    handle_.reset(graph);
  }

  /* A symbol: a dimension whose size is only known when the program runs. It is used in dims like a size. */
  std::int64_t symbol() {
    std::int64_t dim = 0;
    check(pmps_graph_add_symbol(get(), &dim));
    return dim;
  }

  /* The next input of the program. */
  Value input(pmps_dtype dtype, Dims dims) {
    return made([&](auto* v) {
      return pmps_graph_add_input(get(), dtype, static_cast<std::int32_t>(dims.size()), dims.data(), v);
    });
  }

  /* A tensor (copied) that is part of the program. */
  Value constant(const Tensor& tensor) {
    return made([&](auto* v) { return pmps_graph_add_constant(get(), tensor.get(), v); });
  }

  /* A scalar operand: scalar(2.5); and an optional one that is not given. */
  template <class T>
  Value scalar(T value) {
    return number(paddlemps::scalar(value));
  }
  Value none() { return number(paddlemps::none()); }

  /* The result of an operator that has one: call(PMPS_OP_MEAN, {x}, {attr("axis", -1)}). */
  Value call(pmps_op op, Values inputs, Attrs attrs = {}) {
    const std::vector<Value> results = add(op, inputs, attrs, 1);
    detail::expect_one(op, results.size());
    return results.front();
  }

  /* All results of an operator, at most `most`. */
  std::vector<Value> call_all(pmps_op op, Values inputs, Attrs attrs = {}, std::size_t most = 64) {
    return add(op, inputs, attrs, most);
  }

  ValueInfo info(Value value) const {
    return detail::filled<ValueInfo>(
        [&](auto* info) { return pmps_graph_get_value_info(get(), static_cast<pmps_value>(value), info); });
  }

  /* The graph as text for people, an operator per line. */
  std::string text() const {
    char* text = nullptr;
    check(pmps_graph_to_text(get(), &text));
    return detail::Owned<char, pmps_text_free>(text).get();
  }

  pmps_graph* get() const noexcept { return handle_.get(); }
  pmps_graph* release() noexcept { return handle_.release(); }

 private:
  template <class Make>
  static Value made(Make make) {
    pmps_value value = 0;
    check(make(&value));
    return Value{value};
  }

  Value number(const pmps_arg& arg) {
    return made([&](auto* v) { return pmps_graph_add_scalar(get(), &arg, v); });
  }

  std::vector<Value> add(pmps_op op, Values inputs, Attrs attrs, std::size_t most) {
    std::vector<pmps_value> in, out(most);
    for (const Value v : inputs) in.push_back(static_cast<pmps_value>(v));
    std::size_t count = most;
    check(pmps_graph_call(get(), op, in.data(), in.size(), attrs.begin(), attrs.size(), out.data(), &count));
    std::vector<Value> results;
    for (std::size_t i = 0; i < count; i++) results.push_back(Value{out[i]});
    return results;
  }

  detail::Owned<pmps_graph, pmps_graph_free> handle_;
};

/* A run of a program that its caller does not wait for: what Program::start returns. The destructor cancels it and does not
 * wait. Threads may share a run. */
class Run {
 public:
  explicit Run(pmps_run* owned) noexcept : handle_(owned) {}

  /* Whether the run has ended: with outputs, a failure, or because it was cancelled. */
  bool ended() const {
    bool ended = false;
    check(pmps_run_query(get(), &ended));
    return ended;
  }

  /* Waits for the end, at most that long, and returns ended(). */
  bool wait_for(std::chrono::milliseconds timeout) const {
    std::uint64_t wait = 0;
    check(pmps_run_wait_for(get(), std::max<std::int64_t>(timeout.count(), 0), &wait));
    return wait == 0;
  }

  /* Waits for the end and returns the outputs, at most `most`, or throws the failure: Error of code PMPS_CANCELLED if the
   * run was cancelled. */
  std::vector<Tensor> wait(std::size_t most = 64) const {
    std::vector<pmps_tensor*> outputs(most);
    std::vector<Tensor> results;
    results.reserve(most); /* it may throw, so before the call makes anything */
    check(pmps_run_wait(get(), outputs.data(), &most));
    for (std::size_t i = 0; i < most; i++) results.emplace_back(outputs[i]);
    return results;
  }

  /* Ends the run before its next step. Does not wait. */
  void cancel() const { check(pmps_run_cancel(get())); }

  pmps_run* get() const noexcept { return handle_.get(); }
  pmps_run* release() noexcept { return handle_.release(); }

 private:
  detail::Owned<pmps_run, pmps_run_free> handle_;
};

/* A graph that is compiled for one place and runs as one call. Threads may run it at the same time. */
class Program {
 public:
  /* A program that computes outputs of a graph, and ends the graph. */
  Program(Place place, Graph& graph, Values outputs) {
    std::vector<pmps_value> values;
    for (const Value v : outputs) values.push_back(static_cast<pmps_value>(v));
    pmps_program* program = nullptr;
    check(pmps_program_new(&place, graph.get(), values.data(), values.size(), &program));
    handle_.reset(program);
  }
  explicit Program(pmps_program* owned) noexcept : handle_(owned) {}

  /* A program of a file that save() or paddle_mps.jit.save has written. */
  static Program load(Place place, const std::string& path) {
    pmps_program* program = nullptr;
    check(pmps_program_load(&place, path.c_str(), nullptr, 0, &program));
    return Program(program);
  }
  /* A program for all sizes, of two that were traced of one function for arguments of other sizes. */
  Program unified(const Program& other) const {
    pmps_program* program = nullptr;
    check(pmps_program_unify(get(), other.get(), &program));
    return Program(program);
  }
  void save(const std::string& path) const { check(pmps_program_save(get(), path.c_str())); }

  /* Compiles for inputs of these sizes, which the first run with them would do otherwise. */
  void prepare(std::initializer_list<Dims> sizes) const {
    std::vector<const std::int64_t*> dims;
    std::vector<std::int32_t> ranks;
    for (const Dims& d : sizes) {
      dims.push_back(d.data());
      ranks.push_back(static_cast<std::int32_t>(d.size()));
    }
    check(pmps_program_prepare(get(), dims.data(), ranks.data(), dims.size()));
  }

  /* An input: a tensor, borrowed for the call. */
  struct Input {
    Input(const Tensor& lent) noexcept : tensor(lent.get()) {}
    pmps_tensor* tensor;
  };

  /* Runs the program on this thread's stream of its place, and returns the outputs. */
  std::vector<Tensor> run(std::initializer_list<Input> inputs) const {
    std::vector<pmps_tensor*> in;
    for (const Input& i : inputs) in.push_back(i.tensor);
    return run(in);
  }
  std::vector<Tensor> run(const std::vector<pmps_tensor*>& inputs) const {
    std::size_t count = static_cast<std::size_t>(info().outputs);
    std::vector<pmps_tensor*> outputs(count);
    std::vector<Tensor> results;
    results.reserve(count); /* it may throw, so before the call makes anything */
    check(pmps_program_run(get(), inputs.data(), inputs.size(), outputs.data(), &count));
    for (std::size_t i = 0; i < count; i++) results.emplace_back(outputs[i]);
    return results;
  }

  /* The same, with outputs that exist; see pmps_program_run_into. */
  void run_into(std::initializer_list<Input> inputs, std::initializer_list<Input> outputs) const {
    std::vector<pmps_tensor*> in, out;
    for (const Input& i : inputs) in.push_back(i.tensor);
    for (const Input& o : outputs) out.push_back(o.tensor);
    check(pmps_program_run_into(get(), in.data(), in.size(), out.data(), out.size()));
  }

  /* Begins a run and does not wait for it. The inputs may be freed at once; nothing may write into them until it has ended. */
  Run start(std::initializer_list<Input> inputs) const {
    std::vector<pmps_tensor*> in;
    for (const Input& i : inputs) in.push_back(i.tensor);
    pmps_run* run = nullptr;
    check(pmps_program_start(get(), in.data(), in.size(), &run));
    return Run(run);
  }

  ProgramInfo info() const {
    return detail::filled<ProgramInfo>([&](auto* info) { return pmps_program_get_info(get(), info); });
  }

  /* The graph as text for people; with plan, what was compiled last. */
  std::string text(bool plan = false) const {
    char* text = nullptr;
    check(pmps_program_to_text(get(), plan, &text));
    return detail::Owned<char, pmps_text_free>(text).get();
  }

  /* A tensor that a traced program captured; index is below info().captured. */
  Tensor captured(std::size_t index) const {
    pmps_tensor* tensor = nullptr;
    check(pmps_program_get_captured(get(), index, &tensor));
    return Tensor(tensor);
  }

  pmps_program* get() const noexcept { return handle_.get(); }
  pmps_program* release() noexcept { return handle_.release(); }

 private:
  detail::Owned<pmps_program, pmps_program_free> handle_;
};

/* Calls of this thread that become a program, from the constructor to end(), or to the destructor. An object belongs to
 * the thread that made it. */
class Trace {
 public:
  /* Begins a trace for programs of a place; inputs() stand for arguments like the examples. */
  Trace(Place place, std::initializer_list<Program::Input> examples) {
    std::vector<pmps_tensor*> given, made(examples.size() + 1);
    for (const Program::Input& i : examples) given.push_back(i.tensor);
    inputs_.reserve(given.size());
    check(pmps_trace_begin(&place, given.data(), given.size(), made.data(), &trace_));
    for (std::size_t i = 0; i < given.size(); i++) inputs_.emplace_back(made[i]);
  }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  ~Trace() {
    if (trace_) pmps_trace_abort(trace_);
  }

  const std::vector<Tensor>& inputs() const noexcept { return inputs_; }

  /* The program that returns these tensors. */
  Program end(std::initializer_list<Program::Input> outputs) {
    std::vector<pmps_tensor*> results;
    for (const Program::Input& i : outputs) results.push_back(i.tensor);
    pmps_program* program = nullptr;
    check(pmps_trace_end(trace_, results.data(), results.size(), &program));
    trace_ = nullptr;
    return Program(program);
  }

  /* Makes the calls of this thread run again, or be traced again. */
  void pause(bool paused) { check(pmps_trace_pause(trace_, paused)); }

  /* The graph so far, as text for people. */
  std::string text() const {
    char* text = nullptr;
    check(pmps_trace_to_text(trace_, &text));
    return detail::Owned<char, pmps_text_free>(text).get();
  }

 private:
  pmps_trace* trace_ = nullptr;
  std::vector<Tensor> inputs_;
};

/* ---- Shaders --------------------------------------------------------------------------------------- */

/* Bytes as an argument that a kernel only reads; borrowed for the call. */
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

  /* Argument i is [[buffer(i)]]. Runs one thread per element of the first tensor. */
  void run(std::initializer_list<pmps_kernel_arg> args) {
    check(pmps_kernel_run(get(), args.begin(), args.size(), nullptr, nullptr));
  }

  /* Runs a grid of threads, in threadgroups of the given size or of one that the library chooses. */
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

/* Your own kernels, compiled. */
class Library {
 public:
  explicit Library(pmps_library* owned) noexcept : handle_(owned) {}

  /* Compiles source in the Metal shading language. If that fails, Error has code PMPS_SYNTAX and the messages of the
   * compiler. */
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

  /* The names of the functions, one per line. */
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
