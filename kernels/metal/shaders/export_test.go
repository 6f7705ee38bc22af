package shaders

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
)

// What tests outside of the package have to know.
const (
	PlentyOutputs = plentyOutputs
	FewElements   = fewElements
	PartElements  = partElements
	PartVectors   = partVectors
	PlentyThreads = plentyThreads
	ShortRow      = shortRow
)

// Accepts reports whether an elementwise kernel, or one that walks its operands, takes a call.
func Accepts(elementwise bool, c *device.Call) (ok bool) {
	if elementwise {
		_, ok = accessOf(c)
	} else {
		_, ok = walked(nil, c)
	}
	return ok
}

// Narrow has kernels with offsets of 32 bits only for offsets up to a number, until restore is called.
func Narrow(most int64) (restore func()) {
	narrow = most
	return func() { narrow = wideOffsets }
}

// Move has dispatches move at most so many bytes, until restore is called.
func Move(most int64) (restore func()) {
	mostMoved = most
	return func() { mostMoved = mostBytes }
}

// LongestPiece is what a dispatch of a reduction of the first pass does at most, on pipelines that take so many threads:
// bytes moved, and elements that one thread goes through.
func LongestPiece(d dtype.DType, axes op.Axes, x shape.Layout, most uint64) (bytes, elements int64) {
	c := &device.Call{Axes: axes, In: []device.Operand{{DType: d, Layout: x}}}
	kept, reduced := folded(c)
	k := &reduction{lie: arrangement(&kept, &reduced)}
	for range 4 {
		k.pipelines = append(k.pipelines, gpu.Pipeline{Width: gpu.Lanes, Most: most})
	}
	s := k.share(c, &kept, &reduced)
	_ = inPieces(s.groups, s.width, s.cost, func(_, groups int64) error {
		bytes = max(bytes, groups*s.cost)
		return nil
	})
	switch {
	case k.lie == msl.Anyhow:
		return bytes, s.cost / msl.LineSize / s.width
	case k.lie == msl.Columns:
		return bytes, s.each * s.lanes / s.width * msl.InColumn(d)
	}
	return bytes, s.cost / s.width / d.Size()
}

// LongestSoftmax is the same of softmax, whose result lies as its input does.
func LongestSoftmax(d dtype.DType, axes op.Axes, x shape.Layout, most uint64) (bytes, elements int64) {
	o := device.Operand{DType: d, Layout: x}
	c := &device.Call{Axes: axes, In: []device.Operand{o}, Out: []device.Operand{o}}
	k := &softmax{}
	if x.Strides[axes.First()] == 1 {
		k.class = dense
	}
	for range 4 {
		k.pipelines = append(k.pipelines, gpu.Pipeline{Width: gpu.Lanes, Most: most})
	}
	lines, length := linesOf(c)
	parts, each, ok := k.inParts(c)
	groups, width, cost := lines*parts, int64(k.pipelines[0].ThreadsOf(each)), k.bytes(c, each)
	elements = each / width
	switch {
	case ok:
	case k.class == dense:
		threads, _ := k.rowThreads(length, d)
		groups, width, cost = lines, threads, 2*length*d.Size()
		elements = msl.KeptVectors(d) * msl.VectorSize / d.Size()
	default:
		_, width = k.columns(length)
		groups, cost = (lines+gpu.Lanes-1)/gpu.Lanes, gpu.Lanes*k.bytes(c, length)
		elements = length * gpu.Lanes / width
	}
	_ = inPieces(groups, width, cost, func(_, groups int64) error {
		bytes = max(bytes, groups*cost)
		return nil
	})
	return bytes, 2 * elements // in two passes
}

// Busy has threads go on as if a number of them were enough for a GPU to be busy, until restore is called.
func Busy(threads int64) (restore func()) {
	before := busyThreads
	busyThreads = threads
	return func() { busyThreads = before }
}

// SortedAtOnce has long permutations made by dispatches over so many places, until restore is called.
func SortedAtOnce(places int64) (restore func()) {
	before := sortedAtOnce
	sortedAtOnce = places
	return func() { sortedAtOnce = before }
}

// Rate has dispatches divided as if a GPU did so many operations a second, until restore is called.
func Rate(operations float64) (restore func()) {
	before := m1Operations
	m1Operations = operations
	return func() { m1Operations = before }
}
