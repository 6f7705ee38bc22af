// Package kernels is the registry in which a device declares what it can run.
//
// Each device folder has one [Variants] and fills it from init functions, so the files in the build
// determine what the device supports. A [Variant] names an operator and the dtypes that it computes
// in, may accept only some steps, and makes the kernel for them. If several accept a step, the one
// with the highest [Priority] runs. An unsupported operator has no row; there are no stubs.
//
// The package knows no operator and no device; the device folder defines what a kernel is.
package kernels

import (
	"fmt"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Priority decides between variants that accept the same step: the highest one runs.
type Priority int8

// The priorities in use on every device; a device may have others between and above them.
const (
	Portable Priority = 0  // takes every step
	Special  Priority = 10 // takes the steps that its predicate names, and runs them faster
)

// Variant is one way in which a device of type D runs an operator: a predicate over a step and a
// constructor of kernels, which are of type K. The portable variant of an operator takes every step
// and is the oracle of all others.
type Variant[D, K any] struct {
	Op       op.ID
	DTypes   dtype.Set // of [Decisive]
	Priority Priority  // the highest one that accepts a step makes its kernel

	// Accepts reports whether the variant runs a step, and which of its kernels: steps of one class
	// share one. It looks at dtypes, layouts, alignment, axes, attributes and constant operands, must
	// not allocate, and answers the same for calls that the device is to run with one program. nil
	// accepts every step, all in class 0.
	Accepts func(d D, c *device.Call) (class uint64, ok bool)
	// Total says that Accepts, which then only tells classes apart, and Make refuse no step. Without Accepts it
	// goes without saying.
	Total bool
	// Make makes the kernel of a class and compiles all that it will run. The kernel may keep state,
	// such as packed constants, but no memory of the step's other operands. status.Unsupported hands
	// the step to the next variant.
	Make func(d D, c *device.Call, class uint64) (K, error)
}

// Variants holds the variants of one device. It is filled during initialisation and only read
// afterwards; reading needs no lock.
type Variants[D, K any] struct {
	rows   []*[dtype.Last + 1][]*Variant[D, K] // by op.ID; nil where there is no variant
	choice []bool                              // by op.ID: see Chooses
}

// numberBits are the lowest bits of a key's class: the number of a variant.
const numberBits = 4

// mostVariants is how many variants a dtype of an operator may have: their numbers fit a key's class.
const mostVariants = 1<<numberBits - 1

// KeyClass is the class of a device.Key for the calls that a variant takes in one of its classes, by the number of
// the variant in the order of [Variants.Choose]. It is never 0, and different variants never share one. A class has
// 60 bits.
func KeyClass(number int, class uint64) uint64 {
	if class>>(64-numberBits) != 0 {
		panic("kernels: the class of a variant has more than 60 bits")
	}
	return class<<numberBits | uint64(number+1)
}

// ClassOf is the class of the variant that a [KeyClass] is of.
func ClassOf(key uint64) uint64 { return key >> numberBits }

// Add registers a variant. Two of one priority for the same operator and dtype, of which the first
// accepts every step, are a mistake in the source: Add panics.
func (r *Variants[D, K]) Add(v Variant[D, K]) {
	for int(v.Op) >= len(r.rows) {
		r.rows, r.choice = append(r.rows, nil), append(r.choice, false)
	}
	row := r.rows[v.Op]
	if row == nil {
		row = new([dtype.Last + 1][]*Variant[D, K])
		r.rows[v.Op] = row
	}
	for _, d := range v.DTypes.Members() {
		for _, w := range row[d] {
			if w.Priority == v.Priority && w.Accepts == nil && v.Accepts == nil {
				panic(fmt.Sprintf("kernels: two kernels of priority %d for %s of %s", v.Priority, op.ByID(v.Op).Name, d))
			}
		}
		if len(row[d]) == mostVariants {
			panic(fmt.Sprintf("kernels: more than %d variants of %s of %s", mostVariants, op.ByID(v.Op).Name, d))
		}
		row[d] = append(row[d], &v)
		r.choice[v.Op] = r.choice[v.Op] || v.Accepts != nil || len(row[d]) > 1
		for i := len(row[d]) - 1; i > 0 && row[d][i-1].Priority < v.Priority; i-- { // behind its equals
			row[d][i-1], row[d][i] = row[d][i], row[d][i-1]
		}
	}
}

// Of lists the variants for an operator and a dtype, the highest priority first. The list belongs
// to the registry.
func (r *Variants[D, K]) Of(id op.ID, d dtype.DType) []*Variant[D, K] {
	if int(id) >= len(r.rows) || r.rows[id] == nil || !d.Valid() {
		return nil
	}
	return r.rows[id][d]
}

// Chooses reports whether a dtype of an operator has several variants, or one that may refuse: whether
// [Variants.Choose] has more to look at than operator and dtype.
func (r *Variants[D, K]) Chooses(id op.ID) bool { return int(id) < len(r.choice) && r.choice[id] }

// Composes reports whether a step of a composite has a kernel here that takes every step of its operator and
// dtype; see device.Composer. A variant that may refuse does not count, because what it refuses could not be
// lowered any more.
func (r *Variants[D, K]) Composes(s *op.Step) bool {
	d := s.Out[0].DType
	if len(s.In) > 0 {
		d = s.In[0].DType
	}
	for _, v := range r.Of(s.Row.ID, d) {
		if v.Accepts == nil || v.Total {
			return true
		}
	}
	return false
}

// DTypes is the set of dtypes that an operator has variants for.
func (r *Variants[D, K]) DTypes(id op.ID) (set dtype.Set) {
	for _, d := range dtype.Movable.Members() {
		if len(r.Of(id, d)) > 0 {
			set |= dtype.SetOf(d)
		}
	}
	return set
}

// Choose is the first variant from number after on that accepts a step, its number and the class;
// nil where there is none.
func (r *Variants[D, K]) Choose(d D, c *device.Call, after int) (v *Variant[D, K], number int, class uint64) {
	all := r.Of(c.Op, Decisive(c))
	for i := after; i < len(all); i++ {
		if all[i].Accepts == nil {
			return all[i], i, 0
		}
		if class, ok := all[i].Accepts(d, c); ok {
			return all[i], i, class
		}
	}
	return nil, 0, 0
}

// Decisive is the dtype that the variants of a step are registered under: of the first input, but
// of the second where the first is a condition, and of the output where there are no inputs.
func Decisive(c *device.Call) dtype.DType {
	switch {
	case len(c.In) == 0:
		return c.Out[0].DType
	case len(c.In) == 3 && c.In[0].DType == dtype.Bool && op.ByID(c.Op).Kind == op.Select:
		return c.In[1].DType
	}
	return c.In[0].DType
}
