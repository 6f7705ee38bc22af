package eager

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Calculator runs the calls of rules at once. It lives for one node.
//
// A rule may call any operator of the table on any device: what the device lacks goes the way of all calls.
type Calculator struct {
	Runtime *runtime.Runtime
	Context *runtime.Context // of results, where no operand is a tensor
	Stream  *runtime.Stream
	Mode    runtime.Mode
	vars    []Variable
}

// Variable is a value of the calculator: a number, a tensor with memory, or the description of one that was not kept.
// Tensors that it has made have handles; those of kept values have none, because they are not visible outside.
type Variable struct {
	runtime.Operand
	op.Type      // of a tensor that was not kept: Operand has none
	owned   bool // the calculator frees the tensor
	held    bool // the tensor has no handle, but a reference to a storage
	number  bool
}

// Push adds a value and returns its number; that of a tensor has the tensor's type.
func (c *Calculator) Push(v Variable) op.Var {
	if v.Tensor != nil {
		v.Type = op.Type{DType: v.Tensor.DType, Shape: v.Tensor.Shape}
	}
	c.vars = append(c.vars, v)
	return op.Var(len(c.vars) - 1)
}

// Call runs a row.
func (c *Calculator) Call(row *op.Row, in []op.Var, at op.Attrs) ([]op.Var, error) {
	operands := make([]runtime.Operand, len(in))
	for i, v := range in {
		x := &c.vars[v]
		if x.Tensor == nil && !x.number {
			return nil, status.Errorf(status.Internal, "[%s] a gradient reads a value that its row does not declare", row.Name)
		}
		operands[i] = x.Operand
	}
	made, special, err := c.OnComplex(row, operands, at)
	if !special {
		made, err = callAs(c.Runtime, row, operands, at, c.Context, c.Stream, c.Mode)
	}
	if err != nil {
		return nil, err
	}
	out := make([]op.Var, len(made))
	for i, t := range made {
		out[i] = c.Push(Variable{Operand: runtime.Operand{Tensor: t}, owned: true})
	}
	return out, nil
}

// Number is a Python scalar. It takes the dtype of the tensor beside it, so that rules are written once for all dtypes;
// beside none it would be float32.
func (c *Calculator) Number(v op.Value) op.Var {
	return c.Push(Variable{Operand: runtime.Operand{Value: v}, Type: op.Type{DType: v.DType()}, number: true})
}

// IsNumber reports whether a value is one.
func (c *Calculator) IsNumber(v op.Var) bool { return c.vars[v].number }

// Absent reports whether an operand was left out.
func (c *Calculator) Absent(v op.Var) bool { return c.vars[v].number && !c.vars[v].Value.Set() }

// TypeOf is the dtype and the shape of a value.
func (c *Calculator) TypeOf(v op.Var) op.Type { return c.vars[v].Type }

// Take is a tensor of the caller's for a value.
//
// What the rule has made is handed over; what it was given, such as dy itself, gets another handle.
func (c *Calculator) Take(v op.Var) (*runtime.Tensor, error) {
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

// Free frees what the calculator has made and was not taken.
//
// Most of what a rule computes on the way goes here.
func (c *Calculator) Free() {
	for i := range c.vars {
		switch x := &c.vars[i]; {
		case x.owned:
			c.Runtime.Free(x.Tensor.Handle())
		case x.held:
			x.Tensor.ForgetHistory()
			x.Tensor.Store.Release()
		}
	}
}

// Unpack makes values of what a node has kept.
//
// Numbers come back as numbers. A value that the rule did not declare comes back as its type alone, and using it is an error
// of the library that a test of each rule would find.
func (c *Calculator) Unpack(n *runtime.Node, g *op.Gradient) error {
	if err := n.CheckUnspent(); err != nil {
		return err
	}
	n.Mu.Lock()
	defer n.Mu.Unlock()
	for i := range n.In {
		v, err := c.value(n, &n.In[i], i, n.In[i].From, g.Wants)
		if err != nil {
			return err
		}
		g.In = append(g.In, v)
	}
	for i := range n.Out {
		var from *runtime.History
		if runtime.Differentiable(n.Out[i].DType) {
			from = &runtime.History{Node: n, Index: i}
		}
		v, err := c.value(n, &n.Out[i], -1-i, from, g.Wants)
		if err != nil {
			return err
		}
		g.Out = append(g.Out, v)
	}
	return nil
}

// value is one kept value: operand i, or result -1-i. It asks for gradients, where they will be recorded.
func (c *Calculator) value(n *runtime.Node, k *runtime.NodeValue, i int, from *runtime.History, wants []bool) (op.Var, error) {
	if k.Context == nil {
		return c.Number(k.Number), nil
	}
	if k.View.Store == nil {
		return c.Push(Variable{Type: k.Type}), nil
	}
	if now := k.View.Store.Changes(); now != k.Version && (i < 0 || n.Row.Pullback == nil || pullbackReads(n, wants, i)) {
		what := "operand " + string(rune('0'+min(i, 9)))
		if i < 0 {
			what = "result"
		}
		return op.NoVar, status.Errorf(status.Invalid, "[%s] its %s, which the gradient reads, was changed in place after the call (version %d; want %d); want a copy to change", n.Row.Shown(), what, now, k.Version)
	}
	t := &runtime.Tensor{View: k.View}
	t.Store.Retain()
	if c.Mode.Has(runtime.Recording) {
		t.InheritHistory(from)
	}
	return c.Push(Variable{Operand: runtime.Operand{Tensor: t}, held: true}), nil
}

// pullbackReads reports whether the gradients of a composite that are wanted depend on the elements of operand i, which have changed.
func pullbackReads(n *runtime.Node, wants []bool, i int) bool {
	typeOf := func(k *runtime.NodeValue) op.Type {
		if k.View.Store == nil {
			return k.Type
		}
		return op.Type{DType: k.View.DType, Shape: k.View.Shape}
	}
	in, out := make([]op.Arg, len(n.In)), make([]op.Type, len(n.Out))
	for j := range in {
		if k := &n.In[j]; k.Context == nil {
			in[j] = op.Arg{Type: op.Type{DType: k.Number.DType()}, Scalar: true, Absent: !k.Number.Set(), Value: &k.Number}
		} else {
			in[j] = op.Arg{Type: typeOf(k)}
		}
	}
	for j := range out {
		out[j] = typeOf(&n.Out[j])
	}
	return op.PullbackReads(n.Row, n.Attrs, in, out, wants, i)
}

// RunsWhole reports whether a call of a composite is one program: not in a program that is being traced, whose passes shall see
// the calls.
func (c *Calculator) RunsWhole() bool { return !c.Stream.Traces() }
