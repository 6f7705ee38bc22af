/*
 * graph_misuse.c - what operators refuse: a row has the arguments and words of the answer.
 */
#include "graph_text.h"

#define ADD "additionWithPrimaryTensor:secondaryTensor:name:"
#define PAD "padTensor:withPaddingMode:leftPadding:rightPadding:constantValue:name:"
#define SLICE "sliceTensor:starts:ends:strides:name:"
#define MATMUL "matrixMultiplicationWithPrimaryTensor:secondaryTensor:name:"
#define SCATTER_ND "scatterNDWithDataTensor:updatesTensor:indicesTensor:batchDimensions:mode:name:"

static const struct row {
  const char *what, *environment, *name, *arguments, *want;
} rows[] = {
    {"two types", NULL, ADD, "f32 1: 1 | i32 1: 1", "operands of types Float32 and Int32; MPSGraph promotes nothing"},
    {"shapes that do not broadcast", NULL, ADD, "f32 2: 1 1 | f32 3: 1 1 1", "shapes [2] and [3] do not broadcast"},
    {"truth values added", NULL, ADD, "b 1: 1 | b 1: 1", "takes no Bool"},
    {"an exponential of integers", NULL, "exponentWithTensor:name:", "i32 1: 1", "takes no Int32"},
    {"NaN among integers", NULL, "minimumWithNaNPropagationWithPrimaryTensor:secondaryTensor:name:", "i32 1: 1 | i32 1: 1", "takes no Int32"},
    {"a shift of floats", NULL, "bitwiseLeftShiftWithPrimaryTensor:secondaryTensor:name:", "f32 1: 1 | f32 1: 1", "takes no Float32"},
    {"a predicate that is no truth value", NULL, "selectWithPredicateTensor:truePredicateTensor:falsePredicateTensor:name:", "f32 1: 1 | f32 1: 1 | f32 1: 1", "a predicate of type Float32; want Bool"},
    {"float64", NULL, "castTensor:toType:name:", "f32 1: 1 | #0x10000040", "data type 0x10000040; MPSGraph has no such type"},
    {"bfloat16 on an old system", "FAKEMETAL_MACOS=13.3", "castTensor:toType:name:", "f32 1: 1 | #bf16", "BFloat16 needs macOS 14.0"},
    {"bits as others on an old system", "FAKEMETAL_MACOS=13.0", "reinterpretCastTensor:toType:name:", "f32 1: 1 | #i32", "needs macOS 13.2"},
    {"an empty tensor", NULL, "identityWithTensor:name:", "f32 0: ", "shape [0] is empty"},
    {"a long axis", NULL, "identityWithTensor:name:", "f32 3000000000: ", "NDArray dimension length > INT_MAX"},
    {"four gibibytes", NULL, "identityWithTensor:name:", "f32 65536 16384: ", "total NDArray size > 2**32"},
    {"seventeen axes", NULL, "identityWithTensor:name:", "f32 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1: 1", "a shape of 17 axes; MPSGraph takes 16"},
    {"an axis too many", NULL, "reductionSumWithTensor:axis:name:", "f32 2: 1 2 | 1", "Failed to infer result type(s)"},
    {"five axes reduced", NULL, "reductionSumWithTensor:axis:name:", "f32 1 1 1 1 1: 1 | 1", "some systems assert more than four axes"},
    {"a sum of int64 on an old system", "FAKEMETAL_MACOS=13.0", "reductionSumWithTensor:axis:name:", "i64 2: 1 2 | 0", "Int64 needs macOS 13.3"},
    {"the fifth axis accumulated", NULL, "cumulativeSumWithTensor:axis:name:", "f32 1 1 1 1 1: 1 | 4", "only supports axis = 0, 1, 2, 3"},
    {"a sort of bytes", NULL, "sortWithTensor:axis:name:", "u8 2: 1 2 | 0", "takes no UInt8; want Float32"},
    {"more than there are", NULL, "topKWithSourceTensor:k:name:", "f32 2: 1 2 | 3", "k is 3 of extent 2"},
    {"another volume", NULL, "reshapeTensor:withShape:name:", "f32 4: 1 2 3 4 | [3]", "[4] cannot be reshaped to [3]: 4 elements and 3"},
    {"two open extents", NULL, "reshapeTensor:withShape:name:", "f32 4: 1 2 3 4 | [-1 -1]", "leaves two extents open"},
    {"a broadcast of two to four", NULL, "broadcastTensor:toShape:name:", "f32 2: 1 2 | [4]", "[2] cannot be broadcast to [4]; Apple's would be filled with zeros"},
    {"a squeeze of two", NULL, "squeezeTensor:axis:name:", "f32 2: 1 2 | 0", "is squeezed and is not 1"},
    {"a permutation with a twin", NULL, "transposeTensor:permutation:name:", "f32 1 1: 1 | [0 0]", "the permutation names an axis twice"},
    {"a signed flattening", NULL, "flatten2DTensor:axis:name:", "f32 1 1: 1 | -1", "the axis is unsigned"},
    {"a slice from beyond the end", NULL, SLICE, "f32 2: 1 2 | [2] | [3] | [1]", "subRange.start (2) is not less than length of dimension (2)"},
    {"an empty slice", NULL, SLICE, "f32 2: 1 2 | [1] | [1] | [1]", "device may not be nil"},
    {"a slice without a stride", NULL, SLICE, "f32 2: 1 2 | [0] | [1] | [0]", "a stride is 0"},
    {"an update of another shape", NULL, "sliceUpdateDataTensor:updateTensor:starts:ends:strides:name:", "f32 2: 1 2 | f32 2: 1 2 | [0] | [1] | [1]", "an update of shape [2]; the slice is [1]"},
    {"a periodic pad", NULL, PAD, "f32 2: 1 2 | 5 | [1] | [1] | =0", "Unsupported paddingMode 5"},
    {"a long reflection", NULL, PAD, "f32 2: 1 2 | 1 | [2] | [0] | =0", "a pad of 2; want 0 to 1"},
    {"a join that does not fit", NULL, "concatTensors:dimension:name:", "(f32 1 2: 1 2; f32 1 1: 1) | 0", "shapes [1, 2] and [1, 1] do not fit together"},
    {"a stack of two types", NULL, "stackTensors:axis:name:", "(f32 1: 1; i32 1: 1) | 0", "operands of types Float32 and Int32"},
    {"a split of too much", NULL, "splitTensor:splitSizes:axis:name:", "f32 2: 1 2 | [1 2] | 0", "parts of 3 in all; the extent is 2"},
    {"matrices that do not fit", NULL, MATMUL, "f32 1 2: 1 2 | f32 1 2: 1 2", "cannot be multiplied"},
    {"a product of integers", NULL, MATMUL, "i32 1 1: 1 | i32 1 1: 1", "takes no Int32"},
    {"a product of five axes", NULL, MATMUL, "f32 1 1 1 1 1: 1 | f32 1 1: 1", "want 2 to 4 axes"},
    {"indices that are floats", NULL, "gatherWithUpdatesTensor:indicesTensor:axis:batchDimensions:name:", "f32 2: 1 2 | f32 1: 1 | 0 | 0", "indices of type Float32; want Int32 or Int64"},
    {"rows of too many indices", NULL, "gatherNDWithUpdatesTensor:indicesTensor:batchDimensions:name:", "f32 2: 1 2 | i32 1 2: 0 0 | 0", "rows of 2 indices into [2]"},
    {"indices of another shape", NULL, "gatherAlongAxis:withUpdatesTensor:indicesTensor:name:", "0 | f32 2 2: 1 2 3 4 | i32 2 1: 0 0", "differ beside axis 0"},
    {"updates that do not fit", NULL, SCATTER_ND, "f32 2: 1 2 | f32 2: 1 2 | i32 1 1: 0 | 0 | 6", "updates of shape [2]; want [1]"},
    {"a mode that is not", NULL, SCATTER_ND, "f32 2: 1 2 | f32 1: 1 | i32 1 1: 0 | 0 | 7", "scatter mode 7"},
    {"nonzero on an old system", "FAKEMETAL_MACOS=13.3", "nonZeroIndicesOfTensor:name:", "f32 2: 1 2", "needs macOS 14.0"},
    {"a tensor-fed shape", NULL, "reshapeTensor:withShapeTensor:name:", "f32 1: 1 | i32 1: 1", "the fake lacks it"},
};

static const struct row *row; /* that run_row is for */

static void run_row(void) {
  text_graph g;
  open_graph(&g);
  apply(&g, row->name, row->arguments);
}

int main(void) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    row = &rows[i];
    misused(row->what, row->environment, row->want, run_row);
  }
  return failures() != 0;
}
