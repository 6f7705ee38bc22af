package msl

import (
	"strings"
	"testing"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// The text of a group that ends in a reduction, to be read: a mean squared error, whose differences are stored too.
func TestTailSource(t *testing.T) {
	f32, f16 := dtype.Float32, dtype.Float16
	g := Group{
		Steps: []GroupStep{
			{Op: op.IDSubtract, Out: f32, In: []dtype.DType{f32, f16}, Sources: []Source{{Read, 0}, {Read, 1}}},
			{Op: op.IDMultiply, Out: f32, In: []dtype.DType{f32, f32}, Sources: []Source{{Step, 0}, {Step, 0}}},
		},
		Reads:  []Operand{{f32, Straight, false}, {f16, Runs, false}},
		Writes: []Operand{{f32, Straight, false}},
		Stored: []int{0},
		Tail:   &Tail{Op: op.IDMean, Out: f32, Step: 1},
	}
	source := g.Source()
	for _, shared := range []string{prelude, file("walk")} {
		source = strings.TrimPrefix(source, shared)
	}
	// What each reduction has in front of the steps, and the files, have no part in this.
	for _, shared := range []string{file("reduce_lanes"), file("tail")} {
		source = strings.Replace(source, shared, "", 1)
	}
	requireGolden(t, "tail", source)
}
