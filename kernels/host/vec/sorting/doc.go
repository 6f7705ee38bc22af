// Package sorting turns float32 to keys, unsigned integers in the same order, and back, finds elements beyond a limit, and sorts keys.
//
// The invariant: equal numbers have equal keys, NaN is the largest, and descending order is a flip of bits (vec.Descending). Sorts that
// keep the order of equal elements, and threads, are in kernels/host/sort.
package sorting

//go:generate go run ../narrow
