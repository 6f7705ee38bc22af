package shaders_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/describe"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/internal/sample"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
	"github.com/paddle-mps/paddle-mps/kernels/metal/shaders"
)

// everyWidth runs a test with offsets of 32 and of 64 bits.
func everyWidth(t *testing.T, test func(t *testing.T)) {
	t.Run("32", test)
	defer shaders.Narrow(-1)()
	t.Run("64", test)
}

// Reductions over every set of axes give what the host gives, in every dtype, on every arrangement and by
// each of the three ways to share the work.
func TestReductions(t *testing.T) {
	r := open(t)
	for _, row := range op.Table {
		if row.Kind != op.Reduce || row.Lower != nil { // what is lowered has no shader
			continue
		}
		for _, d := range gpu.Elements.Members() {
			out, values, ulps := reduction(&row, d)
			if !row.Accepts.Has(d) || testing.Short() && d != dtype.Float32 && d != dtype.Int64 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", row.Name, d), func(t *testing.T) {
				sample.Skip(t, 7, row.Name, int(d))
				b := r.on(t)
				for n, axes := range []op.Axes{0b001, 0b100, 0b101, 0b111, 0b000} {
					b.reduces(&row, d, out, values, ulps, axes, metaltest.ArrangementNames[n%4], 3, 41, 5)
				}
				b.reduces(&row, d, out, values, ulps, 0b11, "transposed", 300, 61)
			})
		}
	}
	for _, name := range []string{"sum", "argmax", "mean"} {
		row := op.MustByName(name)
		t.Run("ways/"+name, func(t *testing.T) {
			everyWidth(t, func(t *testing.T) {
				b := r.on(t)
				out, values, ulps := reduction(row, dtype.Float32)
				b.reduces(row, dtype.Float32, out, values, ulps, 0b10, "contiguous", shaders.PlentyOutputs+1, 33)
				b.reduces(row, dtype.Float32, out, values, ulps, 0b10, "spread", 3, shaders.FewElements+1)
				b.reduces(row, dtype.Float32, out, values, ulps, 0b10, "reversed", 2, 2*shaders.PartElements+77)
				b.reduces(row, dtype.Float32, out, values, ulps, 0b01, "transposed", 2*shaders.PartElements+77, 3)
			})
		})
	}
}

// shares are calls for each way in which reductions of rows and of columns share their work: what ends within a vector,
// a line or a tile, more than one group, more than one part.
var shares = []struct {
	name string
	axes op.Axes
	lie  string
	dims []int64
}{
	{"staged rows", 0b10, "contiguous", []int64{300, 7}},
	{"staged rows of many lanes", 0b100, "contiguous", []int64{3, 13, 100}},
	{"rows for some lanes", 0b100, "cut", []int64{2, 3, 21}},
	{"rows", 0b10, "contiguous", []int64{9, 1203}},
	{"parts of rows", 0b10, "contiguous", []int64{2, 2*shaders.PartVectors*16/2 + 77}},
	{"all", 0b1, "contiguous", []int64{3*shaders.PartVectors*4 + 1}},
	{"columns", 0b01, "contiguous", []int64{50, 64}},
	{"columns with gaps", 0b01, "cut", []int64{50, 61}},
	{"columns and a rest", 0b010, "contiguous", []int64{2, 70, 299}},
	{"few columns", 0b01, "contiguous", []int64{700, 7}},
	{"parts of columns", 0b01, "contiguous", []int64{9001, 12}},
	{"parts of one column", 0b011, "contiguous", []int64{90, 40, 1}},
}

// Each way to share the work gives what the host gives, also in pieces.
func TestSharedReductions(t *testing.T) {
	r := open(t)
	for i, call := range []struct {
		name   string
		d      dtype.DType
		widths bool // whether kernels with offsets of 64 bits are tried too
	}{
		{"sum", dtype.Float32, true},
		{"sum", dtype.Float16, false},
		{"sum", dtype.BFloat16, false},
		{"sum", dtype.Int64, false},
		{"max", dtype.Uint8, false},
		{"any", dtype.Bool, false},
		{"argmax", dtype.Float32, false},
		{"argmin", dtype.Int16, false},
		{"mean", dtype.Int32, false},
		{"prod", dtype.Float32, false},
	} {
		row := op.MustByName(call.name)
		out, values, ulps := reduction(row, call.d)
		for _, s := range shares {
			t.Run(fmt.Sprintf("%s/%s/%s", row.Name, call.d, s.name), func(t *testing.T) {
				sample.Skip(t, 5, s.name, i)
				test := func(t *testing.T) { r.on(t).reduces(row, call.d, out, values, ulps, s.axes, s.lie, s.dims...) }
				test(t)
				t.Run("in pieces", func(t *testing.T) {
					defer shaders.Move(3 * 1024)()
					test(t)
				})
				if call.widths {
					defer shaders.Narrow(-1)()
					t.Run("64", test)
				}
			})
		}
	}
}

// reduction is the dtype of a reduction's output, values to fold, and how near to the host's its shaders are:
// they add and multiply with twice the digits of a float.
func reduction(row *op.Row, d dtype.DType) (out dtype.DType, values func(int64) float64, ulps float64) {
	if *describe.ToleranceOf(row) != (describe.Tolerance{}) {
		ulps = 1
	}
	return metaltest.ResultOf(row, d), metaltest.ValuesFor(row, 0, d), ulps
}

func (b bench) reduces(row *op.Row, d, out dtype.DType, values func(int64) float64, ulps float64, axes op.Axes, arrangement string, dims ...int64) {
	c := &device.Call{Axes: axes, Attrs: make(op.Attrs, len(row.Attrs)), In: []device.Operand{b.Operand(d, arrangement, values, dims...)}}
	kept := append([]int64(nil), dims...)
	for i := range kept {
		if axes.Has(i) {
			kept[i] = 1
		}
	}
	c.Out = []device.Operand{b.Operand(out, arrangement, metaltest.Steady, kept...)}
	want := metaltest.ByHost(b.T, row, *c)
	metaltest.Agree(b.T, out, want, b.ByGPU(row, c), ulps)
}

// Sums that cancel keep what a single float would have lost, and products go beyond the range on the way.
func TestReductionsAreExact(t *testing.T) {
	b := open(t)
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
	b := open(t)
	for _, name := range []string{"sum", "prod", "any", "all", "mean"} {
		row := op.MustByName(name)
		out := metaltest.ResultOf(row, dtype.Float32)
		b.reduces(row, dtype.Float32, out, metaltest.Steady, 0, 0b01, "contiguous", 0, 3)
	}
}

// Operators along one axis give what the host gives, over every axis, in every dtype and on every arrangement, for
// values of their domain and for large ones.
func TestScans(t *testing.T) {
	r := open(t)
	for i := range op.Table {
		row := &op.Table[i]
		if row.Kind != op.Scan || len(row.Lacks) > 0 || row.Lower != nil && !row.Own { // what is lowered has no shader
			continue
		}
		for _, d := range (row.Accepts & gpu.Elements).Members() {
			if testing.Short() && d != dtype.Float32 && d != dtype.Int64 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", row.Name, d), func(t *testing.T) {
				sample.Skip(t, 7, row.Name, int(d))
				everyWidth(t, func(t *testing.T) {
					b := r.on(t)
					for axis := range 3 {
						for _, values := range []func(int64) float64{metaltest.ValuesFor(row, 0, d), metaltest.Steady, func(i int64) float64 { return 80 * metaltest.Steady(i) }} {
							b.scans(row, d, 1<<axis, values, metaltest.ArrangementNames[axis:], 3, 70, 5)
						}
					}
					b.scans(row, d, 0b1, metaltest.Steady, metaltest.ArrangementNames, 1003) // more than a threadgroup
					b.scans(row, d, 0, metaltest.Steady, metaltest.ArrangementNames)         // a scalar
				})
			})
		}
	}
}

// scans tries one call, whose operand and result lie in the first two of some arrangements.
func (b bench) scans(row *op.Row, d dtype.DType, axes op.Axes, values func(int64) float64, arrangements []string, dims ...int64) {
	b.T.Helper()
	c := &device.Call{Axes: axes, Attrs: metaltest.Attributes(row, d)}
	c.In = []device.Operand{b.Operand(d, arrangements[0], values, dims...)}
	c.Out = []device.Operand{b.Operand(d, arrangements[1], metaltest.Steady, dims...)}
	if len(row.Out) > 1 {
		c.Out = append(c.Out, b.Operand(dtype.Int64, arrangements[0], metaltest.Steady, dims...))
	}
	want := metaltest.ByHost(b.T, row, *c)
	bound := metaltest.Bound{ULPs: describe.ToleranceOf(row).ULPs(d, true), Slack: metaltest.Slack(b.T, row, c)}
	metaltest.AgreeWithin(b.T, d, want, b.ByGPU(row, c), bound)
}

// Softmax gives what the host gives in each way to share its work: lines that some lanes, a SIMD group or a threadgroup
// keep, and lines that are too long; from and to lines of memory that begin elsewhere; and also in pieces.
func TestSharedSoftmax(t *testing.T) {
	r := open(t)
	row := op.MustByName("softmax")
	for _, s := range []struct {
		name     string
		axes     op.Axes
		from, to string
		dims     []int64
	}{
		{"rows of some lanes", 0b10, "contiguous", "contiguous", []int64{700, 13}},
		{"rows of a SIMD group", 0b10, "contiguous", "contiguous", []int64{9, 301}},
		{"rows of two SIMD groups", 0b10, "contiguous", "contiguous", []int64{5, 1000}},
		{"rows of four SIMD groups", 0b10, "contiguous", "contiguous", []int64{3, 2000}},
		{"two rows of two SIMD groups", 0b10, "contiguous", "contiguous", []int64{2, 1000}},
		{"rows of a threadgroup", 0b10, "contiguous", "contiguous", []int64{3, 4096}},
		{"rows that are too long", 0b10, "contiguous", "contiguous", []int64{2, 6001}},
		{"rows in parts", 0b10, "cut", "cut", []int64{2, 40003}},
		{"lines in parts", 0b01, "contiguous", "contiguous", []int64{40003, 3}},
		{"rows with gaps", 0b10, "cut", "cut", []int64{5, 77}},
		{"rows to other rows", 0b10, "contiguous", "cut", []int64{5, 77}},
		{"columns", 0b01, "contiguous", "contiguous", []int64{300, 70}},
		{"columns that are too long", 0b01, "contiguous", "contiguous", []int64{700, 35}},
		{"columns of rows with gaps", 0b010, "cut", "spread", []int64{2, 31, 33}},
		{"few lines", 0b01, "contiguous", "transposed", []int64{300, 3}},
	} {
		for _, d := range []dtype.DType{dtype.Float32, dtype.Float16, dtype.BFloat16} {
			t.Run(fmt.Sprintf("%s/%s", s.name, d), func(t *testing.T) {
				sample.Skip(t, 3, s.name, int(d))
				test := func(t *testing.T) {
					r.on(t).scans(row, d, s.axes, metaltest.ValuesFor(row, 0, d), []string{s.from, s.to}, s.dims...)
					r.on(t).scans(row, d, s.axes, func(i int64) float64 { return 80 * metaltest.Steady(i) }, []string{s.from, s.to}, s.dims...)
					r.on(t).scans(row, d, s.axes, func(i int64) float64 { return float64(i%5000) / 64 }, []string{s.from, s.to}, s.dims...) // the largest always grows
				}
				test(t)
				t.Run("in pieces", func(t *testing.T) {
					defer shaders.Move(3 * 1024)()
					test(t)
				})
			})
		}
	}
}

// indexCall reads or writes slices of a tensor of 6 by 5 by 4 through k index tensors of 2 by 7.
func (b bench) indexCall(write bool, d dtype.DType, k int, arrangement string, index func(k int, i int64) float64) *device.Call {
	dims := []int64{6, 5, 4}
	x := b.Operand(d, arrangement, func(i int64) float64 { return float64(i % 100) }, dims...)
	list := b.Operand(d, "spread", func(i int64) float64 { return float64((i + 50) % 120) }, append([]int64{2, 7}, dims[k:]...)...)
	c := &device.Call{In: []device.Operand{x}, Out: []device.Operand{list}}
	if write {
		c.In[0], c.Out[0] = list, x
	}
	for n := range k {
		o := b.Operand(dtype.Int64, metaltest.ArrangementNames[n], func(i int64) float64 { return index(n, i) }, 2, 7)
		c.In = append(c.In, o)
	}
	return c
}

// Of slices that are written to one place the last wins, as on the host.
func TestIndexing(t *testing.T) {
	r := open(t)
	sizes := [3]int64{6, 5, 4}
	everyWidth(t, func(t *testing.T) {
		for _, row := range []*op.Row{op.ByID(op.IDIndex), op.ByID(op.IDIndexPut)} {
			for _, d := range []dtype.DType{dtype.Bool, dtype.Float16, dtype.Float32, dtype.Int64} {
				for k := 1; k <= 3; k++ {
					t.Run(fmt.Sprintf("%s/%s/%d", row.Name, d, k), func(t *testing.T) {
						sample.Skip(t, 3, row.Name, k+int(d))
						b := r.on(t)
						c := b.indexCall(row.Updates, d, k, metaltest.ArrangementNames[k], func(n int, i int64) float64 {
							return float64((i*5+int64(n))%3 - 1 + i%2*(sizes[n]-2))
						})
						want := metaltest.ByHost(t, row, *c)
						metaltest.Agree(t, d, want, b.ByGPU(row, c), 0)
					})
				}
			}
		}
		for _, fold := range op.Folds {
			for _, d := range []dtype.DType{dtype.Bool, dtype.Int8, dtype.Int64, dtype.Float16, dtype.BFloat16, dtype.Float32} {
				t.Run(fmt.Sprintf("index_reduce/%s/%s", fold, d), func(t *testing.T) {
					sample.Skip(t, 3, fold, int(d))
					b := r.on(t)
					c := b.indexCall(true, d, 2, metaltest.ArrangementNames[1], func(n int, i int64) float64 {
						return float64((i*5+int64(n))%3 - 1 + i%2*(sizes[n]-2))
					})
					c.Attrs = op.Attrs{op.IndexReduceReduce: op.Value{Kind: op.String, Ref: fold}}
					row := op.ByID(op.IDIndexReduce)
					want := metaltest.ByHost(t, row, *c)
					metaltest.Agree(t, d, want, b.ByGPU(row, c), 0)
				})
			}
		}
	})
}

// An index out of range is an error that names it, and nothing is written.
func TestIndexOutOfRange(t *testing.T) {
	r := open(t)
	for _, row := range []*op.Row{op.ByID(op.IDIndex), op.ByID(op.IDIndexPut), op.ByID(op.IDIndexReduce)} {
		for _, wrong := range []float64{5, -6, 1 << 40} {
			t.Run(fmt.Sprintf("%s/%g", row.Name, wrong), func(t *testing.T) {
				b := r.on(t)
				c := b.indexCall(row.Updates, dtype.Int32, 2, "contiguous", func(n int, i int64) float64 {
					if n == 1 && i == 9 {
						return wrong
					}
					return 0
				})
				before := metaltest.Contents(&c.Out[0])
				if len(row.Attrs) > 0 {
					c.Attrs = op.Attrs{op.IndexReduceReduce: op.Value{Kind: op.String, Ref: op.Folds[0]}}
				}
				want := metaltest.ByHost(t, row, *c)
				got := b.ByGPU(row, c)
				require.Equal(t, status.Index, status.CodeOf(got.Err))
				require.EqualError(t, got.Err, "["+row.Name+"] "+status.From(want.Err).Msg[len(row.Name)+3:])
				require.Equal(t, before, got.Bytes)
			})
		}
	}
}

func TestNonzero(t *testing.T) {
	r := open(t)
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
		for _, d := range gpu.Elements.Members() {
			if d == dtype.Float64 || testing.Short() && d.Size() != 4 {
				continue
			}
			t.Run(d.String(), func(t *testing.T) {
				b := r.on(t)
				for i, dims := range [][]int64{{3, 70, 5}, {1, 9}, {5000}, {}, {0, 4}} {
					c := &device.Call{In: []device.Operand{b.Operand(d, metaltest.ArrangementNames[i%4], sparse, dims...)}}
					n := c.In[0].Numel()
					c.Out = []device.Operand{b.Operand(dtype.Int64, metaltest.ArrangementNames[i%2], metaltest.Steady, n, int64(len(dims)))}
					want := metaltest.ByHost(t, row, *c)
					got := b.ByGPU(row, c)
					rows := int(want.Count) * len(dims) * 8
					want.Bytes, got.Bytes = want.Bytes[:rows], got.Bytes[:rows]
					metaltest.Agree(t, dtype.Int64, want, got, 0)
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
	{"number_line", op.Attrs{{Kind: op.Floats, Ref: manyNumbers(700)}, {}}, dtype.All},
	{"uniform", op.Attrs{{}, {Kind: op.Float, F: -1}, {Kind: op.Float, F: 1}, {}}, dtype.Floats},
	{"uniform", op.Attrs{{}, {Kind: op.Float, F: 0.1}, {Kind: op.Float, F: 0.3}, {}}, dtype.Floats},
	{"uniform", op.Attrs{{}, {Kind: op.Float, F: -1000.5}, {Kind: op.Float, F: -1000.25}, {}}, dtype.Floats},
	{"randint", op.Attrs{{}, {Kind: op.Int, I: -50}, {Kind: op.Int, I: 77}, {}}, dtype.Integers},
	{"randint", op.Attrs{{}, {Kind: op.Int, I: math.MinInt64}, {Kind: op.Int, I: math.MaxInt64}, {}}, dtype.Integers},
}

// manyNumbers are of all sizes, with a few at the ends of what dtypes hold.
func manyNumbers(n int) []float64 {
	list := []float64{0, math.Copysign(0, -1), 1, 1e300, -1e300, 1e-300, math.Inf(1), math.Inf(-1), 127.5, -0.5, 65519, 65520}
	for i := len(list); i < n; i++ {
		list = append(list, math.Sin(float64(i))*math.Pow(2, float64(i%40-20)))
	}
	return list
}

// What is made from numbers is the same as on the host to the last bit, random numbers included.
func TestCreation(t *testing.T) {
	r := open(t)
	for n, creation := range creations {
		row := op.MustByName(creation.name)
		for _, d := range (creation.sets & gpu.Elements).Members() {
			t.Run(fmt.Sprintf("%s/%d/%s", row.Name, n, d), func(t *testing.T) {
				b := r.on(t)
				for i, arrangement := range metaltest.ArrangementNames {
					c := &device.Call{Attrs: creation.attrs, Seed: [2]uint64{0x1234567890abcdef, 1<<32 - 20 + uint64(i)}}
					c.Out = []device.Operand{b.Operand(d, arrangement, metaltest.Steady, 7, 100)}
					want := metaltest.ByHost(t, row, *c)
					metaltest.Agree(t, d, want, b.ByGPU(row, c), 0)
				}
			})
		}
	}
}

// Normal numbers come from the same random bits; logarithm, root and sine are the GPU's.
func TestNormal(t *testing.T) {
	b := open(t)
	row := op.MustByName("normal")
	for _, d := range []dtype.DType{dtype.Float32, dtype.Float16, dtype.BFloat16} {
		c := &device.Call{Seed: [2]uint64{5, 6}, Attrs: op.Attrs{{}, {Kind: op.Float, F: 3}, {Kind: op.Float, F: 0.5}, {}}}
		c.Out = []device.Operand{b.Operand(d, "contiguous", metaltest.Steady, 10000)}
		want := metaltest.ByHost(t, row, *c)
		got := b.ByGPU(row, c)
		size := int(d.Size())
		for i := 0; i < len(want.Bytes); i += size {
			w, _ := metaltest.FloatAt(d, want.Bytes[i:])
			g, _ := metaltest.FloatAt(d, got.Bytes[i:])
			unit := map[dtype.DType]float64{dtype.Float32: 0x1p-22, dtype.Float16: 0x1p-9, dtype.BFloat16: 0x1p-6}[d]
			require.InDelta(t, w, g, 2*unit, "element %d", i/size)
		}
	}
}

// multiplies compares a product with the host's, whose operands lie in ways that differ from call to call.
func (b bench) multiplies(d dtype.DType, turn int, batch, rows, inner, cols int64) {
	row := op.MustByName("matmul")
	small := func(by, less int64) func(i int64) float64 {
		if d.IsFloat() {
			return func(i int64) float64 { return float64(i*7919%by-less) / 16 }
		}
		return func(i int64) float64 { return float64(i%by - less) }
	}
	c := &device.Call{Op: row.ID, Attrs: make(op.Attrs, len(row.Attrs))}
	c.In = []device.Operand{
		b.Operand(d, metaltest.ArrangementNames[turn%4], small(200, 90), batch, rows, inner),
		b.Operand(d, metaltest.ArrangementNames[(turn+1)%4], small(77, 30), batch, inner, cols),
	}
	c.Out = []device.Operand{b.Operand(d, metaltest.ArrangementNames[(turn+2)%4], metaltest.Steady, batch, rows, cols)}
	want := metaltest.ByHost(b.T, row, *c)
	bound := metaltest.Bound{}
	if d.IsFloat() {
		bound = metaltest.BoundOf(b.T, row, c)
	}
	metaltest.AgreeWithin(b.T, d, want, b.ByGPU(row, c), bound)
}

// Products of integers are the host's, and those of floats within what their row allows: of edges of tiles, vectors on
// either side, and inner axes that are cut into parts, in every arrangement, whether dispatches are divided or not.
func TestProducts(t *testing.T) {
	r := open(t)
	sizes := [][4]int64{
		{2, 1, 1, 1},
		{2, 17, 33, 18},
		{2, 3, 0, 2},
		{3, 40, 5, 16},
		{1, 70, 64, 33},
		{2, 33, 1100, 2},
		{2, 1, 300, 130},
		{1, 70, 257, 1},
		{2, 1, 1500, 1},
		{1, 1, 2600, 5},
		{2, 5, 1300, 1},
		{1, 3, 0, 1},
	}
	dtypes := []dtype.DType{
		dtype.Float32, dtype.Float16, dtype.BFloat16, dtype.Int64, dtype.Int32, dtype.Int16, dtype.Int8, dtype.Uint8,
	}
	everyWidth(t, func(t *testing.T) {
		for n, rate := range []float64{2.6e12, 1} {
			t.Run([]string{"at once", "divided"}[n], func(t *testing.T) {
				defer shaders.Rate(rate)()
				for n, d := range dtypes {
					if rate == 1 && d != dtype.Int32 && d != dtype.Float32 { // floats but for vectors go to graphs
						continue
					}
					t.Run(d.String(), func(t *testing.T) {
						sample.Skip(t, 5, "matmul", n)
						b := r.on(t)
						for m, dims := range sizes {
							if testing.Short() && (n+m)%3 != 0 {
								continue
							}
							b.multiplies(d, n+m, dims[0], dims[1], dims[2], dims[3])
						}
					})
				}
			})
		}
	})
}

// A product takes as many threads as it wants, of pipelines that would else take fewer, too.
func TestProductsOfSmallPipelines(t *testing.T) {
	t.Setenv("FAKEMETAL_GROUP", "128")
	r := open(t)
	row := op.MustByName("matmul")
	c := &device.Call{Attrs: make(op.Attrs, len(row.Attrs))}
	value := func(i int64) float64 { return float64(i%200 - 90) }
	c.In = []device.Operand{r.Operand(dtype.Int32, "contiguous", value, 17, 33), r.Operand(dtype.Int32, "contiguous", value, 33, 18)}
	c.Out = []device.Operand{r.Operand(dtype.Int32, "contiguous", metaltest.Steady, 17, 18)}
	metaltest.Agree(t, dtype.Int32, metaltest.ByHost(t, row, *c), r.ByGPU(row, c), 0)
	// A pipeline that takes fewer threads than a tile has, whatever its kernel says, is refused: another kernel takes the call.
	fakemetal.Refuse(t, "threads:*")
	fresh := open(t) // which has no pipelines yet
	c.Op = row.ID
	for i := range c.In {
		c.In[i] = fresh.Operand(dtype.Int32, "contiguous", value, c.In[i].Dims[:2]...)
	}
	v, _, class := gpu.Variants(gpu.PreferShaders).Choose(fresh.GPU, c, 0)
	_, err := v.Make(fresh.GPU, c, class)
	var refused *gpu.Refusal
	require.ErrorAs(t, err, &refused)
	require.ErrorContains(t, err, "the pipeline takes threadgroups of 32 threads; want 64")
}

// A small product of floats and any with a vector take a shader, a large product a graph.
func TestProductsAreShared(t *testing.T) {
	b := open(t)
	for _, c := range []struct {
		rows, inner, cols int64
		want              bool
	}{{64, 64, 64, true}, {1, 4096, 512, true}, {512, 2048, 1, true}, {256, 256, 256, false}, {32, 8192, 64, false}} {
		of := func(dims ...int64) device.Operand {
			return b.Operand(dtype.Float32, "contiguous", metaltest.Steady, dims...)
		}
		call := &device.Call{
			Op: op.IDMatmul, Attrs: make(op.Attrs, 2), In: []device.Operand{of(c.rows, c.inner), of(c.inner, c.cols)},
			Out: []device.Operand{of(c.rows, c.cols)},
		}
		v, _, _ := gpu.Variants(gpu.PreferShaders).Choose(b.GPU, call, 0)
		require.Equal(t, c.want, v == gpu.Named(op.IDMatmul, dtype.Float32, gpu.Shader)[0], "%v", c)
	}
}

// Permutations are the host's, whatever the length of the sort.
func TestPermutations(t *testing.T) {
	r := open(t)
	row := op.MustByName("randperm")
	everyWidth(t, func(t *testing.T) {
		b := r.on(t)
		defer shaders.SortedAtOnce(1024)()
		for i, n := range []int64{1, 2, 511, 512, 513, 5000} {
			for _, d := range []dtype.DType{dtype.Int64, dtype.Int32, dtype.Float32} {
				c := &device.Call{Seed: [2]uint64{9, uint64(n)}, Attrs: make(op.Attrs, len(row.Attrs))}
				c.Out = []device.Operand{b.Operand(d, metaltest.ArrangementNames[i%4], metaltest.Steady, n)}
				want := metaltest.ByHost(t, row, *c)
				metaltest.Agree(t, d, want, b.ByGPU(row, c), 0)
			}
		}
	})
}
