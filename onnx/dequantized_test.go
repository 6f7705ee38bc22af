package onnx

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// halves is a Fold whose results have elements of 0.5 where they are floats, and else of 0.
func halves(row *op.Row, at op.Attrs, in []op.Known) ([]*op.Const, error) {
	out, err := zeros(row, at, in)
	for _, k := range out {
		if k.DType.IsFloat() {
			for at := range len(k.Bytes) / 4 {
				binary.LittleEndian.PutUint32(k.Bytes[4*at:], math.Float32bits(0.5))
			}
		}
	}
	return out, err
}

// A product of integers dequantizes no weight while its graph is built, and the graph has the weight of the file; where floats are
// multiplied, or the weight is an output as well, its floats are constants that the model keeps.
func TestProductsOfIntegersDequantizeNoWeight(t *testing.T) {
	const n = 256 // large enough for results that the limits of a model count
	w := tensorOf("w", 3, make([]byte, n*n), n, n)
	parts := []part{
		{1, nodeOf("DequantizeLinear", names("x", "s"), names("xd"))},
		{1, nodeOf("DequantizeLinear", names("w", "s"), names("wd"))},
		{1, nodeOf("MatMul", names("xd", "wd"), names("y"))},
		{5, w},
		{5, tensorOf("s", 1, []byte{0, 0, 0, 0x3f})},
		{11, portAs("x", 2, -1, n)},
		{12, portAs("y", 1, -1, n)},
	}
	spent := func(integers bool, more ...part) int64 {
		m, err := build.Parse(modelOf(graphOf(append(parts, more...)...)), "", halves)
		require.NoError(t, err)
		if integers {
			m.UseIntegers()
		}
		g, err := m.Resolve([]op.Type{{DType: file.ElemType(2).DType(), Shape: typeOf(t, 5, n).Shape}})
		require.NoError(t, err)
		require.Equal(t, integers, strings.Contains(g.String(), "matmul_integer"))
		return m.Kept().Spent
	}
	require.Zero(t, spent(true))
	require.GreaterOrEqual(t, spent(false), int64(4*n*n))
	require.GreaterOrEqual(t, spent(true, part{12, portAs("wd", 1, n, n)}), int64(4*n*n))
}
