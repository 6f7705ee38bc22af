// Package rows has the rows of all operators that are no formulas, with what each says by a function: rules for dtypes and shapes
// (rules_*.go), gradients (grads_*.go), lowerings to other rows and frames (lowerings.go), what a write into a view is where
// there is no memory (aliases.go), and calls on complex tensors (parts.go).
//
// The other files are lists of rows, each for a family of operators: array.go, elementwise.go, window.go and so on. A row is a
// literal; functions that few rows share stand beside them. Functions see types, attributes and values of a calculator, which
// core/op defines; they run nothing, and call other rows by their IDs, so that no row needs to be initialized before another.
//
// Package core/op/table makes these and the formulas the table. Only formulas, which share a few rules, import this package too.
package rows

import "slices"

// All are the rows of this package, in no order.
var All = slices.Concat(binaryRows, bitwiseRows, compareRows, unaryRows, activationRows, selectRows, specialRows, reduceRows,
	viewRows, shapeRows, assembleRows, indexRows, createRows, signalRows, windowRows, normalizeRows, attentionRows, recurrentRows)
