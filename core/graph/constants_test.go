package graph

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// evaluated is an Evaluate of the few rows that the graphs below have constants for.
func evaluated(row *op.Row, at op.Attrs, in []op.Known) ([]*op.Const, error) {
	made := func(k *op.Const) ([]*op.Const, error) { return []*op.Const{k}, nil }
	switch row.ID {
	case op.IDFull:
		k := &op.Const{Type: typed(dtype.DType(at[2].I), at[0].Ints...)}
		for range k.Shape.Numel() {
			k.Bytes = binary.LittleEndian.AppendUint32(k.Bytes, math.Float32bits(float32(at[1].F)))
		}
		return made(k)
	case op.IDReshape:
		return made(&op.Const{Type: typed(in[0].Const.DType, at[0].Ints...), Bytes: in[0].Const.Bytes})
	case op.IDMultiply:
		k := &op.Const{Type: in[0].Const.Type}
		for _, v := range elements(in[0].Const) {
			k.Bytes = binary.LittleEndian.AppendUint32(k.Bytes, math.Float32bits(v*float32(in[1].Number.F)))
		}
		return made(k)
	}
	return nil, status.Errorf(status.Unsupported, "[%s] no constants", row.Name)
}

// filled calls full.
func (b *Builder) filled(t testing.TB, v float64, dims ...int64) Value {
	return b.must(t, "full", op.Attrs{ints(dims...), float(v), {Kind: op.DType, I: int64(dtype.Float32)}})
}

// TestFoldConstants shows a graph before and after: what follows from constants alone is a constant, and what is random, large,
// an output or fails to be evaluated stays a call.
func TestFoldConstants(t *testing.T) {
	b := NewBuilder()
	x := b.Input(known(dtype.Float32))
	k := b.must(t, "multiply", nil, b.must(t, "reshape", op.Attrs{ints(2, 3)}, b.filled(t, 1.5, 6)), b.Scalar(float(2)))
	large := b.filled(t, 1, mostFolded/4+1)
	noise := b.must(t, "uniform", op.Attrs{ints(2, 3), float(0), float(1), {Kind: op.DType, I: int64(dtype.Float32)}})
	failing := b.must(t, "exp", nil, floats(b, 1, 3))
	g := b.Build(b.must(t, "add", nil, b.must(t, "add", nil, x, k), noise), b.must(t, "neg", nil, large), b.must(t, "add", nil, x, failing), b.filled(t, 7, 2))

	before := g.String()
	after := g.FoldConstants(evaluated)
	require.Equal(t, before, g.String(), "the graph that was given has changed")
	require.Equal(t, g.Outputs(), after.Outputs())
	after = after.Rewrite(DeadCode)
	text := before + "\n" + after.String()
	for v := range after.values {
		if k := after.values[v].data; k != nil {
			text += fmt.Sprintf("%s%s is %v\n", k.DType, &k.Shape, elements(k))
		}
	}
	golden(t, "folded", text)
}

// An evaluator whose results have other types than those that were inferred is not believed.
func TestFoldConstantsChecksTypes(t *testing.T) {
	b := NewBuilder()
	g := b.Build(b.must(t, "add", nil, b.Input(known(dtype.Float32)), b.filled(t, 1, 2, 3)))
	for _, wrong := range [][]*op.Const{nil, {{Type: known(dtype.Int32)}}, {{Type: typed(dtype.Float32, 3, 2)}}, {{Type: op.Type{DType: dtype.Float32, Shape: shape.Shape{}}}}} {
		require.Same(t, g, g.FoldConstants(func(*op.Row, op.Attrs, []op.Known) ([]*op.Const, error) { return wrong, nil }))
	}
}

// However many calls a graph has, the constants that are made of them have a limit.
func TestFoldConstantsHasALimit(t *testing.T) {
	b := NewBuilder()
	x := b.Input(typed(dtype.Float32, 1))
	const calls = allFolded/mostFolded + 3
	var read []Value
	for range calls {
		read = append(read, b.must(t, "add", nil, x, b.filled(t, 1, mostFolded/4)))
	}
	bytes := make([]byte, mostFolded) // one for all: it is the limit that is tested
	after := b.Build(read...).FoldConstants(func(_ *op.Row, at op.Attrs, _ []op.Known) ([]*op.Const, error) {
		return []*op.Const{{Type: typed(dtype.Float32, at[0].Ints...), Bytes: bytes}}, nil
	})
	require.Equal(t, 2*calls-allFolded/mostFolded, after.Calls())
}
