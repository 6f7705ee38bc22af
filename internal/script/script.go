// Package script is a program of 50 operators, of every kind and on two streams, for tests that inject failures into
// a device: the program returns the first error and leaks nothing.
package script

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/place"
)

// Operators is the number of operators that the program runs; Run fails when it runs another number, so that an edit of
// the program cannot make it weaker unnoticed.
const Operators = 50

// Run runs the program on a device, with tensors of side x side elements, and returns a number that depends on every
// operator. The error is the first one: of a call, or of work that failed later.
func Run(rt *runtime.Runtime, c *runtime.Context, side int64) (result float64, err error) {
	s := &script{rt: rt, c: c, side: side}
	for range 2 {
		on, err := c.NewStream()
		if err != nil {
			return 0, s.close(err)
		}
		s.on = append(s.on, on)
	}
	result, err = s.run()
	// Work that fails after its call has returned is reported by the devices: copies run on either.
	cpu, _ := rt.Context(place.CPU)
	for _, c := range []*runtime.Context{c, cpu} {
		if deferred := c.Synchronize(); err == nil {
			err = deferred
		}
	}
	return result, s.close(err)
}

// script is a run of the program: its device and streams, and the tensors to free. After the first error its methods do nothing, so that the program needs no error
// handling of its own.
type script struct {
	rt   *runtime.Runtime
	c    *runtime.Context
	on   []*runtime.Stream
	side int64
	made []*runtime.Tensor
	ops  int
	err  error
}

// close closes the streams; err, or the first error of a Close.
func (s *script) close(err error) error {
	for _, on := range s.on {
		if e := on.Close(); err == nil {
			err = e
		}
	}
	return err
}

// of makes operands of tensors.
func of(ts ...*runtime.Tensor) (in []runtime.Operand) {
	for _, t := range ts {
		in = append(in, runtime.Operand{Tensor: t})
	}
	return in
}

// Values of attributes and scalars.
func ints(v ...int64) op.Value    { return op.Value{Kind: op.Ints, Ints: v} }
func number(v float64) op.Value   { return op.Value{Kind: op.Float, F: v} }
func whole(v int64) op.Value      { return op.Value{Kind: op.Int, I: v} }
func kind(d dtype.DType) op.Value { return op.Value{Kind: op.DType, I: int64(d)} }

// call runs an operator, on the streams in turn, and returns its first result. at has the first attributes in the
// row's order; the others have their defaults. All results are freed at the end of the program, so that a failure
// cannot leak one. After an error call does nothing and returns nil.
func (s *script) call(name string, in []runtime.Operand, at ...op.Value) *runtime.Tensor {
	if s.err != nil {
		return nil
	}
	row := op.MustByName(name)
	full := make(op.Attrs, len(row.Attrs))
	for i := range full {
		full[i] = row.Attrs[i].Default
	}
	copy(full, at)
	s.ops++
	ts, err := eager.Call(s.rt, row, in, full, s.c, s.on[s.ops%len(s.on)])
	s.made, s.err = append(s.made, ts...), err
	if err != nil {
		return nil
	}
	return ts[0]
}

// two runs an operator of two tensors.
func (s *script) two(name string, x, y *runtime.Tensor) *runtime.Tensor {
	return s.call(name, of(x, y))
}

// by runs an operator of a tensor and a number, which takes the dtype of the tensor: a scalar operand instead of a
// second tensor.
func (s *script) by(name string, x *runtime.Tensor, v float64) *runtime.Tensor {
	return s.call(name, append(of(x), runtime.Operand{Value: number(v)}))
}

// full makes a tensor of side x side elements, all with one value: exact in float16, so that casts lose nothing.
func (s *script) full(v float64, d dtype.DType) *runtime.Tensor {
	return s.call("full", nil, ints(s.side, s.side), number(v), kind(d))
}

// roundTrip copies a tensor to the CPU and back, which uses the copy paths of both devices.
func (s *script) roundTrip(x *runtime.Tensor) *runtime.Tensor {
	for _, p := range []place.Place{place.CPU, s.c.Place()} {
		if s.err != nil {
			return nil
		}
		there, err := s.rt.Context(p)
		if err != nil {
			s.err = err
			return nil
		}
		x, s.err = x.To(there, true, nil)
		if s.err == nil {
			s.made = append(s.made, x)
		}
	}
	return x
}

// run is the program: arithmetic with casts, views, copies and copies between places, then mixed, then reductions.
func (s *script) run() (result float64, err error) {
	defer func() {
		for _, t := range s.made {
			s.rt.Free(t.Handle())
		}
	}()
	x, h := s.full(1.5, dtype.Float32), s.full(0.25, dtype.Float16)
	total := s.two("add", x, h) // casts h
	// Consecutive operators run on different streams and each round uses the result of the one before, so that a
	// missed hazard or a lost failure changes the result.
	for i := range 4 {
		y := s.by("multiply", total, 0.5)
		turned := s.call("transpose", of(y), ints(1, 0))
		flat := s.call("reshape", of(turned), ints(-1)) // copies
		square := s.call("reshape", of(flat), ints(s.side, s.side))
		z := s.two("maximum", square, x)
		if i == 2 {
			z = s.roundTrip(z)
		}
		total = s.two("add", z, total)
	}
	total = s.two("add", total, s.mixed(x))
	all := s.call("concat", of(total, x))
	s.call("split", of(all), ints(2))
	soft := s.call("softmax", of(all), whole(-1))
	sum := s.call("sum", of(s.two("add", all, soft)))
	if s.err != nil {
		return 0, s.err
	}
	if s.ops != Operators {
		return 0, status.Errorf(status.Internal, "[script] has %d operators; want %d", s.ops, Operators)
	}
	// The only read, at the very end: until then failures have to travel along the data.
	var b [4]byte
	err = sum.Read(b[:])
	return float64(math.Float32frombits(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)), err
}

// mixed runs 17 operators of the other kinds: a product, random numbers, indexing, comparisons, a result whose size
// depends on the data, reductions. Random numbers are used only in ways that give the same result for
// every seed.
func (s *script) mixed(x *runtime.Tensor) *runtime.Tensor {
	product := s.two("matmul", x, x)
	drawn := s.call("uniform", nil, ints(s.side), number(0), number(0.5), kind(dtype.Float32))
	nothing := s.call("floor", of(drawn)) // zeros, whatever was drawn
	order := s.call("randperm", nil, whole(s.side), kind(dtype.Int64))
	rows := s.two("gather", x, order) // all rows are equal
	line := s.call("linspace", nil, number(0), number(1), whole(s.side), kind(dtype.Float32))
	mask := s.by("greater_than", line, 0.5)
	found := s.call("nonzero", of(mask))
	count := s.call("sum", of(s.call("cast", of(found), kind(dtype.Float32))))
	best := s.call("argmax", of(line))
	mean := s.call("mean", of(rows))
	chosen := s.call("where", of(mask, line, nothing))
	some := s.two("add", s.two("add", product, chosen), s.two("multiply", mean, count))
	return s.two("add", some, best)
}
