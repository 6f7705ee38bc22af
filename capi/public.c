/*
 * public.c - the functions of paddlemps.h, in its order; see there for what they do. Each keeps a
 * forked child out and calls the Go function of its name. Errors are in errors.c.
 */
#include "shim.h"

#include "_cgo_export.h"

/* The bits of a handle, and where Go writes handles. */
#define BITS(handle) ((uint64_t)(uintptr_t)(handle))
#define OUT(handles) ((uint64_t *)(handles))

/* Memory that Go only reads, for a parameter that cannot say so. */
#define IN(memory) ((void *)(memory))

/* Calls a Go function that answers with a fault; in a forked child the answer is PMPS_FORKED. */
#define ENTER(call) ((pmps_error *)(uintptr_t)(in_child ? error_forked() : (call)))

static PER_THREAD current_streams current;

/* NO_GRADIENTS where this thread records none, else 0. */
static PER_THREAD uint64_t recording;

/* How operators run: the stream, and whether they are recorded. CPU streams need none, because they run everything at
 * once. */
#define CURRENT (current.of[PMPS_MPS] | recording)

/* ---- Version */

uint32_t pmps_abi_version(void) { return PMPS_ABI_VERSION; }

const char *pmps_version(void) { return PMPS_VERSION; }

pmps_error *pmps_init(uint32_t abi_version) { return ENTER(goInit(abi_version)); }

/* ---- Element types */

int64_t pmps_dtype_size(int32_t dtype) { return in_child ? 0 : goDtypeSize(dtype); }

const char *pmps_dtype_name(int32_t dtype) { return in_child ? NULL : goDtypeName(dtype); }

/* ---- Devices */

int32_t pmps_device_count(int32_t kind) { return in_child ? 0 : goDeviceCount(kind); }

pmps_error *pmps_device_get_info(const pmps_place *place, pmps_device_info *info) {
  return ENTER(goDeviceGetInfo(place, info));
}

pmps_error *pmps_memory_get_stats(const pmps_place *place, pmps_memory_stats *stats) {
  return ENTER(goMemoryGetStats(place, stats));
}

pmps_error *pmps_memory_reset_peak(const pmps_place *place) { return ENTER(goMemoryResetPeak(place)); }

pmps_error *pmps_memory_empty_cache(const pmps_place *place) { return ENTER(goMemoryEmptyCache(place)); }

pmps_error *pmps_memory_reset_accumulated(const pmps_place *place) { return ENTER(goMemoryResetAccumulated(place)); }

pmps_error *pmps_memory_set_limit(const pmps_place *place, int64_t bytes) {
  return ENTER(goMemorySetLimit(place, bytes));
}

void pmps_memory_on_pressure(pmps_reclaim_callback callback, void *user) {
  if (!in_child) goMemoryOnPressure(callback, BITS(user));
}

pmps_error *pmps_memory_record_history(const pmps_place *place, int64_t max_entries, pmps_stack_callback stack,
                                       void *user) {
  return ENTER(goMemoryRecordHistory(place, max_entries, stack, BITS(user)));
}

pmps_error *pmps_memory_snapshot(const pmps_place *place, char **json) { return ENTER(goMemorySnapshot(place, json)); }

void pmps_text_free(char *text) { free(text); }

pmps_error *pmps_device_synchronize(const pmps_place *place) { return ENTER(goDeviceSynchronize(place)); }

pmps_error *pmps_device_wait_for(const pmps_place *place, int64_t timeout_ms, uint64_t *wait) {
  return ENTER(goDeviceWaitFor(place, timeout_ms, wait));
}

pmps_error *pmps_rng_seed(const pmps_place *place, uint64_t seed) { return ENTER(goRngSeed(place, seed)); }

pmps_error *pmps_rng_get_state(const pmps_place *place, uint64_t *seed, uint64_t *counter) {
  return ENTER(goRngGetState(place, seed, counter));
}

pmps_error *pmps_rng_set_state(const pmps_place *place, uint64_t seed, uint64_t counter) {
  return ENTER(goRngSetState(place, seed, counter));
}

/* ---- Streams and events */

pmps_error *pmps_stream_new(const pmps_place *place, pmps_stream **stream) {
  return ENTER(goStreamNew(place, OUT(stream)));
}

pmps_error *pmps_stream_default(const pmps_place *place, pmps_stream **stream) {
  return ENTER(goStreamDefault(place, OUT(stream)));
}

void pmps_stream_free(pmps_stream *stream) {
  if (!in_child) goStreamFree(BITS(stream));
}

pmps_error *pmps_stream_set_current(pmps_stream *stream) { return ENTER(goStreamSetCurrent(BITS(stream), &current)); }

pmps_error *pmps_stream_get_current(const pmps_place *place, pmps_stream **stream) {
  return ENTER(goStreamGetCurrent(place, &current, OUT(stream)));
}

pmps_error *pmps_stream_get_place(const pmps_stream *stream, pmps_place *place) {
  return ENTER(goStreamGetPlace(BITS(stream), place));
}

pmps_error *pmps_stream_get_id(const pmps_stream *stream, uint64_t *id) {
  return ENTER(goStreamGetId(BITS(stream), id));
}

pmps_error *pmps_stream_query(const pmps_stream *stream, bool *done) {
  return ENTER(goStreamQuery(BITS(stream), done));
}

pmps_error *pmps_stream_synchronize(pmps_stream *stream) { return ENTER(goStreamSynchronize(BITS(stream))); }

pmps_error *pmps_stream_wait_for(pmps_stream *stream, int64_t timeout_ms, uint64_t *wait) {
  return ENTER(goStreamWaitFor(BITS(stream), timeout_ms, wait));
}

pmps_error *pmps_stream_wait_event(pmps_stream *stream, const pmps_event *event) {
  return ENTER(goStreamWaitEvent(BITS(stream), BITS(event)));
}

pmps_error *pmps_event_new(const pmps_place *place, uint32_t flags, pmps_event **event) {
  return ENTER(goEventNew(place, flags, OUT(event)));
}

void pmps_event_free(pmps_event *event) {
  if (!in_child) goEventFree(BITS(event));
}

pmps_error *pmps_event_record(pmps_event *event, pmps_stream *stream) {
  return ENTER(goEventRecord(BITS(event), BITS(stream), &current));
}

pmps_error *pmps_event_query(const pmps_event *event, bool *done) { return ENTER(goEventQuery(BITS(event), done)); }

pmps_error *pmps_event_synchronize(const pmps_event *event) { return ENTER(goEventSynchronize(BITS(event))); }

pmps_error *pmps_event_wait_for(const pmps_event *event, int64_t timeout_ms, uint64_t *wait) {
  return ENTER(goEventWaitFor(BITS(event), timeout_ms, wait));
}

pmps_error *pmps_event_elapsed(const pmps_event *start, const pmps_event *end, double *milliseconds) {
  return ENTER(goEventElapsed(BITS(start), BITS(end), milliseconds));
}

/* ---- Tensors */

pmps_error *pmps_tensor_empty(const pmps_place *place, int32_t dtype, int32_t rank, const int64_t *dims,
                              pmps_tensor **tensor) {
  return ENTER(goTensorEmpty(place, dtype, rank, IN(dims), CURRENT, OUT(tensor)));
}

pmps_error *pmps_tensor_from_host(const pmps_place *place, int32_t dtype, int32_t rank, const int64_t *dims,
                                  const void *data, pmps_tensor **tensor) {
  return ENTER(goTensorFromHost(place, dtype, rank, IN(dims), IN(data), CURRENT, OUT(tensor)));
}

pmps_error *pmps_tensor_from_memory(int32_t dtype, int32_t rank, const int64_t *dims, const int64_t *strides,
                                    void *data, pmps_deleter deleter, void *user, pmps_tensor **tensor) {
  return ENTER(goTensorFromMemory(dtype, rank, IN(dims), IN(strides), data, deleter, BITS(user), OUT(tensor)));
}

pmps_error *pmps_tensor_from_strings(const pmps_place *place, int32_t rank, const int64_t *dims, const void *data,
                                     size_t size, pmps_tensor **tensor) {
  return ENTER(goTensorFromStrings(place, rank, IN(dims), IN(data), size, OUT(tensor)));
}

pmps_error *pmps_tensor_get_strings(const pmps_tensor *tensor, char **data, size_t *size) {
  return ENTER(goTensorGetStrings(BITS(tensor), data, size));
}

pmps_error *pmps_tensor_replace(pmps_tensor *tensor, pmps_tensor *other, pmps_tensor **same) {
  return ENTER(goTensorReplace(BITS(tensor), BITS(other), OUT(same)));
}

pmps_error *pmps_tensor_retain(pmps_tensor *tensor, pmps_tensor **same) {
  return ENTER(goTensorRetain(BITS(tensor), OUT(same)));
}

void pmps_tensor_free(pmps_tensor *tensor) {
  if (!in_child) goTensorFree(BITS(tensor));
}

pmps_error *pmps_tensor_get_info(const pmps_tensor *tensor, pmps_tensor_info *info) {
  return ENTER(goTensorGetInfo(BITS(tensor), CURRENT, info));
}

pmps_error *pmps_tensor_read(const pmps_tensor *tensor, void *data, size_t size) {
  return ENTER(goTensorRead(BITS(tensor), CURRENT, data, size));
}

pmps_error *pmps_tensor_write(pmps_tensor *tensor, const void *data, size_t size) {
  return ENTER(goTensorWrite(BITS(tensor), IN(data), size));
}

pmps_error *pmps_tensor_wait_for(const pmps_tensor *tensor, bool writing, int64_t timeout_ms, uint64_t *wait) {
  return ENTER(goTensorWaitFor(BITS(tensor), writing, timeout_ms, wait));
}

pmps_error *pmps_tensor_map(pmps_tensor *tensor, void **data) { return ENTER(goTensorMap(BITS(tensor), data)); }

/* All devices have unified memory, so there is nothing to unmap. */
void pmps_tensor_unmap(pmps_tensor *tensor) { (void)tensor; }

pmps_error *pmps_tensor_to(pmps_tensor *tensor, const pmps_place *place, bool copy, pmps_tensor **result) {
  return ENTER(goTensorTo(BITS(tensor), place, copy, CURRENT, OUT(result)));
}

pmps_error *pmps_tensor_share(pmps_tensor *tensor, const pmps_place *place, pmps_tensor **result) {
  return ENTER(goTensorShare(BITS(tensor), place, OUT(result)));
}

pmps_error *pmps_tensor_view(pmps_tensor *tensor, int32_t dtype, pmps_tensor **view) {
  return ENTER(goTensorView(BITS(tensor), dtype, OUT(view)));
}

pmps_error *pmps_tensor_index(pmps_tensor *tensor, const pmps_index *items, size_t count, pmps_tensor **view) {
  return ENTER(goTensorIndex(BITS(tensor), IN(items), count, CURRENT, OUT(view)));
}

/* ---- DLPack */

pmps_error *pmps_tensor_from_dlpack(struct DLManagedTensor *dl, pmps_tensor **tensor) {
  return ENTER(goTensorFromDlpack(dl, OUT(tensor)));
}

pmps_error *pmps_tensor_from_dlpack_versioned(struct DLManagedTensorVersioned *dl, pmps_tensor **tensor) {
  return ENTER(goTensorFromDlpackVersioned(dl, OUT(tensor)));
}

pmps_error *pmps_tensor_to_dlpack(pmps_tensor *tensor, struct DLManagedTensor **dl) {
  return ENTER(goTensorToDlpack(BITS(tensor), dl));
}

pmps_error *pmps_tensor_to_dlpack_versioned(pmps_tensor *tensor, struct DLManagedTensorVersioned **dl) {
  return ENTER(goTensorToDlpackVersioned(BITS(tensor), dl));
}

/* ---- Operators */

pmps_error *pmps_op_find(const char *name, pmps_op *op) { return ENTER(goOpFind(name, op)); }

const char *pmps_op_signature(pmps_op op) { return in_child ? NULL : goOpSignature(op); }

const char *pmps_op_name(pmps_op op) { return in_child ? NULL : goOpName(op); }

pmps_error *pmps_op_call(pmps_op op, const pmps_arg *args, size_t arg_count, const pmps_attr *attrs,
                         size_t attr_count, pmps_tensor **outputs, size_t *count) {
  return ENTER(goOpCall(op, IN(args), arg_count, IN(attrs), attr_count, CURRENT, OUT(outputs), count));
}

pmps_error *pmps_op_call_on(const pmps_place *place, pmps_op op, const pmps_arg *args, size_t arg_count,
                            const pmps_attr *attrs, size_t attr_count, pmps_tensor **outputs, size_t *count) {
  return ENTER(goOpCallOn(place, op, IN(args), arg_count, IN(attrs), attr_count, CURRENT, OUT(outputs), count));
}

pmps_error *pmps_op_call_into(pmps_op op, const pmps_arg *args, size_t arg_count, const pmps_attr *attrs,
                              size_t attr_count, pmps_tensor *output) {
  return ENTER(goOpCallInto(op, IN(args), arg_count, IN(attrs), attr_count, CURRENT, BITS(output)));
}

/* ---- Gradients */

bool pmps_grad_set_enabled(bool enabled) {
  bool before = recording == 0;
  recording = enabled ? 0 : NO_GRADIENTS;
  return before;
}

pmps_error *pmps_tensor_set_requires_grad(pmps_tensor *tensor, bool required) {
  return ENTER(goTensorSetRequiresGrad(BITS(tensor), required));
}

pmps_error *pmps_tensor_get_grad_info(const pmps_tensor *tensor, pmps_grad_info *info) {
  return ENTER(goTensorGetGradInfo(BITS(tensor), info));
}

pmps_error *pmps_tensor_get_grad(const pmps_tensor *tensor, pmps_tensor **grad) {
  return ENTER(goTensorGetGrad(BITS(tensor), OUT(grad)));
}

pmps_error *pmps_tensor_set_grad(pmps_tensor *tensor, pmps_tensor *grad) {
  return ENTER(goTensorSetGrad(BITS(tensor), BITS(grad)));
}

pmps_error *pmps_tensor_zero_grad(pmps_tensor *tensor) { return ENTER(goTensorZeroGrad(BITS(tensor))); }

pmps_error *pmps_tensor_end_history(pmps_tensor *tensor) { return ENTER(goTensorEndHistory(BITS(tensor))); }

pmps_error *pmps_tensor_retain_grad(pmps_tensor *tensor) { return ENTER(goTensorRetainGrad(BITS(tensor))); }

pmps_error *pmps_tensor_detach(pmps_tensor *tensor, pmps_tensor **detached) {
  return ENTER(goTensorDetach(BITS(tensor), OUT(detached)));
}

pmps_error *pmps_tensor_weaken(pmps_tensor *tensor, pmps_tensor **weak) { return ENTER(goTensorWeaken(BITS(tensor), OUT(weak))); }

pmps_error *pmps_tensor_add_grad_hook(pmps_tensor *tensor, pmps_grad_hook hook, pmps_deleter deleter, void *user,
                                      uint64_t *id) {
  return ENTER(goTensorAddGradHook(BITS(tensor), hook, deleter, BITS(user), id));
}

pmps_error *pmps_tensor_remove_grad_hook(pmps_tensor *tensor, uint64_t id, bool *removed) {
  return ENTER(goTensorRemoveGradHook(BITS(tensor), id, removed));
}

pmps_error *pmps_grad_backward(const pmps_grad_pass *pass, pmps_tensor **grads) {
  return ENTER(goGradBackward(IN(pass), CURRENT, OUT(grads)));
}

pmps_error *pmps_grad_apply(const pmps_grad_function *function, pmps_tensor *const *inputs, size_t input_count,
                            pmps_tensor *const *outputs, size_t output_count) {
  return ENTER(goGradApply(IN(function), IN(inputs), input_count, IN(outputs), output_count));
}

/* ---- Programs */

pmps_error *pmps_graph_new(pmps_graph **graph) { return ENTER(goGraphNew(OUT(graph))); }

void pmps_graph_free(pmps_graph *graph) {
  if (!in_child) goGraphFree(BITS(graph));
}

pmps_error *pmps_graph_add_symbol(pmps_graph *graph, int64_t *dim) { return ENTER(goGraphAddSymbol(BITS(graph), dim)); }

pmps_error *pmps_graph_add_input(pmps_graph *graph, int32_t dtype, int32_t rank, const int64_t *dims,
                                 pmps_value *value) {
  return ENTER(goGraphAddInput(BITS(graph), dtype, rank, IN(dims), value));
}

pmps_error *pmps_graph_add_constant(pmps_graph *graph, const pmps_tensor *tensor, pmps_value *value) {
  return ENTER(goGraphAddConstant(BITS(graph), BITS(tensor), value));
}

pmps_error *pmps_graph_add_scalar(pmps_graph *graph, const pmps_arg *scalar, pmps_value *value) {
  return ENTER(goGraphAddScalar(BITS(graph), IN(scalar), value));
}

pmps_error *pmps_graph_call(pmps_graph *graph, pmps_op op, const pmps_value *inputs, size_t input_count,
                            const pmps_attr *attrs, size_t attr_count, pmps_value *outputs, size_t *count) {
  return ENTER(goGraphCall(BITS(graph), op, IN(inputs), input_count, IN(attrs), attr_count, outputs, count));
}

pmps_error *pmps_graph_get_value_info(pmps_graph *graph, pmps_value value, pmps_value_info *info) {
  return ENTER(goGraphGetValueInfo(BITS(graph), value, info));
}

pmps_error *pmps_graph_to_text(pmps_graph *graph, char **text) { return ENTER(goGraphToText(BITS(graph), text)); }

pmps_error *pmps_program_new(const pmps_place *place, pmps_graph *graph, const pmps_value *outputs, size_t count,
                             pmps_program **program) {
  return ENTER(goProgramNew(place, BITS(graph), IN(outputs), count, OUT(program)));
}

void pmps_program_free(pmps_program *program) {
  if (!in_child) goProgramFree(BITS(program));
}

pmps_error *pmps_program_prepare(pmps_program *program, const int64_t *const *dims, const int32_t *ranks,
                                 size_t count) {
  return ENTER(goProgramPrepare(BITS(program), IN(dims), IN(ranks), count));
}

pmps_error *pmps_program_run(pmps_program *program, pmps_tensor *const *inputs, size_t input_count,
                             pmps_tensor **outputs, size_t *count) {
  return ENTER(goProgramRun(BITS(program), IN(inputs), input_count, CURRENT, OUT(outputs), count));
}

pmps_error *pmps_program_run_into(pmps_program *program, pmps_tensor *const *inputs, size_t input_count,
                                  pmps_tensor *const *outputs, size_t output_count) {
  return ENTER(goProgramRunInto(BITS(program), IN(inputs), input_count, CURRENT, IN(outputs), output_count));
}

pmps_error *pmps_program_start(pmps_program *program, pmps_tensor *const *inputs, size_t input_count, pmps_run **run) {
  return ENTER(goProgramStart(BITS(program), IN(inputs), input_count, CURRENT, OUT(run)));
}

pmps_error *pmps_run_query(const pmps_run *run, bool *ended) {
  uint64_t wait = 0;
  pmps_error *error = ENTER(goRunWaitFor(BITS(run), 0, ended ? &wait : NULL));
  if (!error) *ended = wait == 0;
  return error;
}

pmps_error *pmps_run_wait_for(const pmps_run *run, int64_t timeout_ms, uint64_t *wait) {
  return ENTER(goRunWaitFor(BITS(run), timeout_ms, wait));
}

pmps_error *pmps_run_wait(const pmps_run *run, pmps_tensor **outputs, size_t *count) {
  return ENTER(goRunWait(BITS(run), OUT(outputs), count));
}

pmps_error *pmps_run_cancel(pmps_run *run) { return ENTER(goRunCancel(BITS(run))); }

void pmps_run_free(pmps_run *run) {
  if (!in_child) goRunFree(BITS(run));
}

pmps_error *pmps_program_get_info(const pmps_program *program, pmps_program_info *info) {
  return ENTER(goProgramGetInfo(BITS(program), info));
}

pmps_error *pmps_program_to_text(const pmps_program *program, bool plan, char **text) {
  return ENTER(goProgramToText(BITS(program), plan, text));
}

pmps_error *pmps_program_save(const pmps_program *program, const char *path) {
  return ENTER(goProgramSave(BITS(program), path));
}

/* ---- Models */

pmps_error *pmps_program_load(const pmps_place *place, const char *path, const void *data, size_t size,
                              pmps_program **program) {
  return ENTER(goProgramLoad(place, path, IN(data), size, OUT(program)));
}

pmps_error *pmps_program_get_port(const pmps_program *program, bool output, size_t index, pmps_value_info *info,
                                  char **name, char **type) {
  return ENTER(goProgramGetPort(BITS(program), output, index, info, name, type));
}

pmps_error *pmps_program_describe(const pmps_program *program, char **json) {
  return ENTER(goProgramDescribe(BITS(program), json));
}

/* ---- Traces */

pmps_error *pmps_trace_begin(const pmps_place *place, pmps_tensor *const *examples, size_t count, pmps_tensor **inputs,
                             pmps_trace **trace) {
  return ENTER(goTraceBegin(place, IN(examples), count, &current, OUT(inputs), OUT(trace)));
}

pmps_error *pmps_trace_end(pmps_trace *trace, pmps_tensor *const *outputs, size_t count, pmps_program **program) {
  return ENTER(goTraceEnd(BITS(trace), IN(outputs), count, &current, OUT(program)));
}

pmps_error *pmps_trace_pause(pmps_trace *trace, bool paused) {
  return ENTER(goTracePause(BITS(trace), paused, &current));
}

void pmps_trace_abort(pmps_trace *trace) {
  if (!in_child) goTraceAbort(BITS(trace), &current);
}

pmps_error *pmps_trace_to_text(const pmps_trace *trace, char **text) {
  return ENTER(goTraceToText(BITS(trace), text));
}

pmps_error *pmps_program_unify(const pmps_program *program, const pmps_program *other, pmps_program **unified) {
  return ENTER(goProgramUnify(BITS(program), BITS(other), OUT(unified)));
}

pmps_error *pmps_program_get_captured(const pmps_program *program, size_t index, pmps_tensor **tensor) {
  return ENTER(goProgramGetCaptured(BITS(program), index, OUT(tensor)));
}

/* ---- Shaders */

pmps_error *pmps_library_new(const pmps_place *place, const char *source, pmps_library **library) {
  return ENTER(goLibraryNew(place, source, OUT(library)));
}

pmps_error *pmps_library_load(const pmps_place *place, const char *path, pmps_library **library) {
  return ENTER(goLibraryLoad(place, path, OUT(library)));
}

void pmps_library_free(pmps_library *library) {
  if (!in_child) goLibraryFree(BITS(library));
}

pmps_error *pmps_library_get_names(const pmps_library *library, char **names) {
  return ENTER(goLibraryGetNames(BITS(library), names));
}

pmps_error *pmps_triton_compile(const void *ttir, size_t size, const char *options, char **source, char **metadata) {
  return ENTER(goTritonCompile((void *)ttir, size, options, source, metadata));
}

pmps_error *pmps_library_get_kernel(const pmps_library *library, const char *name, pmps_kernel **kernel) {
  return ENTER(goLibraryGetKernel(BITS(library), name, OUT(kernel)));
}

void pmps_kernel_free(pmps_kernel *kernel) {
  if (!in_child) goKernelFree(BITS(kernel));
}

pmps_error *pmps_kernel_get_info(const pmps_kernel *kernel, pmps_kernel_info *info) {
  return ENTER(goKernelGetInfo(BITS(kernel), info));
}

pmps_error *pmps_kernel_run_reporting(pmps_kernel *kernel, const pmps_kernel_arg *args, size_t count, const uint64_t *threads,
                                      const uint64_t *group, const char *reports) {
  return ENTER(goKernelRunReporting(BITS(kernel), IN(args), count, IN(threads), IN(group), reports, CURRENT));
}

pmps_error *pmps_kernel_run(pmps_kernel *kernel, const pmps_kernel_arg *args, size_t count, const uint64_t *threads,
                            const uint64_t *group) {
  return ENTER(goKernelRun(BITS(kernel), IN(args), count, IN(threads), IN(group), CURRENT));
}

/* ---- Metal */

pmps_error *pmps_device_census(const pmps_place *place, char **json) { return ENTER(goDeviceCensus(place, json)); }

pmps_error *pmps_device_get_metal(const pmps_place *place, void **device) {
  return ENTER(goDeviceGetMetal(place, device));
}

pmps_error *pmps_stream_get_metal(pmps_stream *stream, void **queue) {
  return ENTER(goStreamGetMetal(BITS(stream), queue));
}

pmps_error *pmps_tensor_get_metal(const pmps_tensor *tensor, void **buffer, size_t *offset) {
  return ENTER(goTensorGetMetal(BITS(tensor), buffer, offset));
}

pmps_error *pmps_capture_get_state(const pmps_place *place, bool *enabled, bool *capturing) {
  return ENTER(goCaptureGetState(place, enabled, capturing));
}

pmps_error *pmps_capture_begin(const pmps_place *place, const char *path) { return ENTER(goCaptureBegin(place, path)); }

pmps_error *pmps_capture_end(const pmps_place *place) { return ENTER(goCaptureEnd(place)); }

/* ---- Profiling */

pmps_error *pmps_profile_start(uint32_t flags, int64_t max_events) { return ENTER(goProfileStart(flags, max_events)); }

pmps_error *pmps_profile_stop(char **json) { return ENTER(goProfileStop(json)); }

uint64_t pmps_profile_begin(void) { return in_child ? 0 : goProfileBegin(); }

void pmps_profile_end(uint64_t begun, const char *category, const char *name) {
  if (begun && !in_child) goProfileEnd(begun, category, name);
}

/* ---- Log */

void pmps_log_set(pmps_log_callback callback, void *user, int32_t level) {
  if (!in_child) goLogSet(callback, BITS(user), level);
}

int64_t pmps_live_handles(void) { return in_child ? 0 : goLiveHandles(); }

/* ---- The fast family. The error of a forked child is that of pmps_fast_error. */

#define UNLIKELY(condition) __builtin_expect((condition), 0)

uint64_t pmps_fast_unary(uint64_t op, uint64_t x, uint64_t release) {
  return UNLIKELY(in_child) ? 0 : goFastUnary(op, x, release, CURRENT);
}

uint64_t pmps_fast_binary(uint64_t op, uint64_t x, uint64_t y, uint64_t release) {
  return UNLIKELY(in_child) ? 0 : goFastBinary(op, x, y, release, CURRENT);
}

uint64_t pmps_fast_scalar(uint64_t op, uint64_t x, uint64_t kind, uint64_t bits, uint64_t release) {
  return UNLIKELY(in_child) ? 0 : goFastScalar(op, x, kind, bits, release, CURRENT);
}

uint64_t pmps_fast_call(uint64_t op, const pmps_arg *args, uint64_t arg_count, const pmps_attr *attrs,
                        uint64_t attr_count, uint64_t place, uint64_t release) {
  return UNLIKELY(in_child) ? 0 : goFastCall(op, IN(args), arg_count, IN(attrs), attr_count, place, release, CURRENT);
}

uint64_t pmps_fast_call_into(uint64_t op, const pmps_arg *args, uint64_t arg_count, const pmps_attr *attrs,
                             uint64_t attr_count, uint64_t output, uint64_t release) {
  return UNLIKELY(in_child) ? 0
                            : goFastCallInto(op, IN(args), arg_count, IN(attrs), attr_count, output, release, CURRENT);
}

uint64_t prepared_call(const prepared *call, described_list *results) {
  return UNLIKELY(in_child) ? CALL_FAILED : goPreparedCall((prepared *)call, CURRENT, results);
}

uint64_t program_call(const program_inputs *given, described_list *results) {
  return UNLIKELY(in_child) ? CALL_FAILED : goProgramCall((program_inputs *)given, CURRENT, results);
}

uint64_t *held_by(uint64_t caller, const uint64_t *tensors, uint64_t count, const uint64_t *programs, uint64_t program_count) {
  return in_child ? NULL : goHeldBy(caller, (void *)(uintptr_t)tensors, count, (void *)(uintptr_t)programs, program_count);
}

bool held_unchanged(void) { return !in_child && goHeldUnchanged(); }

void held_end(void) {
  if (!in_child) goHeldEnd();
}

uint64_t tensor_describe(uint64_t handle, described *tensor) { return in_child ? 0 : goTensorDescribe(handle, tensor); }

uint64_t pmps_fast_read(uint64_t x, void *data, uint64_t size) {
  return in_child ? 0 : goFastRead(x, CURRENT, data, size);
}

/* The wait of this thread's last call that was refused with PMPS_BUSY. */
static PER_THREAD uint64_t refusal;

void refusal_keep(uint64_t wait) { refusal = wait; }

uint64_t pmps_fast_wait(uint64_t timeout_ms) {
  if (in_child) return 1;
  refusal = goFastWait(refusal, (int64_t)timeout_ms);
  return refusal == 0;
}

uint64_t pmps_fast_idle(uint64_t what) { return in_child ? 0 : goFastIdle(what); }

uint64_t pmps_fast_index(uint64_t x, const pmps_index *items, uint64_t count, uint64_t release) {
  return UNLIKELY(in_child) ? 0 : goFastIndex(x, IN(items), count, release, CURRENT);
}

void pmps_fast_release(const uint64_t *tensors, uint64_t count) {
  if (!in_child) goFastRelease(IN(tensors), count);
}
