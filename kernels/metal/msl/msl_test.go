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
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/host"
)

func TestEveryElementwiseOperatorHasARow(t *testing.T) {
	for i := range op.Table {
		row := &op.Table[i]
		switch row.Kind {
		case op.Unary, op.Binary, op.Compare, op.Select, op.Convert:
			require.Contains(t, table, row.Name)
			for _, a := range table[row.Name].attrs {
				require.Condition(t, func() bool {
					for _, known := range row.Attrs {
						if known.Name == a {
							return true
						}
					}
					return false
				}, "%s has no attribute %s", row.Name, a)
			}
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
	vs := func(os []device.Operand) (out []graph.Value) {
		for i := range os {
			out = append(out, graph.Value{DType: os[i].DType, Layout: os[i].Layout})
		}
		return out
	}
	p, err := d.Compile(graph.Single(row, c.Attrs, c.Axes, vs(c.In), vs(c.Out)))
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

// compare wants every element within so many units in the last place; nans are one.
func compare(t *testing.T, d dtype.DType, want, got []byte, ulp float64) {
	for i := range len(want) / int(d.Size()) {
		w, wb := element(d, want, i)
		g, gb := element(d, got, i)
		if wb == gb || math.IsNaN(w) && math.IsNaN(g) || w == 0 && g == 0 {
			continue
		}
		if d == dtype.Float32 && math.Abs(w) < 0x1p-126 && math.Abs(g) < 0x1p-126 && ulp > 0 {
			continue // Metal may flush what is subnormal
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
	s := &setting{row: row, form: Form{Op: row.Name}}
	ins := make([]dtype.DType, len(row.In))
	for i := range ins {
		ins[i] = d
	}
	if row.Name == "where" {
		ins[0] = dtype.Bool
	}
	s.call.Attrs = make(op.Attrs, len(row.Attrs))
	for i := range row.Attrs {
		s.call.Attrs[i] = row.Attrs[i].Default
	}
	args := make([]op.Arg, len(ins))
	for i := range ins {
		args[i] = op.Arg{DType: ins[i], Shape: line().Shape}
	}
	if row.Name == "cast" {
		s.call.Attrs[0] = op.Value{Kind: op.DType, I: int64(d)}
	}
	var r op.Result
	if row.Infer(args, s.call.Attrs, &r) != nil || r.In[0] != ins[0] {
		return nil, false
	}
	s.form.In, s.form.Out, s.form.Places = ins, r.Out, make([]Place, len(ins))
	for i, in := range ins {
		vs := values(in, n, i)
		if i == 1 && s.form.Faults() {
			for j := range vs {
				if vs[j] == 0 {
					vs[j] = 5
				}
			}
		}
		s.call.In = append(s.call.In, s.operand(in, vs))
	}
	s.call.Out = []device.Operand{s.operand(r.Out, make([]float64, n))}
	return s, true
}

// arguments are those of the kernel for the setting.
func (s *setting) arguments(out []byte) [][]byte {
	a := [][]byte{out}
	a = append(a, s.keep[:len(s.form.In)]...)
	if s.form.Vector {
		a = append(a, binary.LittleEndian.AppendUint32(nil, n))
	}
	var attrs []byte
	for _, name := range s.form.Attrs() {
		for i := range s.row.Attrs {
			if s.row.Attrs[i].Name == name {
				attrs = appendElement(attrs, dtype.Float32, s.call.Attrs[i].Float64())
			}
		}
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
func tolerance(name string, d dtype.DType) float64 {
	ulp := op.MustByName(name).ULP.Metal
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
	needCompiler(t)
	for i := range op.Table {
		row := &op.Table[i]
		if _, ok := table[row.Name]; !ok {
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
			s.form.Vector = true
			t.Run(fmt.Sprintf("%s/%s", row.Name, d), func(t *testing.T) {
				source, ok := s.form.Source()
				require.True(t, ok, "there is no source")
				want := expected(t, &s.call, row)
				out := aligned(len(want))
				k := compile(t, source)
				a := s.arguments(out)
				k.run(t, s.form.Threads(n), a...)
				compare(t, s.form.Out, want, out, tolerance(row.Name, s.form.Out))
				if s.form.Faults() {
					require.Zero(t, binary.LittleEndian.Uint32(a[len(a)-1]))
				}
				if s.form.Out != dtype.Float32 || row.ULP.Metal == 0 {
					return
				}
				worst(t)
				compile(t, source).run(t, s.form.Threads(n), a...)
				compare(t, s.form.Out, want, out, tolerance(row.Name, s.form.Out))
			})
		}
	}
}

func TestDivisionOfIntegersByZeroIsAFault(t *testing.T) {
	needCompiler(t)
	s, _ := prepare(op.MustByName("floor_divide"), dtype.Int32)
	source, ok := s.form.Source()
	require.True(t, ok)
	a := s.arguments(make([]byte, 4*n))
	binary.LittleEndian.PutUint32(s.keep[1][4*77:], 0)
	compile(t, source).run(t, n, a...)
	require.EqualValues(t, 1, binary.LittleEndian.Uint32(a[len(a)-1]))
}

// shapeOf is a Shape of 32 bits.
func shapeOf(dims []uint32, first []int32, strides ...[]int32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(dims)))
	for i := range 9 {
		d := uint32(1)
		if i < len(dims) {
			d = dims[i]
		}
		b = binary.LittleEndian.AppendUint32(b, d)
	}
	at := func(v []int32, i int) uint32 {
		if i < len(v) {
			return uint32(v[i])
		}
		return 0
	}
	for i := range 4 {
		b = binary.LittleEndian.AppendUint32(b, at(first, i))
	}
	for o := range 4 {
		for i := range 9 {
			v := uint32(0)
			if o < len(strides) {
				v = at(strides[o], i)
			}
			b = binary.LittleEndian.AppendUint32(b, v)
		}
	}
	return b
}

func TestPlaces(t *testing.T) {
	needCompiler(t)
	f32 := dtype.Float32
	x := memory(f32, []float64{0, 1, 2, 3, 4, 5})
	y := memory(f32, []float64{10, 20, 30})
	for _, c := range []struct {
		name   string
		places []Place
		spread bool
		args   [][]byte
		want   []float64
	}{
		{"lines", []Place{Line, Line}, false, [][]byte{x, x}, []float64{0, 0, 0, 0, 0, 0}},
		{"scalar right", []Place{Line, Fixed}, false, [][]byte{x, y[:8]}, []float64{-10, -9, -8, -7, -6, -5}},
		{"scalar left", []Place{Fixed, Line}, false, [][]byte{y[:8], x}, []float64{10, 9, 8, 7, 6, 5}},
		{
			"broadcast",
			[]Place{Line, Strided},
			false,
			[][]byte{x, y, shapeOf([]uint32{2, 3}, nil, nil, nil, []int32{0, 1})},
			[]float64{-10, -19, -28, -7, -16, -25},
		},
		{
			"backwards into every second",
			[]Place{Strided, Fixed},
			true,
			[][]byte{x, y[:8], shapeOf([]uint32{3}, []int32{1, 5}, []int32{2}, []int32{-2})},
			[]float64{-1, -5, -1, -7, -1, -9},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Form{Op: "subtract", In: []dtype.DType{f32, f32}, Out: f32, Places: c.places, Spread: c.spread}
			source, ok := f.Source()
			require.True(t, ok)
			out := memory(f32, []float64{-1, -1, -1, -1, -1, -1})
			threads := int64(6)
			if c.spread {
				threads = 3
			}
			compile(t, source).run(t, threads, append([][]byte{out}, c.args...)...)
			compare(t, f32, memory(f32, c.want), out, 0)
			f.Wide = true
			wide, ok := f.Source()
			require.True(t, ok)
			require.Equal(t, f.Strides(), wide != source)
			if f.Strides() {
				return
			}
			f.Vector = true
			source, ok = f.Source()
			require.True(t, ok)
			clear(out)
			args := append(append([][]byte{out}, c.args...), []byte{6, 0, 0, 0})
			compile(t, source).run(t, f.Threads(threads), args...)
			compare(t, f32, memory(f32, c.want), out, 0)
		})
	}
}

var update = flag.Bool("update", false, "write the sources in testdata anew")

// The text of a few kernels, to be read.
func TestSources(t *testing.T) {
	f32, bf16, i32 := dtype.Float32, dtype.BFloat16, dtype.Int32
	for name, f := range map[string]Form{
		"add_float32":           {Op: "add", In: []dtype.DType{f32, f32}, Out: f32, Places: make([]Place, 2)},
		"pow_bfloat16_scalar":   {Op: "pow", In: []dtype.DType{bf16, bf16}, Out: bf16, Places: []Place{Line, Fixed}, Vector: true},
		"floor_divide_int32":    {Op: "floor_divide", In: []dtype.DType{i32, i32}, Out: i32, Places: []Place{Strided, Line}, Spread: true},
		"where_float32_wide":    {Op: "where", In: []dtype.DType{dtype.Bool, f32, f32}, Out: f32, Places: []Place{Strided, Line, Fixed}, Wide: true},
		"softplus_float32":      {Op: "softplus", In: []dtype.DType{f32}, Out: f32, Places: []Place{Line}},
		"cast_float32_to_uint8": {Op: "cast", In: []dtype.DType{f32}, Out: dtype.Uint8, Places: []Place{Line}},
	} {
		source, ok := f.Source()
		require.True(t, ok, name)
		require.True(t, strings.HasPrefix(source, prelude))
		source = strings.TrimPrefix(strings.TrimPrefix(source, prelude), file("shape"))
		path := filepath.Join("testdata", name+".metal")
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(source), 0o644))
		}
		golden, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(golden), source, "%s; with -update it is written anew", name)
	}
}

func TestWhatHasNoSource(t *testing.T) {
	for _, f := range []Form{
		{Op: "add", In: []dtype.DType{dtype.Float64, dtype.Float64}, Out: dtype.Float64, Places: make([]Place, 2)},
		{Op: "exp", In: []dtype.DType{dtype.Int32}, Out: dtype.Int32, Places: make([]Place, 1)},
		{Op: "no such operator", In: []dtype.DType{dtype.Int32}, Out: dtype.Int32, Places: make([]Place, 1)},
	} {
		_, ok := f.Source()
		require.False(t, ok, "%v", f)
	}
}
