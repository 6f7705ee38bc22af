package runtime_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// chooser is a model of three inputs: x + weight where the element of the second is 0, and else that many times x + weight
// again, for which it wants the element of the third input, which it adds.
type chooser struct {
	weight *op.Const
	known  map[int]*op.Const // by the number of the input
}

func (c chooser) Inputs() []op.Type {
	types := []op.Type{typed(dtype.Float32, 4)}
	for range 2 - len(c.known) {
		types = append(types, typed(dtype.Int32))
	}
	return types
}

func (c chooser) Outputs() []op.Type { return []op.Type{typed(dtype.Float32, 4)} }
func (c chooser) Calls() int         { return 1 }
func (c chooser) String() string     { return "chooser" }

func (c chooser) Decided(known map[int]*op.Const) execute.Source { return chooser{c.weight, known} }

// needs asks for the elements of an input.
func (c chooser) needs(input int) error {
	return &graph.NeedsElements{Inputs: []int{input}, Err: status.Errorf(status.Unsupported, "[test] it depends on input %d", input)}
}

func (c chooser) Resolve(inputs []op.Type) (*graph.Graph, error) {
	if c.known[1] == nil {
		return nil, c.needs(1)
	}
	which, _ := c.known[1].Ints()
	number := op.Value{Kind: op.Float}
	if which[0] != 0 {
		if c.known[2] == nil {
			return nil, c.needs(1) // as the source counts them, without the one that is known
		}
		more, _ := c.known[2].Ints()
		number.F = float64(more[0])
	}
	b := graph.NewBuilder()
	x := b.Input(inputs[0])
	for i := 1; i < len(inputs); i++ {
		b.Input(inputs[i])
	}
	sum, err := b.Call(op.ByID(op.IDAdd), []graph.Value{x, b.Constant(c.weight)}, nil)
	if err == nil {
		sum, err = b.Call(op.ByID(op.IDAdd), []graph.Value{sum[0], b.Scalar(number)}, nil)
	}
	if err != nil {
		return nil, err
	}
	return b.Build(sum[0]), nil
}

// A program that is closed leaves none of its weights behind, whichever elements it was compiled for; runs that find out at the
// same time what decides are all right.
func TestDecidedProgramsAreClosed(t *testing.T) {
	rt, c := cpuWithout(t, 0)
	weight := &op.Const{Type: typed(dtype.Float32, 4), Bytes: make([]byte, 16)}
	x, err := rt.FromHost(c, dtype.Float32, typed(dtype.Float32, 4).Shape, make([]byte, 16))
	require.NoError(t, err)
	defer rt.Free(x.Handle())
	numbers := make([]*runtime.Tensor, 8)
	for i := range numbers {
		numbers[i], err = rt.FromHost(c, dtype.Int32, typed(dtype.Int32).Shape, []byte{byte(i), 0, 0, 0})
		require.NoError(t, err)
		defer rt.Free(numbers[i].Handle())
	}
	before := c.Stats().Allocated.Current
	for range 20 {
		p := execute.New(c, chooser{weight: weight})
		var all sync.WaitGroup
		for which := range 4 {
			all.Go(func() {
				for more := range numbers {
					out, err := p.Run([]*runtime.Tensor{x, numbers[which%2], numbers[more]}, nil)
					if err != nil {
						t.Errorf("which %d, more %d: %s", which%2, more, err)
						return
					}
					rt.Free(out[0].Handle())
				}
			})
		}
		all.Wait()
		p.Close()
		require.Equal(t, before, c.Stats().Allocated.Current)
	}
}
