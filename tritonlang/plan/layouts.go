// Layouts that operations need whatever their groups want.

package plan

import "github.com/paddle-mps/paddle-mps/tritonlang/layout"

// WithoutBit is a layout without one bit of the element's number: bits above it move down.
func WithoutBit(l layout.Layout, bit int) layout.Layout {
	return l.Map(func(b int) int {
		switch {
		case b == bit:
			return layout.None
		case b > bit:
			return b - 1
		}
		return b
	})
}

// WithMinor is a layout with a new last dimension of 2, in registers.
func WithMinor(l layout.Layout) layout.Layout {
	up := l.Map(func(b int) int { return b + 1 })
	up.Reg = append([]int{0}, up.Reg...)
	return up
}

// productLayout gives each thread a square of a product, so that a row or column that it loads serves several elements.
func productLayout(shape []int, warps int) layout.Layout {
	first := layout.Dims(shape)
	d := len(shape)
	ns, ms := layout.Log(shape[d-1]), layout.Log(shape[d-2])
	// Registers for a square of 4 by 4, if every thread still has work.
	spare := max(0, first[d]-layout.Lanes-warps)
	n := min(2, ns, spare)
	m := min(2, ms, max(0, spare-n))
	// First the bits in registers, of columns and rows, then the rest of both: columns before rows, so that neighbouring lanes
	// hold neighbouring columns.
	var order []int
	add := func(from, to int) {
		for b := from; b < to; b++ {
			order = append(order, b)
		}
	}
	add(first[d-1], first[d-1]+n)
	add(first[d-2], first[d-2]+m)
	add(first[d-1]+n, first[d-1]+ns)
	add(first[d-2]+m, first[d])
	return layout.Blocked(order, n+m, warps)
}

// ScanLayout gives each thread elements that follow each other along an axis, the next ones to the next lanes and the next
// ones to the next SIMD groups.
func ScanLayout(shape []int, axis, warps int) layout.Layout {
	first := layout.Dims(shape)
	low, n := first[axis], layout.Log(shape[axis])
	total := first[len(shape)]
	spare := max(0, total-layout.Lanes-warps)
	vec := min(spare, n)
	// The axis first: its lowest bits are registers, the next ones lanes, the last ones SIMD groups.
	var order []int
	for b := low; b < low+n; b++ {
		order = append(order, b)
	}
	for b := range total {
		if b < low || b >= low+n {
			order = append(order, b)
		}
	}
	return layout.Blocked(order, vec, warps)
}
