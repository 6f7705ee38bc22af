package runtime

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Which calls share a recipe is decided here alone: by what identify writes into the key. Legalizing is a function of
// the key and the device, and of nothing else. A rule of a row that comes to look at more has to be told apart here.

// Recipe is a call that has been legalized: what it allocates, what it runs and what its results are. It names
// memory by the place among the call's buffers and numbers by the place among the operands, so that it serves
// every call with an equal key. It is not changed once it is kept.
type Recipe struct {
	key     string
	Buffers []graph.Buffer // that the call allocates; those of its operands come first and are not listed
	Steps   []op.Step
	Out     []op.Ref
	whole   *whole // of composites: the steps as one program; nil: there is none
}

// recipes keeps the recipes of a device. The table is bounded and read without a lock: a hash leads to one row of
// it, where a new recipe takes the place of the older one. A call that is legalized again because two others
// have replaced its recipe only takes longer.
type recipes struct {
	seed maphash.Seed
	rows [1 << 10]struct {
		missed atomic.Uint64 // the hash of the last call that found no recipe here
		kept   [2]atomic.Pointer[Recipe]
	}
}

// find returns the recipe for a key, nil where there is none, and the hash of the key.
func (t *recipes) find(key []byte) (r *Recipe, hash uint64) {
	hash = maphash.Bytes(t.seed, key)
	row := &t.rows[hash%uint64(len(t.rows))]
	for i := range row.kept {
		if r = row.kept[i].Load(); r != nil && r.key == string(key) {
			return r, hash
		}
	}
	return nil, hash
}

// keep adds a recipe whose key find has not found. The first time it only remembers the hash: a call that never
// comes again, as one with ever new shapes, costs no memory.
func (t *recipes) keep(key []byte, hash uint64, r *Recipe, whole func() *whole) {
	row := &t.rows[hash%uint64(len(t.rows))]
	if row.missed.Swap(hash) != hash {
		return
	}
	kept := r.clone(string(key))
	kept.whole = whole()
	row.kept[1].Store(row.kept[0].Load())
	row.kept[0].Store(kept)
}

// given stands in recipes for the numbers of the call.
var given op.Value

// clone is a copy that shares nothing with the record that the recipe was made in.
func (r *Recipe) clone(key string) *Recipe {
	c := &Recipe{key: key, Buffers: slices.Clone(r.Buffers), Steps: slices.Clone(r.Steps), Out: slices.Clone(r.Out)}
	for i := range c.Steps {
		s := &c.Steps[i]
		s.Attrs, s.In, s.Out = slices.Clone(s.Attrs), slices.Clone(s.In), slices.Clone(s.Out)
		for j := range s.In {
			if n := &s.In[j]; n.Number != nil && n.Buffer > 0 {
				n.Number = &given
			}
		}
	}
	return c
}

// argument is an operand of a call on its device: a view, or a number.
type argument struct {
	view   *View     // nil for a number
	number *op.Value // not Set for an operand that is left out
	dtype  dtype.DType
	// addr is where a view that shares memory with the output lies, relative to it; see relate. 0 for all others.
	addr uintptr
}

// outputAddr is argument.addr of an output. It stands in the middle of the address space, so that what lies before
// it has an address too.
const outputAddr = 1 << 62

// relate gives addresses to the views that may share memory with the output, the last argument. Only what lies
// in the same memory matters to legalizing, not where that is.
func (e *EagerCall) relate() {
	last := len(e.args) - 1
	out := e.args[last].view
	low, high := out.span()
	for i := range e.args[:last] {
		v := e.args[i].view
		if v == nil {
			continue
		}
		if from, to := v.span(); from < high && low < to {
			// SAFETY: numbers to compare, never turned back into pointers.
			e.args[i].addr = outputAddr + uintptr(v.Addr) - uintptr(out.Addr)
		}
	}
	e.args[last].addr = outputAddr
}

// span is the addresses from the first byte of a view up to the one behind its last; none for an empty one.
func (v *View) span() (from, to uintptr) {
	low, high, ok := v.Extent()
	if !ok {
		return 0, 0
	}
	size := v.DType.Size()
	// SAFETY: numbers to compare, never turned back into pointers.
	return uintptr(v.Addr) + uintptr(low*size), uintptr(v.Addr) + uintptr((high+1)*size)
}

// identify makes the key of the call: everything that legalizing looks at besides the device, and how often the
// device has changed its mind about composites. Two calls with equal
// keys differ in memory and in numbers alone, of which only rows that are ByValue see more than the kind. ok is
// false for attributes that no key holds.
func (e *EagerCall) identify(at op.Attrs) (ok bool) {
	into := byte(0)
	if e.into {
		into = 1
	}
	changes := e.Stream.ctx.refusals.changes.Load()
	k := append(e.key[:0], byte(e.Row.ID), byte(e.Row.ID>>8), into, byte(len(e.args)), byte(len(e.args)>>8), byte(changes), byte(changes>>8))
	for i := range e.args {
		k = e.args[i].append(k, e.Row.ByValue)
	}
	ok = true
	for i := range at {
		v := &at[i]
		k = append(k, byte(v.Kind))
		switch v.Kind {
		case op.None:
		case op.Bool, op.Int, op.DType:
			k = word(k, v.I)
		case op.Float:
			k = word(k, int64(math.Float64bits(v.F)))
		case op.Ints:
			k = append(word(k, int64(len(v.Ints))), raw(v.Ints)...)
		case op.Floats:
			k = word(k, int64(len(v.Floats())))
			for _, f := range v.Floats() {
				k = word(k, int64(math.Float64bits(f)))
			}
		case op.String:
			k = append(word(k, int64(len(v.Str()))), v.Str()...)
		default:
			ok = false
		}
	}
	e.key = k
	return ok
}

// append adds an argument to a key. The parts of a key have lengths that follow from what stands before them, so
// that different calls have different keys.
func (a *argument) append(k []byte, byValue bool) []byte {
	if v := a.view; v != nil {
		k = append(k, 'v', byte(v.DType), byte(v.Rank))
		k = append(append(k, raw(v.Dims[:v.Rank])...), raw(v.Strides[:v.Rank])...)
		return word(k, int64(a.addr))
	}
	k = append(k, 'n', byte(a.dtype), byte(a.number.Kind))
	if byValue {
		k = word(word(k, a.number.I), int64(math.Float64bits(a.number.F)))
	}
	return k
}

// word adds a number to a key.
func word(k []byte, n int64) []byte { return binary.NativeEndian.AppendUint64(k, uint64(n)) }

// raw is the bytes of numbers.
func raw(list []int64) []byte {
	// SAFETY: the same memory, which the caller reads before it goes on.
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), 8*len(list))
}

// legalize makes the recipe of a call that has none, in memory of the record.
func (e *EagerCall) legalize(at op.Attrs) (r Recipe, err error) {
	l := &e.legal
	l.Reset()
	l.Composes = e.Stream.ctx.composes
	e.refs = slices.Grow(e.refs[:0], len(e.args))[:len(e.args)]
	for i := range e.args {
		if a := &e.args[i]; a.view == nil {
			e.refs[i] = op.Ref{Buffer: i + 1, DType: a.dtype, Number: a.number}
		} else {
			l.Give(&e.refs[i], a.view.DType, &a.view.Layout, a.addr, 0)
		}
	}
	if last := len(e.refs) - 1; e.into {
		err = l.CallInto(e.Row, e.refs[:last], at, e.refs[last])
	} else {
		r.Out, err = l.Call(e.Row, e.refs, at)
	}
	r.Buffers, r.Steps = l.Buffers[len(e.bases):], l.Steps
	for i := range r.Buffers {
		if err == nil {
			err = e.Stream.ctx.Supports(e.Row.Name, r.Buffers[i].DType)
		}
	}
	return r, err
}

// RecipeOf finds the recipe of the call, or makes it. What it returns belongs to the table or to the record; it is
// valid until the record is recycled. A call that cannot be legalized has no recipe, and fails anew each time.
func (e *EagerCall) RecipeOf(at op.Attrs) (r *Recipe, err error) {
	if e.into {
		e.relate()
	}
	known, hash := &e.Stream.ctx.recipes, uint64(0)
	lasting := e.identify(at)
	if lasting {
		if r, hash = known.find(e.key); r != nil {
			return r, nil
		}
	}
	if e.made, err = e.legalize(slices.Clone(at)); err != nil { // steps name attributes that the caller may change later
		return nil, err
	}
	if lasting {
		known.keep(e.key, hash, &e.made, func() *whole { return e.wholeOf(&e.made, at) })
	}
	return &e.made, nil
}
