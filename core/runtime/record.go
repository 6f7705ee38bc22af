package runtime

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// What is recorded, and when: calls of operators, calls that write into a tensor, moves between devices, basic indexing, and
// functions of the caller. Each makes a node (history.go) from its operands, and names it as the history of its results.

// watches reports whether a call with this operand may be recorded or traced, for paths that do neither.
func (m Mode) watches(t *Tensor) bool {
	return t != nil && (m&Recording != 0 && t.latest() != nil || t.store.traced != nil)
}

// records reports whether a call is to be recorded, and refuses one whose operands are not what they were.
//
// The answer is made before the call runs, and what is refused is refused then: nothing has been computed or written.
func records(row *op.Row, in []Operand, mode Mode) (bool, error) {
	if !mode.has(Recording) {
		return false, nil
	}
	asked := false
	for i := range in {
		h := in[i].Tensor.asks()
		if h == nil {
			continue
		}
		asked = true
		if h.opaque && h.version != in[i].Tensor.store.changes() {
			return false, status.Errorf(status.Invalid, "[%s] operand %d is what a PyLayer returned, a view of memory that was changed in place since; want the view made anew", row.Name, i)
		}
	}
	if asked && row.Grad.Compact && !in[0].Tensor.IsContiguous() && !in[0].Tensor.readsOrigin() {
		return false, status.Errorf(status.Unsupported, "[%s] the gradient of a tensor that is not contiguous does not exist yet; want x.contiguous()", row.Name)
	}
	return asked && !row.Grad.Constant, nil
}

// record makes the node of a call, which its results name. Results of integers and bools ask for none. The results are
// freed where the row has no gradient.
//
// Everything that a node keeps is a view with a reference to its storage. Nothing is copied: a value that is overwritten
// before the backward pass is found by its version.
func (rt *Runtime) record(row *op.Row, in []Operand, at op.Attrs, out []*Tensor) ([]*Tensor, error) {
	if !slices.ContainsFunc(out, func(t *Tensor) bool { return differentiable(t.dtype) }) {
		return out, nil
	}
	if row.Grad.Rule == nil {
		for _, t := range out {
			rt.Free(t.handle)
		}
		return nil, withoutGradient(row.Name)
	}
	if row.Grad.Compact && !in[0].Tensor.IsContiguous() {
		out[0].recordPart()
		return out, nil
	}
	n := newNode(row, slices.Clone(at))
	n.keepOperands(in)
	if out[0].Traced() {
		n.readIn(out[0].store.ctx, in)
	}
	for i, t := range out {
		n.keepResult(i, t)
	}
	for i, t := range out {
		if differentiable(t.dtype) {
			t.inherit(&history{node: n, index: i})
		}
	}
	return out, nil
}

// differentiable reports whether tensors of a dtype have gradients. That of a complex number has the derivative with respect
// to its real part as its real part, and that to its imaginary part as its imaginary part.
func differentiable(d dtype.DType) bool { return d.IsFloat() || d.IsComplex() }

func withoutGradient(name string) error {
	return status.Errorf(status.Unsupported, "[%s] has no gradient yet; want operands with stop_gradient=True, or no_grad()", name)
}

// share notes whether a result of a function of the caller shares memory with an operand.
func (h *history) share(t *Tensor, in []Operand) {
	for i := range in {
		if x := in[i].Tensor; x != nil && x.store.sharesWith(t.store) {
			h.opaque, h.version = true, t.store.changes()
		}
	}
}

// keepOperands keeps what the rule reads of the operands, and their histories. Of x * c with a constant c, that is c alone.
//
// Operands of integers and bools have no history, even where they were computed from a tensor that asks: a cast ends it.
func (n *node) keepOperands(in []Operand) {
	n.in = make([]kept, len(in))
	for i := range in {
		k, t := &n.in[i], in[i].Tensor
		if t == nil {
			k.number = in[i].Value
			k.DType = k.number.DType()
			continue
		}
		k.of(t, n.reads.Operand(i))
		k.from = t.holdAsked()
	}
	if n.row != nil && n.row.Grad.Crossed && len(in) == 2 {
		for i := range n.in {
			if n.in[1-i].from == nil {
				n.in[i].forgetValues()
			}
		}
	}
}

// forgetValues releases what is kept of the values.
func (k *kept) forgetValues() {
	if st := k.view.store; st != nil {
		k.view.store = nil
		st.release()
	}
}

// keepResult keeps result i, as far as the rule reads it.
func (n *node) keepResult(i int, t *Tensor) {
	var k kept
	k.of(t, n.reads.Result(i))
	n.out = append(n.out, k)
}

// of describes a tensor, and keeps its memory if values are read.
func (k *kept) of(t *Tensor, values bool) {
	k.Type, k.ctx, k.displaced = op.Type{DType: t.dtype, Shape: t.Shape}, t.store.ctx, t.store.displaced
	if values {
		k.view, k.version = t.view, t.store.changes()
		t.store.retain()
	}
}

// change is a call that writes into a tensor, from before it runs until it has.
type change struct {
	node      *node // nil: not recorded
	recording bool
	constant  bool // a part of an origin whose gradient matters gets elements that ask for none
	stale     bool // the tensor has a history and asks for no gradient: it ends, because it is that of other contents
}

// overwritten is the node of a tensor whose new contents do not depend on the old ones: these get the gradient 0. The tensor
// goes on to ask for gradients, so that a program in which it happens to be constant runs as before, as in Paddle.
func (rt *Runtime) overwritten(out *Tensor) *node {
	n := newFunction(func(b *backward, n *node, of []*Tensor) ([]*Tensor, error) {
		zeros, err := b.filled(0, n.in[0].DType, &n.in[0].Shape, n.in[0].ctx)
		return []*Tensor{zeros}, err
	})
	n.keepOperands([]Operand{{Tensor: out}})
	return n
}

// drop ends a change that may not have run.
func (c *change) drop() {
	if c.node != nil {
		c.node.release()
	}
}

// Apply makes results those of a function of the caller: gradients go through its Backward. The operands are those that
// the function was computed from. Where none of them asks for gradients nothing is recorded, and the function closed.
//
// Results of integers and bools are left alone. A result that is an operand has to be another handle, or the operand would
// become its own result.
func (rt *Runtime) Apply(f *Function, in, out []*Tensor) {
	operands, asked := make([]Operand, len(in)), false
	for i, t := range in {
		operands[i].Tensor = t
		asked = asked || t.asks() != nil
	}
	if !asked {
		if f.Close != nil {
			f.Close()
		}
		return
	}
	n := newNode(nil, nil)
	n.custom = f
	f.refs.Add(1)
	n.refs.Add(1)
	defer n.release()
	n.keepOperands(operands)
	for i, t := range out {
		n.keepResult(i, t)
	}
	for i, t := range out {
		if differentiable(t.dtype) {
			h := &history{node: n, index: i}
			h.share(t, operands)
			t.inherit(h)
		}
	}
}

// To is Tensor.To; in mode Recording the copy has a gradient if the tensor asks for one.
//
// A move is a node of its own kind and no row: its gradient is the move back.
func (c Caller) To(t *Tensor, to *Context, copy bool, on *Stream) (*Tensor, error) {
	if t.store.traced != nil {
		return c.toTraced(t, to, copy)
	}
	if to == t.store.ctx && c.mode.watches(t) {
		if !copy {
			return t.Same()
		}
		made, err := c.Call(assign, []Operand{{Tensor: t}}, nil, nil, on)
		if err != nil {
			return nil, err
		}
		return made[0], nil
	}
	u, err := t.To(to, copy, on)
	if err != nil || !c.mode.watches(t) || t.asks() == nil {
		return u, err
	}
	n := newNode(nil, nil)
	n.moved = true
	n.keepOperands([]Operand{{Tensor: t}})
	n.keepResult(0, u)
	u.inherit(&history{node: n})
	return u, nil
}

// Index is Tensor.Index; in mode Recording the view has a gradient if the tensor asks for one.
//
// Basic indexing is no operator of the table, because it takes a shorter way. It is recorded as the slice that it amounts to;
// axes of one element that come or go do not matter to the gradient.
func (c Caller) Index(t *Tensor, items []IndexItem, on *Stream) (*Tensor, error) {
	if t.store.traced != nil || on.Traces() {
		return c.indexTraced(t, items, on)
	}
	if !c.mode.watches(t) {
		return t.Index(items)
	}
	in := []Operand{{Tensor: t}}
	asked, err := records(slicing, in, c.mode)
	if err != nil {
		return nil, err
	}
	v, err := t.Index(items)
	if err != nil || !asked {
		return v, err
	}
	_, err = c.record(slicing, in, sliceOf(t, items), []*Tensor{v})
	return v, err
}

// slicing is the operator that basic indexing is recorded as; its gradient takes any shape of the same elements.
var slicing = op.ByID(op.IDSlice)

// sliceOf is an index expression as attributes of slice. The expression is valid for the tensor.
//
// Integers become slices of one element. New axes are left out.
func sliceOf(t *Tensor, items []IndexItem) op.Attrs {
	var axes, starts, ends, steps []int64
	left, _ := ellipsisAxes(items, t.Rank)
	axis := int64(0)
	for i := range items {
		it := &items[i]
		var start, end, step int64
		switch it.Kind {
		case IndexNewAxis:
			continue
		case IndexEllipsis:
			axis += int64(left)
			continue
		case IndexInt:
			if start = it.Start; start < 0 {
				start += t.Dims[axis]
			}
			end, step = start+1, 1
		default:
			start, end, step = it.bounds(t.Dims[axis])
		}
		axes, starts = append(axes, axis), append(starts, start)
		ends, steps = append(ends, end), append(steps, step)
		axis++
	}
	list := func(v []int64) op.Value { return op.Value{Kind: op.Ints, Ints: v} }
	return op.Attrs{op.SliceAxes: list(axes), op.SliceStarts: list(starts), op.SliceEnds: list(ends), op.SliceSteps: list(steps)}
}
