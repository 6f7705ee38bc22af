package op

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Grad says how the gradient of an operator is computed: the vector-Jacobian product of reverse-mode differentiation.
//
// The rule is written once, in terms of rows. Eager backward passes, gradients of gradients and compiled backward
// passes run the same rule with different calculators. A row whose results are floats has a rule or is Constant;
// results of other dtypes have no gradient.
type Grad struct {
	Rule     func(*Gradient)
	Reads    Reads                // which values the rule reads; only those are kept until the backward pass
	ReadsOf  func(at Attrs) Reads // in place of Reads, where attributes decide
	Crossed  bool                 // there are two operands, and each is read for the gradient of the other one alone
	Compact  bool                 // operand 0 has to be contiguous
	Once     bool                 // the rule is right, but its own gradient would not be: it has none
	Constant bool                 // the results do not depend on the operands as far as gradients go, as those of argmax
}

// ReadsFor is what the rule reads for a call with these attributes.
func (g *Grad) ReadsFor(at Attrs) Reads {
	if g.ReadsOf != nil {
		return g.ReadsOf(at)
	}
	return g.Reads
}

// Reads is a set of operands and results whose values a rule reads. Their dtypes and shapes are always known.
type Reads uint16

// What a rule may read.
const (
	ReadsX    Reads = 1 << iota // operand 0
	ReadsY                      // operand 1
	ReadsZ                      // operand 2 and all that follow
	ReadsOut                    // result 0
	ReadsNext                   // result 1
)

// Operand reports whether the value of operand i is read.
func (r Reads) Operand(i int) bool { return r&(ReadsX<<min(i, 2)) != 0 }

// Result reports whether the value of result i is read.
func (r Reads) Result(i int) bool { return i < 2 && r&(ReadsOut<<i) != 0 }

// Gradient is one question to a rule and its answer: what the gradients of the operands are, given those of the
// results. An error of a call is that of the answer.
type Gradient struct {
	Calls
	Row   *Row
	Attrs Attrs // complete, see [Row.Fill]
	In    []Var // the operands, as they were given: neither cast nor broadcast
	Out   []Var // the results
	Dy    []Var // the gradients of the results; NoVar for results that nothing depends on, but not for all
	Wants []bool

	// The answer.

	Dx []Var // the gradients of the operands, with their dtypes and shapes; NoVar for zero
}

// Set answers for operand i. dx may have the shape that the operand was broadcast to and any floating dtype: it is
// summed to the operand's shape and cast to its dtype.
//
// A rule may therefore compute with dy as it is, whatever the operands were broadcast and promoted to. It calls Set at most
// once for an operand.
func (g *Gradient) Set(i int, dx Var) {
	if g.Err != nil || dx == NoVar || !g.Wants[i] {
		return
	}
	want := g.TypeOf(g.In[i])
	dx = g.SumTo(dx, &want.Shape)
	g.Dx[i] = g.Cast(dx, want.DType)
}

// SumTo sums a value over the axes along which a shape was broadcast to its own.
//
// Broadcasting repeats an element; its gradient is the sum over the repetitions.
func (c *Calls) SumTo(v Var, s *shape.Shape) Var {
	if c.Err != nil {
		return v
	}
	t := c.TypeOf(v)
	if t.Shape == *s {
		return v
	}
	var axes []int64
	extra := t.Shape.Rank - s.Rank
	for i := range t.Shape.Rank {
		if i < extra || s.Dims[i-extra] == 1 && t.Shape.Dims[i] != 1 {
			axes = append(axes, int64(i))
		}
	}
	if len(axes) > 0 {
		keep := Value{Kind: Bool}
		if extra == 0 {
			keep.I = 1
		}
		v = c.Do(IDSum, Attrs{SumAxis: {Kind: Ints, Ints: axes}, SumKeepdim: keep}, v)
	}
	return c.Reshape(v, s)
}

// DifferentiateCalls is the rule of rows whose gradient is that of their calls.
func DifferentiateCalls(g *Gradient) { g.ThroughCalls(g.Row.Calls) }

// ThroughCalls answers with the gradients of calls: they are made once more, and then the rules of their rows are asked, from
// the last call to the first.
func (g *Gradient) ThroughCalls(calls func(c *Calls, in []Var, at Attrs) []Var) {
	tape := tape{Calculator: g.Calculator, asks: map[Var]bool{}}
	for i, v := range g.In {
		if g.Wants[i] {
			tape.asks[v] = true
		}
	}
	forward := Calls{Calculator: &tape}
	out := calls(&forward, g.In, g.Attrs)
	if g.Err = forward.Err; g.Err != nil {
		return
	}
	dy := map[Var]Var{}
	for i, v := range out {
		if i < len(g.Dy) && g.Dy[i] != NoVar && tape.asks[v] {
			g.accumulate(dy, v, g.Dy[i])
		}
	}
	for _, n := range slices.Backward(tape.nodes) {
		g.through(&n, dy, tape.asks)
	}
	for i, v := range g.In {
		if d, ok := dy[v]; ok {
			g.Set(i, d)
		}
	}
}

// tape is a calculator that remembers its calls, and which values depend on the operands that want gradients.
type tape struct {
	Calculator
	nodes []taped
	asks  map[Var]bool
}

// taped is a call of a tape.
type taped struct {
	row     *Row
	at      Attrs
	in, out []Var
}

// Call makes a call and remembers it, if a gradient goes through it.
func (t *tape) Call(row *Row, in []Var, at Attrs) ([]Var, error) {
	given := slices.Clone(in)
	out, err := t.Calculator.Call(row, in, at)
	if err != nil || row.Grad.Constant || !slices.ContainsFunc(given, func(v Var) bool { return t.asks[v] }) {
		return out, err
	}
	for _, v := range out {
		if d := t.TypeOf(v).DType; d.IsFloat() || d.IsComplex() {
			t.asks[v] = true
		}
	}
	t.nodes = append(t.nodes, taped{row, at, given, out})
	return out, nil
}

// through asks the rule of a call, if its results have a gradient, and adds up what it answers.
func (g *Gradient) through(n *taped, dy map[Var]Var, asks map[Var]bool) {
	one := Gradient{Calls: g.Calls, Row: n.row, Attrs: n.at, In: n.in, Out: n.out, Wants: make([]bool, len(n.in))}
	found := false
	for _, v := range n.out {
		d, ok := dy[v]
		if !ok {
			d = NoVar
		}
		found = found || ok
		one.Dy = append(one.Dy, d)
	}
	if g.Err != nil || !found {
		return
	}
	for i, v := range n.in {
		one.Wants[i] = asks[v]
	}
	if g.Err = one.Differentiate(); g.Err != nil {
		return
	}
	for i, d := range one.Dx {
		if d != NoVar && one.Wants[i] {
			g.accumulate(dy, n.in[i], d)
		}
	}
}

// accumulate adds to the gradient of a value.
func (g *Gradient) accumulate(dy map[Var]Var, v, d Var) {
	if before, ok := dy[v]; ok {
		d = g.Add(before, d)
	}
	dy[v] = d
}

// Clear sets all gradients to none.
func (g *Gradient) Clear() {
	g.Dx = make([]Var, len(g.In))
	for i := range g.Dx {
		g.Dx[i] = NoVar
	}
}

// Differentiate asks the rule of the row.
func (g *Gradient) Differentiate() error {
	g.Clear()
	if g.Row.Grad.Rule == nil {
		return status.Errorf(status.Unsupported, "[%s] has no gradient", g.Row.Name)
	}
	g.Row.Grad.Rule(g)
	return g.Err
}

// PullbackReads reports whether the gradients of a composite that are wanted depend on the elements of operand i. The pullback is
// called with types alone, so that it is asked where the elements have changed and no sooner.
func PullbackReads(row *Row, at Attrs, in []Arg, out []Type, wants []bool, i int) bool {
	t := origins{typed: typed{of: &Inference{}}, from: map[Var][]Var{}}
	calls := Calls{Calculator: &t}
	var vars []Var
	bits := int64(0)
	for j := range in {
		t.values = append(t.values, in[j])
		vars = append(vars, Var(j))
		if wants[j] {
			bits |= 1 << j
		}
	}
	for _, y := range out {
		t.values = append(t.values, Arg{Type: y, Scalar: !y.DType.IsFloat(), Absent: !y.DType.IsFloat()})
		vars = append(vars, Var(len(t.values)-1))
	}
	todo := row.Pullback.Calls(&calls, vars, append(slices.Clone(at), Value{Kind: Int, I: bits}))
	if calls.Err != nil {
		return true
	}
	seen := map[Var]bool{}
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		if todo = todo[:len(todo)-1]; v == Var(i) {
			return true
		}
		if v != NoVar && !seen[v] {
			seen[v] = true
			todo = append(todo, t.from[v]...)
		}
	}
	return false
}

// origins is a calculator that computes types alone, and remembers what each value is computed from.
type origins struct {
	typed
	from map[Var][]Var
}

// Call infers a call.
func (s *origins) Call(row *Row, in []Var, at Attrs) ([]Var, error) {
	given := slices.Clone(in)
	out, err := s.typed.Call(row, in, at)
	for _, v := range out {
		s.from[v] = given
	}
	return out, err
}
