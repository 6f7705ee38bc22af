// Package kernels is where a device says what it can run.
//
// Each device folder keeps one [Registry] and fills it from init functions, so that what a device
// can do is decided by which of its files are in the build: a file for one instruction set or one
// operating system registers its kernels at a higher [Priority] and replaces the portable ones.
// An operator that a device lacks is a row that is absent, never a stub.
//
// The package knows no operator and no device; what a kernel is, the device folder decides.
package kernels

import (
	"fmt"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Priority decides between kernels for the same operator and dtype: the highest one runs.
type Priority int8

// The priorities in use.
const (
	Portable Priority = 0  // runs wherever the package compiles
	Tuned    Priority = 10 // needs something of the machine
)

// Registry holds the kernels of one device, each under an operator and the dtype that it computes
// in. It is filled during initialisation and only read afterwards; reading needs no lock.
type Registry[K any] struct {
	rows map[op.ID]*[dtype.Last + 1]entry[K]
}

type entry[K any] struct {
	kernel   K
	priority Priority
	present  bool
}

// Add registers a kernel for an operator and every dtype of a set. A kernel of lower priority than
// the one already there is ignored. Two of equal priority are a mistake in the source: it panics.
func (r *Registry[K]) Add(operator string, set dtype.Set, p Priority, k K) {
	row := r.row(op.MustByName(operator).ID)
	for _, d := range set.Members() {
		e := &row[d]
		if e.present && e.priority == p {
			panic(fmt.Sprintf("kernels: two kernels of priority %d for %s of %s", p, operator, d))
		}
		if !e.present || e.priority < p {
			*e = entry[K]{k, p, true}
		}
	}
}

func (r *Registry[K]) row(id op.ID) *[dtype.Last + 1]entry[K] {
	if r.rows == nil {
		r.rows = map[op.ID]*[dtype.Last + 1]entry[K]{}
	}
	row := r.rows[id]
	if row == nil {
		row = new([dtype.Last + 1]entry[K])
		r.rows[id] = row
	}
	return row
}

// Find is the kernel for an operator and a dtype; ok is false where there is none.
func (r *Registry[K]) Find(id op.ID, d dtype.DType) (k K, ok bool) {
	row := r.rows[id]
	if row == nil || !d.Valid() {
		return k, false
	}
	return row[d].kernel, row[d].present
}

// DTypes is the set of dtypes that an operator has kernels for.
func (r *Registry[K]) DTypes(id op.ID) (set dtype.Set) {
	row := r.rows[id]
	if row == nil {
		return 0
	}
	for d := range row {
		if row[d].present {
			set |= dtype.SetOf(dtype.DType(d))
		}
	}
	return set
}
