package trace

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Traced tensors that would share memory. A graph has no memory: of tensors that would share some, one is the root, whose
// value is always what the memory would hold, and the others are views, of it or of one another. A write into a view gives
// new values to what it is a view of, up to the root; whatever else is read from then on is read from the root again.

// traced says what a storage without memory stands for. It is guarded by Trace.mu.
type traced struct {
	trace *Trace
	root  *root
	value graph.Value
	stamp uint32 // the root's changes when the value was right

	// Of a view: the call that makes it.
	base  *traced
	row   *op.Row
	attrs op.Attrs
	// The view shows an element twice, or it may: a write into a part of it cannot be undone link by link, because the view would
	// then show two values of one element.
	overlaps bool
}

// root is what tensors that would share memory have in common.
type root struct {
	bytes   int64
	changes *atomic.Uint32   // writes so far; of what was captured, those of its memory
	memory  *runtime.Storage // of what was captured; else nil
	source  *source          // of an argument and of what was captured; else nil
}

// newRoot makes memory of its own for a value: what a call returns that is no view, and what an input begins as.
func newRoot(tr *Trace, v graph.Value) *traced {
	t := tr.builder.TypeOf(v)
	return &traced{trace: tr, value: v, root: &root{bytes: t.Shape.Numel() * t.DType.Size(), changes: new(atomic.Uint32)}}
}

// part is a view, whose value is v now. It keeps its own copy of the attributes: it may be made again much later, when the
// caller's lists hold something else.
func (x *traced) part(row *op.Row, at op.Attrs, v graph.Value, overlaps bool) *traced {
	return &traced{trace: x.trace, root: x.root, value: v, stamp: x.root.changes.Load(), base: x, row: row, attrs: slices.Clone(at), overlaps: overlaps}
}

// The answers to a storage.

// Tracer answers for the storage.
func (x *traced) Tracer() runtime.Tracer { return x.trace }

// Changes answers for the storage.
func (x *traced) Changes() uint32 { return x.root.changes.Load() }

// IsView answers for the storage.
func (x *traced) IsView() bool { return x.base != nil }

// Identity answers for the storage.
func (x *traced) Identity() unsafe.Pointer {
	// SAFETY: addresses to compare, never followed; the records do not move.
	if x.root.memory != nil {
		return unsafe.Pointer(x.root.memory)
	}
	return unsafe.Pointer(x.root)
}

// memory is what a view of memory from t on reads, for a tensor t that stands for x: the root, with the attributes of the
// same view of that.
func (x *traced) memory(row *op.Row, t *runtime.Tensor, at op.Attrs) (*traced, op.Attrs, error) {
	for x.base != nil {
		x = x.base
	}
	begin := int64(0)
	if s := x.root.source; s != nil {
		if begin = s.tensor.Offset; !s.tensor.IsContiguous() {
			return nil, nil, status.Errorf(status.Unsupported, "[%s] x is neither made in the traced function nor contiguous; want x.contiguous()", row.Name)
		}
	}
	return x, row.Alias.From(at, t.Offset-begin), nil
}

// read is the value of a traced tensor now; mu is held.
//
// A view whose root has changed is made again from what it is a view of, which may be stale as well. It costs a call in the
// graph for each link, once for each change; what is not read is not made.
func (tr *Trace) read(x *traced) (graph.Value, error) {
	if x.base == nil || x.stamp == x.root.changes.Load() {
		return x.value, nil
	}
	base, err := tr.read(x.base)
	if err != nil {
		return 0, err
	}
	v, err := tr.look(x.row, x.attrs, base)
	if err == nil {
		x.value, x.stamp = v, x.root.changes.Load()
	}
	return v, err
}

// Calls that the trace adds by itself are in no history: gradients go through the call that the caller made, whose rule sees
// the tensors as they are.

// look adds the calls that make a view of a value; mu is held.
func (tr *Trace) look(row *op.Row, at op.Attrs, v graph.Value) (graph.Value, error) {
	if row.Alias.Read == nil {
		return tr.add1(row.ID, at, v)
	}
	c := op.Calls{Calculator: tr.builder.Calculator()}
	seen := row.Alias.Read(&c, at, op.Var(v))
	return graph.Value(seen), c.Err
}

// add1 adds a call with one result; mu is held.
func (tr *Trace) add1(id op.ID, at op.Attrs, in ...graph.Value) (graph.Value, error) {
	out, err := tr.builder.Call(op.ByID(id), in, at)
	if err != nil {
		return 0, err
	}
	return out[0], nil
}

// assign writes a value into a traced tensor, and so into what it is a view of; mu is held.
//
// From the view up to the root each step undoes the call that made the view: the value of what it was made of, with v in the
// place that the view shows. The new values are set after the last step, because a step may fail.
//
// Where a view on that way shows an element twice, the value of the root is computed from where the elements of v lie in it; all
// views are read from there again.
func (tr *Trace) assign(x *traced, v graph.Value) error {
	if x.behindOverlap() {
		return tr.assignByPosition(x, v)
	}
	var chain []*traced // from x to the root
	var values []graph.Value
	for ; ; x = x.base {
		chain, values = append(chain, x), append(values, v)
		if x.base == nil {
			break
		}
		before, err := tr.read(x.base)
		if err != nil {
			return err
		}
		if v, err = tr.inverse(x, v, before); err != nil {
			return err
		}
	}
	now := x.root.changes.Add(1)
	for i, x := range chain {
		x.value, x.stamp = values[i], now
	}
	if s := x.root.source; s != nil {
		x.trace.wrote(s)
	}
	return nil
}

// behindOverlap reports whether x is a view of a view that shows an element twice. One that does so itself is not written into.
func (x *traced) behindOverlap() bool {
	for x = x.base; x != nil; x = x.base {
		if x.overlaps {
			return true
		}
	}
	return false
}

// assignByPosition is assign by the positions that the elements of x have in the root: the same views of 0, 1, 2, ...; mu is held.
func (tr *Trace) assignByPosition(x *traced, v graph.Value) error {
	var links []*traced
	root := x
	for ; root.base != nil; root = root.base {
		links = append(links, root)
	}
	c := op.Calls{Calculator: tr.builder.Calculator()}
	places := graph.Value(c.Places(op.Var(root.value)))
	if c.Err != nil {
		return c.Err
	}
	for i := len(links) - 1; i >= 0; i-- {
		var err error
		if places, err = tr.look(links[i].row, links[i].attrs, places); err != nil {
			return err
		}
	}
	root.value = graph.Value(c.PutAt(op.Var(root.value), op.Var(v), op.Var(places)))
	if c.Err != nil {
		return c.Err
	}
	root.stamp = root.root.changes.Add(1)
	if s := root.root.source; s != nil {
		tr.wrote(s)
	}
	return nil
}

// inverse is the value of what x is a view of, after a write of v into x; mu is held. Outputs that show an element twice are
// refused before, as they are when calls are run (writable).
func (tr *Trace) inverse(x *traced, v, before graph.Value) (graph.Value, error) {
	c := op.Calls{Calculator: tr.builder.Calculator()}
	whole := x.row.Alias.Write(&c, x.attrs, op.Var(v), op.Var(before))
	return graph.Value(whole), c.Err
}
