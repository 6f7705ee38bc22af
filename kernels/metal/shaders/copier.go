package shaders

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
)

// copier has the shaders that stage operands for MPSGraph: casts from any layout to any. Each is compiled when the
// first program that may need it is compiled, and stays until the device is closed; there are few, one for each
// pair of dtypes and kind of layouts. Copies look the shaders up without a lock.
type copier struct {
	device *gpu.Device
	mu     sync.Mutex
	made   atomic.Pointer[map[copyKind]*elementwise] // never changed, only replaced
}

// copyKind is what a shader of a copier is compiled for. Dimensions are arguments, so they are no part of it.
type copyKind struct {
	from, to dtype.DType
	class    uint64
}

// NewCopier makes a copier that has compiled nothing. The device sets it as its gpu.Device's Copier, by which graphs
// reach it.
func NewCopier(d *gpu.Device) gpu.Copier { return &copier{device: d} }

// copyOf is a copy as a call of cast, how its operands lie, and the kind of shader that it takes. It never takes the way
// of vectors, because what is staged may begin anywhere, and the place of the other side is not known when the shader is
// prepared. A grid reads vectors too, where operands turn out to lie well.
func copyOf(to, from *device.Operand) (c device.Call, l access, kind copyKind, err error) {
	c = device.Call{Op: op.IDCast, In: []device.Operand{*from}, Out: []device.Operand{*to}}
	l, ok := accessOf(&c)
	if !ok {
		return c, l, kind, status.Errorf(status.Unsupported, "got an operand in memory that the GPU does not have")
	}
	if l.way == msl.Vectors {
		l.walk(&c)
	}
	return c, l, copyKind{from.DType, to.DType, l.class()}, nil
}

// Prepare compiles the shader that copies from to to, if no other program has. Two threads that need the same one
// may both compile it, and one of the two is dropped; so no thread waits for a compiler that works for another.
func (p *copier) Prepare(to, from *device.Operand) error {
	c, l, kind, err := copyOf(to, from)
	if err != nil || p.find(kind) != nil {
		return err
	}
	k, err := compileElementwise(p.device, &c, &l) // under no lock: other threads copy meanwhile
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.find(kind) != nil {
		k.Close()
		return nil
	}
	// The map is copied, so that Copy, on other threads, reads it without the lock.
	more := map[copyKind]*elementwise{kind: k}
	if all := p.made.Load(); all != nil {
		maps.Copy(more, *all)
	}
	p.made.Store(&more)
	return nil
}

// find is the shader of a kind, nil where none has been compiled.
func (p *copier) find(kind copyKind) *elementwise {
	if all := p.made.Load(); all != nil {
		return (*all)[kind]
	}
	return nil
}

// Copy encodes a copy. It compiles nothing: what has not been prepared is an error, because the class of the
// program's key should have distinguished such calls.
func (p *copier) Copy(e gpu.Encoder, to, from *device.Operand) error {
	c, _, kind, err := copyOf(to, from)
	if err != nil {
		return err
	}
	k := p.find(kind)
	if k == nil {
		return errClass()
	}
	return k.Encode(e, &c)
}

// Close releases the shaders.
func (p *copier) Close() {
	if all := p.made.Swap(nil); all != nil {
		for _, k := range *all {
			k.Close()
		}
	}
}
