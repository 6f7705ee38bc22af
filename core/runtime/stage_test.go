package runtime_test

import (
	"encoding/binary"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// positives is a source in two stages: the first finds the elements of a vector that are above zero, the rest adds them up
// and doubles the vector.
type positives struct{ rest doubled }

func (positives) Inputs() []op.Type { return []op.Type{typed(dtype.Float32, -1)} }
func (positives) Outputs() []op.Type {
	return []op.Type{typed(dtype.Float32), typed(dtype.Float32, -1)}
}
func (positives) Calls() int     { return 4 }
func (positives) String() string { return "positives" }
func (p positives) Resolve([]op.Type) (*graph.Graph, error) {
	return nil, status.Errorf(status.Internal, "a source with stages was resolved as a whole")
}

func (p positives) Stage(in []op.Type) (*graph.Graph, *graph.Stage, error) {
	b := graph.NewBuilder()
	x := b.Input(in[0])
	above, err := b.Call(op.MustByName("greater_than"), []graph.Value{x, b.Scalar(double(0))}, nil)
	if err != nil {
		return nil, nil, err
	}
	return b.Build(above[0]), &graph.Stage{Row: op.MustByName("nonzero"), Operands: 1, Inputs: []int{0}, Rest: p.rest}, nil
}

// doubled is the rest, for the indices and the vector. It fails for as many indices as failing says.
type doubled struct{ failing int64 }

func (doubled) Inputs() []op.Type {
	return []op.Type{typed(dtype.Int64, -1, 1), typed(dtype.Float32, -1)}
}
func (doubled) Outputs() []op.Type { return positives{}.Outputs() }
func (doubled) Calls() int         { return 2 }
func (doubled) String() string     { return "doubled" }

func (d doubled) Resolve(in []op.Type) (*graph.Graph, error) {
	if d.failing > 0 && in[0].Shape.Dims[0] == d.failing {
		return nil, status.Errorf(status.Unsupported, "[rest] %d indices", d.failing)
	}
	b := graph.NewBuilder()
	var err error
	call := func(name string, at op.Attrs, in ...graph.Value) graph.Value {
		var out []graph.Value
		if err == nil {
			out, err = b.Call(op.MustByName(name), in, at)
		}
		if err != nil {
			return in[0]
		}
		return out[0]
	}
	at, x := b.Input(in[0]), b.Input(in[1])
	sum := call("sum", nil, call("index", nil, x, call("reshape", op.Attrs{ints(-1)}, at)))
	twice := call("add", nil, x, x)
	return b.Build(sum, twice), err
}

// vector is a tensor of the CPU.
func (w *world) vector(list ...float32) *runtime.Tensor {
	var bytes []byte
	for _, v := range list {
		bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(v))
	}
	t, err := w.rt.FromHost(w.cpu, dtype.Float32, typed(dtype.Float32, int64(len(list))).Shape, bytes)
	require.NoError(w, err)
	return t
}

// A program in stages computes what its calls do, for each number of elements that count, from many goroutines at once.
func TestStages(t *testing.T) {
	w := newWorld(t)
	p := execute.New(w.cpu, positives{})
	defer p.Close()
	var all sync.WaitGroup
	for first := range 4 {
		all.Go(func() {
			for count := range 20 {
				list, sum := make([]float32, first+7), float32(0)
				for i := range list {
					if list[i] = -1; (i*5+count)%7 < count%7 {
						list[i] = float32(i + 1)
						sum += list[i]
					}
				}
				in := w.vector(list...)
				out := w.run(p, in)
				require.Equal(w, []float32{sum}, w.floats(out[0]))
				for i, v := range w.floats(out[1]) {
					require.Equal(w, 2*list[i], v)
				}
				w.free(append(out, in)...)
			}
		})
	}
	all.Wait()
}

// Where the rest cannot be resolved, the run has its error, nothing is left, and the next run is right.
func TestStagesFail(t *testing.T) {
	w := newWorld(t)
	p := execute.New(w.cpu, positives{doubled{failing: 2}})
	defer p.Close()
	live := w.rt.Live()
	for range 3 {
		in := w.vector(1, -1, 2)
		_, err := p.Run([]*runtime.Tensor{in}, nil)
		require.EqualError(t, err, "[rest] 2 indices")
		w.free(in)
		require.Equal(t, live, w.rt.Live())
		in = w.vector(1, -1, -2)
		out := w.run(p, in)
		require.Equal(t, []float32{1}, w.floats(out[0]))
		w.free(append(out, in)...)
	}
}

// A caller that holds a lock is told that a run waits, and asks again.
func TestStagesWait(t *testing.T) {
	w := newWorld(t)
	p := execute.New(w.cpu, positives{})
	defer p.Close()
	in := w.vector(1, 2)
	w.free(w.run(p, in)...)
	_, err := execute.RunAs(eager.In(w.rt, runtime.NonBlocking), p, []*runtime.Tensor{in}, nil, nil)
	require.ErrorAs(t, err, new(*runtime.Long))
	w.free(in)
}

// What is said of a program is about all its stages.
func TestStagesAreExplained(t *testing.T) {
	w := newWorld(t)
	p := execute.New(w.cpu, positives{})
	defer p.Close()
	for _, list := range [][]float32{{1, -1, 2}, {1, -1, -2}, {3, 4}} {
		in := w.vector(list...)
		w.free(append(w.run(p, in), in)...)
		require.Contains(t, p.Explain(), "greater_than(")
		require.Contains(t, p.Explain(), "index(")
		require.Equal(t, strings.Count(p.Explain(), " = "), p.Info().Steps)
	}
}
