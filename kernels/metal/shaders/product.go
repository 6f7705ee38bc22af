package shaders

import (
	"encoding/binary"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
	"github.com/paddle-mps/paddle-mps/objc"
)

// product is matmul: by tiles, see product.metal, or along lines where one matrix is a vector of floats, see
// product_vector.metal. A long inner axis is cut into parts, whose sums go to the workspace and are added by a last
// dispatch, so that there is enough to do at once for a GPU; and dispatches are divided so that none is long.
type product struct {
	compiled
	dtype  dtype.DType
	vector bool
}

// Integers, which MPSGraph multiplies only by writing all products out, always come here. Floats do where the product
// takes less time than MPSGraph needs to begin; others only where MPSGraph does not take them, whose product is faster.
func init() {
	gpu.Register(gpu.Shader, op.IDMatmul, dtype.Integers&gpu.Elements, gpu.Variant{Accepts: productClass, Make: makeProduct})
	gpu.Register(gpu.Slow, op.IDMatmul, dtype.Floats&gpu.Elements, gpu.Variant{Accepts: productClass, Make: makeProduct})
	gpu.Register(gpu.Shader, op.IDMatmul, dtype.Floats&gpu.Elements, gpu.Variant{
		Accepts: func(d *gpu.Device, c *device.Call) (uint64, bool) {
			class, ok := productClass(d, c)
			return class, ok && isSmall(c)
		},
		Make: makeProduct,
	})
}

// productOfVector is the class, beside the width of offsets, of products of which one matrix is a vector.
const productOfVector = 2

// productClass is walked's, and whether a vector is multiplied. SIMD groups add up floats only.
func productClass(d *gpu.Device, c *device.Call) (class uint64, ok bool) {
	if c.Out[0].Rank < 2 || c.In[0].Rank < 2 {
		return 0, false // rows of the operator table frame vectors as matrices
	}
	class, ok = walked(d, c)
	if rows, _, cols := matrixOf(c); min(rows, cols) == 1 && c.In[0].DType.IsFloat() {
		class |= productOfVector
	}
	return class, ok
}

// graphDispatch is what MPSGraph needs to begin, in seconds: 19 to 21 us, of which a shader needs a tenth.
const graphDispatch = 20e-6

// isSmall reports whether MPSGraph would need longer to begin than the product takes. That of a vector reads the matrix
// once and has little to compute, so that no other kernel is faster, however long it is.
func isSmall(c *device.Call) bool {
	rows, inner, cols := matrixOf(c)
	if min(rows, cols) == 1 {
		return true
	}
	bytes := int64(0)
	for i := range len(c.In) + 1 {
		o := gpu.Operand(c, i)
		bytes += o.Numel() * o.DType.Size()
	}
	batches := float64(c.Out[0].Numel() / max(rows*cols, 1))
	operations := batches * tileOperations(inner) * float64(tilesOf(rows)*tilesOf(cols))
	return operations < graphDispatch*m1Operations*reached && float64(bytes) < graphDispatch*m1Bytes
}

// matrixOf is the sizes of each matrix of a product: the rows and columns of the result and the inner axis.
func matrixOf(c *device.Call) (rows, inner, cols int64) {
	out, x := &c.Out[0], &c.In[0]
	return out.Dims[out.Rank-2], x.Dims[x.Rank-1], out.Dims[out.Rank-1]
}

// productTile is the side of the tiles; the kernel knows it too.
const productTile = 32

// tilesOf is how many tiles cover an axis.
func tilesOf(n int64) int64 { return (n + productTile - 1) / productTile }

// tileOperations is how many operations a tile takes, two for each product and sum.
func tileOperations(inner int64) float64 { return 2 * productTile * productTile * float64(inner) }

// The functions of a product's source: of tiles, or of lines along the matrix's inner axis and its outer one; then what
// joins parts of the inner axis.
const (
	productTiles = iota
	productTilesJoin
)

// Which of the first two runs depends on the axis along which the matrix is contiguous: lanes read neighbours either way,
// and only along the inner axis do they add up what they have read.
const (
	productAlong = iota
	productAthwart
	productLinesJoin
)

// Threads of a threadgroup, as the kernels want them.
const (
	floatTileThreads   = 128
	integerTileThreads = 64
	lineThreads        = 256
)

// makeProduct compiles the kernels of a class. They count on whole threadgroups, so a GPU that has no room for those is
// refused.
func makeProduct(d *gpu.Device, c *device.Call, class uint64) (gpu.Kernel, error) {
	kind, wide := c.In[0].DType, class&1 == 1
	k := &product{dtype: kind, vector: class&productOfVector != 0}
	text, names := msl.Product(kind, wide), []string{productTiles: "tiles", productTilesJoin: "join"}
	if k.vector {
		text = msl.VectorProduct(kind, wide)
		names = []string{productAlong: "along", productAthwart: "athwart", productLinesJoin: "join"}
	}
	var err error
	if k.compiled, err = compile(d, class, text, names...); err != nil {
		return nil, err
	}
	// The last function joins parts and takes threadgroups of any size.
	for i := range k.pipelines[:len(k.pipelines)-1] {
		if err := k.pipelines[i].Takes(k.threads()); err != nil {
			k.Close()
			return nil, err
		}
	}
	return k, nil
}

// threads is how many a threadgroup has.
func (k *product) threads() uint64 {
	switch {
	case k.vector:
		return lineThreads
	case k.dtype.IsFloat():
		return floatTileThreads
	}
	return integerTileThreads
}

// division is how a product is divided.
type division struct {
	rows, inner, cols, batches int64
	groups                     int64 // threadgroups of one part of one matrix
	part, parts                int64 // of the inner axis: elements of one, and how many
	most                       int64 // threadgroups of one dispatch
}

// What parts of the inner axis are for. These are estimates: no real GPU has confirmed them.
const (
	busyGroups   = 64      // threadgroups are enough for a GPU to be busy
	leastPart    = 512     // elements are worth a part
	mostPart     = 1 << 16 // elements, so that no threadgroup is long
	mostOfParts  = 1024
	mostPartsFor = 64 << 20 // bytes of workspace for all parts
)

// slowness is how many times an operation of a dtype takes as long as one of floats at the rate that is reached.
// Integers of 32 bits are multiplied at a quarter of the rate of floats, those of 64 bits by several such steps.
func slowness(d dtype.DType) float64 {
	switch {
	case d.IsFloat():
		return 1
	case d.Size() == 8:
		return 16
	}
	return 4
}

// divide divides a call's product.
func (k *product) divide(c *device.Call) (s division) {
	s.rows, s.inner, s.cols = matrixOf(c)
	s.batches = c.Out[0].Numel() / (s.rows * s.cols)
	s.groups = tilesOf(s.rows) * tilesOf(s.cols)
	operations := tileOperations(1)
	if k.vector {
		// Along the inner axis a SIMD group has four elements of the result, athwart a lane has four and all SIMD groups
		// have the same.
		each := int64(lineThreads / gpu.Lanes * four) // elements of the result of a group
		if !k.isAlong(c) {
			each = gpu.Lanes * four
		}
		s.groups = (s.rows*s.cols + each - 1) / each
		operations = 2 * float64(each)
	}
	// Parts for a GPU to be busy, as far as each is worth it; parts that no threadgroup works long on; and no more than
	// there is room for.
	wanted := min((busyGroups-1)/(s.groups*s.batches)+1, s.inner/leastPart)
	wanted = max(wanted, (s.inner+mostPart-1)/mostPart)
	room := mostPartsFor / (sumBytes * s.rows * s.cols * s.batches)
	s.parts = max(min(wanted, mostOfParts, room), 1)
	if s.part = max(s.inner, 1); s.parts > 1 {
		s.part = int64(gpu.RoundUp(uint64((s.inner+s.parts-1)/s.parts), lineBytes)) // begins where vectors may be read
		s.parts = (s.inner + s.part - 1) / s.part
	}
	seconds := operations * float64(s.part) * slowness(k.dtype) / (m1Operations * reached)
	if k.vector {
		// What a vector is multiplied with is read once and not used again: memory decides.
		seconds = max(seconds, operations/2*float64(s.part)*float64(k.dtype.Size())/m1Bytes)
	}
	s.most = min(max(int64(longest/seconds), 1), mostGroups)
	return s
}

// mostGroups is how many threadgroups a dispatch has at most, so that its threads are fewer than 2**32.
const mostGroups = 1 << 22

// sumBytes is the size of the sums of parts, at most.
const sumBytes = 8

// Workspace has the sums of all parts, where there are several.
func (k *product) Workspace(c *device.Call) int64 {
	if c.Out[0].Numel() == 0 {
		return 0
	}
	if s := k.divide(c); s.parts > 1 {
		return sumBytes * s.parts * c.Out[0].Numel()
	}
	return 0
}

// isAlong reports whether the matrix that a vector is multiplied with is read along its inner axis.
func (k *product) isAlong(c *device.Call) bool {
	m, inner, outer, _ := vectorLines(c)
	return m.Dims[outer] == 1 || magnitude(m.Strides[inner]) <= magnitude(m.Strides[outer])
}

// vectorLines is the matrix of a product with a vector, its inner and outer axes, and whether it is on the right.
func vectorLines(c *device.Call) (matrix *device.Operand, inner, outer int, right bool) {
	rank := c.Out[0].Rank
	if _, _, cols := matrixOf(c); cols != 1 {
		return &c.In[1], rank - 2, rank - 1, true
	}
	return &c.In[0], rank - 1, rank - 2, false
}

// Encode encodes the dispatches of the product, and that which joins its parts.
func (k *product) Encode(e gpu.Encoder, c *device.Call) error {
	s := k.divide(c)
	// The number of a source's first function is the same for tiles and for lines along the inner axis.
	which := productTiles
	if k.vector && !k.isAlong(c) {
		which = productAthwart
	}
	for first, all := int64(0), s.groups*s.parts*s.batches; first < all; first += s.most {
		d := e.Arguments()
		at, err := k.bind(d, c, &s)
		if err != nil {
			return err
		}
		if k.vector {
			k.bindLines(d, c, &s, first, &at)
		} else {
			k.bindTiles(d, c, &s, first)
		}
		gpu.Groups(d, min(s.most, all-first), k.threads())
		if err := e.Dispatch(k.pipelines[which].State, d); err != nil {
			return err
		}
	}
	if s.parts == 1 {
		return nil
	}
	return k.join(e, c, &s)
}

// bind binds the three tensors, the memory of parts, and how batches lie: the output, the matrix and the vector, or the
// output and both matrices.
func (k *product) bind(d *objc.Dispatch, c *device.Call, s *division) (at [3]gpu.Span, err error) {
	out := &c.Out[0]
	operands := [3]*device.Operand{out, &c.In[0], &c.In[1]}
	if k.vector {
		if _, _, _, right := vectorLines(c); right {
			operands[1], operands[2] = operands[2], operands[1]
		}
	}
	for i, o := range operands {
		if o.Numel() == 0 {
			o = out // an inner axis without elements: nothing is read
		}
		at[i], _ = gpu.Locate(o)
		if _, err = place(d, o); err != nil {
			return at, err
		}
	}
	if s.parts > 1 {
		err = bindScratch(d, c)
	} else {
		_, err = place(d, out) // nothing is written there by the name of sums
	}
	if err != nil {
		return at, err
	}
	for i, o := range operands {
		batches, _ := cut(o, out.Rank-2)
		bindWalk(d, &batches, at[i].First, k.wide())
	}
	return at, nil
}

// bindTiles writes Sizes of product.metal.
func (k *product) bindTiles(d *objc.Dispatch, c *device.Call, s *division, first int64) {
	key := k.wide()
	block := d.Constant(8*4 + 6*int(4+4*key))[:0]
	for _, n := range [...]int64{s.rows, s.inner, s.cols, tilesOf(s.cols), tilesOf(s.rows), s.part, s.parts, first} {
		block = binary.LittleEndian.AppendUint32(block, uint32(n))
	}
	axis := c.Out[0].Rank - 2
	for _, o := range [...]*device.Operand{&c.Out[0], &c.In[0], &c.In[1]} {
		block = appendOffset(appendOffset(block, o.Strides[axis], key), o.Strides[axis+1], key)
	}
}

// bindLines writes Lines of product_vector.metal.
func (k *product) bindLines(d *objc.Dispatch, c *device.Call, s *division, first int64, at *[3]gpu.Span) {
	m, inner, outer, right := vectorLines(c)
	v, to, axis := &c.In[1], c.Out[0].Strides[outer], inner-1
	if right {
		v, axis = &c.In[0], inner+1
	}
	// As in a lattice: four neighbours a thread where they are vectors, else four elements that neighbouring threads read
	// together.
	width, lies := int64(gpu.Lanes), [2]int64{liesApart, liesApart}
	near, far := m.Strides[inner], m.Strides[outer]
	if !k.isAlong(c) {
		near, far = far, near
	}
	if near == 1 && far%four == 0 && isTightBatch(m, inner, outer, &at[1]) {
		width, lies[0] = 1, liesTight
		if v.Strides[axis] == 1 && isTightBatch(v, inner, outer, &at[2]) {
			lies[1] = liesTight
		}
	}
	key := k.wide()
	block := d.Constant(linesSize(key))[:0]
	for _, n := range [...]int64{s.rows * s.cols, s.inner, s.groups, s.part, s.parts, first, width, lies[0], lies[1], 0} {
		block = binary.LittleEndian.AppendUint32(block, uint32(n))
	}
	if key == 0 {
		block = block[:9*4] // offsets of 32 bits need no padding
	}
	for _, n := range [...]int64{to, v.Strides[axis], m.Strides[inner], m.Strides[outer]} {
		block = appendOffset(block, n, key)
	}
}

// linesSize is the bytes of Lines, whose steps begin at a multiple of their own size.
func linesSize(key uint64) int {
	if key == 1 {
		return 10*4 + 4*8
	}
	return 9*4 + 4*4
}

// isTightBatch reports whether all matrices of an operand begin at a multiple of four elements.
func isTightBatch(o *device.Operand, inner, outer int, at *gpu.Span) bool {
	size := o.DType.Size()
	all := (int64(at.Offset)/size + at.First) | int64(at.Offset)%size
	for i, stride := range o.Strides[:o.Rank] {
		if i != inner && i != outer {
			all |= stride
		}
	}
	return all%four == 0
}

// join encodes the addition of all parts.
func (k *product) join(e gpu.Encoder, c *device.Call, s *division) error {
	out, key := &c.Out[0], k.wide()
	d := e.Arguments()
	first, err := place(d, out)
	if err != nil {
		return err
	}
	if err := bindScratch(d, c); err != nil {
		return err
	}
	batches, _ := cut(out, out.Rank-2)
	bindWalk(d, &batches, first, key)
	bindOffsets(d, key, out.Strides[out.Rank-2], out.Strides[out.Rank-1])
	bindCounts(d, s.rows*s.cols, s.cols, s.parts, 0)
	p := &k.pipelines[len(k.pipelines)-1]
	p.Line(d, uint64(out.Numel()))
	return e.Dispatch(p.State, d)
}
