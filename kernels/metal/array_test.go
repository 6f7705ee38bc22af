package metal

import (
	"bytes"
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host"
)

// bench has operands each in a heap of its own of exact size, so that the stand-in for Metal sees every
// access beyond one.
type bench struct {
	*rig
	t     *testing.T
	heaps []device.Heap
}

func newBench(t *testing.T, r *rig) *bench {
	b := &bench{rig: r, t: t}
	t.Cleanup(func() {
		for _, h := range b.heaps {
			require.NoError(t, h.Close())
		}
	})
	return b
}

// memory is so many bytes of a heap, at least 4, or whole granules where MPSGraph may need them.
func (b *bench) memory(n int64) (unsafe.Pointer, device.Heap) {
	size := max((n+3)&^3, 4)
	if b.prefer == PreferGraphs {
		size = int64(roundUp(uint64(size), granule))
	}
	h, err := b.NewHeap(size)
	require.NoError(b.t, err)
	b.heaps = append(b.heaps, h)
	return unsafe.Pointer(&h.Bytes()[0]), h
}

// arrangements of a shape: strides and the place of the first element.
var arrangements = map[string]func(s shape.Shape) (l shape.Layout, first, count int64){
	"contiguous": func(s shape.Shape) (shape.Layout, int64, int64) { return shape.Contiguous(s), 0, s.Numel() },
	"transposed": func(s shape.Shape) (shape.Layout, int64, int64) {
		l, step := shape.Contiguous(s), int64(1)
		for i := range s.Rank {
			l.Strides[i] = step
			step *= s.Dims[i]
		}
		return l, 0, s.Numel()
	},
	"reversed": func(s shape.Shape) (shape.Layout, int64, int64) {
		l := shape.Contiguous(s)
		for i := range s.Rank {
			l.Strides[i] = -l.Strides[i]
		}
		return l, max(s.Numel()-1, 0), s.Numel()
	},
	"spread": func(s shape.Shape) (shape.Layout, int64, int64) {
		l := shape.Contiguous(s)
		for i := range s.Rank {
			l.Strides[i] *= 2
		}
		return l, 1, 2 * s.Numel()
	},
}

var arrangementNames = []string{"contiguous", "transposed", "reversed", "spread"}

func shapeAs(t testing.TB, dims ...int64) shape.Shape {
	s, err := shape.Of(dims...)
	require.NoError(t, err)
	return s
}

// operand is a tensor whose elements are written from a function of their row-major number.
func (b *bench) operand(d dtype.DType, arrangement string, value func(i int64) float64, dims ...int64) device.Operand {
	l, first, count := arrangements[arrangement](shapeAs(b.t, dims...))
	if l.Numel() == 0 {
		return device.Operand{DType: d, Layout: l}
	}
	at, h := b.memory(count * d.Size())
	o := device.Operand{Addr: unsafe.Add(at, first*d.Size()), Heap: h, DType: d, Layout: l}
	for i := range l.Numel() {
		put(unsafe.Slice((*byte)(elementAt(&o, i)), d.Size()), d, value(i))
	}
	return o
}

// elementAt is the address of the element with a row-major number.
func elementAt(o *device.Operand, number int64) unsafe.Pointer {
	at := int64(0)
	for i := o.Rank - 1; i >= 0; i-- {
		at += number % o.Dims[i] * o.Strides[i]
		number /= o.Dims[i]
	}
	return unsafe.Add(o.Addr, at*o.DType.Size())
}

// contents is the elements of an operand in row-major order.
func contents(o *device.Operand) (all []byte) {
	for i := range o.Numel() {
		all = append(all, unsafe.Slice((*byte)(elementAt(o, i)), o.DType.Size())...)
	}
	return all
}

// outcome is what a call left in its output, and its Count.
type outcome struct {
	bytes []byte
	count int64
	err   error
}

// byHost runs a call on the host device, into memory of its own that begins as the call's output is.
func byHost(t *testing.T, row *op.Row, c device.Call) outcome {
	d := host.New(host.Config{Threads: 1})
	p, err := d.Compile(single(row, &c))
	require.NoError(t, err)
	s, err := d.NewStream()
	require.NoError(t, err)
	out := c.Out[0]
	memory := append(contents(&out), 0)
	out.Addr, out.Heap, out.Layout = unsafe.Pointer(&memory[0]), nil, shape.Contiguous(out.Shape)
	c.Out = []device.Operand{out}
	if n := p.Workspace(&c); n > 0 {
		scratch := make([]uint64, (n+7)/8+1) // an end that is inside, for checkptr
		c.Workspace = unsafe.Pointer(&scratch[0])
	}
	o := newOwner()
	c.Owner = o
	s.Run(p, &c)
	return outcome{memory[:len(memory)-1], c.Count, <-o.ended}
}

// byGPU runs a call on the device under test.
func (b *bench) byGPU(row *op.Row, c *device.Call) outcome {
	p, err := b.Compile(single(row, c))
	require.NoError(b.t, err)
	if n := p.Workspace(c); n > 0 {
		c.Workspace, c.Scratch = b.memory(n)
	}
	o := newOwner()
	c.Owner = o
	b.stream.Sync(b.stream.Run(p, c))
	err = <-o.ended
	require.NoError(b.t, p.Close())
	return outcome{contents(&c.Out[0]), c.Count, err}
}

// agree wants the two devices to have the same to the last bit, or floats within so many units in the last
// place.
func agree(t *testing.T, d dtype.DType, want, got outcome, ulps float64) {
	require.NoError(t, want.err)
	require.NoError(t, got.err)
	require.Equal(t, want.count, got.count)
	if bytes.Equal(want.bytes, got.bytes) {
		return
	}
	size := int(d.Size())
	require.True(t, d.IsFloat(), "want %v\ngot  %v", want.bytes, got.bytes)
	for i := 0; i < len(want.bytes); i += size {
		w, wb := floatAt(d, want.bytes[i:])
		g, gb := floatAt(d, got.bytes[i:])
		if wb == gb || w != w && g != g || w == g {
			continue
		}
		require.LessOrEqual(t, math.Abs(float64(wb-gb)), ulps, "element %d is %v; want %v", i/size, g, w)
	}
}

// floatAt is an element as a number, and its place among the floats of its dtype.
func floatAt(d dtype.DType, b []byte) (v float64, order int64) {
	if d == dtype.Float32 {
		u := *(*uint32)(unsafe.Pointer(&b[0]))
		return float64(math.Float32frombits(u)), ordered(int64(u), 31)
	}
	u := *(*uint16)(unsafe.Pointer(&b[0]))
	if d == dtype.Float16 {
		return float64(dtype.F16ToF32(u)), ordered(int64(u), 15)
	}
	return float64(dtype.BF16ToF32(u)), ordered(int64(u), 15)
}

func ordered(u int64, sign uint) int64 {
	if u>>sign != 0 {
		return -(u &^ (1 << sign))
	}
	return u
}

// everyWidth runs a test with offsets of 32 and of 64 bits.
func everyWidth(t *testing.T, test func(t *testing.T)) {
	t.Run("32", test)
	narrow = -1
	defer func() { narrow = math.MaxInt32 }()
	t.Run("64", test)
}

// mixed values, with ties and specials among floats.
func mixed(d dtype.DType) func(i int64) float64 {
	return func(i int64) float64 {
		v := float64((i*7919+3)%23) - 9
		if d.IsFloat() {
			v /= 4
			if i%101 == 50 {
				return math.NaN()
			}
		}
		return v
	}
}

// steady values, without specials.
func steady(i int64) float64 { return float64((i*7919+3)%23)/8 - 1 }

// reductionTypes are the output's and the tolerance of a reduction.
func reductionOf(row *op.Row, d dtype.DType) (out dtype.DType, values func(int64) float64, ulps float64, ok bool) {
	switch row.Name {
	case "any", "all":
		return dtype.Bool, func(i int64) float64 { return float64(i * i % 3 % 2) }, 0, true
	case "argmax", "argmin":
		return dtype.Int64, mixed(d), 0, d != dtype.Bool
	case "max", "min":
		return d, mixed(d), 0, true
	}
	return d, steady, 1, true
}

// Reductions over every set of axes give what the host gives, in every dtype, on every arrangement and by
// each of the three ways to share the work.
func TestReductions(t *testing.T) {
	r := newRig(t, Config{})
	for _, row := range op.Table {
		if row.Kind != op.Reduce {
			continue
		}
		for _, d := range elements.Members() {
			out, values, ulps, ok := reductionOf(&row, d)
			if !ok || testing.Short() && d != dtype.Float32 && d != dtype.Int64 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", row.Name, d), func(t *testing.T) {
				b := newBench(t, r)
				for n, axes := range []op.Axes{0b001, 0b100, 0b101, 0b111, 0b000} {
					b.reduces(&row, d, out, values, ulps, axes, arrangementNames[n%4], 3, 41, 5)
				}
				b.reduces(&row, d, out, values, ulps, 0b11, "transposed", 300, 61)
			})
		}
	}
	for _, name := range []string{"sum", "argmax", "mean"} {
		row := op.MustByName(name)
		t.Run("ways/"+name, func(t *testing.T) {
			everyWidth(t, func(t *testing.T) {
				b := newBench(t, r)
				out, values, ulps, _ := reductionOf(row, dtype.Float32)
				b.reduces(row, dtype.Float32, out, values, ulps, 0b10, "contiguous", plentyOutputs+1, 33)
				b.reduces(row, dtype.Float32, out, values, ulps, 0b10, "spread", 3, fewElements+1)
				b.reduces(row, dtype.Float32, out, values, ulps, 0b10, "reversed", 2, 2*partElements+77)
				b.reduces(row, dtype.Float32, out, values, ulps, 0b01, "transposed", 2*partElements+77, 3)
			})
		})
	}
}

func (b *bench) reduces(row *op.Row, d, out dtype.DType, values func(int64) float64, ulps float64, axes op.Axes, arrangement string, dims ...int64) {
	c := &device.Call{Axes: axes, Attrs: make(op.Attrs, len(row.Attrs)), In: []device.Operand{b.operand(d, arrangement, values, dims...)}}
	kept := append([]int64(nil), dims...)
	for i := range kept {
		if axes.Has(i) {
			kept[i] = 1
		}
	}
	c.Out = []device.Operand{b.operand(out, arrangement, steady, kept...)}
	want := byHost(b.t, row, *c)
	agree(b.t, out, want, b.byGPU(row, c), ulps)
}

// Sums that cancel keep what a single float would have lost, and products go beyond the range on the way.
func TestReductionsAreExact(t *testing.T) {
	b := newBench(t, newRig(t, Config{}))
	for name, values := range map[string]func(int64) float64{
		"sum":  func(i int64) float64 { return [4]float64{1e8, 1, -1e8, 0x1p-20}[i%4] },
		"mean": func(i int64) float64 { return [4]float64{1e8, 1, -1e8, 0x1p-20}[i%4] },
		"prod": func(i int64) float64 { return [4]float64{1e30, 1e25, 1e-35, 1.0000001e-20}[i%4] },
	} {
		b.reduces(op.MustByName(name), dtype.Float32, dtype.Float32, values, 1, 0b1, "contiguous", 400)
	}
	for _, v := range []float64{math.Inf(1), math.NaN(), 0} {
		b.reduces(op.MustByName("prod"), dtype.Float32, dtype.Float32, func(i int64) float64 { return [2]float64{v, 3}[min(i, 1)] }, 0, 0b1, "contiguous", 5)
		b.reduces(op.MustByName("sum"), dtype.Float32, dtype.Float32, func(i int64) float64 { return [2]float64{v, 3}[min(i, 1)] }, 0, 0b1, "contiguous", 5)
	}
	b.reduces(op.MustByName("mean"), dtype.Int64, dtype.Int64, func(i int64) float64 { return -0x1p62 + float64(i)*0x1p55 }, 0, 0b1, "contiguous", 50)
}

// A reduction of nothing is its zero.
func TestReductionsOfNothing(t *testing.T) {
	b := newBench(t, newRig(t, Config{}))
	for _, name := range []string{"sum", "prod", "any", "all", "mean"} {
		row := op.MustByName(name)
		out, _, _, _ := reductionOf(row, dtype.Float32)
		b.reduces(row, dtype.Float32, out, steady, 0, 0b01, "contiguous", 0, 3)
	}
}

func TestSoftmax(t *testing.T) {
	r := newRig(t, Config{})
	row := op.MustByName("softmax")
	everyWidth(t, func(t *testing.T) {
		b := newBench(t, r)
		for _, d := range []dtype.DType{dtype.Float32, dtype.Float16, dtype.BFloat16} {
			ulps := 1.0
			if d == dtype.Float32 {
				ulps = row.ULP.Metal
			}
			for axis, arrangement := range arrangementNames[:3] {
				for _, values := range []func(int64) float64{steady, func(i int64) float64 { return 80 * steady(i) }, mixed(d)} {
					c := &device.Call{Axes: 1 << axis, Attrs: make(op.Attrs, len(row.Attrs))}
					c.In = []device.Operand{b.operand(d, arrangement, values, 3, 70, 5)}
					c.Out = []device.Operand{b.operand(d, arrangementNames[axis+1], steady, 3, 70, 5)}
					want := byHost(t, row, *c)
					agree(t, d, want, b.byGPU(row, c), ulps)
				}
			}
		}
		c := &device.Call{Attrs: make(op.Attrs, len(row.Attrs)), In: []device.Operand{b.operand(dtype.Float32, "contiguous", steady)}}
		c.Out = []device.Operand{b.operand(dtype.Float32, "contiguous", steady)}
		agree(t, dtype.Float32, byHost(t, row, *c), b.byGPU(row, c), 0)
	})
}

// indexCall reads or writes slices of a tensor of 6 by 5 by 4 through k index tensors of 2 by 7.
func (b *bench) indexCall(write bool, d dtype.DType, k int, arrangement string, index func(k int, i int64) float64) *device.Call {
	dims := []int64{6, 5, 4}
	x := b.operand(d, arrangement, func(i int64) float64 { return float64(i % 100) }, dims...)
	list := b.operand(d, "spread", func(i int64) float64 { return float64((i + 50) % 120) }, append([]int64{2, 7}, dims[k:]...)...)
	c := &device.Call{In: []device.Operand{x}, Out: []device.Operand{list}}
	if write {
		c.In[0], c.Out[0] = list, x
	}
	for n := range k {
		o := b.operand(dtype.Int64, arrangementNames[n], func(i int64) float64 { return index(n, i) }, 2, 7)
		c.In = append(c.In, o)
	}
	return c
}

// Of slices that are written to one place the last wins, as on the host.
func TestIndexing(t *testing.T) {
	r := newRig(t, Config{})
	sizes := [3]int64{6, 5, 4}
	everyWidth(t, func(t *testing.T) {
		for _, name := range []string{"index", "index_put"} {
			for _, d := range []dtype.DType{dtype.Bool, dtype.Float16, dtype.Float32, dtype.Int64} {
				for k := 1; k <= 3; k++ {
					t.Run(fmt.Sprintf("%s/%s/%d", name, d, k), func(t *testing.T) {
						b := newBench(t, r)
						c := b.indexCall(name == "index_put", d, k, arrangementNames[k], func(n int, i int64) float64 {
							return float64((i*5+int64(n))%3 - 1 + i%2*(sizes[n]-2))
						})
						row := op.MustByName(name)
						want := byHost(t, row, *c)
						agree(t, d, want, b.byGPU(row, c), 0)
					})
				}
			}
		}
	})
}

// An index out of range is an error that names it, and nothing is written.
func TestIndexOutOfRange(t *testing.T) {
	r := newRig(t, Config{})
	for _, name := range []string{"index", "index_put"} {
		for _, wrong := range []float64{5, -6, 1 << 40} {
			t.Run(fmt.Sprintf("%s/%g", name, wrong), func(t *testing.T) {
				b := newBench(t, r)
				c := b.indexCall(name == "index_put", dtype.Int32, 2, "contiguous", func(n int, i int64) float64 {
					if n == 1 && i == 9 {
						return wrong
					}
					return 0
				})
				before := contents(&c.Out[0])
				row := op.MustByName(name)
				want := byHost(t, row, *c)
				got := b.byGPU(row, c)
				require.Equal(t, status.Index, status.CodeOf(got.err))
				require.EqualError(t, got.err, "["+name+"] "+status.From(want.err).Msg[len(name)+3:])
				require.Equal(t, before, got.bytes)
			})
		}
	}
}

func TestNonzero(t *testing.T) {
	r := newRig(t, Config{})
	row := op.MustByName("nonzero")
	sparse := func(i int64) float64 {
		switch {
		case i%5 == 1:
			return 1
		case i%7 == 3:
			return math.Copysign(0, -1)
		}
		return 0
	}
	everyWidth(t, func(t *testing.T) {
		for _, d := range elements.Members() {
			if d == dtype.Float64 || testing.Short() && d.Size() != 4 {
				continue
			}
			t.Run(d.String(), func(t *testing.T) {
				b := newBench(t, r)
				for i, dims := range [][]int64{{3, 70, 5}, {1, 9}, {5000}, {}, {0, 4}} {
					c := &device.Call{In: []device.Operand{b.operand(d, arrangementNames[i%4], sparse, dims...)}}
					n := c.In[0].Numel()
					c.Out = []device.Operand{b.operand(dtype.Int64, arrangementNames[i%2], steady, n, int64(len(dims)))}
					want := byHost(t, row, *c)
					got := b.byGPU(row, c)
					rows := int(want.count) * len(dims) * 8
					want.bytes, got.bytes = want.bytes[:rows], got.bytes[:rows]
					agree(t, dtype.Int64, want, got, 0)
				}
			})
		}
	})
}

// creations are calls that make a tensor of 700 elements from numbers.
var creations = []struct {
	name  string
	attrs op.Attrs
	sets  dtype.Set
}{
	{"full", op.Attrs{{}, {Kind: op.Int, I: -3}, {}}, dtype.All},
	{"full", op.Attrs{{}, {Kind: op.Float, F: 2.71828}, {}}, dtype.All},
	{"full", op.Attrs{{}, {Kind: op.Float, F: math.NaN()}, {}}, dtype.All},
	{"full", op.Attrs{{}, {Kind: op.Float, F: -1e300}, {}}, dtype.All},
	{"range", op.Attrs{{Kind: op.Int, I: -5}, {Kind: op.Int, I: 3}, {}, {}}, dtype.Numbers},
	{"range", op.Attrs{{Kind: op.Int, I: 1 << 40}, {Kind: op.Int, I: -1 << 33}, {}, {}}, dtype.Numbers},
	{"range", op.Attrs{{Kind: op.Float, F: 0}, {Kind: op.Float, F: 0.1}, {}, {}}, dtype.Numbers},
	{"range", op.Attrs{{Kind: op.Float, F: -7.3}, {Kind: op.Int, I: 1}, {}, {}}, dtype.Numbers},
	{"range", op.Attrs{{Kind: op.Float, F: 1e-40}, {Kind: op.Float, F: 3e-42}, {}, {}}, dtype.Numbers},
	{"range", op.Attrs{{Kind: op.Float, F: 1e38}, {Kind: op.Float, F: 1e37}, {}, {}}, dtype.Numbers},
	{"range", op.Attrs{{Kind: op.Float, F: math.Inf(1)}, {Kind: op.Float, F: math.Inf(-1)}, {}, {}}, dtype.Numbers},
	{"linspace", op.Attrs{{Kind: op.Float, F: 0}, {Kind: op.Float, F: 1}, {Kind: op.Int, I: 700}, {}}, dtype.Numbers},
	{"linspace", op.Attrs{{Kind: op.Float, F: 1e6}, {Kind: op.Float, F: -3.7e6}, {Kind: op.Int, I: 700}, {}}, dtype.Numbers},
	{"uniform", op.Attrs{{}, {Kind: op.Float, F: -1}, {Kind: op.Float, F: 1}, {}}, dtype.Floats},
	{"uniform", op.Attrs{{}, {Kind: op.Float, F: 0.1}, {Kind: op.Float, F: 0.3}, {}}, dtype.Floats},
	{"uniform", op.Attrs{{}, {Kind: op.Float, F: -1000.5}, {Kind: op.Float, F: -1000.25}, {}}, dtype.Floats},
	{"randint", op.Attrs{{}, {Kind: op.Int, I: -50}, {Kind: op.Int, I: 77}, {}}, dtype.Integers},
	{"randint", op.Attrs{{}, {Kind: op.Int, I: math.MinInt64}, {Kind: op.Int, I: math.MaxInt64}, {}}, dtype.Integers},
}

// What is made from numbers is the same as on the host to the last bit, random numbers included.
func TestCreation(t *testing.T) {
	r := newRig(t, Config{})
	for n, creation := range creations {
		row := op.MustByName(creation.name)
		for _, d := range (creation.sets & elements).Members() {
			t.Run(fmt.Sprintf("%s/%d/%s", row.Name, n, d), func(t *testing.T) {
				b := newBench(t, r)
				for i, arrangement := range arrangementNames {
					c := &device.Call{Attrs: creation.attrs, Seed: [2]uint64{0x1234567890abcdef, 1<<32 - 20 + uint64(i)}}
					c.Out = []device.Operand{b.operand(d, arrangement, steady, 7, 100)}
					want := byHost(t, row, *c)
					agree(t, d, want, b.byGPU(row, c), 0)
				}
			})
		}
	}
}

// Normal numbers come from the same random bits; logarithm, root and sine are the GPU's.
func TestNormal(t *testing.T) {
	b := newBench(t, newRig(t, Config{}))
	row := op.MustByName("normal")
	for _, d := range []dtype.DType{dtype.Float32, dtype.Float16, dtype.BFloat16} {
		c := &device.Call{Seed: [2]uint64{5, 6}, Attrs: op.Attrs{{}, {Kind: op.Float, F: 3}, {Kind: op.Float, F: 0.5}, {}}}
		c.Out = []device.Operand{b.operand(d, "contiguous", steady, 10000)}
		want := byHost(t, row, *c)
		got := b.byGPU(row, c)
		size := int(d.Size())
		for i := 0; i < len(want.bytes); i += size {
			w, _ := floatAt(d, want.bytes[i:])
			g, _ := floatAt(d, got.bytes[i:])
			unit := map[dtype.DType]float64{dtype.Float32: 0x1p-22, dtype.Float16: 0x1p-9, dtype.BFloat16: 0x1p-6}[d]
			require.InDelta(t, w, g, 2*unit, "element %d", i/size)
		}
	}
}

func TestProducts(t *testing.T) {
	r := newRig(t, Config{})
	row := op.MustByName("matmul")
	everyWidth(t, func(t *testing.T) {
		b := newBench(t, r)
		for n, d := range []dtype.DType{dtype.Int64, dtype.Int32, dtype.Int16, dtype.Int8, dtype.Uint8} {
			for _, dims := range [][3]int64{{1, 1, 1}, {17, 33, 18}, {3, 0, 2}, {40, 5, 16}} {
				c := &device.Call{Attrs: make(op.Attrs, len(row.Attrs))}
				c.In = []device.Operand{
					b.operand(d, arrangementNames[n%4], func(i int64) float64 { return float64(i%200 - 90) }, 2, dims[0], dims[1]),
					b.operand(d, arrangementNames[(n+1)%4], func(i int64) float64 { return float64(i%77 - 30) }, 2, dims[1], dims[2]),
				}
				c.Out = []device.Operand{b.operand(d, arrangementNames[(n+2)%4], steady, 2, dims[0], dims[2])}
				want := byHost(t, row, *c)
				agree(t, d, want, b.byGPU(row, c), 0)
			}
		}
	})
}

// Permutations are the host's, whatever the length of the sort.
func TestPermutations(t *testing.T) {
	r := newRig(t, Config{})
	row := op.MustByName("randperm")
	everyWidth(t, func(t *testing.T) {
		b := newBench(t, r)
		for i, n := range []int64{1, 2, 511, 512, 513, 5000} {
			for _, d := range []dtype.DType{dtype.Int64, dtype.Int32, dtype.Float32} {
				c := &device.Call{Seed: [2]uint64{9, uint64(n)}, Attrs: make(op.Attrs, len(row.Attrs))}
				c.Out = []device.Operand{b.operand(d, arrangementNames[i%4], steady, n)}
				want := byHost(t, row, *c)
				agree(t, d, want, b.byGPU(row, c), 0)
			}
		}
	})
}
