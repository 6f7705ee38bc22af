package trace

import (
	"bytes"
	"maps"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// A function is traced for the sizes of its arguments. Two traces of it, for other sizes, make a program for all sizes where
// the function makes the same calls for both; see graph.Unify. That it makes them for a third size too is what its caller
// knows: a condition that both sizes decide alike leaves no trace.

// Unify makes a program of two that were traced of one function, for arguments of other sizes. It takes arguments of
// all sizes where theirs differ, equal ones where they are equal in both, and has what both have: captured tensors and changes. status.Unsupported says what is not the
// same in both. Gradients are those of the calls: see replay.go.
//
// Tensors that each trace has captured anew, such as to_tensor within a function makes them, are the same if their elements
// are.
func Unify(p *execute.Program, q *execute.Program) (*execute.Program, error) {
	if err := like(p, q); err != nil {
		return nil, err
	}
	g, ok := p.Source().(*graph.Graph)
	h, known := q.Source().(*graph.Graph)
	if !ok || !known {
		return nil, differentError("origins")
	}
	shown := p.Results + len(p.ChangedInputs) // without what the gradient reads
	unified, at, err := g.Leading(shown).Unify(h.Leading(shown))
	if err != nil {
		return nil, err
	}
	made := &execute.Program{IsTraced: true, Open: true, Results: p.Results, Given: p.Given, Asked: p.Asked, AskedAt: p.AskedAt, ReplacedAt: p.ReplacedAt, ChangedInputs: p.ChangedInputs, ChangedBy: p.ChangedBy}
	execute.Begin(p.Context(), made, unified)
	made.ReadVersions = append(append([]uint32(nil), p.ReadVersions...), q.ReadVersions...)
	if err = aliases(&made.CapturedInputs, p.CapturedInputs); err == nil {
		err = aliases(&made.ReadTensors, append(append([]*runtime.Tensor(nil), p.ReadTensors...), q.ReadTensors...))
	}
	if err == nil && p.Gradient != nil {
		err = replaysAs(made, p, q, at)
	}
	if err != nil {
		made.Close()
		return nil, err
	}
	return made, nil
}

// aliases appends further handles of tensors to a list, as many as there are free.
func aliases(to *[]*runtime.Tensor, of []*runtime.Tensor) error {
	for _, t := range of {
		same, err := t.Alias()
		if err != nil {
			return err
		}
		*to = append(*to, same)
	}
	return nil
}

// differentError is the error of programs that differ.
func differentError(in string) error {
	return status.Errorf(status.Unsupported, "[program] the two programs have other %s; want two traces of one function that differ in sizes", in)
}

// like refuses a program that differs from this one in more than sizes.
func like(p *execute.Program, q *execute.Program) error {
	switch {
	case !p.IsTraced || !q.IsTraced || p.Open || q.Open || p.Context() != q.Context():
		return differentError("origins or places")
	case p.Given != q.Given || p.Results != q.Results || !slices.Equal(p.ChangedInputs, q.ChangedInputs):
		return differentError("arguments, results or changes")
	case len(p.CapturedInputs) != len(q.CapturedInputs):
		return differentError("captured tensors")
	case !slices.Equal(p.Asked, q.Asked) || !slices.Equal(p.AskedAt, q.AskedAt), !slices.Equal(p.ReplacedAt, q.ReplacedAt):
		return differentError("gradients")
	case (p.Gradient == nil) != (q.Gradient == nil) || p.Gradient != nil && (!slices.Equal(PullbackOf(p).of, PullbackOf(q).of) || !maps.Equal(p.Quiet, q.Quiet)):
		return differentError("gradients")
	}
	for i, t := range p.CapturedInputs {
		same, err := sameCapture(t, q.CapturedInputs[i], slices.Contains(p.ChangedInputs, p.Given+i))
		if err != nil {
			return err
		}
		if !same {
			return otherCapture(p, i, &t.View, &q.CapturedInputs[i].View)
		}
	}
	return nil
}

// otherCapture is the error of a captured tensor that is another one for other sizes. It names the first call that reads it.
func otherCapture(p *execute.Program, i int, t, u *runtime.View) error {
	g, ok := p.Source().(*graph.Graph)
	if !ok {
		return differentError("captured tensors")
	}
	inputs, _ := g.Ends(0)
	who := "program"
	for _, n := range g.Nodes() {
		if slices.Contains(n.In, inputs[p.Given+i]) {
			who = n.Row.Name
			break
		}
	}
	return status.Errorf(status.Unsupported, "[%s] it reads a captured tensor of shape %s for some sizes, and another one of shape %s for others; want one, or operators that make it", who, &t.Shape, &u.Shape)
}

// sameCapture reports whether two captured tensors are one, or if it is not written to, have the same elements.
func sameCapture(t, u *runtime.Tensor, changed bool) (bool, error) {
	if t.Store == u.Store {
		return t.DType == u.DType && t.Offset == u.Offset && t.Shape == u.Shape && slices.Equal(t.Strides[:t.Rank], u.Strides[:u.Rank]), nil
	}
	if changed || t.DType != u.DType || t.Shape != u.Shape || t.Asks() || u.Asks() {
		return false, nil
	}
	x, err := execute.Constant(t)
	if err != nil {
		return false, err
	}
	y, err := execute.Constant(u)
	if err != nil {
		return false, err
	}
	return bytes.Equal(x.Bytes, y.Bytes), nil
}
