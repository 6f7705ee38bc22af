package shaders_test

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/internal/sample"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
	"github.com/paddle-mps/paddle-mps/kernels/metal/shaders"
)

// lyings are arrangements of operands of any shape, beside those of package metaltest: where the first element is in
// its memory, how many elements that has, and the strides.
var lyings = map[string]func(s shape.Shape) (l shape.Layout, first, count int64){
	"misaligned": func(s shape.Shape) (shape.Layout, int64, int64) {
		return shape.Contiguous(s), 3, s.Numel() + 3
	},
	"row": func(s shape.Shape) (shape.Layout, int64, int64) { // one for all rows
		l := shape.Contiguous(s)
		for i := range s.Rank - 1 {
			l.Strides[i] = 0
		}
		return l, 0, s.Numel()
	},
	"column": func(s shape.Shape) (shape.Layout, int64, int64) { // one for all columns
		l := shape.Contiguous(s)
		if s.Rank > 0 {
			l.Strides[s.Rank-1] = 0
		}
		return l, 0, s.Numel()
	},
	"channel": func(s shape.Shape) (shape.Layout, int64, int64) { // the middle axis alone
		l := shape.Contiguous(s)
		for i := range s.Rank {
			l.Strides[i] = 0
		}
		l.Strides[s.Rank/2] = 1
		return l, 0, s.Numel() + 1
	},
	"swapped": func(s shape.Shape) (shape.Layout, int64, int64) { // the two last axes
		if s.Rank < 2 {
			return shape.Contiguous(s), 0, s.Numel()
		}
		a, b := s.Rank-2, s.Rank-1
		s.Dims[a], s.Dims[b] = s.Dims[b], s.Dims[a]
		l := shape.Contiguous(s)
		l.Dims[a], l.Dims[b] = l.Dims[b], l.Dims[a]
		l.Strides[a], l.Strides[b] = l.Strides[b], l.Strides[a]
		return l, 0, s.Numel()
	},
	"padded": func(s shape.Shape) (shape.Layout, int64, int64) { // rows at multiples of four elements
		l, step := shape.Contiguous(s), int64(1)
		for i := s.Rank - 1; i >= 0; i-- {
			l.Strides[i] = step
			step *= (s.Dims[i] + 3) &^ 3
		}
		return l, 4, step + 4
	},
}

// lies is an operand of an arrangement by name.
// SAFETY: the address stays within the memory, which the arrangement has said the size of.
func (b bench) lies(d dtype.DType, name string, phase int, dims []int64) device.Operand {
	arrange := lyings[name]
	if arrange == nil {
		arrange = metaltest.Arrangements[name]
	}
	l, first, count := arrange(metaltest.ShapeAs(b.T, dims...))
	at, h := b.Memory(count * d.Size())
	memory := unsafe.Slice((*byte)(at), count*d.Size())
	for i := range count {
		metaltest.Put(memory[i*d.Size():], d, float64((int(i)*7+phase*3)%101)-float64(phase%2)*3)
	}
	return device.Operand{Addr: unsafe.Add(at, first*d.Size()), Heap: h, DType: d, Layout: l}
}

// What is computed depends on no shape and no arrangement, whether threads go on or not and whether the call is divided
// or not, with offsets of both widths: the results are the host's.
func TestLattices(t *testing.T) {
	r := open(t)
	outs := []string{"contiguous", "transposed", "spread", "reversed", "padded", "misaligned"}
	ins := []string{"contiguous", "transposed", "swapped", "row", "column", "channel", "reversed", "spread", "padded", "misaligned"}
	shapes := [][]int64{{}, {1}, {7}, {300}, {40, 33}, {64, 128}, {33, 40, 5}, {20, 3, 18}, {2, 17, 1, 20}, {3, 2, 4, 5, 6}}
	everyWidth(t, func(t *testing.T) {
		for n, busy := range []int64{8192, 1} {
			defer shaders.Busy(busy)()
			defer shaders.Move([]int64{2 << 30, 5000}[n])()
			for n, d := range []dtype.DType{dtype.Float32, dtype.Float16, dtype.Uint8, dtype.Int64} {
				for m, name := range []string{"subtract", "neg", "assign"} {
					row := op.MustByName(name)
					t.Run(fmt.Sprintf("%s/%s/%d", name, d, busy), func(t *testing.T) {
						sample.Skip(t, 3, name, n+busyIndex(busy))
						for i, dims := range shapes {
							b := r.on(t)
							for j, in := range ins {
								if testing.Short() && (i+j+n+m)%3 != 0 {
									continue
								}
								out := outs[(i+j+n+m)%len(outs)]
								c := &device.Call{Out: []device.Operand{b.lies(d, out, 0, dims)}}
								c.In = append(c.In, b.lies(d, in, 1, dims))
								if row.Kind == op.Binary {
									c.In = append(c.In, b.lies(d, ins[(i+3*j+busyIndex(busy))%len(ins)], 2, dims))
								}
								want, got := metaltest.ByHost(t, row, *c), b.ByGPU(row, c)
								require.NoError(t, got.Err)
								require.Equal(t, want.Bytes, got.Bytes, "%v from %s to %s", dims, in, out)
							}
						}
					})
				}
			}
		}
	})
}

func busyIndex(busy int64) int { return int(busy % 7) }
