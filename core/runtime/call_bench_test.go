package runtime_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/place"
)

// BenchmarkCall is what a call of 8 elements costs from Go, on the cpu place: the fast family first, then
// calls that are legalized.
func BenchmarkCall(b *testing.B) {
	rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{Threads: 1})})
	require.NoError(b, err)
	context, err := rt.Context(place.CPU)
	require.NoError(b, err)
	make8 := func(d dtype.DType, dims ...int64) *runtime.Tensor {
		s, err := shape.Of(dims...)
		require.NoError(b, err)
		data := [64]byte{}
		t, err := rt.FromHost(context, d, s, unsafe.Slice(&data[0], s.Numel()*d.Size()))
		require.NoError(b, err)
		return t
	}
	x, y := make8(dtype.Float32, 2, 4), make8(dtype.Float32, 2, 4)
	row, mask := make8(dtype.Float32, 4), make8(dtype.Bool, 2, 4)
	whole := make8(dtype.Int32, 2, 4)
	index := make8(dtype.Int64, 2)
	tensors := func(ts ...*runtime.Tensor) (in []runtime.Operand) {
		for _, t := range ts {
			in = append(in, runtime.Operand{Tensor: t})
		}
		return in
	}
	number := runtime.Operand{Value: op.Value{Kind: op.Float, F: 1}}
	for _, c := range []struct {
		name string
		op   string
		in   []runtime.Operand
		at   op.Attrs
	}{
		{"add", "add", tensors(x, y), nil},
		{"add-broadcast", "add", tensors(x, row), nil},
		{"add-cast", "multiply", append(tensors(whole), number), nil},
		{"sum", "sum", tensors(x), op.Attrs{{Kind: op.Ints, Ints: []int64{1}}, {}, {}}},
		{"softmax", "softmax", tensors(x), op.Attrs{{}}},
		{"reshape", "reshape", tensors(x), op.Attrs{{Kind: op.Ints, Ints: []int64{8}}}},
		{"where", "where", tensors(mask, x, y), nil},
		{"clip", "clip", append(tensors(x), number, runtime.Operand{}), nil},
		{"concat", "concat", tensors(x, y), op.Attrs{{}}},
		{"gather", "gather", tensors(x, index), op.Attrs{{}}},
		{"matmul", "matmul", tensors(x, y), op.Attrs{{}, {Kind: op.Bool, I: 1}}},
	} {
		row := op.MustByName(c.op)
		b.Run(c.name, func(b *testing.B) {
			at := make(op.Attrs, len(row.Attrs))
			b.ReportAllocs()
			for b.Loop() {
				copy(at, c.at)
				made, err := eager.Call(rt, row, c.in, at, nil, nil)
				if err != nil {
					b.Fatal(err)
				}
				rt.Free(made[0].Handle())
			}
		})
	}
	b.Run("fast-add", func(b *testing.B) {
		add := op.MustByName("add")
		b.ReportAllocs()
		for b.Loop() {
			t, err := eager.Binary(rt, add, runtime.Operand{Tensor: x}, runtime.Operand{Tensor: y}, nil)
			if err != nil {
				b.Fatal(err)
			}
			rt.Free(t.Handle())
		}
	})
}
