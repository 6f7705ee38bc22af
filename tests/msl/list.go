package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
	_ "github.com/paddle-mps/paddle-mps/kernels/metal/shaders" // registers the variants
)

// source is one text that the library gives to Metal's compiler, and the call that it was first seen for.
type source struct {
	name, text string
	functions  []string // that pipelines are made of
}

// lister collects sources from calls of all operators, in all dtypes, with operands that lie in all ways that variants
// tell apart. It knows nothing of classes of layouts: it asks each variant for the class of each call and has the
// kernel of each new class made, on a device that only notes the source.
type lister struct {
	device  *gpu.Device
	name    string
	seen    map[string]bool // texts
	made    map[made]bool
	sources []source
	err     error
}

// made is a kernel, by what it may depend on: see kernels.Variant.
type made struct {
	variant *gpu.Variant
	class   uint64
	dtypes  [mostOperands]dtype.DType
	second  dtype.DType // of a second result
}

// mostOperands is enough for those that dtypes are told apart by.
const mostOperands = 5

// list lists all sources, in the order of the operators.
func list() ([]source, error) {
	l := &lister{seen: map[string]bool{}, made: map[made]bool{}}
	l.device = gpu.NewLister(func(text string, functions []string) {
		if !l.seen[text] {
			l.seen[text] = true
			l.sources = append(l.sources, source{l.name, text, functions})
		}
	})
	for i := range op.Table {
		l.row(&op.Table[i])
	}
	l.groups()
	for _, v := range unreached(l.made) {
		l.err = cmp.Or(l.err, fmt.Errorf("no call of tests/msl/list.go reaches a shader of %s", v))
	}
	return l.sources, l.err
}

// unreached names operators with a variant that no call was made for, so that a new kind of call is not overlooked.
func unreached(all map[made]bool) (names []string) {
	reached := map[*gpu.Variant]bool{}
	for m := range all {
		reached[m.variant] = true
	}
	for i := range op.Table {
		for _, d := range gpu.Elements.Members() {
			for _, v := range shaders(op.Table[i].ID, d) {
				if !reached[v] && !slices.Contains(names, op.Table[i].Name) {
					names = append(names, op.Table[i].Name)
				}
			}
		}
	}
	return names
}

// Graphs have no source; what they stage is copied by shaders of cast, which are listed as such.
//
// shaders are the variants of an operator and dtype that are shaders.
func shaders(id op.ID, d dtype.DType) []*gpu.Variant {
	return append(gpu.Named(id, d, gpu.Shader), gpu.Named(id, d, gpu.Slow)...)
}

// row makes the kernels of an operator.
func (l *lister) row(row *op.Row) {
	for _, d := range gpu.Elements.Members() {
		variants := shaders(row.ID, d)
		if len(variants) == 0 {
			continue
		}
		for _, types := range dtypesOf(row, d) {
			for _, dims := range shapes {
				calls(l.device, row, types, dims, func(c *device.Call) {
					if len(row.Out) < 2 {
						l.call(row, variants, c)
						return
					}
					// Indices have two widths, for which kernels differ.
					for _, index := range []dtype.DType{dtype.Int64, dtype.Int32} {
						c.Out = append(c.Out[:1], l.device.Staged(device.Operand{DType: index, Layout: shape.Contiguous(c.Out[0].Shape)}))
						l.call(row, variants, c)
					}
					if row.Out[1].Optional { // and leave them out of programs that do not read them
						c.Out = append(c.Out[:1], device.Operand{})
						l.call(row, variants, c)
					}
				})
			}
		}
	}
}

// A variant that refuses in Make, with status.Unsupported, has no source for the class; any other error fails the list.
//
// call makes the kernels of the variants that accept a call and have not made one for its class and dtypes.
func (l *lister) call(row *op.Row, variants []*gpu.Variant, c *device.Call) {
	for _, v := range variants {
		class, ok := uint64(0), true
		if v.Accepts != nil {
			class, ok = v.Accepts(l.device, c)
		}
		m := made{variant: v, class: class}
		for i := range min(len(c.In)+1, mostOperands) {
			m.dtypes[i] = gpu.Operand(c, i).DType
		}
		m.second = c.Out[len(c.Out)-1].DType
		if !ok || l.made[m] {
			continue
		}
		l.made[m] = true
		l.name = fmt.Sprintf("%s_%s_%s_%x", row.Name, m.dtypes[min(len(c.In), 1)], m.dtypes[0], class)
		// Names tell sources apart in one compilation: those for two widths of
		// indices would have the same.
		if len(c.Out) > 1 {
			l.name += "_" + m.second.String()
		}
		if _, err := v.Make(l.device, c, class); err != nil && status.CodeOf(err) != status.Unsupported {
			l.err = cmp.Or(l.err, fmt.Errorf("%s: %w", l.name, err))
		}
	}
}

// shapes are the outputs of calls: each number of axes that kernels may tell apart, with sizes that collapse to
// nothing less. The last has lines that are longer than a threadgroup.
var shapes = [][]int64{{}, {64}, {1}, {48, 80}, {6, 8, 16}, {3, 4, 6, 8}, {2, 3, 4, 2, 8}, {2, 2, 2, 2, 2, 2, 2, 2, 2}, {3, 70000}, {70000, 3}}

// dtypesOf are the dtypes of the operands of an operator that computes in d, the output's first: for casts any output.
func dtypesOf(row *op.Row, d dtype.DType) (all [][]dtype.DType) {
	types := make([]dtype.DType, len(row.In)+1)
	for i := range row.In {
		types[i+1] = d
		if row.In[i].Domain == op.Condition {
			types[i+1] = dtype.Bool
		}
	}
	outputs := gpu.Elements.Members()
	switch {
	case len(row.In) == 0:
		outputs = []dtype.DType{d}
	case row.Kind != op.Convert:
		outputs = []dtype.DType{inferred(row, types[1:], d)}
	}
	for _, types[0] = range outputs {
		all = append(all, slices.Clone(types))
	}
	return all
}

// inferred is the dtype of a result; that of its operands where the rules do not say one for a vector.
func inferred(row *op.Row, in []dtype.DType, d dtype.DType) dtype.DType {
	var c op.Inference
	c.Reset(row, metaltest.Attributes(row, d))
	for _, each := range in {
		c.In = append(c.In, op.Arg{Type: op.Type{DType: each, Shape: shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{4}}}})
	}
	if row.Kind == op.Index || row.Kind == op.Product || c.Infer() != nil {
		return d
	}
	return c.Out[0].DType
}

// The operands of a call are as device.Call says for the kind of its operator. A new kind needs a case here; until it has
// one, list fails because no call reaches its variants.
//
// calls yields calls of an operator with an output of some dimensions, with its operands in all arrangements.
func calls(d *gpu.Device, row *op.Row, types []dtype.DType, dims []int64, yield func(c *device.Call)) {
	c := &device.Call{Op: row.ID, Attrs: metaltest.Attributes(row, types[0]), Out: make([]device.Operand, 1)}
	switch row.Kind {
	case op.Reduce, op.Scan:
		alongAxes(d, c, row, types, dims, yield)
	case op.Product:
		if len(dims) >= 2 {
			c.In = make([]device.Operand, 2)
			arranged(d, c, types, [][]int64{dims, dims, dims}, 0, yield)
			// Products of which one matrix is a vector have kernels of their own.
			vector := slices.Clone(dims)
			vector[len(dims)-1] = 1
			arranged(d, c, types, [][]int64{vector, dims, vector}, 0, yield)
		}
	case op.Index:
		for tensors := len(row.In) - 1; tensors <= shape.MaxRank; tensors++ {
			c.In = make([]device.Operand, tensors+1)
			all, each := [][]int64{dims}, []dtype.DType{types[0]}
			for range c.In {
				all, each = append(all, dims), append(each, dtype.Int64)
			}
			each[1] = types[min(1, len(types)-1)]
			for _, c.Attrs = range settings(row, c.Attrs) {
				uniform(d, c, each, all, yield)
			}
		}
	case op.Window:
		if axes := len(dims) - 2; 1 <= axes && axes <= op.MaxSpatial {
			underWindows(d, c, row, types, dims, yield)
		}
	case op.Normalize:
		if len(dims) > 0 {
			normalized(d, c, types, dims, yield)
		}
	default:
		c.In = make([]device.Operand, len(row.In))
		all := [][]int64{dims}
		for range c.In {
			all = append(all, dims)
		}
		for _, c.Attrs = range settings(row, c.Attrs) {
			arranged(d, c, types, all, 0, yield)
		}
	}
}

// underWindows yields calls with windows of one element, so that images and results have the same dimensions. Kernels do not
// depend on sizes, strides and padding, which are arguments, and all operands of one call lie alike, which reaches both widths
// of offsets.
func underWindows(d *gpu.Device, c *device.Call, row *op.Row, types []dtype.DType, dims []int64, yield func(c *device.Call)) {
	one := slices.Repeat([]int64{1}, len(dims)-2)
	for name, list := range map[string][]int64{"kernel_size": one, "size": dims[2:]} {
		if i := row.AttrIndex(name); i >= 0 {
			c.Attrs[i] = op.Value{Kind: op.Ints, Ints: list}
		}
	}
	// A weight for as many channels as the images have, each of one element.
	weight := append([]int64{dims[1], dims[1]}, one...)
	all := [][]int64{dims, dims, dims}[:len(row.In)+1]
	c.In = make([]device.Operand, len(row.In))
	switch row.ID {
	case op.IDConv, op.IDConvTranspose:
		all[2] = weight
	case op.IDConvWeight:
		all[0] = weight
	case op.IDMaxUnpool:
		types[2] = dtype.Int64
	}
	uniform(d, c, types, all, yield)
}

// What is left out of a normalization is no argument of the shader, so that each choice has a source of its own. Weights beside
// halves are float32.
//
// normalized yields calls with and without each operand and result that may be left out, and with and without a mean.
func normalized(d *gpu.Device, c *device.Call, types []dtype.DType, dims []int64, yield func(c *device.Call)) {
	wide := types[0]
	if wide.Size() < dtype.Float32.Size() {
		wide = dtype.Float32
	}
	line, column := contiguous(dims[len(dims)-1:]), slices.Clone(dims)
	column[len(dims)-1] = 1
	c.Axes = 1 << (len(dims) - 1)
	for there := range 16 {
		optional := func(bit int, l shape.Layout) device.Operand {
			if there>>bit&1 == 0 {
				return device.Operand{}
			}
			return d.Staged(device.Operand{DType: wide, Layout: l})
		}
		c.Attrs = slices.Clone(c.Attrs)
		c.Attrs[op.LayerNormCentered] = op.Value{Kind: op.Bool, I: int64(there >> 3)}
		c.In = []device.Operand{{}, optional(0, line), optional(1, line)}
		c.Out = []device.Operand{{}, optional(2, contiguous(column))}
		uniform(d, c, types[:2], [][]int64{dims, dims}, yield)
	}
}

// Operators that create tensors have variants that tell attributes apart: a range of integers is counted, one with a
// fraction is computed. index_reduce joins elements in several ways.
//
// settings are the attributes of calls: the defaults, and numbers of each kind, by which variants tell integers from
// fractions.
func settings(row *op.Row, defaults op.Attrs) (all []op.Attrs) {
	if row.ID == op.IDIndexReduce {
		for _, fold := range op.Folds {
			all = append(all, op.Attrs{op.IndexReduceReduce: op.Value{Kind: op.String, Ref: fold}})
		}
		return all
	}
	if row.Kind != op.Create {
		return []op.Attrs{defaults}
	}
	whole, broken := slices.Clone(defaults), slices.Clone(defaults)
	for i := range row.Attrs {
		if kind := defaults[i].Kind; kind == op.None || kind == op.Int || kind == op.Float {
			whole[i], broken[i] = op.Value{Kind: op.Int, I: 3}, op.Value{Kind: op.Float, F: 2.5}
		}
	}
	return []op.Attrs{defaults, whole, broken}
}

// Reductions get ranges of axes at both ends too, by which their layouts collapse.
//
// alongAxes yields calls along each axis, along none, and along all.
func alongAxes(d *gpu.Device, c *device.Call, row *op.Row, types []dtype.DType, dims []int64, yield func(c *device.Call)) {
	c.In = make([]device.Operand, 1)
	sets := []op.Axes{0}
	for axis := range dims {
		sets = append(sets, 1<<axis)
	}
	if row.Kind == op.Reduce {
		for axis := range dims {
			sets = append(sets, 1<<axis-1, 1<<len(dims)-1<<axis)
		}
	}
	for _, c.Axes = range sets {
		out := slices.Clone(dims)
		for axis := range dims {
			if row.Kind == op.Reduce && c.Axes.Has(axis) {
				out[axis] = 1
			}
		}
		arranged(d, c, types, [][]int64{out, dims}, 0, yield)
	}
}

// The number of arrangements is raised to that of operands: classes may depend on every pair of them, and asking a variant
// costs a microsecond.
//
// arranged yields a call with its operands from number i on in all arrangements.
func arranged(d *gpu.Device, c *device.Call, types []dtype.DType, dims [][]int64, i int, yield func(c *device.Call)) {
	if i > len(c.In) {
		yield(c)
		return
	}
	for _, arrange := range arrangements {
		if o, ok := arrange(d, types[i], dims[i]); ok && (i > 0 || o.Heap != nil) {
			*gpu.Operand(c, i) = o
			arranged(d, c, types, dims, i+1, yield)
		}
	}
}

// Calls with many tensors have them in one arrangement each time, which is enough to reach both widths of offsets.
//
// uniform yields a call with all its operands in one arrangement, for each.
func uniform(d *gpu.Device, c *device.Call, types []dtype.DType, dims [][]int64, yield func(c *device.Call)) {
	for _, arrange := range arrangements {
		for i := range dims {
			o, ok := arrange(d, types[i], dims[i])
			if !ok || o.Heap == nil {
				return
			}
			*gpu.Operand(c, i) = o
		}
		yield(c)
	}
}

// arrangements are the ways in which operands lie. Nothing is read of their memory, and none is there: an operand that is
// staged begins at a granule, one that is unplaced anywhere. What a variant tells apart beyond these belongs here.
var arrangements = []func(d *gpu.Device, t dtype.DType, dims []int64) (o device.Operand, ok bool){
	func(d *gpu.Device, t dtype.DType, dims []int64) (device.Operand, bool) { // contiguous
		return d.Staged(device.Operand{DType: t, Layout: contiguous(dims)}), true
	},
	func(d *gpu.Device, t dtype.DType, dims []int64) (device.Operand, bool) { // at an offset that suits no vector
		return d.Unplaced(device.Operand{DType: t, Layout: contiguous(dims)}, max(gpu.Bindable, t.Size())), true
	},
	func(d *gpu.Device, t dtype.DType, dims []int64) (device.Operand, bool) { // transposed
		l := contiguous(dims)
		slices.Reverse(l.Strides[:l.Rank])
		return d.Staged(device.Operand{DType: t, Layout: l}), len(dims) > 1
	},
	func(d *gpu.Device, t dtype.DType, dims []int64) (device.Operand, bool) { // every second element
		return d.Staged(device.Operand{DType: t, Layout: times(contiguous(dims), 2)}), len(dims) > 0
	},
	func(d *gpu.Device, t dtype.DType, dims []int64) (device.Operand, bool) { // repeated along the last axis
		l := contiguous(dims)
		l.Strides[max(l.Rank-1, 0)] = 0
		return d.Staged(device.Operand{DType: t, Layout: l}), len(dims) > 1
	},
	func(d *gpu.Device, t dtype.DType, dims []int64) (device.Operand, bool) { // wider than 32 bits reach
		return d.Staged(device.Operand{DType: t, Layout: times(contiguous(dims), 1<<33)}), len(dims) > 0
	},
	func(d *gpu.Device, t dtype.DType, dims []int64) (device.Operand, bool) { // a number of the CPU's
		o := d.Staged(device.Operand{DType: t, Layout: times(contiguous(dims), 0)})
		o.Heap = nil
		return o, true
	},
}

// contiguous is the layout of a tensor in row-major order.
func contiguous(dims []int64) shape.Layout {
	s, err := shape.Of(dims...)
	if err != nil {
		panic(err) // a shape of this file
	}
	return shape.Contiguous(s)
}

// times is a layout with its strides multiplied.
func times(l shape.Layout, factor int64) shape.Layout {
	for i := range l.Rank {
		l.Strides[i] *= factor
	}
	return l
}
