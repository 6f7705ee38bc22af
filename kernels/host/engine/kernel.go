package engine

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels"
)

// Kernel computes one operator in one dtype. It is immutable, runs on any number of streams at once, and
// allocates nothing on its warm path: everything about a call is in the call, and what a run needs beside it
// comes from pools.
type Kernel interface {
	// Cost is the work of a call, in additions of two elements; it decides where the call runs.
	Cost(c *device.Call) int64
	// Workspace is the scratch bytes of a call.
	Workspace(c *device.Call) int64
	// Run computes the call and returns when all threads have ended; an error leaves the outputs
	// undefined. It runs on the worker of a queue or on the goroutine of the caller.
	Run(t *Threads, c *device.Call) error
}

// Simple is the part of a kernel that most share: a few cycles an element and no scratch memory.
type Simple struct{}

// Cost takes an element for an addition.
func (Simple) Cost(c *device.Call) int64 { return c.Out[0].Numel() }

// Workspace is nothing.
func (Simple) Workspace(*device.Call) int64 { return 0 }

// Variant is one way in which an operator runs here.
type Variant = kernels.Variant[*Threads, Kernel]

// Registry holds all variants of the package. An operator has one that is portable, and may have others
// beside it that take some steps only, which must give the same results to the last bit. Those of the system's library are the
// exception: a device has them only if it is asked to.
var Registry kernels.Variants[*Threads, Kernel]

// Register adds the portable kernel of an operator for one dtype. It has no state: all programs share it. It is not inlined, for
// the size of the library.
//
//go:noinline
func Register(id op.ID, d dtype.DType, k Kernel) {
	RegisterSet(id, dtype.SetOf(d), k)
}

// RegisterSet is register for a kernel that takes several dtypes.
func RegisterSet(id op.ID, set dtype.Set, k Kernel) {
	Registry.Add(Variant{
		Op: id, DTypes: set, Priority: kernels.Portable,
		Make: func(*Threads, *device.Call, uint64) (Kernel, error) { return k, nil },
	})
}

// Stateful is a kernel that was made for one step and holds memory of its own.
type Stateful interface{ Bytes() int64 }

// BytesOf is the state of a kernel; 0 where it has none.
func BytesOf(k Kernel) int64 {
	if s, ok := k.(Stateful); ok {
		return s.Bytes()
	}
	return 0
}

// Elementwise is a kernel whose part computes elements lo to hi-1 of a call, whatever its layouts.
type Elementwise interface {
	Kernel
	Splitter
	// PerElement reports whether element i of the result depends on elements i of the inputs alone, and has the
	// same bits in whichever block it is computed. A kernel that fails on some elements reports false: a group would
	// answer with the error of another step than the steps one by one.
	PerElement() bool
}

// Heavy is the cost of a transcendental function in additions, without SIMD.
const Heavy = 8

// WeightHolder is a kernel that may have been made for a constant right operand.
type WeightHolder interface {
	// HoldsWeight reports whether it was: the kernel has a packed copy, and a run does not look at the operand.
	HoldsWeight() bool
}

// HoldsWeight reports whether a kernel has a packed copy of its right operand.
func HoldsWeight(k Kernel) bool {
	h, ok := k.(WeightHolder)
	return ok && h.HoldsWeight()
}
