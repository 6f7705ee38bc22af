/*
 * graph_window.h - what convolutions and pools share: their descriptors, and where a window lies.
 */
#ifndef FAKEMETAL_GRAPH_WINDOW_H
#define FAKEMETAL_GRAPH_WINDOW_H

#include "graph.h"

/* MPSGraphTensorNamedDataLayout and MPSGraphPaddingStyle. */
enum { LAYOUT_NCHW = 0, LAYOUT_NHWC = 1, LAYOUT_OIHW = 2, LAYOUT_HWIO = 3 };
enum { STYLE_EXPLICIT = 0, STYLE_VALID = 1, STYLE_SAME = 2, STYLE_SAME_LOWER = 4 };

enum { Y, X, AXES_2D };

/* The descriptors of 2-D convolutions, depthwise ones and pools. */
typedef struct {
  object head;
  uint64_t strideInX, strideInY, dilationRateInX, dilationRateInY, groups;
  uint64_t paddingLeft, paddingRight, paddingTop, paddingBottom, paddingStyle, dataLayout, weightsLayout;
  uint64_t kernelWidth, kernelHeight, returnIndicesMode;
  uint32_t returnIndicesDataType;
  BOOL ceilMode, includeZeroPadToAverage;
} window_descriptor;

/* A tensor of four axes under a layout: batch, channels, rows, columns; or outputs, inputs, rows,
 * columns of weights. */
typedef struct {
  int64_t outer, channels, extent[AXES_2D];
  int64_t outer_stride, channel_stride, stride[AXES_2D];
} image;

/* Windows over the rows and columns of an image. */
typedef struct {
  int64_t kernel[AXES_2D], step[AXES_2D], dilation[AXES_2D], before[AXES_2D], count[AXES_2D];
} windows;

image image_of(const shape *s, uint64_t layout);
shape image_shape(uint64_t layout, int64_t outer, int64_t channels, int64_t rows, int64_t columns);

/* Where the windows of a kernel lie; misuse where there is no room for one. */
windows windows_of(const window_descriptor *d, const image *in, int64_t rows, int64_t columns);

/* The row or column of the image that place k of window i is at; -1 is outside. */
int64_t window_at(const windows *w, const image *in, int axis, int64_t i, int64_t k);

/* The checks that all operators with a descriptor share. */
void check_image(const node *n, int i);

/* A copy of the descriptor, which may change later. */
void node_window(node *n, id descriptor);
const window_descriptor *window_of(const node *n);

#endif
