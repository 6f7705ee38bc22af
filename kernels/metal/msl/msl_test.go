package msl

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/describe"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/internal/sample"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
)

// The attributes that expressions use are attributes of the operators.
func TestAttributesExist(t *testing.T) {
	for id, r := range table {
		for _, a := range r.attrs {
			require.Less(t, a, len(op.ByID(id).Attrs), op.ByID(id).Name)
		}
	}
}

// values go through every dtype: specials, and enough of the ordinary.
func values(d dtype.DType, n int, phase int) []float64 {
	special := []float64{0, 1, -1, 2, -2, 3, 0.5, -0.5, 7, -7, 1.5, -2.5, 100, -100, 0.001, 10, 20.25, -20.25, 88, 127}
	if d.IsFloat() {
		special = append(special, math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1), 1e-4, -1e-4, 1e4, -30, 0.9999, -0.9999)
	}
	out := make([]float64, n)
	for i := range out {
		v := special[(i*(1+phase*6)+phase*3)%len(special)]
		if i >= len(special)*len(special) {
			v = math.Mod(float64(i*7919+phase*31), 200)/8 - 12
		}
		if !d.IsFloat() {
			v = math.Trunc(v)
		}
		if d == dtype.Uint8 || d == dtype.Bool {
			v = math.Abs(v)
		}
		if d == dtype.Bool && v != 0 {
			v = 1
		}
		out[i] = v
	}
	return out
}

// memory is values as elements, where a vector of any may lie.
func memory(d dtype.DType, vs []float64) []byte {
	b := aligned(len(vs) * int(d.Size()))[:0]
	for _, v := range vs {
		b = appendElement(b, d, v)
	}
	return b
}

// aligned is n bytes at a multiple of 64.
func aligned(n int) []byte {
	b := make([]byte, n+64)
	first := -uintptr(unsafe.Pointer(&b[0])) & 63
	return b[first:][:n:n]
}

func appendElement(b []byte, d dtype.DType, v float64) []byte {
	switch d {
	case dtype.Float32:
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
	case dtype.Float16:
		return binary.LittleEndian.AppendUint16(b, dtype.F64ToF16(v))
	case dtype.BFloat16:
		return binary.LittleEndian.AppendUint16(b, dtype.F64ToBF16(v))
	case dtype.Int64:
		return binary.LittleEndian.AppendUint64(b, uint64(int64(v)))
	case dtype.Int32:
		return binary.LittleEndian.AppendUint32(b, uint32(int32(v)))
	case dtype.Int16:
		return binary.LittleEndian.AppendUint16(b, uint16(int16(v)))
	}
	return append(b, byte(int64(v)))
}

// element reads element i as a float64, and as its bits.
func element(d dtype.DType, b []byte, i int) (v float64, bits uint64) {
	switch at := b[i*int(d.Size()):]; d.Size() {
	case 1:
		bits = uint64(at[0])
	case 2:
		bits = uint64(binary.LittleEndian.Uint16(at))
	case 4:
		bits = uint64(binary.LittleEndian.Uint32(at))
	default:
		bits = binary.LittleEndian.Uint64(at)
	}
	switch d {
	case dtype.Float32:
		return float64(math.Float32frombits(uint32(bits))), bits
	case dtype.Float16:
		return float64(dtype.F16ToF32(uint16(bits))), bits
	case dtype.BFloat16:
		return float64(dtype.BF16ToF32(uint16(bits))), bits
	}
	return float64(int64(bits)), bits
}

// expected is what the host device computes.
func expected(t *testing.T, c *device.Call, row *op.Row) []byte {
	d := host.New(host.Config{Threads: 1})
	s, err := d.NewStream()
	require.NoError(t, err)
	c.Op = row.ID
	p, err := d.Compile(device.PlanOf(c))
	require.NoError(t, err)
	o := &ended{}
	c.Owner = o
	s.Run(p, c)
	require.NoError(t, o.err)
	o2 := &c.Out[0]
	return unsafe.Slice((*byte)(o2.Addr), o2.Numel()*o2.DType.Size())
}

type ended struct{ err error }

func (*ended) Ready() error     { return nil }
func (o *ended) Done(err error) { o.err = err }

// compare wants every element within so many units in the last place, or within its slack, if there is any; nans
// are one.
func compare(t *testing.T, d dtype.DType, want, got []byte, ulp float64, slack []float64) {
	for i := range len(want) / int(d.Size()) {
		w, wb := element(d, want, i)
		g, gb := element(d, got, i)
		if wb == gb || math.IsNaN(w) && math.IsNaN(g) || w == 0 && g == 0 {
			continue
		}
		if d == dtype.Float32 && math.Abs(w) < 0x1p-126 && math.Abs(g) < 0x1p-126 && ulp > 0 {
			continue // Metal may flush what is subnormal
		}
		if slack != nil && math.Abs(w-g) <= slack[i] {
			continue
		}
		away := math.Abs(float64(int64(wb) - int64(gb)))
		if !d.IsFloat() || math.IsNaN(w) || math.IsNaN(g) || w < 0 != (g < 0) || away > ulp {
			require.Failf(t, "differs", "element %d is %v; want %v (%g units in the last place, %g allowed)", i, g, w, away, ulp)
		}
	}
}

// setting is a call of an operator on contiguous operands of n elements.
type setting struct {
	row  *op.Row
	form Form
	call device.Call
	keep [][]byte
}

const n = 1203

// line is a contiguous layout of n elements.
func line() shape.Layout {
	s, err := shape.Of(n)
	if err != nil {
		panic(err)
	}
	return shape.Contiguous(s)
}

// operand is a dtype's values.
func (s *setting) operand(d dtype.DType, vs []float64) device.Operand {
	b := memory(d, vs)
	s.keep = append(s.keep, b)
	return device.Operand{Addr: unsafe.Pointer(unsafe.SliceData(b)), DType: d, Layout: line()}
}

func prepare(row *op.Row, d dtype.DType) (*setting, bool) {
	s := &setting{row: row, form: Form{Op: row.ID}}
	ins := make([]dtype.DType, len(row.In))
	for i := range ins {
		ins[i] = metaltest.InputType(row, i, d)
	}
	s.call.Attrs = metaltest.Attributes(row, d)
	var c op.Inference
	c.Reset(row, s.call.Attrs)
	for i := range ins {
		c.In = append(c.In, op.Arg{Type: op.Type{DType: ins[i], Shape: line().Shape}})
	}
	if c.Infer() != nil || c.Cast[0] != ins[0] {
		return nil, false
	}
	s.form.In, s.form.Out, s.form.Places = ins, c.Out[0].DType, make([]Place, len(ins))
	for i, in := range ins {
		vs := values(in, n, i)
		if row.In[i].Domain == op.Divisor && !in.IsFloat() {
			for j := range vs {
				if vs[j] == 0 {
					vs[j] = 5
				}
			}
		}
		s.call.In = append(s.call.In, s.operand(in, vs))
	}
	s.call.Out = []device.Operand{s.operand(c.Out[0].DType, make([]float64, n))}
	return s, true
}

// threads are those that the kernel takes for the setting.
func (s *setting) threads() [3]int64 { return inLine(n/s.form.Several() + n%s.form.Several()) }

// arguments are those of the kernel for the setting.
func (s *setting) arguments(out []byte) [][]byte {
	a := [][]byte{out}
	a = append(a, s.keep[:len(s.form.In)]...)
	a = append(a, binary.LittleEndian.AppendUint32(nil, n))
	var attrs []byte
	for _, i := range s.form.Attrs() {
		attrs = appendElement(attrs, dtype.Float32, s.call.Attrs[i].Float64())
	}
	if attrs != nil {
		a = append(a, attrs)
	}
	if s.form.Faults() {
		a = append(a, make([]byte, 4))
	}
	return a
}

var metalTypes = []dtype.DType{
	dtype.Bool, dtype.Uint8, dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64, dtype.Float16, dtype.BFloat16, dtype.Float32,
}

// tolerance is what a result may be away from the host's, which is one unit off itself where it is not exact.
func tolerance(row *op.Row, d dtype.DType) float64 {
	ulp := describe.ToleranceOf(row).Metal
	if d != dtype.Float32 && ulp > 0 {
		return 1
	}
	if ulp > 0 {
		ulp++
	}
	return ulp
}

// Every operator in every dtype gives what the host device gives, within what the specification allows of
// its functions; in the worst case that it allows, too.
func TestResults(t *testing.T) {
	for i := range op.Table {
		row := &op.Table[i]
		if _, ok := table[row.ID]; !ok {
			continue
		}
		for _, d := range metalTypes {
			if testing.Short() && d != dtype.Float32 {
				continue
			}
			s, ok := prepare(row, d)
			if !ok {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", row.Name, d), func(t *testing.T) {
				sample.Skip(t, 7, row.Name, int(d))
				needCompiler(t) // which takes seconds to build, in vain where -run picks no operator of the table
				source, ok := s.form.Source()
				require.True(t, ok, "there is no source")
				want, slack := expected(t, &s.call, row), metaltest.Slack(t, row, &s.call)
				out := aligned(len(want))
				k := compile(t, source)
				a := s.arguments(out)
				k.run(t, s.threads(), a...)
				compare(t, s.form.Out, want, out, tolerance(row, s.form.Out), slack)
				if s.form.Faults() {
					require.Zero(t, binary.LittleEndian.Uint32(a[len(a)-1]))
				}
				if s.form.Out != dtype.Float32 || describe.ToleranceOf(row).Metal == 0 {
					return
				}
				worst(t)
				compile(t, source).run(t, s.threads(), a...)
				compare(t, s.form.Out, want, out, tolerance(row, s.form.Out), slack)
			})
		}
	}
}

func TestDivisionOfIntegersByZeroIsAFault(t *testing.T) {
	needCompiler(t)
	s, _ := prepare(op.MustByName("floor_divide"), dtype.Int32)
	source, ok := s.form.Source()
	require.True(t, ok)
	a := s.arguments(aligned(4 * n))
	binary.LittleEndian.PutUint32(s.keep[1][4*77:], 0)
	compile(t, source).run(t, s.threads(), a...)
	require.EqualValues(t, 1, binary.LittleEndian.Uint32(a[len(a)-1]))
}

// walk is what a Walks says: dimensions, the innermost first, and for each operand where it begins and its strides.
type walk struct {
	shift, times, right, down int32
	dims                      []int32
	lies                      [4]int32
	first, step, jump         [4]int32
	strides                   [4][]int32
}

// bytes is a Walks, of offsets of 32 or of 64 bits.
func (w *walk) bytes(wide bool) []byte {
	var b []byte
	number := func(n int32) { b = binary.LittleEndian.AppendUint32(b, uint32(n)) }
	offset := func(n int32) {
		if wide {
			b = binary.LittleEndian.AppendUint64(b, uint64(n))
		} else {
			number(n)
		}
	}
	at := func(v []int32, i int, none int32) int32 {
		if i < len(v) {
			return v[i]
		}
		return none
	}
	for _, n := range []int32{int32(max(len(w.dims), 3) - 1), w.shift, w.times, w.right, w.down} {
		number(n)
	}
	for i := range 9 {
		number(at(w.dims, i, 1))
	}
	for _, n := range w.lies {
		number(n)
	}
	for _, all := range [][4]int32{w.first, w.step, w.jump} {
		for _, n := range all {
			offset(n)
		}
	}
	for _, s := range w.strides {
		for i := range 9 {
			offset(at(s, i, 0))
		}
	}
	return b
}

// Grids and tiles find the elements of every kind of operand, with offsets of both widths.
func TestWays(t *testing.T) {
	needCompiler(t)
	x, y := []float64{0, 1, 2, 3, 4, 5}, []float64{10, 20, 30}
	for _, c := range []struct {
		name    string
		way     Way
		fixed   bool // the second input
		walk    walk
		threads [3]int64
		out     int // elements
		want    []float64
	}{
		{
			name: "a row for all rows, read once", way: Grid,
			walk: walk{
				times: 2, down: 1, dims: []int32{3, 2}, lies: [4]int32{1, 1, 1}, step: [4]int32{1, 1, 1}, jump: [4]int32{3, 3, 0},
				strides: [4][]int32{{1, 3}, {1, 3}, {1, 0}},
			},
			threads: [3]int64{1, 1, 1}, out: 6, want: []float64{-10, -19, -28, -7, -16, -25},
		},
		{
			name: "a column for all columns", way: Grid,
			walk: walk{
				times: 1, dims: []int32{3, 2}, lies: [4]int32{1, 1, 0}, step: [4]int32{1, 1, 0},
				strides: [4][]int32{{1, 3}, {1, 3}, {0, 1}},
			},
			threads: [3]int64{1, 2, 1}, out: 6, want: []float64{-10, -9, -8, -17, -16, -15},
		},
		{
			name: "backwards into every second", way: Grid, fixed: true,
			walk: walk{
				times: 1, dims: []int32{3}, lies: [4]int32{2, 2}, first: [4]int32{1, 5}, step: [4]int32{2, -2},
				strides: [4][]int32{{2}, {-2}},
			},
			threads: [3]int64{1, 1, 1}, out: 6, want: []float64{0, -5, 0, -7, 0, -9},
		},
		{
			name: "two threads in turn", way: Grid, fixed: true,
			walk: walk{
				shift: 1, times: 1, dims: []int32{6}, lies: [4]int32{2, 2}, step: [4]int32{2, 2}, strides: [4][]int32{{1}, {1}},
			},
			threads: [3]int64{2, 1, 1}, out: 6, want: []float64{-10, -9, -8, -7, -6, -5},
		},
		{
			name: "four axes", way: Grid, fixed: true,
			walk: walk{
				times: 1, dims: []int32{1, 1, 3, 2}, lies: [4]int32{2, 2}, step: [4]int32{1, 1},
				strides: [4][]int32{{1, 0, 2, 1}, {1, 0, 1, 3}},
			},
			threads: [3]int64{1, 1, 6}, out: 6, want: []float64{-10, -7, -9, -6, -8, -5},
		},
		{
			name: "transposed less a column by tiles", way: Tiles,
			walk:    walk{dims: []int32{3, 2}, strides: [4][]int32{{1, 3}, {2, 1}, {0, 1}}},
			threads: [3]int64{32, 8, 1}, out: 6, want: []float64{-10, -8, -6, -19, -17, -15},
		},
	} {
		for _, wide := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", c.name, wide), func(t *testing.T) {
				f32 := dtype.Float32
				f := Form{Op: op.IDSubtract, In: []dtype.DType{f32, f32}, Out: f32, Places: make([]Place, 2), Way: c.way, Wide: wide}
				if c.fixed {
					f.Places[1] = Fixed
				}
				if c.way == Tiles {
					f.Places[0] = Turned
				}
				arguments := [][]byte{memory(f32, make([]float64, c.out)), memory(f32, x), memory(f32, y)}
				source, ok := f.Source()
				require.True(t, ok)
				compile(t, source).run(t, c.threads, append(arguments, c.walk.bytes(wide))...)
				compare(t, f32, memory(f32, c.want), arguments[0], 0, nil)
			})
		}
	}
}

var update = flag.Bool("update", false, "write the sources in testdata anew")

// The text of a few kernels, to be read.
func TestSources(t *testing.T) {
	f32, bf16, i32 := dtype.Float32, dtype.BFloat16, dtype.Int32
	for name, f := range map[string]Form{
		"add_float32":           {Op: op.IDAdd, In: []dtype.DType{f32, f32}, Out: f32, Places: make([]Place, 2)},
		"pow_bfloat16_scalar":   {Op: op.IDPow, In: []dtype.DType{bf16, bf16}, Out: bf16, Places: []Place{Moving, Fixed}},
		"floor_divide_int32":    {Op: op.IDFloorDivide, In: []dtype.DType{i32, i32}, Out: i32, Places: make([]Place, 2), Way: Grid},
		"where_float32_wide":    {Op: op.IDWhere, In: []dtype.DType{dtype.Bool, f32, f32}, Out: f32, Places: []Place{Moving, Moving, Fixed}, Way: Grid, Wide: true},
		"softplus_float32":      {Op: op.IDSoftplus, In: []dtype.DType{f32}, Out: f32, Places: make([]Place, 1)},
		"cast_float32_to_uint8": {Op: op.IDCast, In: []dtype.DType{f32}, Out: dtype.Uint8, Places: make([]Place, 1)},
		"equal_uint8":           {Op: op.IDEqual, In: []dtype.DType{dtype.Uint8, dtype.Uint8}, Out: dtype.Bool, Places: make([]Place, 2)},
		"assign_float16_tiles":  {Op: op.IDAssign, In: []dtype.DType{dtype.Float16}, Out: dtype.Float16, Places: []Place{Turned}, Way: Tiles},
	} {
		source, ok := f.Source()
		require.True(t, ok, name)
		require.True(t, strings.HasPrefix(source, prelude))
		requireGolden(t, name, strings.TrimPrefix(strings.TrimPrefix(source, prelude), file("grid")))
	}
}

// requireGolden compares a source with the file of a name in testdata.
func requireGolden(t *testing.T, name, source string) {
	path := filepath.Join("testdata", name+".metal")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(source), 0o644))
	}
	golden, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(golden), source, "%s; with -update it is written anew", name)
}

// The text of a group, to be read: a bias, a scale by a number, an activation with an attribute, and a mask that is stored too.
func TestGroupSource(t *testing.T) {
	f32, f16 := dtype.Float32, dtype.Float16
	g := Group{
		Steps: []GroupStep{
			{Op: op.IDAdd, Out: f32, In: []dtype.DType{f32, f32}, Sources: []Source{{Read, 0}, {Read, 1}}},
			{Op: op.IDMultiply, Out: f32, In: []dtype.DType{f32, f32}, Sources: []Source{{Step, 0}, {Number, 0}}},
			{Op: op.IDLeakyRelu, Out: f32, In: []dtype.DType{f32}, Sources: []Source{{Step, 1}}},
			{Op: op.IDGreaterThan, Out: dtype.Bool, In: []dtype.DType{f32, f32}, Sources: []Source{{Step, 2}, {Number, 1}}},
			{Op: op.IDCast, Out: f16, In: []dtype.DType{f32}, Sources: []Source{{Step, 2}}},
			{Op: op.IDAdd, Out: f16, In: []dtype.DType{f16, f16}, Sources: []Source{{Step, 4}, {Read, 2}}},
		},
		Reads:  []Operand{{f32, Straight, false}, {f32, Runs, true}, {f16, Anywhere, false}},
		Writes: []Operand{{dtype.Bool, Straight, false}, {f16, Anywhere, false}},
		Stored: []int{3, 5},
	}
	require.EqualValues(t, 4, g.Lanes())
	require.Equal(t, 10, g.Arguments(), "5 operands, 3 walks, numbers and the range")
	requireGolden(t, "group", strings.TrimPrefix(strings.TrimPrefix(g.Source(), prelude), file("walk")))
}

// A name of ours that Apple's headers have too, or will have, is ours; and what is rounded is rounded at once.
func TestPreludeClosesClassesOfErrors(t *testing.T) {
	sources, err := filepath.Glob("*.metal")
	require.NoError(t, err)
	require.Greater(t, len(sources), 25)
	for _, path := range sources {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotContains(t, string(text), "using namespace", path)
	}
	require.Contains(t, prelude, "#pragma METAL fp contract(off)\n")
}

func TestWhatHasNoSource(t *testing.T) {
	for _, f := range []Form{
		{Op: op.IDAdd, In: []dtype.DType{dtype.Float64, dtype.Float64}, Out: dtype.Float64, Places: make([]Place, 2)},
		{Op: op.IDExp, In: []dtype.DType{dtype.Int32}, Out: dtype.Int32, Places: make([]Place, 1)},
		{Op: 0, In: []dtype.DType{dtype.Int32}, Out: dtype.Int32, Places: make([]Place, 1)},
	} {
		_, ok := f.Source()
		require.False(t, ok, "%v", f)
	}
}
