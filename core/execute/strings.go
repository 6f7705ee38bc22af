package execute

import (
	"encoding/binary"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/core/text"
)

// A tensor of strings is a tensor of int64 on any device, with the strings in memory of Go: an element is the place of a string in
// a list that the storage has. So views of it are tensors of strings too, and they end with the storage. Copies, and results of
// operators, are tensors of integers.
//
// A program with strings among its inputs or outputs has a table of strings for each run, which ends with it; package core/text
// says why. The run gives inputs the numbers of the table, runs as any other program, and makes tensors of strings of the outputs.
// Both copy: tensors keep no table alive, and a table no tensor.
//
// The list of a storage never changes, and is set before anybody else has the tensor, so that readers need no lock. Elements may
// change, since they are integers to every operator that writes into its operands. They are therefore checked against the list when they
// are read: what was overwritten is an error and never another string than one of the list.
//
// Only the outermost run translates. The programs that it is made of, for forms, elements and stages, get the table with the call, and
// pass numbers to each other. A program without strings at its ends may meet some in the middle, as where it casts numbers to strings
// and back; its table is made at the first call that looks into strings.

// FromStrings makes a tensor of strings from their wire form, n times a length of 4 bytes and the bytes of a string in UTF-8. wire
// is copied.
func FromStrings(rt *runtime.Runtime, c *runtime.Context, s shape.Shape, wire []byte) (*runtime.Tensor, error) {
	const who = "tensor_from_strings"
	if _, err := s.Bytes(dtype.Int64.Size()); err != nil {
		return nil, err
	}
	list, err := text.Decode(who, wire, s.Numel())
	if err != nil {
		return nil, err
	}
	places := make([]int64, len(list))
	for i := range places {
		places[i] = int64(i)
	}
	return ofStrings(rt, c, &s, list, places)
}

// ofStrings is a tensor of the strings at these places of a list, which the tensor keeps. The list is not nil, also where it is empty.
func ofStrings(rt *runtime.Runtime, c *runtime.Context, s *shape.Shape, list []string, places []int64) (*runtime.Tensor, error) {
	t, err := ofInts(rt, c, s, places)
	if err != nil {
		return nil, err
	}
	t.Store.Strings = list
	return t, nil
}

func ofInts(rt *runtime.Runtime, c *runtime.Context, s *shape.Shape, list []int64) (*runtime.Tensor, error) {
	raw := make([]byte, 0, 8*len(list))
	for _, n := range list {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(n))
	}
	return rt.FromHost(c, dtype.Int64, *s, raw)
}

// HasStrings reports whether t is a tensor of strings.
func HasStrings(t *runtime.Tensor) bool { return t.Store.Strings != nil }

// Strings is the wire form of a tensor of strings; see [FromStrings]. It waits for the work that computes it.
func Strings(t *runtime.Tensor) ([]byte, error) {
	list, err := stringList(t, "tensor_get_strings")
	if err != nil {
		return nil, err
	}
	return text.Encode(list)
}

// stringList are the strings of a tensor, in row-major order. They are those of the storage and not copies: the caller keeps none of
// them longer than the tensor, or copies them.
func stringList(t *runtime.Tensor, who string) ([]string, error) {
	own := t.Store.Strings
	if own == nil {
		return nil, status.Errorf(status.Type, "[%s] got a tensor of %s; want one of strings", who, t.DType)
	}
	k, err := Constant(t)
	if err != nil {
		return nil, err
	}
	places, ok := k.Ints()
	list := make([]string, len(places))
	for i, at := range places {
		if at < 0 || at >= int64(len(own)) {
			ok = false
			break
		}
		list[i] = own[at]
	}
	if !ok || k.DType != dtype.Int64 {
		return nil, status.Errorf(status.Invalid, "[%s] the elements of the tensor of strings were overwritten; want one that nothing has written to", who)
	}
	return list, nil
}

// stringed notes whether a program has strings among its inputs or outputs.
func (p *Program) stringed(s Source) {
	if source, ok := s.(graph.Stringed); ok {
		if outputs, _ := source.StringOutputs(); outputs != nil || source.StringInputs() != nil {
			p.strings = source
		}
	}
}

// withStrings is the extras of a run that has a table of strings: these, if it has one.
func (x *Extras) withStrings(m *text.Model) *Extras {
	if x != nil && x.strings != nil {
		return x
	}
	return &Extras{stop: x.stopped(), strings: text.New(m)}
}

// runStrings is run with strings among the inputs or outputs. It waits for both, so that it is no run for callers that must not wait,
// and a failure of the device is the error of the run itself.
func (p *Program) runStrings(in []*runtime.Tensor, on *runtime.Stream, mode runtime.Mode, made []*runtime.Tensor, x *Extras) ([]*runtime.Tensor, error) {
	switch {
	case on.Traces():
		return nil, errRunTraced
	case mode.Has(runtime.NonBlocking):
		return nil, &runtime.Long{}
	case len(in) != p.Given:
		return nil, WrongInputs(len(in), p.Given)
	}
	x = x.withStrings(p.strings.Strings())
	rt := p.ctx.Runtime
	numbered, all, err := p.numberInputs(in, x.strings)
	defer rt.FreeAll(numbered)
	if err != nil {
		return nil, err
	}
	results, err := p.RunWith(all, on, mode, nil, x)
	if err != nil {
		return nil, err
	}
	if err := p.stringResults(results, x.strings); err != nil {
		rt.FreeAll(results)
		return nil, err
	}
	return append(made, results...), nil
}

// numberInputs replaces inputs of strings by tensors with their numbers in the table. The caller frees these, also after an error.
func (p *Program) numberInputs(in []*runtime.Tensor, table *text.Table) (numbered, all []*runtime.Tensor, err error) {
	all = append(all, in...)
	for i, want := range p.strings.StringInputs() {
		t := in[i]
		switch {
		case want == "":
			continue
		case t.Store.Strings == nil:
			return numbered, nil, status.Errorf(status.Type, "[program] input %d is a tensor of %s%s; want a tensor of strings for %s", i, t.DType, &t.Shape, want)
		case t.Store.Context != p.ctx:
			return numbered, nil, status.Errorf(status.Invalid, "[program] input %d is on %s; want %s", i, t.Store.Context.Place(), p.ctx.Place())
		}
		list, err := stringList(t, "program")
		if err != nil {
			return numbered, nil, err
		}
		ids := make([]int64, len(list))
		for j, s := range list {
			if ids[j], err = table.ID(s); err != nil {
				return numbered, nil, err
			}
		}
		if all[i], err = ofInts(p.ctx.Runtime, p.ctx, &t.Shape, ids); err != nil {
			return numbered, nil, err
		}
		numbered = append(numbered, all[i])
	}
	return numbered, all, nil
}

// stringResults replaces results that are numbers of the table by tensors of strings.
func (p *Program) stringResults(results []*runtime.Tensor, table *text.Table) error {
	ports, formed := p.strings.StringOutputs()
	rest := results
	counts := make([]int64, len(ports))
	for i := range counts {
		counts[i] = 1
	}
	if formed {
		form, err := Constant(results[0])
		if err != nil {
			return err
		}
		counts, _ = form.Ints()
		rest = results[1:]
	}
	for i, isStrings := range ports {
		var these []*runtime.Tensor
		n := max(counts[i], 0)
		these, rest = rest[:n], rest[n:]
		for j, t := range these {
			if !isStrings {
				break
			}
			made, err := stringsOf(p.ctx.Runtime, t, table)
			if err != nil {
				return err
			}
			p.ctx.Runtime.Free(t.Handle())
			these[j] = made
		}
	}
	return nil
}

// stringsOf is a tensor of the strings that the elements of t are numbers of.
func stringsOf(rt *runtime.Runtime, t *runtime.Tensor, table *text.Table) (*runtime.Tensor, error) {
	k, err := Constant(t)
	if err != nil {
		return nil, err
	}
	ids, _ := k.Ints()
	list, places, err := table.Own(ids)
	if err != nil {
		return nil, err
	}
	return ofStrings(rt, t.Store.Context, &t.Shape, list, places)
}

// callStrings makes a call on strings, on the CPU. It waits for the operands, and copies them and the results where the device is
// another one. The caller frees the results.
func callStrings(c *runtime.Context, call graph.StringCall, in []*runtime.Tensor, table *text.Table) (made []*runtime.Tensor, err error) {
	operands := make([]*op.Const, len(in))
	for i, t := range in {
		if operands[i], err = Constant(t); err != nil {
			return nil, err
		}
	}
	results, err := call(table, operands)
	if err != nil {
		return nil, err
	}
	for _, k := range results {
		t, err := c.Runtime.FromHost(c, k.DType, k.Shape, k.Bytes)
		if err != nil {
			c.Runtime.FreeAll(made)
			return nil, err
		}
		made = append(made, t)
	}
	return made, nil
}
