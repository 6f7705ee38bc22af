package host

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/kernels/host/elem"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// A frame gives out as many buffers as are asked for, no two of them alike, and the same ones again when it
// is used again. Each begins with a line of the cache.
func TestFrameGrows(t *testing.T) {
	f := new(engine.Frame)
	const count = 30
	var first []unsafe.Pointer
	for range 2 {
		seen := map[unsafe.Pointer]bool{}
		var rooms []unsafe.Pointer
		for i := range count {
			at := f.Room()
			require.Zero(t, uintptr(at)%64)
			require.False(t, seen[at])
			seen[at] = true
			rooms = append(rooms, at)
			engine.Slice[uint64](at, engine.Block)[engine.Block-1] = uint64(i)
		}
		for i, at := range rooms {
			require.EqualValues(t, i, engine.Slice[uint64](at, engine.Block)[engine.Block-1])
		}
		if first == nil {
			first = rooms
		}
		require.Equal(t, first, rooms)
		f.Used = 0
	}
}

// sum adds any number of inputs, each through a lane, as a kernel of many operands would.
type sum struct {
	codec *engine.Codec[float32]
	elem.Effort
}

func (k *sum) Run(t *engine.Threads, c *device.Call) error { return k.Elements(k, t, c) }

func (k *sum) Part(c *device.Call, lo, hi int64) error {
	var store [4]device.Operand
	out, in := engine.Arranged(c, store[:0])
	f := engine.NewFrame()
	defer f.Free()
	var to engine.Lane[float32]
	to.Open(out, k.codec, f, lo)
	from := make([]engine.Lane[float32], len(in))
	for i := range from {
		from[i].Open(&in[i], k.codec, f, lo)
	}
	for lo < hi {
		n := min(engine.Block, hi-lo)
		values := to.Space(n)
		clear(values)
		for i := range from {
			for j, x := range from[i].Next(n) {
				values[j] += x
			}
		}
		to.Keep()
		lo += n
	}
	return nil
}

// TestManyOperands runs a kernel of nine inputs, none contiguous, into a transposed output.
func TestManyOperands(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		all := layouts(40, 50)
		c := &device.Call{Out: operands(place(dtype.Float16, all["transposed"], 0, 0))}
		inputs := make([]*tensor, 9)
		for i := range inputs {
			inputs[i] = place(dtype.Float16, all[[]string{"padded", "transposed", "flipped"}[i%3]], 0, ramp(2000, 0, float64(i))...)
		}
		c.In = operands(inputs...)
		half := engine.HalfCodec(dtype.Float16)
		k := &sum{half, elem.EffortOf(half.Coding, half.Coding, 1)}
		o := newOwner()
		c.Owner = o
		r.stream.Run(&program{k}, c)
		require.NoError(t, o.wait())
		got := &tensor{Operand: c.Out[0]}
		expect(t, got, func(i int) (sum float64) {
			for _, x := range inputs {
				sum += get(x.at(int64(i)), dtype.Float16)
			}
			return sum
		})
	})
}
