package serve

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// TestClasses: texts of classes are those of tritonserver: a label that is empty is none, and infinities are C++'s words.
func TestClasses(t *testing.T) {
	var data []byte
	for _, x := range []float64{2, math.Inf(1), math.Inf(-1), 3} {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(x)))
	}
	made, err := classify(Tensor{Type: tensors.FP32, Shape: []int64{1, 4}, Data: data}, 4, []string{"zero", "", "two"}, true)
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
