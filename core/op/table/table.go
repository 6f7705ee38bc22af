// Package table fills the table of operators, [op.Table], when the program starts: with the rows of core/op/rows and those of
// core/op/formula. It has nothing else, and no name to use.
//
// Rows call each other by their IDs, through the table, so that core/op, which rows are made of, cannot import them. A package that
// looks rows up must be initialized after this one. The two lowest packages that do, core/device and kernels/metal/msl, import it for
// that, and a test in internal/lint fails for a package that uses core/op and does not depend on this one.
package table

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/formula"
	"github.com/paddle-mps/paddle-mps/core/op/rows"
)

func init() { op.Define(slices.Concat(rows.All, formula.All)) }
