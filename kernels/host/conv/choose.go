package conv

import (
	"fmt"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/winograd"
	"github.com/paddle-mps/paddle-mps/kernels/host/window"
)

// How a convolution is computed is decided here and nowhere else, in two steps.
//
// When a kernel is made, the layouts of a call and its constant weight are known: the first plan of the table below that accepts the
// call packs the weight. Without one, the portable kernel computes it. When a kernel runs, the sizes decide between the forms of one
// plan, and have the same bits but for tiles:
//
//   - conv with its channels first: planes of one channel (planPlanes), tiles of 2 x 2 elements (InTiles), else strips or gathered
//     blocks of windows (cut);
//   - the gradient of a weight: lines where they lie (cutLines), else gathered blocks.
//
// [Explain] prints the choice for a call with the reason for each plan.

// packedPlan is a way to compute a convolution with a constant weight, which is packed when the kernel is made.
type packedPlan struct {
	id       op.ID
	dtypes   dtype.Set
	priority kernels.Priority // the highest that accepts is chosen; of equals the first
	accepts  func(*engine.Threads, *device.Call) (uint64, bool)
	make     func(*engine.Threads, *device.Call, uint64) (engine.Kernel, error)
}

const lastChannels = kernels.Special + 2 // plans for images with their channels last

// packedPlans are all of them.
var packedPlans = [...]packedPlan{
	{op.IDConv, dtype.SetOf(dtype.Float32), lastChannels, acceptsDepthwise, newDepthwise},
	{op.IDConv, dtype.SetOf(dtype.Float32), lastChannels, AcceptsRows, newChannelsLast},
	{op.IDConv, dtype.SetOf(dtype.Float32), kernels.Special, knownFilter[float32], newPackedLeft[float32](dtype.Float32)},
	{op.IDConv, dtype.SetOf(dtype.Float64), kernels.Special, knownFilter[float64], newPackedLeft[float64](dtype.Float64)},
	{op.IDConvTranspose, dtype.SetOf(dtype.Float32), lastChannels, acceptsTiles, newTransposedTiles},
	{op.IDConvInteger, dtype.SetOf(dtype.Uint8, dtype.Int8), kernels.Special, knownInteger, newKnownInteger},
}

// planTexts are the names of the plans, in the same order, and which calls they take. Only Explain reads them.
var planTexts = [len(packedPlans)]struct{ name, takes string }{
	{"depthwise, channels last", "a finite weight of one channel for each channel; channels last"},
	{"rows of channels", "one group; channels last, one element for each channel, or few windows"},
	{"packed rows of the weight", "rows enough for a tile of the product"},
	{"packed rows of the weight", "rows enough for a tile of the product"},
	{"tiles of a transposed convolution", "a result made of tiles; channels last"},
	{"sums of 8-bit weights", "any contiguous weight"},
}

// Halves are multiplied in float32 and rounded once at the end.
func init() {
	for _, d := range []dtype.DType{dtype.Float16, dtype.BFloat16, dtype.Float32} {
		registerPortable[float32](d, dtype.Float32)
	}
	registerPortable[float64](dtype.Float64, dtype.Float64)
	engine.RegisterSet(op.IDConvInteger, dtype.SetOf(dtype.Uint8, dtype.Int8), &convInteger{})
	for i := range packedPlans {
		p := &packedPlans[i]
		engine.Registry.Add(engine.Variant{Op: p.id, DTypes: p.dtypes, Priority: p.priority, Accepts: p.accepts, Make: p.make})
	}
}

// registerPortable adds the kernels of elements of dtype d that are computed in T, whose dtype is in. Their plans differ and all else
// is shared: what is staged, how blocks are gathered, and what multiplies them.
func registerPortable[T float32 | float64](d, in dtype.DType) {
	for id, plan := range map[op.ID]func(*Convolving[T], *op.Windows){
		op.IDConv: planForward[T], op.IDConvTranspose: planBack[T], op.IDConvWeight: planWeight[T],
	} {
		engine.Register(id, d, &Convolution[T]{dtype: in, native: d == in, plan: plan})
	}
}

// Explain says which plan a call gets on a device with so many threads, a line for each plan of its operator: its work in
// multiply-adds, whether it accepts the call, and what it takes.
func Explain(t *engine.Threads, c *device.Call) string {
	var b strings.Builder
	chosen, best := -1, kernels.Portable
	for i := range packedPlans {
		if p := &packedPlans[i]; p.takes(t, c) && p.priority > best {
			chosen, best = i, p.priority
		}
	}
	line := func(mark bool, name, why string, work int64) {
		sign := " "
		if mark {
			sign = "*"
		}
		fmt.Fprintf(&b, "%s %-36s %12d multiply-adds  takes %s\n", sign, name, work, why)
	}
	for i := range packedPlans {
		if p := &packedPlans[i]; p.id == c.Op && p.dtypes.Has(kernels.Decisive(c)) {
			line(i == chosen, planTexts[i].name, planTexts[i].takes, multiplyAdds(c))
		}
	}
	form, work := "portable", multiplyAdds(c)
	if computedInTiles(c) {
		form, work = "portable, in tiles of 2 x 2", work*16/36
	}
	line(chosen < 0, form, "every call", work)
	return b.String()
}

// takes reports whether a plan is for a call's operator and dtype, and accepts it.
func (p *packedPlan) takes(t *engine.Threads, c *device.Call) bool {
	if p.id != c.Op || !p.dtypes.Has(kernels.Decisive(c)) {
		return false
	}
	_, ok := p.accepts(t, c)
	return ok
}

// multiplyAdds are those of the definition.
func multiplyAdds(c *device.Call) int64 {
	weight := &c.In[1]
	if c.Op == op.IDConvWeight {
		weight = &c.Out[0]
	}
	switch per := weight.Numel() / max(weight.Dims[0], 1); c.Op {
	case op.IDConvTranspose:
		return c.In[0].Numel() * per
	case op.IDConvWeight:
		return c.In[1].Numel() * per
	default:
		return c.Out[0].Numel() * per
	}
}

// computedInTiles reports whether a call that no plan takes is computed in tiles.
func computedInTiles(c *device.Call) bool {
	if c.Op != op.IDConv || c.Out[0].DType != dtype.Float32 {
		return false
	}
	w, err := op.WindowsOf(op.ByID(c.Op), c.Attrs, c.In[0].Rank-2)
	if err != nil {
		return false
	}
	ok, _ := InTiles(&c.In[engine.Right], &c.Out[0], &w)
	return ok
}

// knownInteger takes a constant weight, whose sums are added up once.
func knownInteger(_ *engine.Threads, c *device.Call) (uint64, bool) {
	return 0, isFilter(&c.In[engine.Right])
}

// knownFilter takes convolutions whose weight is a constant that is worth packing. No operand of a call is a constant, so
// calls never share a kernel that has been made for one.
func knownFilter[T float32 | float64](_ *engine.Threads, c *device.Call) (uint64, bool) {
	weight := &c.In[engine.Right]
	return 0, isFilter(weight) && isPacked[T](resultRows(c))
}

// isPacked reports whether a product of so many rows reads its weight packed, and not where it lies.
func isPacked[T float32 | float64](rows int64) bool {
	return rows >= int64(gemm.LeastTileRows[T]()) && gemm.PanelRows[T]() > 1
}

// isFilter reports whether the weight of a convolution is known, and its elements are in their order.
func isFilter(weight *device.Operand) bool {
	return weight.Const != nil && weight.IsContiguous() && weight.Numel() > 0
}

// acceptsDepthwise takes convolutions with a finite constant weight of one channel for each channel of a result that has its
// channels last in memory.
func acceptsDepthwise(_ *engine.Threads, c *device.Call) (uint64, bool) {
	weight := &c.In[engine.Right]
	if !isFilter(weight) || !isDepthwise(c) || !window.ChannelsLast(&c.Out[0]) {
		return 0, false
	}
	for _, v := range weightsOf(weight) {
		if v-v != 0 {
			return 0, false
		}
	}
	return 0, true
}

// isDepthwise reports whether each channel of the result is one channel of the image with a weight of its own.
func isDepthwise(c *device.Call) bool {
	return c.In[engine.Right].Dims[1] == 1 && c.In[engine.Right].Dims[0] == c.In[engine.Left].Dims[1]
}

// AcceptsRows takes convolutions of one group with a constant weight whose result has its channels last in memory, as every result
// of one element for each channel has them, or has few elements.
func AcceptsRows(_ *engine.Threads, c *device.Call) (uint64, bool) {
	weight, out := &c.In[engine.Right], &c.Out[0]
	if !isFilter(weight) || weight.Dims[1] != c.In[engine.Left].Dims[1] {
		return 0, false
	}
	single := out.Numel() > 0 && out.Numel() == out.Dims[0]*out.Dims[1] && window.IsLast(out)
	return 0, window.ChannelsLast(out) || single || fewElements(c)
}

// mostFewWindows is the number of windows up to which that pays.
const mostFewWindows = 64

// fewElements reports whether a contiguous result has so few windows that the turned product has less to compute.
func fewElements(c *device.Call) bool {
	weight, out := &c.In[engine.Right], &c.Out[0]
	channels := out.Dims[1]
	if !out.IsContiguous() || weight.Numel() != weight.Dims[0]*weight.Dims[1] || channels < int64(gemm.LeastTileRows[float32]()) {
		return false
	}
	windows := out.Numel() / channels
	rows, cols := gemm.MatMulTile[float32]()
	straight := roundTo(channels, int64(rows)) * roundTo(windows, int64(cols))
	turned := roundTo(windows, int64(rows)) * roundTo(channels, int64(cols))
	return windows > 0 && windows <= mostFewWindows && turned < straight
}

// acceptsTiles takes such calls with a constant weight whose result has its channels last in memory.
func acceptsTiles(_ *engine.Threads, c *device.Call) (uint64, bool) {
	return 0, isFilter(&c.In[engine.Right]) && window.ChannelsLast(&c.Out[0]) && op.Tiled(c.Attrs, &c.In[engine.Left].Shape, &c.In[engine.Right].Shape, &c.Out[0].Shape)
}

// InTiles reports whether a conv of elements of float32 is computed in tiles, and with the cells of the weight in the workspace. Strips
// are lines of the result then, of which there are several. The shapes of one image decide, so that an image has the same result in
// every batch.
func InTiles(weight, out *device.Operand, w *op.Windows) (ok, shared bool) {
	if weight.Rank != 4 || weight.Dims[2] != 3 || weight.Dims[3] != 3 || !winograd.Available() {
		return false, false
	}
	stride, dilation := window.Spatial(w.Stride, w.Axes, 1), window.Spatial(w.Dilation, w.Axes, 1)
	rows, lines, perLine := weight.Dims[0]/w.Groups, (out.Dims[2]+1)/2, (out.Dims[3]+1)/2
	ok = stride == window.UnitSteps && dilation == window.UnitSteps && min(rows, weight.Dims[1]) >= leastTiled &&
		out.Dims[2] > 1 && perLine >= winograd.LeastTiles && lines*perLine >= leastTiles && gemm.HasGrid[float32](int(rows), int(out.Dims[3]))
	return ok, lines*perLine*out.Dims[0] > fewTiles
}
