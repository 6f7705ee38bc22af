package metal

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

func init() {
	for name, o := range map[string]mpsgraph.Binary{
		"equal": mpsgraph.Equal, "not_equal": mpsgraph.NotEqual,
		"less_than": mpsgraph.LessThan, "less_equal": mpsgraph.LessThanOrEqualTo,
		"greater_than": mpsgraph.GreaterThan, "greater_equal": mpsgraph.GreaterThanOrEqualTo,
	} {
		f := compared(o)
		function{f, f, f}.lower(name)
	}
	for name, o := range map[string]mpsgraph.Binary{
		"logical_and": mpsgraph.LogicalAnd, "logical_or": mpsgraph.LogicalOr, "logical_xor": mpsgraph.LogicalXor,
	} {
		f := combined(o)
		function{f, f, f}.lower(name)
	}
	not := func(b *builder, in []tensor) tensor { return b.unary(mpsgraph.Not, b.nonZero(in[0])) }
	function{not, not, not}.lower("logical_not")
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
