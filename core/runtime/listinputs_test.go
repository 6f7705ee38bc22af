package runtime_test

import (
	"encoding/binary"
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

// listing is a source with two inputs, lists of vectors. It returns the lengths of both lists, and then the sum of all vectors.
type listing struct{}

func (listing) Inputs() []op.Type {
	return []op.Type{typed(dtype.Float32, -1), typed(dtype.Float32, -1)}
}
func (listing) Outputs() []op.Type             { return []op.Type{typed(dtype.Float32, -1)} }
func (listing) Calls() int                     { return 1 }
func (listing) String() string                 { return "listing" }
func (listing) Varies() (inputs, outputs bool) { return true, true }
func (listing) Resolve([]op.Type) (*graph.Graph, error) {
	return nil, status.Errorf(status.Unsupported, "[listing] wants a form")
}

// Formed refuses lists of no vectors.
func (listing) Formed(counts []int64) (execute.Source, error) {
	if counts[0]+counts[1] < 1 {
		return nil, status.Errorf(status.Invalid, "[listing] the lists are empty")
	}
	return summing{listing{}, counts}, nil
}

// summing is listing for a form.
type summing struct {
	listing
	counts []int64
}

func (s summing) Inputs() []op.Type {
	types := make([]op.Type, s.counts[0]+s.counts[1])
	for i := range types {
		types[i] = typed(dtype.Float32, -1)
	}
	return types
}

// Varies is that of listing: the results still begin with a form, and the inputs do not.
func (summing) Varies() (inputs, outputs bool) { return false, true }

func (s summing) Resolve(in []op.Type) (*graph.Graph, error) {
	b := graph.NewBuilder()
	var raw []byte
	for _, n := range s.counts {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(n))
	}
	form := b.Constant(&op.Const{Type: typed(dtype.Int64, 2), Bytes: raw, Local: true})
	sum := b.Input(in[0])
	for _, t := range in[1:] {
		out, err := b.Call(op.MustByName("add"), []graph.Value{sum, b.Input(t)}, nil)
		if err != nil {
			return nil, err
		}
		sum = out[0]
	}
	return b.Build(form, sum), nil
}

// form is a form as a tensor.
func (w *world) form(counts ...int64) *runtime.Tensor {
	var raw []byte
	for _, n := range counts {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(n))
	}
	t, err := w.rt.FromHost(w.cpu, dtype.Int64, typed(dtype.Int64, int64(len(counts))).Shape, raw)
	require.NoError(w, err)
	return t
}

// A program gets lists of any lengths, of more forms than it keeps programs for, from many goroutines at once.
func TestForms(t *testing.T) {
	w := newWorld(t)
	p := execute.New(w.cpu, listing{})
	defer p.Close()
	require.True(t, p.Varies())
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for k := range int64(200) {
				first, second := k%11, 1+k%9
				in := []*runtime.Tensor{w.form(first, second)}
				for i := range first + second {
					in = append(in, w.vector(float32(i), 1))
				}
				out := w.run(p, in...)
				require.Len(w, out, 2)
				n := float32(first + second)
				require.Equal(w, []float32{n * (n - 1) / 2, n}, w.floats(out[1]))
				w.free(append(out, in...)...)
			}
		})
	}
	all.Wait()
}

// Wrong forms are errors that say what is wanted, and leave nothing.
func TestWrongForms(t *testing.T) {
	w := newWorld(t)
	p := execute.New(w.cpu, listing{})
	defer p.Close()
	x := w.vector(1, 2)
	live := w.rt.Live()
	const want = "[program] the first tensor is not the form of the inputs; want int64[2], of how many tensors each input is made"
	for _, test := range []struct {
		counts []int64
		want   string
	}{
		{nil, want},
		{[]int64{1}, want},
		{[]int64{1, 1, 1}, want},
		{[]int64{0, 0}, "[listing] the lists are empty"},
		{[]int64{1, 1}, "[program] got 1 inputs; want 2"},
	} {
		form := w.form(test.counts...)
		_, err := p.Run([]*runtime.Tensor{form, x}, nil)
		require.EqualError(t, err, test.want)
		w.free(form)
	}
	for _, in := range [][]*runtime.Tensor{nil, {x}, {x, x}} {
		_, err := p.Run(in, nil)
		require.EqualError(t, err, want)
	}
	form := w.form(1, 0)
	_, err := execute.RunAs(eager.In(w.rt, runtime.NonBlocking), p, []*runtime.Tensor{form, x}, nil, nil)
	require.ErrorAs(t, err, new(*runtime.Long), "it waits for the form")
	w.free(form)
	require.Equal(t, live, w.rt.Live())
	w.free(x)
	require.Equal(t, status.Unsupported, status.CodeOf(p.Prepare(p.Inputs())))
}
