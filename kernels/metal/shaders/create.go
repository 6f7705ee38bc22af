package shaders

import (
	"encoding/binary"
	"math"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
)

// creation makes a tensor from numbers: one dispatch of one kernel, whose arguments are the output and numbers of 64
// bits. What the numbers are is the kernel's own matter; see create.metal and random.metal.
type creation struct {
	compiled
	numbers func(c *device.Call) [6]uint64
}

// recipe is a kind of creation: the function of the shader, its source, and the numbers that a call gives it. The
// numbers are arguments, so that calls with other numbers share the program.
type recipe struct {
	name    string
	source  func(d dtype.DType, wide bool) string
	numbers func(c *device.Call) [6]uint64

	accepts func(c *device.Call) bool // nil: every call
}

// create registers a creation for the dtypes of a set that Metal has. An operator with several recipes registers each
// with the calls that it accepts, and no call is accepted by two.
func create(operator op.ID, accepts dtype.Set, r recipe) {
	gpu.Register(gpu.Shader, operator, accepts&gpu.Elements, gpu.Variant{
		Accepts: func(d *gpu.Device, c *device.Call) (uint64, bool) {
			class, ok := walked(d, c)
			return class, ok && (r.accepts == nil || r.accepts(c))
		},
		Make: func(d *gpu.Device, c *device.Call, class uint64) (gpu.Kernel, error) {
			s, err := compile(d, class, r.source(c.Out[0].DType, class == 1), r.name)
			return &creation{s, r.numbers}, err
		},
	})
}

// inIntegers reports whether a range has no fractions: it is then counted in int64, and else in double precision,
// of which the shader has an implementation in integers.
func inIntegers(c *device.Call) bool {
	return c.Attrs[op.RangeStart].Kind != op.Float && c.Attrs[op.RangeStep].Kind != op.Float
}

func init() {
	create(op.IDFull, dtype.All, recipe{name: "filled", source: msl.Create, numbers: func(c *device.Call) [6]uint64 {
		return [6]uint64{gpu.Element(&c.Attrs[op.FullFillValue], c.Out[0].DType)}
	}})
	create(op.IDRange, dtype.Numbers, recipe{name: "counted", source: msl.Create, accepts: inIntegers, numbers: func(c *device.Call) [6]uint64 {
		return [6]uint64{uint64(c.Attrs[op.RangeStart].I), uint64(c.Attrs[op.RangeStep].I)}
	}})
	create(op.IDRange, dtype.Numbers, recipe{
		name: "stepped", source: msl.Create,
		accepts: func(c *device.Call) bool { return !inIntegers(c) },
		numbers: func(c *device.Call) [6]uint64 {
			return [6]uint64{math.Float64bits(c.Attrs[op.RangeStart].Float64()), math.Float64bits(c.Attrs[op.RangeStep].Float64())}
		},
	})
	// The step is computed once, here, in double precision, as on the host.
	create(op.IDLinspace, dtype.Numbers, recipe{name: "spaced", source: msl.Create, numbers: func(c *device.Call) [6]uint64 {
		start, stop, count := c.Attrs[op.LinspaceStart].Float64(), c.Attrs[op.LinspaceStop].Float64(), c.Attrs[op.LinspaceCount].I
		step := (stop - start) / float64(max(count-1, 1))
		return [6]uint64{math.Float64bits(start), math.Float64bits(stop), math.Float64bits(step), uint64(count)}
	}})
}

// listing makes a tensor of the numbers of an attribute, of which each dispatch has as many among its arguments as fit.
type listing struct{ compiled }

const mostListed = 256 // numbers of 8 bytes, half of what the arguments of a dispatch may take

func init() {
	gpu.Register(gpu.Shader, op.IDNumberLine, dtype.All&gpu.Elements, gpu.Variant{
		Accepts: walked,
		Make: func(d *gpu.Device, c *device.Call, class uint64) (gpu.Kernel, error) {
			s, err := compile(d, class, msl.Create(c.Out[0].DType, class == 1), "listed")
			return &listing{s}, err
		},
	})
}

// Workspace is none.
func (k *listing) Workspace(*device.Call) int64 { return 0 }

// Encode binds the output, how it lies, and the numbers of the dispatch.
func (k *listing) Encode(e gpu.Encoder, c *device.Call) error {
	out, key, p := &c.Out[0], k.wide(), &k.pipelines[0]
	to, values := out.Layout.Collapse(), c.Attrs[op.NumberLineValues].Floats()
	return inPartsOf(mostListed, out.Numel(), func(first, count int64) error {
		d := e.Arguments()
		begin, err := place(d, out)
		if err != nil {
			return err
		}
		bindWalk(d, &to, begin, key)
		block := d.Constant(8 * int(count))[:0]
		for _, f := range values[first : first+count] {
			block = binary.LittleEndian.AppendUint64(block, math.Float64bits(f))
		}
		bindCounts(d, first)
		p.Line(d, uint64(count))
		return e.Dispatch(p.State, d)
	})
}

// Workspace is none.
func (k *creation) Workspace(*device.Call) int64 { return 0 }

// Encode binds the output, how it lies, and the numbers; each thread makes one element from its row-major index, so
// that what comes out does not depend on how the grid is divided.
func (k *creation) Encode(e gpu.Encoder, c *device.Call) error {
	out, key, p := &c.Out[0], k.wide(), &k.pipelines[0]
	to, numbers := out.Layout.Collapse(), k.numbers(c)
	return inTime(out.Numel(), 1, creationOperations, apart(out), func(first, count int64) error {
		d := e.Arguments()
		begin, err := place(d, out)
		if err != nil {
			return err
		}
		bindWalk(d, &to, begin, key)
		// All kernels have room for as many numbers, and use some.
		block := d.Constant(8 * len(numbers))[:0]
		for _, v := range numbers {
			block = binary.LittleEndian.AppendUint64(block, v)
		}
		bindCounts(d, first)
		p.Line(d, uint64(count))
		return e.Dispatch(p.State, d)
	})
}

// creationOperations is what an element costs at most: two products and a sum in binary64, and ten rounds of Philox.
const creationOperations = 1024
