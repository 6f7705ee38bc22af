package execute

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
)

// Where the size of a result follows from elements, shapes behind it are known only when it has run. A program of such a
// source runs in stages: a compiled graph, the counted call as an eager call, which waits for its count, and the rest. The
// rest is a program of its own, which is compiled for each set of sizes. A call on strings is made in the same way, by a function
// of the source, on the CPU; see strings.go.

// stage is the call behind a compiled graph, and the program behind the call.
type stage struct {
	*graph.Stage
	rest *Program
}

// resolve is the graph for inputs of these types, and what follows it; nil where its outputs are the results.
func (p *Program) resolve(shapes []op.Type) (*graph.Graph, *stage, error) {
	source, ok := p.source.(graph.Staged)
	if !ok {
		g, err := p.source.Resolve(shapes)
		return g, nil, err
	}
	g, next, err := source.Stage(shapes)
	if err != nil || next == nil {
		return g, nil, err
	}
	rest := New(p.ctx, next.Rest)
	rest.stage = p.stage + 1
	rest.Home = p.Root()
	return g, &stage{next, rest}, nil
}

// Programs of the rest are compiled under keys of their home. They are not dropped with the stage before them, which would
// need the lock of the cache that evicts it: nothing finds them any more, and they are evicted in their turn.

// runNext makes tensors of what the run has computed, and runs what follows on them. The results are appended to made. A table of
// strings that is made here is that of all stages behind this one: strings that an earlier stage would have numbered do not exist,
// because it would have made the table.
func (r *programRun) runNext(next *stage, on *runtime.Stream, mode runtime.Mode, made []*runtime.Tensor, x *Extras) ([]*runtime.Tensor, error) {
	rt, c := r.program.ctx.Runtime, r.program.ctx
	values, err := r.adopt(nil)
	if err != nil {
		return nil, err
	}
	defer rt.FreeAll(values)
	var counted []*runtime.Tensor
	if next.Strings != nil {
		x = x.withStrings(next.Model)
		counted, err = callStrings(c, next.Strings, values[:next.Operands], x.strings)
	} else {
		operands := make([]runtime.Operand, next.Operands)
		for i := range operands {
			operands[i].Tensor = values[i]
		}
		counted, err = eager.Call(rt, next.Row, operands, slices.Clone(next.Attrs), c, on)
	}
	if err != nil {
		return nil, err
	}
	defer rt.FreeAll(counted)
	in := slices.Concat(counted, values[next.Operands:])
	for _, i := range next.Inputs {
		in = append(in, r.inputs[i])
	}
	return next.rest.runOnce(in, on, mode, made, x)
}
