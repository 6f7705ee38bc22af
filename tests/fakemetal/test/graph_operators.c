/*
 * graph_operators.c - tests of the operators that move, reduce, order, multiply and look up: a row has
 * the arguments and what comes out, worked out by hand.
 */
#include "graph_text.h"

#define AXES(name) name "WithTensor:axes:name:"
#define CUMULATIVE(name) name "WithTensor:axis:exclusive:reverse:name:"
#define SLICE "sliceTensor:starts:ends:strides:name:"
#define PAD "padTensor:withPaddingMode:leftPadding:rightPadding:constantValue:name:"
#define MATMUL "matrixMultiplicationWithPrimaryTensor:secondaryTensor:name:"
#define GATHER "gatherWithUpdatesTensor:indicesTensor:axis:batchDimensions:name:"
#define GATHER_ND "gatherNDWithUpdatesTensor:indicesTensor:batchDimensions:name:"
#define SCATTER "scatterWithDataTensor:updatesTensor:indicesTensor:axis:mode:name:"
#define SCATTER_ND "scatterNDWithDataTensor:updatesTensor:indicesTensor:batchDimensions:mode:name:"
#define SCATTER_ALONG "scatterAlongAxis:withDataTensor:updatesTensor:indicesTensor:mode:name:"
#define SIX "f32 2 3: 1 2 3 4 5 6"

static const struct {
  const char *name, *arguments, *want;
} rows[] = {
    {"reshapeTensor:withShape:name:", SIX " | [3 2]", "f32 3 2: 1 2 3 4 5 6"},
    {"reshapeTensor:withShape:name:", SIX " | [-1 1]", "f32 6 1: 1 2 3 4 5 6"},
    {"expandDimsOfTensor:axes:name:", SIX " | [0 -1]", "f32 1 2 3 1: 1 2 3 4 5 6"},
    {"expandDimsOfTensor:axis:name:", SIX " | 1", "f32 2 1 3: 1 2 3 4 5 6"},
    {"squeezeTensor:axes:name:", "f32 1 2 1: 1 2 | [0]", "f32 2 1: 1 2"},
    {"squeezeTensor:axes:name:", "f32 1 2 1: 1 2 | []", "f32 1 2 1: 1 2"},
    {"squeezeTensor:axis:name:", "f32 1 2 1: 1 2 | -1", "f32 1 2: 1 2"},
    {"squeezeTensor:name:", "f32 1 2 1: 1 2", "f32 2: 1 2"},
    {"flatten2DTensor:axis:name:", "f32 2 1 2: 1 2 3 4 | 1", "f32 2 2: 1 2 3 4"},
    {"transposeTensor:permutation:name:", SIX " | [1 0]", "f32 3 2: 1 4 2 5 3 6"},
    {"transposeTensor:permutation:name:", "i32 1 2 3: 1 2 3 4 5 6 | [2 0 -2]", "i32 3 1 2: 1 4 2 5 3 6"},
    {"transposeTensor:dimension:withDimension:name:", SIX " | 0 | 1", "f32 3 2: 1 4 2 5 3 6"},
    {"broadcastTensor:toShape:name:", "f32 2 1: 1 2 | [2 2 3]", "f32 2 2 3: 1 1 1 2 2 2 1 1 1 2 2 2"},
    {"tileTensor:withMultiplier:name:", "f32 1 2: 1 2 | [2 2]", "f32 2 4: 1 2 1 2 1 2 1 2"},
    {"reverseTensor:axes:name:", SIX " | [1]", "f32 2 3: 3 2 1 6 5 4"},
    {"reverseTensor:axes:name:", SIX " | []", "f32 2 3: 6 5 4 3 2 1"},
    {"reverseTensor:name:", SIX, "f32 2 3: 6 5 4 3 2 1"},
    {"concatTensors:dimension:name:", "(f32 2 1: 1 2; f32 2 2: 3 4 5 6) | 1", "f32 2 3: 1 3 4 2 5 6"},
    {"concatTensors:dimension:name:", "(f32 1 2: 1 2; f32 2 2: 3 4 5 6) | -2", "f32 3 2: 1 2 3 4 5 6"},
    {"concatTensor:withTensor:dimension:name:", "i64 1: 1 | i64 2: 2 3 | 0", "i64 3: 1 2 3"},
    {"stackTensors:axis:name:", "(f32 2: 1 2; f32 2: 3 4) | 0", "f32 2 2: 1 2 3 4"},
    {"stackTensors:axis:name:", "(f32 2: 1 2; f32 2: 3 4) | -1", "f32 2 2: 1 3 2 4"},
    {"splitTensor:splitSizes:axis:name:", SIX " | [1 2] | 1", "f32 2 1: 1 4; f32 2 2: 2 3 5 6"},
    {"splitTensor:numSplits:axis:name:", SIX " | 2 | 0", "f32 1 3: 1 2 3; f32 1 3: 4 5 6"},
    {SLICE, SIX " | [0 1] | [2 3] | [1 1]", "f32 2 2: 2 3 5 6"},
    {SLICE, "f32 6: 0 1 2 3 4 5 | [-5] | [99] | [2]", "f32 3: 1 3 5"},
    {SLICE, "f32 6: 0 1 2 3 4 5 | [1] | [-1] | [3]", "f32 2: 1 4"},
    {"sliceTensor:dimension:start:length:name:", SIX " | 1 | -2 | 2", "f32 2 2: 2 3 5 6"},
    {"sliceUpdateDataTensor:updateTensor:starts:ends:strides:name:", "f32 4: 1 2 3 4 | f32 2: 8 9 | [0] | [4] | [2]", "f32 4: 8 2 9 4"},
    {PAD, "f32 2: 1 2 | 0 | [1] | [2] | =7.5", "f32 5: 7.5 1 2 7.5 7.5"},
    {PAD, "f32 3: 1 2 3 | 1 | [2] | [1] | =0", "f32 6: 3 2 1 2 3 2"},
    {PAD, "f32 3: 1 2 3 | 2 | [2] | [1] | =0", "f32 6: 2 1 1 2 3 3"},
    {PAD, "f32 2: 1 2 | 3 | [2] | [1] | =0", "f32 5: 1 1 1 2 2"},
    {PAD, "i32 1 2: 1 2 | 4 | [1 0] | [0 1] | =9", "i32 2 3: 0 0 0 1 2 0"},
    {"shapeOfTensor:name:", SIX, "i32 2: 2 3"},

    {AXES("reductionSum"), SIX " | [1]", "f32 2 1: 6 15"},
    {AXES("reductionSum"), SIX " | [-2 0]", "f32 1 3: 5 7 9"},
    {AXES("reductionSum"), SIX " | nil", "f32 1 1: 21"},
    {AXES("reductionSum"), SIX " | []", "f32 2 3: 1 2 3 4 5 6"},
    {AXES("reductionSum"), "f32 3: 1e8 1 -1e8 | nil", "f32 1: 1"},
    {AXES("reductionSum"), "i8 2: 100 100 | nil", "i8 1: -56"},
    {"reductionSumWithTensor:axis:name:", SIX " | -1", "f32 2 1: 6 15"},
    {AXES("reductionProduct"), SIX " | [0]", "f32 1 3: 4 10 18"},
    {AXES("reductionMaximum"), "f32 2 2: nan 1 nan nan | [1]", "f32 2 1: 1 -inf"},
    {AXES("reductionMinimum"), "f32 2 2: nan 1 nan nan | [1]", "f32 2 1: 1 inf"},
    {AXES("reductionMinimum"), "i32 3: 4 -7 2 | nil", "i32 1: -7"},
    {AXES("reductionMaximumPropagateNaN"), "f32 2 2: nan 1 2 3 | [1]", "f32 2 1: nan 3"},
    {AXES("reductionMinimumPropagateNaN"), "f32 2 2: 1 nan 2 3 | [1]", "f32 2 1: nan 2"},
    {AXES("reductionAnd"), "b 2 2: 1 1 1 0 | [1]", "b 2 1: 1 0"},
    {AXES("reductionOr"), "f32 2 2: 0 nan 0 0 | [1]", "f32 2 1: 1 0"},
    {"reductionArgMaximumWithTensor:axis:name:", "f32 3 3: 1 5 5 nan 2 1 nan nan nan | 1", "i32 3 1: 1 1 -1"},
    {"reductionArgMinimumWithTensor:axis:name:", "i32 2 3: 3 1 1 0 2 0 | -1", "i32 2 1: 1 0"},
    {"meanOfTensor:axes:name:", SIX " | [0]", "f32 1 3: 2.5 3.5 4.5"},
    {"meanOfTensor:axes:name:", "i32 2: 3 4 | nil", "i32 1: 3"},
    {"varianceOfTensor:axes:name:", "f32 4: 1 2 3 4 | nil", "f32 1: 1.25"},
    {"varianceOfTensor:meanTensor:axes:name:", "f32 2: 1 3 | f32 1: 1 | [0]", "f32 1: 2"},
    {CUMULATIVE("cumulativeSum"), SIX " | 1 | 0 | 0", "f32 2 3: 1 3 6 4 9 15"},
    {CUMULATIVE("cumulativeSum"), SIX " | 0 | 1 | 0", "f32 2 3: 0 0 0 1 2 3"},
    {CUMULATIVE("cumulativeSum"), SIX " | 1 | 0 | 1", "f32 2 3: 6 5 3 15 11 6"},
    {CUMULATIVE("cumulativeProduct"), "i32 3: 2 3 4 | 0 | 1 | 0", "i32 3: 1 2 6"},
    {CUMULATIVE("cumulativeMaximum"), "f32 4: 2 nan 1 3 | 0 | 0 | 0", "f32 4: 2 2 2 3"},
    {CUMULATIVE("cumulativeMaximum"), "f32 2: 2 3 | 0 | 1 | 0", "f32 2: -3.40282347e38 2"},
    {CUMULATIVE("cumulativeMinimum"), "i32 2: 2 1 | 0 | 1 | 0", "i32 2: 2147483647 2"},
    {"cumulativeSumWithTensor:axis:name:", "f16 2: 2048 1 | 0", "f16 2: 2048 2048"},
    {"softMaxWithTensor:axis:name:", "f32 2 2: 0 0 1000 1001 | 1", "f32 2 2: 0.5 0.5 0.268941421 0.731058579"},
    {"softMaxGradientWithIncomingGradient:sourceTensor:axis:name:", "f32 2: 1 0 | f32 2: 0 0 | 0", "f32 2: 0.25 -0.25"},

    {"sortWithTensor:axis:descending:name:", "f32 2 3: 3 1 2 nan 5 4 | 1 | 0", "f32 2 3: 1 2 3 4 5 nan"},
    {"sortWithTensor:axis:descending:name:", "i32 3 1: 1 3 2 | 0 | 1", "i32 3 1: 3 2 1"},
    {"argSortWithTensor:axis:descending:name:", "f32 4: 3 1 2 1 | -1 | 0", "i32 4: 1 3 2 0"},
    {"argSortWithTensor:axis:name:", "i64 2: 9 8 | 0", "i32 2: 1 0"},
    {"topKWithSourceTensor:k:name:", "f32 2 3: 1 3 2 6 4 5 | 2", "f32 2 2: 3 2 6 5; i32 2 2: 1 2 0 2"},
    {"topKWithSourceTensor:axis:k:name:", SIX " | 0 | 1", "f32 1 3: 4 5 6; i32 1 3: 1 1 1"},
    {"bottomKWithSourceTensor:axis:k:name:", SIX " | 0 | 1", "f32 1 3: 1 2 3; i32 1 3: 0 0 0"},

    {MATMUL, SIX " | f32 3 2: 1 0 0 1 2 3", "f32 2 2: 7 11 16 23"},
    {MATMUL, "f32 2 1 2: 1 2 3 4 | f32 2 1: 5 6", "f32 2 1 1: 17 39"},
    {MATMUL, "f32 2 1 2: 1 2 3 4 | f32 1 2 1: 5 6", "f32 2 1 1: 17 39"},
    {MATMUL, "f16 1 2: 2048 1 | f16 2 1: 1 1", "f16 1 1: 2048"},
    {"bandPartWithTensor:numLower:numUpper:name:", "f32 3 3: 1 2 3 4 5 6 7 8 9 | 0 | -1", "f32 3 3: 1 2 3 0 5 6 0 0 9"},
    {"bandPartWithTensor:numLower:numUpper:name:", "f32 3 3: 1 2 3 4 5 6 7 8 9 | 1 | 0", "f32 3 3: 1 0 0 4 5 0 0 8 9"},

    {GATHER, SIX " | i32 2: 1 0 | 0 | 0", "f32 2 3: 4 5 6 1 2 3"},
    {GATHER, SIX " | i32 1 2: 2 0 | 1 | 0", "f32 2 1 2: 3 1 6 4"},
    {GATHER, SIX " | i64 2 1: 2 0 | 1 | 1", "f32 2 1: 3 4"},
    {GATHER_ND, SIX " | i32 2 2: 1 2 0 0 | 0", "f32 2: 6 1"},
    {GATHER_ND, SIX " | i32 2 1: 1 0 | 0", "f32 2 3: 4 5 6 1 2 3"},
    {GATHER_ND, SIX " | i32 2 1: 2 0 | 1", "f32 2: 3 4"},
    {"gatherAlongAxis:withUpdatesTensor:indicesTensor:name:", "1 | " SIX " | i32 2 2: 2 0 1 7", "f32 2 2: 3 1 5 0"},
    {"gatherAlongAxis:withUpdatesTensor:indicesTensor:name:", "-2 | " SIX " | i32 1 3: 1 0 1", "f32 1 3: 4 2 6"},
    {SCATTER, "f32 3 2: 1 2 3 4 5 6 | f32 2 2: 10 20 30 40 | i32 2: 2 0 | 0 | 0", "f32 3 2: 31 42 3 4 15 26"},
    {SCATTER, SIX " | f32 2 1: 8 9 | i32 1: 1 | 1 | 6", "f32 2 3: 1 8 3 4 9 6"},
    {SCATTER, "f32 2: 1 2 | f32 1: 9 | i32 1: 5 | 0 | 6", "f32 2: 1 2"},
    {"scatterWithUpdatesTensor:indicesTensor:shape:axis:mode:name:", "f32 2: 5 6 | i32 2: 2 2 | [3] | 0 | 0", "f32 3: 0 0 11"},
    {SCATTER_ND, SIX " | f32 2: 10 20 | i32 2 2: 0 0 0 0 | 0 | 0", "f32 2 3: 31 2 3 4 5 6"},
    {SCATTER_ND, SIX " | f32 1 3: 7 8 9 | i32 1 1: 1 | 0 | 6", "f32 2 3: 1 2 3 7 8 9"},
    {SCATTER_ND, SIX " | f32 2 1: 7 8 | i32 2 1 1: 2 0 | 1 | 6", "f32 2 3: 1 2 7 8 5 6"},
    {"scatterNDWithUpdatesTensor:indicesTensor:shape:batchDimensions:name:", "i32 2: 1 2 | i32 2 1: 1 1 | [3] | 0", "i32 3: 0 3 0"},
    {SCATTER_ALONG, "1 | " SIX " | f32 2 1: 7 8 | i32 2 1: 2 0 | 6", "f32 2 3: 1 2 7 8 5 6"},
    {SCATTER_ALONG, "0 | i32 2: 3 4 | i32 3: 5 1 9 | i32 3: 0 0 2 | 4", "i32 2: 1 4"},
    {"scatterAlongAxis:withUpdatesTensor:indicesTensor:shape:mode:name:", "0 | f32 2: 5 6 | i32 2: 1 1 | [2] | 5", "f32 2: 0 6"},
    {"oneHotWithIndicesTensor:depth:dataType:name:", "i32 2: 1 3 | 3 | #f32", "f32 2 3: 0 1 0 0 0 0"},
    {"oneHotWithIndicesTensor:depth:axis:dataType:name:", "i32 2: 1 0 | 2 | 0 | #i32", "i32 2 2: 0 1 1 0"},
    {"coordinateAlongAxis:withShape:name:", "0 | [2 3]", "i32 2 3: 0 0 0 1 1 1"},
    {"coordinateAlongAxis:withShape:name:", "-1 | [2 3]", "i32 2 3: 0 1 2 0 1 2"},
    {"nonZeroIndicesOfTensor:name:", "f32 2 3: 0 2 0 nan 0 -1", "i32 3 2: 0 1 1 0 1 2"},
};

int main(void) {
  char title[256];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    snprintf(title, sizeof title, "%s of %s", rows[i].name, rows[i].arguments);
    expect(yields(rows[i].name, rows[i].arguments, rows[i].want, 0), title);
  }
  return failures() != 0;
}
