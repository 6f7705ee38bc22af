package runtime

import (
	"slices"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
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
}

// root is what tensors that would share memory have in common.
type root struct {
	bytes   int64
	changes atomic.Uint32 // writes so far
	source  *source       // where the memory is that of an argument; else nil
}

// newRoot makes memory of its own for a value.
func newRoot(tr *Trace, v graph.Value) *traced {
	t := tr.builder.TypeOf(v)
	return &traced{trace: tr, value: v, root: &root{bytes: t.Shape.Numel() * t.DType.Size()}}
}

// part is a view, whose value is v now.
func (x *traced) part(row *op.Row, at op.Attrs, v graph.Value) *traced {
	return &traced{trace: x.trace, root: x.root, value: v, stamp: x.root.changes.Load(), base: x, row: row, attrs: slices.Clone(at)}
}

// changes is how often the runtime has written to the memory, or would have, since its first contents.
func (st *storage) changes() uint32 {
	if st.traced != nil {
		return st.traced.root.changes.Load()
	}
	return st.version.Load()
}

// sharesWith reports whether two storages are the same memory, or would be.
func (st *storage) sharesWith(other *storage) bool {
	return st == other || st.traced != nil && other.traced != nil && st.traced.root == other.traced.root
}

// read is the value of a traced tensor now; mu is held.
func (tr *Trace) read(x *traced) (graph.Value, error) {
	if x.base == nil || x.stamp == x.root.changes.Load() {
		return x.value, nil
	}
	base, err := tr.read(x.base)
	if err != nil {
		return 0, err
	}
	out, err := tr.builder.Call(x.row, []graph.Value{base}, x.attrs)
	if err != nil {
		return 0, err
	}
	x.value, x.stamp = out[0], x.root.changes.Load()
	return x.value, nil
}

// assign writes a value into a traced tensor, and so into what it is a view of; mu is held.
func (tr *Trace) assign(who string, x *traced, v graph.Value) error {
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
		if v, err = tr.inverse(who, x, v, before); err != nil {
			return err
		}
	}
	now := x.root.changes.Add(1)
	for i, x := range chain {
		x.value, x.stamp = values[i], now
	}
	if s := x.root.source; s != nil {
		s.value, s.changed = v, true
	}
	return nil
}

// inverse is the value of what x is a view of, after a write of v into x; mu is held.
func (tr *Trace) inverse(who string, x *traced, v, before graph.Value) (graph.Value, error) {
	b, whole := tr.builder, tr.builder.TypeOf(before)
	call := func(id op.ID, at op.Attrs, in ...graph.Value) (graph.Value, error) {
		out, err := b.Call(op.ByID(id), in, at)
		if err != nil {
			return 0, err
		}
		return out[0], nil
	}
	dims := op.Value{Kind: op.Ints, Ints: slices.Clone(whole.Shape.Slice())}
	switch x.row.ID {
	case op.IDReshape, op.IDSqueeze, op.IDUnsqueeze:
		return call(op.IDReshape, op.Attrs{op.ReshapeShape: dims}, v)
	case op.IDTranspose:
		perm := x.attrs[op.TransposePerm].Ints
		back := make([]int64, len(perm))
		for i, p := range perm {
			back[(p+int64(len(perm)))%int64(len(perm))] = int64(i)
		}
		return call(op.IDTranspose, op.Attrs{op.TransposePerm: {Kind: op.Ints, Ints: back}}, v)
	case op.IDSlice:
		part := b.TypeOf(v)
		yes := op.Attrs{
			op.FullShape: {Kind: op.Ints, Ints: slices.Clone(part.Shape.Slice())}, op.FullFillValue: {Kind: op.Bool, I: 1},
			op.FullDtype: {Kind: op.DType, I: int64(dtype.Bool)},
		}
		at := op.Attrs{
			op.SpreadShape: dims, op.SpreadAxes: x.attrs[op.SliceAxes], op.SpreadStarts: x.attrs[op.SliceStarts],
			op.SpreadEnds: x.attrs[op.SliceEnds], op.SpreadSteps: x.attrs[op.SliceSteps],
		}
		ones, err := call(op.IDFull, yes)
		if err != nil {
			return 0, err
		}
		written, err := call(op.IDSpread, at, ones)
		if err != nil {
			return 0, err
		}
		spread, err := call(op.IDSpread, at, v)
		if err != nil {
			return 0, err
		}
		return call(op.IDWhere, nil, written, spread, before)
	}
	return 0, status.Errorf(status.Unsupported, "[%s] the output is a view made by %s, which a traced function cannot write into; want a copy", who, x.row.Name)
}
