/*
 * paddlemps.h - tensors and operators on the Apple GPU and the CPU.
 *
 * Operators, dtypes and devices are data: the functions below are a small fixed set, and a new operator is a new
 * number in paddlemps_ops.h, never a new symbol.
 *
 * PROCESS RULES
 *   - Load the library once and never unload it: it contains the Go runtime, which cannot be removed from a
 *     process. dlclose succeeds and has no effect.
 *   - Do not use it in a forked child. After fork (without exec) every fallible call returns
 *     PMPS_FORKED at once and every free does nothing. Start workers with exec or spawn.
 *   - The Go runtime installs handlers for SIGSEGV, SIGBUS, SIGFPE, SIGPROF and SIGURG, with
 *     SA_ONSTACK, and forwards signals that are not its own to the handlers that were installed before. A handler
 *     that you install later must use SA_ONSTACK and chain to the old one.
 *   - Two libraries with Go runtimes in one process work on Linux; on macOS Go does not support it.
 *
 * OWNERSHIP, the four words used below
 *   owned      an output that the caller must free, with the free function of its type unless another is named.
 *   borrowed   an output that is valid until the moment named and that the caller must not free ("for ever": until
 *              the process ends), or an input that the library uses during the call only.
 *   copied     an input that the library copies before it returns.
 *   retained   an input that the library uses until it calls the deleter that was given with it.
 *   Inputs are borrowed for the call unless another word is stated.
 *
 * ERRORS
 *   A function that can fail returns pmps_error *: NULL is success, otherwise an owned error. After a
 *   failure its outputs are untouched and there is nothing to free. Getters that cannot fail
 *   return their value, and 0 or NULL for a handle that is not valid. Frees return void and accept
 *   NULL, stale and foreign handles. No call ends the process.
 *
 * HANDLES
 *   Objects are opaque pointers that hold checked integers, never addresses. A null, stale (freed) or foreign (of
 *   another type) handle is PMPS_INVALID_HANDLE. A handle may be freed while another thread uses it: the object
 *   lives until that call returns.
 *
 * THREADS
 *   Every function may be called from any thread at any time. The comment of each type says how threads may
 *   share an object of it.
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

/* The version of the ABI: the high 16 bits change when programs must be compiled again, the low 16 when
 * something was added. */
#define PMPS_ABI_VERSION 0x00020000u

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
  PMPS_OUT_OF_MEMORY = 4,       /* no memory, even after unused memory was freed */
  PMPS_UNSUPPORTED = 5,         /* the device or this version of the library does not support it */
  PMPS_UNAVAILABLE = 6,         /* this machine has no such device */
  PMPS_DEVICE_FAILED = 7,       /* the device failed while running */
  PMPS_INVALID_HANDLE = 8,      /* null, stale or of another type */
  PMPS_FORKED = 9,              /* called in a forked child */
  PMPS_INTERNAL = 10,           /* a bug of the library */
  PMPS_NOT_FOUND = 11,          /* no operator, attribute or statistic of that name */
  PMPS_ARITHMETIC = 12,         /* an integer was divided by zero */
  PMPS_BUSY = 13,               /* a call of the fast family would have had to wait */
  PMPS_SYNTAX = 14,             /* the source of a shader does not compile */
  PMPS_TRACED = 15,             /* elements of a traced tensor are wanted, which has none */
  PMPS_CANCELLED = 16           /* a run was cancelled before it ended */
} pmps_code;

/* An error is immutable: threads may share it, and it can be read in a forked child. Owned by the caller of the
 * function that returned it. The code of a handle that is not valid is PMPS_OK, its message "". */
pmps_code pmps_error_code(const pmps_error *error);

/* UTF-8, "[op] what was given; want what is required". Borrowed until the error is freed. Never NULL. */
const char *pmps_error_message(const pmps_error *error);

void pmps_error_free(pmps_error *error);

/* The name of a code, "INVALID_ARGUMENT"; "UNKNOWN" for other numbers. Borrowed for ever. */
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
  PMPS_FLOAT64 = 10, /* on the CPU only */
  /* Two floats, the real part first; on the CPU only. Operators move and cast them, and compute nothing. */
  PMPS_COMPLEX64 = 11,
  PMPS_COMPLEX128 = 12,

  /* Element types that tensors do not support yet: they have a name and a size, and functions that make a tensor
   * return PMPS_TYPE_MISMATCH. */
  PMPS_UINT16 = 13,
  PMPS_UINT32 = 14,
  PMPS_UINT64 = 15,
  PMPS_FLOAT8_E4M3FN = 16, /* the names are those of ONNX */
  PMPS_FLOAT8_E4M3FNUZ = 17,
  PMPS_FLOAT8_E5M2 = 18,
  PMPS_FLOAT8_E5M2FNUZ = 19,
  PMPS_INT4 = 20, /* two in a byte, the first in the low half */
  PMPS_UINT4 = 21,
  PMPS_STRING = 22
} pmps_dtype;

/* Bytes of one element; 0 for an unknown dtype, and for PMPS_INT4, PMPS_UINT4 and PMPS_STRING, whose elements
 * take half a byte or have different sizes. */
int64_t pmps_dtype_size(int32_t dtype);

/* "float32"; NULL for an unknown dtype. Borrowed, for ever. */
const char *pmps_dtype_name(int32_t dtype);

typedef enum pmps_place_kind { PMPS_CPU = 0, PMPS_MPS = 1 } pmps_place_kind;

/* Where a tensor is. Passed by pointer; NULL means the CPU. */
typedef struct pmps_place {
  int32_t kind;  /* pmps_place_kind */
  int32_t index; /* of the mps device, from 0; 0 for the CPU */
} pmps_place;

/* For functions that make or describe tensors, the index of the CPU may be 1 + N: of a tensor that is on the CPU only because mps device
 * N lacks its dtype. So are its views and what is computed from it. A call that has it beside a tensor of an mps device casts it to float32
 * and copies it there, where another tensor of the CPU is an error; if it is complex, the call runs on the CPU instead. */

#define PMPS_MAX_RANK 9

/* ---- Devices --------------------------------------------------------------------------------- */

/* The number of devices of a kind: always 1 for PMPS_CPU. PMPS_MPS devices exist on Apple silicon.
 * With PADDLE_MPS_DEVICE=host in the environment at the first use of the library there is an emulated one instead,
 * which computes on the CPU. PADDLE_MPS_CPU_OPS lists operators, separated by commas, that run on the CPU and not
 * on the GPU, to isolate one with wrong results; with PADDLE_MPS_FALLBACK=0 operators that the GPU lacks are an
 * error and do not run on the CPU. */
int32_t pmps_device_count(int32_t kind);

typedef struct pmps_device_info {
  size_t struct_size;            /* in: sizeof(pmps_device_info) */
  char name[128];                /* "Apple M3 Max", "Emulated MPS (CPU: ...)" */
  char backend[16];              /* "metal", "host" or "fake" */
  char uuid[40];                 /* text form */
  int64_t total_memory;          /* bytes */
  int64_t recommended_memory;    /* bytes that one process should not exceed */
  int32_t major, minor;          /* GPU family; 0.0 on the CPU */
  int32_t multi_processor_count; /* GPU cores, or threads */
  int32_t has_float64, has_bfloat16;
} pmps_device_info;

/* Fills in *info for a device. PMPS_UNAVAILABLE, with the reason in its message, if there is none. */
pmps_error *pmps_device_get_info(const pmps_place *place, pmps_device_info *info);

/* One figure of the memory statistics. */
typedef struct pmps_stat {
  int64_t current, peak, allocated, freed; /* the last two are sums, which never decrease */
} pmps_stat;

/* Compiled programs of a device. The device keeps at most PADDLE_MPS_PROGRAM_CACHE_ENTRIES (environment;
 * 4096) of them, and as many bytes as PADDLE_MPS_PROGRAM_CACHE_BYTES (256 MiB), as far as it knows their
 * sizes. Beyond that, the least recently used ones are evicted. */
typedef struct pmps_program_stats {
  int64_t entries, bytes;         /* now; an operator that the device lacks has an entry too */
  int64_t hits, misses;           /* calls that found their program; calls that waited for its compilation */
  int64_t evictions, cleared;     /* entries evicted by the limits; entries removed by pmps_memory_empty_cache */
  int64_t compilations, failures; /* all compilations; those that failed */
  int64_t compile_ns;             /* nanoseconds, all compilations together */
} pmps_program_stats;

/* Graphs of MPSGraph that are stored for later processes, in the folder PADDLE_MPS_CACHE_DIR (environment). */
typedef struct pmps_stored_stats {
  int64_t hits, misses;           /* graphs that were loaded instead of compiled; those that were not there */
  int64_t writes, dropped;        /* graphs added; those removed because they were damaged or could not be loaded */
  int64_t bytes;                  /* now in the folder, as far as this process knows */
} pmps_stored_stats;

typedef struct pmps_memory_stats {
  size_t struct_size;                                   /* in: sizeof(pmps_memory_stats) */
  pmps_stat allocated_bytes, allocation;                /* live blocks: bytes, number */
  pmps_stat active_bytes, active;                       /* those, and freed ones that a stream still uses */
  pmps_stat reserved_bytes, segment;                    /* heaps taken from the system */
  pmps_stat inactive_split_bytes, inactive_split;       /* free parts of heaps with live blocks */
  pmps_stat requested_bytes;                            /* live blocks, before rounding up */
  int64_t num_alloc_retries, num_ooms;
  int64_t limit_bytes;                                  /* hard limit of this process */
  int64_t available_bytes;                              /* that may still be reserved: see pmps_memory_set_limit */
  pmps_program_stats program_cache;
  int64_t refused_shaders, refused_graphs;              /* compilations that Metal and MPSGraph have refused */
  int64_t second_way_steps;                             /* steps that ran on the GPU by another kernel than the refused one */
  pmps_stored_stats stored_graphs;
} pmps_memory_stats;

pmps_error *pmps_memory_get_stats(const pmps_place *place, pmps_memory_stats *stats);

/* Sets peaks to the current figures. */
pmps_error *pmps_memory_reset_peak(const pmps_place *place);

/* Frees heaps without live blocks, and cached programs. Kernels that Metal or MPSGraph has refused are tried again. */
pmps_error *pmps_memory_empty_cache(const pmps_place *place);

/* Sets sums (allocated, freed) and counts to 0, those of programs too. */
pmps_error *pmps_memory_reset_accumulated(const pmps_place *place);

/* Limits the bytes that a device may reserve from now on; 0 restores the default, which is MPS_MAX_POOL_SIZE in the
 * environment, or 95 % of recommended_memory. More than 95 % of the machine's memory is PMPS_INVALID_ARGUMENT.
 * Memory that is reserved already stays reserved until it is free. Devices that share the machine's memory may also
 * reserve 95 % of it together; if one needs memory that another only keeps for reuse, that is freed. */
pmps_error *pmps_memory_set_limit(const pmps_place *place, int64_t bytes);

/* Called when an allocation of need bytes has failed and the library has nothing left to free. The callback frees
 * tensors if it can; true means that it did, and the allocation is tried again. It runs on the thread that
 * allocates, with no lock of the library held, and may call the library. */
typedef bool (*pmps_reclaim_callback)(int64_t need, void *user);

/* Sets the callback of all devices; NULL for none. The previous one may still be running on another thread: it and
 * its user must stay valid until that call has returned. */
void pmps_memory_on_pressure(pmps_reclaim_callback callback, void *user);

/* Returns a number for the call stack of an allocation, 0 for none. Called as pmps_reclaim_callback is. */
typedef uint64_t (*pmps_stack_callback)(void *user);

/* Records events of a device's memory from now on, and discards those before: blocks allocated and freed, heaps made
 * and returned to the system, allocations that failed. The latest max_entries (0 to 2^24, 0: none) are kept. stack
 * may be NULL. Frees have no stack, because memory is often freed by a thread of the library. */
pmps_error *pmps_memory_record_history(const pmps_place *place, int64_t max_entries, pmps_stack_callback stack,
                                       void *user);

/* The device's memory and its history as JSON: see docs/memory_snapshot.md. Owned: free it with
 * pmps_text_free. */
pmps_error *pmps_memory_snapshot(const pmps_place *place, char **json);

/* Frees text that the library made. May be called in a forked child. */
void pmps_text_free(char *text);

/* Waits until all work on all streams of a device has finished; an asynchronous failure that has
 * not been reported yet is returned, once. */
pmps_error *pmps_device_synchronize(const pmps_place *place);

/* WAITING IN SLICES
 *   For bindings that must handle signals from time to time. A function whose name ends in _wait_for waits for at
 *   most timeout_ms >= 0. Set *wait to 0 to begin. Afterwards it is 0 if the wait is over, else a number with which
 *   the next call continues the wait. A wait covers the work that was submitted before it began, so it ends
 *   even if other threads go on submitting. A wait that is not continued needs no cleanup. */

/* pmps_device_synchronize in slices. */
pmps_error *pmps_device_wait_for(const pmps_place *place, int64_t timeout_ms, uint64_t *wait);

/* The generator of a device: Philox4x32-10 with a 64-bit key (the seed) and counter. The same seed
 * gives the same values on every device. */
pmps_error *pmps_rng_seed(const pmps_place *place, uint64_t seed);
pmps_error *pmps_rng_get_state(const pmps_place *place, uint64_t *seed, uint64_t *counter);
pmps_error *pmps_rng_set_state(const pmps_place *place, uint64_t seed, uint64_t counter);

/* ---- Streams and events ---------------------------------------------------------------------- */

/* A queue whose work runs in the order of submission. Work on one stream that uses a tensor written on another waits
 * for that work. CPU streams run everything before the call returns. Threads may share a stream. */
typedef struct pmps_stream pmps_stream;

/* A point in the work of a stream. Threads may share an event. */
typedef struct pmps_event pmps_event;

pmps_error *pmps_stream_new(const pmps_place *place, pmps_stream **stream); /* Owned. */
pmps_error *pmps_stream_default(const pmps_place *place, pmps_stream **stream); /* Borrowed for ever. */
void pmps_stream_free(pmps_stream *stream); /* work that was submitted still runs */

/* Sets the stream that this thread's calls use on the stream's device from now on; NULL: the default streams of all
 * devices. The thread only borrows the stream: before you free it, set another one, or the thread's further
 * calls return PMPS_INVALID_HANDLE. */
pmps_error *pmps_stream_set_current(pmps_stream *stream);

/* This thread's stream on a device. Borrowed until the stream is freed. */
pmps_error *pmps_stream_get_current(const pmps_place *place, pmps_stream **stream);

pmps_error *pmps_stream_get_place(const pmps_stream *stream, pmps_place *place);

/* The number of the stream on its device: 0 for the default one. Numbers are never reused. */
pmps_error *pmps_stream_get_id(const pmps_stream *stream, uint64_t *id);

/* Whether all work submitted so far has finished. */
pmps_error *pmps_stream_query(const pmps_stream *stream, bool *done);

/* Waits for the stream; an asynchronous failure that has not been reported yet is returned, once. */
pmps_error *pmps_stream_synchronize(pmps_stream *stream);

/* As above, in slices. */
pmps_error *pmps_stream_wait_for(pmps_stream *stream, int64_t timeout_ms, uint64_t *wait);

/* Makes work submitted from now on wait for the event. The call does not block. */
pmps_error *pmps_stream_wait_event(pmps_stream *stream, const pmps_event *event);

typedef enum pmps_event_flags {
  PMPS_EVENT_TIMING = 1 /* required by pmps_event_elapsed */
} pmps_event_flags;

/* A new event; flags are 0 or PMPS_EVENT_TIMING. An event that was never recorded counts as done. Owned. */
pmps_error *pmps_event_new(const pmps_place *place, uint32_t flags, pmps_event **event);
void pmps_event_free(pmps_event *event);

/* Moves the event to the end of the work submitted to a stream so far; NULL: this thread's stream. */
pmps_error *pmps_event_record(pmps_event *event, pmps_stream *stream);

/* Whether the work before the event has finished. */
pmps_error *pmps_event_query(const pmps_event *event, bool *done);

/* Waits for the event. It returns no failures of the work before it: pmps_stream_synchronize and functions that
 * read a result do. */
pmps_error *pmps_event_synchronize(const pmps_event *event);

/* As above, in slices. */
pmps_error *pmps_event_wait_for(const pmps_event *event, int64_t timeout_ms, uint64_t *wait);

/* Milliseconds between the moments at which the device reached start and end, by its own clock. Both must have
 * PMPS_EVENT_TIMING, have been recorded and be done. */
pmps_error *pmps_event_elapsed(const pmps_event *start, const pmps_event *end, double *milliseconds);

/* ---- Tensors ---------------------------------------------------------------------------------- */

/* A view of reference-counted memory: offset, shape, strides, dtype. Threads may share a tensor: the library orders
 * reads and writes of its memory, also across streams. */
typedef struct pmps_tensor pmps_tensor;

/* A new contiguous tensor with undefined elements. dims (copied) are rank numbers. Owned. */
pmps_error *pmps_tensor_empty(const pmps_place *place, int32_t dtype, int32_t rank,
                              const int64_t *dims, pmps_tensor **tensor);

/* A new tensor with the elements at data (copied), which are contiguous. Owned. */
pmps_error *pmps_tensor_from_host(const pmps_place *place, int32_t dtype, int32_t rank,
                                  const int64_t *dims, const void *data, pmps_tensor **tensor);

/* A new tensor of strings, for programs of files that take strings. The size bytes at data (copied) are the strings in row-major
 * order, each as its length in bytes (4 bytes, little-endian) and its bytes, which must be UTF-8 and may have NULs. It is the form
 * of the type BYTES in the protocol of Triton Inference Server. Owned.
 *
 * The strings are in memory of the library. The tensor itself has the dtype PMPS_INT64, and its elements stand for the strings:
 * views of it are tensors of strings too, copies and results of operators are integers.
 * Reading it, mapping it and exporting it by DLPack are PMPS_TYPE_MISMATCH. */
pmps_error *pmps_tensor_from_strings(const pmps_place *place, int32_t rank, const int64_t *dims, const void *data,
                                     size_t size, pmps_tensor **tensor);

/* The strings of a tensor of strings, in the form of pmps_tensor_from_strings. Waits for the work that the tensor depends on.
 * PMPS_TYPE_MISMATCH for any other tensor, PMPS_OUT_OF_MEMORY for more than 2 GiB. Owned: free data with pmps_text_free. */
pmps_error *pmps_tensor_get_strings(const pmps_tensor *tensor, char **data, size_t *size);

/* Called once, from any thread, when the library no longer uses memory that it has retained. */
typedef void (*pmps_deleter)(void *user);

/* A CPU tensor over the caller's memory (retained), without a copy. data is the address of the element with all
 * indices zero; strides count elements (NULL: contiguous) and may be negative. deleter may be NULL; it is not
 * called if this call fails. pmps_tensor_share makes the tensor available on another place. Owned. */
pmps_error *pmps_tensor_from_memory(int32_t dtype, int32_t rank, const int64_t *dims,
                                    const int64_t *strides, void *data, pmps_deleter deleter,
                                    void *user, pmps_tensor **tensor);

/* Another handle to the same view. Owned. */
pmps_error *pmps_tensor_retain(pmps_tensor *tensor, pmps_tensor **same);

/* Another handle to the view of `other`, for a caller whose variable held `tensor` and is to hold this view from now on: as
 * pmps_tensor_retain of `other`, and programs that were traced with `tensor` as a captured tensor are out of date
 * (pmps_program_info.outdated). `tensor` stays valid. Owned. */
pmps_error *pmps_tensor_replace(pmps_tensor *tensor, pmps_tensor *other, pmps_tensor **same);
void pmps_tensor_free(pmps_tensor *tensor);

typedef struct pmps_tensor_info {
  size_t struct_size; /* in: sizeof(pmps_tensor_info) */
  int32_t dtype, rank;
  pmps_place place;
  int64_t dims[PMPS_MAX_RANK];
  int64_t strides[PMPS_MAX_RANK]; /* in elements */
  int64_t numel;
  int64_t offset;      /* of the first element in its storage, in elements */
  uint64_t storage_id; /* the same for all views of the same memory, as long as one exists */
  bool traced;         /* it has no elements: a call that was traced makes it */
  bool made_here;      /* the function that this thread traces has made it of elements: each run has one of its own */
} pmps_tensor_info;

pmps_error *pmps_tensor_get_info(const pmps_tensor *tensor, pmps_tensor_info *info);

/* Copies the elements, in row-major order, to or from host memory of exactly size bytes. Waits for the work that the
 * tensor depends on, and returns the failure of that work. Writing keeps shape and dtype. */
pmps_error *pmps_tensor_read(const pmps_tensor *tensor, void *data, size_t size);
pmps_error *pmps_tensor_write(pmps_tensor *tensor, const void *data, size_t size);

/* Waits in slices for the work that computes the tensor, and with writing also for the work that reads it. The calls
 * above and below then do not block. Returns the failure of that work. */
pmps_error *pmps_tensor_wait_for(const pmps_tensor *tensor, bool writing, int64_t timeout_ms, uint64_t *wait);

/* The address of the first element for the CPU. Waits for the work that the tensor depends on. Borrowed until
 * pmps_tensor_unmap; do not free the tensor before. Work that is submitted meanwhile does not wait for the CPU. Every
 * map needs an unmap. */
pmps_error *pmps_tensor_map(pmps_tensor *tensor, void **data);
void pmps_tensor_unmap(pmps_tensor *tensor);

/* A copy on a place. If the tensor is there already and copy is false, the result is another handle to the same view.
 * The call does not wait for the copy: the source may be freed or written to at once, and functions that use the
 * result wait for it. Owned. */
pmps_error *pmps_tensor_to(pmps_tensor *tensor, const pmps_place *place, bool copy, pmps_tensor **result);

/* A tensor on a place over the same memory, without a copy: writes through either are visible through the other.
 * Waits for the work that the tensor depends on. Afterwards each place orders only its own work: synchronize the
 * stream before the other place, or the owner of the memory, reads or writes what the stream has used. The memory
 * is released, and a deleter called from a thread of the library, when both tensors and their views are freed and
 * no stream uses it any more.
 *
 * A Metal device accepts memory that begins at a multiple of 16384 bytes, the size of a page; for a view the memory of
 * the viewed tensor must. The library does not touch the rest of a last page that is used in part. If the memory
 * cannot be shared, PMPS_UNSUPPORTED has the reason in its message. Owned. */
pmps_error *pmps_tensor_share(pmps_tensor *tensor, const pmps_place *place, pmps_tensor **result);

/* The kinds of items in an index expression, x[1, ::2, None, ...]. */
typedef enum pmps_index_kind {
  PMPS_INDEX_INT = 0,      /* start: the index; the result lacks the axis */
  PMPS_INDEX_SLICE = 1,    /* start, stop, step: see has */
  PMPS_INDEX_NEW_AXIS = 2, /* an axis of one element */
  PMPS_INDEX_ELLIPSIS = 3  /* all remaining axes; at most once */
} pmps_index_kind;

typedef struct pmps_index {
  int32_t kind;
  int32_t has; /* of a slice: bit 0 start, bit 1 stop, bit 2 step were given */
  int64_t start, stop, step;
} pmps_index;

/* A view by basic indexing, as in Python; items are in the order of the expression. PMPS_INDEX_OUT_OF_RANGE for an
 * integer out of range. Owned. */
pmps_error *pmps_tensor_index(pmps_tensor *tensor, const pmps_index *items, size_t count, pmps_tensor **view);

/* A view of the same bits as elements of another dtype. Where the sizes of both differ, the last axis has more or fewer
 * elements; it must have the stride 1, and PMPS_INVALID_ARGUMENT says what does not divide into larger ones. Owned. */
pmps_error *pmps_tensor_view(pmps_tensor *tensor, int32_t dtype, pmps_tensor **view);

/* ---- DLPack ------------------------------------------------------------------------------------ */

/* The two structures of dlpack.h, versions 0.8 and 1.0 and later. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;

/* A tensor over another library's memory (retained), without a copy. On success this library owns dl, and calls its
 * deleter once, from any thread, when the memory is no longer used; on failure the caller still owns dl. Only CPU
 * memory that may be written, versions 0.x and 1.x. Owned. */
pmps_error *pmps_tensor_from_dlpack(struct DLManagedTensor *dl, pmps_tensor **tensor);
pmps_error *pmps_tensor_from_dlpack_versioned(struct DLManagedTensorVersioned *dl, pmps_tensor **tensor);

/* The tensor's memory for another library, without a copy. Owned: call its deleter, from any thread. Waits for the
 * work that the tensor depends on. The memory is described as CPU memory, also that of a device with unified
 * memory. */
pmps_error *pmps_tensor_to_dlpack(pmps_tensor *tensor, struct DLManagedTensor **dl);
pmps_error *pmps_tensor_to_dlpack_versioned(pmps_tensor *tensor, struct DLManagedTensorVersioned **dl);

/* ---- Gradients ---------------------------------------------------------------------------------- */

/* Reverse-mode differentiation. An operator call is recorded if an operand requires gradients and recording is enabled on
 * the thread. Results with floating-point dtypes then require gradients too; integers and bools have none. A leaf is a
 * tensor that requires gradients and was not computed from one that does. */

/* Enables or disables recording on this thread; it is enabled at first. Returns the previous setting. */
bool pmps_grad_set_enabled(bool enabled);

/* Sets whether a tensor requires gradients from now on. Tensors computed from it earlier are not affected. A tensor without
 * recorded history becomes a leaf. PMPS_TYPE_MISMATCH for a dtype that has no gradients. */
pmps_error *pmps_tensor_set_requires_grad(pmps_tensor *tensor, bool required);

typedef struct pmps_grad_info {
  size_t struct_size; /* set by the caller */
  bool requires_grad;
  bool is_leaf;     /* it was computed from no tensor that required gradients */
  bool has_grad;    /* pmps_tensor_get_grad has one */
  uint32_t version; /* how often calls have written to the memory since its first contents */
} pmps_grad_info;

pmps_error *pmps_tensor_get_grad_info(const pmps_tensor *tensor, pmps_grad_info *info);

/* The accumulated gradient of a leaf, or the gradient of the last pass for a tensor that retains it. Owned; NULL if there is
 * none. Later passes accumulate in the same memory. The tensor itself holds a reference to its gradient until the tensor's
 * last handle is freed. */
pmps_error *pmps_tensor_get_grad(const pmps_tensor *tensor, pmps_tensor **grad);

/* Replaces the gradient by a copy of grad, which must have the tensor's dtype, shape and place; NULL removes it. */
pmps_error *pmps_tensor_set_grad(pmps_tensor *tensor, pmps_tensor *grad);

/* Makes the gradient zeros, if there is one: in its memory if the caller has a handle of it. Otherwise the memory is freed, and
 * zeros are made when pmps_tensor_get_grad asks for them before a pass has left another gradient. */
pmps_error *pmps_tensor_zero_grad(pmps_tensor *tensor);

/* Makes backward passes keep the gradient of a tensor that is not a leaf, after the hooks that were added before this call.
 * No effect on a leaf. */
pmps_error *pmps_tensor_retain_grad(pmps_tensor *tensor);

/* Says that the elements are other ones than those that were computed: the tensor goes on to require gradients, and passes end at
 * it. No effect on a leaf and on a tensor that requires none. */
pmps_error *pmps_tensor_end_history(pmps_tensor *tensor);

/* Another handle to the same view, which requires no gradients. Owned. */
pmps_error *pmps_tensor_detach(pmps_tensor *tensor, pmps_tensor **detached);

/* Another handle to the same view, which requires no gradients and does not keep what the tensor was computed from.
 * pmps_tensor_retain of it is a handle like the first as long as something else keeps that, else one that requires no gradients.
 * A custom function whose gradient reads its own outputs keeps them so: with other handles, function and outputs keep each other
 * for ever. Owned. */
pmps_error *pmps_tensor_weaken(pmps_tensor *tensor, pmps_tensor **weak);

/* Called with a gradient during a backward pass, on the thread of the pass. grad is borrowed until the hook returns. To
 * replace it, store a tensor of the same dtype, shape and place in *other, which the library then owns; NULL keeps the
 * gradient. Any result but 0 ends the pass with PMPS_INVALID_ARGUMENT. */
typedef int32_t (*pmps_grad_hook)(void *user, pmps_tensor *grad, pmps_tensor **other);

/* Calls a hook with each gradient of a tensor. The hook of a leaf is called only in passes for leaves. The hook stays as long
 * as the tensor or results computed from it live, or until it is removed by its id. Then deleter (may be NULL) is called
 * once, from any thread, when the hook is not running. It is not called if this call fails. */
pmps_error *pmps_tensor_add_grad_hook(pmps_tensor *tensor, pmps_grad_hook hook, pmps_deleter deleter, void *user,
                                      uint64_t *id);
/* Removes a hook by its id, also after the tensor was changed in place. *removed tells whether there was one. */
pmps_error *pmps_tensor_remove_grad_hook(pmps_tensor *tensor, uint64_t id, bool *removed);

/* A backward pass. Lists are borrowed for the call. */
typedef struct pmps_grad_pass {
  size_t struct_size;           /* set by the caller */
  pmps_tensor *const *of;       /* the results that are differentiated */
  size_t of_count;
  pmps_tensor *const *grads_of; /* their gradients, as many; NULL, or an entry that is NULL: ones */
  pmps_tensor *const *to;       /* the tensors whose gradients are wanted; NULL: all leaves, which keep theirs */
  size_t to_count;
  pmps_tensor *const *stop;     /* gradients go no further than these; only with to */
  size_t stop_count;
  bool retain_graph;            /* keep the recorded calls for another pass */
  bool create_graph;            /* the pass itself is recorded, for gradients of gradients */
} pmps_grad_pass;

/* Runs a pass on this thread's current stream. If to is given, it writes to_count handles to grads (owned; NULL if no result
 * depends on the tensor), and no leaf changes; otherwise grads may be NULL. PMPS_INVALID_ARGUMENT if a result requires no
 * gradients, if an earlier pass without retain_graph has used a recorded call, or if a value that a gradient reads was
 * changed in place after its call. */
pmps_error *pmps_grad_backward(const pmps_grad_pass *pass, pmps_tensor **grads);

/* Computes the gradients of a function's inputs from those of its outputs, on the thread of the pass. of is borrowed; an
 * entry is NULL if nothing depends on the output. Store the gradients in grads, whose entries are NULL at first, which means
 * zero; the library owns them afterwards. Any result but 0 ends the pass with PMPS_INVALID_ARGUMENT. */
typedef int32_t (*pmps_grad_callback)(void *user, pmps_tensor *const *of, size_t output_count, pmps_tensor **grads,
                                      size_t input_count);

typedef struct pmps_grad_function {
  size_t struct_size; /* set by the caller */
  pmps_grad_callback backward;
  pmps_deleter deleter; /* called once, from any thread, when no pass can reach the function any more; may be NULL */
  void *user;
} pmps_grad_function;

/* Records outputs, which were computed without recording, as results of a custom function whose callback computes the
 * gradients. If no input requires gradients, nothing is recorded, and the deleter is called. On failure it is not called. */
pmps_error *pmps_grad_apply(const pmps_grad_function *function, pmps_tensor *const *inputs, size_t input_count,
                            pmps_tensor *const *outputs, size_t output_count);

/* ---- Operators ---------------------------------------------------------------------------------- */

/* An operator's number, PMPS_OP_* of paddlemps_ops.h. Numbers are never reused. */
typedef uint32_t pmps_op;

/* Finds an operator by name; PMPS_NOT_FOUND if there is none. */
pmps_error *pmps_op_find(const char *name, pmps_op *op);

/* "softmax(x, axis: int = -1) -> tensor", and "softmax". NULL for an unknown number. Borrowed for ever. */
const char *pmps_op_signature(pmps_op op);
const char *pmps_op_name(pmps_op op);

/* Kinds of operands. A scalar is weak: beside a tensor it takes the tensor's dtype, by Paddle's rules. */
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

/* Kinds of attributes. Attributes are given by name; absent ones have the default in the operator's signature. */
typedef enum pmps_attr_kind {
  PMPS_ATTR_NONE = 0, /* absent */
  PMPS_ATTR_BOOL = 1,
  PMPS_ATTR_INT = 2,
  PMPS_ATTR_FLOAT = 3,
  PMPS_ATTR_INTS = 4, /* count numbers at ints (copied) */
  PMPS_ATTR_DTYPE = 5,
  PMPS_ATTR_STRING = 6,  /* count bytes of UTF-8 at string (copied), without a terminator */
  PMPS_ATTR_FLOATS = 7,  /* count numbers at floats (copied) */
  PMPS_ATTR_STRINGS = 8, /* count zero-terminated texts of UTF-8 at strings (copied) */
  PMPS_ATTR_TENSOR = 9,
  PMPS_ATTR_GRAPH = 10 /* reserved: PMPS_UNSUPPORTED */
} pmps_attr_kind;

typedef struct pmps_attr {
  const char *name; /* zero-terminated; borrowed for the call */
  uint32_t kind;
  uint32_t reserved; /* 0 */
  union {
    int64_t i; /* PMPS_ATTR_BOOL, PMPS_ATTR_INT, PMPS_ATTR_DTYPE */
    double f;  /* PMPS_ATTR_FLOAT */
    const int64_t *ints;
    const double *floats;
    const char *string;
    const char *const *strings;
    const pmps_tensor *tensor; /* borrowed for the call */
  } value;
  int64_t count; /* elements at the pointer; ignored for kinds without one */
} pmps_attr;

/* Runs an operator on this thread's stream of the device where its tensors are; CPU tensors of rank 0 may be mixed
 * with tensors of another device. Operators without tensor operands run on the place given to pmps_op_call_on.
 * *count is the size of outputs, and becomes the number of tensors written to it. Each of them is owned. */
pmps_error *pmps_op_call(pmps_op op, const pmps_arg *args, size_t arg_count, const pmps_attr *attrs,
                         size_t attr_count, pmps_tensor **outputs, size_t *count);
pmps_error *pmps_op_call_on(const pmps_place *place, pmps_op op, const pmps_arg *args, size_t arg_count,
                            const pmps_attr *attrs, size_t attr_count, pmps_tensor **outputs, size_t *count);

/* As pmps_op_call, for operators with one output, which is written to an existing tensor of the result's shape. The
 * result is cast to its dtype. It may share memory with the inputs. */
pmps_error *pmps_op_call_into(pmps_op op, const pmps_arg *args, size_t arg_count, const pmps_attr *attrs,
                              size_t attr_count, pmps_tensor *output);

/* ---- Programs -----------------------------------------------------------------------------------
 *
 * Many operators as one call. Calls add operators to a graph and compute nothing. A program is a graph that is
 * compiled for one place and can be run any number of times. Its results equal those of the same calls of pmps_op_call,
 * random numbers included, except for roundings where constant factors are folded into weights (docs/programs.md).
 */

/* Operators and their inputs. One thread at a time may use a graph: a call is PMPS_INVALID_ARGUMENT while another
 * thread is in one. */
typedef struct pmps_graph pmps_graph;

/* A compiled graph. Threads may share a program. */
typedef struct pmps_program pmps_program;

/* A value of one graph: an input, a constant, a scalar, or the result of an operator. Always positive; not owned. A
 * value of another graph is PMPS_INVALID_ARGUMENT. */
typedef int64_t pmps_value;

/* An empty graph. Owned. */
pmps_error *pmps_graph_new(pmps_graph **graph);
void pmps_graph_free(pmps_graph *graph);

/* A symbol: a negative number that stands in dims for a size that is only known when the program runs. Within a run, all
 * dimensions with the same symbol have the same size. Results whose sizes depend on a symbol have symbols too. */
pmps_error *pmps_graph_add_symbol(pmps_graph *graph, int64_t *dim);

/* The next input of the program. dims (copied) are sizes and symbols of the graph. */
pmps_error *pmps_graph_add_input(pmps_graph *graph, int32_t dtype, int32_t rank, const int64_t *dims,
                                 pmps_value *value);

/* A tensor (copied) that is part of the program. It may be on any place. Waits for the work that it depends on. */
pmps_error *pmps_graph_add_constant(pmps_graph *graph, const pmps_tensor *tensor, pmps_value *value);

/* A scalar, as weak as an operand of pmps_op_call: PMPS_ARG_BOOL, _INT or _FLOAT. PMPS_ARG_NONE makes a value
 * for an optional operand that is not given. */
pmps_error *pmps_graph_add_scalar(pmps_graph *graph, const pmps_arg *scalar, pmps_value *value);

/* Adds an operator. Dtypes and shapes of its results are inferred at once, with the errors of pmps_op_call. Optional
 * operands at the end may be left out. *count is the size of outputs, and becomes the number of values written to
 * it. Attributes that are tensors are PMPS_UNSUPPORTED. After a failure the graph is unchanged. */
pmps_error *pmps_graph_call(pmps_graph *graph, pmps_op op, const pmps_value *inputs, size_t input_count,
                            const pmps_attr *attrs, size_t attr_count, pmps_value *outputs, size_t *count);

typedef struct pmps_value_info {
  size_t struct_size; /* in: sizeof(pmps_value_info) */
  int32_t dtype;      /* of a scalar: its dtype beside no tensor; 0 for an operand that is not given */
  int32_t rank;
  int64_t dims[PMPS_MAX_RANK]; /* sizes and symbols */
} pmps_value_info;

pmps_error *pmps_graph_get_value_info(pmps_graph *graph, pmps_value value, pmps_value_info *info);

/* The graph as text for people, with lines like `%2 float32[s0, 3] = add(%0, %1)`. The format may change. Owned: free
 * it with pmps_text_free. */
pmps_error *pmps_graph_to_text(pmps_graph *graph, char **text);

/* A program that computes outputs: count tensors of the graph, at least one. Afterwards the graph can only be freed; the
 * program does not need it. After a failure the graph is unchanged. Nothing is compiled yet. Owned. */
pmps_error *pmps_program_new(const pmps_place *place, pmps_graph *graph, const pmps_value *outputs, size_t count,
                             pmps_program **program);

/* Runs that have been submitted still finish. */
void pmps_program_free(pmps_program *program);

/* Compiles the program for inputs of these sizes. Otherwise the first run with them does, and takes longer. dims[i] are
 * the sizes of input i, or NULL if it has no symbols, and ranks[i] is how many they are; count is the number of inputs.
 * PMPS_INVALID_ARGUMENT for a rank that is not the input's. The result stays in the cache of the device (see pmps_program_stats) until it is evicted. PMPS_UNSUPPORTED if an operator has no kernel, or has
 * results whose sizes depend on data. */
pmps_error *pmps_program_prepare(pmps_program *program, const int64_t *const *dims, const int32_t *ranks,
                                 size_t count);

/* Runs the program on this thread's stream of its place. The inputs must be on that place, with the dtypes of the graph
 * and sizes that match its dims; they may have any strides. *count is the size of outputs, and becomes the number
 * of tensors written to it: new, contiguous tensors, none of which shares memory with another or with an input.
 * Failures of a device are returned as with pmps_op_call: at once on the CPU, elsewhere by the function that reads
 * a result. Each output is owned. */
pmps_error *pmps_program_run(pmps_program *program, pmps_tensor *const *inputs, size_t input_count,
                             pmps_tensor **outputs, size_t *count);

/* As pmps_program_run, with outputs that exist: as many as the program has, on its place, with the shapes of the results, which
 * are cast to their dtypes. An output that is contiguous, begins at a multiple of 16 bytes, has the result's dtype and shares
 * memory with no other tensor of the run is computed in place. Others are copied to; of outputs that overlap, the last one wins.
 * An error of the arguments leaves the outputs as they are, a failure of the device leaves their elements undefined.
 * PMPS_UNSUPPORTED for a program whose outputs are lists. */
pmps_error *pmps_program_run_into(pmps_program *program, pmps_tensor *const *inputs, size_t input_count,
                                  pmps_tensor *const *outputs, size_t output_count);

/* A run of a program that its caller does not wait for. Threads may share a run: any of them may wait for it or cancel it. */
typedef struct pmps_run pmps_run;

/* Begins to run the program as pmps_program_run does, on this thread's stream, and returns at once: a thread of the library
 * compiles if it has to, and waits for the device. For each place the library makes as many runs at a time as the process may
 * use processors; further ones wait in the order of their start. Program, inputs and stream may be freed at once, the library
 * keeps them until the run has ended. Until then no call may write into an input. What is wrong with the inputs is
 * the error of pmps_run_wait. Owned. */
pmps_error *pmps_program_start(pmps_program *program, pmps_tensor *const *inputs, size_t input_count, pmps_run **run);

/* Whether the run has ended: with outputs, a failure, or because it was cancelled. */
pmps_error *pmps_run_query(const pmps_run *run, bool *ended);

/* Waits in slices for the end of the run. It does not return the failure of the run. */
pmps_error *pmps_run_wait_for(const pmps_run *run, int64_t timeout_ms, uint64_t *wait);

/* Waits for the end of the run and returns its outputs, which have been computed then; otherwise as pmps_program_run. Each call
 * makes handles of its own of the same tensors. PMPS_CANCELLED if the run was cancelled; it has no outputs then. Each output
 * is owned. */
pmps_error *pmps_run_wait(const pmps_run *run, pmps_tensor **outputs, size_t *count);

/* Cancels the run, and does not wait: it ends at once if it has not begun, else before its next step. A step or a compilation
 * under way is completed, and so is what the GPU has been given. A run that was cancelled writes into no tensor. It has no
 * effect when the last step has begun: the run then ends as usual. */
pmps_error *pmps_run_cancel(pmps_run *run);

/* Cancels the run if it has not ended, and frees its outputs, of which handles from pmps_run_wait stay valid. It does not wait. */
void pmps_run_free(pmps_run *run);

/* The fields from steps on are of the sizes that were compiled last; 0 before the first compilation. */
typedef struct pmps_program_info {
  size_t struct_size;     /* in: sizeof(pmps_program_info) */
  int64_t inputs, outputs;
  int64_t operators;      /* calls in the graph */
  int64_t compilations;   /* sets of sizes that were compiled; after an eviction one counts again */
  int64_t constant_bytes; /* on the device, for all sizes together */
  int64_t steps;          /* kernels to run: operators, casts, copies */
  int64_t cpu_steps;      /* those of them that the CPU runs, because the device has no kernel */
  int64_t parts;          /* submissions to a device for one run: 1 if cpu_steps is 0 */
  int64_t scratch_bytes;  /* for results that only other steps use */
  int64_t groups;         /* sequences of elementwise steps that the device computes block by block, in its caches */
  int64_t grouped_steps;  /* steps that are in groups; results that only their group uses take no scratch_bytes */
  int64_t captured;       /* tensors that a traced program reads besides its inputs */
  bool outdated;          /* since it was traced, one of them began or ceased to ask for gradients, or what was read has changed */
} pmps_program_info;

pmps_error *pmps_program_get_info(const pmps_program *program, pmps_program_info *info);

/* The program as readable text: its graph or, with plan, the last compiled plan: steps, groups, memory, and which steps run on
 * the CPU (empty before the first compilation). The format may change. Owned: free it with pmps_text_free. */
pmps_error *pmps_program_to_text(const pmps_program *program, bool plan, char **text);

/* ---- Programs in files ----------------------------------------------------------------------------
 *
 * A program can be loaded from an ONNX model, or from a file that pmps_program_save has written, also by paddle.jit.save of
 * Python: examples/c/saved.c runs one. Dynamic sizes of a model are taken from the inputs of a run; each set of sizes is compiled
 * once. docs/onnx.md lists what is supported.
 *
 * An input of a model may be a sequence of tensors, or an optional. If one is, a run of the program gets a form as its first
 * tensor: int64, with a number for each input, which is how many tensors it is made of: 1 for a tensor, the length of a
 * sequence, -1 for an optional without a value. All tensors of all inputs follow. Likewise, if an output is a sequence or an
 * optional, a run returns the form of the outputs and then all tensors, at most 4097. Room for too few is
 * PMPS_INVALID_ARGUMENT. pmps_program_get_port counts inputs and outputs as the file does, and a program that takes a form
 * cannot be prepared.
 */

/* Writes the program to a file, with the current elements of captured tensors, and without gradients. The file has a version,
 * the graph as text, and the constants. It is written atomically. An ONNX model is written for the sizes for which it was
 * compiled last. PMPS_UNSUPPORTED for a program that writes into tensors, and for a model that computes strings, or sizes from
 * elements. */
pmps_error *pmps_program_save(const pmps_program *program, const char *path);

/* Loads a program from the file path (UTF-8) or, if path is NULL, from the size bytes at data (copied). The format is detected.
 * The file is mapped until the program is freed, and must not change meanwhile; external weights are looked up in its
 * folder. PMPS_UNSUPPORTED names every operator that is not supported. Operands that a node does not support are an error of
 * pmps_program_prepare or of the first run. Owned. */
pmps_error *pmps_program_load(const pmps_place *place, const char *path, const void *data, size_t size,
                              pmps_program **program);

/* An input or output of a program, in the order of pmps_program_run. In info, unknown sizes are -1, and so is the rank if the
 * file does not state it. name is its name in the file, and type the declared type, such as `float[batch, 3, ?, ?]`; both are
 * empty for programs that were not loaded from a file, and may be NULL. Owned: free them with pmps_text_free.
 *
 * A file may declare elements that tensors lack. Tensors of the dtype in info then have their bits: signed integers those of
 * uint16, uint32 and uint64; uint8 those of 8-bit floats, and in the low bits those of elements of 4 and 2 bits, one in a byte.
 * The dtype of strings is PMPS_STRING: see pmps_tensor_from_strings. */
pmps_error *pmps_program_get_port(const pmps_program *program, bool output, size_t index, pmps_value_info *info,
                                  char **name, char **type);

/* The description of a program in its ONNX file, as a JSON object: producer_name, producer_version, domain, model_version,
 * description, graph_name, graph_description; metadata, the exporter's texts by key; opsets, the opset versions by domain;
 * inputs, outputs, and replaceable, the inputs that have values in the file, which a run cannot replace. Entries of these
 * three are objects with name, elem (such as "float") and shape: null if the file does not state it, else a list of sizes,
 * names of sizes, and nulls. Later versions may add fields. PMPS_UNSUPPORTED for programs that were not loaded from an ONNX
 * file. Owned: free it with pmps_text_free. */
pmps_error *pmps_program_describe(const pmps_program *program, char **json);

/* ---- Traces ---------------------------------------------------------------------------------------
 *
 * A program recorded from calls instead of a graph. While a thread traces, its operator calls (also those of the fast family,
 * indexing and backward passes) compute nothing. They become operators of a program, and their results are tensors with a
 * dtype and a shape, but without elements. Reading elements is PMPS_TRACED, and so are operators whose result sizes depend on
 * elements.
 *
 * A tensor with elements that a traced call reads is captured: each run reads its current elements. A traced call that writes
 * into it, or into an input, changes nothing during tracing; each run writes the final value into it. A tensor that the thread
 * makes by pmps_tensor_from_host while it traces is a constant: each run begins with its elements, and writes nothing into it.
 * Elements of a captured tensor that are read by pmps_tensor_read become part of the program, also if the tensor changes later; to
 * read them after a traced write is PMPS_TRACED. Views of a traced tensor share its elements: a traced write into one of them
 * changes the others.
 */

typedef struct pmps_trace pmps_trace;

/* Begins to trace on this thread, for a program on a place. inputs has room for count tensors, which stand for the arguments
 * of the program. They have the dtypes and shapes of the examples, and require gradients if those do. A thread traces one
 * function at a time. The trace and each of the inputs are owned. */
pmps_error *pmps_trace_begin(const pmps_place *place, pmps_tensor *const *examples, size_t count, pmps_tensor **inputs,
                             pmps_trace **trace);

/* Ends a trace and frees it. A failure frees it too, unless it is PMPS_INVALID_HANDLE or the trace belongs to another thread.
 * The program returns outputs, which are tensors of the trace or captured ones. Owned. */
pmps_error *pmps_trace_end(pmps_trace *trace, pmps_tensor *const *outputs, size_t count, pmps_program **program);

/* Pauses or resumes a trace. While it is paused, calls of this thread run normally, and their results are captured if traced
 * calls read them. */
pmps_error *pmps_trace_pause(pmps_trace *trace, bool paused);

/* Ends a trace without a program, and frees it. The thread that began it calls this. */
void pmps_trace_abort(pmps_trace *trace);

/* A program for all sizes, made of two that were traced of one function for arguments of other sizes. Where the sizes of the
 * two differ, it takes any; sizes that are equal in both have to be equal in a run. PMPS_UNSUPPORTED names the first call
 * that is not the same for both, or that has a number made of sizes where it cannot say it for all. Results have gradients if
 * those of both have; a hook, or a function of the caller's with a gradient, is PMPS_UNSUPPORTED then. Conditions on sizes
 * that both traces have decided alike are not found, and neither are numbers that are alike in both: 8 / 2 and 9 / 2. Take
 * sizes far from each other, such as primes, and compare the text with that of further traces. Owned. */
pmps_error *pmps_program_unify(const pmps_program *program, const pmps_program *other, pmps_program **unified);

/* The graph so far, as pmps_graph_to_text. Owned: free it with pmps_text_free. */
pmps_error *pmps_trace_to_text(const pmps_trace *trace, char **text);

/* A tensor that a traced program captured; index is below pmps_program_info.captured. Owned. */
pmps_error *pmps_program_get_captured(const pmps_program *program, size_t index, pmps_tensor **tensor);

/* ---- Shaders --------------------------------------------------------------------------------------
 *
 * Your own kernels, in the Metal shading language. They run on the Metal device, in the order of the stream like
 * operators. On other devices these functions return PMPS_UNSUPPORTED.
 */

/* Compiled source. Threads may share a library. */
typedef struct pmps_library pmps_library;

/* A function of a library. Threads may share a kernel. */
typedef struct pmps_kernel pmps_kernel;

/* Compiles source with safe math: NaN and infinity are respected. If it does not compile, PMPS_SYNTAX has the messages
 * of the compiler, `program_source:LINE:COLUMN: error: ...`. Owned. */
pmps_error *pmps_library_new(const pmps_place *place, const char *source, pmps_library **library);

/* Reads a .metallib file, which Apple's compiler makes. Owned. */
pmps_error *pmps_library_load(const pmps_place *place, const char *path, pmps_library **library);

void pmps_library_free(pmps_library *library); /* its kernels stay valid */

/* The names of the functions, one per line. Owned: free them with pmps_text_free. */
pmps_error *pmps_library_get_names(const pmps_library *library, char **names);

/* Compiles Triton IR, size bytes of text as Triton prints it, to source for pmps_library_new. metadata is one line of
 * JSON: the kernel's name, its arguments, num_warps, threads of a threadgroup, bytes of threadgroup memory. Argument i of
 * the Triton function is [[buffer(i)]]; a program of the grid is a threadgroup, so that a grid of (x, y, z) programs is
 * a dispatch of (x * threads, y, z) threads in groups of (threads, 1, 1). options is JSON, NULL for none: num_warps (4),
 * allow_f64_as_f32, max_threads, shared_memory, file (the name that errors give), explain (true: source is a text that
 * describes layouts, threadgroup memory, barriers and accesses). PMPS_INVALID_ARGUMENT for text that is no Triton IR, as
 * `file:LINE:COLUMN: ...`; PMPS_UNSUPPORTED for what Metal cannot do, with operation, type and the program's line, and as
 * `[triton] out of resource: NAME, required: N, limit: M` for a kernel that needs too much. Works without a device. Owned:
 * free both texts with pmps_text_free. */
pmps_error *pmps_triton_compile(const void *ttir, size_t size, const char *options, char **source, char **metadata);

/* A kernel by its name; PMPS_NOT_FOUND if there is none. Its arguments are buffers. Threadgroup memory must be declared
 * in the kernel; a texture among the arguments is PMPS_UNSUPPORTED. Owned. */
pmps_error *pmps_library_get_kernel(const pmps_library *library, const char *name, pmps_kernel **kernel);

void pmps_kernel_free(pmps_kernel *kernel); /* runs that were submitted still finish */

typedef struct pmps_kernel_info {
  size_t struct_size; /* in: sizeof(pmps_kernel_info) */
  uint64_t max_threads_per_threadgroup;
  uint64_t thread_execution_width;    /* threads that run in step */
  uint64_t static_threadgroup_memory; /* bytes that the kernel declares */
  uint64_t argument_count;            /* one more than the highest position of an argument */
} pmps_kernel_info;

pmps_error *pmps_kernel_get_info(const pmps_kernel *kernel, pmps_kernel_info *info);

/* An argument: a tensor, or size bytes at data (copied), which the kernel may only read. */
typedef struct pmps_kernel_arg {
  const pmps_tensor *tensor; /* borrowed for the call; NULL: the argument is the bytes */
  const void *data;          /* NULL beside a tensor */
  size_t size;               /* 0 beside a tensor */
} pmps_kernel_arg;

/* Runs a kernel on this thread's stream; argument i is [[buffer(i)]] of the kernel. For a tensor the kernel gets the
 * address of its first element; it must follow the strides itself. A CPU tensor of rank 0 is passed as bytes. All
 * bytes together are at most 4096. threads are the three sizes of the grid (NULL: one thread per element of the
 * first tensor), group those of a threadgroup (NULL: chosen by the library).
 *
 * Arguments that the kernel declares const or constant are read, all others count as written: work on other streams
 * waits accordingly. An access outside of the tensors is undefined. If the GPU detects one, all calls in the same
 * command buffer fail with PMPS_DEVICE_FAILED. */
pmps_error *pmps_kernel_run(pmps_kernel *kernel, const pmps_kernel_arg *args, size_t count,
                            const uint64_t *threads, const uint64_t *group);

/* Runs a kernel as pmps_kernel_run does, with one more buffer after args, for reports. It is zero at first; tritonlang/report
 * describes its format. reports is the field "reports" of the metadata of a compiled Triton kernel, as JSON: what the kernel
 * may report. When the kernel has finished, its prints are written to standard output. The first assertion that did not hold,
 * or the first access to an address that is in no tensor, is an error, PMPS_DEVICE_FAILED, which is returned once, by the
 * next wait for the stream or for a tensor that the kernel may write. Tensors stay valid.
 *
 * If reports says that the kernel follows addresses of the CPU, it gets a table of tensors before the buffer for reports.
 * It may then read and write all tensors of its device whose address pmps_tensor_map or pmps_tensor_get_metal has returned,
 * or that share memory; the call counts as a write to them. */
pmps_error *pmps_kernel_run_reporting(pmps_kernel *kernel, const pmps_kernel_arg *args, size_t count,
                                      const uint64_t *threads, const uint64_t *group, const char *reports);

/* ---- Metal ----------------------------------------------------------------------------------------
 *
 * The Metal objects of the library, for programs that use Metal themselves. PMPS_UNSUPPORTED on other devices. The
 * library does not know of commands that you encode: until your command buffer has completed, keep its tensors
 * alive, do not read or write them on the CPU, and use them on no stream other than the one whose queue it was
 * committed to.
 */

/* Which of the Apple classes and methods that the library uses exist in the running system, as JSON:
 * {"macos": "15.2", "architecture": "applegpu_g13s", "findings": [{"class": "MTLHeap", "selector": "...",
 * "since": "", "optional": false, "found": true, "encoding": "..."}, ...],
 * "constants": [{"name": "MTLHeapTypePlacement", "value": 1, "since": "10.15"}, ...]}. selector is "" for a
 * class. since is the first macOS that has it, "" if all do that the library supports. The call creates objects, and
 * runs nothing on the GPU. Owned: free it with pmps_text_free. */
pmps_error *pmps_device_census(const pmps_place *place, char **json);

/* The id<MTLDevice>. Borrowed for ever. */
pmps_error *pmps_device_get_metal(const pmps_place *place, void **device);

/* The id<MTLCommandQueue> of a stream. Borrowed until the stream is freed, or until its work fails on the GPU, which
 * replaces the queue. The call waits for all work that has been submitted to the stream. Metal does not track hazards in
 * the memory of tensors: before you submit work to the stream that touches what your command buffers touch, wait until
 * they have completed. After submitting more work to the stream, call it again. */
pmps_error *pmps_stream_get_metal(pmps_stream *stream, void **queue);

/* The id<MTLBuffer> of a tensor, and the offset of its first element in bytes. Borrowed until the tensor is freed. The
 * buffer holds other tensors too. The call does not wait for work: call pmps_stream_get_metal after it. */
pmps_error *pmps_tensor_get_metal(const pmps_tensor *tensor, void **buffer, size_t *offset);

/* Whether this process may capture (it was started with MTL_CAPTURE_ENABLED=1) and whether it is capturing. Both are
 * false on other devices. */
pmps_error *pmps_capture_get_state(const pmps_place *place, bool *enabled, bool *capturing);

/* Starts to record the commands for the device in a trace document for Xcode. path (copied) ends in .gputrace and must
 * not exist. Waits for the work so far. */
pmps_error *pmps_capture_begin(const pmps_place *place, const char *path);

/* Waits for the work so far and ends the document. */
pmps_error *pmps_capture_end(const pmps_place *place);

/* ---- Profiling ------------------------------------------------------------------------------------
 *
 * A recording of what the process does: operator calls, program runs, compilations, device work, copies, waits, custom spans
 * and, if requested, memory use. There is one recording at a time, for all threads. It keeps the latest events, up to a
 * limit, and counts those that were dropped. While nothing is recorded, a call costs one additional atomic load.
 * docs/profiler.md describes the output.
 */

enum {
  PMPS_PROFILE_SHAPES = 1, /* dtypes and shapes of the operands of calls */
  PMPS_PROFILE_MEMORY = 2  /* allocated and reserved bytes at each allocation and each free */
};

/* Begins a recording of at most max_events events, 0 for 262144; PMPS_INVALID_ARGUMENT if one is under way. flags are
 * PMPS_PROFILE_ constants. */
pmps_error *pmps_profile_start(uint32_t flags, int64_t max_events);

/* Waits for the work submitted so far and ends the recording; PMPS_INVALID_ARGUMENT if there is none. json, which may be NULL,
 * gets it in the Trace Event Format, which Perfetto opens. Failures of the work are not reported here. Owned: free it
 * with pmps_text_free. */
pmps_error *pmps_profile_stop(char **json);

/* The start of a span on this thread; 0 while nothing is recorded. It is a time, so there is nothing to free if the span is
 * not recorded. */
uint64_t pmps_profile_begin(void);

/* Records a span of this thread from begun, which pmps_profile_begin returned, until now. category and name are UTF-8, of
 * which 1024 bytes are kept. Does nothing if begun is 0, if its recording has ended, or if a text is NULL. */
void pmps_profile_end(uint64_t begun, const char *category, const char *name);

/* ---- Log ------------------------------------------------------------------------------------------ */

/* level: 0 error, 1 warning, 2 information, 3 debugging. The message is borrowed for the call. Calls are made one at a
 * time by a thread of the library, which holds no lock, so that the callback may wait for locks of the program. */
typedef void (*pmps_log_callback)(int32_t level, const char *message, void *user);

/* Sets where messages go; NULL: standard error. Messages above level (default: MPS_VERBOSE in the environment, else 1)
 * are dropped; a negative level keeps the present one. Messages that are queued still reach the previous callback:
 * it and its user must stay valid. */
void pmps_log_set(pmps_log_callback callback, void *user, int32_t level);

/* The number of live objects that callers own, errors included: for leak tests. */
int64_t pmps_live_handles(void);

/* ---- The fast family -------------------------------------------------------------------------------
 *
 * For bindings in which every nanosecond counts. Handles and numbers are passed as 64-bit integers. A call returns
 * the handle of its result, owned, or 0 after a failure, for which see pmps_fast_error. Each call first frees the
 * tensor whose handle is release, unless that is 0: a binding can so free a tensor without a call of its own. Work
 * is queued on devices with queues; on the CPU it runs before the call returns, so a caller that holds a lock
 * should use pmps_op_call for large work.
 *
 * A call that would have to wait, because too much work is in flight, memory is still being written or the device
 * has to compile a program, fails with PMPS_BUSY instead. Call pmps_fast_wait, then repeat the call, with release 0.
 */

/* The error of this thread's last fast call that returned 0, once. Owned; NULL if there is none. */
pmps_error *pmps_fast_error(void);

uint64_t pmps_fast_unary(uint64_t op, uint64_t x, uint64_t release);
uint64_t pmps_fast_binary(uint64_t op, uint64_t x, uint64_t y, uint64_t release);

/* An operator on a tensor and a scalar: kind is PMPS_ARG_BOOL, _INT or _FLOAT, plus 16 if the scalar
 * is the first operand; bits are those of the int64_t or the double. */
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

/* Waits for at most timeout_ms for the cause of this thread's last PMPS_BUSY; 1 if the call may be repeated, else
 * 0. */
uint64_t pmps_fast_wait(uint64_t timeout_ms);

/* what is a stream, an event, or a place (kind << 32 | index). 1 if its synchronize function would not wait and would
 * return no failure, else 0. */
uint64_t pmps_fast_idle(uint64_t what);

/* A view by basic indexing. */
uint64_t pmps_fast_index(uint64_t x, const pmps_index *items, uint64_t count, uint64_t release);

/* Frees count tensors; none if count is above 65,536, the limit of every list that a caller passes. */
void pmps_fast_release(const uint64_t *tensors, uint64_t count);

/* ---- Built-in functions for CPython ---------------------------------------------------------------------
 *
 * The fast family, and operators in general, as built-in functions of CPython: they take and return Python objects,
 * without a conversion by Python code. The library does not link to Python: it gets the addresses of the functions
 * that it needs. These and the calling conventions belong to Python's stable ABI, so one library works with every
 * CPython from 3.9 on, with or without the global interpreter lock.
 *
 * This section is for the Python package of the same version and not for other programs. Its functions are called
 * with the interpreter's lock (or an attached thread state) held, from any thread.
 */

/* Tensors of an interpreter; set before the first call. Slots are read and written by the offsets, in bytes from the start of an
 * object: that of the address of its class, in an object of any class, and those of a tensor's slots. All are 0 where the
 * interpreter has no global lock or they are not known; then slots are attributes, by their names. */
typedef struct pmps_python_tensor {
  void *type;      /* the class */
  void *parameter; /* the subclass of parameters, which adds no slots; NULL: none is known yet */
  intptr_t type_offset, handle_offset, shape_offset, meta_offset;
  intptr_t link_offset; /* where a link keeps what it holds: see pmps_python_entries.held. Always known */
} pmps_python_tensor;

/* What the library needs of an interpreter: functions of its C API by their names, and objects (all borrowed for
 * ever). PyObject is void here. */
typedef struct pmps_python_api {
  size_t struct_size; /* in: sizeof(pmps_python_api) */

  void (*Py_IncRef)(void *object);
  void (*Py_DecRef)(void *object);
  void *(*PyObject_Type)(void *object);
  void *(*PyObject_GetAttr)(void *object, void *name);
  int (*PyObject_SetAttr)(void *object, void *name, void *value);
  void *(*PyObject_GetItem)(void *object, void *key);
  void *(*PyObject_CallFunctionObjArgs)(void *function, ...);
  intptr_t (*PySequence_Size)(void *sequence);
  void *(*PySequence_GetItem)(void *sequence, intptr_t index);
  void *(*PyList_New)(intptr_t size);
  int (*PyList_SetItem)(void *list, intptr_t index, void *item);
  void *(*PyTuple_New)(intptr_t size);
  int (*PyTuple_SetItem)(void *tuple, intptr_t index, void *item);
  void *(*PyBytes_FromStringAndSize)(const char *bytes, intptr_t size);
  char *(*PyBytes_AsString)(void *bytes);
  const char *(*PyUnicode_AsUTF8AndSize)(void *text, intptr_t *size);
  long long (*PyLong_AsLongLong)(void *number);
  unsigned long long (*PyLong_AsUnsignedLongLong)(void *number);
  void *(*PyLong_FromLongLong)(long long number);
  void *(*PyLong_FromUnsignedLongLong)(unsigned long long number);
  double (*PyFloat_AsDouble)(void *number);
  void *(*PyErr_Occurred)(void);
  void (*PyErr_Clear)(void);
  void *(*PyEval_SaveThread)(void);
  void (*PyEval_RestoreThread)(void *state);
  void *(*PyType_GetSlot)(void *type, int slot);
  int (*PyCapsule_IsValid)(void *capsule, const char *name);
  void *(*PyCapsule_GetPointer)(void *capsule, const char *name);

  void *none, *yes, *no, *not_implemented, *ellipsis;          /* None, True, False, NotImplemented, Ellipsis */
  void *bool_type, *int_type, *float_type, *tuple_type, *list_type, *str_type, *slice_type;
  void *dtype_type;                                            /* the class of dtypes */
  const pmps_python_tensor *tensor;
  void *name_handle, *name_shape, *name_meta;                  /* names of a tensor's slots */
  void *name_number, *name_dims;                               /* of a dtype's number and of a Meta's shape */
  void *name_latest, *name_bound, *name_otherwise;             /* see pmps_python_entries.traced */
  void *name_start, *name_stop, *name_step;                    /* of the bounds of a slice */
  void *traces;    /* a list: while it has items, traced functions are called by Python code */
  void *metas;     /* a dict of Meta by the bytes that describe it: see pmps_python_entries.describe */
  void *dtypes;    /* a dict of dtypes by name */
  void *describe;  /* makes the Meta that metas lacks: describe(bytes) */
  void *otherwise; /* called for a call that is not made here: otherwise(function, arguments, reason), where function
                      is the bytes object below and arguments a tuple */
} pmps_python_api;

/* Why `otherwise` is called. */
typedef enum pmps_python_reason {
  PMPS_PYTHON_UNUSUAL = 0, /* an argument has a type that this library does not read */
  PMPS_PYTHON_FAILED = 1,  /* the call has failed: see pmps_fast_error */
  PMPS_PYTHON_HEAVY = 2,   /* the call takes many milliseconds on the CPU and has not been made */
  PMPS_PYTHON_OTHER = 3    /* a program: it was traced for tensors of other dtypes or shapes, or for other gradients */
} pmps_python_reason;

/* Bits of an operand of a built-in operator: what it accepts beside a tensor. */
enum {
  PMPS_PYTHON_SCALAR = 1,   /* a number */
  PMPS_PYTHON_OPTIONAL = 2, /* None */
  PMPS_PYTHON_VARIADIC = 4  /* instead of a tensor: a list or tuple of them */
};

/* The argument before the operands of a built-in operator. */
typedef enum pmps_python_lead {
  PMPS_PYTHON_OPERANDS = 0, /* nothing */
  PMPS_PYTHON_PLACE = 1,    /* the place of the result: kind << 32 | index */
  PMPS_PYTHON_OUTPUT = 2    /* the tensor to write the result to; the function returns None */
} pmps_python_lead;

/* The bits of the lead of a program. */
enum {
  PMPS_PYTHON_SINGLE = 1,   /* it makes one tensor: the function returns it alone, and not in a list */
  PMPS_PYTHON_RECORDING = 2 /* gradients were recorded when it was traced */
};

/* The start of the bytes object that a built-in function is bound to. A byte for each operand (PMPS_PYTHON_SCALAR...)
 * and one for each attribute (the number of its type in the table of operators, from 1 for bool on) follow. */
typedef struct pmps_python_function {
  const void *context; /* of pmps_python_entries */
  uint64_t number;     /* the operator, the handle of the program, or for `idle` the argument of pmps_fast_idle */
  uint8_t lead;        /* pmps_python_lead */
  uint8_t operands, attributes;
  uint8_t reserved[5]; /* 0 */
} pmps_python_function;

/* The functions, for a PyMethodDef. Only `call`, `program` and `traced` release the interpreter's lock, for what takes more
 * than a few microseconds. Functions that make a tensor first free one that `free` has deferred. */
typedef struct pmps_python_entries {
  const void *context; /* for pmps_python_function */

  /* METH_FASTCALL, bound to bytes. unary(handle, shape), binary(handle, handle, shape) and
   * scalar(handle, number, left, shape) make a tensor, of the given shape. */
  void *unary, *binary, *scalar;
  void *call;     /* an operator: operands, then attributes; trailing attributes may be left out */
  void *program;  /* a traced program: its inputs; returns a list of tensors. The caller keeps the program alive */
  void *idle;     /* idle(): pmps_fast_idle as a bool */
  void *describe; /* describe(handle): the Meta of a tensor. Its bytes are dtype, rank, kind and index of the
                     place (int32_t), dims and strides (int64_t, rank of each) */
  void *flush;    /* flush(): frees all deferred tensors; returns their number */
  void *index;    /* index(tensor, key): a view, for a key of ints, slices of ints, None and an ellipsis; None for others. With 1
                     as the number of the function, index(tensor, dtype): pmps_tensor_view, for a dtype or its name */

  void *free; /* METH_NOARGS, a method: frees a tensor; defers it if it has a shape in name_shape */
  void *traced; /* METH_FASTCALL | METH_KEYWORDS, a method: calls a traced function. Attribute name_latest of self is an object
                   that keeps a program alive, whose attribute name_bound is what `program` is bound to for it, or None.
                   name_otherwise(values, names) makes the calls that this program is not for */

  void *release; /* the destructor of a capsule: calls the deleter of the DLPack structure in it, unless another library
                    has taken that */

  /* Python's collector does not see what the library holds: hooks, and functions with gradients of their own. When it starts, the
   * package asks for that, gives it to tensors and programs as references, and takes it back when the collector has ended.
   *
   * uint64_t *held(caller, tensors, count, programs, program_count): caller is the deleter of the functions, as a number. The answer
   * is for each tensor, then for each program, the number of the group that it holds, from 1, or 0; then how many groups there are,
   * and of each how many functions it holds, their `user`, how many groups it holds, and their numbers from 0. NULL: there is
   * nothing, another interpreter is collecting, or there is no memory. Otherwise collected(answer) ends it.
   *
   * traverse is the tp_traverse of a link, an object that has the references of a tensor in a slot. It shows them to the collector
   * unless a tensor was computed since: that would hold them too. */
  void *held, *collected, *traverse;
} pmps_python_entries;

/* Fills in *entries for an interpreter, whose lock the caller holds; *api is copied. false if api->struct_size is of
 * another version, or there is no memory. The entries stay valid for ever, also after a call for another
 * interpreter. */
bool pmps_python_init(const pmps_python_api *api, pmps_python_entries *entries);

#ifdef __cplusplus
}
#endif

#endif /* PADDLEMPS_H */
