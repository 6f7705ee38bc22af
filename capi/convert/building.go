package convert

import (
	"sync"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Building is a graph under construction. Its values and symbols carry its number in their high halves, so
// that those of another graph are recognised.
type Building struct {
	Mu      sync.Mutex // held by the call that uses the graph; taken with TryLock only, see enter
	number  int64      // 1 to 2^31-1
	Builder *graph.Builder
	none    int64 // the value for operands that are left out; 0: not made yet
	ended   bool  // a program was made of it
}

// buildings counts the graphs made so far.
var buildings atomic.Int64

// NewBuilding makes an empty graph with a number that no other one alive has, unless 2^31 of them are.
func NewBuilding() *Building {
	return &Building{number: buildings.Add(1)%(1<<31-1) + 1, Builder: graph.NewBuilder()}
}

// Enter begins a call that uses the graph; the caller ends it by unlocking mu. A second thread gets an error and
// does not wait: a graph that two threads add to at once would be the one that neither intends.
func (g *Building) Enter(who string) error {
	if !g.Mu.TryLock() {
		return status.Errorf(status.Invalid, "[%s] another thread is using the graph; want one thread at a time", who)
	}
	if g.ended {
		g.Mu.Unlock()
		return status.Errorf(status.Invalid, "[%s] the graph has become a program; want another graph", who)
	}
	return nil
}

// Name is a value as callers see it.
func (g *Building) Name(v graph.Value) int64 { return g.number<<32 | int64(v) }

// Value finds the value of a name. what says which one is at fault: "operand 2".
func (g *Building) Value(who, what string, i int, name int64) (graph.Value, error) {
	v := graph.Value(name & (1<<32 - 1))
	if name>>32 != g.number || !g.Builder.Has(v) {
		return 0, status.Errorf(status.Invalid, "[%s] %s %d is %d; want a value of this graph", who, what, i, name)
	}
	return v, nil
}

// values finds those of many names.
func (g *Building) values(who, what string, names []int64) ([]graph.Value, error) {
	list := make([]graph.Value, len(names))
	for i, name := range names {
		var err error
		if list[i], err = g.Value(who, what, i, name); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Dim is a dimension as callers see it: symbols carry the graph's number.
func (g *Building) Dim(d int64) int64 {
	if shape.IsSymbol(d) {
		return -(g.number<<32 | int64(shape.SymbolNumber(d)))
	}
	return d
}

// size is a dimension of a caller: a size, or a symbol of the graph.
func (g *Building) size(who string, d int64) (int64, error) {
	if d >= 0 {
		return d, nil
	}
	n := -d & (1<<32 - 1)
	if -d>>32 != g.number || n >= int64(g.Builder.Symbols()) {
		return 0, status.Errorf(status.Invalid, "[%s] got dimension %d; want a size, or a symbol of this graph", who, d)
	}
	return shape.Symbol(int(n)), nil
}

// Input adds an input of these dimensions, at most shape.MaxRank.
func (g *Building) Input(who string, t op.Type, dims []int64) (int64, error) {
	t.Shape.Rank = len(dims)
	for i, d := range dims {
		var err error
		if t.Shape.Dims[i], err = g.size(who, d); err != nil {
			return 0, err
		}
	}
	if err := t.Possible(who); err != nil {
		return 0, err
	}
	return g.Name(g.Builder.Input(t)), nil
}

// Call adds an operator. Optional operands at the end that were not given are left out. It makes at most
// room values.
func (g *Building) Call(row *op.Row, names []int64, at op.Attrs, room uint64) ([]int64, error) {
	in, err := g.values(row.Name, "operand", names)
	if err != nil {
		return nil, err
	}
	for len(in) < len(row.In) {
		in = append(in, g.Absent())
	}
	out, err := g.Builder.Call(row, in, at)
	if err != nil {
		return nil, err
	}
	if uint64(len(out)) > room {
		g.Builder.Retract()
		return nil, status.Errorf(status.Invalid, "[%s] makes %d values; want room for them, not for %d", row.Name, len(out), room)
	}
	made := make([]int64, len(out))
	for i, v := range out {
		made[i] = g.Name(v)
	}
	return made, nil
}

// Absent is the value for operands that are left out.
func (g *Building) Absent() graph.Value {
	if g.none == 0 {
		g.none = g.Name(g.Builder.Scalar(op.Value{}))
	}
	return graph.Value(g.none & (1<<32 - 1))
}

// End ends the graph, which makes the values of these names.
func (g *Building) End(who string, names []int64) (*graph.Graph, error) {
	if len(names) == 0 {
		return nil, status.Errorf(status.Invalid, "[%s] got no outputs; want at least one", who)
	}
	out, err := g.values(who, "output", names)
	if err != nil {
		return nil, err
	}
	for i, v := range out {
		if g.Builder.IsScalar(v) {
			return nil, status.Errorf(status.Invalid, "[%s] output %d is a scalar; want a tensor", who, i)
		}
	}
	built := g.Builder.Build(out...)
	g.Builder, g.ended = nil, true
	return built, nil
}

// Sizes are the types of inputs whose dimensions are dims; nil stands for those that a graph has without
// symbols.
func Sizes(who string, inputs []op.Type, dims func(i, rank int) []int64, count uint64) ([]op.Type, error) {
	if count != uint64(len(inputs)) {
		return nil, status.Errorf(status.Invalid, "[%s] got sizes of %d inputs; want %d", who, count, len(inputs))
	}
	types := make([]op.Type, len(inputs))
	for i := range inputs {
		types[i] = inputs[i]
		list := dims(i, inputs[i].Shape.Rank)
		if list == nil && inputs[i].Shape.Known() {
			continue
		}
		if list == nil {
			return nil, status.Errorf(status.Invalid, "[%s] input %d has symbols; want its sizes", who, i)
		}
		s, err := shape.Of(list...)
		if err != nil {
			return nil, status.Errorf(status.Invalid, "[%s] input %d: %v", who, i, err)
		}
		types[i].Shape = s
		if err := types[i].Possible(who); err != nil {
			return nil, err
		}
	}
	return types, nil
}
