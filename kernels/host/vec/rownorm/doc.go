// Package rownorm has what scales each row by a reduction of it: softmax, log-softmax, a step of an online softmax down columns, and
// normalization to a mean of 0 and a variance of 1.
//
// The invariant: a row's result depends on the row, weight and bias alone, not on the rows that are computed beside it. Softmax and
// log-softmax are within 2 ulp. Where rows lie in a tensor is the caller's business.
package rownorm

//go:generate go run ../narrow
