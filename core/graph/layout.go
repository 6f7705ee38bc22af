package graph

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Images of a graph have their channels at axis 1. On devices whose convolutions are faster with the channels of an element
// side by side, a convolution is called with its channels last, and so are the calls around it that can be: the image is
// transposed once before the first of them, and once behind the last.
//
//	relu(conv(x, w))  becomes  transpose(relu(conv(transpose(x), w, channels_last=True)))

// The pass goes over the nodes once, in order, and builds a new graph. Each value of the old one is there in the order of the
// program, with its channels last, or in both orders; a transpose that makes the one from the other is added when a call first
// asks for it. A call is turned where its first image is there with channels last already, or where the device wants it, so
// that a chain of such calls is never transposed in between. What stands in front of the first convolution stays as it is.
//
// The pass comes after all others that look for expressions: patterns and factors are spelled for channels at axis 1.

// ChannelsLast is the graph with its convolutions with constant weights of float32 on images that have their channels last. Calls that read such images take them as they are where they can: elementwise ones, pools,
// reductions, concatenation along any axis, and slices. All others see what they saw before, through a transpose, which is a
// view. The sums of a convolution may be in another order.
func (g *Graph) ChannelsLast() *Graph {
	if !slices.ContainsFunc(g.nodes, g.wantsLast) {
		return g
	}
	l := layouts{g: g, to: NewBuilder(), first: make([]Value, len(g.values)), last: make([]Value, len(g.values)), uses: g.uses(), made: make([]*Node, len(g.values))}
	for v := range g.values {
		l.first[v], l.last[v] = -1, -1
	}
	for _, v := range g.inputs {
		l.first[v] = l.to.Input(g.values[v].Type)
	}
	for v := range g.values {
		switch x := &g.values[v]; {
		case x.data != nil:
			l.first[v] = l.to.Constant(x.data)
		case x.number != nil:
			l.first[v] = l.to.Scalar(*x.number)
		}
	}
	for i := range g.nodes {
		n := &g.nodes[i]
		if !l.turned(n) && !l.shuffled(n) && !l.kept(n) {
			return g
		}
		for _, v := range n.Out {
			l.made[v] = n
		}
	}
	outputs := make([]Value, len(g.outputs))
	for i, v := range g.outputs {
		var ok bool
		if outputs[i], ok = l.channelsFirst(v); !ok {
			return g
		}
	}
	return l.to.Build(outputs...)
}

// layouts is the state of ChannelsLast: the values of the new graph that a value of the old one is, with its channels first and
// last; -1 where there is none yet.
type layouts struct {
	g           *Graph
	to          *Builder
	first, last []Value
	uses        []int   // by value of the old one: how often it is read
	made        []*Node // likewise: the call that makes it
}

// alongAxis is the number of the attribute that names the axis of a call which works along one axis of images: a scan, a
// concatenation, a split or a gather. Operands that are no images are lists, such as indices. It is -1 for all other calls.
func (l *layouts) alongAxis(n *Node, rank int) int {
	number := n.Row.AttrIndex("axis")
	if number < 0 || n.Row.Attrs[number].Type != op.IntAttr || !n.Attrs[number].Set() {
		return -1
	}
	for _, v := range n.Out {
		if l.g.values[v].Shape.Rank != rank {
			return -1
		}
	}
	for i, v := range n.In {
		if r := l.g.values[v].Shape.Rank; n.Row.In[min(i, len(n.Row.In)-1)].Variadic && r != rank || i > 0 && n.Row.Kind != op.Assemble && r > 1 {
			return -1
		}
	}
	switch n.Row.Kind {
	case op.Scan, op.Assemble, op.Index, op.View:
		return number
	}
	return -1
}

// Inference decides whether a row takes what it is given here, as it did for the graph. It has seen the same operands with
// other dimensions, so that it takes them too.

// call adds a call, which can fail only where rows contradict each other: then the graph stays as it was.
func (l *layouts) call(row *op.Row, at op.Attrs, in ...Value) (Value, bool) {
	out, err := l.to.Call(row, in, at)
	if err != nil {
		return -1, false
	}
	return out[0], true
}

// transposed is a value of the new graph with its axes in another order.
func (l *layouts) transposed(v Value, perm []int64) (Value, bool) {
	return l.call(op.ByID(op.IDTranspose), op.Attrs{op.TransposePerm: {Kind: op.Ints, Ints: perm}}, v)
}

// channelsFirst is a value as the graph has it.
func (l *layouts) channelsFirst(v Value) (Value, bool) {
	if l.first[v] < 0 {
		rank := int64(l.g.values[v].Shape.Rank)
		perm := []int64{0, rank - 1}
		for axis := int64(1); axis < rank-1; axis++ {
			perm = append(perm, axis)
		}
		made, ok := l.transposed(l.last[v], perm)
		if !ok {
			return -1, false
		}
		l.first[v] = made
	}
	return l.first[v], true
}

// channelsLast is a value of so many axes with axis 1 behind all others. One of fewer axes, which broadcasts, gets the axes that
// it lacks.
func (l *layouts) channelsLast(v Value, rank int) (Value, bool) {
	x := &l.g.values[v]
	if x.number != nil || x.Shape.Numel() == 1 && x.Shape.Rank < rank {
		return l.channelsFirst(v)
	}
	if l.last[v] >= 0 && x.Shape.Rank == rank {
		return l.last[v], true
	}
	from, ok := l.channelsFirst(v)
	if missing := rank - x.Shape.Rank; ok && missing > 0 {
		dims := append(slices.Repeat([]int64{1}, missing), x.Shape.Slice()...)
		from, ok = l.call(op.ByID(op.IDReshape), op.Attrs{op.ReshapeShape: {Kind: op.Ints, Ints: dims}}, from)
	}
	if !ok {
		return -1, false
	}
	perm := []int64{0}
	for axis := int64(2); axis < int64(rank); axis++ {
		perm = append(perm, axis)
	}
	made, ok := l.transposed(from, append(perm, 1))
	if ok && x.Shape.Rank == rank {
		l.last[v] = made
	}
	return made, ok
}

// Axes from 2 on move to the front by one, and axis 1 goes behind them; the batch stays where it is.

// moved is the number of an axis of rank once the channels are last.
func moved(axis int64, rank int) int64 {
	if axis < 0 {
		axis += int64(rank)
	}
	switch {
	case axis == 1:
		return int64(rank) - 1
	case axis > 1:
		return axis - 1
	}
	return axis
}

// What a call makes has its channels first then, and the next convolution asks for a transpose. Such a call is one that works on
// the order of the memory, as a reshape does, or on axes in a way that no rule here knows: it is right, and costs a copy.

// kept adds a call as it is. It is false where that fails, which it does not for a graph that has been inferred.
func (l *layouts) kept(n *Node) bool {
	in := make([]Value, len(n.In))
	for i, v := range n.In {
		var ok bool
		if in[i], ok = l.channelsFirst(v); !ok {
			return false
		}
	}
	out, err := l.to.Call(n.Row, in, n.Attrs)
	if err != nil {
		return false
	}
	for i, v := range n.Out {
		l.first[v] = out[i]
	}
	return true
}

// turned adds a call with the channels of its images last, if that is possible and an operand has them there already, or the
// device wants it. It is false where it has added nothing that is read.
func (l *layouts) turned(n *Node) bool {
	if len(n.In) == 0 || len(n.Out) == 0 || n.Row.Random || n.Row.Updates {
		return false
	}
	rank := l.g.values[n.In[0]].Shape.Rank
	out := &l.g.values[n.Out[0]].Shape
	if !l.g.wantsLast(*n) && !slices.ContainsFunc(n.In, func(v Value) bool { return l.last[v] >= 0 && l.g.values[v].Shape.Rank == max(rank, out.Rank) }) {
		return false
	}
	at, images := n.Attrs, len(n.In) // of the call with channels last, and how many of its operands are images
	switch {
	case n.Row.Elementwise(): // operands of fewer axes, such as a bias, are broadcast
		rank = out.Rank
	case n.Row.AttrIndex("channels_last") >= 0:
		number := n.Row.AttrIndex("channels_last")
		if at[number].I != 0 || !l.g.wantsLast(*n) && !l.pools(n) {
			return false
		}
		at = slices.Clone(at)
		at[number] = op.Value{Kind: op.Bool, I: 1}
		images = 1
	case n.Row.Kind == op.Reduce:
		return l.reduced(n, rank)
	case n.Row == op.ByID(op.IDSlice):
		at = slices.Clone(at)
		axes := slices.Clone(at[op.SliceAxes].Ints)
		for i := range axes {
			axes[i] = moved(axes[i], rank)
		}
		at[op.SliceAxes].Ints = axes
	default:
		number := l.alongAxis(n, rank)
		if number < 0 {
			return false
		}
		at = slices.Clone(at)
		at[number].I = moved(at[number].I, rank)
		if n.Row.Kind != op.Assemble {
			images = 1
		}
	}
	// A failure behind this point leaves transposes that nothing reads, which dropDead removes.
	in := make([]Value, len(n.In))
	for i, v := range n.In {
		ok := true
		if i < images {
			in[i], ok = l.channelsLast(v, rank)
		} else {
			in[i], ok = l.channelsFirst(v)
		}
		if !ok {
			return false
		}
	}
	made, err := l.to.Call(n.Row, in, at)
	if err != nil {
		return false
	}
	for i, v := range n.Out {
		l.last[v] = made[i]
	}
	return true
}

// A pool of images with their channels last has a kernel of its own where nothing asks for indices. Unpooling, and the gradients
// of pools, are in programs of training, whose weights are not constant.

// pools reports whether a call is a pool whose results but the first are not read: the numbers of elements in their planes are
// the same wherever the channels are, but those of channels that are neighbours are not.
func (l *layouts) pools(n *Node) bool {
	for _, v := range n.Out[1:] {
		if l.uses[v] > 0 {
			return false
		}
	}
	return n.Row.AttrIndex("kernel_size") >= 0 && n.Row.AttrIndex("size") < 0
}

// Networks shuffle the channels of groups by a reshape to two axes of channels, a transpose of these, and a reshape back.

// shuffled adds the last call of such a shuffle, where nothing else reads what is between.
//
//	reshape(transpose(reshape(x, [N, a, b, size...]), [0, 2, 1, ...]), [N, a * b, size...])
func (l *layouts) shuffled(n *Node) bool {
	reshape := op.ByID(op.IDReshape)
	if n.Row != reshape || l.made[n.In[0]] == nil || l.made[n.In[0]].Row != op.ByID(op.IDTranspose) || l.uses[n.In[0]] != 1 {
		return false
	}
	middle := l.made[n.In[0]]
	first := l.made[middle.In[0]]
	if first == nil || first.Row != reshape || l.uses[middle.In[0]] != 1 || l.last[first.In[0]] < 0 {
		return false
	}
	x, parts, out := &l.g.values[first.In[0]].Shape, &l.g.values[middle.In[0]].Shape, &l.g.values[n.Out[0]].Shape
	if *out != *x || parts.Rank != x.Rank+1 || parts.Dims[0] != x.Dims[0] || !slices.Equal(parts.Slice()[3:], x.Slice()[2:]) {
		return false
	}
	perm, dims := []int64{}, []int64{x.Dims[0]}
	for axis, from := range middle.Attrs[op.TransposePerm].Ints {
		want := int64(axis)
		if axis == 1 || axis == 2 {
			want = 3 - want
		}
		if from != want && from+int64(parts.Rank) != want {
			return false
		}
	}
	dims = append(append(dims, x.Slice()[2:]...), parts.Dims[1], parts.Dims[2])
	for axis := range dims {
		perm = append(perm, int64(axis))
	}
	swap := len(perm) - 2
	perm[swap], perm[swap+1] = perm[swap+1], perm[swap]
	v, ok := l.call(reshape, op.Attrs{op.ReshapeShape: {Kind: op.Ints, Ints: dims}}, l.last[first.In[0]])
	if ok {
		v, ok = l.transposed(v, perm)
	}
	if ok {
		v, ok = l.call(reshape, op.Attrs{op.ReshapeShape: {Kind: op.Ints, Ints: append(dims[:swap:swap], x.Dims[1])}}, v)
	}
	if ok {
		l.last[n.Out[0]] = v
	}
	return ok
}

// A mean over the spatial axes, with which most networks end or which makes a gate of each channel, is the same for each order of
// its operand. A sum over one of them leaves axes that would have to be turned back.

// reduced adds a reduction. Without keepdim the axes that are left have to be in the order that they had.
func (l *layouts) reduced(n *Node, rank int) bool {
	number, keep := n.Row.AttrIndex("axis"), n.Row.AttrIndex("keepdim")
	if number < 0 || keep < 0 || n.Row.Attrs[number].Type != op.IntsAttr || len(n.Attrs[number].Ints) == 0 || len(n.In) != 1 || len(n.Out) != 1 {
		return false
	}
	var gone [shape.MaxRank]bool
	axes := slices.Clone(n.Attrs[number].Ints)
	spatial := 0 // axes that are reduced
	for i := range axes {
		axis := axes[i]
		if axis < 0 {
			axis += int64(rank)
		}
		if gone[axis] = true; axis > 1 {
			spatial++
		}
		axes[i] = moved(axis, rank)
	}
	kept := n.Attrs[keep].I != 0
	if !kept && !gone[1] && spatial < rank-2 {
		return false
	}
	x, ok := l.channelsLast(n.In[0], rank)
	if !ok {
		return false
	}
	at := slices.Clone(n.Attrs)
	at[number].Ints = axes
	made, ok := l.call(n.Row, at, x)
	switch {
	case !ok:
		return false
	case kept:
		l.last[n.Out[0]] = made
	default:
		l.first[n.Out[0]] = made
	}
	return true
}

// Weights that may change, as in training, would be packed again at each call. Convolutions of several groups that are not
// depthwise have no kernel for channels last, and those of other dtypes neither.

// wantsLast reports whether a call is a convolution that is faster with channels last: of one group, or of one for each channel; or
// a transposed one whose result is made of tiles.
func (g *Graph) wantsLast(n Node) bool {
	transposed := n.Row == op.ByID(op.IDConvTranspose)
	if n.Row != op.ByID(op.IDConv) && !transposed {
		return false
	}
	x, weight := &g.values[n.In[0]], &g.values[n.In[1]]
	if weight.data == nil || x.DType != dtype.Float32 || weight.DType != dtype.Float32 || x.Shape.Numel() == 0 || weight.Shape.Numel() == 0 {
		return false
	}
	if transposed {
		return n.Attrs[op.ConvTransposeChannelsLast].I == 0 && op.Tiled(n.Attrs, &x.Shape, &weight.Shape, &g.values[n.Out[0]].Shape)
	}
	whole, depthwise := weight.Shape.Dims[1] == x.Shape.Dims[1], weight.Shape.Dims[1] == 1 && weight.Shape.Dims[0] == x.Shape.Dims[1]
	return n.Attrs[op.ConvChannelsLast].I == 0 && (whole || depthwise)
}
