package runtime_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
)

// pair is one variable of a random program: on the CPU, and on the device under test.
type pair struct{ cpu, mps *runtime.Tensor }

// dual runs one random program twice: on the CPU, where work is complete when a call returns, and on the streams
// of a device, where only the runtime orders it.
type dual struct {
	*world
	rng     *rand.Rand
	streams []*runtime.Stream
	vars    []pair
}

const dualSize = 96 // elements of every variable

// stream is a random stream, sometimes the default one.
func (d *dual) stream() *runtime.Stream {
	if i := d.rng.IntN(len(d.streams) + 1); i > 0 {
		return d.streams[i-1]
	}
	return nil
}

func (d *dual) pick() *pair { return &d.vars[d.rng.IntN(len(d.vars))] }

func (d *dual) keep(cpu, mps *runtime.Tensor) { d.vars = append(d.vars, pair{cpu, mps}) }

// bytes is the contents of a new variable: small whole numbers, so that no step rounds.
func (d *dual) bytes() []byte {
	b := make([]byte, 4*dualSize)
	for i := range dualSize {
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(float32(d.rng.IntN(1000))))
	}
	return b
}

func (d *dual) newPair() {
	values, b := make([]float32, dualSize), d.bytes()
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	d.keep(d.f32(d.cpu, values, dualSize), d.f32(d.mps, values, dualSize))
}

var dualOps = []string{"maximum", "minimum", "subtract"}

func (d *dual) binary() {
	x, y, row := d.pick(), d.pick(), op.MustByName(dualOps[d.rng.IntN(len(dualOps))])
	run := func(x, y *runtime.Tensor, on *runtime.Stream) *runtime.Tensor {
		z, err := eager.Binary(d.rt, row, runtime.Operand{Tensor: x}, runtime.Operand{Tensor: y}, on)
		require.NoError(d, err)
		return z
	}
	d.keep(run(x.cpu, y.cpu, nil), run(x.mps, y.mps, d.stream()))
}

func (d *dual) inPlace() {
	x, y, row := d.pick(), d.pick(), op.MustByName(dualOps[d.rng.IntN(len(dualOps))])
	require.NoError(d, eager.CallInto(d.rt, row, of(x.cpu, y.cpu), nil, x.cpu, nil))
	require.NoError(d, eager.CallInto(d.rt, row, of(x.mps, y.mps), nil, x.mps, d.stream()))
}

// part copies a slice of one variable over a slice of another, or of the same.
func (d *dual) part() {
	x, y, n := d.pick(), d.pick(), 1+d.rng.Int64N(dualSize/2)
	from, to := d.rng.Int64N(dualSize-n), d.rng.Int64N(dualSize-n)
	run := func(x, y *runtime.Tensor, on *runtime.Stream) {
		cut := func(t *runtime.Tensor, start int64) *runtime.Tensor {
			v, err := t.Index([]runtime.IndexItem{{Kind: runtime.IndexSlice, Has: 3, Start: start, Stop: start + n}})
			require.NoError(d, err)
			return v
		}
		dst, src := cut(x, to), cut(y, from)
		require.NoError(d, eager.CallInto(d.rt, op.MustByName("assign"), of(src), make(op.Attrs, len(op.MustByName("assign").Attrs)), dst, on))
		d.free(dst, src)
	}
	run(x.cpu, y.cpu, nil)
	run(x.mps, y.mps, d.stream())
}

func (d *dual) write() {
	x, b := d.pick(), d.bytes()
	require.NoError(d, x.cpu.Write(b))
	require.NoError(d, x.mps.Write(b))
}

func (d *dual) drop() {
	if len(d.vars) > 3 {
		i := d.rng.IntN(len(d.vars))
		d.free(d.vars[i].cpu, d.vars[i].mps)
		d.vars = append(d.vars[:i], d.vars[i+1:]...)
	}
}

// roundTrip copies a variable to the CPU, changes the copy there, copies it back, and changes and
// frees the source of each copy at once.
func (d *dual) roundTrip() {
	x, y := d.pick(), d.pick()
	larger := op.MustByName("maximum")
	run := func(x, y *runtime.Tensor, there, back *runtime.Context) *runtime.Tensor {
		home, err := x.To(there, true, d.stream())
		require.NoError(d, err)
		require.NoError(d, eager.CallInto(d.rt, larger, of(x, y), nil, x, d.stream()))
		require.NoError(d, eager.CallInto(d.rt, larger, []runtime.Operand{{Tensor: home}, {Value: op.Value{Kind: op.Int, I: 7}}}, nil, home, nil))
		z, err := home.To(back, true, d.stream())
		require.NoError(d, err)
		require.NoError(d, eager.CallInto(d.rt, larger, []runtime.Operand{{Tensor: home}, {Value: op.Value{Kind: op.Int, I: 5000}}}, nil, home, nil))
		d.free(home)
		return z
	}
	d.keep(run(x.cpu, y.cpu, d.cpu, d.cpu), run(x.mps, y.mps, d.cpu, d.mps))
}

func (d *dual) compare(i int) {
	want, got := make([]byte, 4*dualSize), make([]byte, 4*dualSize)
	require.NoError(d, d.vars[i].cpu.Read(want))
	require.NoError(d, d.vars[i].mps.Read(got))
	require.Equal(d, want, got, "variable %d", i)
}

// TestAnyProgramOnAnyStreams compares random programs on two to four streams with the same programs on
// the CPU. Work starts after random delays, so that a hazard which the runtime misses changes the result.
func TestAnyProgramOnAnyStreams(t *testing.T) {
	programs := uint64(40)
	if testing.Short() {
		programs = 12
	}
	for _, inline := range []int64{-1, dualSize / 2} { // nothing on the caller, or slices
		for seed := range programs {
			t.Run(fmt.Sprintf("inline=%d/seed=%d", inline, seed), func(t *testing.T) {
				w, device := newSteeredWorld(t, inline)
				device.each = naps(seed)
				d := &dual{world: w, rng: rand.New(rand.NewPCG(seed, 2))}
				d.streams = w.streams(2 + d.rng.IntN(3))
				for range 4 {
					d.newPair()
				}
				steps := []func(){d.binary, d.binary, d.inPlace, d.inPlace, d.part, d.part, d.write, d.drop, d.drop, d.roundTrip}
				for range 60 {
					steps[d.rng.IntN(len(steps))]()
					if d.rng.IntN(10) == 0 {
						d.compare(d.rng.IntN(len(d.vars)))
					}
				}
				for i := range d.vars {
					d.compare(i)
				}
				require.NoError(t, w.mps.Synchronize())
				for _, v := range d.vars {
					d.free(v.cpu, v.mps)
				}
			})
		}
	}
}
