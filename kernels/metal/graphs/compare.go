package graphs

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// Comparisons and logical operators, whose results are bools.
func init() {
	for id, o := range map[op.ID]mpsgraph.Binary{
		op.IDEqual: mpsgraph.Equal, op.IDNotEqual: mpsgraph.NotEqual,
		op.IDLessThan: mpsgraph.LessThan, op.IDLessEqual: mpsgraph.LessThanOrEqualTo,
		op.IDGreaterThan: mpsgraph.GreaterThan, op.IDGreaterEqual: mpsgraph.GreaterThanOrEqualTo,
	} {
		f := compared(o)
		function{f, f, f}.lower(id)
	}
	for id, o := range map[op.ID]mpsgraph.Binary{
		op.IDLogicalAnd: mpsgraph.LogicalAnd, op.IDLogicalOr: mpsgraph.LogicalOr, op.IDLogicalXor: mpsgraph.LogicalXor,
	} {
		f := combined(o)
		function{f, f, f}.lower(id)
	}
	not := func(b *builder, in []tensor) tensor { return b.unary(mpsgraph.Not, b.nonZero(in[0])) }
	function{not, not, not}.lower(op.IDLogicalNot)
}

// compared is a comparison; bools are compared as numbers.
func compared(o mpsgraph.Binary) formula {
	return func(b *builder, in []tensor) tensor {
		x, y := in[0], in[1]
		if x.dtype == dtype.Bool {
			x, y = b.cast(x, dtype.Int8), b.cast(y, dtype.Int8)
		}
		return b.compare(o, x, y)
	}
}

// combined is a logical operator: MPSGraph's answers in the type of its operands, so they become bools.
func combined(o mpsgraph.Binary) formula {
	return func(b *builder, in []tensor) tensor { return b.binary(o, b.nonZero(in[0]), b.nonZero(in[1])) }
}
