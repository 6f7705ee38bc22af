package runtime

import (
	"bytes"
	"maps"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/graph"
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
func (p *Program) Unify(q *Program) (*Program, error) {
	if err := p.like(q); err != nil {
		return nil, err
	}
	g, ok := p.source.(*graph.Graph)
	h, known := q.source.(*graph.Graph)
	if !ok || !known {
		return nil, differentError("origins")
	}
	shown := p.results + len(p.changed) // without what the gradient reads
	unified, at, err := g.Leading(shown).Unify(h.Leading(shown))
	if err != nil {
		return nil, err
	}
	made := &Program{traced: true, open: true, results: p.results, given: p.given, asked: p.asked, askedAt: p.askedAt, replacedAt: p.replacedAt, changed: p.changed, changedBy: p.changedBy}
	p.ctx.start(made, unified)
	made.readAt = append(append([]uint32(nil), p.readAt...), q.readAt...)
	if err = aliases(&made.captured, p.captured); err == nil {
		err = aliases(&made.read, append(append([]*Tensor(nil), p.read...), q.read...))
	}
	if err == nil && p.back != nil {
		err = made.replaysAs(p, q, at)
	}
	if err != nil {
		made.Close()
		return nil, err
	}
	return made, nil
}

// aliases appends further handles of tensors to a list, as many as there are free.
func aliases(to *[]*Tensor, of []*Tensor) error {
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
func (p *Program) like(q *Program) error {
	switch {
	case !p.traced || !q.traced || p.open || q.open || p.ctx != q.ctx:
		return differentError("origins or places")
	case p.given != q.given || p.results != q.results || !slices.Equal(p.changed, q.changed):
		return differentError("arguments, results or changes")
	case len(p.captured) != len(q.captured):
		return differentError("captured tensors")
	case !slices.Equal(p.asked, q.asked) || !slices.Equal(p.askedAt, q.askedAt), !slices.Equal(p.replacedAt, q.replacedAt):
		return differentError("gradients")
	case (p.back == nil) != (q.back == nil) || p.back != nil && (!slices.Equal(pullbackOf(p).of, pullbackOf(q).of) || !maps.Equal(p.quiet, q.quiet)):
		return differentError("gradients")
	}
	for i, t := range p.captured {
		same, err := sameCapture(t, q.captured[i], slices.Contains(p.changed, p.given+i))
		if err != nil {
			return err
		}
		if !same {
			return p.otherCapture(i, &t.view, &q.captured[i].view)
		}
	}
	return nil
}

// otherCapture is the error of a captured tensor that is another one for other sizes. It names the first call that reads it.
func (p *Program) otherCapture(i int, t, u *view) error {
	g, ok := p.source.(*graph.Graph)
	if !ok {
		return differentError("captured tensors")
	}
	inputs, _ := g.Ends(0)
	who := "program"
	for _, n := range g.Nodes() {
		if slices.Contains(n.In, inputs[p.given+i]) {
			who = n.Row.Name
			break
		}
	}
	return status.Errorf(status.Unsupported, "[%s] it reads a captured tensor of shape %s for some sizes, and another one of shape %s for others; want one, or operators that make it", who, &t.Shape, &u.Shape)
}

// sameCapture reports whether two captured tensors are one, or if it is not written to, have the same elements.
func sameCapture(t, u *Tensor, changed bool) (bool, error) {
	if t.store == u.store {
		return t.dtype == u.dtype && t.offset == u.offset && t.Shape == u.Shape && slices.Equal(t.Strides[:t.Rank], u.Strides[:u.Rank]), nil
	}
	if changed || t.dtype != u.dtype || t.Shape != u.Shape || t.Asks() || u.Asks() {
		return false, nil
	}
	x, err := t.Constant()
	if err != nil {
		return false, err
	}
	y, err := u.Constant()
	if err != nil {
		return false, err
	}
	return bytes.Equal(x.Bytes, y.Bytes), nil
}
