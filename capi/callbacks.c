/*
 * callbacks.c - calls of function pointers, which Go cannot make itself. They run on a thread of the
 * Go runtime or on the one that called into the library.
 */
#include "shim.h"

void call_deleter(pmps_deleter deleter, void *user) { deleter(user); }

void call_log(pmps_log_callback callback, int32_t level, const char *message, void *user) {
  callback(level, message, user);
}

bool call_reclaim(pmps_reclaim_callback callback, int64_t need, void *user) { return callback(need, user); }

int32_t call_hook(pmps_grad_hook hook, void *user, uint64_t grad, uint64_t *other) {
  return hook(user, (pmps_tensor *)(uintptr_t)grad, (pmps_tensor **)other);
}

int32_t call_backward(pmps_grad_callback callback, void *user, uint64_t *of, size_t count, uint64_t *grads, size_t operands) {
  return callback(user, (pmps_tensor *const *)of, count, (pmps_tensor **)grads, operands);
}

uint64_t call_stack(pmps_stack_callback callback, void *user) { return callback(user); }

void call_dl_deleter(DLManagedTensor *tensor) {
  if (tensor->deleter) tensor->deleter(tensor);
}

void call_dl_deleter_versioned(DLManagedTensorVersioned *tensor) {
  if (tensor->deleter) tensor->deleter(tensor);
}
