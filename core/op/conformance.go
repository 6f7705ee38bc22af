package op

import (
	"fmt"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// What tests need to know of an operator. The Python conformance suite reads it from table.json, the
// tests of the devices read it here; neither knows an operator by its name.

// Terms is how many terms each element of a result is made of, for a first operand of shape x as devices see
// it: reduced axes are in place, and matrices are rows times columns.
func (row *Row) Terms(axes Axes, x *shape.Shape) int64 {
	n := int64(1)
	switch row.Kind {
	case Reduce, Scan, Normalize:
		for i, d := range x.Slice() {
			if axes.Has(i) {
				n *= d
			}
		}
	case Product:
		n = x.Dims[x.Rank-1]
	case Window:
		n = x.Numel() // at most; the suite, which sees all operands, knows better
	}
	return n
}

// Domain says which values of an operand an operator has an answer for, and tests give.
type Domain uint8

const (
	Unrestricted Domain = iota // every value, all special ones of floats included
	Divisor                    // any float; any integer but 0
	Exponent                   // any float; integers from 0 to 6
	Ordinary                   // floats without NaN, infinities and extremes: what is summed up
	NonEmpty                   // any values, and at least one element along every reduced axis
	Condition                  // bool, whatever dtype the other operands have
	Position                   // int64 or int32 indices in range, one tensor an axis of the first operand
	LastDomain   = Position
)

// String is the domain in table.json.
func (d Domain) String() string {
	return [...]string{"unrestricted", "divisor", "exponent", "ordinary", "nonempty", "condition", "position"}[d]
}

// Lack says which kernels a device does not have, of those that Accepts promises, and why.
type Lack struct {
	Device string // "host" or "metal"
	DTypes dtype.Set
	Why    string
}

// CheckKernels is an error if a device lacks kernels that the row does not list in Lacks, or has some that it does.
// elements are the dtypes that the device has, and has are those with a kernel. Views need none, and neither
// do composites, which are lowered to other rows.
func (row *Row) CheckKernels(device string, elements, has dtype.Set) error {
	if row.Kind == View || row.Lower != nil && !row.Own {
		return nil
	}
	var lacks dtype.Set
	for _, lack := range row.Lacks {
		if lack.Device == device {
			lacks |= lack.DTypes
		}
	}
	if missing := row.Accepts & elements &^ lacks &^ has; missing != 0 {
		return fmt.Errorf("[%s] %s has no kernel for %v; want one, or the reason in Lacks of the row", row.Name, device, missing.Members())
	}
	if stale := lacks & has; stale != 0 {
		return fmt.Errorf("[%s] %s has kernels for %v, which the row says it lacks; want Lacks without them", row.Name, device, stale.Members())
	}
	return nil
}
