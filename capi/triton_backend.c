//go:build !without_tritonserver

/*
 * triton_backend.c - the entry points of a backend of Triton Inference Server, and all calls into its API. serve/backend
 * does the work; an execution crosses into Go once, by goTritonRun, and a second time where its results are large or some
 * milliseconds have passed.
 *
 * The server opens this library and has the functions that are called here, so that they are looked up in the process: the
 * library depends on no server. Without one the entry points are not called.
 *
 * Rules of the server: an entry point that returns an error has done nothing, and the server keeps the requests. After
 * success of an execution they are ours: each gets one final response and is then released. Instances execute on threads of
 * their own, an instance on one at a time. Models are loaded on several threads at once.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "triton_backend.h"

#include "_cgo_export.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- The server. */

static struct {
#define X(result, prefix, name, parameters) result(*name) parameters;
  SERVER_FUNCTIONS(X)
  REPORT_FUNCTIONS(X)
#undef X
} server;

/* Set once the functions of the server are known, and cleared when the backend ends. */
static atomic_bool ready;

/* max_batch_size of models that say none and can be batched: --backend-config=default-max-batch-size. */
static int64_t default_max_batch = 4;

/* Looks functions up; NULL, or the name of one that is missing. */
static const char *resolve(void) {
  const char *missing = NULL;
#define X(result, prefix, name, parameters) \
  *(void **)&server.name = dlsym(RTLD_DEFAULT, #prefix #name); \
  if (!server.name) missing = #prefix #name;
  REPORT_FUNCTIONS(X)
  missing = NULL;
  SERVER_FUNCTIONS(X)
#undef X
  return missing;
}

/* What an entry point answers where the server cannot even be given an error. */
static char no_server[] = "[metal_mps] there is no Triton Inference Server in this process";

static TRITONSERVER_Error *error_of(int code, const char *text) {
  if (!server.ErrorNew) resolve();
  if (!server.ErrorNew) return (TRITONSERVER_Error *)no_server;
  return server.ErrorNew(code, text);
}

/* The server's error for one of ours, which is freed; NULL for none. */
static TRITONSERVER_Error *error_from(fault f) {
  if (!f) return NULL;
  pmps_error *e = (pmps_error *)(uintptr_t)f;
  int code = CODE_INTERNAL;
  switch (pmps_error_code(e)) {
    case PMPS_INVALID_ARGUMENT:
    case PMPS_TYPE_MISMATCH:
    case PMPS_INDEX_OUT_OF_RANGE:
    case PMPS_ARITHMETIC: code = CODE_INVALID_ARG; break;
    case PMPS_NOT_FOUND: code = CODE_NOT_FOUND; break;
    case PMPS_UNSUPPORTED: code = CODE_UNSUPPORTED; break;
    case PMPS_OUT_OF_MEMORY:
    case PMPS_UNAVAILABLE: code = CODE_UNAVAILABLE; break;
    default: break;
  }
  TRITONSERVER_Error *made = error_of(code, pmps_error_message(e));
  pmps_error_free(e);
  return made;
}

/* Returns from the function with an error of the server. */
#define TRY(call) \
  do { \
    TRITONSERVER_Error *tried = (call); \
    if (tried) return tried; \
  } while (0)

/* Why an entry point must not go on: a forked child, which has no Go, or a server that has not begun with Initialize. */
static TRITONSERVER_Error *refusal(void) {
  if (in_child) return error_of(CODE_UNAVAILABLE, pmps_error_message((pmps_error *)(uintptr_t)error_forked()));
  if (!atomic_load(&ready)) return error_of(CODE_UNAVAILABLE, "[metal_mps] the backend has not been initialized");
  return NULL;
}

/* Logs an error of the server that cannot be reported otherwise, and deletes it. */
static void complain(TRITONSERVER_Error *error, int line) {
  if (!error) return;
  TRITONSERVER_Error *other = server.LogMessage(LOG_ERROR, "triton_backend.c", line, server.ErrorMessage(error));
  if (other) server.ErrorDelete(other);
  server.ErrorDelete(error);
}
#define LOGGED(call) complain((call), __LINE__)

static void say(int level, const char *text) { LOGGED(server.LogMessage(level, "triton_backend.c", __LINE__, text)); }

/* Messages of the library go to the server's log. */
static void forward(int32_t level, const char *message, void *user) {
  (void)user;
  if (atomic_load(&ready)) say(level == 0 ? LOG_ERROR : level == 1 ? LOG_WARN : LOG_INFO, message);
}

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- Models and instances. */

typedef struct {
  uint64_t handle;
  uint32_t input_count, output_count;
  const char **input_names, **output_names; /* one block, freed with input_names */
  char *names;
} model;

/* An instance, with arrays that executions reuse. */
typedef struct {
  uint64_t handle;
  const model *model;
  bool on_mps;
  uint64_t kept;             /* when goTritonKeep was called last */
  uint64_t rows, piece_room; /* of the arrays */
  triton_input *inputs;
  triton_output *outputs;
  triton_answer *answers;
  triton_piece *pieces;
  TRITONSERVER_Error **errors;
  TRITONBACKEND_Response **responses;
} instance;

static void free_model(model *m) {
  if (!m) return;
  goTritonFree(m->handle);
  free(m->input_names);
  free(m->names);
  free(m);
}

/* Makes a model of what Go has loaded, and owns it; NULL without memory. */
static model *new_model(const triton_loaded *l) {
  model *m = calloc(1, sizeof *m);
  const char **names = calloc(l->input_count + l->output_count + 1, sizeof *names);
  if (!m || !names) {
    free(m);
    free(names);
    return NULL;
  }
  const char *at = l->names;
  for (uint64_t i = 0; i < l->input_count + l->output_count; i++, at += strlen(at) + 1) names[i] = at;
  *m = (model){l->handle, (uint32_t)l->input_count, (uint32_t)l->output_count, names, names + l->input_count, l->names};
  return m;
}

/* Gives the server the configuration that was completed. */
static TRITONSERVER_Error *set_config(TRITONBACKEND_Model *of, const char *config) {
  TRITONSERVER_Message *message = NULL;
  TRY(server.MessageNewFromSerializedJson(&message, config, strlen(config)));
  TRITONSERVER_Error *error = server.ModelSetConfig(of, CONFIG_VERSION, message);
  LOGGED(server.MessageDelete(message));
  return error;
}

/* Loads a model with a configuration as JSON. */
static TRITONSERVER_Error *load(TRITONBACKEND_Model *of, const char *config, size_t size, model **made) {
  triton_options o = {.config = config, .config_size = size, .default_max_batch = default_max_batch};
  const char *name = NULL, *folder = NULL;
  int type = ARTIFACT_FILESYSTEM;
  TRY(server.ModelName(of, &name));
  TRY(server.ModelVersion(of, &o.version));
  TRY(server.ModelRepository(of, &type, &folder));
  if (type != ARTIFACT_FILESYSTEM || !name || !folder)
    return error_of(CODE_UNSUPPORTED, "[metal_mps] the model is not in a folder; want a repository in the file system");
  TRY(server.ModelAutoCompleteConfig(of, &o.complete));
  o.name = name, o.folder = folder;
  triton_loaded loaded = {0};
  TRY(error_from(goTritonModelLoad(&o, &loaded)));
  *made = new_model(&loaded);
  TRITONSERVER_Error *error = NULL;
  if (!*made) {
    goTritonFree(loaded.handle);
    free(loaded.names);
    error = error_of(CODE_UNAVAILABLE, "[metal_mps] there is no memory for a model");
  } else if (loaded.config) {
    error = set_config(of, loaded.config);
  }
  free(loaded.config);
  return error;
}

/* No thread is in it: the server gives an instance to one at a time. */
static void free_instance(instance *s) {
  if (!s) return;
  goTritonFree(s->handle);
  free(s->inputs);
  free(s->outputs);
  free(s->answers);
  free(s->pieces);
  free(s->errors);
  free(s->responses);
  free(s);
}

/* ---- Figures: gauges among the server's metrics, by place. */

static const char *const figure_names[FIGURES][2] = {
    {"paddle_mps_memory_reserved_bytes", "Memory that the place has reserved, in bytes"},
    {"paddle_mps_memory_allocated_bytes", "Memory of live tensors of the place, in bytes"},
    {"paddle_mps_program_cache_entries", "Compiled programs of the place"},
    {"paddle_mps_program_compilations", "Compilations of programs for the place since the start"},
};

static pthread_mutex_t figures_lock = PTHREAD_MUTEX_INITIALIZER;
static TRITONSERVER_MetricFamily *families[FIGURES];
static TRITONSERVER_Metric *gauges[FIGURES][2];
static _Atomic uint64_t reported[2]; /* when each place was, last */

/* Sets a gauge; the first time it is made. A server without metrics refuses, which is no failure of ours. */
static TRITONSERVER_Error *set_figure(int i, bool mps, double value) {
  if (!families[i])
    TRY(server.MetricFamilyNew(&families[i], METRIC_GAUGE, figure_names[i][0], figure_names[i][1]));
  if (!gauges[i][mps]) {
    TRITONSERVER_Parameter *place = server.ParameterNew("place", 0, mps ? "mps" : "cpu");
    const TRITONSERVER_Parameter *labels[1] = {place};
    if (!place) return NULL;
    TRITONSERVER_Error *error = server.MetricNew(&gauges[i][mps], families[i], labels, 1);
    server.ParameterDelete(place);
    TRY(error);
  }
  return server.MetricSet(gauges[i][mps], value);
}

static bool has_metrics(void) {
  return server.MetricFamilyNew && server.MetricFamilyDelete && server.MetricNew && server.MetricDelete &&
         server.MetricSet && server.ParameterNew && server.ParameterDelete;
}

static void set_figures(const int64_t *values, bool mps) {
  pthread_mutex_lock(&figures_lock);
  for (int i = 0; i < FIGURES; i++) {
    TRITONSERVER_Error *error = set_figure(i, mps, (double)values[i]);
    if (error) server.ErrorDelete(error);
  }
  pthread_mutex_unlock(&figures_lock);
}

static void delete_figures(void) {
  for (int p = 0; p < 2; p++) atomic_store(&reported[p], 0);
  for (int i = 0; i < FIGURES; i++) {
    for (int p = 0; p < 2; p++) {
      if (gauges[i][p]) LOGGED(server.MetricDelete(gauges[i][p]));
      gauges[i][p] = NULL;
    }
    if (families[i]) LOGGED(server.MetricFamilyDelete(families[i]));
    families[i] = NULL;
  }
}

/* Whether a second has passed since the figures of a place were reported. */
static bool due(bool mps, uint64_t time) {
  uint64_t last = atomic_load(&reported[mps]);
  return has_metrics() && time - last > 1000000000 && atomic_compare_exchange_strong(&reported[mps], &last, time);
}

/* Reports the constants of a model as memory of its own. */
static TRITONSERVER_Error *report_memory(TRITONBACKEND_Model *of, int64_t bytes) {
  if (!server.BufferAttributesNew || !server.BufferAttributesDelete || !server.BufferAttributesSetMemoryType ||
      !server.BufferAttributesSetMemoryTypeId || !server.BufferAttributesSetByteSize || !server.ModelReportMemoryUsage)
    return NULL;
  TRITONSERVER_BufferAttributes *usage = NULL;
  TRY(server.BufferAttributesNew(&usage));
  TRITONSERVER_Error *error = server.BufferAttributesSetMemoryType(usage, MEMORY_CPU);
  if (!error) error = server.BufferAttributesSetMemoryTypeId(usage, 0);
  if (!error) error = server.BufferAttributesSetByteSize(usage, (size_t)bytes);
  if (!error) error = server.ModelReportMemoryUsage(of, &usage, 1);
  LOGGED(server.BufferAttributesDelete(usage));
  return error;
}

/* ---- Execution. */

/* Nanoseconds between calls of goTritonKeep: less than the ten milliseconds after which Go acts. */
enum { KEEP = 8000000 };

/* Makes room for the arrays of count requests. */
static bool room(instance *s, uint64_t count) {
  if (count <= s->rows) return true;
  const model *m = s->model;
#define GROW(array, each) \
  do { \
    void *grown = realloc(s->array, (count * (each) + 1) * sizeof *s->array); \
    if (!grown) return false; \
    s->array = grown; \
  } while (0)
  GROW(inputs, m->input_count);
  GROW(outputs, m->output_count);
  GROW(answers, 1);
  GROW(errors, 1);
  GROW(responses, 1);
#undef GROW
  s->rows = count;
  return true;
}

/* Where a name is in a list; count for nowhere. */
static uint32_t find(const char *const *names, uint32_t count, const char *name) {
  uint32_t i = 0;
  while (i < count && strcmp(names[i], name) != 0) i++;
  return i;
}

/* Lists the pieces of an input. */
static TRITONSERVER_Error *list_pieces(instance *s, triton_job *job, TRITONBACKEND_Input *input, uint32_t buffers) {
  for (uint32_t b = 0; b < buffers; b++) {
    if (job->piece_count == s->piece_room) {
      uint64_t more = 2 * s->piece_room + 16;
      void *grown = realloc(s->pieces, more * sizeof *s->pieces);
      if (!grown) return error_of(CODE_UNAVAILABLE, "[metal_mps] there is no memory for the list of inputs");
      s->pieces = grown, s->piece_room = more;
    }
    triton_piece piece = {0};
    int memory = MEMORY_CPU;
    int64_t id = 0;
    TRY(server.InputBuffer(input, b, &piece.data, &piece.size, &memory, &id));
    if (memory == MEMORY_GPU || (!piece.data && piece.size))
      return error_of(CODE_UNSUPPORTED, "[metal_mps] an input is not in memory of the CPU; want it there");
    s->pieces[job->piece_count++] = piece;
  }
  return NULL;
}

/* Lists the inputs of a request and marks the outputs that it wants. */
static TRITONSERVER_Error *gather(instance *s, triton_job *job, TRITONBACKEND_Request *request, uint64_t row) {
  const model *m = s->model;
  bool cancelled = false;
  TRY(server.RequestIsCancelled(request, &cancelled));
  if (cancelled) return error_of(CODE_CANCELLED, "[metal_mps] the request was cancelled");
  uint32_t count = 0;
  TRY(server.RequestInputCount(request, &count));
  for (uint32_t i = 0; i < count; i++) {
    TRITONBACKEND_Input *input = NULL;
    const char *name = NULL;
    triton_input in = {.given = true, .first = job->piece_count};
    int type = 0;
    uint64_t size = 0;
    TRY(server.RequestInputByIndex(request, i, &input));
    TRY(server.InputProperties(input, &name, &type, &in.dims, &in.rank, &size, &in.pieces));
    uint32_t at = name ? find(m->input_names, m->input_count, name) : m->input_count;
    if (at == m->input_count) return error_of(CODE_INVALID_ARG, "[metal_mps] the request has an input that the model lacks");
    TRY(list_pieces(s, job, input, in.pieces));
    in.type = type;
    s->inputs[row * m->input_count + at] = in;
  }
  TRY(server.RequestOutputCount(request, &count));
  for (uint32_t i = 0; i < count; i++) {
    const char *name = NULL;
    TRY(server.RequestOutputName(request, i, &name));
    uint32_t at = name ? find(m->output_names, m->output_count, name) : m->output_count;
    if (at == m->output_count) return error_of(CODE_INVALID_ARG, "[metal_mps] the request wants an output that the model lacks");
    s->outputs[row * m->output_count + at].wanted = true;
  }
  return NULL;
}

/* Copies an output into memory of the server. */
static TRITONSERVER_Error *put(TRITONBACKEND_Response *response, const char *name, const triton_output *o) {
  TRITONBACKEND_Output *output = NULL;
  void *data = NULL;
  int memory = MEMORY_CPU;
  int64_t id = 0;
  TRY(server.ResponseOutput(response, &output, name, o->type, o->dims, o->rank));
  TRY(server.OutputBuffer(output, &data, o->size, &memory, &id));
  if (memory == MEMORY_GPU || (!data && o->size))
    return error_of(CODE_UNSUPPORTED, "[metal_mps] the memory for an output is not that of the CPU; want it there");
  if (o->size) memcpy(data, o->data, o->size);
  return NULL;
}

/* Makes the response of a request, with its outputs unless it has failed. */
static void answer(instance *s, TRITONBACKEND_Request *request, uint64_t row) {
  const model *m = s->model;
  s->responses[row] = NULL;
  TRITONSERVER_Error *error = server.ResponseNew(&s->responses[row], request);
  if (error) s->responses[row] = NULL;
  for (uint32_t i = 0; i < m->output_count && !error && !s->errors[row]; i++) {
    const triton_output *o = &s->outputs[row * m->output_count + i];
    if (o->wanted) error = put(s->responses[row], m->output_names[i], o);
  }
  if (!s->errors[row]) {
    s->errors[row] = error;
  } else {
    complain(error, __LINE__);
  }
}

/* Sends the response of a request and releases both. */
static void finish(instance *s, TRITONBACKEND_Request *request, uint64_t row) {
  if (s->responses[row]) LOGGED(server.ResponseSend(s->responses[row], FINAL_RESPONSE, s->errors[row]));
  if (s->responses[row] && s->errors[row]) server.ErrorDelete(s->errors[row]);
  if (!s->responses[row]) complain(s->errors[row], __LINE__);
  LOGGED(server.RequestRelease(request, RELEASE_ALL));
}

/* Lists what the requests have. One that cannot be listed has failed, and the others go on. */
static triton_job prepare(instance *s, TRITONBACKEND_Request **requests, uint32_t count) {
  const model *m = s->model;
  triton_job job = {.requests = count, .input_count = m->input_count, .output_count = m->output_count};
  memset(s->inputs, 0, count * m->input_count * sizeof *s->inputs);
  memset(s->outputs, 0, count * m->output_count * sizeof *s->outputs);
  for (uint32_t r = 0; r < count; r++) {
    s->errors[r] = gather(s, &job, requests[r], r);
    s->answers[r] = (triton_answer){.skip = s->errors[r] != NULL};
  }
  job.inputs = s->inputs, job.outputs = s->outputs, job.answers = s->answers, job.pieces = s->pieces;
  return job;
}

/* Takes the errors that Go has for requests; why is the error of the whole, owned. Returns the rows that were computed. */
static uint64_t take_errors(instance *s, uint32_t count, TRITONSERVER_Error *why) {
  uint64_t rows = 0;
  for (uint32_t r = 0; r < count; r++) {
    if (s->answers[r].skip) continue;
    if (why) {
      s->errors[r] = error_of(CODE_INTERNAL, server.ErrorMessage(why));
    } else {
      s->errors[r] = error_from(s->answers[r].failed);
    }
    if (!s->errors[r]) rows += s->answers[r].batch;
  }
  if (why) server.ErrorDelete(why);
  return rows;
}

EXPORT TRITONSERVER_Error *TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance *on,
                                                              TRITONBACKEND_Request **requests, const uint32_t count) {
  uint64_t begin = now();
  TRY(refusal());
  void *state = NULL;
  TRY(server.ModelInstanceState(on, &state));
  instance *s = state;
  if (!s) return error_of(CODE_INTERNAL, "[metal_mps] the instance has not been initialized");
  if (!room(s, count)) return error_of(CODE_UNAVAILABLE, "[metal_mps] there is no memory for the list of requests");
  /* From here on the requests are ours. */
  triton_job job = prepare(s, requests, count);
  job.report = due(s->on_mps, begin);
  uint64_t entered = now();
  fault failed = goTritonRun(s->handle, &job);
  uint64_t computed = now(), compute = entered + job.gathering < computed ? entered + job.gathering : computed;
  uint64_t rows = take_errors(s, count, error_from(failed));
  for (uint32_t r = 0; r < count; r++) answer(s, requests[r], r);
  if (job.large) LOGGED(error_from(goTritonRelease(s->handle)));
  uint64_t end = now();
  /* Before the responses: a client that has one sees it counted. */
  for (uint32_t r = 0; r < count; r++)
    LOGGED(server.ModelInstanceReportStatistics(on, requests[r], !s->errors[r], begin, compute, computed, end));
  if (rows) LOGGED(server.ModelInstanceReportBatchStatistics(on, rows, begin, compute, computed, end));
  for (uint32_t r = 0; r < count; r++) finish(s, requests[r], r);
  if (job.report && !failed) set_figures(job.figures, s->on_mps);
  if (end - s->kept > KEEP) {
    goTritonKeep();
    s->kept = end;
  }
  return NULL;
}

/* ---- The life of backend, models and instances. */

/* Reads what --backend-config says of all backends and of this one. */
static TRITONSERVER_Error *configure(TRITONBACKEND_Backend *backend) {
  TRITONSERVER_Message *message = NULL; /* the server's */
  const char *json = NULL;
  size_t size = 0;
  TRY(server.BackendConfig(backend, &message));
  TRY(server.MessageSerializeToJson(message, &json, &size));
  return error_from(goTritonStart(json, size, &default_max_batch));
}

EXPORT TRITONSERVER_Error *TRITONBACKEND_Initialize(TRITONBACKEND_Backend *backend) {
  const char *missing = resolve();
  if (in_child) return refusal();
  if (missing) return error_of(CODE_UNSUPPORTED, missing);
  uint32_t major = 0, minor = 0;
  TRY(server.ApiVersion(&major, &minor));
  if (major != API_MAJOR) return error_of(CODE_UNSUPPORTED, "[metal_mps] the server has another version of the backend API; want 1");
  TRY(configure(backend));
  atomic_store(&ready, true);
  pmps_log_set(forward, NULL, -1);
  say(LOG_INFO, "[metal_mps] paddle_mps " PMPS_VERSION);
  return NULL;
}

EXPORT TRITONSERVER_Error *TRITONBACKEND_Finalize(TRITONBACKEND_Backend *backend) {
  (void)backend;
  TRY(refusal());
  pmps_log_set(NULL, NULL, -1);
  delete_figures();
  atomic_store(&ready, false);
  return NULL;
}

/* A model whose configuration names no instance_group gets one instance on mps, if there is one, and else on the CPU. */
EXPORT TRITONSERVER_Error *TRITONBACKEND_GetBackendAttribute(TRITONBACKEND_Backend *backend,
                                                             TRITONBACKEND_BackendAttribute *attributes) {
  (void)backend;
  TRY(refusal());
  return server.BackendAttributeAddPreferredInstanceGroup(attributes, KIND_MODEL, 1, NULL, 0);
}

EXPORT TRITONSERVER_Error *TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model *of) {
  TRY(refusal());
  TRITONSERVER_Message *message = NULL;
  const char *config = NULL;
  size_t size = 0;
  TRY(server.ModelConfig(of, CONFIG_VERSION, &message));
  TRITONSERVER_Error *error = server.MessageSerializeToJson(message, &config, &size);
  model *m = NULL;
  if (!error) error = load(of, config, size, &m);
  LOGGED(server.MessageDelete(message));
  if (!error) error = server.ModelSetState(of, m);
  if (error) free_model(m);
  return error;
}

EXPORT TRITONSERVER_Error *TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model *of) {
  TRY(refusal());
  void *state = NULL;
  TRY(server.ModelState(of, &state));
  free_model(state);
  return NULL;
}

EXPORT TRITONSERVER_Error *TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance *on) {
  TRY(refusal());
  TRITONBACKEND_Model *of = NULL;
  void *state = NULL;
  const char *name = NULL;
  int kind = 0;
  TRY(server.ModelInstanceModel(on, &of));
  TRY(server.ModelState(of, &state));
  TRY(server.ModelInstanceName(on, &name));
  TRY(server.ModelInstanceKind(on, &kind));
  if (!state || !name) return error_of(CODE_INTERNAL, "[metal_mps] the model has not been initialized");
  instance *s = calloc(1, sizeof *s);
  if (!s) return error_of(CODE_UNAVAILABLE, "[metal_mps] there is no memory for an instance");
  s->model = state;
  char *note = NULL;
  int64_t constants = 0;
  TRITONSERVER_Error *error =
      error_from(goTritonInstanceNew(s->model->handle, kind, name, &s->handle, &s->on_mps, &note, &constants));
  if (!error && note) say(LOG_INFO, note);
  free(note);
  if (!error) error = report_memory(of, constants);
  if (!error) error = server.ModelInstanceSetState(on, s);
  if (error) free_instance(s);
  return error;
}

EXPORT TRITONSERVER_Error *TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance *on) {
  TRY(refusal());
  void *state = NULL;
  TRY(server.ModelInstanceState(on, &state));
  free_instance(state);
  return NULL;
}
