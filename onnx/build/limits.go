package build

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Limits of what a file may ask for. A few bytes of a file can name sizes of any magnitude, and a Go program that runs
// out of memory ends; so whatever is made by a size of the file is counted against a limit before it is made. An
// exceeded limit is status.Unsupported with the limit in the message, and with the name of the node once one is read.
//
// Three things grow with such sizes: lists of indices and weights that functions of operators compute (room), results
// of calls whose operands are known (folds), and the graph itself, whose nodes loops repeat (nodes and calls). Folding
// takes time as well, for elements that are read and products that are summed (work). Tensors that are made when the
// model runs are not limited here: their allocation fails with an error of its own.
//
// The limits are far above what models of exporters need. Each is for one resolution of a model, except where it says
// otherwise. What is counted is what was asked for: memory that is free again by the end of a node counts too.
const (
	SmallFold  = 64 << 10  // bytes of a result that is computed while the graph is built, whatever it follows from
	SmallFolds = 256 << 20 // bytes of all of these
	largeFolds = 1 << 30   // bytes of all larger ones of a model, which follow from its constants alone; see mostFolded
	FreeFolds  = 128 << 20 // bytes of these that any model may have: masks and tables of positions
	FoldGrowth = 8         // bytes of these for each byte of the model: weights of 4 bits become float32
	MostRoom   = 1 << 26   // elements of lists and constants that functions of operators make
	MostWork   = 1 << 32   // elements that are read, written and multiplied by what is computed while the graph is built
	MostCalls  = 1 << 21   // calls of rows, and their operands

	MostShared = 1 << 14 // entries of small and folded of a Model
	MostStages = 1000    // results whose sizes depend on elements: each is a graph of its own, and a program
	deepCalls  = 64      // functions and branches within each other
)

// Budget is how much of the limits a resolution has used.
type Budget struct {
	nodes int   // of the file
	room  int64 // elements
	folds int64 // bytes of small folds
	work  int64 // elements
	Calls int64 // of rows, and their operands
}

// Draw takes the product of the factors from the room that a resolution has. The factors may be any numbers of the
// file: a negative one is an error, and a product that overflows is larger than every limit.
func (b *Budget) Draw(factors ...int64) error {
	for _, f := range factors {
		if f < 0 {
			return status.Errorf(status.Invalid, "a size is %d; want 0 or more", f)
		}
	}
	n := Times(factors...)
	if n > MostRoom-b.room {
		return status.Errorf(status.Unsupported, "needs room for %v elements; want at most %d in all nodes of a model", factors, int64(MostRoom))
	}
	b.room += n
	return nil
}

// Times is the product of factors that are not negative; one that overflows is the largest integer. A factor of 0
// makes it 0, whatever the others are.
func Times(factors ...int64) int64 {
	n, zero := int64(1), false
	for _, f := range factors {
		switch {
		case f == 0:
			zero = true
		case n > math.MaxInt64/f:
			n = math.MaxInt64
		default:
			n *= f
		}
	}
	if zero {
		return 0
	}
	return n
}

// Room is draw for a function of an operator, which an exceeded limit ends. Functions call it before they make or
// append to anything whose size follows from the file.
func (c *Call) Room(factors ...int64) { c.Must(c.Draw(factors...)) }

// Called counts a call of a row. Unrolled loops and recurrent networks make many calls of one node.
func (b *Budget) Called(operands int) error {
	if b.Calls += 1 + int64(operands); b.Calls > MostCalls {
		return status.Errorf(status.Unsupported, "the model becomes too many calls of rows; want at most %d with their operands", int64(MostCalls))
	}
	return nil
}

// Folding counts what a call reads, writes and multiplies, and the bytes of its results where these are small. ok is
// false where a limit is exceeded and the result is large: the call is then computed when the model runs.
func (b *Budget) Folding(work, bytes int64) (ok bool, err error) {
	small := bytes <= SmallFold
	switch {
	case work > MostWork-b.work && !small:
		return false, nil
	case work > MostWork-b.work:
		return false, status.Errorf(status.Unsupported, "takes too much work before the model runs; want at most %d elements in all nodes of a model", int64(MostWork))
	case small && bytes > SmallFolds-b.folds:
		return false, status.Errorf(status.Unsupported, "the small results that are computed before the model runs take more than %d bytes; want fewer", int64(SmallFolds))
	}
	if b.work += work; small {
		b.folds += bytes
	}
	return true, nil
}

// MostFolded is how many bytes of large results that follow from constants alone the model may keep: so much more than its files
// have that weights of any type fit once in any other. What is beyond is computed each time the model runs.
func (m *Model) MostFolded() int64 {
	size := m.size
	for _, f := range m.folder.Files {
		size += int64(len(f.Bytes))
	}
	return min(largeFolds, FreeFolds+Times(FoldGrowth, size))
}

// WorkOf is how many elements a call reads and writes, and for products, convolutions and pools how many it
// multiplies or compares. A slice or a gather reads no more than it writes, whatever the size of its first operand.
func WorkOf(row *op.Row, at op.Attrs, in, out []*Value) int64 {
	total := int64(0)
	add := func(factors ...int64) { total += min(Times(factors...), math.MaxInt64-total) }
	for i, v := range in {
		if i > 0 || row.Kind != op.View && row.Kind != op.Index {
			add(v.Shape.Numel())
		}
	}
	for _, v := range out {
		add(v.Shape.Numel())
	}
	first := out[0].Shape.Numel()
	switch row.ID {
	case op.IDMatmul, op.IDMatmulInteger:
		x := in[0]
		inner := x.Dims()[max(x.Rank()-1, 0):]
		if x.Rank() > 1 && at[op.MatmulTransposeX].I != 0 {
			inner = x.Dims()[x.Rank()-2 : x.Rank()-1]
		}
		add(first, Times(inner...))
	case op.IDConv, op.IDConvInteger, op.IDConvTranspose: // each element of either side meets the weights of one channel
		w := in[1]
		add(max(first, in[0].Shape.Numel()), Times(w.Dims()[1:]...))
	case op.IDMaxPool:
		add(first, Times(at[op.MaxPoolKernelSize].Ints...))
	case op.IDAvgPool:
		add(first, Times(at[op.AvgPoolKernelSize].Ints...))
	}
	return total
}

// Checked are dimensions that a tensor can have. What comes from a file may be negative, too many, or too large: the
// number of elements is checked for the smallest ones, and by rows for those of the result.
func (c *Call) Checked(dims []int64) []int64 {
	s, err := shape.Of(dims...)
	c.Must(err)
	_, err = s.Bytes(1)
	c.Must(err)
	return dims
}
