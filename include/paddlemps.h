/*
 * paddlemps.h - tensors and operators on the Apple GPU and the CPU.
 *
 * One small library, one C ABI. Operators, dtypes and devices are data: the functions below are a
 * small fixed set, and a new operator is a new row of the operator table, never a new symbol.
 *
 * PROCESS RULES
 *   - Load the library once and never unload it: it contains the Go runtime, which cannot leave a
 *     process. dlclose is accepted and has no effect.
 *   - Do not use it in a forked child. After fork (without exec) every fallible call answers
 *     PMPS_FORKED at once and every free does nothing. Start workers with exec or spawn.
 *   - The Go runtime installs handlers for SIGSEGV, SIGBUS, SIGFPE, SIGPROF and SIGURG, with
 *     SA_ONSTACK, and forwards what is not its own to the handlers that were there before. A handler
 *     that you install later must use SA_ONSTACK and chain to the old one.
 *   - Two libraries with Go runtimes in one process work on Linux; on macOS Go does not support it.
 *
 * OWNERSHIP, the four words used below
 *   owned      the caller must free it with the free function of its type.
 *   borrowed   valid until the moment named; never freed by the caller.
 *   copied     the library takes what it needs before it returns; the caller keeps its own.
 *   retained   the library keeps using the caller's memory until it says so by a callback.
 *
 * ERRORS
 *   A function that can fail returns pmps_error *: NULL is success, otherwise an owned error. After a
 *   failure its outputs are untouched and there is nothing to clean up. Getters that cannot fail
 *   return their value, and 0 or NULL for a handle that is not valid. Frees return void and accept
 *   NULL, stale and foreign handles. No call ends the process.
 *
 * HANDLES
 *   Objects are opaque pointers that hold checked integers, never addresses: a stale, foreign or null
 *   handle is answered with PMPS_INVALID_HANDLE.
 *
 * THREADS
 *   Every function may be called from any thread at any time. What a type adds to that stands there.
 */
#ifndef PADDLEMPS_H
#define PADDLEMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "paddlemps_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version ------------------------------------------------------------------------------- */

#define PMPS_VERSION_MAJOR 0
#define PMPS_VERSION_MINOR 1
#define PMPS_VERSION_PATCH 0
#define PMPS_VERSION "0.1.0"

/* The ABI's own number: the high 16 bits change when a program must be compiled again, the low 16
 * when something was added. */
#define PMPS_ABI_VERSION 0x00010000u

/* The ABI version of the loaded library. */
uint32_t pmps_abi_version(void);

/* The library's version, for example "0.1.0". Borrowed, for ever. */
const char *pmps_version(void);

typedef struct pmps_error pmps_error;

/* States the ABI version that the caller was compiled with: pass PMPS_ABI_VERSION. A major mismatch
 * is PMPS_UNSUPPORTED with both numbers in the message. Optional, may be repeated. */
pmps_error *pmps_init(uint32_t abi_version);

/* ---- Errors -------------------------------------------------------------------------------- */

typedef enum pmps_code {
  PMPS_OK = 0,
  PMPS_INVALID_ARGUMENT = 1,    /* a value, a shape or an attribute is wrong */
  PMPS_TYPE_MISMATCH = 2,       /* a dtype or a kind of argument is wrong */
  PMPS_INDEX_OUT_OF_RANGE = 3,  /* an index is out of range */
  PMPS_OUT_OF_MEMORY = 4,       /* no memory, after everything was tried */
  PMPS_UNSUPPORTED = 5,         /* nobody here can do this */
  PMPS_UNAVAILABLE = 6,         /* this machine has no such device */
  PMPS_DEVICE_FAILED = 7,       /* the device failed while running */
  PMPS_INVALID_HANDLE = 8,      /* null, stale or of another type */
  PMPS_FORKED = 9,              /* called in a forked child */
  PMPS_INTERNAL = 10,           /* a bug of the library */
  PMPS_NOT_FOUND = 11,          /* no operator, attribute or statistic of that name */
  PMPS_ARITHMETIC = 12,         /* an integer was divided by zero */
  PMPS_BUSY = 13,               /* a call of the fast family would have had to wait */
  PMPS_SYNTAX = 14              /* the source of a shader does not compile */
} pmps_code;

/* What went wrong: an immutable object, owned by whoever was handed it, of use on any thread and in a
 * forked child. The code of a handle that is not valid is PMPS_OK, its message "". */
pmps_code pmps_error_code(const pmps_error *error);

/* UTF-8, "[op] what came; want what". Borrowed until the error is freed. Never NULL. */
const char *pmps_error_message(const pmps_error *error);

void pmps_error_free(pmps_error *error);

/* The name of a code, "INVALID_ARGUMENT"; "UNKNOWN" for a number that is none. Borrowed, for ever. */
const char *pmps_code_name(pmps_code code);

/* ---- Element types and places --------------------------------------------------------------- */

typedef enum pmps_dtype {
  PMPS_BOOL = 1, /* one byte, 0 or 1 */
  PMPS_UINT8 = 2,
  PMPS_INT8 = 3,
  PMPS_INT16 = 4,
  PMPS_INT32 = 5,
  PMPS_INT64 = 6,
  PMPS_FLOAT16 = 7,  /* IEEE binary16 */
  PMPS_BFLOAT16 = 8, /* the high half of a float32 */
  PMPS_FLOAT32 = 9,
  PMPS_FLOAT64 = 10 /* on the CPU only */
} pmps_dtype;

/* Bytes of one element; 0 for an unknown dtype. */
int64_t pmps_dtype_size(int32_t dtype);

/* "float32"; NULL for an unknown dtype. Borrowed, for ever. */
const char *pmps_dtype_name(int32_t dtype);

typedef enum pmps_place_kind { PMPS_CPU = 0, PMPS_MPS = 1 } pmps_place_kind;

/* Where a tensor lives. Passed by pointer; NULL means the CPU. */
typedef struct pmps_place {
  int32_t kind;  /* pmps_place_kind */
  int32_t index; /* of the mps device, from 0; 0 for the CPU */
} pmps_place;

#define PMPS_MAX_RANK 9

/* ---- Devices --------------------------------------------------------------------------------- */

/* The number of devices of a kind: always 1 for PMPS_CPU. PMPS_MPS devices exist on Apple silicon,
 * and by name elsewhere: with PADDLE_MPS_DEVICE=host in the environment when the library is loaded
 * there is an emulated one that computes on the CPU. PADDLE_MPS_CPU_OPS names operators, with commas
 * between, that the GPU leaves to the CPU, for finding out which one a wrong result comes from;
 * PADDLE_MPS_FALLBACK=0 makes what the GPU lacks an error instead. */
int32_t pmps_device_count(int32_t kind);

typedef struct pmps_device_info {
  size_t struct_size;            /* in: sizeof(pmps_device_info) */
  char name[128];                /* "Apple M3 Max", "Emulated MPS (CPU: ...)" */
  char backend[16];              /* "metal", "host" or "fake" */
  char uuid[40];                 /* text form */
  int64_t total_memory;          /* bytes */
  int64_t recommended_memory;    /* bytes that one process should stay below */
  int32_t major, minor;          /* GPU family; 0.0 on the CPU */
  int32_t multi_processor_count; /* GPU cores, or threads */
  int32_t has_float64, has_bfloat16;
} pmps_device_info;

/* Fills in *info for a device; PMPS_UNAVAILABLE says why there is none. */
pmps_error *pmps_device_get_info(const pmps_place *place, pmps_device_info *info);

/* One figure of the memory statistics. */
typedef struct pmps_stat {
  int64_t current, peak, allocated, freed; /* the last two only ever grow */
} pmps_stat;

/* Compiled programs of a device. The device keeps at most PADDLE_MPS_PROGRAM_CACHE_ENTRIES (environment;
 * 4096) of them, and as many bytes as PADDLE_MPS_PROGRAM_CACHE_BYTES (256 MiB), as far as it knows their
 * sizes; those that nobody has used for long go first. */
typedef struct pmps_program_stats {
  int64_t entries, bytes;         /* now; what the device lacks is an entry too */
  int64_t hits, misses;           /* calls that found their program, and those that had to wait for a compiler */
  int64_t evictions, cleared;     /* entries that made room, and those that pmps_memory_empty_cache took */
  int64_t compilations, failures; /* and those of them that made no program */
  int64_t compile_ns;             /* nanoseconds, all compilations together */
} pmps_program_stats;

typedef struct pmps_memory_stats {
  size_t struct_size;                                   /* in: sizeof(pmps_memory_stats) */
  pmps_stat allocated_bytes, allocation;                /* live blocks: bytes, number */
  pmps_stat active_bytes, active;                       /* and those that a stream still uses */
  pmps_stat reserved_bytes, segment;                    /* heaps taken from the system */
  pmps_stat inactive_split_bytes, inactive_split;       /* free pieces beside used ones */
  pmps_stat requested_bytes;                            /* before rounding up */
  int64_t num_alloc_retries, num_ooms;
  int64_t limit_bytes;                                  /* hard limit of this process */
  int64_t available_bytes;                              /* that may still be reserved, see pmps_memory_set_limit */
  pmps_program_stats program_cache;
} pmps_memory_stats;

pmps_error *pmps_memory_get_stats(const pmps_place *place, pmps_memory_stats *stats);

/* Peaks become the current figures. */
pmps_error *pmps_memory_reset_peak(const pmps_place *place);

/* Returns heaps without live blocks, and cached programs, to the system. */
pmps_error *pmps_memory_empty_cache(const pmps_place *place);

/* Sums (allocated, freed) and counts become 0, those of programs too. */
pmps_error *pmps_memory_reset_accumulated(const pmps_place *place);

/* The bytes that a device may reserve from now on; 0 goes back to MPS_MAX_POOL_SIZE, or 95 % of what the
 * device recommends. More than 95 % of the machine's memory is PMPS_INVALID_ARGUMENT. What is reserved
 * already stays until it is free. Devices that share the machine's memory also have 95 % of it together:
 * what one reserves the others cannot, but what it only keeps for reuse makes way. */
pmps_error *pmps_memory_set_limit(const pmps_place *place, int64_t bytes);

/* Asked to free memory when an allocation of need bytes has tried everything else: true means that
 * another try is worth it. Called on the thread that allocates, which may be any of the program's, with
 * no lock of the library held; it may call the library. */
typedef bool (*pmps_reclaim_callback)(int64_t need, void *user);

/* One callback for all devices; NULL for none. It and user stay valid until another is set. */
void pmps_memory_on_pressure(pmps_reclaim_callback callback, void *user);

/* Names the call stack of an allocation by a number, 0 for none. Called as pmps_reclaim_callback is. */
typedef uint64_t (*pmps_stack_callback)(void *user);

/* Keeps the latest max_entries (0 to 2^24, 0: none) events of a device's memory from now on, and forgets
 * those before: blocks allocated and freed, heaps made and given back, allocations refused. stack may be
 * NULL; frees have no stack, since a tensor's last user need not be who frees it. */
pmps_error *pmps_memory_record_history(const pmps_place *place, int64_t max_entries, pmps_stack_callback stack,
                                       void *user);

/* A map of the device's memory and its history as JSON: see docs/memory_snapshot.md. Owned: free it
 * with pmps_text_free. */
pmps_error *pmps_memory_snapshot(const pmps_place *place, char **json);

/* Frees text that the library made. */
void pmps_text_free(char *text);

/* Waits until all work on all streams of a device has finished; an asynchronous failure that has
 * not been reported yet is returned, once. */
pmps_error *pmps_device_synchronize(const pmps_place *place);

/* WAITING IN SLICES
 *   For bindings that must look at signals from time to time. A function called _wait_for waits for at
 *   most timeout_ms >= 0. Set *wait to 0 to begin; it comes back as 0 when the wait is over, and else
 *   with the number of the wait, which the next call goes on with. What had been submitted at the
 *   beginning is waited for and nothing later, so a wait ends however much others submit. One that is
 *   given up needs nothing more. */

/* pmps_device_synchronize in slices. */
pmps_error *pmps_device_wait_for(const pmps_place *place, int64_t timeout_ms, uint64_t *wait);

/* The generator of a device: Philox4x32-10 with a 64-bit key (the seed) and counter. The same seed
 * gives the same values on every device. */
pmps_error *pmps_rng_seed(const pmps_place *place, uint64_t seed);
pmps_error *pmps_rng_get_state(const pmps_place *place, uint64_t *seed, uint64_t *counter);
pmps_error *pmps_rng_set_state(const pmps_place *place, uint64_t seed, uint64_t counter);

/* ---- Streams and events ---------------------------------------------------------------------- */

/* A queue of work in order. Streams order themselves: work on one that uses a tensor written on
 * another waits for it. CPU streams run everything before the call returns. */
typedef struct pmps_stream pmps_stream;
typedef struct pmps_event pmps_event;

pmps_error *pmps_stream_new(const pmps_place *place, pmps_stream **stream); /* owned */
pmps_error *pmps_stream_default(const pmps_place *place, pmps_stream **stream); /* borrowed, for ever */
void pmps_stream_free(pmps_stream *stream); /* its work is finished all the same */

/* The stream that this thread's calls use on the stream's device from now on; NULL goes back to the
 * default streams. Kept per thread, and borrowed: forget it before it is freed, for calls on a freed
 * one are PMPS_INVALID_HANDLE. */
pmps_error *pmps_stream_set_current(pmps_stream *stream);

/* This thread's stream on a device. Borrowed. */
pmps_error *pmps_stream_get_current(const pmps_place *place, pmps_stream **stream);

pmps_error *pmps_stream_get_place(const pmps_stream *stream, pmps_place *place);

/* The number of the stream on its device: 0 for the default one, and never used twice. */
pmps_error *pmps_stream_get_id(const pmps_stream *stream, uint64_t *id);

/* Whether all work submitted so far has finished. */
pmps_error *pmps_stream_query(const pmps_stream *stream, bool *done);

/* Waits for the stream; an asynchronous failure that has not been reported yet is returned, once. */
pmps_error *pmps_stream_synchronize(pmps_stream *stream);

/* As above, in slices. */
pmps_error *pmps_stream_wait_for(pmps_stream *stream, int64_t timeout_ms, uint64_t *wait);

/* Work submitted from now on waits for the event; the caller does not. */
pmps_error *pmps_stream_wait_event(pmps_stream *stream, const pmps_event *event);

typedef enum pmps_event_flags {
  PMPS_EVENT_TIMING = 1 /* pmps_event_elapsed wants it */
} pmps_event_flags;

/* A point in the work of a stream: flags are 0 or PMPS_EVENT_TIMING. One that was never recorded counts
 * as passed. Owned. */
pmps_error *pmps_event_new(const pmps_place *place, uint32_t flags, pmps_event **event);
void pmps_event_free(pmps_event *event);

/* Moves the event behind all work of a stream so far; NULL: this thread's. */
pmps_error *pmps_event_record(pmps_event *event, pmps_stream *stream);
pmps_error *pmps_event_query(const pmps_event *event, bool *done);

/* Waits for the event. Failures of the work before it are for the stream and its tensors to tell. */
pmps_error *pmps_event_synchronize(const pmps_event *event);

/* As above, in slices. */
pmps_error *pmps_event_wait_for(const pmps_event *event, int64_t timeout_ms, uint64_t *wait);

/* Milliseconds from start to end, as the device passed them, by the clock of the device and not at the
 * call. Both must have PMPS_EVENT_TIMING, have been recorded and be done. */
pmps_error *pmps_event_elapsed(const pmps_event *start, const pmps_event *end, double *milliseconds);

/* ---- Tensors ---------------------------------------------------------------------------------- */

/* A view of counted memory: offset, shape, strides, dtype. A tensor may be used by many threads at
 * once; two that write to it order themselves. */
typedef struct pmps_tensor pmps_tensor;

/* A new contiguous tensor; its elements are not defined. Owned. */
pmps_error *pmps_tensor_empty(const pmps_place *place, int32_t dtype, int32_t rank,
                              const int64_t *dims, pmps_tensor **tensor);

/* A new tensor with a copy of contiguous host memory (copied). Owned. */
pmps_error *pmps_tensor_from_host(const pmps_place *place, int32_t dtype, int32_t rank,
                                  const int64_t *dims, const void *data, pmps_tensor **tensor);

/* Called once, from any thread, when the library no longer uses memory that it retained. */
typedef void (*pmps_deleter)(void *user);

/* A CPU tensor over the caller's memory, without a copy (retained): data is the address of the
 * element with all indices zero, strides count elements (NULL: contiguous) and may be negative.
 * deleter may be NULL; it is not called when this call fails. Owned. pmps_tensor_share takes it to
 * another place. */
pmps_error *pmps_tensor_from_memory(int32_t dtype, int32_t rank, const int64_t *dims,
                                    const int64_t *strides, void *data, pmps_deleter deleter,
                                    void *user, pmps_tensor **tensor);

/* Another handle to the same view. Owned. */
pmps_error *pmps_tensor_retain(pmps_tensor *tensor, pmps_tensor **same);
void pmps_tensor_free(pmps_tensor *tensor);

typedef struct pmps_tensor_info {
  size_t struct_size; /* in: sizeof(pmps_tensor_info) */
  int32_t dtype, rank;
  pmps_place place;
  int64_t dims[PMPS_MAX_RANK];
  int64_t strides[PMPS_MAX_RANK]; /* in elements */
  int64_t numel;
  int64_t offset;      /* of the first element in its storage, in elements */
  uint64_t storage_id; /* equal for views of the same memory, while it lives */
} pmps_tensor_info;

pmps_error *pmps_tensor_get_info(const pmps_tensor *tensor, pmps_tensor_info *info);

/* Copies the elements, row-major, to or from host memory of exactly size bytes. Waits for work that
 * the tensor depends on; raises the failure of that work. Writing keeps shape and dtype. */
pmps_error *pmps_tensor_read(const pmps_tensor *tensor, void *data, size_t size);
pmps_error *pmps_tensor_write(pmps_tensor *tensor, const void *data, size_t size);

/* Waits in slices for the work that computes the tensor, and with writing also for the work that reads
 * it, so that the calls above and below need not; returns the failure of that work. */
pmps_error *pmps_tensor_wait_for(const pmps_tensor *tensor, bool writing, int64_t timeout_ms, uint64_t *wait);

/* The address of the first element as the CPU sees it, after waiting for work that the tensor
 * depends on. Valid until unmap, until when the tensor stays alive; work that is submitted meanwhile
 * does not wait for the CPU. Every map needs an unmap. */
pmps_error *pmps_tensor_map(pmps_tensor *tensor, void **data);
void pmps_tensor_unmap(pmps_tensor *tensor);

/* A copy on a place, or the tensor itself under another handle when it is there already and
 * copy is false. The copy may still be under way: it keeps its source, which may be freed and written
 * to at once, and whatever uses the result waits for it. Owned. */
pmps_error *pmps_tensor_to(pmps_tensor *tensor, const pmps_place *place, bool copy, pmps_tensor **result);

/* The tensor on a place in the memory that it has, without a copy: what is written through either is
 * seen through the other. Waits for work that the tensor depends on; afterwards each place waits only
 * for work of its own, so synchronize a stream before the other place, or the owner of the memory,
 * reads or writes what it has used. The memory goes back, and a deleter is called from some thread of
 * the library's, when both tensors and their views are gone and no stream is at work in it any more.
 *
 * A Metal device takes memory that begins with a page, at a multiple of 16384 bytes; of a tensor that is a
 * view of another one, it is the other's memory that counts. Of a page that is shared in part, the rest is
 * left alone. PMPS_UNSUPPORTED says what is in the way. Owned. */
pmps_error *pmps_tensor_share(pmps_tensor *tensor, const pmps_place *place, pmps_tensor **result);

/* One item of an index expression, in the order in which they stand between the brackets. */
typedef enum pmps_index_kind {
  PMPS_INDEX_INT = 0,      /* start: the index; the axis goes away */
  PMPS_INDEX_SLICE = 1,    /* start, stop, step: see has */
  PMPS_INDEX_NEW_AXIS = 2, /* an axis of one element */
  PMPS_INDEX_ELLIPSIS = 3  /* as many whole axes as are left over; at most once */
} pmps_index_kind;

typedef struct pmps_index {
  int32_t kind;
  int32_t has; /* of a slice: bit 0 start, bit 1 stop, bit 2 step were given */
  int64_t start, stop, step;
} pmps_index;

/* A view by basic indexing, as in Python. Owned. PMPS_INDEX_OUT_OF_RANGE for an integer outside. */
pmps_error *pmps_tensor_index(pmps_tensor *tensor, const pmps_index *items, size_t count, pmps_tensor **view);

/* ---- DLPack ------------------------------------------------------------------------------------ */

/* The two structures of dlpack.h, versions 0.8 and 1.0 and later. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;

/* A tensor over another library's memory, without a copy. On success the library owns dl and calls
 * its deleter, once and from any thread, when it is done; on failure dl stays the caller's. Only CPU
 * memory that may be written, versions 0.x and 1.x. Owned. */
pmps_error *pmps_tensor_from_dlpack(struct DLManagedTensor *dl, pmps_tensor **tensor);
pmps_error *pmps_tensor_from_dlpack_versioned(struct DLManagedTensorVersioned *dl, pmps_tensor **tensor);

/* The tensor's memory for another library, without a copy: owned until its deleter is called, which
 * may be done from any thread. Waits for work that the tensor depends on. CPU tensors and unified
 * memory. */
pmps_error *pmps_tensor_to_dlpack(pmps_tensor *tensor, struct DLManagedTensor **dl);
pmps_error *pmps_tensor_to_dlpack_versioned(pmps_tensor *tensor, struct DLManagedTensorVersioned **dl);

/* ---- Operators ---------------------------------------------------------------------------------- */

/* An operator's number; the numbers of this version stand in paddlemps_ops.h as PMPS_OP_*. They are
 * never reused. */
typedef uint32_t pmps_op;

/* Finds an operator by name; PMPS_NOT_FOUND. */
pmps_error *pmps_op_find(const char *name, pmps_op *op);

/* "softmax(x, axis: int = -1) -> tensor". Borrowed, for ever; NULL for an unknown number. */
const char *pmps_op_signature(pmps_op op);
const char *pmps_op_name(pmps_op op);

/* An operand: a tensor, or a scalar, which is weak: it takes the tensor's dtype as Paddle says. */
typedef enum pmps_arg_kind {
  PMPS_ARG_NONE = 0, /* an optional operand that is not given */
  PMPS_ARG_TENSOR = 1,
  PMPS_ARG_BOOL = 2,
  PMPS_ARG_INT = 3,
  PMPS_ARG_FLOAT = 4
} pmps_arg_kind;

typedef struct pmps_arg {
  uint32_t kind;
  uint32_t reserved; /* 0 */
  union {
    const pmps_tensor *tensor; /* borrowed for the call */
    int64_t i;                 /* PMPS_ARG_BOOL, PMPS_ARG_INT */
    double f;                  /* PMPS_ARG_FLOAT */
  } value;
} pmps_arg;

/* An attribute, by name. Absent ones take the default of the operator's signature. */
typedef enum pmps_attr_kind {
  PMPS_ATTR_NONE = 0, /* as if it were absent */
  PMPS_ATTR_BOOL = 1,
  PMPS_ATTR_INT = 2,
  PMPS_ATTR_FLOAT = 3,
  PMPS_ATTR_INTS = 4, /* count numbers at ints (copied) */
  PMPS_ATTR_DTYPE = 5
} pmps_attr_kind;

typedef struct pmps_attr {
  char name[20]; /* padded with zeros */
  uint32_t kind;
  union {
    int64_t i;
    double f;
    const int64_t *ints;
  } value;
  int64_t count; /* of ints */
} pmps_attr;

/* Runs an operator on this thread's stream of the device where its tensors are; 0-d CPU tensors may
 * stand beside tensors of another device. Operators without tensors run on the place of
 * pmps_op_call_on. The outputs are made by the library: *count says how many fit into outputs and
 * becomes how many there are. Owned. */
pmps_error *pmps_op_call(pmps_op op, const pmps_arg *args, size_t arg_count, const pmps_attr *attrs,
                         size_t attr_count, pmps_tensor **outputs, size_t *count);
pmps_error *pmps_op_call_on(const pmps_place *place, pmps_op op, const pmps_arg *args, size_t arg_count,
                            const pmps_attr *attrs, size_t attr_count, pmps_tensor **outputs, size_t *count);

/* As pmps_op_call for operators with one output, which goes into a tensor that exists: it has the
 * result's shape, and the result's dtype or one that the result is cast to. It may share memory with
 * the inputs. */
pmps_error *pmps_op_call_into(pmps_op op, const pmps_arg *args, size_t arg_count, const pmps_attr *attrs,
                              size_t attr_count, pmps_tensor *output);

/* ---- Shaders --------------------------------------------------------------------------------------
 *
 * Kernels of the program's own, in Metal's shading language. They run on the Metal device, in the order
 * of the stream like operators; elsewhere these functions answer PMPS_UNSUPPORTED.
 */

typedef struct pmps_library pmps_library;
typedef struct pmps_kernel pmps_kernel;

/* Compiles source, with the compiler's safe math: NaN and infinity exist. PMPS_SYNTAX with the compiler's
 * words, `program_source:LINE:COLUMN: error: ...`, where it does not compile. Owned. */
pmps_error *pmps_library_new(const pmps_place *place, const char *source, pmps_library **library);

/* Reads a library that Apple's compiler has made before, a .metallib file. Owned. */
pmps_error *pmps_library_load(const pmps_place *place, const char *path, pmps_library **library);

void pmps_library_free(pmps_library *library); /* its kernels stay */

/* The names of the functions, one a line. Owned: free them with pmps_text_free. */
pmps_error *pmps_library_get_names(const pmps_library *library, char **names);

/* A kernel, ready to run; PMPS_NOT_FOUND. Its arguments are buffers: threadgroup memory is declared in the
 * kernel, textures are PMPS_UNSUPPORTED. Owned. */
pmps_error *pmps_library_get_kernel(const pmps_library *library, const char *name, pmps_kernel **kernel);

void pmps_kernel_free(pmps_kernel *kernel); /* its runs are finished all the same */

typedef struct pmps_kernel_info {
  size_t struct_size; /* in: sizeof(pmps_kernel_info) */
  uint64_t max_threads_per_threadgroup;
  uint64_t thread_execution_width;    /* threads that run in step */
  uint64_t static_threadgroup_memory; /* bytes that the kernel declares */
  uint64_t argument_count;            /* one more than the highest position of an argument */
} pmps_kernel_info;

pmps_error *pmps_kernel_get_info(const pmps_kernel *kernel, pmps_kernel_info *info);

/* An argument: a tensor, or size bytes at data (copied) for what the kernel only reads. */
typedef struct pmps_kernel_arg {
  const pmps_tensor *tensor; /* borrowed for the call; NULL: the bytes */
  const void *data;          /* NULL beside a tensor */
  size_t size;               /* 0 beside a tensor */
} pmps_kernel_arg;

/* Runs a kernel on this thread's stream; argument i is what the kernel has at [[buffer(i)]]. A tensor is
 * seen from its first element on as it lies in memory, with its strides; one of the CPU with rank 0 counts
 * as bytes. threads are the three numbers of the grid (NULL: one thread an element of the first tensor),
 * group those of a threadgroup (NULL: the library's choice). Bytes are at most 4096 in all.
 *
 * What the kernel declares const, or constant, counts as read and everything else as written: other streams
 * wait accordingly. What a kernel does outside of its tensors is undefined, as everywhere on a GPU;
 * where the GPU notices, the results of all calls in the same command buffer have failed, with
 * PMPS_DEVICE_FAILED. */
pmps_error *pmps_kernel_run(pmps_kernel *kernel, const pmps_kernel_arg *args, size_t count,
                            const uint64_t *threads, const uint64_t *group);

/* ---- Metal ----------------------------------------------------------------------------------------
 *
 * The objects below the library, for programs that use Metal themselves. PMPS_UNSUPPORTED on other devices.
 * What a program encodes is its own business: the library does not hear of it. Until a command buffer of
 * yours has completed, keep its tensors alive, do not read or write them on the CPU, and use them on no
 * other stream than the one whose queue it was committed to.
 */

/* Which of the classes and methods of Apple's that the library uses the running system has, as JSON:
 * {"macos": "15.2", "architecture": "applegpu_g13s", "findings": [{"class": "MTLHeap", "selector": "...",
 * "since": "", "optional": false, "found": true, "encoding": "..."}, ...],
 * "constants": [{"name": "MTLHeapTypePlacement", "value": 1, "since": "10.15"}, ...]}. selector is "" for a
 * class, since the first macOS that has it where that is newer than the oldest the library runs on. Makes
 * objects and runs nothing. Owned: free it with pmps_text_free. */
pmps_error *pmps_device_census(const pmps_place *place, char **json);

/* The id<MTLDevice>. Borrowed, for ever. */
pmps_error *pmps_device_get_metal(const pmps_place *place, void **device);

/* The id<MTLCommandQueue> of a stream. Borrowed until the stream is freed. The call commits what the
 * library has encoded: command buffers that you commit to the queue run after all work submitted to the
 * stream before this call, and before work that is submitted after your commit. Call it again whenever
 * the library has been given work in between. */
pmps_error *pmps_stream_get_metal(pmps_stream *stream, void **queue);

/* The id<MTLBuffer> that a tensor lies in, and where in it its first element lies, in bytes. Borrowed while
 * the tensor lives. The buffer holds other tensors too. The call does not wait: take the stream's queue after
 * it. */
pmps_error *pmps_tensor_get_metal(const pmps_tensor *tensor, void **buffer, size_t *offset);

/* Whether this process may capture (it was started with MTL_CAPTURE_ENABLED=1) and whether it does. Both
 * false on other devices. */
pmps_error *pmps_capture_get_state(const pmps_place *place, bool *enabled, bool *capturing);

/* Records what the device is told from now on into a trace document for Xcode: path ends in .gputrace, and
 * nothing is there. Waits for the work so far. */
pmps_error *pmps_capture_begin(const pmps_place *place, const char *path);

/* Waits for the work so far and ends the document. */
pmps_error *pmps_capture_end(const pmps_place *place);

/* ---- Log ------------------------------------------------------------------------------------------ */

/* level: 0 error, 1 warning, 2 information, 3 debugging. The message is borrowed for the call, which
 * comes from a thread of the library, one at a time and soon after the fact, so that it may wait for
 * locks of the program. */
typedef void (*pmps_log_callback)(int32_t level, const char *message, void *user);

/* Where messages go: NULL for standard error. Messages above level (default: MPS_VERBOSE in the
 * environment, else 1) are dropped; a negative level leaves it as it is. A message under way may
 * still reach the callback that was set before: it and user stay valid. */
void pmps_log_set(pmps_log_callback callback, void *user, int32_t level);

/* Live objects of all kinds that callers hold, errors included: for leak tests. */
int64_t pmps_live_handles(void);

/* ---- The fast family -------------------------------------------------------------------------------
 *
 * For bindings that count nanoseconds. A call returns the result's handle, or 0; then
 * pmps_fast_error says why. Each call first frees the handle in release, unless it is 0: a binding
 * whose destructor only notes a handle hands it over with its next call. Everything is passed as
 * 64-bit integers. Work above a few microseconds is queued where the device has queues; on the CPU
 * it runs at once, so a caller that holds a lock should send large work through pmps_op_call.
 *
 * A call that would have to wait, because too much is in flight or memory is still being written,
 * fails with PMPS_BUSY instead: pmps_fast_wait waits, and the call is made again.
 */

/* The error of this thread's last fast call that returned 0. Owned; NULL if there is none. */
pmps_error *pmps_fast_error(void);

uint64_t pmps_fast_unary(uint64_t op, uint64_t x, uint64_t release);
uint64_t pmps_fast_binary(uint64_t op, uint64_t x, uint64_t y, uint64_t release);

/* An operator on a tensor and a scalar: kind is PMPS_ARG_BOOL, _INT or _FLOAT, plus 16 when the scalar
 * stands left; bits are those of the int64_t or the double. */
uint64_t pmps_fast_scalar(uint64_t op, uint64_t x, uint64_t kind, uint64_t bits, uint64_t release);

/* Any operator with one output: args and attrs as in pmps_op_call; place is -1 (where the tensors
 * are) or kind << 32 | index. */
uint64_t pmps_fast_call(uint64_t op, const pmps_arg *args, uint64_t arg_count, const pmps_attr *attrs,
                        uint64_t attr_count, uint64_t place, uint64_t release);

/* As pmps_op_call_into; returns output. */
uint64_t pmps_fast_call_into(uint64_t op, const pmps_arg *args, uint64_t arg_count, const pmps_attr *attrs,
                             uint64_t attr_count, uint64_t output, uint64_t release);

/* As pmps_tensor_read; returns x. */
uint64_t pmps_fast_read(uint64_t x, void *data, uint64_t size);

/* Waits for at most timeout_ms for what this thread's last PMPS_BUSY was about; 1 when the call may be
 * made again, else 0. */
uint64_t pmps_fast_wait(uint64_t timeout_ms);

/* 1 if synchronize has nothing to wait for and nothing to report, else 0: of a stream, an event, or the
 * device of a place (kind << 32 | index). */
uint64_t pmps_fast_idle(uint64_t what);

/* A view by basic indexing. */
uint64_t pmps_fast_index(uint64_t x, const pmps_index *items, uint64_t count, uint64_t release);

/* Frees count handles of tensors. */
void pmps_fast_release(const uint64_t *tensors, uint64_t count);

/* ---- The fast family as built-in functions of CPython ------------------------------------------------
 *
 * pmps_fast_unary, _binary, _scalar and _idle with the calling convention METH_FASTCALL, for a PyMethodDef:
 * the first argument is the object that the function is bound to, the others are in args, all of them and the
 * result are Python integers. Missing arguments count as 0. They are called with the interpreter's lock
 * held and keep it. NULL with Python's error set: an argument is no integer of 64 bits.
 */

/* The addresses of PyLong_AsUnsignedLongLong, PyLong_FromUnsignedLongLong and PyErr_Occurred, before
 * the first of the calls below. */
void pmps_python_init(void *as_uint64, void *from_uint64, void *occurred);

void *pmps_python_unary(void *op, void *const *args, int64_t count);
void *pmps_python_binary(void *op, void *const *args, int64_t count);
void *pmps_python_scalar(void *op, void *const *args, int64_t count);
void *pmps_python_idle(void *what, void *const *args, int64_t count);

#ifdef __cplusplus
}
#endif

#endif /* PADDLEMPS_H */
