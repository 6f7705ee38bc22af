package graph

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/text"
)

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

// Staged is a Source with calls whose results have a size that only their elements tell, such as nonzero (op.Row.Counted), or
// that look into strings. Shapes behind such a call are known only when it has run, and strings only while the model runs, so that
// its graph ends there and the rest is a source of its own.
type Staged interface {
	Source
	// Stage is Resolve. If next is not nil, the graph ends at such a call: its first outputs are the operands of the call,
	// and all others are values that the rest reads.
	Stage(inputs []op.Type) (g *Graph, next *Stage, err error)
}

// Stage is a call between two graphs, and what follows it: a counted call of a row or, where Strings is set, one on strings.
type Stage struct {
	Row      *op.Row
	Attrs    op.Attrs
	Strings  StringCall  // nil: Row
	Model    *text.Model // of such a call
	Operands int
	Inputs   []int // of the graph that the rest reads too, by number: as outputs they would be copies
	// Rest takes the results of the call, then the outputs behind its operands, then Inputs. Its outputs are those of the
	// whole.
	Rest Source
}

// StringCall computes results of elements, where numbers of the table stand for strings. It may run for several runs at a time.
type StringCall func(strings *text.Table, in []*op.Const) ([]*op.Const, error)

// Stringed is a Source whose inputs or outputs may be strings: tensors of int64 with numbers of a [text.Table]. The runtime, which
// has the table of a run, gives inputs their numbers, and outputs their strings.
type Stringed interface {
	Source
	// Strings are the strings of the model.
	Strings() *text.Model
	// StringInputs describes each input of strings, in the words of an error; empty for other inputs. nil: there is none.
	StringInputs() []string
	// StringOutputs says which of the results are strings; nil: none is. A result that is a list counts once, and the results of a
	// run then begin with how many tensors each is.
	StringOutputs() (outputs []bool, formed bool)
}
