package runtime

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// calculator runs the calls of rules at once. It lives for one node.
//
// A rule may call any operator of the table on any device: what the device lacks goes the way of all calls.
type calculator struct {
	rt   *Runtime
	ctx  *Context // of results, where no operand is a tensor
	on   *Stream
	mode Mode
	vars []operandVar
}

// operandVar is a value of the calculator: a number, a tensor with memory, or the description of one that was not kept.
// Tensors that it has made have handles; those of kept values have none, because they are not visible outside.
type operandVar struct {
	Operand
	op.Type      // of a tensor that was not kept: Operand has none
	owned   bool // the calculator frees the tensor
	held    bool // the tensor has no handle, but a reference to a storage
	number  bool
}

// push adds a value and returns its number; that of a tensor has the tensor's type.
func (c *calculator) push(v operandVar) op.Var {
	if v.Tensor != nil {
		v.Type = op.Type{DType: v.Tensor.dtype, Shape: v.Tensor.Shape}
	}
	c.vars = append(c.vars, v)
	return op.Var(len(c.vars) - 1)
}

// Call runs a row.
func (c *calculator) Call(row *op.Row, in []op.Var, at op.Attrs) ([]op.Var, error) {
	operands := make([]Operand, len(in))
	for i, v := range in {
		x := &c.vars[v]
		if x.Tensor == nil && !x.number {
			return nil, status.Errorf(status.Internal, "[%s] a gradient reads a value that its row does not declare", row.Name)
		}
		operands[i] = x.Operand
	}
	made, special, err := c.onComplex(row, operands, at)
	if !special {
		made, err = c.rt.call(row, operands, at, c.ctx, c.on, c.mode)
	}
	if err != nil {
		return nil, err
	}
	out := make([]op.Var, len(made))
	for i, t := range made {
		out[i] = c.push(operandVar{Operand: Operand{Tensor: t}, owned: true})
	}
	return out, nil
}

// Number is a Python scalar. It takes the dtype of the tensor beside it, so that rules are written once for all dtypes;
// beside none it would be float32.
func (c *calculator) Number(v op.Value) op.Var {
	return c.push(operandVar{Operand: Operand{Value: v}, Type: op.Type{DType: v.DType()}, number: true})
}

// IsNumber reports whether a value is one.
func (c *calculator) IsNumber(v op.Var) bool { return c.vars[v].number }

// Absent reports whether an operand was left out.
func (c *calculator) Absent(v op.Var) bool { return c.vars[v].number && !c.vars[v].Value.Set() }

// TypeOf is the dtype and the shape of a value.
func (c *calculator) TypeOf(v op.Var) op.Type { return c.vars[v].Type }

// take is a tensor of the caller's for a value.
//
// What the rule has made is handed over; what it was given, such as dy itself, gets another handle.
func (c *calculator) take(v op.Var) (*Tensor, error) {
	x := &c.vars[v]
	if x.number || x.Tensor == nil {
		return nil, status.Errorf(status.Internal, "[backward] a gradient is no tensor")
	}
	if x.owned {
		x.owned = false
		return x.Tensor, nil
	}
	return x.Tensor.Same()
}

// free frees what the calculator has made and was not taken.
//
// Most of what a rule computes on the way goes here.
func (c *calculator) free() {
	for i := range c.vars {
		switch x := &c.vars[i]; {
		case x.owned:
			c.rt.Free(x.Tensor.handle)
		case x.held:
			x.Tensor.forget()
			x.Tensor.store.release()
		}
	}
}

// unpack makes values of what a node has kept.
//
// Numbers come back as numbers. A value that the rule did not declare comes back as its type alone, and using it is an error
// of the library that a test of each rule would find.
func (c *calculator) unpack(n *node, g *op.Gradient) error {
	if err := n.whole(); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range n.in {
		v, err := c.value(n, &n.in[i], i, n.in[i].from)
		if err != nil {
			return err
		}
		g.In = append(g.In, v)
	}
	for i := range n.out {
		var from *history
		if differentiable(n.out[i].DType) {
			from = &history{node: n, index: i}
		}
		v, err := c.value(n, &n.out[i], -1-i, from)
		if err != nil {
			return err
		}
		g.Out = append(g.Out, v)
	}
	return nil
}

// value is one kept value: operand i, or result -1-i. It asks for gradients, where they will be recorded.
func (c *calculator) value(n *node, k *kept, i int, from *history) (op.Var, error) {
	if k.ctx == nil {
		return c.Number(k.number), nil
	}
	if k.view.store == nil {
		return c.push(operandVar{Type: k.Type}), nil
	}
	if now := k.view.store.changes(); now != k.version {
		what := "operand " + string(rune('0'+min(i, 9)))
		if i < 0 {
			what = "result"
		}
		return op.NoVar, status.Errorf(status.Invalid, "[%s] its %s, which the gradient reads, was changed in place after the call (version %d; want %d); want a copy to change", n.row.Name, what, now, k.version)
	}
	t := &Tensor{view: k.view}
	t.store.retain()
	if c.mode.has(Recording) {
		t.inherit(from)
	}
	return c.push(operandVar{Operand: Operand{Tensor: t}, held: true}), nil
}

// RunsWhole reports whether a call of a composite is one program: not in a program that is being traced, whose passes shall see
// the calls.
func (c *calculator) RunsWhole() bool { return !c.on.Traces() }
