package emit

import "github.com/paddle-mps/paddle-mps/tritonlang/layout"

// productLayout gives each thread a square of a product, so that a row or column that it loads serves several elements.
func productLayout(shape []int, warps int) layout.Layout {
	first := layout.Dims(shape)
	d := len(shape)
	ns, ms := layout.Log(shape[d-1]), layout.Log(shape[d-2])
	spare := max(0, first[d]-layout.Lanes-warps)
	n := min(2, ns, spare)
	m := min(2, ms, max(0, spare-n))
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

// scanLayout gives each thread elements that follow each other along an axis, the next ones to the next lanes and the next
// ones to the next SIMD groups.
func scanLayout(shape []int, axis, warps int) layout.Layout {
	first := layout.Dims(shape)
	low, n := first[axis], layout.Log(shape[axis])
	total := first[len(shape)]
	spare := max(0, total-layout.Lanes-warps)
	vec := min(spare, n)
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
