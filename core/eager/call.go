// Package eager runs calls of operators on tensors, one at a time.
//
// A call finds the device of its operands (call.go), asks whether it is recorded or traced, and has package runtime legalize and launch
// it. The usual case, an elementwise operator on tensors of one dtype and shape, takes a shorter way (fast.go). A [Caller] is a runtime
// whose calls are made in a mode. What is recorded, and what a write may do to a tensor with a history, is decided in record.go;
// tensors that are on the CPU because of their dtype meet those of an mps device in displaced.go. A [Calculator] runs the calls of a
// rule, of a gradient for example.
//
// The invariant: on an error a call has made and written nothing, and a call that is recorded has been asked about before it runs.
//
// The package computes nothing, walks no tape and knows programs and traces only by the interfaces of package runtime.
package eager

import (
	"errors"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/profile"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Call runs an operator and returns its results, which the caller frees. at has the attributes in the row's
// order, with Kind None for a default; where is the device of the results when no operand is a tensor (nil:
// the CPU); on is the stream to use on its device (nil: the default one). The results may not be computed
// yet when Call returns; reading them waits. On an error nothing has been made and nothing was run.
func Call(rt *runtime.Runtime, row *op.Row, in []runtime.Operand, at op.Attrs, where *runtime.Context, on *runtime.Stream) ([]*runtime.Tensor, error) {
	return callAs(rt, row, in, at, where, on, 0)
}

func callAs(rt *runtime.Runtime, row *op.Row, in []runtime.Operand, at op.Attrs, where *runtime.Context, on *runtime.Stream, mode runtime.Mode) ([]*runtime.Tensor, error) {
	if profile.On() && !mode.Has(runtime.Profiled) {
		start := profile.Now()
		made, err := callAs(rt, row, in, at, where, on, mode|runtime.Profiled)
		recordCall(row, in, made, err, on, start)
		return made, err
	}
	if err := row.Fill(at); err != nil {
		return nil, err
	}
	c, err := locate(rt, row, in, where, on)
	if rt.Displaces() && (err != nil || apart(in, c)) {
		if made, ok, err := callGathered(rt, row, in, at, on, mode); ok {
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
		if on.Tracer.Folds(row, in, c) {
			made, err := callAs(rt, row, in, at, nil, nil, mode)
			for _, t := range made {
				t.Store.MadeIn = on.Tracer.Mark()
			}
			return made, err
		}
		made, err := on.Tracer.Call(row, in, at, c)
		if err != nil {
			return nil, err
		}
		on.Tracer.RecordDetached(in, recording)
		if !recording {
			return made, nil
		}
		return record(rt, row, in, at, made)
	}
	made, err := compute(rt, row, in, at, c, on, mode)
	switch {
	case err == nil && recording:
		return record(rt, row, in, at, made)
	case errors.Is(err, runtime.ErrLowered):
		return callAs(rt, row, in, at, where, on, mode)
	}
	return made, err
}

// compute is callAs from where the device is known. It does not record.
//
// The functions here that defer are short: one with many returns keeps a list of what it defers, which takes 30 ns.
func compute(rt *runtime.Runtime, row *op.Row, in []runtime.Operand, at op.Attrs, c *runtime.Context, on *runtime.Stream, mode runtime.Mode) ([]*runtime.Tensor, error) {
	e := rt.NewEagerCall(row, c.StreamFor(on), mode.Has(runtime.NonBlocking))
	defer e.Recycle()
	if err := e.AddOperands(in); err != nil {
		return nil, err
	}
	r, err := e.RecipeOf(at)
	if err == nil && row.Counted {
		r, err = countRows(e, r, in, c, on, mode)
	}
	if err == nil {
		err = e.Run(r)
	}
	if err != nil {
		return nil, err
	}
	made, err := e.AdoptResults(in, r.Out)
	if err == nil && rt.Displaces() {
		inheritDisplacement(in, made)
	}
	return made, err
}

// CallInto runs an operator with one result and writes it into out: cast to out's dtype, and for assign
// broadcast to its shape. out may share memory with the inputs: the operator reads what they were before the
// call. On an error out is unchanged.
func CallInto(rt *runtime.Runtime, row *op.Row, in []runtime.Operand, at op.Attrs, out *runtime.Tensor, on *runtime.Stream) error {
	return callIntoAs(rt, row, in, at, out, on, 0)
}

func callIntoAs(rt *runtime.Runtime, row *op.Row, in []runtime.Operand, at op.Attrs, out *runtime.Tensor, on *runtime.Stream, mode runtime.Mode) error {
	if profile.On() && !mode.Has(runtime.Profiled) {
		start := profile.Now()
		err := callIntoAs(rt, row, in, at, out, on, mode|runtime.Profiled)
		recordCall(row, in, []*runtime.Tensor{out}, err, on, start)
		return err
	}
	if err := row.Fill(at); err != nil {
		return err
	}
	c, err := locate(rt, row, in, out.Store.Context, on)
	if rt.Displaces() && (err != nil || c != out.Store.Context || apart(in, c)) {
		if ok, err := callIntoGathered(rt, row, in, at, out, on, mode); ok {
			return err
		}
	}
	if err != nil {
		return err
	}
	if c != out.Store.Context {
		return status.Errorf(status.Invalid, "[%s] the inputs are on %s and the output on %s; want one place", row.Name, c.Place(), out.Store.Context.Place())
	}
	if err := runtime.Writable(row.Name, &out.View); err != nil {
		return err
	}
	if err := untraced(row.Name, []runtime.Operand{{Tensor: out}}, on); err != nil {
		return err
	}
	if on.Traces() && on.Tracer.FoldsInto(row, in, c, out) {
		return callIntoAs(rt, row, in, at, out, nil, mode)
	}
	change, err := Changing(rt, row, in, at, out, mode)
	if err != nil {
		return err
	}
	err = write(rt, row, in, at, c, out, &change, on, mode)
	if errors.Is(err, runtime.ErrLowered) {
		return callIntoAs(rt, row, in, at, out, on, mode)
	}
	return err
}

// write is callIntoAs from where the change is known, which it records or drops.
func write(rt *runtime.Runtime, row *op.Row, in []runtime.Operand, at op.Attrs, c *runtime.Context, out *runtime.Tensor, change *runtime.Change, on *runtime.Stream, mode runtime.Mode) error {
	defer change.Drop()
	if on.Traces() {
		if err := on.Tracer.AskOrigin(change, out); err != nil {
			return err
		}
		err := on.Tracer.Write(row, in, at, c, out)
		if err == nil {
			on.Tracer.Done(change, out)
		}
		return err
	}
	e := rt.NewEagerCall(row, c.StreamFor(on), mode.Has(runtime.NonBlocking))
	defer e.Recycle()
	if err := e.AddOperands(in); err != nil {
		return err
	}
	e.AddOutput(&out.View)
	r, err := e.RecipeOf(at)
	if err == nil {
		err = e.RunInto(r)
	}
	if err == nil {
		change.Done(out)
	}
	return err
}

// locate is the device of the tensors; where when there are none. A 0-d CPU tensor may be combined with
// tensors of any device, as in Paddle and PyTorch.
func locate(rt *runtime.Runtime, row *op.Row, in []runtime.Operand, where *runtime.Context, on *runtime.Stream) (*runtime.Context, error) {
	if err := untraced(row.Name, in, on); err != nil {
		return nil, err
	}
	var c *runtime.Context
	if on.Traces() && displacement(in) != 0 {
		c = on.Tracer.Context() // which reads them there
	}
	for i := range in {
		t := in[i].Tensor
		switch {
		case t == nil || t.Store.Context == c:
		case t.Store.Displacement != 0 && on.Traces():
		case c == nil || c == rt.CPU && allScalars(in[:i]):
			c = t.Store.Context
		case t.Store.Context == rt.CPU && t.Rank == 0:
		default:
			return nil, status.Errorf(status.Invalid, "[%s] got tensors on %s and on %s; want one place (move one with .to() or .cpu())", row.Name, c.Place(), t.Store.Context.Place())
		}
	}
	if c == nil {
		c = where
	}
	if c == nil {
		c = rt.CPU
	}
	return c, nil
}

// allScalars reports whether all tensors among the operands are 0-d.
func allScalars(in []runtime.Operand) bool {
	for i := range in {
		if t := in[i].Tensor; t != nil && t.Rank > 0 {
			return false
		}
	}
	return true
}

// untraced refuses operands that are traced, for calls on other streams than that of their trace.
func untraced(who string, in []runtime.Operand, on *runtime.Stream) error {
	for i := range in {
		if t := in[i].Tensor; t != nil && t.Store.Traced != nil && (on == nil || on.Tracer != t.Store.Traced.Tracer()) {
			return status.Errorf(status.Traced, "[%s] operand %d is a tensor of a function that was traced, and this call is outside of it; want what the function returns", who, i)
		}
	}
	return nil
}
