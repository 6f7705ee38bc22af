package host

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/internal/sample"
	"github.com/paddle-mps/paddle-mps/kernels/host/reduce"
)

// Few outputs of many elements: on any number of threads they have the bits that one thread computes without a workspace.
func TestDividedReductions(t *testing.T) {
	shapes := []struct {
		dims []int64
		axes op.Axes
		turn bool // the axes of the memory are the other way round
	}{
		{[]int64{reduce.LeastDivided}, 1, false},
		{[]int64{reduce.LeastDivided + 1}, 1, false},
		{[]int64{reduce.LongPiece*9 + 77}, 1, false},
		{[]int64{3, 70_001}, 2, false},
		{[]int64{reduce.FewOutputs, reduce.LongPiece + 1}, 2, false},
		{[]int64{7, 300, 101}, 7, true},
		{[]int64{2, 3, 40_009}, 5, false},
		{[]int64{400, 2, 401}, 5, true},
	}
	one, many := newRig(t, Config{Threads: 1}), newRig(t, Config{Threads: 3})
	r := rand.New(rand.NewPCG(1, 32))
	names := []string{"sum", "mean", "square_sum", "prod", "max", "min", "any", "all", "count_nonzero"}
	for number, name := range names {
		row := op.MustByName(name)
		for _, d := range row.Accepts.Members() {
			if testing.Short() {
				sample.Skip(t, 5, fmt.Sprint(name, d), number)
			}
			for _, s := range shapes {
				x := operandOf(r, d, s.dims, s.turn)
				c := &device.Call{In: []device.Operand{x.Operand}, Axes: s.axes}
				out := func() *tensor {
					to := resultOf(t, row, d, keep(s.dims, s.axes))
					c.Out, c.Workspace = []device.Operand{to.Operand}, nil
					return to
				}
				want := out()
				p, err := one.compile(name, c)
				require.NoError(t, err)
				k := p.(*program).kernel.(*reduce.Reduction)
				require.NotZero(t, k.Workspace(c), "%s of %v %v is not divided", name, d, s.dims)
				require.NoError(t, k.Run(one.threads, c))
				for _, rig := range []*rig{one, many} {
					got := out()
					require.NoError(t, rig.call(name, c))
					require.Equal(t, want.memory, got.memory, "%s of %v %v, axes %b", name, d, s.dims, s.axes)
				}
			}
		}
	}
}

// operandOf is an operand of random elements, which sums round and products neither lose nor let overflow.
func operandOf(r *rand.Rand, d dtype.DType, ds []int64, turned bool) *tensor {
	l := dims(ds...)
	if turned {
		step := int64(1)
		for i := range l.Rank {
			l.Strides[i] = step
			step *= l.Dims[i]
		}
	}
	values := make([]float64, l.Numel())
	for i := range values {
		switch {
		case d.IsFloat():
			values[i] = 1 + (r.Float64()-0.5)/1024
		case r.IntN(100) > 0:
			values[i] = float64(1 - r.IntN(2))
		default:
			values[i] = float64(r.IntN(2))
		}
	}
	return place(d, l, 0, values...)
}

// resultOf is memory for what a row makes of a dtype.
func resultOf(t *testing.T, row *op.Row, d dtype.DType, ds []int64) *tensor {
	t.Helper()
	to := d
	switch row.ID {
	case op.IDAny, op.IDAll:
		to = dtype.Bool
	case op.IDCountNonzero, op.IDWholeSum, op.IDWholeProd:
		to = dtype.Int64
	}
	l := dims(ds...)
	return place(to, l, 0, make([]float64, l.Numel())...)
}
