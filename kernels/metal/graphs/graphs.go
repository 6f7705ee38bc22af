// Package graphs computes operators by MPSGraph.
//
// A lowering expresses a call in terms of MPSGraph, through a [builder], whose methods are MPSGraph's with guards in
// front (guard.go). What comes out is compiled into an executable for the dimensions, strides, axes and
// attributes of one call. How its operands lie in memory is its ports' business (port.go): what MPSGraph
// cannot be fed as it lies goes through the workspace (run.go), copied by the device's gpu.Copier.
//
// The invariant: MPSGraph, which ends the process on most misuse, is sent nothing that has not been checked
// first. What it is known to compute wrongly on some system is in one table (quarantine.go), and refused.
//
// Graphs are compiled for fixed dimensions because MPSGraph optimizes for them, and because its guards need
// numbers. Numbers that change from call to call, such as a fill value, are fed instead of built in.
//
// Each lowering is of one operator; the package joins none, knows nothing of streams and command buffers, and
// has no shader.
package graphs

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
)

// lowering expresses a call in terms of MPSGraph: the tensor that is its output, of its dtype and with as many
// elements, or one that broadcasts to it.
type lowering func(b *builder) tensor

// lower registers a lowering for an operator and every dtype of a set.
func lower(id op.ID, set dtype.Set, f lowering) {
	graphVariant{lowering: f}.register(id, set)
}

// lowerBits is lower for an operator that moves elements, or looks whether they are zero: floats come and
// go as integers of their size, so that no bit of them changes.
func lowerBits(id op.ID, f lowering) {
	graphVariant{lowering: f, bits: true}.register(id, gpu.Elements)
}

// graphVariant is a lowering with what decides how its graphs are made.
type graphVariant struct {
	lowering
	bits    bool                      // see builder
	given   []int                     // attributes that each call gives anew
	accepts func(c *device.Call) bool // nil: every call
}

// register adds the variant of an operator for a set of dtypes. Its class says that it is for one call's dimensions,
// which attributes are given anew, and how the operands come (portClass).
func (g graphVariant) register(id op.ID, set dtype.Set) {
	own := uint64(gpu.Specific)
	for _, i := range g.given {
		own |= 1 << (gpu.Given + i)
	}
	gpu.Register(gpu.Graph, id, set, gpu.Variant{
		Accepts: func(d *gpu.Device, c *device.Call) (uint64, bool) {
			if d.Graphs == 0 || len(c.In)+1 > mostPorts || g.accepts != nil && !g.accepts(c) {
				return 0, false
			}
			return own | portClass(c), true
		},
		Make: func(d *gpu.Device, c *device.Call, _ uint64) (gpu.Kernel, error) {
			return build(d, g.lowering, &builder{device: d, call: c, bits: g.bits})
		},
	})
}

// mostPorts is how many operands the class of a graph has room for: two bits each below the bits of given
// attributes, and one bit for a call in place.
const mostPorts = 15

// How an operand comes to a graph, as far as its address decides it.
const (
	modeNumber    uint64 = iota // it is no memory of the device
	modeWindow                  // MPSGraph can take it where it is, unless there are gaps in it
	modeLine                    // a shader can read and write it from its first byte on
	modeUnaligned               // it begins between two places that Metal can bind
)

// portClass is how the operands of a call come to a graph, two bits each, and whether the output is an input:
// what a graph stages, and therefore which shaders it needs, depends on that.
func portClass(c *device.Call) uint64 {
	modes, inPlace := uint64(0), uint64(0)
	for i := range len(c.In) + 1 {
		o := gpu.Operand(c, i)
		modes = modes<<2 | portMode(o)
		if i > 0 && o.Addr == c.Out[0].Addr {
			inPlace = 1
		}
	}
	return inPlace<<(2*mostPorts) | modes
}

// portMode is the mode of one operand. A window is as long as the elements from the lowest to the highest, which is
// what a port without gaps feeds; a port with gaps stages its operand in any mode.
func portMode(o *device.Operand) uint64 {
	s, ok := gpu.Locate(o)
	if !ok {
		return modeNumber
	}
	low, high, _ := o.Extent()
	switch {
	case s.First+low != 0:
		return modeUnaligned
	case gpu.HeapOf(o).Takes(s.Offset, uint64((high-low+1)*o.DType.Size())):
		return modeWindow
	}
	return modeLine
}
