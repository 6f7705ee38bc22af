/*
 * triton_backend.c - the entry points of the backend for Triton Inference Server, called by a server that this program plays: it has
 * the functions of the API that the backend looks up in its process. They count what is alive, and each call can be made to
 * fail in its turn. tests/tritonserver runs the backend in the real server.
 */
#define _POSIX_C_SOURCE 200809L
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* ---- The server. Objects are as the backend sees them: opaque. */

enum { INTERNAL = 1, INVALID_ARG = 3, UNAVAILABLE, UNSUPPORTED, CANCELLED = 7 };

typedef struct TRITONSERVER_Error {
  int code;
  char text[1000];
} Error;

typedef struct {
  char *text;
} Message;

typedef struct {
  const char *name;
  int type;
  uint32_t rank;
  int64_t dims[4];
  uint32_t buffers;
  const void *data[4];
  uint64_t sizes[4];
  int memory;
} Input;

typedef struct {
  char name[16];
  int type;
  uint32_t rank;
  int64_t dims[4];
  float data[64];
  uint64_t size;
} Output;

typedef struct Request {
  Input inputs[3];
  uint32_t input_count;
  const char *wanted[2];
  uint32_t wanted_count;
  bool cancelled;

  int responses; /* that were made */
  int sent, released, counted;
  bool success;
  Output output;
  int outputs;
  int code; /* of the error that was sent; -1: none */
  char text[1000];
} Request;

typedef struct {
  const char *folder, *config;
  uint64_t version;
  bool complete;
  char *completed;
  void *state;
} Model;

typedef struct {
  Model *model;
  int kind;
  void *state;
  uint64_t executions, rows;
} Instance;

static int alive; /* errors, messages, attributes, metrics and parameters */
static int calls, fail_at = -1;
static bool gpu_output, null_output;
static char failed_call[64], backend_config[200] = "{\"cmdline\":{\"default-max-batch-size\":\"8\"}}";
static uint32_t api_major = 1;
static Message config_of_backend = {backend_config};
static char last_log[1000];

Error *TRITONSERVER_ErrorNew(int code, const char *text) {
  Error *e = calloc(1, sizeof *e);
  e->code = code;
  snprintf(e->text, sizeof e->text, "%s", text);
  alive++;
  return e;
}

void TRITONSERVER_ErrorDelete(Error *e) {
  EXPECT(e);
  free(e);
  alive--;
}

const char *TRITONSERVER_ErrorMessage(Error *e) { return e->text; }

/* Counts a call, and fails it in its turn. */
static Error *turn(const char *name) {
  if (calls++ != fail_at) return NULL;
  snprintf(failed_call, sizeof failed_call, "%s", name);
  return TRITONSERVER_ErrorNew(INTERNAL, "injected");
}

#define TURN \
  do { \
    Error *injected = turn(__func__); \
    if (injected) return injected; \
  } while (0)

Error *TRITONSERVER_LogMessage(int level, const char *file, int line, const char *text) {
  TURN;
  EXPECT(level >= 0 && level <= 2 && file && line > 0);
  snprintf(last_log, sizeof last_log, "%s", text);
  return NULL;
}

Error *TRITONSERVER_MessageNewFromSerializedJson(Message **made, const char *base, size_t size) {
  TURN;
  *made = calloc(1, sizeof **made);
  (*made)->text = calloc(size + 1, 1);
  memcpy((*made)->text, base, size);
  alive++;
  return NULL;
}

Error *TRITONSERVER_MessageSerializeToJson(Message *m, const char **base, size_t *size) {
  TURN;
  *base = m->text;
  *size = strlen(m->text);
  return NULL;
}

/* Deletes even where it fails, as a server that reports something else would. */
Error *TRITONSERVER_MessageDelete(Message *m) {
  EXPECT(m != &config_of_backend);
  free(m->text);
  free(m);
  alive--;
  return turn(__func__);
}

Error *TRITONBACKEND_ApiVersion(uint32_t *major, uint32_t *minor) {
  TURN;
  *major = api_major;
  *minor = 19;
  return NULL;
}

Error *TRITONBACKEND_BackendConfig(void *backend, Message **made) {
  TURN;
  (void)backend;
  *made = &config_of_backend;
  return NULL;
}

Error *TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(void *a, int kind, uint64_t n, const uint64_t *ids, uint64_t id_count) {
  TURN;
  *(int *)a = kind;
  EXPECT(n == 1 && !ids && id_count == 0);
  return NULL;
}

Error *TRITONBACKEND_ModelName(Model *m, const char **name) {
  TURN;
  (void)m;
  *name = "m";
  return NULL;
}

Error *TRITONBACKEND_ModelVersion(Model *m, uint64_t *version) {
  TURN;
  *version = m->version;
  return NULL;
}

Error *TRITONBACKEND_ModelRepository(Model *m, int *type, const char **path) {
  TURN;
  *type = 0;
  *path = m->folder;
  return NULL;
}

Error *TRITONBACKEND_ModelConfig(Model *m, uint32_t version, Message **made) {
  EXPECT(version == 1);
  return TRITONSERVER_MessageNewFromSerializedJson(made, m->config, strlen(m->config));
}

Error *TRITONBACKEND_ModelAutoCompleteConfig(Model *m, bool *complete) {
  TURN;
  *complete = m->complete;
  return NULL;
}

Error *TRITONBACKEND_ModelSetConfig(Model *m, uint32_t version, Message *config) {
  TURN;
  EXPECT(version == 1);
  free(m->completed);
  m->completed = strdup(config->text);
  return NULL;
}

Error *TRITONBACKEND_ModelState(Model *m, void **state) {
  TURN;
  *state = m->state;
  return NULL;
}

Error *TRITONBACKEND_ModelSetState(Model *m, void *state) {
  TURN;
  m->state = state;
  return NULL;
}

Error *TRITONBACKEND_ModelInstanceName(Instance *i, const char **name) {
  TURN;
  (void)i;
  *name = "m_0";
  return NULL;
}

Error *TRITONBACKEND_ModelInstanceKind(Instance *i, int *kind) {
  TURN;
  *kind = i->kind;
  return NULL;
}

Error *TRITONBACKEND_ModelInstanceModel(Instance *i, Model **m) {
  TURN;
  *m = i->model;
  return NULL;
}

Error *TRITONBACKEND_ModelInstanceState(Instance *i, void **state) {
  TURN;
  *state = i->state;
  return NULL;
}

Error *TRITONBACKEND_ModelInstanceSetState(Instance *i, void *state) {
  TURN;
  i->state = state;
  return NULL;
}

Error *TRITONBACKEND_ModelInstanceReportStatistics(Instance *i, Request *r, bool success, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  TURN;
  (void)i;
  EXPECT(!r->released && a > 0 && a <= b && b <= c && c <= d);
  r->counted++;
  r->success = success;
  return NULL;
}

Error *TRITONBACKEND_ModelInstanceReportBatchStatistics(Instance *i, uint64_t batch, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  TURN;
  EXPECT(batch > 0 && a <= b && b <= c && c <= d);
  i->executions++;
  i->rows += batch;
  return NULL;
}

Error *TRITONBACKEND_RequestIsCancelled(Request *r, bool *cancelled) {
  TURN;
  *cancelled = r->cancelled;
  return NULL;
}

Error *TRITONBACKEND_RequestInputCount(Request *r, uint32_t *count) {
  TURN;
  *count = r->input_count;
  return NULL;
}

Error *TRITONBACKEND_RequestInputByIndex(Request *r, uint32_t index, Input **input) {
  TURN;
  EXPECT(index < r->input_count);
  *input = &r->inputs[index];
  return NULL;
}

Error *TRITONBACKEND_RequestOutputCount(Request *r, uint32_t *count) {
  TURN;
  *count = r->wanted_count;
  return NULL;
}

Error *TRITONBACKEND_RequestOutputName(Request *r, uint32_t index, const char **name) {
  TURN;
  EXPECT(index < r->wanted_count);
  *name = r->wanted[index];
  return NULL;
}

Error *TRITONBACKEND_RequestRelease(Request *r, uint32_t flags) {
  EXPECT(flags == 1 && !r->released);
  r->released++;
  return turn(__func__);
}

Error *TRITONBACKEND_InputProperties(Input *in, const char **name, int *type, const int64_t **dims, uint32_t *rank, uint64_t *size, uint32_t *buffers) {
  TURN;
  *name = in->name;
  *type = in->type;
  *dims = in->dims;
  *rank = in->rank;
  *buffers = in->buffers;
  *size = 0;
  for (uint32_t i = 0; i < in->buffers; i++) *size += in->sizes[i];
  return NULL;
}

Error *TRITONBACKEND_InputBuffer(Input *in, uint32_t index, const void **data, uint64_t *size, int *memory, int64_t *id) {
  TURN;
  EXPECT(index < in->buffers);
  *data = in->data[index];
  *size = in->sizes[index];
  *memory = in->memory;
  *id = 0;
  return NULL;
}

Error *TRITONBACKEND_ResponseNew(Request **response, Request *r) {
  TURN;
  r->responses++;
  *response = r;
  return NULL;
}

Error *TRITONBACKEND_ResponseOutput(Request *r, Output **made, const char *name, int type, const int64_t *dims, uint32_t rank) {
  TURN;
  Output *o = &r->output;
  EXPECT(rank <= 4 && !r->sent);
  *o = (Output){.type = type, .rank = rank};
  snprintf(o->name, sizeof o->name, "%s", name);
  memcpy(o->dims, dims, rank * sizeof *dims);
  r->outputs++;
  *made = o;
  return NULL;
}

Error *TRITONBACKEND_OutputBuffer(Output *o, void **data, uint64_t size, int *memory, int64_t *id) {
  TURN;
  EXPECT(*memory == 0 && *id == 0 && size <= sizeof o->data);
  *data = null_output ? NULL : o->data;
  *memory = gpu_output ? 2 : 0;
  o->size = size;
  return NULL;
}

/* The caller keeps the error. */
Error *TRITONBACKEND_ResponseSend(Request *r, uint32_t flags, Error *error) {
  EXPECT(flags == 1 && !r->released && !r->sent);
  r->sent++;
  r->code = error ? error->code : -1;
  if (error) snprintf(r->text, sizeof r->text, "%s", error->text);
  return turn(__func__);
}

Error *TRITONSERVER_BufferAttributesNew(void **made) {
  TURN;
  *made = malloc(1);
  alive++;
  return NULL;
}

Error *TRITONSERVER_BufferAttributesDelete(void *a) {
  free(a);
  alive--;
  return turn(__func__);
}

Error *TRITONSERVER_BufferAttributesSetMemoryType(void *a, int type) {
  TURN;
  EXPECT(a && type == 0);
  return NULL;
}

Error *TRITONSERVER_BufferAttributesSetMemoryTypeId(void *a, int64_t id) {
  TURN;
  EXPECT(a && id == 0);
  return NULL;
}

Error *TRITONSERVER_BufferAttributesSetByteSize(void *a, size_t size) {
  TURN;
  EXPECT(a && size < 1000);
  return NULL;
}

Error *TRITONBACKEND_ModelReportMemoryUsage(Model *m, void **usage, uint32_t count) {
  TURN;
  EXPECT(m && usage && count == 1);
  return NULL;
}

void *TRITONSERVER_ParameterNew(const char *name, int type, const void *value) {
  EXPECT(!strcmp(name, "place") && type == 0 && value);
  alive++;
  return malloc(1);
}

void TRITONSERVER_ParameterDelete(void *p) {
  free(p);
  alive--;
}

Error *TRITONSERVER_MetricFamilyNew(void **made, int kind, const char *name, const char *description) {
  TURN;
  EXPECT(kind == 1 && name && description);
  *made = malloc(1);
  alive++;
  return NULL;
}

Error *TRITONSERVER_MetricFamilyDelete(void *f) {
  free(f);
  alive--;
  return turn(__func__);
}

Error *TRITONSERVER_MetricNew(double **made, void *family, const void **labels, uint64_t count) {
  TURN;
  EXPECT(family && labels[0] && count == 1);
  *made = calloc(1, sizeof **made);
  alive++;
  return NULL;
}

Error *TRITONSERVER_MetricDelete(double *m) {
  EXPECT(*m >= 0);
  free(m);
  alive--;
  return turn(__func__);
}

static int gauges_set;

Error *TRITONSERVER_MetricSet(double *m, double value) {
  TURN;
  *m = value;
  gauges_set++;
  return NULL;
}

/* ---- The backend. */

Error *TRITONBACKEND_Initialize(void *);
Error *TRITONBACKEND_Finalize(void *);
Error *TRITONBACKEND_GetBackendAttribute(void *, void *);
Error *TRITONBACKEND_ModelInitialize(Model *);
Error *TRITONBACKEND_ModelFinalize(Model *);
Error *TRITONBACKEND_ModelInstanceInitialize(Instance *);
Error *TRITONBACKEND_ModelInstanceFinalize(Instance *);
Error *TRITONBACKEND_ModelInstanceExecute(Instance *, Request **, uint32_t);

/* Deletes the error of an entry point; whether there was none. */
static bool fine(Error *e) {
  if (e) TRITONSERVER_ErrorDelete(e);
  return !e;
}

/* The call fails with a code and a text. */
static void fails(Error *e, int code, const char *text) {
  EXPECT(e && e->code == code && strstr(e->text, text));
  if (e && (e->code != code || !strstr(e->text, text))) printf("  got %d: %s\n", e->code, e->text);
  fine(e);
}

/* ---- What it serves: y = x * [0, 2, 4], with x of float[n, 3]. */

static const unsigned char product[] = {
    8,  8,  18, 0,  58, 95, 10, 23, 10, 1,  120, 10, 1,  119, 18, 1,   121, 26,  7,  112, 114, 111, 100, 117, 99, 116, 34,
    3,  77, 117, 108, 18, 1, 103, 42, 21, 8,  3,  16, 1,  66, 1,  119, 74, 12, 0,  0,  0,  0,  0,  0,  0,  64, 0,
    0,  128, 64, 90, 20, 10, 1,  120, 18, 15, 10, 13, 8,  1,  18, 9,  10, 3,  18, 1,  110, 10, 2,  8,  3,  98, 20,
    10, 1,  121, 18, 15, 10, 13, 8,  1,  18, 9,  10, 3,  18, 1,  110, 10, 2,  8,  3,  66, 4,  10, 0,  16, 17,
};

static char folder[200];

static void write_file(const char *version, size_t size) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", folder, version);
  mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/%s/model.onnx", folder, version);
  FILE *f = fopen(path, "wb");
  EXPECT(f && fwrite(product, 1, size, f) == size);
  if (f) fclose(f);
}

#define IO(name, kind, dims, more) "[{\"name\":\"" name "\",\"data_type\":\"" kind "\",\"dims\":[" dims "]" more "}]"
#define CONFIG(size, in, out) "{\"name\":\"m\",\"max_batch_size\":" size ",\"input\":" in ",\"output\":" out "}"

/* A request for rows that begin with a number; the data is in two pieces. */
static float rows_of[4][12];
static Request request(int at, int64_t rows, float begin) {
  for (int i = 0; i < 3 * rows; i++) rows_of[at][i] = begin + (float)i;
  Request r = {.input_count = 1, .wanted = {"y"}, .wanted_count = 1, .code = -1};
  r.inputs[0] = (Input){.name = "x", .type = 11, .rank = 2, .dims = {rows, 3}, .buffers = 2};
  r.inputs[0].data[0] = rows_of[at];
  r.inputs[0].sizes[0] = 4;
  r.inputs[0].data[1] = rows_of[at] + 1;
  r.inputs[0].sizes[1] = (uint64_t)(12 * rows - 4);
  return r;
}

/* Whether a request has its rows, whatever was in the batch with it. */
static bool right(const Request *r, int at) {
  const Output *o = &r->output;
  bool ok = r->sent == 1 && r->code == -1 && r->outputs == 1 && !strcmp(o->name, "y") && o->type == 11 && o->rank == 2 &&
            o->dims[0] == r->inputs[0].dims[0] && o->dims[1] == 3 && o->size == (uint64_t)(12 * o->dims[0]);
  for (int i = 0; ok && i < 3 * o->dims[0]; i++) ok = o->data[i] == rows_of[at][i] * (float)(2 * (i % 3));
  return ok;
}

/* Executes requests; each is released once, answered at most once and, unless a call was made to fail, exactly once. */
static void execute(Instance *i, Request *requests, uint32_t count) {
  Request *list[8];
  for (uint32_t r = 0; r < count; r++) list[r] = &requests[r];
  if (!fine(TRITONBACKEND_ModelInstanceExecute(i, list, count))) {
    EXPECT(fail_at >= 0); /* the server answers and releases them all */
    for (uint32_t r = 0; r < count; r++) EXPECT(!requests[r].responses && !requests[r].released && !requests[r].counted);
    return;
  }
  for (uint32_t r = 0; r < count; r++) {
    EXPECT(requests[r].released == 1 && requests[r].sent == requests[r].responses && requests[r].counted <= 1);
    EXPECT(fail_at >= 0 || (requests[r].sent == 1 && requests[r].counted == 1));
    EXPECT(requests[r].sent == 0 || requests[r].counted == 0 || requests[r].success == (requests[r].code == -1));
  }
}

static void nothing_is_left(void) {
  EXPECT(alive == 0);
  EXPECT(pmps_live_handles() == 0);
}

/* Begins and ends the backend around a test. */
static Model model;
static Instance instance;
static int kind_to_use = 1;

static bool begin(const char *config, bool complete, uint64_t version) {
  model = (Model){.folder = folder, .config = config, .version = version, .complete = complete};
  instance = (Instance){.model = &model, .kind = kind_to_use};
  if (!fine(TRITONBACKEND_Initialize(NULL))) return false;
  if (!fine(TRITONBACKEND_ModelInitialize(&model))) return false;
  return fine(TRITONBACKEND_ModelInstanceInitialize(&instance));
}

/* Ends what has begun. A call that fails is made again: a failure comes once. */
static void end(void) {
  bool begun = instance.state != NULL;
  if (begun && !fine(TRITONBACKEND_ModelInstanceFinalize(&instance))) EXPECT(fine(TRITONBACKEND_ModelInstanceFinalize(&instance)));
  if (model.state && !fine(TRITONBACKEND_ModelFinalize(&model))) EXPECT(fine(TRITONBACKEND_ModelFinalize(&model)));
  fine(TRITONBACKEND_Finalize(NULL)); /* an error if Initialize has failed */
  free(model.completed);
}

static const char empty[] = CONFIG("0", "[]", "[]");

/* ---- Tests. */

static void nothing_works_before_initialize(void) {
  fails(TRITONBACKEND_ModelInitialize(&model), UNAVAILABLE, "initialized");
  nothing_is_left();
}

static void requests_are_one_batch(void) {
  int kind = 0;
  EXPECT(begin(empty, true, 1));
  EXPECT(fine(TRITONBACKEND_GetBackendAttribute(NULL, &kind)) && kind == 3);
  EXPECT(strstr(model.completed, "\"max_batch_size\":8") && strstr(model.completed, "\"dynamic_batching\":{}"));
  EXPECT(strstr(model.completed, "\"input\":[{\"name\":\"x\",\"data_type\":\"TYPE_FP32\",\"dims\":[3]}]"));
  EXPECT(strstr(model.completed, "\"name\":\"m\""));
  EXPECT(strstr(last_log, "runs on"));
  for (int again = 0; again < 3; again++) {
    Request r[3] = {request(0, 1, 1), request(1, 2, 10), request(2, 4, 100)};
    execute(&instance, r, 3);
    for (int i = 0; i < 3; i++) EXPECT(right(&r[i], i));
  }
  EXPECT(instance.executions == 3 && instance.rows == 21);
  end();
  nothing_is_left();
}

static void large_results_are_released(void) {
  EXPECT(begin(CONFIG("0", IO("x", "TYPE_FP32", "-1, 3", ""), IO("y", "TYPE_FP32", "-1, 3", "")), true, 1));
  EXPECT(!model.completed);
  enum { ROWS = 200000 };
  float *x = calloc(ROWS * 3, sizeof *x);
  Request r = request(0, 1, 0);
  r.inputs[0].dims[0] = ROWS;
  r.inputs[0].buffers = 1;
  r.inputs[0].data[0] = x;
  r.inputs[0].sizes[0] = ROWS * 12;
  r.wanted_count = 0;
  execute(&instance, &r, 1);
  EXPECT(r.sent == 1 && r.code == -1 && r.outputs == 0);
  free(x);
  end();
  nothing_is_left();
}

/* A wrong request fails by itself, whatever is wrong with it. */
static void wrong_requests_fail_alone(void) {
  EXPECT(begin(empty, true, 1));
  for (int wrong = 0; wrong < 12; wrong++) {
    Request r[3] = {request(0, 1, 1), request(1, 2, 10), request(2, 4, 100)};
    Input *in = &r[1].inputs[0];
    const char *text = NULL;
    int code = INVALID_ARG;
    switch (wrong) {
      case 0: r[1].cancelled = true, code = CANCELLED, text = "cancelled"; break;
      case 1: in->type = 8, text = "TYPE_INT32; want TYPE_FP32"; break;
      case 2: in->dims[1] = 4, text = "[2, 4]; want [-1, 3]"; break;
      case 3: in->sizes[1] -= 4, text = "20 bytes; want 24"; break;
      case 4: in->name = "z", text = "input that the model lacks"; break;
      case 5: r[1].wanted[0] = "z", text = "output that the model lacks"; break;
      case 6: in->rank = 0, text = "has shape []; want"; break;
      case 7: in->dims[0] = INT64_MAX / 2, text = "exceeds the address space"; break;
      case 8: in->dims[0] = -2, text = "no negative dimension"; break;
      case 9: in->memory = 2, code = UNSUPPORTED, text = "not in memory of the CPU"; break;
      case 10: in->dims[0] = 0, in->buffers = 0, text = "batch size 0"; break;
      case 11: r[1].input_count = 0, text = "'x' is missing"; break;
    }
    execute(&instance, r, 3);
    EXPECT(right(&r[0], 0) && right(&r[2], 2));
    EXPECT(r[1].code == code && strstr(r[1].text, text) && !r[1].outputs);
    if (!strstr(r[1].text, text)) printf("  got %d: %s\n", r[1].code, r[1].text);
  }
  Request all[2] = {request(0, 1, 1), request(1, 1, 1)};
  all[0].cancelled = all[1].cancelled = true;
  uint64_t before = instance.executions;
  execute(&instance, all, 2);
  EXPECT(instance.executions == before && all[0].code == CANCELLED && all[1].code == CANCELLED);
  end();
  nothing_is_left();
}

static void outputs_go_to_the_cpu(void) {
  EXPECT(begin(empty, true, 1));
  for (int i = 0; i < 2; i++) {
    gpu_output = i == 0, null_output = i == 1;
    Request r = request(0, 1, 1);
    execute(&instance, &r, 1);
    EXPECT(r.code == UNSUPPORTED && strstr(r.text, "not that of the CPU"));
  }
  gpu_output = null_output = false;
  end();
  nothing_is_left();
}

/* What is wrong is known when the model is loaded. */
static void wrong_models_do_not_load(void) {
  static const struct {
    const char *config, *text;
    uint64_t version;
    int code;
  } wrong[] = {
      {empty, "[onnx] the file is damaged", 2, INVALID_ARG},
      {empty, "no such file", 3, INVALID_ARG},
      {"{", "the configuration is damaged", 1, INVALID_ARG},
      {"", "damaged", 1, INVALID_ARG},
      {CONFIG("-1", "[]", "[]"), "max_batch_size is -1", 1, INVALID_ARG},
      {CONFIG("\"x\"", "[]", "[]"), "want a whole number", 1, INVALID_ARG},
      {CONFIG("4", IO("z", "TYPE_FP32", "3", ""), IO("y", "TYPE_FP32", "3", "")), "want one of the file: x", 1, INVALID_ARG},
      {CONFIG("4", IO("x", "TYPE_INT32", "3", ""), IO("y", "TYPE_FP32", "3", "")), "want TYPE_FP32", 1, INVALID_ARG},
      {CONFIG("4", IO("x", "TYPE_FP32", "4", ""), IO("y", "TYPE_FP32", "3", "")), "dimension 1 of the model is 3", 1, INVALID_ARG},
      {CONFIG("4", IO("x", "TYPE_FP32", "3, 1", ""), IO("y", "TYPE_FP32", "3", "")), "which are 3 dimensions", 1, INVALID_ARG},
      {CONFIG("4", IO("x", "TYPE_FP32", "3", ""), IO("q", "TYPE_FP32", "3", "")), "want one of the file: y", 1, INVALID_ARG},
      {CONFIG("4", IO("x", "TYPE_FP32", "3", ",\"allow_ragged_batch\":true"), IO("y", "TYPE_FP32", "3", "")), "allow_ragged_batch", 1, UNSUPPORTED},
      {CONFIG("4", IO("x", "TYPE_FP32", "3", ",\"is_shape_tensor\":true"), IO("y", "TYPE_FP32", "3", "")), "is_shape_tensor", 1, UNSUPPORTED},
      {CONFIG("0,\"batch_input\":[{}]", "[]", "[]"), "batch_input", 1, UNSUPPORTED},
      {CONFIG("0,\"sequence_batching\":{\"direct\":{}}", "[]", "[]"), "sequence_batching", 1, UNSUPPORTED},
      {CONFIG("0,\"model_transaction_policy\":{\"decoupled\":true}", "[]", "[]"), "decoupled", 1, UNSUPPORTED},
      {CONFIG("0,\"default_model_filename\":\"../1/model.onnx\"", "[]", "[]"), "default_model_filename", 1, INVALID_ARG},
  };
  EXPECT(fine(TRITONBACKEND_Initialize(NULL)));
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    model = (Model){.folder = folder, .config = wrong[i].config, .version = wrong[i].version, .complete = true};
    fails(TRITONBACKEND_ModelInitialize(&model), wrong[i].code, wrong[i].text);
    EXPECT(!model.state);
  }
  model = (Model){.folder = folder, .config = empty, .version = 1};
  fails(TRITONBACKEND_ModelInitialize(&model), INVALID_ARG, "has no output");
  model = (Model){.folder = folder, .config = empty, .version = 1, .complete = true};
  EXPECT(fine(TRITONBACKEND_ModelInitialize(&model)));
  instance = (Instance){.model = &model, .kind = 2};
  fails(TRITONBACKEND_ModelInstanceInitialize(&instance), UNSUPPORTED, "want KIND_CPU or KIND_MODEL");
  end();
  nothing_is_left();
}

static void wrong_servers_are_refused(void) {
  api_major = 2;
  fails(TRITONBACKEND_Initialize(NULL), UNSUPPORTED, "version");
  api_major = 1;
  char before[sizeof backend_config];
  memcpy(before, backend_config, sizeof before);
  strcpy(backend_config, "{\"cmdline\":{\"default-max-batch-size\":\"many\"}}");
  fails(TRITONBACKEND_Initialize(NULL), INVALID_ARG, "default-max-batch-size is \"many\"");
  memcpy(backend_config, before, sizeof before);
  nothing_is_left();
}

/* Every call that the backend makes into the server fails once, in the turn of its life: nothing leaks, and every request that
 * the backend has taken is released, with one answer at most. */
static void every_call_may_fail(void) {
  int tried = 0;
  for (fail_at = 0;; fail_at++) {
    calls = 0;
    failed_call[0] = 0;
    int kind = 0;
    if (begin(empty, true, 1)) {
      fine(TRITONBACKEND_GetBackendAttribute(NULL, &kind));
      Request r[3] = {request(0, 1, 1), request(1, 2, 10), request(2, 4, 100)};
      r[2].cancelled = true;
      execute(&instance, r, 3);
      for (int i = 0; i < 2; i++) EXPECT(r[i].sent == 0 || r[i].code != -1 || right(&r[i], i));
    }
    end();
    EXPECT(alive == 0 && pmps_live_handles() == 0);
    if (failing) printf("  call %d, %s\n", fail_at, failed_call);
    if (!failed_call[0]) break;
    tried++;
  }
  fail_at = -1;
  EXPECT(tried > 80 && gauges_set > tried);
  nothing_is_left();
}

static void models_come_and_go(void) {
  EXPECT(fine(TRITONBACKEND_Initialize(NULL)));
  for (int i = 0; i < 150; i++) {
    model = (Model){.folder = folder, .config = empty, .version = 1, .complete = true};
    EXPECT(fine(TRITONBACKEND_ModelInitialize(&model)));
    Instance two[2];
    for (int n = 0; n < 2; n++) {
      two[n] = (Instance){.model = &model, .kind = n ? 3 : 1};
      EXPECT(fine(TRITONBACKEND_ModelInstanceInitialize(&two[n])));
      Request r = request(0, 2, 5);
      execute(&two[n], &r, 1);
      EXPECT(right(&r, 0));
    }
    for (int n = 0; n < 2; n++) EXPECT(fine(TRITONBACKEND_ModelInstanceFinalize(&two[n])));
    EXPECT(fine(TRITONBACKEND_ModelFinalize(&model)));
    free(model.completed);
  }
  EXPECT(fine(TRITONBACKEND_Finalize(NULL)));
  nothing_is_left();
}

/* A forked child has no Go: every entry point says so, and none hangs. */
static void children_are_refused(void) {
  EXPECT(begin(empty, true, 1));
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    Request r = request(0, 1, 1), *list[1] = {&r};
    alarm(20);
    fails(TRITONBACKEND_Initialize(NULL), UNAVAILABLE, "exec or spawn");
    fails(TRITONBACKEND_Finalize(NULL), UNAVAILABLE, "exec or spawn");
    fails(TRITONBACKEND_GetBackendAttribute(NULL, NULL), UNAVAILABLE, "exec or spawn");
    fails(TRITONBACKEND_ModelInitialize(&model), UNAVAILABLE, "exec or spawn");
    fails(TRITONBACKEND_ModelFinalize(&model), UNAVAILABLE, "exec or spawn");
    fails(TRITONBACKEND_ModelInstanceInitialize(&instance), UNAVAILABLE, "exec or spawn");
    fails(TRITONBACKEND_ModelInstanceFinalize(&instance), UNAVAILABLE, "exec or spawn");
    fails(TRITONBACKEND_ModelInstanceExecute(&instance, list, 1), UNAVAILABLE, "exec or spawn");
    _exit(failing || alive);
  }
  int status = 1;
  EXPECT(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  end();
  nothing_is_left();
}

int main(void) {
  const char *tmp = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/triton.XXXXXX", tmp ? tmp : "/tmp");
  EXPECT(mkdtemp(folder));
  write_file("1", sizeof product);
  write_file("2", 50);
  RUN(nothing_works_before_initialize);
  for (int i = 0; i < 2; i++) {
    kind_to_use = i ? 3 : 1;
    RUN(requests_are_one_batch);
    RUN(large_results_are_released);
    RUN(wrong_requests_fail_alone);
    RUN(outputs_go_to_the_cpu);
    RUN(every_call_may_fail);
  }
  RUN(wrong_models_do_not_load);
  RUN(wrong_servers_are_refused);
  RUN(models_come_and_go);
  RUN(children_are_refused);
  return failed_tests > 0;
}
