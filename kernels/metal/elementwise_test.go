package metal

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
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

// lying is an operand of a layout, with room around it that is not zero.
func (r *rig) lying(d dtype.DType, name string, phase int) device.Operand {
	l := layouts[name]
	const elements = 64
	o := r.at(r.used, d, elements)
	memory := unsafe.Slice((*byte)(o.Addr), elements*d.Size())
	for i := range int64(elements) {
		put(memory[i*d.Size():], d, float64((int(i)*7+phase*3)%11)-float64(phase%2)*3)
	}
	r.used += 512
	s, err := shape.Of(rows, cols)
	require.NoError(r.t, err)
	o.Layout = shape.Contiguous(s)
	o.Strides[0], o.Strides[1] = l.strides[0], l.strides[1]
	o.Addr = unsafe.Add(o.Addr, l.start*d.Size())
	return o
}

// put writes a number as an element; unsigned integers and bools get its size.
func put(at []byte, d dtype.DType, v float64) {
	switch d {
	case dtype.Float32:
		*(*float32)(unsafe.Pointer(&at[0])) = float32(v)
	case dtype.Float16:
		*(*uint16)(unsafe.Pointer(&at[0])) = dtype.F64ToF16(v)
	case dtype.BFloat16:
		*(*uint16)(unsafe.Pointer(&at[0])) = dtype.F64ToBF16(v)
	case dtype.Int64:
		*(*int64)(unsafe.Pointer(&at[0])) = int64(v)
	case dtype.Int32:
		*(*int32)(unsafe.Pointer(&at[0])) = int32(v)
	case dtype.Int16:
		*(*int16)(unsafe.Pointer(&at[0])) = int16(v)
	case dtype.Int8:
		*(*int8)(unsafe.Pointer(&at[0])) = int8(v)
	case dtype.Bool:
		at[0] = byte(math.Min(math.Abs(v), 1))
	default:
		at[0] = byte(math.Abs(v))
	}
}

// single is a call of any operator as a graph.
func single(row *op.Row, c *device.Call) *graph.Graph {
	c.Op = row.ID
	values := func(os []device.Operand) (vs []graph.Value) {
		for i := range os {
			vs = append(vs, graph.Value{DType: os[i].DType, Layout: os[i].Layout})
		}
		return vs
	}
	return graph.Single(row, c.Attrs, c.Axes, values(c.In), values(c.Out))
}

// Elementwise operators on every layout of every operand give what the host device gives: exactly, for
// these are operators whose results are exact.
func TestElementwiseLayouts(t *testing.T) {
	r := newRig(t, Config{})
	names := []string{"contiguous", "misaligned", "transposed", "reversed", "spread", "row", "column"}
	for _, name := range []string{"subtract", "less_than", "where", "neg"} {
		row := op.MustByName(name)
		for _, d := range []dtype.DType{dtype.Uint8, dtype.Int16, dtype.Float16, dtype.Float32, dtype.Int64} {
			for i, out := range names[:5] {
				for j, in := range names {
					t.Run(fmt.Sprintf("%s %s from %s to %s", name, d, in, out), func(t *testing.T) {
						r.used = 0
						kind := d
						if name == "less_than" {
							kind = dtype.Bool
						}
						c := &device.Call{Out: []device.Operand{r.lying(kind, out, 0)}}
						for n := range row.In {
							from := d
							if name == "where" && n == 0 {
								from = dtype.Bool
							}
							c.In = append(c.In, r.lying(from, names[(j+n*(i+1))%len(names)], n+1))
						}
						g := single(row, c)
						want := byHost(t, row, *c)
						require.NoError(t, want.err)
						o := newOwner()
						c.Owner = o
						p, err := r.Compile(g)
						require.NoError(t, err)
						r.stream.Sync(r.stream.Run(p, c))
						require.NoError(t, <-o.ended)
						require.Equal(t, want.bytes, contents(&c.Out[0]))
						require.NoError(t, p.Close())
					})
				}
			}
		}
	}
}

// A scalar is an argument, not part of the program: one program serves all.
func TestElementwiseScalars(t *testing.T) {
	r := newRig(t, Config{})
	row := op.MustByName("multiply")
	out, x := r.of(make([]float32, 100)...), r.of(random(100)...)
	c, _ := call(out, x, scalar(2, 100))
	p, err := r.Compile(single(row, c))
	require.NoError(t, err)
	for _, v := range []float32{2, -3.5, 0} {
		for _, in := range [][]device.Operand{{x, scalar(v, 100)}, {scalar(v, 100), x}} {
			c, o := call(out, in...)
			c.Op = row.ID
			r.stream.Sync(r.stream.Run(p, c))
			require.NoError(t, <-o.ended)
			for i, got := range floats(&out) {
				require.Equal(t, floats(&x)[i]*v, got)
			}
		}
	}
	require.NoError(t, p.Close())
}

// An integer that is divided by zero fails its call, and no other.
func TestElementwiseFaults(t *testing.T) {
	r := newRig(t, Config{})
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
		g := single(row, c)
		o := newOwner()
		c.Owner = o
		p, err := r.Compile(g)
		require.NoError(t, err)
		r.stream.Sync(r.stream.Run(p, c))
		require.NoError(t, p.Close())
		return <-o.ended
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
			_, ok := shaders.Find(row.ID, d)
			switch row.Kind {
			case op.Unary, op.Binary, op.Compare, op.Select, op.Convert:
				require.Equal(t, msl.Has(row.Name, d), ok, "%s of %s", row.Name, d)
			}
		}
	}
}
