/*
 * shim.h - what the C and the Go half of this package share. It is not installed.
 *
 * The public functions are C: they test the fork flag, add what is kept per thread, and call the Go
 * function of the same name. Handles are passed to Go as integers, because the garbage collector of Go would
 * take a handle in a variable of a pointer type for an address.
 */
#ifndef PADDLEMPS_SHIM_H
#define PADDLEMPS_SHIM_H

#include <stdlib.h>

#include "paddlemps.h"

#include "dlpack.h"

_Static_assert(sizeof(void *) == sizeof(uint64_t), "handles are as wide as pointers");

/* Visible in all files of the library, and not exported. */
#define HIDDEN __attribute__((visibility("hidden")))

/* One variable a thread. The initial-exec model saves a call at each access; the few bytes fit into
 * what glibc keeps for libraries that are loaded late, and Go's runtime needs the same. */
#if defined(__ELF__)
#define PER_THREAD _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define PER_THREAD _Thread_local
#endif

/* Go cannot declare a parameter const; with these types the C prototypes of Go functions have it. */
typedef const char *text_in;
typedef const pmps_place *place_in;

/* A thread's current streams by kind of place, 0 for the default one. One a kind is enough: there is
 * at most one mps device. */
typedef struct {
  uint64_t of[2];
} current_streams;

/* Added to the handle of a stream, which has another kind: calls are not recorded for gradients. */
#define NO_GRADIENTS (UINT64_C(1) << 63)

/* Why a call failed: the handle of an error object, 0 for success. */
typedef uint64_t fault;

/* ---- fork.c */

/* Whether this process is a forked child, which must not enter Go. */
extern HIDDEN bool in_child;

/* ---- errors.c */

/* Makes an error object with a copy of size bytes of message. Never 0: without memory, or with too many live
 * errors, it is a static error that says so. */
HIDDEN fault error_new(int32_t code, const char *message, size_t size);

/* The static error that answers every call in a forked child. */
HIDDEN fault error_forked(void);

/* Live error objects, without static ones. */
HIDDEN int64_t error_count(void);

/* Keeps an error, owned, as this thread's last failure of the fast family, and frees the previous one. */
HIDDEN void error_keep(fault error);

/* ---- profile.c */

/* The number of the calling thread. */
HIDDEN uint64_t thread_number(void);

/* ---- public.c */

/* Keeps the wait that a call of the fast family was refused for, for this thread's pmps_fast_wait. */
HIDDEN void refusal_keep(uint64_t wait);

/* ---- Operators for python.c */

/* A tensor that Go describes. head and layout are contiguous: python.c uses their bytes as the key of a Meta. */
typedef struct {
  uint64_t handle;
  uint64_t late; /* whether it is small and no view, so that it may be freed late */
  int32_t head[4]; /* dtype, rank, kind and index of the place */
  int64_t layout[2 * PMPS_MAX_RANK]; /* dims, strides */
} described;

enum { MAX_RESULTS = 16 };

typedef struct {
  int64_t count;
  int64_t listed; /* whether the operator makes a list */
  described of[MAX_RESULTS];
} described_list;

/* The result of prepared_call. After CALL_FAILED the error is kept for this thread. */
enum { CALL_FAILED = 0, CALL_DONE, CALL_LONG, CALL_HEAVY, CALL_MANY, CALL_OTHER };

/* An operator with its attributes in the row's order, for a caller that may hold Python's lock. Everything is
 * borrowed for the call. */
typedef struct {
  uint64_t op;
  uint64_t lead, where; /* pmps_python_lead, and the place or output of that */
  uint64_t arg_count, attr_count;
  const pmps_arg *args;
  const pmps_attr *attrs; /* without names */
  uint64_t release;
  uint64_t unlocked; /* the caller holds no lock; if 0, a long call is not made: CALL_LONG */
} prepared;

/* Makes a call; the handles in results are owned. CALL_HEAVY: the call was not made and should run on another
 * thread. CALL_MANY: there were more than MAX_RESULTS results, which were freed. */
HIDDEN uint64_t prepared_call(const prepared *call, described_list *results);

/* The inputs of a program, for a caller that may hold Python's lock. Everything is borrowed for the call. */
typedef struct {
  uint64_t program;
  uint64_t count;
  const uint64_t *inputs;
  uint64_t recording; /* whether gradients were recorded when it was traced */
  uint64_t release, unlocked; /* as of prepared */
} program_inputs;

/* Runs a program; the states are those of prepared_call. CALL_MANY and CALL_OTHER: it was not run. CALL_OTHER: it was
 * traced for other dtypes, shapes or gradients. */
HIDDEN uint64_t program_call(const program_inputs *given, described_list *results);

/* Describes a tensor; 0 for a handle that is not valid, with the error kept for this thread. */
HIDDEN uint64_t tensor_describe(uint64_t handle, described *tensor);

/* What tensors and programs hold of a caller's functions, in the form of pmps_python_entries.held, in memory that the caller frees;
 * NULL for nothing. Until held_end, held_unchanged says whether no tensor has got a history since. */
HIDDEN uint64_t *held_by(uint64_t caller, const uint64_t *tensors, uint64_t count, const uint64_t *programs, uint64_t program_count);
HIDDEN bool held_unchanged(void);
HIDDEN void held_end(void);

/* ---- callbacks.c: how Go calls the caller's functions. What they get as user is an integer to Go, because programs pass
 * small numbers, which Go would take for broken pointers. */

HIDDEN void call_deleter(pmps_deleter deleter, uint64_t user);
HIDDEN void call_log(pmps_log_callback callback, int32_t level, const char *message, uint64_t user);
HIDDEN bool call_reclaim(pmps_reclaim_callback callback, int64_t need, uint64_t user);
HIDDEN int32_t call_hook(pmps_grad_hook hook, uint64_t user, uint64_t grad, uint64_t *other);
HIDDEN int32_t call_backward(pmps_grad_callback callback, uint64_t user, uint64_t *of, size_t count, uint64_t *grads, size_t operands);
HIDDEN uint64_t call_stack(pmps_stack_callback callback, uint64_t user);
HIDDEN void call_dl_deleter(DLManagedTensor *tensor);
HIDDEN void call_dl_deleter_versioned(DLManagedTensorVersioned *tensor);

/* ---- dlpack.c */

/* A tensor in the terms of DLPack; handle keeps it alive. */
typedef struct {
  uint64_t handle;
  void *data;
  DLDataType type;
  int32_t rank;
  int64_t dims[PMPS_MAX_RANK], strides[PMPS_MAX_RANK];
} dl_view;

/* Makes the managed tensor of a view, whose handle it owns from here on; NULL without memory. */
HIDDEN DLManagedTensor *dl_export(const dl_view *view);
HIDDEN DLManagedTensorVersioned *dl_export_versioned(const dl_view *view);

#endif
