package runtime_test

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/core/text"
)

// shouting is a source that returns a vector of strings twice, with "!" behind each of them, one after the other, and a vector of
// float32 as it is.
type shouting struct{ model *text.Model }

func (shouting) Inputs() []op.Type {
	return []op.Type{typed(dtype.Int64, -1), typed(dtype.Float32, -1)}
}

func (shouting) Outputs() []op.Type {
	return []op.Type{typed(dtype.Int64, -1), typed(dtype.Float32, -1)}
}
func (shouting) Calls() int                    { return 2 }
func (shouting) String() string                { return "shouting" }
func (s shouting) Strings() *text.Model        { return s.model }
func (shouting) StringInputs() []string        { return []string{"the words", ""} }
func (shouting) StringOutputs() ([]bool, bool) { return []bool{true, false}, false }
func (shouting) Resolve([]op.Type) (*graph.Graph, error) {
	return nil, status.Errorf(status.Internal, "a source with stages was resolved as a whole")
}

func (s shouting) Stage(in []op.Type) (*graph.Graph, *graph.Stage, error) {
	b := graph.NewBuilder()
	x := b.Input(in[0])
	b.Input(in[1])
	shout := func(t *text.Table, in []*op.Const) ([]*op.Const, error) {
		ids, _ := in[0].Ints()
		list, err := t.Texts(ids)
		if err != nil {
			return nil, err
		}
		k := &op.Const{Type: in[0].Type}
		for _, s := range list {
			if s == "quiet" {
				return nil, status.Errorf(status.Invalid, "[shouting] got %q", s)
			}
			id, err := t.ID(s + "!")
			if err != nil {
				return nil, err
			}
			k.Bytes = binary.LittleEndian.AppendUint64(k.Bytes, uint64(id))
		}
		return []*op.Const{k}, nil
	}
	return b.Build(x), &graph.Stage{Strings: shout, Model: s.model, Operands: 1, Inputs: []int{1}, Rest: repeated{s}}, nil
}

// repeated is the rest, for the strings and the vector.
type repeated struct{ shouting }

func (repeated) Stage(in []op.Type) (*graph.Graph, *graph.Stage, error) {
	b := graph.NewBuilder()
	x, y := b.Input(in[0]), b.Input(in[1])
	out, err := b.Call(op.MustByName("concat"), []graph.Value{x, x}, nil)
	if err != nil {
		return nil, nil, err
	}
	return b.Build(out[0], y), nil, nil
}

// words is a vector of strings.
func (w *world) words(list ...string) *runtime.Tensor {
	wire, err := text.Encode(list)
	require.NoError(w, err)
	t, err := execute.FromStrings(w.rt, w.cpu, typed(dtype.Int64, int64(len(list))).Shape, wire)
	require.NoError(w, err)
	return t
}

// list is the strings of a tensor.
func (w *world) list(t *runtime.Tensor) []string {
	wire, err := execute.Strings(t)
	require.NoError(w, err)
	list, err := text.Decode("list", wire, t.Numel())
	require.NoError(w, err)
	return list
}

// Runs from many goroutines have tables of their own, and leave nothing.
func TestStrings(t *testing.T) {
	w := newWorld(t)
	m := &text.Model{}
	m.Add("word 1!")
	p := execute.New(w.cpu, shouting{m})
	defer p.Close()
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 50 {
				list, want := []string{"", "a\x00", "a"}, []string{"!", "a\x00!", "a!"}
				for j := range i % 7 {
					s := fmt.Sprintf("word %d", g*j)
					list, want = append(list, s), append(want, s+"!")
				}
				x, y := w.words(list...), w.vector(1, 2)
				require.True(w, execute.HasStrings(x))
				out := w.run(p, x, y)
				require.False(w, execute.HasStrings(out[1]))
				require.Equal(w, append(want, want...), w.list(out[0]))
				require.Equal(w, []float32{1, 2}, w.floats(out[1]))
				w.free(append(out, x, y)...)
			}
		})
	}
	all.Wait()
	none, three := w.words(), w.vector(3)
	out := w.run(p, none, three)
	require.True(t, execute.HasStrings(out[0]))
	require.Empty(t, w.list(out[0]))
	w.free(append(out, none, three)...)
	x, y := w.words("a"), w.vector(1)
	r := w.start(p, new(atomic.Int64), x, y)
	made, err := r.Wait()
	require.NoError(t, err)
	require.Equal(t, []string{"a!", "a!"}, w.list(made[0]))
	w.free(append(made, x, y)...)
	r.Free()
}

// What is wrong with strings is an error that leaves nothing.
func TestWrongStrings(t *testing.T) {
	w := newWorld(t)
	p, other := execute.New(w.cpu, shouting{}), execute.New(w.cpu, positives{})
	defer p.Close()
	defer other.Close()
	x, y := w.words("a"), w.vector(1)
	defer w.free(x, y)
	live := w.rt.Live()
	for _, test := range []struct {
		in   []*runtime.Tensor
		want string
	}{
		{[]*runtime.Tensor{y, y}, "[program] input 0 is a tensor of float32[1]; want a tensor of strings for the words"},
		{[]*runtime.Tensor{x, x}, "[program] input 1 is a tensor of strings; want one of float32"},
		{[]*runtime.Tensor{x}, "[program] got 1 inputs; want 2"},
	} {
		_, err := p.Run(test.in, nil)
		require.EqualError(t, err, test.want)
	}
	quiet := w.words("loud", "quiet")
	_, err := p.Run([]*runtime.Tensor{quiet, y}, nil)
	require.EqualError(t, err, `[shouting] got "quiet"`)
	_, err = other.Run([]*runtime.Tensor{quiet}, nil)
	require.EqualError(t, err, "[program] input 0 is a tensor of strings; want one of float32")
	_, err = execute.RunAs(eager.In(w.rt, runtime.NonBlocking), p, []*runtime.Tensor{quiet, y}, nil, nil)
	require.ErrorAs(t, err, new(*runtime.Long), "it waits for the numbers")
	err = execute.RunInto(eager.In(w.rt, 0), p, []*runtime.Tensor{x, y}, []*runtime.Tensor{quiet, y}, nil)
	require.ErrorContains(t, err, "an output is strings")
	_, err = execute.Strings(y)
	require.EqualError(t, err, "[tensor_get_strings] got a tensor of float32; want one of strings")
	require.NoError(t, quiet.Write(make([]byte, 16)))
	require.Equal(t, []string{"loud", "loud"}, w.list(quiet))
	require.NoError(t, quiet.Write([]byte{2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}))
	_, err = execute.Strings(quiet)
	require.ErrorContains(t, err, "were overwritten")
	_, err = p.Run([]*runtime.Tensor{quiet, y}, nil)
	require.ErrorContains(t, err, "were overwritten")
	w.free(quiet)
	_, err = execute.FromStrings(w.rt, w.cpu, typed(dtype.Int64, 1).Shape, []byte{1, 0, 0, 0, 0xff})
	require.EqualError(t, err, "[tensor_from_strings] string 0 is not UTF-8")
	require.Equal(t, live, w.rt.Live())
	again := w.vector(1) // in a record that strings had
	require.False(t, execute.HasStrings(again))
	w.free(again)
}
