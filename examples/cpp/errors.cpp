// errors.cpp - failures are exceptions; a failed call leaves its arguments unchanged.
#include <cstdio>
#include <exception>
#include <optional>

#include "paddlemps.hpp"

namespace pm = paddlemps;

// Prints the error of a call; returns whether it has the expected code.
template <class Call>
static bool fails(pmps_code code, Call call) {
  try {
    call();
  } catch (const pm::Error& error) {
    std::printf("%-18s %s\n", pmps_code_name(error.code()), error.what());
    return error.code() == code;
  }
  return false;
}

// Out of memory has its own exception class, so that a program can free memory and try again.
static bool goes_on_without_memory(pm::Place place) {
  constexpr std::int64_t mebibyte = 1 << 20;
  std::optional<pm::Tensor> cache = pm::Tensor::empty(place, PMPS_UINT8, {48 * mebibyte});
  pm::set_memory_limit(place, 64 * mebibyte);
  bool good = false;
  try {
    pm::Tensor::empty(place, PMPS_UINT8, {40 * mebibyte});
  } catch (const pm::OutOfMemory&) {
    cache.reset();
    pm::Tensor::empty(place, PMPS_UINT8, {40 * mebibyte});
    good = true;
  }
  pm::set_memory_limit(place, 0);
  return good;
}

static bool run() {
  const pm::Place place = pm::Place::best();
  const pm::Tensor x = pm::Tensor::from<float>(place, {4}, {1, 2, 3, 4});
  const pm::Tensor y = pm::Tensor::from<float>(place, {3}, {1, 2, 3});
  pm::Tensor gone = x.retain();
  const pm::Tensor moved = std::move(gone);
  bool good = fails(PMPS_INVALID_ARGUMENT, [&] { x + y; });
  good &= fails(PMPS_TYPE_MISMATCH, [&] { x.values<double>(); });
  good &= fails(PMPS_INDEX_OUT_OF_RANGE, [&] { x[{pm::at(4)}]; });
  good &= fails(PMPS_NOT_FOUND, [&] { pm::call(PMPS_OP_SUM, {x}, {pm::attr("dimension", 0)}); });
  good &= fails(PMPS_INVALID_HANDLE, [&] { gone.dtype(); });
  good &= fails(PMPS_UNAVAILABLE, [] { pm::device_info(pm::Place::mps(99)); });
  return good && goes_on_without_memory(place);
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
