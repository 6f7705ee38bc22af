package serve

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// TestClasses: texts of classes are those of tritonserver: a label that is empty is none, and infinities are C++'s words.
func TestClasses(t *testing.T) {
	var data []byte
	for _, x := range []float64{2, math.Inf(1), math.Inf(-1), 3} {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(x)))
	}
	made, err := inference.Classify(inference.Tensor{Type: tensors.FP32, Shape: []int64{1, 4}, Data: data}, 4, []string{"zero", "", "two"}, true)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 4}, made.Shape)
	var texts []string
	for rest := made.Data; len(rest) > 0; {
		text, next, ok := tensors.NextElement(rest)
		require.True(t, ok)
		texts, rest = append(texts, string(text)), next
	}
	require.Equal(t, []string{"inf:1", "3.000000:3", "2.000000:0:zero", "-inf:2:two"}, texts)
}

// TestOrderOfClasses: elements are compared as numbers of their own type. A float64 in between would take large neighbours for
// equal, and signed integers would put the upper half of unsigned ones last.
func TestOrderOfClasses(t *testing.T) {
	le := binary.LittleEndian
	words := func(list ...uint64) (data []byte) {
		for _, n := range list {
			data = le.AppendUint64(data, n)
		}
		return data
	}
	negative, nan := math.Copysign(0, -1), math.NaN()
	for k, c := range map[tensors.Type]struct {
		data []byte
		want []string
	}{
		tensors.Uint8:  {[]byte{0, 127, 255, 128}, []string{"255:2", "128:3", "127:1", "0:0"}},
		tensors.Uint16: {[]byte{0, 0, 255, 127, 255, 255, 0, 128}, []string{"65535:2", "32768:3", "32767:1", "0:0"}},
		tensors.Uint32: {words(0x7FFFFFFF<<32, 0x80000000<<32|0xFFFFFFFF), []string{"4294967295:2", "2147483648:3", "2147483647:1", "0:0"}},
		tensors.Uint64: {words(1<<63-1, 1<<64-1, 1<<63, 1<<64-2), []string{"18446744073709551615:1", "18446744073709551614:3", "9223372036854775808:2", "9223372036854775807:0"}},
		tensors.Int8:   {[]byte{0, 127, 255, 128}, []string{"127:1", "0:0", "-1:2", "-128:3"}},
		tensors.Int64:  {words(1<<53, 1<<53+1, 1<<63, 1<<64-1), []string{"9007199254740993:1", "9007199254740992:0", "-1:3", "-9223372036854775808:2"}},
		tensors.FP64: {
			words(math.Float64bits(nan), math.Float64bits(negative), 0, math.Float64bits(-1)),
			[]string{"-0.000000:1", "0.000000:2", "-1.000000:3", "nan:0"},
		},
	} {
		made, err := inference.Classify(inference.Tensor{Type: k, Shape: []int64{4}, Data: c.data}, 4, nil, false)
		require.NoError(t, err)
		var texts []string
		for rest := made.Data; len(rest) > 0; {
			text, next, ok := tensors.NextElement(rest)
			require.True(t, ok)
			texts, rest = append(texts, string(text)), next
		}
		require.Equal(t, c.want, texts, k)
	}
}

// TestTooManyClasses: all elements are sorted, so that there is a limit, for each item.
func TestTooManyClasses(t *testing.T) {
	_, err := inference.Classify(inference.Tensor{Type: tensors.Uint8, Shape: []int64{1, inference.LargestClassified + 1}, Data: make([]byte, inference.LargestClassified+1)}, 1, nil, true)
	require.ErrorContains(t, err, "classification output tensor too large")
	made, err := inference.Classify(inference.Tensor{Type: tensors.Uint8, Shape: []int64{2, inference.LargestClassified}, Data: make([]byte, 2*inference.LargestClassified)}, 1, nil, true)
	require.NoError(t, err)
	require.Equal(t, []int64{2, 1}, made.Shape)
}
