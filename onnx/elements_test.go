package onnx

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/onnx/build"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// tests/onnx/elements.py computes with these types, beside NumPy and ml_dtypes.

func TestTreatmentsAreOfOperators(t *testing.T) {
	for name, how := range build.Treatments {
		require.NotEmpty(t, build.Table[name], "%s is no operator", name)
		require.NotEqual(t, build.Refuses, how.How, name)
	}
}

// Each type that tensors lack has something that carries it.
func TestCarriers(t *testing.T) {
	for elem := file.ElemType(0); elem <= file.LastElem; elem++ {
		require.Equal(t, elem.String() == "undefined", elem.Carrier() == dtype.Invalid, elem.String())
		if elem.DType() != dtype.Invalid {
			require.Equal(t, elem.DType(), elem.Carrier())
			require.Zero(t, elem.Lacking())
		}
	}
	require.Equal(t, dtype.Invalid, file.ElemType(99).Carrier())
	require.Zero(t, file.ElemType(-1).Lacking())
	require.Contains(t, file.Carried(), "float, uint8, int8, uint16, ")
}

// Elements of 4 and 2 bits are several in a byte, the first in the lowest bits, and the last byte may have room.
func TestPackedElements(t *testing.T) {
	for _, test := range []struct {
		elem   file.ElemType
		n      int64
		packed []byte
		want   []byte
	}{
		{file.ElemUint4, 3, []byte{0x21, 0xf3}, []byte{1, 2, 3}},
		{file.ElemInt4, 2, []byte{0x8f}, []byte{15, 8}},
		{file.ElemFloat4E2M1, 0, nil, []byte{}},
		{file.ElemInt2, 5, []byte{0b11100100, 0b10}, []byte{0, 1, 2, 3, 2}},
	} {
		for _, raw := range []bool{true, false} {
			x := &file.Tensor{Name: "x", Elem: test.elem, Dims: []int64{test.n}, Raw: test.packed, RawSet: raw}
			for _, b := range test.packed {
				x.Ints = append(x.Ints, int64(b))
			}
			c, err := x.Const(nil)
			require.NoError(t, err)
			require.Equal(t, dtype.Uint8, c.DType)
			require.Equal(t, test.want, c.Bytes)
		}
		x := &file.Tensor{Name: "x", Elem: test.elem, Dims: []int64{test.n}, Raw: make([]byte, len(test.packed)+1), RawSet: true}
		_, err := x.Const(nil)
		require.ErrorContains(t, err, " in a byte")
	}
	x := &file.Tensor{Name: "x", Elem: file.ElemUint2, Dims: []int64{5}, Raw: []byte{1}, RawSet: true}
	_, err := x.Const(nil)
	require.EqualError(t, err, `[onnx] tensor "x" has 1 byte; want 5 elements of uint2, 4 in a byte`)
}

// Tensors that overlap in a file would be copied as often as there are tensors.
func TestOverlappingPackedElements(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "w"), make([]byte, 100), 0o600))
	d := file.Folder{Path: dir}
	defer d.Close()
	w := &file.Tensor{Name: "w", Elem: file.ElemInt4, Dims: []int64{160}, Outside: true, External: []file.KeyValue{{Key: "location", Value: "w"}, {Key: "length", Value: "80"}}}
	c, err := w.Const(d.Read)
	require.NoError(t, err)
	require.Len(t, c.Bytes, 160)
	_, err = w.Const(d.Read)
	require.ErrorContains(t, err, "tensors of int4 overlap in the files with external data")
	w.Elem, w.Dims[0] = 2, 80
	for range 3 {
		_, err = w.Const(d.Read)
		require.NoError(t, err, "elements of a byte are not copied")
	}
}

// Numbers of the formats, from their definitions.
func TestNumbersOfSmallElements(t *testing.T) {
	for _, test := range []struct {
		elem file.ElemType
		code byte
		want float64
	}{
		{17, 0x01, 1.0 / 512},
		{17, 0x08, 1.0 / 64},
		{17, 0x38, 1},
		{17, 0x7e, 448},
		{17, 0xfe, -448},
		{17, 0x7f, math.NaN()},
		{18, 0x40, 1},
		{18, 0x7f, 240},
		{18, 0x80, math.NaN()},
		{18, 0x81, -1.0 / 1024},
		{19, 0x3c, 1},
		{19, 0x7b, 57344},
		{19, 0x7c, math.Inf(1)},
		{19, 0xfc, math.Inf(-1)},
		{19, 0x7d, math.NaN()},
		{20, 0x40, 1},
		{20, 0x7f, 57344},
		{20, 0x80, math.NaN()},
		{file.ElemFloat4E2M1, 1, 0.5},
		{file.ElemFloat4E2M1, 7, 6},
		{file.ElemFloat4E2M1, 15, -6},
		{file.ElemFloat4E2M1, 0xf7, 6},
		{file.ElemFloat8E8M0, 127, 1},
		{file.ElemFloat8E8M0, 0, math.Ldexp(1, -127)},
		{file.ElemFloat8E8M0, 255, math.NaN()},
	} {
		got := build.Numbers(test.elem)[test.code]
		if math.IsNaN(test.want) {
			require.True(t, math.IsNaN(got), "%s %#x", test.elem, test.code)
			continue
		}
		require.Equal(t, test.want, got, "%s %#x", test.elem, test.code)
	}
}

// What an operator is not known to do with a type is refused with the name of the type.
func TestElementsThatAnOperatorLacks(t *testing.T) {
	x := op.Type{DType: dtype.Int16, Shape: typeOf(t, 2).Shape}
	for name, nodes := range map[string][]part{
		`node "the Sqrt" (Sqrt-17): elements of type uint16 are not supported`: {
			{1, nodeOf("Sqrt", names("x"), names("y"))},
		},
		`node "the Unique" (Unique-17): elements of type uint16 are not supported`: {
			{1, nodeOf("Unique", names("x"), names("y"))},
		},
	} {
		parts := append([]part{{11, portAs("x", file.ElemUint16, 2)}, {12, portAs("y", file.ElemUint16, 2)}}, nodes...)
		m, err := build.Parse(modelOf(graphOf(parts...)), "", noFold)
		require.NoError(t, err)
		require.Equal(t, "uint16[2]", inputsOf(m)[0].Text())
		_, err = m.Resolve([]op.Type{x})
		require.Equal(t, status.Unsupported, status.CodeOf(err))
		require.ErrorContains(t, err, name)
	}
	_, err := build.Parse(modelOf(graphOf(part{11, portAs("x", 0, 2)}, part{12, portAs("x", 0, 2)})), "", noFold)
	require.ErrorContains(t, err, `input "x" is undefined[2]; want a tensor of one of float, uint8,`)
}
