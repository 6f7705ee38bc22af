/*
 * triton_backend.h - what triton_backend.c and triton_backend.go share: the execution of a batch as flat arrays, which cross into Go
 * once, and the part of the server's API that the backend calls.
 */
#ifndef PADDLEMPS_TRITON_BACKEND_H
#define PADDLEMPS_TRITON_BACKEND_H

#include "shim.h"

/* Figures of a place: bytes that are reserved, bytes of live tensors, programs in the cache and compilations. */
enum { FIGURES = 4 };

/* Bytes of an input, the server's memory. */
typedef struct {
  const void *data;
  uint64_t size;
} triton_piece;

/* An input of a request. Everything is borrowed for the call. */
typedef struct {
  const int64_t *dims;
  uint64_t first; /* of its pieces */
  uint32_t pieces;
  uint32_t rank;
  int32_t type; /* a TRITONSERVER_DataType */
  bool given;
} triton_input;

/* An output of a request. Go fills in all but wanted; data lives until the instance runs again or is released. */
typedef struct {
  const void *data;
  uint64_t size;
  int64_t dims[PMPS_MAX_RANK];
  uint32_t rank;
  int32_t type;
  bool wanted;
} triton_output;

/* What became of a request. */
typedef struct {
  fault failed;   /* set by Go, owned: why it has no outputs */
  uint64_t batch; /* set by Go: its rows */
  bool skip;      /* it has failed already, so that Go leaves it out */
} triton_answer;

/* An execution: inputs and outputs are arrays of a row for each request. */
typedef struct {
  triton_input *inputs;
  triton_output *outputs;
  triton_answer *answers;
  const triton_piece *pieces;
  uint64_t requests, input_count, output_count, piece_count;
  uint64_t gathering;  /* set by Go: nanoseconds until the program ran */
  bool large;          /* set by Go: release the instance after the outputs are copied */
  bool report;         /* figures are wanted */
  int64_t figures[FIGURES]; /* set by Go: of the place of the instance */
} triton_job;

/* A model. Texts are malloc'ed. */
typedef struct {
  uint64_t handle;
  char *config; /* the completed configuration; NULL: nothing was missing */
  char *names;  /* of inputs, then of outputs, each ended by a zero */
  uint64_t input_count, output_count;
} triton_loaded;

/* What the server says of a model. Borrowed for the call. */
typedef struct {
  text_in name, folder, config;
  uint64_t version, config_size;
  int64_t default_max_batch;
  bool complete;
} triton_options;

/* ---- The server's API, from its documentation: version 1 of TRITONBACKEND and TRITONSERVER. Objects are opaque. */

typedef struct TRITONSERVER_Error TRITONSERVER_Error;
typedef struct TRITONSERVER_Message TRITONSERVER_Message;
typedef struct TRITONSERVER_BufferAttributes TRITONSERVER_BufferAttributes;
typedef struct TRITONSERVER_MetricFamily TRITONSERVER_MetricFamily;
typedef struct TRITONSERVER_Metric TRITONSERVER_Metric;
typedef struct TRITONSERVER_Parameter TRITONSERVER_Parameter;
typedef struct TRITONBACKEND_Backend TRITONBACKEND_Backend;
typedef struct TRITONBACKEND_BackendAttribute TRITONBACKEND_BackendAttribute;
typedef struct TRITONBACKEND_Model TRITONBACKEND_Model;
typedef struct TRITONBACKEND_ModelInstance TRITONBACKEND_ModelInstance;
typedef struct TRITONBACKEND_Request TRITONBACKEND_Request;
typedef struct TRITONBACKEND_Response TRITONBACKEND_Response;
typedef struct TRITONBACKEND_Input TRITONBACKEND_Input;
typedef struct TRITONBACKEND_Output TRITONBACKEND_Output;

enum { CODE_INTERNAL = 1, CODE_NOT_FOUND, CODE_INVALID_ARG, CODE_UNAVAILABLE, CODE_UNSUPPORTED, CODE_CANCELLED = 7 };
enum { LOG_INFO, LOG_WARN, LOG_ERROR };
enum { MEMORY_CPU, MEMORY_PINNED, MEMORY_GPU };
enum { KIND_CPU = 1, KIND_MODEL = 3 };
enum { METRIC_COUNTER, METRIC_GAUGE };
enum { ARTIFACT_FILESYSTEM, API_MAJOR = 1, CONFIG_VERSION = 1, FINAL_RESPONSE = 1, RELEASE_ALL = 1 };

/* Functions of the server: result, name behind its prefix, parameters. */
#define SERVER_FUNCTIONS(X) \
  X(TRITONSERVER_Error *, TRITONSERVER_, ErrorNew, (int code, const char *message)) \
  X(void, TRITONSERVER_, ErrorDelete, (TRITONSERVER_Error * error)) \
  X(const char *, TRITONSERVER_, ErrorMessage, (TRITONSERVER_Error * error)) \
  X(TRITONSERVER_Error *, TRITONSERVER_, LogMessage, (int level, const char *file, int line, const char *text)) \
  X(TRITONSERVER_Error *, TRITONSERVER_, MessageNewFromSerializedJson, \
    (TRITONSERVER_Message * *message, const char *base, size_t size)) \
  X(TRITONSERVER_Error *, TRITONSERVER_, MessageSerializeToJson, \
    (TRITONSERVER_Message * message, const char **base, size_t *size)) \
  X(TRITONSERVER_Error *, TRITONSERVER_, MessageDelete, (TRITONSERVER_Message * message)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, ApiVersion, (uint32_t *major, uint32_t *minor)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, BackendConfig, (TRITONBACKEND_Backend * b, TRITONSERVER_Message **message)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, BackendAttributeAddPreferredInstanceGroup, \
    (TRITONBACKEND_BackendAttribute * a, int kind, uint64_t count, const uint64_t *devices, uint64_t device_count)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, ModelName, (TRITONBACKEND_Model * model, const char **name)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, ModelVersion, (TRITONBACKEND_Model * model, uint64_t *version)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, ModelRepository, (TRITONBACKEND_Model * model, int *type, const char **path)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, ModelConfig, \
    (TRITONBACKEND_Model * model, uint32_t version, TRITONSERVER_Message **message)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, ModelAutoCompleteConfig, (TRITONBACKEND_Model * model, bool *complete)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, ModelSetConfig, \
    (TRITONBACKEND_Model * model, uint32_t version, TRITONSERVER_Message *message)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, ModelState, (TRITONBACKEND_Model * model, void **state)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, ModelSetState, (TRITONBACKEND_Model * model, void *state)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, ModelInstanceName, (TRITONBACKEND_ModelInstance * i, const char **name)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, ModelInstanceKind, (TRITONBACKEND_ModelInstance * i, int *kind)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, ModelInstanceModel, \
    (TRITONBACKEND_ModelInstance * i, TRITONBACKEND_Model **model)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, ModelInstanceState, (TRITONBACKEND_ModelInstance * i, void **state)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, ModelInstanceSetState, (TRITONBACKEND_ModelInstance * i, void *state)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, ModelInstanceReportStatistics, \
    (TRITONBACKEND_ModelInstance * i, TRITONBACKEND_Request *request, bool success, uint64_t begin, \
     uint64_t compute_begin, uint64_t compute_end, uint64_t end)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, ModelInstanceReportBatchStatistics, \
    (TRITONBACKEND_ModelInstance * i, uint64_t batch, uint64_t begin, uint64_t compute_begin, uint64_t compute_end, \
     uint64_t end)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, RequestIsCancelled, (TRITONBACKEND_Request * request, bool *cancelled)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, RequestInputCount, (TRITONBACKEND_Request * request, uint32_t *count)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, RequestInputByIndex, \
    (TRITONBACKEND_Request * request, uint32_t index, TRITONBACKEND_Input **input)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, RequestOutputCount, (TRITONBACKEND_Request * request, uint32_t *count)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, RequestOutputName, \
    (TRITONBACKEND_Request * request, uint32_t index, const char **name)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, RequestRelease, (TRITONBACKEND_Request * request, uint32_t flags)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, InputProperties, \
    (TRITONBACKEND_Input * input, const char **name, int *type, const int64_t **dims, uint32_t *rank, uint64_t *size, \
     uint32_t *buffers)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, InputBuffer, \
    (TRITONBACKEND_Input * input, uint32_t index, const void **data, uint64_t *size, int *memory, int64_t *id)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, ResponseNew, \
    (TRITONBACKEND_Response * *response, TRITONBACKEND_Request *request)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, ResponseOutput, \
    (TRITONBACKEND_Response * response, TRITONBACKEND_Output **output, const char *name, int type, \
     const int64_t *dims, uint32_t rank)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, OutputBuffer, \
    (TRITONBACKEND_Output * output, void **data, uint64_t size, int *memory, int64_t *id)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, ResponseSend, \
    (TRITONBACKEND_Response * response, uint32_t flags, TRITONSERVER_Error *error))

/* Functions that only report: a server without one has no such figures. */
#define REPORT_FUNCTIONS(X) \
  X(TRITONSERVER_Error *, TRITONSERVER_, BufferAttributesNew, (TRITONSERVER_BufferAttributes * *attributes)) \
  X(TRITONSERVER_Error *, TRITONSERVER_, BufferAttributesDelete, (TRITONSERVER_BufferAttributes * attributes)) \
  X(TRITONSERVER_Error *, TRITONSERVER_, BufferAttributesSetMemoryType, \
    (TRITONSERVER_BufferAttributes * attributes, int type)) \
  X(TRITONSERVER_Error *, TRITONSERVER_, BufferAttributesSetMemoryTypeId, \
    (TRITONSERVER_BufferAttributes * attributes, int64_t id)) \
  X(TRITONSERVER_Error *, TRITONSERVER_, BufferAttributesSetByteSize, \
    (TRITONSERVER_BufferAttributes * attributes, size_t size)) \
  X(TRITONSERVER_Error *, TRITONBACKEND_, ModelReportMemoryUsage, \
    (TRITONBACKEND_Model * model, TRITONSERVER_BufferAttributes **usage, uint32_t count)) \
  X(TRITONSERVER_Parameter *, TRITONSERVER_, ParameterNew, (const char *name, int type, const void *value)) \
  X(void, TRITONSERVER_, ParameterDelete, (TRITONSERVER_Parameter * parameter)) \
  X(TRITONSERVER_Error *, TRITONSERVER_, MetricFamilyNew, \
    (TRITONSERVER_MetricFamily * *family, int kind, const char *name, const char *description)) \
  X(TRITONSERVER_Error *, TRITONSERVER_, MetricFamilyDelete, (TRITONSERVER_MetricFamily * family)) \
  X(TRITONSERVER_Error *, TRITONSERVER_, MetricNew, \
    (TRITONSERVER_Metric * *metric, TRITONSERVER_MetricFamily *family, const TRITONSERVER_Parameter **labels, \
     uint64_t count)) \
  X(TRITONSERVER_Error *, TRITONSERVER_, MetricDelete, (TRITONSERVER_Metric * metric)) \
  X(TRITONSERVER_Error *, TRITONSERVER_, MetricSet, (TRITONSERVER_Metric * metric, double value))

#endif
