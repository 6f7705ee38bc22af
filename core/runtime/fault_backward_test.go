package runtime_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/tape"
	"github.com/paddle-mps/paddle-mps/core/trace"
	"github.com/paddle-mps/paddle-mps/internal/sample"
)

// training is a step of training, for tests that inject failures into a device: the loss of a small network, its gradients, a
// second pass over the gradients, and the same as a program. The first error ends it, and all that it has made is freed.
type training struct {
	rt   *runtime.Runtime
	c    *runtime.Context
	side int64
	made []*runtime.Tensor
	err  error
}

// keep notes tensors to free, and the first error.
func (s *training) keep(made []*runtime.Tensor, err error) []*runtime.Tensor {
	for _, t := range made {
		if t != nil {
			s.made = append(s.made, t)
		}
	}
	if s.err == nil {
		s.err = err
	}
	return made
}

// call runs an operator in mode Recording; nil after an error.
func (s *training) call(on *runtime.Stream, name string, in []*runtime.Tensor, at ...op.Value) *runtime.Tensor {
	if s.err != nil {
		return nil
	}
	row := op.MustByName(name)
	full := make(op.Attrs, len(row.Attrs))
	for i := range full {
		full[i] = row.Attrs[i].Default
	}
	copy(full, at)
	made := s.keep(eager.In(s.rt, runtime.Recording).Call(row, operands(in...), full, s.c, on))
	if s.err != nil {
		return nil
	}
	return made[0]
}

// leaf is a matrix of one value, which asks for a gradient.
func (s *training) leaf(value float64) *runtime.Tensor {
	t := s.call(nil, "full", nil, op.Value{Kind: op.Ints, Ints: []int64{s.side, s.side}}, op.Value{Kind: op.Float, F: value}, op.Value{Kind: op.DType, I: int64(dtype.Float32)})
	if s.err == nil {
		s.err = t.Ask(true)
	}
	return t
}

// loss is the sum of tanh(x @ w) * w.
func (s *training) loss(on *runtime.Stream, x, w *runtime.Tensor) *runtime.Tensor {
	y := s.call(on, "tanh", one(s.call(on, "matmul", []*runtime.Tensor{x, w})))
	return s.call(on, "sum", one(s.call(on, "multiply", []*runtime.Tensor{y, w})))
}

// pass is a backward pass; nil after an error.
func (s *training) pass(p *tape.Pass) []*runtime.Tensor {
	if s.err != nil {
		return nil
	}
	return s.keep(tape.Backward(s.rt, p, nil))
}

// program is the loss as a program of its two operands.
func (s *training) program(x, w *runtime.Tensor) *execute.Program {
	if s.err != nil {
		return nil
	}
	tr, in, err := trace.New(s.c, []*runtime.Tensor{x, w})
	s.keep(in, err)
	if s.err != nil {
		return nil
	}
	defer tr.Abort()
	out := s.loss(tr.Stream(), in[0], in[1])
	if s.err != nil {
		return nil
	}
	p, err := tr.End(one(out))
	s.err = err
	return p
}

// add reads a number and adds it to the result.
func (s *training) add(result *float32, t *runtime.Tensor) {
	if s.err != nil {
		return
	}
	sum := s.call(nil, "sum", one(t))
	if s.err != nil {
		return
	}
	var b [4]byte
	if s.err = sum.Read(b[:]); s.err == nil {
		*result += math.Float32frombits(binary.LittleEndian.Uint32(b[:]))
	}
}

// run takes the step, and returns the sum of the gradients of x and w: from two eager passes, from a pass over a gradient,
// from two runs of the program, and from a pass over a gradient of a third. What fails later than its call is reported by the device.
func (s *training) run() (result float32, err error) {
	defer func() {
		for i := len(s.made) - 1; i >= 0; i-- {
			s.rt.Free(s.made[i].Handle())
		}
		if e := s.c.Synchronize(); err == nil {
			err = e
		}
	}()
	x, w := s.leaf(0.25), s.leaf(0.5)
	s.pass(&tape.Pass{Of: one(s.loss(nil, x, w))})
	s.pass(&tape.Pass{Of: one(s.loss(nil, x, w))}) // adds to the first
	first := s.pass(&tape.Pass{Of: one(s.loss(nil, x, w)), To: one(x), Again: true})
	if s.err == nil {
		s.pass(&tape.Pass{Of: one(s.call(nil, "sum", one(first[0])))})
	}
	p := s.program(x, w)
	if p != nil {
		defer p.Close()
	}
	for range 2 {
		if s.err == nil {
			if out := s.keep(execute.RunAs(eager.In(s.rt, runtime.Recording), p, []*runtime.Tensor{x, w}, nil, nil)); s.err == nil {
				s.pass(&tape.Pass{Of: out})
			}
		}
	}
	if s.err == nil {
		out := s.keep(execute.RunAs(eager.In(s.rt, runtime.Recording), p, []*runtime.Tensor{x, w}, nil, nil))
		first := s.pass(&tape.Pass{Of: out, To: one(x), Again: true})
		if s.err == nil {
			s.pass(&tape.Pass{Of: one(s.call(nil, "sum", one(first[0])))})
		}
	}
	for _, t := range []*runtime.Tensor{x, w} {
		if s.err == nil {
			s.add(&result, s.keep(list(tape.Gradient(t)))[0])
		}
	}
	return result, s.err
}

// list is a result as keep takes it.
func list(t *runtime.Tensor, err error) ([]*runtime.Tensor, error) { return one(t), err }

// TestEveryFailureOfATrainingStepIsClean makes each request of backward passes, and of a program that is differentiated, fail in
// turn: an error each time, nothing is left, and the next step has the right gradients.
func TestEveryFailureOfATrainingStepIsClean(t *testing.T) {
	for _, c := range []struct {
		kind string
		side int64
		idle bool
		min  int64
	}{
		{"run", 40, false, 60},
		{"compile", 40, false, 12},
		{"heap", 40, false, 1},
		{"heap", 3000, true, 8},
	} {
		t.Run(fmt.Sprintf("%s of side %d", c.kind, c.side), func(t *testing.T) {
			if testing.Short() {
				sample.Skip(t, 5, c.kind, int(c.side)+1)
			}
			var want float32
			for n := int64(0); ; n++ { // 0 is the run without a failure
				m := &machine{T: t, faults: &faults{kind: c.kind, at: n}}
				if err := m.start(c.idle); err != nil {
					require.ErrorContains(t, err, "injected")
					continue
				}
				step := func() (float32, error) { return (&training{rt: m.rt, c: m.c, side: c.side}).run() }
				result, err := step()
				over := m.count.Load() < n
				if n == 0 {
					require.NoError(t, err)
					want = result
				} else if !over {
					require.ErrorContains(t, err, "injected", "failure %d", n)
					m.at = 0
					result, err = step()
				}
				require.NoError(t, err, "failure %d, afterwards", n)
				if !c.idle { // a device that computes nothing leaves whatever was in memory
					require.NotZero(t, result)
					require.Equal(t, want, result, "failure %d, afterwards", n)
				}
				m.end(t, n)
				if over {
					require.GreaterOrEqual(t, n-1, c.min)
					t.Logf("%d failures of kind %s, each clean", n-1, c.kind)
					return
				}
			}
		})
	}
}
