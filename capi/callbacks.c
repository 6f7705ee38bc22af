/*
 * callbacks.c - calls of function pointers, which Go cannot make itself. They run on a thread of the
 * Go runtime or on the one that called into the library.
 */
#include "shim.h"

#define POINTER(user) ((void *)(uintptr_t)(user))

void call_deleter(pmps_deleter deleter, uint64_t user) { deleter(POINTER(user)); }

void call_log(pmps_log_callback callback, int32_t level, const char *message, uint64_t user) {
  callback(level, message, POINTER(user));
}

bool call_reclaim(pmps_reclaim_callback callback, int64_t need, uint64_t user) {
  return callback(need, POINTER(user));
}

int32_t call_hook(pmps_grad_hook hook, uint64_t user, uint64_t grad, uint64_t *other) {
  return hook(POINTER(user), (pmps_tensor *)(uintptr_t)grad, (pmps_tensor **)other);
}

int32_t call_backward(pmps_grad_callback callback, uint64_t user, uint64_t *of, size_t count, uint64_t *grads, size_t operands) {
  return callback(POINTER(user), (pmps_tensor *const *)of, count, (pmps_tensor **)grads, operands);
}

uint64_t call_stack(pmps_stack_callback callback, uint64_t user) { return callback(POINTER(user)); }

void call_dl_deleter(DLManagedTensor *tensor) {
  if (tensor->deleter) tensor->deleter(tensor);
}

void call_dl_deleter_versioned(DLManagedTensorVersioned *tensor) {
  if (tensor->deleter) tensor->deleter(tensor);
}
