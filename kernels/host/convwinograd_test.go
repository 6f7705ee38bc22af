package host

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/conv"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/winograd"
)

// winogradConvs are convolutions that are computed in tiles where there are vectors for them.
var winogradConvs = []convCase{
	square(64, 14, 36, 3, 1, 1, 1), square(256, 8, 32, 3, 1, 1, 1), square(33, 18, 32, 3, 1, 0, 1),
	{8, 1, 32, 33, [op.MaxSpatial]int{1, 8, 8}, [op.MaxSpatial]int{1, 3, 3}, neighbour, neighbour, [op.MaxSpatial]int{0, 1, 1}, 2}, // 16 tiles an image
	{2, 1, 32, 32, [op.MaxSpatial]int{1, 6, 30}, [op.MaxSpatial]int{1, 3, 3}, neighbour, neighbour, [op.MaxSpatial]int{0, 1, 1}, 2},
}

// needWinograd skips a test that would try the ordinary kernel, and fails it where tiles have to be.
func needWinograd(t *testing.T) {
	t.Helper()
	switch {
	case winograd.Available():
	case expectsWinograd():
		t.Fatal("winograd.Available() is false in a build with the vectors of this processor")
	default:
		t.Skip("convolutions in tiles need AVX-512 and GOEXPERIMENT=simd, or arm64 and cgo")
	}
}

// normalConv runs a conv of normal numbers, some of which change makes others, and answers its result and operands.
func normalConv(t *testing.T, c *convCase, threads int, change func(x, w []float32)) (y, x, w []float32) {
	r := rand.New(rand.NewPCG(61, 62))
	images, weight := of(dtype.Float32, dims(c.sizes(c.batch, c.groups*c.in, c.size)...)), of(dtype.Float32, dims(c.sizes(c.groups*c.out, c.in, c.kernel)...))
	out := of(dtype.Float32, dims(c.sizes(c.batch, c.groups*c.out, c.windows())...))
	normals(r, images.memory, dtype.Float32)
	normals(r, weight.memory, dtype.Float32)
	in, result := operands(images, weight), operands(out)
	x, w, y = engine.Slice[float32](in[0].Addr, in[0].Numel()), engine.Slice[float32](in[1].Addr, in[1].Numel()), engine.Slice[float32](result[0].Addr, result[0].Numel())
	change(x, w)
	rig := newRig(t, Config{Threads: threads})
	require.NoError(t, rig.call("conv", &device.Call{In: in, Out: result, Attrs: c.attrs("conv")}))
	return y, x, w
}

// TestErrorsOfWinograd bounds the error of an element, beside the sum of the sizes of its terms, by four times what errors of one rounding for each term
// are expected to add up to.
func TestErrorsOfWinograd(t *testing.T) {
	needWinograd(t)
	for _, c := range winogradConvs {
		y, x, w := normalConv(t, &c, 1, func(_, _ []float32) {})
		want, sizes := make([]float64, len(y)), make([]float64, len(y))
		c.each(func(a, b, d int) {
			product := float64(x[a]) * float64(w[b])
			want[d] += product
			sizes[d] += math.Abs(product)
		})
		worst := 0.0
		for i := range want {
			worst = max(worst, math.Abs(float64(y[i])-want[i])/sizes[i])
		}
		require.Less(t, worst, 4*0x1p-24*math.Sqrt(float64(c.in*9)), "%+v", c)
	}
}

// TestWinogradOfAnyThreads compares bits, also with those of each image alone.
func TestWinogradOfAnyThreads(t *testing.T) {
	needWinograd(t)
	for _, c := range winogradConvs {
		one, x, w := normalConv(t, &c, 1, func(_, _ []float32) {})
		for _, threads := range []int{2, 3, 8} {
			more, _, _ := normalConv(t, &c, threads, func(_, _ []float32) {})
			require.Equal(t, one, more, "%+v, %d threads", c, threads)
		}
		single, images := c, c.batch
		single.batch = 1
		for i := range images {
			alone, _, _ := normalConv(t, &single, 1, func(image, weight []float32) {
				copy(image, x[i*len(image):])
				copy(weight, w)
			})
			require.Equal(t, one[i*len(alone):][:len(alone)], alone, "%+v, image %d", c, i)
		}
	}
}

// requireBits compares elements, of which NaN equals NaN.
func requireBits(t *testing.T, want, got []float32, format string, args ...any) {
	t.Helper()
	for i, v := range want {
		if v == v || got[i] == got[i] {
			require.Equal(t, math.Float32bits(v), math.Float32bits(got[i]), format, args)
		}
	}
}

// TestWinogradOfInfinities has elements of which tiles make NaN of others than those that see them, and those that overflow. An infinite
// weight is in the middle of its kernel, which sees no padding.
func TestWinogradOfInfinities(t *testing.T) {
	needWinograd(t)
	inf := float32(math.Inf(1))
	for _, c := range winogradConvs[2:] {
		for name, change := range map[string]func(x, w []float32){
			"infinity":        func(x, _ []float32) { x[len(x)/2] = inf },
			"NaN":             func(x, _ []float32) { x[len(x)-1] = float32(math.NaN()) },
			"infinite weight": func(_, w []float32) { w[len(w)-5] = -inf },
			"both":            func(x, w []float32) { x[0], w[9*c.in+4] = inf, inf },
			"overflow": func(x, w []float32) {
				x[0], x[2] = math.MaxFloat32, -math.MaxFloat32
				for i := range w {
					w[i] /= 64
				}
			},
		} {
			y, x, w := normalConv(t, &c, 2, change)
			for _, threads := range []int{1, 3, 8} {
				other, _, _ := normalConv(t, &c, threads, change)
				requireBits(t, y, other, "%s, %d threads, %+v", name, threads, c)
			}
			single := c
			single.batch = 1
			for i := range c.batch {
				alone, _, _ := normalConv(t, &single, 1, func(image, weight []float32) {
					copy(image, x[i*len(image):])
					copy(weight, w)
				})
				requireBits(t, y[i*len(alone):][:len(alone)], alone, "%s, image %d, %+v", name, i, c)
			}
			want := make([]float64, len(y))
			c.each(func(a, b, d int) { want[d] += float64(x[a]) * float64(w[b]) })
			for i := range want {
				switch got, sum := float64(y[i]), float64(float32(want[i])); {
				case math.IsNaN(sum):
					require.True(t, math.IsNaN(got), "%s, element %d of %+v", name, i, c)
				case math.IsInf(sum, 0):
					require.Equal(t, sum, got, "%s, element %d of %+v", name, i, c) //nolint:testifylint // the sign of an infinity
				default:
					require.False(t, math.IsNaN(got) || math.IsInf(got, 0), "%s, element %d of %+v", name, i, c)
				}
			}
		}
	}
}

// TestWinogradIsChosen says which convolutions are computed in tiles.
func TestWinogradIsChosen(t *testing.T) {
	needWinograd(t)
	for _, test := range []struct {
		c  convCase
		ok bool
	}{
		{square(64, 56, 64, 3, 1, 1, 1), true},
		{square(512, 7, 512, 3, 1, 1, 1), true},
		{square(64, 56, 128, 3, 1, 1, 2), true},
		{square(64, 56, 64, 3, 2, 1, 1), false},
		{square(64, 56, 64, 5, 1, 1, 1), false},
		{square(64, 56, 64, 1, 1, 1, 1), false},
		{square(64, 56, 64, 3, 1, 1, 64), false},
		{square(3, 56, 64, 3, 1, 1, 1), false},
		{square(64, 5, 64, 3, 1, 1, 1), false},
		{convCase{1, 1, 32, 32, [op.MaxSpatial]int{1, 3, 33}, [op.MaxSpatial]int{1, 3, 3}, neighbour, neighbour, [op.MaxSpatial]int{}, 2}, false}, // one line
	} {
		c := &test.c
		in := operands(of(dtype.Float32, dims(c.sizes(c.batch, c.groups*c.in, c.size)...)), of(dtype.Float32, dims(c.sizes(c.groups*c.out, c.in, c.kernel)...)))
		out := operands(of(dtype.Float32, dims(c.sizes(c.batch, c.groups*c.out, c.windows())...)))
		w, err := op.WindowsOf(op.MustByName("conv"), c.attrs("conv"), 2)
		require.NoError(t, err)
		ok, _ := conv.InTiles(&in[1], &out[0], &w)
		require.Equal(t, test.ok, ok, "%+v", c)
	}
}

// fewTileConvs have 4 to 15 tiles an image, which is too few for each image and enough for all 8: a batch must not change the choice.
var fewTileConvs = []convCase{
	{8, 1, 40, 33, [op.MaxSpatial]int{1, 7, 6}, [op.MaxSpatial]int{1, 3, 3}, neighbour, neighbour, [op.MaxSpatial]int{0, 1, 1}, 2},
	{8, 1, 64, 64, [op.MaxSpatial]int{1, 4, 8}, [op.MaxSpatial]int{1, 3, 3}, neighbour, neighbour, [op.MaxSpatial]int{0, 1, 1}, 2},
	{8, 1, 32, 32, [op.MaxSpatial]int{1, 6, 8}, [op.MaxSpatial]int{1, 3, 3}, neighbour, neighbour, [op.MaxSpatial]int{0, 1, 1}, 2},
}

// TestABatchDoesNotChangeTheChoiceOfTiles compares the bits of images of few tiles in a batch of 8 with those of each alone.
func TestABatchDoesNotChangeTheChoiceOfTiles(t *testing.T) {
	needWinograd(t)
	for _, c := range fewTileConvs {
		all, x, w := normalConv(t, &c, 2, func(_, _ []float32) {})
		single := c
		single.batch = 1
		for i := range c.batch {
			alone, _, _ := normalConv(t, &single, 1, func(image, weight []float32) {
				copy(image, x[i*len(image):])
				copy(weight, w)
			})
			require.Equal(t, alone, all[i*len(alone):][:len(alone)], "%+v, image %d", c, i)
		}
	}
}

// byTerms is the result of a conv that is computed term by term.
func byTerms(t *testing.T, c *convCase, x, w []float32) []float32 {
	t.Helper()
	r := newRig(t, Config{Threads: 1, TermByTerm: true})
	images, weight := of(dtype.Float32, dims(c.sizes(c.batch, c.groups*c.in, c.size)...)), of(dtype.Float32, dims(c.sizes(c.groups*c.out, c.in, c.kernel)...))
	out := of(dtype.Float32, dims(c.sizes(c.batch, c.groups*c.out, c.windows())...))
	in, result := operands(images, weight), operands(out)
	copy(engine.Slice[float32](in[0].Addr, in[0].Numel()), x)
	copy(engine.Slice[float32](in[1].Addr, in[1].Numel()), w)
	require.NoError(t, r.call("conv", &device.Call{In: in, Out: result, Attrs: c.attrs("conv")}))
	return engine.Slice[float32](result[0].Addr, result[0].Numel())
}

// TestUnevenOperandsOfWinograd has kernels of one tap, whose result is the image bit for bit, and operands of which one element is large:
// what they touch has the bits of a sum term by term, and the rest still those of tiles. Threads change nothing.
func TestUnevenOperandsOfWinograd(t *testing.T) {
	needWinograd(t)
	for _, c := range winogradConvs {
		perRow, perImage := c.in*9, c.groups*c.in*c.size[1]*c.size[2]
		for name, test := range map[string]struct {
			change func(x, w []float32)
			row    func(row int) bool   // whether rows of the weight are uneven
			image  func(image int) bool // and images, for one of their groups at least
		}{
			"one tap": {func(_, w []float32) {
				clear(w[perRow:][:perRow])
				w[perRow+4] = 1
			}, func(row int) bool { return row == 1 }, func(int) bool { return false }},
			"a kernel of nothing": {func(_, w []float32) { clear(w[:perRow]) }, func(int) bool { return false }, func(int) bool { return false }},
			"all of one tap": {func(_, w []float32) {
				clear(w)
				for row := range len(w) / perRow {
					w[row*perRow+9*(row%c.in)+4] = 1
				}
			}, func(int) bool { return true }, func(int) bool { return false }},
			"a large weight":  {func(_, w []float32) { w[2*perRow+3] = 1e6 }, func(row int) bool { return row == 2 }, func(int) bool { return false }},
			"a large element": {func(x, _ []float32) { x[perImage/3] = 1e4 }, func(int) bool { return false }, func(image int) bool { return image == 0 }},
		} {
			y, x, w := normalConv(t, &c, 1, test.change)
			want := byTerms(t, &c, x, w)
			for _, threads := range []int{2, 5} {
				more, _, _ := normalConv(t, &c, threads, test.change)
				require.Equal(t, y, more, "%s, %+v, %d threads", name, c, threads)
			}
			plane := len(y) / c.batch / (c.groups * c.out)
			differs, all := false, true
			for i := range len(y) / plane {
				image, row := i/(c.groups*c.out), i%(c.groups*c.out)
				got, exact := y[i*plane:][:plane], want[i*plane:][:plane]
				if test.row(row) || test.image(image) && row < c.out {
					require.Equal(t, exact, got, "%s, %+v, image %d, row %d", name, c, image, row)
					continue
				}
				all, differs = false, differs || !slices.Equal(exact, got)
			}
			require.Equal(t, !all, differs, "%s, %+v: the rest is still computed in tiles", name, c)
		}
	}
}
