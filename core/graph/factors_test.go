package graph

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// floats is a constant of these dimensions with elements from first on, in steps of one.
func floats(b *Builder, first float32, dims ...int64) Value {
	k := &op.Const{Type: typed(dtype.Float32, dims...)}
	for i := range k.Shape.Numel() {
		k.Bytes = binary.LittleEndian.AppendUint32(k.Bytes, math.Float32bits(first+float32(i)))
	}
	return b.Constant(k)
}

// elements are those of a constant.
func elements(k *op.Const) (all []float32) {
	for at := 0; at < len(k.Bytes); at += 4 {
		all = append(all, math.Float32frombits(binary.LittleEndian.Uint32(k.Bytes[at:])))
	}
	return all
}

// combined is a Combine of float32 that computes one element after the other.
func combined(row *op.Row, x, y *op.Const, dims shape.Shape) (*op.Const, error) {
	out := &op.Const{Type: x.Type, Bytes: make([]byte, len(x.Bytes))}
	left, right := elements(x), elements(y)
	for i := range x.Shape.Numel() {
		number, j, step := i, int64(0), int64(1)
		for axis := x.Shape.Rank - 1; axis >= 0; axis-- {
			d := int64(1)
			if from := axis - (x.Shape.Rank - dims.Rank); from >= 0 {
				d = dims.Dims[from]
			}
			j += number % x.Shape.Dims[axis] % d * step
			number, step = number/x.Shape.Dims[axis], step*d
		}
		a, b := left[i], right[j]
		v := map[op.Factor]float32{op.Times: a * b, op.Plus: a + b, op.Over: a / b}[row.Factor]
		binary.LittleEndian.PutUint32(out.Bytes[4*i:], math.Float32bits(v))
	}
	return out, nil
}

// factored are graphs with factors that go into weights, and with others that stay.
var factored = map[string]func(t testing.TB, b *Builder) []Value{
	"factors_conv": func(t testing.TB, b *Builder) []Value { // conv, bias, and a batch normalization
		x := b.Input(typed(dtype.Float32, 2, 3, 5, 5))
		y := b.must(t, "add", nil, b.must(t, "conv", nil, x, floats(b, 1, 2, 3, 1, 1)), floats(b, 10, 2, 1, 1))
		y = b.must(t, "add", nil, b.must(t, "multiply", nil, floats(b, 2, 1, 2, 1, 1), y), floats(b, 100, 1, 2, 1, 1))
		return []Value{b.must(t, "relu", nil, y)}
	},
	"factors_bare": func(t testing.TB, b *Builder) []Value { // conv and a batch normalization
		x := b.Input(typed(dtype.Float32, 2, 3, 5, 5))
		y := b.must(t, "multiply", nil, b.must(t, "conv", nil, x, floats(b, 1, 2, 3, 1, 1)), floats(b, 2, 2, 1, 1))
		return []Value{b.must(t, "relu", nil, b.must(t, "add", nil, y, floats(b, 100, 2, 1, 1)))}
	},
	"factors_matmul": func(t testing.TB, b *Builder) []Value {
		x := b.Input(typed(dtype.Float32, 4, 3))
		y := b.must(t, "multiply", nil, b.must(t, "matmul", nil, x, floats(b, 1, 3, 2)), floats(b, 2, 2))
		turned := op.Attrs{{Kind: op.Bool}, {Kind: op.Bool, I: 1}}
		z := b.must(t, "divide", nil, b.must(t, "matmul", turned, x, floats(b, 1, 2, 3)), floats(b, 2, 2))
		return []Value{y, b.must(t, "multiply", nil, z, floats(b, 4, 1))}
	},
	"factors_last": func(t testing.TB, b *Builder) []Value { // channels are the last axis
		x, last := b.Input(typed(dtype.Float32, 2, 2, 5, 3)), op.Attrs{{}, {}, {}, {}, {Kind: op.Bool, I: 1}}
		y := b.must(t, "multiply", nil, b.must(t, "conv", last, x, floats(b, 1, 2, 3, 1, 1)), floats(b, 2, 2))
		z := b.must(t, "conv", last, x, floats(b, 1, 2, 3, 1, 1)) // another axis of as many elements
		return []Value{y, b.must(t, "multiply", nil, z, floats(b, 2, 2, 1, 1))}
	},
	"factors_stay": func(t testing.TB, b *Builder) []Value {
		x, w, k := b.Input(typed(dtype.Float32, 4, 3)), floats(b, 1, 3, 2), floats(b, 2, 2)
		twice := b.must(t, "matmul", nil, x, w) // read twice
		rows := b.must(t, "multiply", nil, b.must(t, "matmul", nil, x, w), floats(b, 1, 4, 1))
		inverse := b.must(t, "divide", nil, k, b.must(t, "matmul", nil, x, w))
		given := b.must(t, "multiply", nil, b.must(t, "matmul", nil, x, b.Input(typed(dtype.Float32, 3, 2))), k)
		wider := b.must(t, "multiply", nil, b.must(t, "matmul", nil, x, w), floats(b, 1, 2, 1, 2))
		return []Value{b.must(t, "multiply", nil, twice, k), twice, rows, inverse, given, wider}
	},
}

// TestFactors shows graphs before and after, with the elements of the constants.
func TestFactors(t *testing.T) {
	for name, build := range factored {
		t.Run(name, func(t *testing.T) {
			b := NewBuilder()
			g := b.Build(build(t, b)...)
			before := g.String()
			after := g.TakeFactors(combined).Rewrite(DeadCode)
			require.Equal(t, before, g.String(), "the graph that was given has changed")
			require.Equal(t, g.Outputs(), after.Outputs())
			failing := func(*op.Row, *op.Const, *op.Const, shape.Shape) (*op.Const, error) {
				return nil, status.Errorf(status.OutOfMemory, "none")
			}
			require.Equal(t, before, g.TakeFactors(failing).String())
			text := before + "\n" + after.String()
			for v := range after.values {
				if k := after.values[v].data; k != nil {
					text += fmt.Sprintf("%s%s is %v\n", k.DType, &k.Shape, elements(k))
				}
			}
			golden(t, name, text)
		})
	}
}

// sound reads bits of float32; here it is asked about numbers around all limits, and in another dtype.
func TestSound(t *testing.T) {
	inf, least := math.Inf(1), 0x1p-126
	for _, v := range []float64{0, math.Copysign(0, -1), 1, -1, least, -least, least / 2, -least / 2, 0x1p-149, math.MaxFloat32, -math.MaxFloat32, inf, -inf, math.NaN()} {
		for _, d := range []dtype.DType{dtype.Float32, dtype.Float64} {
			k, asked := &op.Const{Type: typed(d, 3)}, 0
			for _, x := range []float64{1, v, -2} {
				if d == dtype.Float32 {
					k.Bytes = binary.LittleEndian.AppendUint32(k.Bytes, math.Float32bits(float32(x)))
				} else {
					k.Bytes = binary.LittleEndian.AppendUint64(k.Bytes, math.Float64bits(x))
				}
			}
			finite := !math.IsNaN(v) && !math.IsInf(v, 0)
			require.Equal(t, finite, sound(k, nil), "%s %g", d, v)
			require.Equal(t, finite, sound(k, func(i int64, x float64) bool {
				asked++
				require.Equal(t, []float64{1, v, -2}[i], x)
				return false
			}))
			if d == dtype.Float32 && finite {
				require.Equal(t, map[bool]int{true: 1, false: 0}[math.Abs(v) < least], asked, "%g", v)
			}
			small := math.Abs(v) < least
			require.Equal(t, finite && !small, sound(k, func(_ int64, x float64) bool { return math.Abs(x) < least }), "%s %g", d, v)
		}
	}
	require.True(t, sound(&op.Const{Type: typed(dtype.Float32, 0)}, nil))
}
