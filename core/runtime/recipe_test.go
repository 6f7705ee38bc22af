package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// A warm call is found by what it agrees in with an earlier one, so that these tests repeat calls that agree in as much
// as can be, and differ in what is not looked up: elements, numbers and addresses.

// scratch is tensors that are freed together.
type scratch struct {
	*world
	made []*runtime.Tensor
}

// of notes tensors and makes operands of them.
func (s *scratch) of(ts ...*runtime.Tensor) []runtime.Operand {
	s.made = append(s.made, ts...)
	return of(ts...)
}

// read is the elements of the result of a call, as float32.
func (s *scratch) read(name string, in []runtime.Operand, at ...op.Value) []float32 {
	s.Helper()
	made := s.call("cast", s.of(s.call(name, in, at...)), op.Value{Kind: op.DType, I: int64(dtype.Float32)})
	s.of(made)
	return s.floats(made)
}

// drop frees the tensors.
func (s *scratch) drop() {
	s.free(s.made...)
	s.made = nil
}

// given is a number as an operand, absent one that is left out.
func given(f float64) runtime.Operand {
	return runtime.Operand{Value: op.Value{Kind: op.Float, F: f}}
}

var absent runtime.Operand

// TestWarmCalls makes each call with other elements and numbers each time.
func TestWarmCalls(t *testing.T) {
	newWorld(t).each(func(w *world, c *runtime.Context) {
		s := &scratch{world: w}
		for n := range int64(6) {
			f := float32(n)
			x, y := s.of(w.f32(c, []float32{f, 2 * f}, 2)), s.of(w.i64(c, byte(n), byte(2*n)))
			low := 1000 * (n - 2) // below, within and above uint8
			bytes := s.of(w.call("cast", y, op.Value{Kind: op.DType, I: int64(dtype.Uint8)}))
			inside := float32(min(max(low, 0), 255))
			for i, pair := range [][2][]float32{
				{s.read("add", append(x, x...)), {2 * f, 4 * f}},
				{s.read("multiply", append(y, given(float64(n)+0.5))), {f * (f + 0.5), 2 * f * (f + 0.5)}},
				{s.read("add", append(x, s.of(w.f32(w.cpu, []float32{f + 0.5}))...)), {2*f + 0.5, 3*f + 0.5}},
				{s.read("clip", append(bytes, runtime.Operand{Value: op.Value{Kind: op.Int, I: low}}, absent)), {max(f, inside), max(2*f, inside)}},
				{s.read("clip", append(x, given(1), given(float64(n)))), {min(max(f, 1), f), min(max(2*f, 1), f)}},
				{s.read("sum", x), {3 * f}},
				{s.read("reshape", x, ints(2, 1)), {f, 2 * f}},
				{s.read("leaky_relu", s.of(w.call("neg", x)), op.Value{Kind: op.Float, F: float64(n)}), {-f * f, -2 * f * f}},
				{s.read("tile", x, ints(1+n%2)), []float32{f, 2 * f, f, 2 * f}[:2+2*(n%2)]},
			} {
				require.Equal(w, pair[1], pair[0], "case %d, call %d", i, n)
			}
			s.drop()
		}
	})
}

// TestWarmCallsInto makes calls between views that agree in everything but where they lie: the output may be apart from
// the operands, one of them, or share some elements with them. What is written is what the same call returns.
func TestWarmCallsInto(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	newWorld(t).each(func(w *world, c *runtime.Context) {
		s, room := &scratch{world: w}, make([]float32, 20_000) // more than a kernel reads before it writes
		for n := range 100 {
			for i := range room {
				room[i] = float32(rng.IntN(100))
			}
			step := 1 + rng.Int64N(2)
			memory := s.of(w.f32(c, room, int64(len(room))), w.f32(c, room, int64(len(room))))
			part := func(of runtime.Operand) runtime.Operand {
				at := rng.Int64N(4)
				v, err := of.Tensor.Index([]runtime.IndexItem{{Kind: runtime.IndexSlice, Has: 7, Start: at, Stop: at + int64(len(room)) - 4, Step: step}})
				require.NoError(w, err)
				return s.of(v)[0]
			}
			in, out := []runtime.Operand{part(memory[0]), part(memory[0])}, part(memory[rng.IntN(2)])
			want := s.read("subtract", in)
			require.NoError(w, eager.CallInto(w.rt, op.MustByName("subtract"), in, nil, out.Tensor, nil))
			require.Equal(w, want, s.read("assign", []runtime.Operand{out}), "call %d", n)
			s.drop()
		}
	})
}

// TestManyCalls makes more calls than a device keeps, all of them several times.
func TestManyCalls(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		for n := range int64(5000) {
			size, err := shape.Of(n%50+1, n/50+1)
			require.NoError(t, err)
			x, err := w.rt.Empty(w.cpu, dtype.Uint8, size, nil)
			require.NoError(t, err)
			y := w.call("concat", of(x, x))
			require.Equal(t, fmt.Sprintf("[%d, %d]", 2*size.Dims[0], size.Dims[1]), y.Shape.String())
			w.free(x, y)
		}
	}
}
