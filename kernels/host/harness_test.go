package host

import (
	bits "encoding/binary"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/internal/sample"
)

// owner waits for the end of one call.
type owner struct {
	ready error
	ended chan error
}

func newOwner() *owner              { return &owner{ended: make(chan error, 1)} }
func (o *owner) Ready() error       { return o.ready }
func (o *owner) Done(err error)     { o.ended <- err }
func (o *owner) wait() error        { return <-o.ended }
func dims(ds ...int64) shape.Layout { return shape.Contiguous(must(shape.Of(ds...))) }
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// modes are the ways in which a device can run a call; every result must be the same in all.
var modes = map[string]Config{
	"cpu":         {Threads: 1},
	"cpu threads": {Threads: 3},
	"async":       {Threads: 2, Async: true},
	"no inlining": {Threads: 1, Async: true, InlineLimit: -1},
}

// eachMode runs a test on a stream of a device in each mode.
func eachMode(t *testing.T, test func(t *testing.T, r *rig)) {
	for name, config := range modes {
		t.Run(name, func(t *testing.T) {
			if testing.Short() { // the race detector makes them ten times slower
				sample.Skip(t, 5, t.Name(), 0)
			}
			test(t, newRig(t, config))
		})
	}
}

// rig is a device with one stream.
type rig struct {
	*Device
	stream device.Stream
}

func newRig(t testing.TB, c Config) *rig {
	d := New(c)
	s, err := d.NewStream()
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.NoError(t, d.Close())
	})
	return &rig{d, s}
}

// compile makes the program for a call.
func (r *rig) compile(name string, c *device.Call) (device.Program, error) {
	c.Op = op.MustByName(name).ID
	return r.Compile(device.PlanOf(c))
}

// call compiles, runs and waits.
func (r *rig) call(name string, c *device.Call) error {
	p, err := r.compile(name, c)
	if err != nil {
		return err
	}
	if n := p.Workspace(c); n > 0 {
		room := make([]uint64, n/8+32)
		at := uintptr(unsafe.Pointer(&room[0]))
		c.Workspace = unsafe.Pointer(&room[(-at&255)/8])
	}
	o := newOwner()
	c.Owner = o
	r.stream.Run(p, c)
	return o.wait()
}

// tensor is an operand with the Go memory that it lies in.
type tensor struct {
	device.Operand
	memory []byte
}

// place puts values, given in row-major order of the layout's dimensions, where the layout says.
// first is the element of the memory that Addr points at; skew bytes of misalignment come before.
func place(d dtype.DType, l shape.Layout, skew int, values ...float64) *tensor {
	low, high, ok := l.Extent()
	if !ok {
		return &tensor{Operand: device.Operand{DType: d, Layout: l}}
	}
	size := d.Size()
	t := &tensor{memory: make([]byte, int64(skew)+(high-low+1)*size)}
	for i := range t.memory {
		t.memory[i] = 0xA5 // a stray read or write shows
	}
	t.Operand = device.Operand{Addr: unsafe.Pointer(&t.memory[int64(skew)-low*size]), DType: d, Layout: l}
	if len(values) > 0 {
		for i := range l.Numel() {
			put(t.at(i), d, values[int(i)%len(values)])
		}
	}
	return t
}

// of is a contiguous tensor.
func of(d dtype.DType, l shape.Layout, values ...float64) *tensor { return place(d, l, 0, values...) }

// scalar is one value that fills a layout.
func scalar(d dtype.DType, l shape.Layout, v float64) *tensor {
	l.Strides = [shape.MaxRank]int64{}
	return place(d, l, 0, v)
}

// at is the memory of the element with a row-major number.
func (t *tensor) at(number int64) []byte {
	size, offset := t.DType.Size(), int64(0)
	for i := t.Rank - 1; i >= 0; i-- {
		offset += number % t.Dims[i] * t.Strides[i]
		number /= t.Dims[i]
	}
	return unsafe.Slice((*byte)(unsafe.Add(t.Addr, offset*size)), size)
}

// values are the elements in row-major order.
func (t *tensor) values() []float64 {
	out := []float64{}
	for i := range t.Numel() {
		out = append(out, get(t.at(i), t.DType))
	}
	return out
}

// ints are the elements of an integer tensor, without a detour through float64.
func (t *tensor) ints() (out []int64) {
	for i := range t.Numel() {
		b := append(append([]byte{}, t.at(i)...), make([]byte, 8)...)
		shift := 64 - 8*t.DType.Size()
		v := int64(bits.LittleEndian.Uint64(b)<<shift) >> shift
		if t.DType == dtype.Uint8 || t.DType == dtype.Bool {
			v &= 255
		}
		out = append(out, v)
	}
	return out
}

func put(at []byte, d dtype.DType, v float64) {
	le := bits.LittleEndian
	switch d {
	case dtype.Bool, dtype.Uint8, dtype.Int8:
		at[0] = byte(int64(v))
	case dtype.Int16:
		le.PutUint16(at, uint16(int64(v)))
	case dtype.Int32:
		le.PutUint32(at, uint32(int64(v)))
	case dtype.Int64:
		le.PutUint64(at, uint64(int64(v)))
	case dtype.Float16:
		le.PutUint16(at, dtype.F64ToF16(v))
	case dtype.BFloat16:
		le.PutUint16(at, dtype.F64ToBF16(v))
	case dtype.Float32:
		le.PutUint32(at, math.Float32bits(float32(v)))
	case dtype.Float64:
		le.PutUint64(at, math.Float64bits(v))
	}
}

func get(at []byte, d dtype.DType) float64 {
	le := bits.LittleEndian
	switch d {
	case dtype.Bool, dtype.Uint8:
		return float64(at[0])
	case dtype.Int8:
		return float64(int8(at[0]))
	case dtype.Int16:
		return float64(int16(le.Uint16(at)))
	case dtype.Int32:
		return float64(int32(le.Uint32(at)))
	case dtype.Int64:
		return float64(int64(le.Uint64(at)))
	case dtype.Float16:
		return float64(dtype.F16ToF32(le.Uint16(at)))
	case dtype.BFloat16:
		return float64(dtype.BF16ToF32(le.Uint16(at)))
	case dtype.Float32:
		return float64(math.Float32frombits(le.Uint32(at)))
	}
	return math.Float64frombits(le.Uint64(at))
}

// rounded is v as an element of d.
func rounded(d dtype.DType, v float64) float64 {
	at := make([]byte, 8)
	put(at, d, v)
	return get(at, d)
}

// operands lists tensors as a call wants them.
func operands(ts ...*tensor) (out []device.Operand) {
	for _, t := range ts {
		out = append(out, t.Operand)
	}
	return out
}

// layouts are ways to lie in memory for given dimensions, most of them awkward.
func layouts(ds ...int64) map[string]shape.Layout {
	flat := dims(ds...)
	all := map[string]shape.Layout{"contiguous": flat}
	rank := flat.Rank
	if rank == 0 {
		return all
	}
	padded := flat
	step := int64(2)
	for i := rank - 1; i >= 0; i-- {
		padded.Strides[i] = step
		step *= max(ds[i], 1) + 1
	}
	all["padded"] = padded
	transposed := flat
	step = 1
	for i := range rank {
		transposed.Strides[i] = step
		step *= max(ds[i], 1)
	}
	all["transposed"] = transposed
	flipped := flat
	flipped.Strides[rank-1] *= -1
	all["flipped"] = flipped
	return all
}

// ramp is n values at equal distances.
func ramp(n int, from, step float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = from + float64(i)*step
	}
	return out
}

// sameBits compares values, telling zeros apart and taking all nans for one.
func sameBits(t *testing.T, want, got []float64, msg ...any) {
	t.Helper()
	require.Len(t, got, len(want), msg...)
	for i := range want {
		if math.IsNaN(want[i]) && math.IsNaN(got[i]) {
			continue
		}
		if math.Float64bits(want[i]) != math.Float64bits(got[i]) {
			require.Equalf(t, want, got, "element %d of %v", i, msg)
			t.Fatalf("element %d of %v: zeros of different sign", i, msg)
		}
	}
}

// expect compares a tensor with a function of the row-major number, rounded to the dtype.
func expect(t *testing.T, got *tensor, want func(i int) float64, msg ...any) {
	t.Helper()
	values := got.values()
	wanted := make([]float64, len(values))
	for i := range wanted {
		wanted[i] = rounded(got.DType, want(i))
	}
	sameBits(t, wanted, values, msg...)
}
