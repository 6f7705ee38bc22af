package shaders_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
	"github.com/paddle-mps/paddle-mps/kernels/metal/shaders"
)

// No dispatch of a reduction or of softmax takes an M1 longer than 50 ms by the model of bench/metal, whatever the shape: 68 GB/s, and
// 1,024 lanes that do 1.3e12 instructions a second. The most costly accumulator, of products, has 60 an element.
func TestDispatchesAreShort(t *testing.T) {
	const (
		seconds      = 0.050
		bandwidth    = 68e9
		lane         = 1.3e12 / 1024
		instructions = 60
	)
	for _, d := range []dtype.DType{dtype.Uint8, dtype.Float16, dtype.Float32, dtype.Int64} {
		for rows := int64(1); rows < 1<<32; rows *= 5 {
			count := (1<<32-1)/rows - 3
			for axes, arrangement := range map[op.Axes]string{0b10: "contiguous", 0b01: "contiguous", 0b11: "spread"} {
				dims := []int64{rows, max(count, 1)}
				for _, arrangement := range []string{arrangement, "spread"} {
					x, _, _ := metaltest.Arrangements[arrangement](metaltest.ShapeAs(t, dims...))
					for _, most := range []uint64{384, 1024} {
						bytes, elements := shaders.LongestPiece(d, axes, x, most)
						name := fmt.Sprintf("%s, %v over %b, %s, %d threads", d, dims, axes, arrangement, most)
						require.LessOrEqual(t, float64(bytes)/bandwidth, seconds, name)
						require.LessOrEqual(t, float64(elements)*instructions/lane, seconds, name)
						if !d.IsFloat() || axes == 0b11 {
							continue
						}
						bytes, elements = shaders.LongestSoftmax(d, axes, x, most)
						require.LessOrEqual(t, float64(bytes)/bandwidth, seconds, "softmax of "+name)
						require.LessOrEqual(t, float64(elements)*instructions/lane, seconds, "softmax of "+name)
					}
				}
			}
		}
	}
}

// Calls that are divided into many dispatches give what whole ones give.
func TestDividedCalls(t *testing.T) {
	defer shaders.Move(3 * 1024)()
	t.Run("indexing", TestIndexing)
	t.Run("nonzero", TestNonzero)
	t.Run("creation", TestCreation)
	t.Run("normal", TestNormal)
}
