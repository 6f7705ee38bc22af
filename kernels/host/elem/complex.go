package elem

import (
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// complexCast is a cast from or to a complex type: a real number has the imaginary part 0, and a real result is the
// real part; of bool, whether either part is not 0. The parts are operands of their own, which the casts of real
// types take.
type complexCast struct{}

// addComplex fills in the pairs with a complex type on either side. Those of equal types copy.
func (t *castTable) addComplex() {
	for _, d := range []dtype.DType{dtype.Complex64, dtype.Complex128} {
		for _, other := range dtype.Movable.Members() {
			t[d][other], t[other][d] = complexCast{}, complexCast{}
		}
	}
}

// Cost takes a part for an addition.
func (complexCast) Cost(c *device.Call) int64    { return 2 * c.Out[0].Numel() }
func (complexCast) Workspace(*device.Call) int64 { return 0 }

// Run casts one part after the other.
func (complexCast) Run(t *engine.Threads, c *device.Call) error {
	own := calls.Get().(*device.Call)
	defer release(own)
	in, out := &c.In[0], &c.Out[0]
	if out.DType == dtype.Bool {
		own.Op = op.IDLogicalOr
		own.In, own.Out = append(own.In, partOf(in, 0), partOf(in, 1)), append(own.Out, *out)
		k, err := engine.Registry.Of(own.Op, own.In[0].DType)[0].Make(nil, own, 0)
		if err != nil {
			return err
		}
		return k.Run(t, own)
	}
	parts := 1
	if out.DType.IsComplex() {
		parts = 2
	}
	for i := range parts {
		own.Op, own.In, own.Out = c.Op, append(own.In[:0], partOf(in, i)), append(own.Out[:0], partOf(out, i))
		if err := castOf(own).Run(t, own); err != nil {
			return err
		}
	}
	return nil
}

// zero is the imaginary part of every real number.
var zero byte

// partOf is the real part of an operand (0) or its imaginary part (1).
// SAFETY: a part lies in the element that it is of; zero is read with strides of 0.
func partOf(o *device.Operand, i int) device.Operand {
	p := *o
	p.Const = nil
	switch {
	case o.DType.IsComplex():
		p.DType = dtype.Float32
		if o.DType == dtype.Complex128 {
			p.DType = dtype.Float64
		}
		p.Addr = unsafe.Add(o.Addr, int64(i)*p.DType.Size())
		for axis := range p.Rank {
			p.Strides[axis] *= 2
		}
	case i == 1:
		p.Addr, p.Heap, p.DType, p.Strides = unsafe.Pointer(&zero), nil, dtype.Bool, [shape.MaxRank]int64{}
	}
	return p
}

// calls holds the calls of parts between casts, with room for their operands.
var calls = sync.Pool{New: func() any { return new(device.Call) }}

// release gives a call back, without the memory that it names.
func release(c *device.Call) {
	in, out := c.In[:cap(c.In)], c.Out[:cap(c.Out)]
	clear(in)
	clear(out)
	*c = device.Call{In: in[:0], Out: out[:0]}
	calls.Put(c)
}
