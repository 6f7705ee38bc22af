package tensors

import (
	"bytes"
	"math"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
)

// TestTypesAreConsistent: names lead back to their types, and a type has the size of its dtype.
func TestTypesAreConsistent(t *testing.T) {
	for k := Bool; k <= last; k++ {
		require.Equal(t, k, Parse(k.String()))
		if d := k.DType(); d != dtype.Invalid {
			require.Equal(t, k, OfElem(types[k].elem))
			if k != Bytes { // tensors have numbers in place of strings
				require.Equal(t, d.Size(), k.Size(), k)
			}
		}
	}
	require.Equal(t, Invalid, Parse("FP33"))
	for _, elem := range []int32{-1, 0, 14, 17, 99} { // no type, complex64, float8e4m3fn
		require.Equal(t, Invalid, OfElem(elem), elem)
	}
	require.Equal(t, "<invalid>", Type(99).String())
	require.Zero(t, Type(99).Size())
}

// TestSizesThatOverflow: no product wraps around.
func TestSizesThatOverflow(t *testing.T) {
	for _, c := range []struct {
		shape []int64
		bytes int64
		ok    bool
	}{
		{nil, 4, true},
		{[]int64{2, 3}, 24, true},
		{[]int64{0, 3}, 0, true},
		{[]int64{1 << 62, 4}, 0, false},
		{[]int64{0, 1 << 62, 4}, 0, false},
		{[]int64{math.MaxInt64}, 0, false}, // elements fit, bytes do not
		{[]int64{-1}, 0, false},
	} {
		n, ok := ByteSize(FP32, c.shape)
		require.Equal(t, c.ok, ok, c.shape)
		require.Equal(t, c.bytes, n, c.shape)
	}
}

// listOf are the elements of data.
func listOf(data []byte) (list [][]byte) {
	for text, rest, ok := NextElement(data); ok; text, rest, ok = NextElement(rest) {
		list = append(list, text)
	}
	return list
}

// FuzzElements: elements of BYTES are taken off any data without a fault, and those that were put there come back.
func FuzzElements(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 'a'}, []byte("b"))
	f.Add([]byte{255, 255, 255, 255}, []byte{})
	f.Add([]byte{0, 0, 0, 0, 1, 0, 0, 0, 0xC3, 1, 0, 0, 0, 'a', 0, 0}, []byte{0xFF})
	f.Fuzz(func(t *testing.T, data, text []byte) {
		got, rest, ok := NextElement(AppendElement(nil, text))
		require.True(t, ok)
		require.Empty(t, rest)
		require.Equal(t, string(text), string(got))
		// Data that are n elements are divided anywhere between them, and are those elements; others are refused, and divided nowhere
		// behind the fault.
		for n := range int64(5) {
			first, rest, ok := SplitElements(data, n)
			if !ok {
				require.NotEmpty(t, CheckElements(data, n, "x"))
				continue
			}
			require.Equal(t, string(data), string(first)+string(rest))
			require.Equal(t, utf8.Valid(bytes.Join(listOf(first), []byte{' '})), CheckElements(first, n, "x") == "")
			require.Equal(t, len(rest) == 0 && CheckElements(first, n, "x") == "", CheckElements(data, n, "x") == "")
		}
		for len(data) > 0 {
			before := len(data)
			if _, data, ok = NextElement(data); !ok {
				break
			}
			require.Less(t, len(data), before)
		}
	})
}
