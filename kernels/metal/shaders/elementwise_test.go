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
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
)

// layouts of an operand of 4 by 6 elements: where the first lies in its memory, and the strides.
var layouts = map[string]struct {
	start   int64
	strides [2]int64
}{
	"contiguous": {0, [2]int64{6, 1}},
	"misaligned": {1, [2]int64{6, 1}},
	"transposed": {0, [2]int64{1, 4}},
	"reversed":   {23, [2]int64{-6, -1}},
	"spread":     {3, [2]int64{14, 2}},
	"row":        {5, [2]int64{0, 1}},
	"column":     {2, [2]int64{1, 0}},
}

const rows, cols = 4, 6

// shelf is memory for the operands of one call at a time.
type shelf struct {
	bench
	memory unsafe.Pointer
	heap   device.Heap
	used   int64
}

func newShelf(t *testing.T) *shelf {
	r := &shelf{bench: open(t)}
	r.memory, r.heap = r.Memory(4 * 512)
	return r
}

// lying is an operand of a layout, with room around it that is not zero.
func (r *shelf) lying(d dtype.DType, name string, phase int) device.Operand {
	l := layouts[name]
	const elements = 64
	o := device.Operand{Addr: unsafe.Add(r.memory, r.used), Heap: r.heap, DType: d}
	memory := unsafe.Slice((*byte)(o.Addr), elements*d.Size())
	for i := range int64(elements) {
		metaltest.Put(memory[i*d.Size():], d, float64((int(i)*7+phase*3)%11)-float64(phase%2)*3)
	}
	r.used += 512
	o.Layout = shape.Contiguous(metaltest.ShapeAs(r.T, rows, cols))
	o.Strides[0], o.Strides[1] = l.strides[0], l.strides[1]
	o.Addr = unsafe.Add(o.Addr, l.start*d.Size())
	return o
}

// Elementwise operators on every layout of every operand give what the host device gives: exactly, for
// these are operators whose results are exact.
func TestElementwiseLayouts(t *testing.T) {
	r := newShelf(t)
	names := []string{"contiguous", "misaligned", "transposed", "reversed", "spread", "row", "column"}
	for _, name := range []string{"subtract", "less_than", "where", "neg"} {
		row := op.MustByName(name)
		for _, d := range []dtype.DType{dtype.Uint8, dtype.Int16, dtype.Float16, dtype.Float32, dtype.Int64} {
			for i, out := range names[:5] {
				for j, in := range names {
					t.Run(fmt.Sprintf("%s %s from %s to %s", name, d, in, out), func(t *testing.T) {
						r.used = 0
						kind := d
						if row.Kind == op.Compare {
							kind = dtype.Bool
						}
						c := &device.Call{Out: []device.Operand{r.lying(kind, out, 0)}}
						for n := range row.In {
							from := d
							if row.In[n].Domain == op.Condition {
								from = dtype.Bool
							}
							c.In = append(c.In, r.lying(from, names[(j+n*(i+1))%len(names)], n+1))
						}
						g := metaltest.Single(row, c)
						want := metaltest.ByHost(t, row, *c)
						require.NoError(t, want.Err)
						o := metaltest.NewOwner()
						c.Owner = o
						p, err := r.Compile(g)
						require.NoError(t, err)
						r.Stream.Sync(r.Stream.Run(p, c))
						require.NoError(t, <-o.Ended)
						require.Equal(t, want.Bytes, metaltest.Contents(&c.Out[0]))
						require.NoError(t, p.Close())
					})
				}
			}
		}
	}
}

// A scalar is an argument, not part of the program: one program serves all values on one side.
func TestElementwiseScalars(t *testing.T) {
	r := open(t)
	row := op.MustByName("multiply")
	out, x := r.Of(make([]float32, 100)...), r.Of(metaltest.Random(100)...)
	for side := range 2 {
		in := func(v float32) (in [2]device.Operand) {
			in[side], in[1-side] = metaltest.Scalar(v, 100), x
			return in
		}
		first := in(2)
		c, _ := metaltest.Call(out, first[:]...)
		p, err := r.Compile(metaltest.Single(row, c))
		require.NoError(t, err)
		for _, v := range []float32{2, -3.5, 0} {
			now := in(v)
			c, o := metaltest.Call(out, now[:]...)
			c.Op = row.ID
			r.Stream.Sync(r.Stream.Run(p, c))
			require.NoError(t, <-o.Ended)
			for i, got := range metaltest.Floats(&out) {
				require.Equal(t, metaltest.Floats(&x)[i]*v, got)
			}
		}
		first = in(2)
		c, o := metaltest.Call(out, first[1], first[0])
		c.Op = row.ID
		r.Stream.Sync(r.Stream.Run(p, c))
		require.Equal(t, status.Internal, status.CodeOf(<-o.Ended), "the key of this call is another one's")
		require.NoError(t, p.Close())
	}
}

// An integer that is divided by zero fails its call, and no other.
func TestElementwiseFaults(t *testing.T) {
	r := newShelf(t)
	row := op.MustByName("floor_divide")
	run := func(divisor int) error {
		r.used = 0
		c := &device.Call{Out: []device.Operand{r.lying(dtype.Int32, "contiguous", 0)}}
		c.In = []device.Operand{r.lying(dtype.Int32, "contiguous", 1), r.lying(dtype.Int32, "contiguous", 2)}
		for i := range int64(24) {
			*(*int32)(unsafe.Add(c.In[1].Addr, 4*i)) = int32(divisor) + int32(i) - 5
			if divisor != 5 {
				*(*int32)(unsafe.Add(c.In[1].Addr, 4*i)) = int32(divisor)
			}
		}
		g := metaltest.Single(row, c)
		o := metaltest.NewOwner()
		c.Owner = o
		p, err := r.Compile(g)
		require.NoError(t, err)
		r.Stream.Sync(r.Stream.Run(p, c))
		require.NoError(t, p.Close())
		return <-o.Ended
	}
	require.NoError(t, run(3))
	err := run(5) // one of them is 0
	require.Equal(t, status.Math, status.CodeOf(err))
	require.ErrorContains(t, err, "[floor_divide] an integer is divided by zero")
	require.NoError(t, run(7))
}

// Every operator that package msl has is registered, and nothing else elementwise is claimed.
func TestElementwiseIsRegistered(t *testing.T) {
	for i := range op.Table {
		row := &op.Table[i]
		for _, d := range dtype.All.Members() {
			ok := len(gpu.Named(row.ID, d, gpu.Shader)) > 0
			switch row.Kind {
			case op.Unary, op.Binary, op.Compare, op.Select, op.Convert:
				require.Equal(t, msl.Has(row.ID, d), ok, "%s of %s", row.Name, d)
			}
		}
	}
}
