// Package reduction folds elements: along a row (sums, products, extremes, searches), along each of several rows, or down the columns of
// rows that lie one below the other.
//
// The invariant: a result depends on the row or column it is of, and on nothing beside it. Sums are in float64, and are rounded by the
// caller. Long rows are read with prefetches, which change no result. Softmax and normalization are in rownorm.
package reduction

//go:generate go run ../narrow
