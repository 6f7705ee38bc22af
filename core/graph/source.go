package graph

import "github.com/paddle-mps/paddle-mps/core/op"

// Source makes graphs for inputs of known types: a [Graph] with symbols, or a model of a file, which becomes another graph
// for each set of shapes. It is used from any goroutine.
type Source interface {
	Inputs() []op.Type  // of a call; dimensions may be symbols
	Outputs() []op.Type // likewise, of its results
	Calls() int         // of operators
	// Resolve is the graph for inputs of these types. Constants that it shares with other resolutions are the same objects.
	Resolve(inputs []op.Type) (*Graph, error)
	String() string
}

// Staged is a Source with calls whose results have a size that only their elements tell, such as nonzero (op.Row.Counted).
// Shapes behind such a call are known only when it has run, so that its graph ends there and the rest is a source of its
// own.
type Staged interface {
	Source
	// Stage is Resolve. If next is not nil, the graph ends at a counted call: its first outputs are the operands of the call,
	// and all others are values that the rest reads.
	Stage(inputs []op.Type) (g *Graph, next *Stage, err error)
}

// Stage is a counted call between two graphs, and what follows it.
type Stage struct {
	Row      *op.Row
	Attrs    op.Attrs
	Operands int
	Inputs   []int // of the graph that the rest reads too, by number: as outputs they would be copies
	// Rest takes the results of the call, then the outputs behind its operands, then Inputs. Its outputs are those of the
	// whole.
	Rest Source
}
