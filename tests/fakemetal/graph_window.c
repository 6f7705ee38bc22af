/*
 * graph_window.c - the descriptors of convolutions and pools, and the geometry they describe.
 *
 * The padding styles are TensorFlow's VALID and SAME and ONNX's SAME_LOWER; with them explicit paddings
 * are ignored.
 */
#include "graph_window.h"

#include <string.h>

/* ---- Descriptors. */

#define FIELD(number, field)                                                          \
  static number get_##field(id self) { return ((window_descriptor *)self)->field; }   \
  static void set_##field(id self, SEL cmd, number v) { (void)cmd, ((window_descriptor *)self)->field = v; }
FIELD(uint64_t, strideInX)
FIELD(uint64_t, strideInY)
FIELD(uint64_t, dilationRateInX)
FIELD(uint64_t, dilationRateInY)
FIELD(uint64_t, groups)
FIELD(uint64_t, paddingLeft)
FIELD(uint64_t, paddingRight)
FIELD(uint64_t, paddingTop)
FIELD(uint64_t, paddingBottom)
FIELD(uint64_t, paddingStyle)
FIELD(uint64_t, dataLayout)
FIELD(uint64_t, weightsLayout)
FIELD(uint64_t, kernelWidth)
FIELD(uint64_t, kernelHeight)
FIELD(uint64_t, returnIndicesMode)
FIELD(uint32_t, returnIndicesDataType)
FIELD(BOOL, ceilMode)
FIELD(BOOL, includeZeroPadToAverage)

static id window_new(class_ *self) {
  window_descriptor *d = (window_descriptor *)object_make(self);
  d->strideInX = d->strideInY = d->dilationRateInX = d->dilationRateInY = d->groups = 1;
  d->weightsLayout = LAYOUT_OIHW, d->returnIndicesDataType = INT32;
  return &d->head;
}

static void set_paddings(id self, SEL cmd, uint64_t left, uint64_t right, uint64_t top, uint64_t bottom) {
  (void)cmd;
  window_descriptor *d = (window_descriptor *)self;
  d->paddingLeft = left, d->paddingRight = right, d->paddingTop = top, d->paddingBottom = bottom;
}

static window_descriptor *window_with(class_ *self, uint64_t stride_x, uint64_t stride_y, uint64_t dilation_x, uint64_t dilation_y, uint64_t style, uint64_t layout) {
  window_descriptor *d = (window_descriptor *)autorelease(window_new(self));
  d->strideInX = stride_x, d->strideInY = stride_y, d->dilationRateInX = dilation_x, d->dilationRateInY = dilation_y;
  d->paddingStyle = style, d->dataLayout = layout;
  return d;
}

static id convolution_with(class_ *self, SEL cmd, uint64_t stride_x, uint64_t stride_y, uint64_t dilation_x, uint64_t dilation_y, uint64_t groups, uint64_t left,
                           uint64_t right, uint64_t top, uint64_t bottom, uint64_t style, uint64_t layout, uint64_t weights) {
  window_descriptor *d = window_with(self, stride_x, stride_y, dilation_x, dilation_y, style, layout);
  set_paddings(&d->head, cmd, left, right, top, bottom);
  d->groups = groups, d->weightsLayout = weights;
  return &d->head;
}

static id convolution_unpadded(class_ *self, SEL cmd, uint64_t stride_x, uint64_t stride_y, uint64_t dilation_x, uint64_t dilation_y, uint64_t groups, uint64_t style,
                               uint64_t layout, uint64_t weights) {
  return convolution_with(self, cmd, stride_x, stride_y, dilation_x, dilation_y, groups, 0, 0, 0, 0, style, layout, weights);
}

static id depthwise_with(class_ *self, SEL cmd, uint64_t stride_x, uint64_t stride_y, uint64_t dilation_x, uint64_t dilation_y, uint64_t left, uint64_t right,
                         uint64_t top, uint64_t bottom, uint64_t style, uint64_t layout, uint64_t weights) {
  return convolution_with(self, cmd, stride_x, stride_y, dilation_x, dilation_y, 1, left, right, top, bottom, style, layout, weights);
}

static id pool_with(class_ *self, SEL cmd, uint64_t width, uint64_t height, uint64_t stride_x, uint64_t stride_y, uint64_t dilation_x, uint64_t dilation_y,
                    uint64_t left, uint64_t right, uint64_t top, uint64_t bottom, uint64_t style, uint64_t layout) {
  window_descriptor *d = window_with(self, stride_x, stride_y, dilation_x, dilation_y, style, layout);
  set_paddings(&d->head, cmd, left, right, top, bottom);
  d->kernelWidth = width, d->kernelHeight = height;
  return &d->head;
}

static id pool_unpadded(class_ *self, SEL cmd, uint64_t width, uint64_t height, uint64_t stride_x, uint64_t stride_y, uint64_t style, uint64_t layout) {
  return pool_with(self, cmd, width, height, stride_x, stride_y, 1, 1, 0, 0, 0, 0, style, layout);
}

#define PROPERTY(name, setter) INSTANCE(#name, get_##name), INSTANCE(setter, set_##name)
#define WINDOW_METHODS                                                                       \
  CLASS("new", window_new), CLASS("alloc", window_new),                                      \
      PROPERTY(strideInX, "setStrideInX:"), PROPERTY(strideInY, "setStrideInY:"),            \
      PROPERTY(dilationRateInX, "setDilationRateInX:"), PROPERTY(dilationRateInY, "setDilationRateInY:"), \
      PROPERTY(paddingLeft, "setPaddingLeft:"), PROPERTY(paddingRight, "setPaddingRight:"),  \
      PROPERTY(paddingTop, "setPaddingTop:"), PROPERTY(paddingBottom, "setPaddingBottom:"),  \
      PROPERTY(paddingStyle, "setPaddingStyle:"), PROPERTY(dataLayout, "setDataLayout:"),    \
      INSTANCE("setExplicitPaddingWithPaddingLeft:paddingRight:paddingTop:paddingBottom:", set_paddings)

static const method convolution_methods[] = {
    WINDOW_METHODS,
    PROPERTY(groups, "setGroups:"),
    PROPERTY(weightsLayout, "setWeightsLayout:"),
    CLASS("descriptorWithStrideInX:strideInY:dilationRateInX:dilationRateInY:groups:paddingLeft:paddingRight:paddingTop:paddingBottom:paddingStyle:dataLayout:weightsLayout:", convolution_with),
    CLASS("descriptorWithStrideInX:strideInY:dilationRateInX:dilationRateInY:groups:paddingStyle:dataLayout:weightsLayout:", convolution_unpadded),
};

static const method depthwise_methods[] = {
    WINDOW_METHODS,
    PROPERTY(weightsLayout, "setWeightsLayout:"),
    CLASS("descriptorWithStrideInX:strideInY:dilationRateInX:dilationRateInY:paddingLeft:paddingRight:paddingTop:paddingBottom:paddingStyle:dataLayout:weightsLayout:", depthwise_with),
};

static const method pool_methods[] = {
    WINDOW_METHODS,
    PROPERTY(kernelWidth, "setKernelWidth:"),
    PROPERTY(kernelHeight, "setKernelHeight:"),
    PROPERTY(ceilMode, "setCeilMode:"),
    PROPERTY(includeZeroPadToAverage, "setIncludeZeroPadToAverage:"),
    PROPERTY(returnIndicesMode, "setReturnIndicesMode:"),
    PROPERTY(returnIndicesDataType, "setReturnIndicesDataType:"),
    CLASS("descriptorWithKernelWidth:kernelHeight:strideInX:strideInY:dilationRateInX:dilationRateInY:paddingLeft:paddingRight:paddingTop:paddingBottom:paddingStyle:dataLayout:", pool_with),
    CLASS("descriptorWithKernelWidth:kernelHeight:strideInX:strideInY:paddingStyle:dataLayout:", pool_unpadded),
};

void node_window(node *n, id descriptor) {
  window_descriptor *d = (window_descriptor *)object_make(descriptor->isa);
  const window_descriptor *from = (const window_descriptor *)descriptor;
  memcpy(&d->head + 1, &from->head + 1, sizeof *d - sizeof d->head);
  n->descriptor = &d->head;
}

const window_descriptor *window_of(const node *n) { return (const window_descriptor *)n->descriptor; }

/* ---- Geometry. */

/* Which axes of a shape are outer, channels, rows and columns. */
static const int *axes_of(uint64_t layout) {
  static const int axes[][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 1, 2, 3}, {3, 2, 0, 1}};
  if (layout > LAYOUT_HWIO) misuse("data layout %llu; want NCHW, NHWC, OIHW or HWIO", (unsigned long long)layout);
  return axes[layout];
}

image image_of(const shape *s, uint64_t layout) {
  int64_t strides[MOST_AXES];
  const int *axes = axes_of(layout);
  shape_strides(s, strides);
  return (image){
      s->at[axes[0]],    s->at[axes[1]],    {s->at[axes[2]], s->at[axes[3]]},
      strides[axes[0]], strides[axes[1]], {strides[axes[2]], strides[axes[3]]},
  };
}

shape image_shape(uint64_t layout, int64_t outer, int64_t channels, int64_t rows, int64_t columns) {
  const int *axes = axes_of(layout);
  shape s = {.rank = 4};
  s.at[axes[0]] = outer, s.at[axes[1]] = channels, s.at[axes[2]] = rows, s.at[axes[3]] = columns;
  return s;
}

void check_image(const node *n, int i) {
  const form *x = input(n, i);
  node_real_type(n, i);
  node_same_type(n, 0, i);
  if (x->shape.rank != 4) misuse("an operand of shape %s; want four axes", shape_text(&x->shape));
}

/* lay fills in how many windows there are along an axis, and how much lies before the image. */
static void lay(windows *w, const window_descriptor *d, int axis, int64_t extent, int64_t after) {
  int64_t reach = (w->kernel[axis] - 1) * w->dilation[axis] + 1, step = w->step[axis];
  if (d->paddingStyle == STYLE_SAME || d->paddingStyle == STYLE_SAME_LOWER) {
    w->count[axis] = (extent + step - 1) / step;
    int64_t missing = (w->count[axis] - 1) * step + reach - extent;
    if (missing < 0) missing = 0;
    w->before[axis] = d->paddingStyle == STYLE_SAME ? missing / 2 : missing - missing / 2;
    return;
  }
  if (d->paddingStyle == STYLE_VALID) w->before[axis] = after = 0;
  int64_t room = extent + w->before[axis] + after - reach;
  if (room < 0) misuse("a window of %lld does not fit into %lld", (long long)reach, (long long)(room + reach));
  w->count[axis] = room / step + 1;
  bool another = d->ceilMode && room % step != 0 && w->count[axis] * step < extent + w->before[axis];
  w->count[axis] += another;
}

windows windows_of(const window_descriptor *d, const image *in, int64_t rows, int64_t columns) {
  windows w = {
      .kernel = {rows, columns},
      .step = {(int64_t)d->strideInY, (int64_t)d->strideInX},
      .dilation = {(int64_t)d->dilationRateInY, (int64_t)d->dilationRateInX},
      .before = {(int64_t)d->paddingTop, (int64_t)d->paddingLeft},
  };
  if (d->paddingStyle != STYLE_EXPLICIT && d->paddingStyle != STYLE_VALID && d->paddingStyle != STYLE_SAME && d->paddingStyle != STYLE_SAME_LOWER)
    misuse("padding style %llu; the fake lacks it", (unsigned long long)d->paddingStyle);
  if (d->strideInX < 1 || d->strideInY < 1 || d->dilationRateInX < 1 || d->dilationRateInY < 1) misuse("a stride or dilation is 0");
  if (rows < 1 || columns < 1) misuse("a kernel of %lld x %lld", (long long)rows, (long long)columns);
  lay(&w, d, Y, in->extent[Y], (int64_t)d->paddingBottom);
  lay(&w, d, X, in->extent[X], (int64_t)d->paddingRight);
  return w;
}

int64_t window_at(const windows *w, const image *in, int axis, int64_t i, int64_t k) {
  int64_t at = i * w->step[axis] - w->before[axis] + k * w->dilation[axis];
  return at < 0 || at >= in->extent[axis] ? -1 : at;
}

__attribute__((constructor)) static void define(void) {
  static const class_def definitions[] = {
      {"MPSGraphConvolution2DOpDescriptor", "NSObject", NULL, sizeof(window_descriptor), NULL, METHODS(convolution_methods)},
      {"MPSGraphDepthwiseConvolution2DOpDescriptor", "NSObject", NULL, sizeof(window_descriptor), NULL, METHODS(depthwise_methods)},
      {"MPSGraphPooling2DOpDescriptor", "NSObject", NULL, sizeof(window_descriptor), NULL, METHODS(pool_methods)},
  };
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) class_define(&definitions[i]);
}
