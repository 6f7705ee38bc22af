package host

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
)

// A frame gives out as many buffers as are asked for, no two of them alike, and the same ones again when it
// is used again. Each begins with a line of the cache.
func TestFrameGrows(t *testing.T) {
	f := new(frame)
	const count = 30
	var first []unsafe.Pointer
	for range 2 {
		seen := map[unsafe.Pointer]bool{}
		var rooms []unsafe.Pointer
		for i := range count {
			at := f.room()
			require.Zero(t, uintptr(at)%64)
			require.False(t, seen[at])
			seen[at] = true
			rooms = append(rooms, at)
			slice[uint64](at, block)[block-1] = uint64(i)
		}
		for i, at := range rooms {
			require.EqualValues(t, i, slice[uint64](at, block)[block-1])
		}
		if first == nil {
			first = rooms
		}
		require.Equal(t, first, rooms)
		f.used = 0
	}
}

// sum adds any number of inputs, each through a lane, as a kernel of many operands would.
type sum struct {
	codec *codec[float32]
	effort
}

func (k *sum) run(t *threads, c *device.Call) error { return k.elements(k, t, c) }

func (k *sum) part(c *device.Call, lo, hi int64) error {
	var store [4]device.Operand
	out, in := arranged(c, store[:0])
	f := newFrame()
	defer f.free()
	var to lane[float32]
	to.open(out, k.codec, f, lo)
	from := make([]lane[float32], len(in))
	for i := range from {
		from[i].open(&in[i], k.codec, f, lo)
	}
	for lo < hi {
		n := min(block, hi-lo)
		values := to.space(n)
		clear(values)
		for i := range from {
			for j, x := range from[i].next(n) {
				values[j] += x
			}
		}
		to.keep()
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
		half := halfCodec(dtype.Float16)
		k := &sum{half, effortOf(half.coding, half.coding, 1)}
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
