package metal

import (
	"encoding/binary"
	"math"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
)

// creation makes a tensor from numbers: one dispatch of one kernel, whose arguments are the output and
// numbers of 64 bits. What the numbers are is the kernel's own matter; see create.metal and random.metal.
type creation struct {
	variants
	dtype   dtype.DType
	names   []string
	source  func(d dtype.DType, wide bool) string
	numbers func(c *device.Call) [6]uint64
}

// create registers a creation; class tells apart calls that want other kernels.
func create(name string, accepts dtype.Set, class func(c *device.Call) uint64, of func(class uint64) creation) {
	shaders.Add(name, accepts&elements, kernels.Portable, way{
		class: func(_ *Device, c *device.Call) (uint64, bool) { return class(c), true },
		make: func(d *Device, c *device.Call) (kernel, error) {
			k := of(class(c))
			k.device, k.dtype = d, c.Out[0].DType
			return &k, nil
		},
	})
}

func init() {
	one := func(*device.Call) uint64 { return 0 }
	create("full", dtype.All, one, func(uint64) creation {
		return creation{names: []string{"filled"}, source: msl.Create, numbers: func(c *device.Call) [6]uint64 {
			return [6]uint64{elementOf(&c.Attrs[1], c.Out[0].DType)}
		}}
	})
	create("range", dtype.Numbers, func(c *device.Call) uint64 {
		if c.Attrs[0].Kind == op.Float || c.Attrs[1].Kind == op.Float {
			return 1
		}
		return 0
	}, func(float uint64) creation {
		if float == 1 {
			return creation{names: []string{"stepped"}, source: msl.Create, numbers: func(c *device.Call) [6]uint64 {
				return [6]uint64{math.Float64bits(c.Attrs[0].Float64()), math.Float64bits(c.Attrs[1].Float64())}
			}}
		}
		return creation{names: []string{"counted"}, source: msl.Create, numbers: func(c *device.Call) [6]uint64 {
			return [6]uint64{uint64(c.Attrs[0].I), uint64(c.Attrs[1].I)}
		}}
	})
	create("linspace", dtype.Numbers, one, func(uint64) creation {
		return creation{names: []string{"spaced"}, source: msl.Create, numbers: func(c *device.Call) [6]uint64 {
			start, stop, count := c.Attrs[0].Float64(), c.Attrs[1].Float64(), c.Attrs[2].I
			step := (stop - start) / float64(max(count-1, 1))
			return [6]uint64{math.Float64bits(start), math.Float64bits(stop), math.Float64bits(step), uint64(count)}
		}}
	})
}

// elementOf is a number as an element, in the lowest bytes.
func elementOf(v *op.Value, d dtype.DType) uint64 {
	if v.Kind != op.Float {
		return integerAs(v.I, d)
	}
	switch x := v.F; d {
	case dtype.Float32:
		return uint64(math.Float32bits(float32(x)))
	case dtype.Float16:
		return uint64(dtype.F64ToF16(x))
	case dtype.BFloat16:
		return uint64(dtype.F64ToBF16(x))
	case dtype.Bool:
		if x != 0 {
			return 1
		}
		return 0
	default:
		return uint64(nearest(x, d))
	}
}

func integerAs(n int64, d dtype.DType) uint64 {
	switch d {
	case dtype.Float32:
		return uint64(math.Float32bits(float32(n)))
	case dtype.Float16:
		return uint64(dtype.F64ToF16(float64(n)))
	case dtype.BFloat16:
		return uint64(dtype.F64ToBF16(float64(n)))
	case dtype.Bool:
		if n != 0 {
			return 1
		}
		return 0
	default:
		return uint64(n)
	}
}

// nearest is a float as an integer of a dtype: towards zero; what does not fit is the nearest that does,
// nan is 0.
func nearest(x float64, d dtype.DType) int64 {
	bits := uint(8 * d.Size())
	low, high := int64(-1)<<(bits-1), int64(uint64(1)<<(bits-1)-1)
	if d == dtype.Uint8 {
		low, high = 0, math.MaxUint8
	}
	switch {
	case x != x:
		return 0
	case x <= float64(low):
		return low
	case x >= float64(high):
		return high
	}
	return int64(x)
}

func (k *creation) workspace(*device.Call) int64 { return 0 }

func (k *creation) encode(b *batch, c *device.Call) error {
	out := &c.Out[0]
	n := out.Numel()
	if n == 0 {
		return nil
	}
	if err := numbered(out); err != nil {
		return err
	}
	key := wideness(out)
	p, err := k.get(key, k.names, func() (string, error) { return k.source(k.dtype, wide(key)), nil })
	if err != nil {
		return err
	}
	d := b.arguments()
	first, err := place(d, out)
	if err != nil {
		return err
	}
	to := joined(&out.Layout)
	bindWalk(d, &to, first, key)
	numbers := k.numbers(c)
	block := d.Constant(8 * len(numbers))[:0]
	for _, v := range numbers {
		block = binary.LittleEndian.AppendUint64(block, v)
	}
	p[0].line(d, uint64(n))
	return b.dispatch(p[0].state, d)
}
