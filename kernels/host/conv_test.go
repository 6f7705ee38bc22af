package host

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/internal/sample"
)

// convCase is a convolution by its definition, with three spatial axes always.
type convCase struct {
	batch, groups, in, out               int // in and out are channels of a group
	size, kernel, stride, dilation, pads [op.MaxSpatial]int
	axes                                 int
}

// randomConv is a convolution of moderate size; the axes in front of the last axes have one element.
func randomConv(r *rand.Rand) (c convCase) {
	c = convCase{batch: 1 + r.IntN(3), groups: 1 + r.IntN(3)*r.IntN(2), in: 1 + r.IntN(9), out: 1 + r.IntN(30), axes: 1 + r.IntN(3)}
	if r.IntN(4) == 0 {
		c.in, c.out, c.groups = 1, 1+r.IntN(2), 1+r.IntN(12) // one channel a group
	}
	for i := range op.MaxSpatial {
		c.size[i], c.kernel[i], c.stride[i], c.dilation[i], c.pads[i] = 1, 1, 1, 1, 0
		if i >= op.MaxSpatial-c.axes {
			c.kernel[i], c.stride[i], c.dilation[i] = 1+r.IntN(4), 1+r.IntN(3)*r.IntN(2), 1+r.IntN(3)*r.IntN(2)
			c.pads[i] = r.IntN(3)
			c.size[i] = c.dilation[i]*(c.kernel[i]-1) + 1 + r.IntN([]int{0, 700, 40, 9}[c.axes])
		}
	}
	return c
}

// windows is the number of windows on each axis.
func (c *convCase) windows() (n [op.MaxSpatial]int) {
	for i := range n {
		n[i] = (c.size[i]+2*c.pads[i]-c.dilation[i]*(c.kernel[i]-1)-1)/c.stride[i] + 1
	}
	return n
}

// each calls f with the indices of an element of the image, of the weight and of the result, for all terms of all sums.
func (c *convCase) each(f func(x, w, y int)) {
	windows := c.windows()
	flat := func(i, size [op.MaxSpatial]int) int { return (i[0]*size[1]+i[1])*size[2] + i[2] }
	plane := func(s [op.MaxSpatial]int) int { return s[0] * s[1] * s[2] }
	spots := func(size [op.MaxSpatial]int, f func(i [op.MaxSpatial]int)) {
		for i := range plane(size) {
			f([op.MaxSpatial]int{i / size[2] / size[1], i / size[2] % size[1], i % size[2]})
		}
	}
	for image := range c.batch {
		for channel := range c.groups * c.out {
			for from := range c.in {
				source := image*c.groups*c.in + channel/c.out*c.in + from
				spots(windows, func(at [op.MaxSpatial]int) {
					spots(c.kernel, func(k [op.MaxSpatial]int) {
						var seen [op.MaxSpatial]int
						for i := range seen {
							if seen[i] = at[i]*c.stride[i] + k[i]*c.dilation[i] - c.pads[i]; seen[i] < 0 || seen[i] >= c.size[i] {
								return
							}
						}
						f(source*plane(c.size)+flat(seen, c.size), (channel*c.in+from)*plane(c.kernel)+flat(k, c.kernel), (image*c.groups*c.out+channel)*plane(windows)+flat(at, windows))
					})
				})
			}
		}
	}
}

// attrs are those of the three operators by name.
func (c *convCase) attrs(name string) op.Attrs {
	row := op.MustByName(name)
	lists := map[string][]int64{"output_padding": {}}
	windows := c.windows()
	for i := op.MaxSpatial - c.axes; i < op.MaxSpatial; i++ {
		for of, v := range map[string]int{"stride": c.stride[i], "dilation": c.dilation[i], "kernel_size": c.kernel[i]} {
			lists[of] = append(lists[of], int64(v))
		}
		lists["padding"] = append(lists["padding"], int64(c.pads[i]), int64(c.pads[i]))
		span := (windows[i]-1)*c.stride[i] + c.dilation[i]*(c.kernel[i]-1) + 1 - 2*c.pads[i]
		lists["output_padding"] = append(lists["output_padding"], int64(c.size[i]-span))
	}
	at := make(op.Attrs, len(row.Attrs))
	for i := range at {
		at[i] = row.Attrs[i].Default
		if v, ok := lists[row.Attrs[i].Name]; ok {
			at[i] = op.Value{Kind: op.Ints, Ints: v}
		} else if row.Attrs[i].Name == "groups" {
			at[i] = op.Value{Kind: op.Int, I: int64(c.groups)}
		}
	}
	return at
}

// sizes are the dimensions of images or of a weight.
func (c *convCase) sizes(outer, channels int, plane [op.MaxSpatial]int) []int64 {
	ds := []int64{int64(outer), int64(channels)}
	for i := op.MaxSpatial - c.axes; i < op.MaxSpatial; i++ {
		ds = append(ds, int64(plane[i]))
	}
	return ds
}

// specialConvs are convolutions that chance does not make.
var specialConvs = []convCase{
	// Lines so long that a strip has few channels.
	{1, 1, 3, 8, [op.MaxSpatial]int{1, 2, 22000}, [op.MaxSpatial]int{1, 3, 3}, neighbour, neighbour, [op.MaxSpatial]int{0, 1, 1}, 2},
	// Rows that are cut into parts, of a strip, of blocks, and in groups.
	square(6, 7, 100, 3, 1, 1, 1), square(3, 19, 73, 3, 2, 1, 1), square(4, 11, 240, 1, 2, 0, 2),
	{2, 1, 5, 90, [op.MaxSpatial]int{1, 4, 4}, [op.MaxSpatial]int{1, 3, 3}, neighbour, neighbour, [op.MaxSpatial]int{0, 1, 1}, 2},
	// Bands of planes.
	{1, 3, 1, 1, [op.MaxSpatial]int{1, 140, 131}, [op.MaxSpatial]int{1, 3, 5}, [op.MaxSpatial]int{1, 2, 2}, neighbour, [op.MaxSpatial]int{0, 1, 2}, 2},
	{2, 2, 1, 1, [op.MaxSpatial]int{1, 97, 66}, [op.MaxSpatial]int{1, 5, 3}, [op.MaxSpatial]int{1, 3, 1}, [op.MaxSpatial]int{1, 2, 3}, [op.MaxSpatial]int{0, 9, 1}, 2},
	{1, 1, 1, 1, [op.MaxSpatial]int{1, 1, 9000}, [op.MaxSpatial]int{1, 1, 7}, [op.MaxSpatial]int{1, 1, 2}, neighbour, [op.MaxSpatial]int{0, 0, 4}, 1},
	{1, 1, 4, 64, [op.MaxSpatial]int{3, 6, 8}, [op.MaxSpatial]int{2, 3, 3}, neighbour, neighbour, neighbour, 3},
	// Few rows of long lines.
	square(13, 130, 3, 1, 1, 0, 1),
	// Winograd: whole vectors and parts of them, pieces that transform the weight, one line, groups, images in which no window has padding, or whose
	// padding is longer than the kernel.
	square(32, 7, 40, 3, 1, 1, 1), square(33, 12, 32, 3, 1, 1, 1), square(64, 14, 66, 3, 1, 1, 2), square(32, 13, 32, 3, 1, 0, 1), square(32, 9, 33, 3, 1, 4, 1),
	{2, 1, 35, 32, [op.MaxSpatial]int{1, 5, 54}, [op.MaxSpatial]int{1, 3, 3}, neighbour, neighbour, [op.MaxSpatial]int{0, 1, 2}, 2},
	{1, 1, 32, 32, [op.MaxSpatial]int{1, 3, 280}, [op.MaxSpatial]int{1, 3, 3}, neighbour, neighbour, [op.MaxSpatial]int{0, 0, 1}, 2},
}

var neighbour = [op.MaxSpatial]int{1, 1, 1}

// square is a convolution of one image with two spatial axes of one size.
func square(channels, size, filters, side, stride, padding, groups int) convCase {
	c := convCase{batch: 1, groups: groups, in: channels / groups, out: filters / groups, axes: 2}
	c.size, c.kernel, c.stride = [op.MaxSpatial]int{1, size, size}, [op.MaxSpatial]int{1, side, side}, [op.MaxSpatial]int{1, stride, stride}
	c.dilation, c.pads = neighbour, [op.MaxSpatial]int{0, padding, padding}
	return c
}

// TestConvolutions compares the three operators with their definition. The elements are small integers, so that sums are
// exact in every order; all layouts and numbers of threads have to agree.
func TestConvolutions(t *testing.T) {
	if sample.UnderRace {
		sample.Skip(t, 5, t.Name(), 0)
	}
	r := rand.New(rand.NewPCG(21, 22))
	count := 120
	if sample.UnderRace || testing.Short() {
		count = 20
	}
	for number := range count {
		c := randomConv(r)
		if number < len(specialConvs) && count > 20 {
			c = specialConvs[number]
		}
		windows := c.windows()
		x, w, y := c.sizes(c.batch, c.groups*c.in, c.size), c.sizes(c.groups*c.out, c.in, c.kernel), c.sizes(c.batch, c.groups*c.out, windows)
		fill := func(ds []int64) []float64 {
			l := dims(ds...)
			v := make([]float64, l.Numel())
			for i := range v {
				v[i] = float64(r.IntN(5) - 2)
			}
			return v
		}
		xv, wv, yv := fill(x), fill(w), fill(y)
		xs, ws, ys := make([]float64, len(xv)), make([]float64, len(wv)), make([]float64, len(yv))
		c.each(func(a, b, d int) {
			ys[d] += xv[a] * wv[b]
			xs[a] += yv[d] * wv[b]
			ws[b] += xv[a] * yv[d]
		})
		for _, test := range []struct {
			name        string
			left, right []int64
			lv, rv      []float64
			result      []int64
			want        []float64
		}{
			{"conv", x, w, xv, wv, y, ys},
			{"conv_transpose", y, w, yv, wv, x, xs},
			{"conv_weight", x, y, xv, yv, w, ws},
		} {
			for _, d := range []dtype.DType{dtype.Float32, dtype.Float64} {
				where := []string{"contiguous", "contiguous", "transposed", "padded", "flipped"}
				lw, rw, ow := where[r.IntN(5)], where[r.IntN(5)], where[r.IntN(5)]
				left, right := place(d, layoutOf(lw, test.left), 0, test.lv...), place(d, layoutOf(rw, test.right), 0, test.rv...)
				if r.IntN(2) == 0 && rw == "contiguous" { // conv packs a weight that it knows
					right.Const = right.memory
				}
				for _, threads := range []int{1, 3} {
					out := place(d, layoutOf(ow, test.result), 0)
					rig := newRig(t, Config{Threads: threads})
					call := &device.Call{In: operands(left, right), Out: operands(out), Attrs: c.attrs(test.name)}
					require.NoError(t, rig.call(test.name, call), "%d: %s of %v, %+v, %s %s %s", number, test.name, d, c, lw, rw, ow)
					sameBits(t, positive(test.want), positive(out.values()), fmt.Sprintf("%d: %s of %v, %+v, %s %s %s, %d threads", number, test.name, d, c, lw, rw, ow, threads))
				}
			}
		}
	}
}

// positive makes +0 of -0: sums of products by their definition begin with it, whatever the order.
func positive(v []float64) []float64 {
	for i := range v {
		v[i] += 0
	}
	return v
}

func layoutOf(name string, ds []int64) shape.Layout { return layouts(ds...)[name] }

// TestConvolutionOfLongDilation needs no memory between the few elements that it sees.
func TestConvolutionOfLongDilation(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	const far = 1 << 29
	row := op.MustByName("conv")
	at := make(op.Attrs, len(row.Attrs))
	for i := range at {
		at[i] = row.Attrs[i].Default
	}
	at[op.ConvDilation] = op.Value{Kind: op.Ints, Ints: []int64{far}}
	at[op.ConvPadding] = op.Value{Kind: op.Ints, Ints: []int64{far, 0}}
	x, w, y := of(dtype.Float32, dims(1, 1, 3), 1, 2, 3), of(dtype.Float32, dims(1, 1, 2), 10, 100), of(dtype.Float32, dims(1, 1, 3))
	require.NoError(t, r.call("conv", &device.Call{In: operands(x, w), Out: operands(y), Attrs: at}))
	require.Equal(t, []float64{100, 200, 300}, y.values())
}

// BenchmarkConvolutions runs the three operators on layers of LeNet, and of networks for pictures.
func BenchmarkConvolutions(b *testing.B) {
	plane := func(n int) [op.MaxSpatial]int { return [op.MaxSpatial]int{1, n, n} }
	one := plane(1)
	for name, c := range map[string]convCase{
		"lenet1":    {64, 1, 1, 6, plane(28), plane(5), one, one, [op.MaxSpatial]int{0, 2, 2}, 2},
		"lenet2":    {64, 1, 6, 16, plane(14), plane(5), one, one, [op.MaxSpatial]int{}, 2},
		"3x3":       {1, 1, 64, 64, plane(56), plane(3), one, one, [op.MaxSpatial]int{0, 1, 1}, 2},
		"1x1":       {1, 1, 256, 64, plane(56), one, one, one, [op.MaxSpatial]int{}, 2},
		"stride":    {1, 1, 128, 128, plane(56), plane(3), plane(2), one, [op.MaxSpatial]int{0, 1, 1}, 2},
		"depthwise": {1, 96, 1, 1, plane(56), plane(5), one, one, [op.MaxSpatial]int{0, 2, 2}, 2},
		"small":     {1, 1, 512, 512, plane(7), plane(3), one, one, [op.MaxSpatial]int{0, 1, 1}, 2},
	} {
		for i := range op.MaxSpatial {
			c.stride[0], c.kernel[0] = 1, 1
			if c.size[i] == 0 {
				c.size[i] = 1
			}
		}
		x, w, y := c.sizes(c.batch, c.groups*c.in, c.size), c.sizes(c.groups*c.out, c.in, c.kernel), c.sizes(c.batch, c.groups*c.out, c.windows())
		for row, o := range map[string][3][]int64{"conv": {x, w, y}, "conv_transpose": {y, w, x}, "conv_weight": {x, y, w}} {
			b.Run(name+"/"+row, func(b *testing.B) {
				r := newRig(b, Config{Threads: 1})
				call := &device.Call{In: operands(of(dtype.Float32, dims(o[0]...), 1, 2, 0), of(dtype.Float32, dims(o[1]...), 1, 0)), Out: operands(of(dtype.Float32, dims(o[2]...))), Attrs: c.attrs(row)}
				p, err := r.compile(row, call)
				require.NoError(b, err)
				room := make([]uint64, p.Workspace(call)/8+64)
				call.Workspace = unsafe.Pointer(&room[0])
				for b.Loop() {
					own := newOwner()
					call.Owner = own
					r.stream.Run(p, call)
					require.NoError(b, own.wait())
				}
				terms := float64(numel(y)) * float64(c.in) * float64(c.kernel[1]*c.kernel[2])
				b.ReportMetric(2*terms*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}

func numel(ds []int64) int64 {
	l := dims(ds...)
	return l.Numel()
}
