package op

import (
	"fmt"
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// What tests need to know of an operator. The Python conformance suite reads it from table.json, the
// tests of the devices read it here; neither knows an operator by its name.

// Tolerance is the largest error of an element of a result, against the exact result for the rounded
// inputs. It is the sum of its parts; the zero Tolerance means exact.
type Tolerance struct {
	// Units in the last place of the result, by its dtype, on the host device. Half is float16 and
	// bfloat16.
	//
	// Metal is that of float32 on the Apple GPU, where it is more: what the Metal Shading Language Specification
	// (table 8.1) allows for the functions that a kernel calls; where several meet, twice the sum of their parts
	// and the roundings, because a unit of one may be two of another.
	Float32, Float64, Half, Metal float64

	// What is added where terms may cancel, in every dtype of floats.
	Roundings Roundings

	// NumPy for further units in the last place of float64, which has nothing wider to be computed in:
	// the effect of rounding an argument on the way. It sees what NumPy of the row sees, `out` (the
	// exact result), `ulp(y)` and `magnitude(x)`. Devices without float64 need not evaluate it.
	Float64Also string
}

// Roundings counts the roundings of intermediate values where terms may cancel. Each is at most
// eps * f(|x|): half a unit in the last place of 1 in the dtype that is computed in (2**-53 for float64,
// 2**-24 else), times the result of the same operator for the magnitudes of its operands, or what the description
// of the row gives as Scale: terms that do not cancel for any operands. An element
// of n terms (see [Row.Terms]) has Once + Level*log2(n) + Term*n of them.
//
// A sum is an example: Higham, Accuracy and Stability of Numerical Algorithms, 4.2, bounds its error by
// eps*sum|x|, times n - 1 for terms that are added one by one and times log2(n) for those added in pairs.
type Roundings struct {
	Once, Level, Term float64
	Metal             float64 // Once on Metal, where it is more
}

// Count is how many roundings an element of n terms has, on Metal or on the host.
func (r Roundings) Count(n int64, metal bool) float64 {
	once := r.Once
	if metal {
		once = max(once, r.Metal)
	}
	return once + r.Level*math.Log2(float64(max(n, 1))) + r.Term*float64(n)
}

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

// ULPs are the units in the last place that a result of dtype d may be off, without roundings.
func (t *Tolerance) ULPs(d dtype.DType, metal bool) float64 {
	switch {
	case d == dtype.Float64:
		return t.Float64
	case d != dtype.Float32:
		return t.Half
	case metal:
		return max(t.Float32, t.Metal)
	}
	return t.Float32
}

// These three make the tolerance of a row from a common one; each answers a copy.

// OnMetal is t with so many units in the last place of float32 on Metal.
func (t *Tolerance) OnMetal(units float64) *Tolerance {
	copied := *t
	copied.Metal = units
	return &copied
}

// Plus is t with the roundings of intermediate values.
func (t *Tolerance) Plus(r Roundings) *Tolerance {
	copied := *t
	copied.Roundings = r
	return &copied
}

// InFloat64 is t with further units in float64, in NumPy.
func (t *Tolerance) InFloat64(also string) *Tolerance {
	copied := *t
	copied.Float64Also = also
	return &copied
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
