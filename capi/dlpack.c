/*
 * dlpack.c - tensors for other libraries. An exported tensor is one piece of C memory that holds the structure,
 * its arrays and a handle, which keeps the tensor alive until the deleter is called.
 */
#include <stdlib.h>

#include "shim.h"

#include "_cgo_export.h"

struct plain {
  DLManagedTensor dl;
  dl_view view;
};

struct versioned {
  DLManagedTensorVersioned dl;
  dl_view view;
};

static DLTensor describe(dl_view *view) {
  return (DLTensor){
      .data = view->data,
      .device = {DL_CPU, 0},
      .ndim = view->rank,
      .dtype = view->type,
      .shape = view->dims,
      .strides = view->strides,
  };
}

/* The deleters run on any thread, at any time, and also in a forked child, where they free only their own
 * memory. */
static void delete_plain(DLManagedTensor *self) {
  struct plain *made = (struct plain *)self;
  if (!in_child) goTensorFree(made->view.handle);
  free(made);
}

static void delete_versioned(DLManagedTensorVersioned *self) {
  struct versioned *made = (struct versioned *)self;
  if (!in_child) goTensorFree(made->view.handle);
  free(made);
}

DLManagedTensor *dl_export(const dl_view *view) {
  struct plain *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->view = *view;
  made->dl.dl_tensor = describe(&made->view);
  made->dl.deleter = delete_plain;
  return &made->dl;
}

DLManagedTensorVersioned *dl_export_versioned(const dl_view *view) {
  struct versioned *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->view = *view;
  made->dl.version = (DLPackVersion){1, 0};
  made->dl.dl_tensor = describe(&made->view);
  made->dl.deleter = delete_versioned;
  return &made->dl;
}
