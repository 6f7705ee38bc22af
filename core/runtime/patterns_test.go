package runtime_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/place"
)

// expressions are four functions of lines of five elements, spelled out: layer norm, RMS norm, gelu by erf and softmax.
func expressions(t testing.TB, b *graph.Builder, x graph.Value) []graph.Value {
	call := func(name string, at op.Attrs, in ...graph.Value) graph.Value {
		out, err := b.Call(op.MustByName(name), in, at)
		require.NoError(t, err)
		return out[0]
	}
	k := func(f float64) graph.Value { return b.Scalar(double(f)) }
	keep := op.Value{Kind: op.Bool, I: 1}
	mean := func(x graph.Value) graph.Value { return call("mean", op.Attrs{ints(-1), keep}, x) }
	normal := func(x graph.Value) graph.Value {
		return call("divide", nil, x, call("sqrt", nil, call("add", nil, mean(call("square", nil, x)), k(1e-3))))
	}
	phi := call("add", nil, call("erf", nil, call("divide", nil, x, k(math.Sqrt2))), k(1))
	e := call("exp", nil, call("subtract", nil, x, call("max", op.Attrs{ints(-1), keep}, x)))
	return []graph.Value{
		normal(call("subtract", nil, x, mean(x))),
		normal(x),
		call("multiply", nil, call("multiply", nil, x, phi), k(0.5)),
		call("divide", nil, e, call("sum", op.Attrs{ints(-1), {}, keep}, e)),
	}
}

// expected are the same of one line, in float64.
func expected(line []float32) (all [4][]float64) {
	total, squares, largest, exponentials := 0.0, 0.0, math.Inf(-1), 0.0
	for _, v := range line {
		total, squares, largest = total+float64(v), squares+float64(v)*float64(v), max(largest, float64(v))
	}
	n := float64(len(line))
	deviation := 0.0
	for _, v := range line {
		exponentials += math.Exp(float64(v) - largest)
		deviation += (float64(v) - total/n) * (float64(v) - total/n)
	}
	for _, f := range line {
		v := float64(f)
		all[0] = append(all[0], (v-total/n)/math.Sqrt(deviation/n+1e-3))
		all[1] = append(all[1], v/math.Sqrt(squares/n+1e-3))
		all[2] = append(all[2], v*math.Erfc(-v/math.Sqrt2)/2)
		all[3] = append(all[3], math.Exp(v-largest)/exponentials)
	}
	return all
}

// Expressions that one row computes are one step each, and have the accuracy of the row: for lines whose mean is large beside
// their deviation, and where 1 + erf cancels, the calls one by one do not.
func TestPatternsAreAsAccurateAsTheirRows(t *testing.T) {
	lines := []float32{
		-5, -4.5, -3.25, -2, -1,
		1000, 1000.5, 1001, 1000.25, 999.75,
		0, 0.5, 1e-3, 3, -0.125,
		-80, -90, -100, -70, -85,
	}
	worst := map[bool]float64{}
	for _, with := range []bool{true, false} {
		off := graph.Patterns
		if with {
			off = 0
		}
		rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{Threads: 2}), WithoutPasses: off})
		require.NoError(t, err)
		w := &world{T: t, rt: rt}
		w.cpu, _ = rt.Context(place.CPU)
		b := graph.NewBuilder()
		p := execute.New(w.cpu, b.Build(expressions(t, b, b.Input(typed(dtype.Float32, b.Symbol(), 5)))...))
		in := w.f32(w.cpu, lines, 4, 5)
		out := w.run(p, in)
		for i := range out {
			got := w.floats(out[i])
			for j, v := range got {
				want := expected(lines[j/5*5 : j/5*5+5])[i][j%5]
				ulps := math.Abs(float64(v)-want) / math.Max(math.Ldexp(math.Abs(want), -23), 0x1p-149)
				worst[with] = max(worst[with], ulps)
			}
		}
		w.free(append(out, in)...)
		if with {
			require.Equal(t, 4, p.Info().Steps)
		} else {
			require.Greater(t, p.Info().Steps, 20)
		}
		p.Close()
		require.NoError(t, rt.Close())
	}
	require.LessOrEqual(t, worst[true], 4.0, "2 ulps, each of which is up to twice that of the largest number with its exponent")
	require.Greater(t, worst[false], 100.0, "the expressions do not tell the rows from the calls")
}

// BenchmarkPatterns is what an expression costs, recognised and call by call, of 256 lines as in a transformer.
func BenchmarkPatterns(b *testing.B) {
	names := []string{"layer_norm", "rms_norm", "gelu", "softmax"}
	for i, name := range names {
		for _, off := range []graph.Passes{0, graph.Patterns} {
			b.Run(fmt.Sprintf("%s/recognised=%t", name, off == 0), func(b *testing.B) {
				rt, c := cpuWithout(b, off)
				g := graph.NewBuilder()
				p := execute.New(c, g.Build(expressions(b, g, g.Input(typed(dtype.Float32, 256, 768)))[i]))
				defer p.Close()
				r, bytes := rand.New(rand.NewPCG(1, 2)), []byte(nil)
				for range 256 * 768 {
					bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(float32(r.NormFloat64())))
				}
				x, err := rt.FromHost(c, dtype.Float32, typed(dtype.Float32, 256, 768).Shape, bytes)
				require.NoError(b, err)
				defer rt.Free(x.Handle())
				for b.Loop() {
					out, err := p.Run([]*runtime.Tensor{x}, nil)
					if err != nil {
						b.Fatal(err)
					}
					rt.Free(out[0].Handle())
				}
			})
		}
	}
}

// plainDevice has no kernels for composites.
type plainDevice struct{ device.Device }

// An attention stays as it is on a device that would run it in terms of what it was.
func TestAttentionNeedsAKernel(t *testing.T) {
	for _, kernel := range []bool{true, false} {
		for _, off := range []graph.Passes{0, graph.Attention} {
			d := device.Device(host.New(host.Config{Threads: 1}))
			if !kernel {
				d = plainDevice{d}
			}
			rt, err := runtime.New(runtime.Config{CPU: d, WithoutPasses: off})
			require.NoError(t, err)
			w := &world{T: t, rt: rt}
			w.cpu, _ = rt.Context(place.CPU)
			b := graph.NewBuilder()
			call := func(name string, at op.Attrs, in ...graph.Value) graph.Value {
				out, err := b.Call(op.MustByName(name), in, at)
				require.NoError(t, err)
				return out[0]
			}
			q := b.Input(typed(dtype.Float32, 1, 2, 2))
			scores := call("matmul", op.Attrs{{Kind: op.Bool}, {Kind: op.Bool, I: 1}}, q, q)
			p := execute.New(w.cpu, b.Build(call("matmul", nil, call("softmax", nil, scores), q)))
			in := w.f32(w.cpu, []float32{1, 0, 0, 1}, 1, 2, 2)
			out := w.run(p, in)
			share := float32(1 / (1 + math.Exp(-1)))
			require.InDeltaSlice(t, []float32{share, 1 - share, 1 - share, share}, w.floats(out[0]), 1e-6)
			want := 3
			if kernel && off == 0 {
				want = 1
			}
			require.Equal(t, want, p.Info().Steps, "a kernel: %t, without passes %b", kernel, off)
			w.free(append(out, in)...)
			p.Close()
			require.NoError(t, rt.Close())
		}
	}
}

// In terms of other rows, attention is within the roundings of its steps of what the kernel gives, in all dtypes, with masks of all
// kinds, and where heads share keys.
func TestAttentionInTermsOfOtherRows(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	values := func(n int) (list []float32) {
		for range n {
			list = append(list, float32(random.NormFloat64()))
		}
		return list
	}
	q, k, v, mask := values(2*4*5*8), values(2*2*7*8), values(2*2*7*3), values(5*7)
	for i := range 5 {
		mask[7*i] = 1 // a query sees one key at least
	}
	for d, off := range map[dtype.DType]float64{dtype.Float32: 0x1p-18, dtype.Float16: 0x1p-6, dtype.BFloat16: 0x1p-3} {
		for form := range 6 { // no mask, added, of bools; causal or not
			var results [4][]float32 // of programs with a kernel and without, and of single calls
			for i, dev := range []device.Device{host.New(host.Config{Threads: 1}), plainDevice{host.New(host.Config{Threads: 1})}} {
				rt, err := runtime.New(runtime.Config{CPU: dev})
				require.NoError(t, err)
				w := &world{T: t, rt: rt}
				w.cpu, _ = rt.Context(place.CPU)
				b := graph.NewBuilder()
				call := func(name string, at op.Attrs, in ...graph.Value) graph.Value {
					out, err := b.Call(op.MustByName(name), in, at)
					require.NoError(t, err)
					return out[0]
				}
				var in []graph.Value
				for _, dims := range [][]int64{{2, 4, 5, 8}, {2, 2, 7, 8}, {2, 2, 7, 3}, {5, 7}} {
					in = append(in, call("cast", op.Attrs{{Kind: op.DType, I: int64(d)}}, b.Input(typed(dtype.Float32, dims...))))
				}
				switch form / 2 {
				case 0:
					in[3] = b.Scalar(op.Value{})
				case 2:
					in[3] = call("greater_than", nil, in[3], b.Scalar(double(0)))
				}
				y := call("attention", op.Attrs{double(0.5), {Kind: op.Bool, I: int64(form % 2)}}, in...)
				p := execute.New(w.cpu, b.Build(call("cast", op.Attrs{{Kind: op.DType, I: int64(dtype.Float32)}}, y)))
				given := []*runtime.Tensor{
					w.f32(w.cpu, q, 2, 4, 5, 8), w.f32(w.cpu, k, 2, 2, 7, 8), w.f32(w.cpu, v, 2, 2, 7, 3), w.f32(w.cpu, mask, 5, 7),
				}
				out := w.run(p, given...)
				results[i] = w.floats(out[0])
				results[2+i] = eagerAttention(w, d, form, given)
				w.free(append(out, given...)...)
				p.Close()
				require.NoError(t, rt.Close())
			}
			for _, got := range results[1:] {
				for i := range got {
					require.InDelta(t, results[0][i], got[i], off, "%s, form %d, element %d", d, form, i)
				}
			}
		}
	}
}

// eagerAttention is the form of attention of TestAttentionInTermsOfOtherRows in single calls.
func eagerAttention(w *world, d dtype.DType, form int, given []*runtime.Tensor) []float32 {
	var made []*runtime.Tensor
	call := func(name string, at op.Attrs, in ...runtime.Operand) runtime.Operand {
		full := make(op.Attrs, len(op.MustByName(name).Attrs))
		copy(full, at)
		out, err := eager.Call(w.rt, op.MustByName(name), in, full, nil, nil)
		require.NoError(w, err)
		made = append(made, out...)
		return runtime.Operand{Tensor: out[0]}
	}
	in := make([]runtime.Operand, 4)
	for i := range in {
		in[i] = call("cast", op.Attrs{{Kind: op.DType, I: int64(d)}}, runtime.Operand{Tensor: given[i]})
	}
	switch form / 2 {
	case 0:
		in[3] = runtime.Operand{}
	case 2:
		in[3] = call("greater_than", nil, in[3], runtime.Operand{Value: double(0)})
	}
	y := call("attention", op.Attrs{double(0.5), {Kind: op.Bool, I: int64(form % 2)}}, in...)
	out := w.floats(call("cast", op.Attrs{{Kind: op.DType, I: int64(dtype.Float32)}}, y).Tensor)
	w.free(made...)
	return out
}
