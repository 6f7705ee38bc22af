package runtime

import (
	"errors"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/profile"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Call runs an operator and returns its results, which the caller frees. at has the attributes in the row's
// order, with Kind None for a default; where is the device of the results when no operand is a tensor (nil:
// the CPU); on is the stream to use on its device (nil: the default one). The results may not be computed
// yet when Call returns; reading them waits. On an error nothing has been made and nothing was run.
func (rt *Runtime) Call(row *op.Row, in []Operand, at op.Attrs, where *Context, on *Stream) ([]*Tensor, error) {
	return rt.call(row, in, at, where, on, 0)
}

func (rt *Runtime) call(row *op.Row, in []Operand, at op.Attrs, where *Context, on *Stream, mode Mode) ([]*Tensor, error) {
	if profile.On() && !mode.has(profiled) {
		start := profile.Now()
		made, err := rt.call(row, in, at, where, on, mode|profiled)
		recordCall(row, in, made, err, on, start)
		return made, err
	}
	if err := row.Fill(at); err != nil {
		return nil, err
	}
	c, err := rt.locate(row, in, where, on)
	if rt.Displaces() && (err != nil || apart(in, c)) {
		if made, ok, err := rt.callGathered(row, in, at, on, mode); ok {
			return made, err
		}
	}
	if err != nil {
		return nil, err
	}
	recording, err := records(row, in, mode)
	if err != nil {
		return nil, err
	}
	if on.Traces() {
		if on.trace.Folds(row, in, c) {
			made, err := rt.call(row, in, at, nil, nil, mode)
			for _, t := range made {
				t.store.madeIn = on.trace.Mark()
			}
			return made, err
		}
		made, err := on.trace.Call(row, in, at, c)
		if err != nil {
			return nil, err
		}
		on.trace.RecordDetached(in, recording)
		if !recording {
			return made, nil
		}
		return rt.record(row, in, at, made)
	}
	made, err := rt.compute(row, in, at, c, on, mode)
	switch {
	case err == nil && recording:
		return rt.record(row, in, at, made)
	case errors.Is(err, errLowered):
		return rt.call(row, in, at, where, on, mode)
	}
	return made, err
}

// compute is call from where the device is known. It does not record.
//
// The functions here that defer are short: one with many returns keeps a list of what it defers, which takes 30 ns.
func (rt *Runtime) compute(row *op.Row, in []Operand, at op.Attrs, c *Context, on *Stream, mode Mode) ([]*Tensor, error) {
	e := rt.newEager(row, c.pick(on), mode.has(NonBlocking))
	defer e.recycle()
	if err := e.addOperands(in); err != nil {
		return nil, err
	}
	r, err := e.recipeOf(at)
	if err == nil && row.Counted {
		r, err = e.countRows(r, in, c, on, mode)
	}
	if err == nil {
		err = e.run(r)
	}
	if err != nil {
		return nil, err
	}
	made, err := e.adopt(in, r.out)
	if err == nil && rt.Displaces() {
		inheritDisplacement(in, made)
	}
	return made, err
}

// CallInto runs an operator with one result and writes it into out: cast to out's dtype, and for assign
// broadcast to its shape. out may share memory with the inputs: the operator reads what they were before the
// call. On an error out is unchanged.
func (rt *Runtime) CallInto(row *op.Row, in []Operand, at op.Attrs, out *Tensor, on *Stream) error {
	return rt.callInto(row, in, at, out, on, 0)
}

func (rt *Runtime) callInto(row *op.Row, in []Operand, at op.Attrs, out *Tensor, on *Stream, mode Mode) error {
	if profile.On() && !mode.has(profiled) {
		start := profile.Now()
		err := rt.callInto(row, in, at, out, on, mode|profiled)
		recordCall(row, in, []*Tensor{out}, err, on, start)
		return err
	}
	if err := row.Fill(at); err != nil {
		return err
	}
	c, err := rt.locate(row, in, out.store.ctx, on)
	if rt.Displaces() && (err != nil || c != out.store.ctx || apart(in, c)) {
		if ok, err := rt.callIntoGathered(row, in, at, out, on, mode); ok {
			return err
		}
	}
	if err != nil {
		return err
	}
	if c != out.store.ctx {
		return status.Errorf(status.Invalid, "[%s] the inputs are on %s and the output on %s; want one place", row.Name, c.place, out.store.ctx.place)
	}
	if err := writable(row.Name, &out.view); err != nil {
		return err
	}
	if err := untraced(row.Name, []Operand{{Tensor: out}}, on); err != nil {
		return err
	}
	if on.Traces() && on.trace.FoldsInto(row, in, c, out) {
		return rt.callInto(row, in, at, out, nil, mode)
	}
	change, err := rt.changing(row, in, at, out, mode)
	if err != nil {
		return err
	}
	err = rt.write(row, in, at, c, out, &change, on, mode)
	if errors.Is(err, errLowered) {
		return rt.callInto(row, in, at, out, on, mode)
	}
	return err
}

// write is callInto from where the change is known, which it records or drops.
func (rt *Runtime) write(row *op.Row, in []Operand, at op.Attrs, c *Context, out *Tensor, change *change, on *Stream, mode Mode) error {
	defer change.drop()
	if on.Traces() {
		if err := on.trace.AskOrigin(change, out); err != nil {
			return err
		}
		err := on.trace.Write(row, in, at, c, out)
		if err == nil {
			on.trace.Done(change, out)
		}
		return err
	}
	e := rt.newEager(row, c.pick(on), mode.has(NonBlocking))
	defer e.recycle()
	if err := e.addOperands(in); err != nil {
		return err
	}
	e.addOutput(&out.view)
	r, err := e.recipeOf(at)
	if err == nil {
		err = e.runInto(r)
	}
	if err == nil {
		change.done(out)
	}
	return err
}

// locate is the device of the tensors; where when there are none. A 0-d CPU tensor may be combined with
// tensors of any device, as in Paddle and PyTorch.
func (rt *Runtime) locate(row *op.Row, in []Operand, where *Context, on *Stream) (*Context, error) {
	if err := untraced(row.Name, in, on); err != nil {
		return nil, err
	}
	var c *Context
	if on.Traces() && displacement(in) != 0 {
		c = on.trace.Context() // which reads them there
	}
	for i := range in {
		t := in[i].Tensor
		switch {
		case t == nil || t.store.ctx == c:
		case t.store.displaced != 0 && on.Traces():
		case c == nil || c == rt.cpu && allScalars(in[:i]):
			c = t.store.ctx
		case t.store.ctx == rt.cpu && t.Rank == 0:
		default:
			return nil, status.Errorf(status.Invalid, "[%s] got tensors on %s and on %s; want one place (move one with .to() or .cpu())", row.Name, c.place, t.store.ctx.place)
		}
	}
	if c == nil {
		c = where
	}
	if c == nil {
		c = rt.cpu
	}
	return c, nil
}

// allScalars reports whether all tensors among the operands are 0-d.
func allScalars(in []Operand) bool {
	for i := range in {
		if t := in[i].Tensor; t != nil && t.Rank > 0 {
			return false
		}
	}
	return true
}

// untraced refuses operands that are traced, for calls on other streams than that of their trace.
func untraced(who string, in []Operand, on *Stream) error {
	for i := range in {
		if t := in[i].Tensor; t != nil && t.store.traced != nil && (on == nil || on.trace != t.store.traced.Tracer()) {
			return status.Errorf(status.Traced, "[%s] operand %d is a tensor of a function that was traced, and this call is outside of it; want what the function returns", who, i)
		}
	}
	return nil
}
