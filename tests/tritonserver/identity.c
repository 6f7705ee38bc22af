/*
 * identity.c - a backend in C for the real server, the least that one can be: the output is the input, one request after the
 * other. bench/tritonserver.py compares with it. Its functions of the server are bound when the server opens it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define FUNCTION(name, ...) extern void *name(__VA_ARGS__)

FUNCTION(TRITONBACKEND_RequestInputByIndex, void *, uint32_t, void **);
FUNCTION(TRITONBACKEND_InputProperties, void *, const char **, int *, const int64_t **, uint32_t *, uint64_t *, uint32_t *);
FUNCTION(TRITONBACKEND_InputBuffer, void *, uint32_t, const void **, uint64_t *, int *, int64_t *);
FUNCTION(TRITONBACKEND_ResponseNew, void **, void *);
FUNCTION(TRITONBACKEND_ResponseOutput, void *, void **, const char *, int, const int64_t *, uint32_t);
FUNCTION(TRITONBACKEND_OutputBuffer, void *, void **, uint64_t, int *, int64_t *);
FUNCTION(TRITONBACKEND_ResponseSend, void *, uint32_t, void *);
FUNCTION(TRITONBACKEND_RequestRelease, void *, uint32_t);
FUNCTION(TRITONBACKEND_ModelInstanceReportStatistics, void *, void *, bool, uint64_t, uint64_t, uint64_t, uint64_t);
FUNCTION(TRITONBACKEND_ModelInstanceReportBatchStatistics, void *, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Copies the only input of a request to the only output; whether all calls went well. */
static bool copy(void *request, void *response) {
  void *input, *output, *to;
  const char *name;
  const int64_t *dims;
  const void *from;
  int type, memory = 0;
  uint32_t rank, buffers;
  uint64_t size, piece;
  int64_t id = 0;
  if (TRITONBACKEND_RequestInputByIndex(request, 0, &input) ||
      TRITONBACKEND_InputProperties(input, &name, &type, &dims, &rank, &size, &buffers) ||
      TRITONBACKEND_ResponseOutput(response, &output, "y", type, dims, rank) ||
      TRITONBACKEND_OutputBuffer(output, &to, size, &memory, &id))
    return false;
  for (uint32_t b = 0; b < buffers; b++) {
    if (TRITONBACKEND_InputBuffer(input, b, &from, &piece, &memory, &id)) return false;
    memcpy(to, from, piece);
    to = (char *)to + piece;
  }
  return true;
}

void *TRITONBACKEND_ModelInstanceExecute(void *instance, void **requests, uint32_t count) {
  uint64_t begin = now();
  for (uint32_t i = 0; i < count; i++) {
    void *response;
    if (TRITONBACKEND_ResponseNew(&response, requests[i])) continue;
    bool ok = copy(requests[i], response);
    TRITONBACKEND_ResponseSend(response, 1, NULL);
    uint64_t end = now();
    TRITONBACKEND_ModelInstanceReportStatistics(instance, requests[i], ok, begin, begin, end, end);
    TRITONBACKEND_RequestRelease(requests[i], 1);
  }
  uint64_t end = now();
  TRITONBACKEND_ModelInstanceReportBatchStatistics(instance, count, begin, begin, end, end);
  return NULL;
}
