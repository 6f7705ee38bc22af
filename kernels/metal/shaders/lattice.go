package shaders

import (
	"encoding/binary"
	"math/bits"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
	"github.com/paddle-mps/paddle-mps/objc"
)

// lattice is the elements of a call as the threads of a grid of three dimensions walk them: the axes in the order of the
// output's memory, the innermost first, collapsed over all operands so that shaders have few or none to divide by. The
// order of elements is of no concern, because each is computed alone.
type lattice struct {
	access  *access
	tiled   int // for tiles: the axis on which turned inputs have their neighbours
	rank    int
	dims    [shape.MaxRank]int64
	strides [mostOperands][shape.MaxRank]int64
}

// latticeOf is the lattice of a call. It allocates nothing.
func latticeOf(c *device.Call, l *access) (g lattice) {
	g.access = l
	axes := c.Out[0].Shape
	var walks [mostOperands]*[shape.MaxRank]int64
	for i := range l.count {
		if l.places[i] != msl.Fixed {
			g.strides[i] = gpu.Operand(c, i).Strides
		}
		walks[i] = &g.strides[i]
	}
	// Largest steps of the output first, as in contiguous memory; an output that is transposed as its inputs are becomes
	// contiguous so. Operands with few axes need no better sort.
	swap := func(a, b int) {
		axes.Dims[a], axes.Dims[b] = axes.Dims[b], axes.Dims[a]
		g.swap(a, b)
	}
	for i := 1; i < axes.Rank; i++ {
		for j := i; j > 0 && magnitude(g.strides[0][j-1]) < magnitude(g.strides[0][j]); j-- {
			swap(j-1, j)
		}
	}
	shape.Collapse(&axes, walks[:l.count]...)
	// Collapse wants the innermost axis last, grids want it first.
	for a, b := 0, axes.Rank-1; a < b; a, b = a+1, b-1 {
		swap(a, b)
	}
	g.rank, g.dims = axes.Rank, axes.Dims
	for i := g.rank; i < shape.MaxRank; i++ {
		g.dims[i] = 1
	}
	for i := 1; i < l.count && l.way == msl.Tiles && g.tiled == 0; i++ {
		g.tiled = g.turned(i)
	}
	return g
}

// lineOf is the lattice of a call whose operands are contiguous: one axis, whatever axes they have.
func lineOf(c *device.Call, l *access) (g lattice) {
	g.access, g.rank, g.dims[0] = l, 1, c.Out[0].Numel()
	for i := range l.count {
		g.strides[i][0] = 1
	}
	return g
}

// elementOperations is more than any elementwise operator costs: a remainder of floats whose exponents are far apart has the
// most, and others less than a hundred. It is not asked which, because to divide a call that is cheap costs nothing.
const elementOperations = 512

// divide says along which axis a call is divided into dispatches, and how many elements of it each may have. An element whose
// neighbours lie further away than a line moves a line. Operands that are turned are read along their own neighbours.
func (g *lattice) divide(c *device.Call) (axis int, most int64) {
	bytes, elements := int64(0), int64(1)
	for i := range g.access.count {
		step := int64(1)
		if g.access.places[i] != msl.Turned {
			step = max(magnitude(g.strides[i][0]), 1)
		}
		bytes += min(msl.LineSize, step*gpu.Operand(c, i).DType.Size())
	}
	axis = max(g.rank-1, 0)
	for _, n := range g.dims[:axis] {
		elements *= n
	}
	most = mostInTime(elementOperations*float64(elements), bytes*elements)
	if axis == 0 {
		// As many as a SIMD group takes, so that vectors stay where they were.
		most = int64(gpu.RoundUp(uint64(most), four*gpu.Lanes))
	}
	return axis, most
}

// swap exchanges two axes of all operands.
func (g *lattice) swap(a, b int) {
	for i := range g.strides {
		s := &g.strides[i]
		s[a], s[b] = s[b], s[a]
	}
}

// magnitude is a stride whichever way it leads.
func magnitude(n int64) int64 { return max(n, -n) }

// leastTiled is how long both axes of a turned operand have to be: tiles have no use for less.
const leastTiled = 16

// turned is the axis along which neighbours of an input lie, where that is not the output's, and both are long; 0 where
// there is none.
func (g *lattice) turned(i int) int {
	in := &g.strides[i]
	if magnitude(in[0]) < 2 || g.dims[0] < leastTiled {
		return 0
	}
	for axis := 1; axis < g.rank; axis++ {
		if magnitude(in[axis]) == 1 && g.dims[axis] >= leastTiled {
			return axis
		}
	}
	return 0
}

// How the four elements of a thread lie; grid.metal has them too.
const (
	liesSame = iota
	liesTight
	liesApart
)

// plan is how threads share a lattice; the fields are those of Walks in grid.metal.
type plan struct {
	shift, times, right, down int64
	lies                      [mostOperands]int64
	step, jump                [mostOperands]int64
	threads                   [3]int64
}

// four is how many elements a thread takes at once, along the innermost axis.
const four = 4

// mostTimes is how often a thread goes on where it can use again what it has read: an estimate that no GPU has confirmed.
const mostTimes = 8

// busyThreads is how many threads are enough for a GPU to be busy, an estimate too; tests lower it.
var busyThreads int64 = 8192

// share plans the threads of a grid. at is where the operands lie.
func (g *lattice) share(c *device.Call, at *[mostOperands]gpu.Span) (p plan) {
	// Vectors are for operands of which each thread reads four neighbours. One with gaps or an odd start spoils them for
	// all; not one whose neighbours are far apart, because nothing makes those coalesced.
	tight := true
	for i := range g.access.count {
		stride := magnitude(g.strides[i][0])
		tight = tight && (stride == 0 || stride >= gpu.Lanes || g.isTight(c, i, at))
	}
	width := int64(1)
	if !tight {
		// Neighbours in one load are elements of neighbouring threads, so that loads are coalesced anyway.
		for width = gpu.Lanes; width > 1 && width*four/2 >= g.dims[0]; width /= 2 {
		}
	}
	p.shift = int64(bits.TrailingZeros64(uint64(width)))
	groups := func(n, of int64) int64 { return (n + of - 1) / of }
	p.threads = [3]int64{groups(g.dims[0], four*width) * width, g.dims[1], 1}
	for _, n := range g.dims[2:] {
		p.threads[2] *= n
	}
	p.times = max(min(p.threads[0]*p.threads[1]*p.threads[2]/busyThreads, mostTimes), 1)
	// Threads go on along the axis on which an operand stays the same, in steps of as many threads as there are, so that
	// neighbouring threads have neighbouring elements each time.
	switch {
	case g.rank > 1 && g.rests(1):
		p.threads[1] = groups(g.dims[1], p.times)
		p.down = p.threads[1]
	case g.rests(0):
		p.threads[0] = groups(p.threads[0], p.times*width) * width
		p.right = p.threads[0] * four
	default:
		p.times = 1
	}
	for i := range g.access.count {
		stride := g.strides[i][0]
		switch {
		case stride == 0:
		case tight && g.isTight(c, i, at):
			p.lies[i] = liesTight
		default:
			p.lies[i] = liesApart
		}
		p.step[i], p.jump[i] = stride*width, stride*p.right+g.strides[i][1]*p.down
	}
	return p
}

// rests reports whether an input is the same all along an axis, so that it is read once for several elements.
func (g *lattice) rests(axis int) bool {
	for i := 1; i < g.access.count; i++ {
		if g.access.places[i] != msl.Fixed && g.strides[i][axis] == 0 {
			return true
		}
	}
	return false
}

// isTight reports whether each four elements of an operand along the innermost axis are a vector at a multiple of its
// size.
func (g *lattice) isTight(c *device.Call, i int, at *[mostOperands]gpu.Span) bool {
	size := gpu.Operand(c, i).DType.Size()
	all := (int64(at[i].Offset)/size + at[i].First) | int64(at[i].Offset)%size
	for _, stride := range g.strides[i][1:] {
		all |= stride
	}
	return g.strides[i][0] == 1 && all%four == 0
}

// encode makes the lattice the next argument, and lays out its threads.
func (g *lattice) encode(d *objc.Dispatch, c *device.Call, p *gpu.Pipeline, at *[mostOperands]gpu.Span) {
	if g.access.way == msl.Tiles {
		// Tiles are on the first two axes, in whole threadgroups: threads beyond the edge of the output help to read.
		g.dims[1], g.dims[g.tiled] = g.dims[g.tiled], g.dims[1]
		g.swap(1, g.tiled)
		g.bind(d, &plan{}, at)
		high := max(min(p.Most/msl.TileSide, mostHigh), 1)
		tiles := func(n int64) uint64 { return uint64(n+msl.TileSide-1) / msl.TileSide }
		outer := uint64(1)
		for _, n := range g.dims[2:] {
			outer *= uint64(n)
		}
		d.Threads = objc.Size{Width: tiles(g.dims[0]) * msl.TileSide, Height: tiles(g.dims[1]) * high, Depth: outer}
		d.Group = objc.Size{Width: msl.TileSide, Height: high, Depth: 1}
		return
	}
	shared := g.share(c, at)
	g.bind(d, &shared, at)
	d.Threads = objc.Size{Width: uint64(shared.threads[0]), Height: uint64(shared.threads[1]), Depth: uint64(shared.threads[2])}
	d.Group = g.group(c, &shared, min(gpu.MostGroup, p.Most))
}

// mostHigh is how many rows of threads work on a tile, each on several of its rows.
const mostHigh = 8

// group is the threadgroup for a plan: as wide as makes whole lines of memory, then high, then deep, then wider. So an
// operand that is the same for all rows, or has its neighbours on axis 1, is read once for the rows of a SIMD group.
func (g *lattice) group(c *device.Call, p *plan, most uint64) (s objc.Size) {
	width := uint64(gpu.Lanes)
	if p.shift == 0 {
		width = min(width, max(lineBytes/four/uint64(widestOf(c)), 1))
	}
	fit := func(n int64, most uint64) uint64 {
		most = 1 << (bits.Len64(most) - 1)
		return min(1<<bits.Len64(uint64(n-1)), most)
	}
	s.Width = fit(p.threads[0], min(width, most))
	s.Height = fit(p.threads[1], most/s.Width)
	s.Depth = fit(p.threads[2], min(most/(s.Width*s.Height), mostDeep))
	s.Width = fit(p.threads[0], most/(s.Height*s.Depth))
	return s
}

// lineBytes is what memory moves at once.
const lineBytes = 128

// mostDeep is the depth of a threadgroup that Metal allows on every GPU.
const mostDeep = 64

// bind writes a Walks; its fields are in this order.
func (g *lattice) bind(d *objc.Dispatch, p *plan, at *[mostOperands]gpu.Span) {
	wide := uint64(0)
	if g.access.wide {
		wide = 1
	}
	block := d.Constant(walksSize(wide))[:0]
	number := func(n int64) { block = binary.LittleEndian.AppendUint32(block, uint32(n)) }
	number(int64(max(g.rank, 3) - 1))
	for _, n := range [...]int64{p.shift, p.times, p.right, p.down} {
		number(n)
	}
	for _, n := range g.dims {
		number(n)
	}
	for _, n := range p.lies {
		number(n)
	}
	for i := range at {
		block = appendOffset(block, at[i].First, wide)
	}
	for _, all := range [...]*[mostOperands]int64{&p.step, &p.jump} {
		for _, n := range all {
			block = appendOffset(block, n, wide)
		}
	}
	for i := range g.strides {
		for _, n := range g.strides[i] {
			block = appendOffset(block, n, wide)
		}
	}
}

// walksSize is that of msl's Walks: five numbers, the dimensions, how operands lie, then three offsets an operand and its
// strides. There is one Walks for each width of offsets, whatever operands a kernel has.
func walksSize(wide uint64) int {
	return 4*(5+shape.MaxRank+mostOperands) + int(4+4*wide)*mostOperands*(3+shape.MaxRank)
}
