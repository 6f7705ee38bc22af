/*
 * graph_window.c - tests of convolutions, pools and normalization. What convolutions answer has been worked
 * out by padding lists and multiplying windows of them, their gradients one unit vector at a time.
 */
#include "graph_text.h"

enum { NCHW = 0, NHWC = 1, OIHW = 2, HWIO = 3 };
enum { EXPLICIT = 0, VALID = 1, SAME = 2, SAME_LOWER = 4 };

#define CONVOLUTION "convolution2DWithSourceTensor:weightsTensor:descriptor:name:"
#define X "f32 1 2 3 4: 0 2 -1 1 -2 0 2 -1 1 -2 0 2 -1 1 -2 0 2 -1 1 -2 0 2 -1 1"
#define W "f32 2 2 2 2: 0 3 -1 2 -2 1 -3 0 3 -1 2 -2 1 -3 0 3"
#define X_NHWC "f32 1 3 4 2: 0 -1 2 1 -1 -2 1 0 -2 2 0 -1 2 1 -1 -2 1 0 -2 2 0 -1 2 1"
#define W_HWIO "f32 2 2 2 2: 0 3 -2 1 3 -1 1 -3 -1 2 -3 0 2 -2 0 3"
#define GRADIENT "f32 1 2 2 5: 2 0 -2 3 1 -1 -3 2 0 -2 3 1 -1 -3 2 0 -2 3 1 -1"

/* A descriptor of a convolution. */
typedef struct {
  intptr_t stride_x, stride_y, dilation_x, dilation_y, groups, left, right, top, bottom, style, layout, weights;
} convolution;

static const convolution plain = {1, 1, 1, 1, 1, 0, 0, 0, 0, EXPLICIT, NCHW, OIHW};
static const convolution skew = {1, 2, 1, 1, 1, 1, 1, 1, 0, EXPLICIT, NCHW, OIHW};

static id describe(const convolution *c) {
  typedef intptr_t i;
  return SEND(id, (id, SEL, i, i, i, i, i, i, i, i, i, i, i, i), class_of("MPSGraphConvolution2DOpDescriptor"),
              "descriptorWithStrideInX:strideInY:dilationRateInX:dilationRateInY:groups:paddingLeft:paddingRight:paddingTop:paddingBottom:paddingStyle:dataLayout:weightsLayout:",
              c->stride_x, c->stride_y, c->dilation_x, c->dilation_y, c->groups, c->left, c->right, c->top, c->bottom, c->style, c->layout, c->weights);
}

static id depthwise(void) {
  id d = send0(class_of("MPSGraphDepthwiseConvolution2DOpDescriptor"), "new");
  send1(d, "setWeightsLayout:", OIHW);
  return d;
}

static id pool(intptr_t size, intptr_t stride, intptr_t pad) {
  typedef intptr_t i;
  return SEND(id, (id, SEL, i, i, i, i, i, i, i, i, i, i, i, i), class_of("MPSGraphPooling2DOpDescriptor"),
              "descriptorWithKernelWidth:kernelHeight:strideInX:strideInY:dilationRateInX:dilationRateInY:paddingLeft:paddingRight:paddingTop:paddingBottom:paddingStyle:dataLayout:",
              size, size, stride, stride, 1, 1, pad, pad, pad, pad, EXPLICIT, NCHW);
}

static text_graph g;

/* holds says whether tensors of the graph, one or an array of them, are what is written. */
static void holds(const char *title, id answer, const char *wanted) { expect(run_and_compare(&g, answer, wanted, 0), title); }

static void convolves(const char *title, const convolution *c, const char *x, const char *w, const char *want) {
  holds(title, send4(g.graph, CONVOLUTION, feed_text(&g, x), feed_text(&g, w), describe(c), NULL), want);
}

static void try_paddings(void) {
  convolves("a convolution with strides and pads", &skew, X, W, "f32 1 2 2 5: 0 7 -7 9 -1 -2 -10 5 0 -1 -3 -1 0 -4 2 -6 11 -13 13 -1");
}

static void try_styles(void) {
  convolution same = plain, lower = plain;
  same.stride_y = lower.stride_y = 2, same.style = SAME, lower.style = SAME_LOWER, same.left = 7;
  convolves("a convolution as large as its image; explicit pads are ignored", &same, X, W, "f32 1 2 2 4: 5 0 0 7 -4 -5 9 -2 -13 13 -6 1 -1 -1 -6 7");
  convolves("one that pads before", &lower, X, W, "f32 1 2 2 4: 0 7 -7 9 -2 -10 5 0 -3 -1 0 -4 -6 11 -13 13");
}

static void try_layouts(void) {
  convolution c = skew;
  c.layout = NHWC, c.weights = HWIO;
  convolves("a convolution of NHWC by HWIO", &c, X_NHWC, W_HWIO, "f32 1 2 5 2: 0 -3 7 -1 -7 0 9 -4 -1 2 -2 -6 -10 11 5 -13 0 13 -1 -1");
}

static void try_dilation(void) {
  convolution c = plain;
  c.dilation_x = 2;
  convolves("a dilated convolution", &c, X, W, "f32 1 2 2 2: -3 2 2 -3 1 2 -10 1");
}

static void try_groups(void) {
  convolution c = plain;
  c.groups = 2;
  convolves("a convolution in groups", &c, X, "f32 4 1 2 2: 0 3 -1 2 -2 1 -3 0 3 -1 2 -2 1 -3 0 3", "f32 1 4 2 3: 8 1 -1 -5 8 1 8 -5 -3 1 8 -5 2 1 0 3 2 1 -7 10 -8 11 -7 10");
}

static void try_depthwise(void) {
  id d = depthwise();
  holds("a depthwise convolution", send4(g.graph, "depthwiseConvolution2DWithSourceTensor:weightsTensor:descriptor:name:", feed_text(&g, X), feed_text(&g, W), d, NULL),
        "f32 1 4 2 3: 8 1 -1 -5 8 1 -6 3 2 0 -6 3 -3 -1 1 -5 -3 -1 -7 10 -8 11 -7 10");
  objc_release(d);
}

static void try_gradients(void) {
  static const char want[] = "f32 1 2 3 4: 0 -2 -11 15 -9 2 6 -4 -3 2 0 -2 9 9 -12 -12 3 2 -6 0 9 -12 9 9";
  id s = integers((int64_t[]){1, 2, 3, 4}, 4), weights = integers((int64_t[]){2, 2, 2, 2}, 4);
  id dy = feed_text(&g, GRADIENT), x = feed_text(&g, X), w = feed_text(&g, W), d = describe(&skew);
  id dx = send5(g.graph, "convolution2DDataGradientWithIncomingGradientTensor:weightsTensor:outputShape:forwardConvolutionDescriptor:name:", dy, w, s, d, NULL);
  holds("the gradient of an image", dx, want);
  holds("a transposed convolution is the same", send5(g.graph, "convolutionTranspose2DWithSourceTensor:weightsTensor:outputShape:descriptor:name:", dy, w, s, d, NULL), want);
  id dw = send5(g.graph, "convolution2DWeightsGradientWithIncomingGradientTensor:sourceTensor:outputShape:forwardConvolutionDescriptor:name:", dy, x, weights, d, NULL);
  holds("the gradient of weights", dw, "f32 2 2 2 2: 8 6 -17 10 -4 3 -6 -6 7 5 -7 6 -4 3 8 -6");
}

#define SQUARE "f32 1 1 3 3: 1 2 3 4 9 6 7 8 5"

static void try_pools(void) {
  id x = feed_text(&g, SQUARE), d = pool(2, 1, 0), padded = pool(2, 2, 1);
  holds("a maximum of windows", send3(g.graph, "maxPooling2DWithSourceTensor:descriptor:name:", x, d, NULL), "f32 1 1 2 2: 9 9 9 9");
  holds("an average of windows", send3(g.graph, "avgPooling2DWithSourceTensor:descriptor:name:", x, d, NULL), "f32 1 1 2 2: 4 5 7 7");
  holds("what is padded does not count", send3(g.graph, "avgPooling2DWithSourceTensor:descriptor:name:", x, padded, NULL), "f32 1 1 2 2: 1 2.5 5.5 7");
  send1(padded, "setIncludeZeroPadToAverage:", 1);
  holds("unless it is to", send3(g.graph, "avgPooling2DWithSourceTensor:descriptor:name:", x, padded, NULL), "f32 1 1 2 2: 0.25 1.25 2.75 7");
  id wide = pool(2, 2, 0);
  holds("what no window fits into is left out", send3(g.graph, "maxPooling2DWithSourceTensor:descriptor:name:", x, wide, NULL), "f32 1 1 1 1: 9");
  send1(wide, "setCeilMode:", 1);
  holds("or has windows of its own", send3(g.graph, "maxPooling2DWithSourceTensor:descriptor:name:", x, wide, NULL), "f32 1 1 2 2: 9 6 8 5");
}

static void try_indices(void) {
  id x = feed_text(&g, SQUARE), d = pool(2, 2, 1);
  send1(d, "setReturnIndicesMode:", 2);
  holds("maxima know where they are", send3(g.graph, "maxPooling2DReturnIndicesWithSourceTensor:descriptor:name:", x, d, NULL), "f32 1 1 2 2: 1 3 7 9; i32 1 1 2 2: 0 2 6 4");
  send1(d, "setReturnIndicesMode:", 6);
  holds("and where in their windows", send3(g.graph, "maxPooling2DReturnIndicesWithSourceTensor:descriptor:name:", x, d, NULL), "f32 1 1 2 2: 1 3 7 9; i32 1 1 2 2: 3 3 3 0");
}

static void try_pool_gradients(void) {
  id x = feed_text(&g, SQUARE), dy = feed_text(&g, "f32 1 1 2 2: 1 2 3 4");
  holds("the gradient of maxima", send4(g.graph, "maxPooling2DGradientWithGradientTensor:sourceTensor:descriptor:name:", dy, x, pool(2, 1, 0), NULL), "f32 1 1 3 3: 0 0 0 0 10 0 0 0 0");
  holds("the gradient of averages", send4(g.graph, "avgPooling2DGradientWithGradientTensor:sourceTensor:descriptor:name:", dy, x, pool(2, 2, 1), NULL), "f32 1 1 3 3: 1 1 1 1.5 1 1 1.5 1 1");
}

typedef struct {
  id x, mean, variance, gamma, beta;
} statistics;

/* Rows of 1, 3 and 5, 9: means 2 and 7, variances 1 and 4. */
static statistics rows(void) {
  return (statistics){feed_text(&g, "f32 2 2: 1 3 5 9"), feed_text(&g, "f32 2 1: 2 7"), feed_text(&g, "f32 2 1: 1 4"), feed_text(&g, "f32 1 2: 2 3"), feed_text(&g, "f32 1 2: 10 20")};
}

static id normalized(const statistics *s, id gamma, id beta) {
  return SEND(id, (id, SEL, id, id, id, id, id, float, id), g.graph, "normalizationWithTensor:meanTensor:varianceTensor:gammaTensor:betaTensor:epsilon:name:", s->x, s->mean, s->variance, gamma,
              beta, 0.0f, NULL);
}

static void try_normalization(void) {
  statistics s = rows();
  holds("a normalization", normalized(&s, s.gamma, s.beta), "f32 2 2: 8 23 8 23");
  holds("one without gamma and beta", normalized(&s, NULL, NULL), "f32 2 2: -1 1 -1 1");
}

/* Statistics over columns, gradients over rows: dy is 1, 2 and 3, 5. */
static void try_normalization_gradients(void) {
  statistics s = rows();
  id dy = feed_text(&g, "f32 2 2: 1 2 3 5"), axes = integers((int64_t[]){0}, 1), last = integers((int64_t[]){1}, 1);
  holds("the gradient of beta", send4(g.graph, "normalizationBetaGradientWithIncomingGradientTensor:sourceTensor:reductionAxes:name:", dy, s.x, axes, NULL), "f32 1 2: 4 7");
  id gamma = SEND(id, (id, SEL, id, id, id, id, id, float, id), g.graph,
                  "normalizationGammaGradientWithIncomingGradientTensor:sourceTensor:meanTensor:varianceTensor:reductionAxes:epsilon:name:", dy, s.x, s.mean, s.variance, last, 0.0f, NULL);
  holds("the gradient of gamma", gamma, "f32 2 1: 1 2");
  id beta = send4(g.graph, "normalizationBetaGradientWithIncomingGradientTensor:sourceTensor:reductionAxes:name:", dy, s.x, last, NULL);
  id dx = SEND(id, (id, SEL, id, id, id, id, id, id, id, id, float, id), g.graph,
               "normalizationGradientWithIncomingGradientTensor:sourceTensor:meanTensor:varianceTensor:gammaTensor:gammaGradientTensor:betaGradientTensor:reductionAxes:epsilon:name:", dy, s.x,
               s.mean, s.variance, NULL, gamma, beta, last, 0.0f, NULL);
  holds("two values a row have no gradient", dx, "f32 2 2: 0 0 0 0");
}

/* ---- What has to be refused. */

static void convolve_wrongly(convolution c, const char *x, const char *w) {
  open_graph(&g);
  send4(g.graph, CONVOLUTION, feed_text(&g, x), feed_text(&g, w), describe(&c), NULL);
}

static void three_axes(void) { convolve_wrongly(plain, "f32 1 3 4:", W); }
static void other_type(void) { convolve_wrongly(plain, X, "f16 2 2 2 2:"); }
static void other_channels(void) { convolve_wrongly(plain, X, "f32 2 3 2 2:"); }
static void large_kernel(void) { convolve_wrongly(plain, X, "f32 2 2 4 2:"); }

static void three_groups(void) {
  convolution c = plain;
  c.groups = 3;
  convolve_wrongly(c, X, W);
}

static void no_stride(void) {
  convolution c = plain;
  c.stride_x = 0;
  convolve_wrongly(c, X, W);
}

static void other_gradient(void) {
  open_graph(&g);
  send5(g.graph, "convolution2DDataGradientWithIncomingGradientTensor:weightsTensor:outputShape:forwardConvolutionDescriptor:name:", feed_text(&g, GRADIENT), feed_text(&g, W),
        integers((int64_t[]){1, 2, 3, 4}, 4), describe(&plain), NULL);
}

static void no_indices(void) {
  open_graph(&g);
  send3(g.graph, "maxPooling2DReturnIndicesWithSourceTensor:descriptor:name:", feed_text(&g, SQUARE), pool(2, 1, 0), NULL);
}

static void large_mean(void) {
  open_graph(&g);
  statistics s = {feed_text(&g, "f32 1 2: 1 2"), feed_text(&g, "f32 2 2: 1 2 3 4"), feed_text(&g, "f32 1: 1"), NULL, NULL};
  normalized(&s, NULL, NULL);
}

static const struct {
  const char *what, *want;
  void (*body)(void);
} misuses[] = {
    {"an image of three axes", "an operand of shape [1, 3, 4]; want four axes", three_axes},
    {"weights of another type", "operands of types Float32 and Float16", other_type},
    {"weights for other channels", "weights for 3 channels; want 2", other_channels},
    {"a kernel larger than the image", "a window of 4 does not fit into 3", large_kernel},
    {"groups that do not divide", "3 groups of 2 channels", three_groups},
    {"a convolution that goes nowhere", "a stride or dilation is 0", no_stride},
    {"a gradient of another shape", "a gradient of shape [1, 2, 2, 5]; the forward result is [1, 2, 2, 3]", other_gradient},
    {"indices without a mode", "the mode of the indices is None", no_indices},
    {"a mean larger than its tensor", "a parameter of shape [2, 2] for [1, 2]", large_mean},
};

static void (*const tries[])(void) = {
    try_paddings, try_styles, try_layouts, try_dilation, try_groups, try_depthwise, try_gradients, try_pools, try_indices, try_pool_gradients, try_normalization, try_normalization_gradients,
};

int main(void) {
  for (size_t i = 0; i < sizeof misuses / sizeof *misuses; i++) misused(misuses[i].what, NULL, misuses[i].want, misuses[i].body);
  if (getenv("CHECK_ROW")) return 0;
  for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
    void *pool = objc_autoreleasePoolPush();
    open_graph(&g);
    tries[i]();
    close_graph(&g);
    objc_autoreleasePoolPop(pool);
  }
  return failures() != 0;
}
