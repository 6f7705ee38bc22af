// Package shaders runs operators as shaders. Package msl writes their source; this package compiles it, binds operands
// and dispatches.
//
// Each file registers the variants of a family of operators and has the kernel behind them, which binds the
// operands of a call and dispatches. A variant's class is what its source depends on besides operator and
// dtypes: how elementwise operands lie ([access]), or only whether offsets need 64 bits ([walked]). So one
// program serves calls of any length.
//
// A kernel binds its arguments in the order in which its source declares and describes them: read softmax.go here beside
// softmax.metal in package msl. Numbers are passed as constants of the dispatch and need no buffer.
//
// A kernel keeps nothing of the call that it was made for but what is the same for all calls of its key. In
// particular it holds no memory: operands are located anew in each call.
//
// Elementwise operators of any layout share [lattice], which lays threads out over strides, and no dispatch is longer
// than the model of an M1 allows: those of [product] and [permutation] are divided.
//
// The invariant: a kernel is compiled when it is made, for one class, and refuses a call of another one that
// it would read wrongly. The package knows nothing of streams and command buffers, and of MPSGraph nothing
// either: package graphs stages its operands through a gpu.Copier, which is made here.
package shaders

import (
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
)

// compiled is the functions of one source, compiled for one class of calls: what kernels here consist of.
type compiled struct {
	pipelines []gpu.Pipeline
	class     uint64 // its lowest bit says that offsets have 64 bits
}

// compile compiles functions of a source for a class. The pipelines are in the order of the names.
func compile(d *gpu.Device, class uint64, source string, functions ...string) (compiled, error) {
	p, err := d.Pipelines(source, functions...)
	return compiled{p, class}, err
}

// wide is 1 where offsets have 64 bits.
func (k *compiled) wide() uint64 { return k.class & 1 }

// wantLanes is status.Unsupported, and the pipelines are released, unless all of them run in SIMD groups of as many
// threads as the source is written for. It is so on every GPU of Apple's.
func (k *compiled) wantLanes() error {
	for _, p := range k.pipelines {
		if p.Width != gpu.Lanes || p.Most < gpu.Lanes {
			k.Close()
			return status.Errorf(status.Unsupported, "got a GPU with SIMD groups of %d threads; want %d", p.Width, gpu.Lanes)
		}
	}
	return nil
}

// Bytes is an estimate.
func (k *compiled) Bytes() int64 { return 16 << 10 }

// Close releases the pipelines.
func (k *compiled) Close() {
	for _, p := range k.pipelines {
		p.Release()
	}
}
