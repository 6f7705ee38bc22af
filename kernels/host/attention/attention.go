// Package attention holds scaled dot product attention, computed block by block of keys without the matrix of all scores.
package attention

import (
	"math"
	"math/bits"
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/dots"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/maths"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/rearrange"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/reduction"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/rownorm"
)

// attention is softmax(scale * query @ key.T + mask) @ value in float32. It works on a panel of queries, as many as a tile of a
// product has columns, and goes through the keys in blocks: of the scores there is one block at a time, in the first-level cache.
//
// The softmax is online: weights are relative to the largest score so far, and what has been added up is multiplied by a factor
// when there is a larger one. The result is divided by the sum of the weights at the end. See rownorm.OnlineSoftmaxColumns.
//
// Milakov and Gimelshein, Online normalizer calculation for softmax; Dao et al., FlashAttention.
type attention struct {
	codec *engine.Codec[float32]
	mask  masking // of a mask in the dtype of the operands
	rooms sync.Pool
}

func init() {
	for d, k := range map[dtype.DType]*attention{
		dtype.Float32:  {codec: new(engine.Codec[float32]), mask: addMask},
		dtype.Float16:  {codec: engine.HalfCodec(dtype.Float16), mask: addHalves(dtype.F16ToF32)},
		dtype.BFloat16: {codec: engine.HalfCodec(dtype.BFloat16), mask: addHalves(dtype.BF16ToF32)},
	} {
		engine.Register(op.IDAttention, d, k)
	}
}

// unseen is the score of a key that is not seen.
var unseen = float32(math.Inf(-1))

// keyBlock is the most keys of a block. With panels of 32 queries their scores are 32 KiB.
const keyBlock = 256

// Cost takes eight multiply-adds for an addition, and has some for each weight.
func (k *attention) Cost(c *device.Call) int64 {
	queries, keys, size, width := attentionSizes(c)
	return batchesOf(&c.Out[0]) * queries * keys * (size + width + 32) / 8
}

// Workspace is nothing; each part has a room.
func (k *attention) Workspace(*device.Call) int64 { return 0 }

// attentionSizes are the number of queries and of keys of a head, and of elements of a key and of a value.
func attentionSizes(c *device.Call) (queries, keys, size, width int64) {
	q, v := &c.In[0], &c.In[2]
	return q.Dims[q.Rank-2], v.Dims[v.Rank-2], q.Dims[q.Rank-1], v.Dims[v.Rank-1]
}

// batchesOf is the number of matrices of an operand.
func batchesOf(o *device.Operand) int64 {
	n := int64(1)
	for _, d := range o.Slice()[:o.Rank-2] {
		n *= d
	}
	return n
}

// Run gives each thread panels of queries, counted through all heads. Neighbouring ones share what is laid out of the keys.
func (k *attention) Run(t *engine.Threads, c *device.Call) error {
	if c.Out[0].Numel() == 0 {
		return nil
	}
	queries, _, _, _ := attentionSizes(c)
	_, cols := gemm.PanelTile()
	panels := batchesOf(&c.Out[0]) * ((queries + int64(cols) - 1) / int64(cols))
	return t.Each(k, c, panels, k.Cost(c))
}

// Part does panels lo to hi-1.
func (k *attention) Part(c *device.Call, lo, hi int64) error {
	f := engine.NewFrame()
	defer f.Free()
	var a attending
	room := a.open(k, c, f)
	defer k.rooms.Put(room)
	panels := (a.queries + a.cols - 1) / a.cols
	for head := int64(-1); lo < hi; lo++ {
		if now := lo / panels; now != head {
			head = now
			a.seek(head)
			if !a.few {
				a.layKeys()
				a.layValues()
			}
		}
		if a.few {
			if err := a.queryByQuery(); err != nil {
				return err
			}
			continue
		}
		if err := a.panel(lo % panels * a.cols); err != nil {
			return err
		}
	}
	return nil
}

// attending is one part of a call: its operands, and room for a head and for a panel. Keys and values of a head are laid out once, as
// the loops of products read them, which takes a number of steps that grows with the keys, beside products for each query and key.
type attending struct {
	*attention
	queries, keys, size, width int64
	rows, cols                 int64 // of a tile
	block                      int64 // keys of a full block
	few                        bool  // see queryByQuery
	scale                      float32
	scaling                    int // of weights by a power of two: their sum is at most 1, so that no sum of weighted values overflows
	causal                     bool
	masking                    masking // nil: no mask
	fill                       float32 // the score of a key that a mask of bools hides

	operands [5]device.Operand // query, key, value, mask, result
	heads    [5]engine.Walk    // visit the first element of each matrix
	lines    [5]engine.LineAccess[float32]

	keysLaid, valuesLaid []float32 // of a head, as left panels: the keys by rows, the values transposed, block by block
	finite               bool      // of a head: whether all its values are
	panelLaid            []float32 // queries, as a right panel
	scores               []float32 // a block of keys times a panel
	sums                 []float32 // width rows of a panel: weighted values
	tops, totals, by     []float32 // of the columns: see rownorm.OnlineSoftmaxColumns
	line                 []float32 // room for a row of an operand
	rowRoom              []float32 // room for as many as a tile has rows or columns
}

// The numbers of operands of attending.
const (
	queryOperand = iota
	keyOperand
	valueOperand
	maskOperand
	outOperand
)

// open reads a call and takes room, which the caller gives back.
func (a *attending) open(k *attention, c *device.Call, f *engine.Frame) (room *[]float32) {
	a.attention = k
	a.queries, a.keys, a.size, a.width = attentionSizes(c)
	rows, cols := gemm.PanelTile()
	a.rows, a.cols = int64(rows), int64(cols)
	a.block = keyBlock / a.rows * a.rows
	a.few = a.queries <= a.cols/fewQueries
	a.scale = float32(c.Attrs[op.AttentionScale].F)
	a.scaling = bits.Len64(uint64(max(a.keys, 1) - 1))
	a.causal = c.Attrs[op.AttentionCausal].I != 0
	a.fill = unseen
	if fill := &c.Attrs[op.AttentionFill]; fill.Set() {
		a.fill = rounding(k.codec, fill, c.Out[0].DType)
	}
	copy(a.operands[:], c.In)
	a.operands[outOperand] = c.Out[0]
	if mask := &a.operands[maskOperand]; !mask.Absent() {
		a.masking = k.mask
		if mask.DType == dtype.Bool {
			a.masking = hideMask
		}
	}
	for i := range a.operands {
		if o := &a.operands[i]; !o.Absent() {
			batch := o.Layout
			batch.Rank -= 2
			a.heads[i].Begin(o.Addr, o.DType.Size(), &batch)
			if i != maskOperand && o.Numel() > 0 {
				a.lines[i].OpenLast(o, k.codec, f)
			}
		}
	}
	tall := (a.width + a.rows - 1) / a.rows * a.rows
	sizes := [...]int64{
		(a.keys + a.rows - 1) / a.rows * a.rows * a.size, a.keys * tall, a.size * a.cols, a.block * a.cols, tall * a.cols,
		a.cols, a.cols, a.cols, max(a.size, a.width), max(a.rows, a.cols) * max(a.size, a.width),
	}
	if a.few { // one block, where it has to be copied
		sizes[0], sizes[1] = a.block*a.size, a.block*a.width
	}
	total := int64(0)
	for _, n := range sizes {
		total += n
	}
	room = engine.RoomOf[float32](&k.rooms, total)
	rest := *room
	for i, to := range [...]*[]float32{&a.keysLaid, &a.valuesLaid, &a.panelLaid, &a.scores, &a.sums, &a.tops, &a.totals, &a.by, &a.line, &a.rowRoom} {
		*to, rest = rest[:sizes[i]:sizes[i]], rest[sizes[i]:]
	}
	return room
}

// rounding is a number as an element of a dtype.
// SAFETY: an element has as many bytes as the codec reads, at most 8.
func rounding(c *engine.Codec[float32], v *op.Value, d dtype.DType) float32 {
	to, element := [1]float32{float32(v.F)}, v.Bits(d)
	if c.Load != nil {
		c.Load(to[:], unsafe.Pointer(&element))
	}
	return to[0]
}

// row is row i of an operand's matrix of the head, as values.
// SAFETY: the row lies in the operand; see walk.here.
func (a *attending) row(operand int, i int64) []float32 {
	o := &a.operands[operand]
	at := unsafe.Add(a.heads[operand].Here(), i*o.Strides[o.Rank-2]*o.DType.Size())
	return a.lines[operand].Read(at, a.line[:o.Dims[o.Rank-1]])
}

// seek goes to a head.
func (a *attending) seek(head int64) {
	for i := range a.heads {
		if !a.operands[i].Absent() && a.operands[i].Numel() > 0 {
			a.heads[i].SeekTo(head)
		}
	}
}

// layKeys makes left panels of the keys: each has the elements of as many keys as a tile has rows, the first ones of all, then the
// second ones. Keys that the last panel lacks are zero.
func (a *attending) layKeys() {
	if a.size == 0 {
		return
	}
	if rest := a.keys % a.rows; rest != 0 {
		clear(a.keysLaid[(a.keys-rest)*a.size:])
	}
	for j := int64(0); j < a.keys; j += a.rows {
		n := min(a.rows, a.keys-j)
		keys, down := a.matrix(keyOperand, j, n, a.rowRoom)
		rearrange.Transpose(a.keysLaid[j*a.size:], keys, int(n), int(a.size), int(a.rows), int(down))
	}
}

// layValues makes left panels of the transposed values of each block of keys, and sees whether all are finite where that matters: for
// keys that are left out. The sum of a row of finite values is finite in float64.
func (a *attending) layValues() {
	a.finite = true
	for from := int64(0); from < a.keys && a.width > 0; from += a.block {
		n := min(a.block, a.keys-from)
		tall := int64(len(a.sums)) / a.cols
		block := a.valuesLaid[from*tall:][:n*tall]
		for j := range n {
			row := a.row(valueOperand, from+j)
			for e := int64(0); e < a.width; e += a.rows {
				to := block[e*n+j*a.rows:][:a.rows]
				have := copy(to, row[e:])
				clear(to[have:])
			}
			if a.causal && a.finite {
				sum := reduction.Sum(row)
				a.finite = sum-sum == 0
			}
		}
	}
}

// Blocks of keys are taken in their order by every panel, and a panel is computed by one thread: the bits of a result depend neither
// on the number of threads nor on the heads beside it.

// panel computes the results of queries from first on, as many as a panel has columns. Keys that none of them sees are left out,
// unless a value is NaN or infinite: times the weight 0 it is NaN.
func (a *attending) panel(first int64) error {
	n := min(a.cols, a.queries-first)
	a.layQueries(first, n)
	for i := range a.tops {
		a.tops[i], a.totals[i] = unseen, 0
	}
	keys := a.keys
	if a.causal && a.finite {
		keys = min(keys, first+n)
	}
	for from := int64(0); from < keys; from += a.block {
		if err := a.attend(first, n, from, min(a.block, keys-from)); err != nil {
			return err
		}
	}
	a.write(first, n)
	return nil
}

// layQueries makes a right panel of the scaled queries. Columns that there are no queries for are zero.
func (a *attending) layQueries(first, n int64) {
	if n < a.cols {
		clear(a.panelLaid)
	}
	if a.size > 0 {
		queries, down := a.matrix(queryOperand, first, n, a.rowRoom)
		rearrange.Transpose(a.panelLaid, queries, int(n), int(a.size), int(a.cols), int(down))
	}
	timesRow.VS(a.panelLaid, a.panelLaid, a.scale)
}

// attend adds what the first n keys of a block contribute to a panel.
func (a *attending) attend(first, queries, from, n int64) error {
	panels := (n + a.rows - 1) / a.rows * a.rows
	scores := a.scores[:panels*a.cols]
	if !gemm.MulPanels(scores, a.keysLaid[from*a.size:], a.panelLaid, int(a.size), int(a.size), true) {
		return status.Errorf(status.Internal, "[attention] got scores of %d keys that do not fit their memory", n)
	}
	scores = scores[:n*a.cols]
	a.hide(scores, first, queries, from, n)
	rownorm.OnlineSoftmaxColumns(scores, a.tops, a.totals, a.by, a.scaling)
	if from > 0 {
		a.rescale()
	}
	tall, whole := int64(len(a.sums))/a.cols, min(a.block, a.keys-from)
	if !gemm.MulPanels(a.sums, a.valuesLaid[from*tall:], scores, int(n), int(whole), from == 0) {
		return status.Errorf(status.Internal, "[attention] got values of %d keys that do not fit their memory", n)
	}
	return nil
}

// timesRow, plusRow and minusRow are the loops of a product, a sum and a difference.
var timesRow, plusRow, minusRow = arith.RowsOf[float32](arith.Mul), arith.RowsOf[float32](arith.Add), arith.RowsOf[float32](arith.Sub)

// rescale multiplies the sums of each column by its factor. After the first blocks there is seldom a score that is larger than all
// before, and nothing to do.
func (a *attending) rescale() {
	for _, factor := range a.by {
		if factor != 1 {
			for sums := a.sums; len(sums) > 0; sums = sums[a.cols:] {
				timesRow.VV(sums[:a.cols], sums[:a.cols], a.by)
			}
			return
		}
	}
}

// write divides the sums by those of the weights. Without keys all is 0, as a product of matrices without columns.
func (a *attending) write(first, n int64) {
	for i, total := range a.totals {
		a.by[i] = 1 / total
	}
	if a.keys == 0 {
		clear(a.sums)
	} else {
		for sums := a.sums; len(sums) > 0; sums = sums[a.cols:] {
			timesRow.VV(sums[:a.cols], sums[:a.cols], a.by)
		}
	}
	if a.width > 0 {
		rearrange.Transpose(a.rowRoom, a.sums, int(a.width), int(n), int(a.width), int(a.cols))
	}
	for c := range n {
		a.writeRow(first+c, a.rowRoom[c*a.width:][:a.width])
	}
}

// writeRow writes row i of the result.
// SAFETY: the row lies in the result; see walk.here.
func (a *attending) writeRow(i int64, values []float32) {
	o, out := &a.operands[outOperand], &a.lines[outOperand]
	at := unsafe.Add(a.heads[outOperand].Here(), i*o.Strides[o.Rank-2]*o.DType.Size())
	copy(out.Room(at, values), values)
	out.Write(at, values)
}

// A panel of few queries, such as that of the next token of a text, would be mostly empty, and laying out the keys and values would
// take longer than what is done with them. They are read where they lie instead, query by query.

// fewQueries is the part of a panel up to which queries are few: at 4 of 32 both ways take as long.
const fewQueries = 8

// matrix is n rows of a head's matrix of an operand from row first on, and their distance: in memory itself where rows lie there as
// values, else in room.
// SAFETY: the rows lie in the operand; see walk.here.
func (a *attending) matrix(operand int, first, n int64, room []float32) (values []float32, distance int64) {
	o := &a.operands[operand]
	width, down := o.Dims[o.Rank-1], o.Strides[o.Rank-2]
	if a.lines[operand].Direct && down >= width && o.Numel() > 0 {
		at := unsafe.Add(a.heads[operand].Here(), first*down*4)
		return engine.Slice[float32](at, (n-1)*down+width), down
	}
	for j := int64(0); j < n && width > 0; j++ {
		copy(room[j*width:], a.row(operand, first+j))
	}
	return room[:n*width], width
}

// queryByQuery computes the results of a head. The weights of a query and a block of keys are one row.
func (a *attending) queryByQuery() error {
	sums, query := a.sums[:a.queries*a.width], a.panelLaid[:a.size]
	clear(sums)
	for i := range a.queries {
		a.tops[i], a.totals[i] = unseen, 0
	}
	for from := int64(0); from < a.keys; from += a.block {
		n := min(a.block, a.keys-from)
		keys, down := a.matrix(keyOperand, from, n, a.keysLaid)
		values, across := a.matrix(valueOperand, from, n, a.valuesLaid)
		for i := range a.queries {
			if a.size > 0 {
				timesRow.VS(query, a.row(queryOperand, i), a.scale)
			}
			weights := a.scores[:n]
			clear(weights)
			fit := dots.AddTransposed(weights, query, keys, 1, int(n), int(a.size), int(a.size), int(down), int(n))
			a.hideRow(weights, i, from)
			a.weigh(weights, int(i), sums[i*a.width:][:a.width])
			if !fit || !gemm.AddMatMul(sums[i*a.width:][:a.width], weights, values, 1, int(a.width), int(n), int(n), int(across), int(a.width)) {
				return status.Errorf(status.Internal, "[attention] got %d keys that do not fit their memory", n)
			}
		}
	}
	for i := range a.queries {
		row := sums[i*a.width:][:a.width]
		timesRow.VS(row, row, 1/a.totals[i])
		if a.keys == 0 {
			clear(row)
		}
		a.writeRow(i, row)
	}
	return nil
}

// weigh is rownorm.OnlineSoftmaxColumns of the scores of query i, which are a row, and rescales what has been summed up of it.
func (a *attending) weigh(scores []float32, i int, sums []float32) {
	before := a.tops[i]
	a.tops[i] = max(before, reduction.MaxRow(scores))
	top := a.tops[i]
	if top == unseen {
		top = 0
	}
	minusRow.VS(scores, scores, top)
	maths.Exp.Row(scores, scores)
	timesRow.VS(scores, scores, float32(math.Ldexp(1, -a.scaling)))
	by := float32(math.Exp(float64(before) - float64(top)))
	a.totals[i] = a.totals[i]*by + float32(reduction.Sum(scores))
	if by != 1 {
		timesRow.VS(sums, sums, by)
	}
}

// hideRow is hide for the scores of query i and keys from one on, which are a row.
// SAFETY: see addMask.
func (a *attending) hideRow(scores []float32, i, from int64) {
	if a.masking != nil {
		o := &a.operands[maskOperand]
		size := o.DType.Size()
		at := unsafe.Add(a.heads[maskOperand].Here(), (i*o.Strides[o.Rank-2]+from*o.Strides[o.Rank-1])*size)
		a.masking(scores, 1, at, o.Strides[o.Rank-1]*size, int64(len(scores)), a.fill)
	}
	for j := max(i+1-from, 0); a.causal && j < int64(len(scores)); j++ {
		scores[j] = unseen
	}
}

// Masks are applied to a block of scores where it lies.

// masking applies n elements of a mask, so many bytes apart, to scores that are so many places apart. With a distance of 0 it is one
// element for all, as that of a key which no query of a text may see. A mask of bools has fill.
type masking func(scores []float32, apart int64, mask unsafe.Pointer, stride, n int64, fill float32)

// maskRun is how many keys of a query are masked before those of the next: a line of the cache of a mask of float32, which is then
// read once, while the scores of so many keys stay in the cache.
const maskRun = 16

// addMask adds elements of float32.
// SAFETY: the elements lie in the operand.
func addMask(scores []float32, apart int64, mask unsafe.Pointer, stride, n int64, _ float32) {
	if stride == 0 && apart == 1 {
		if x := *(*float32)(mask); x != 0 {
			plusRow.VS(scores[:n], scores[:n], x)
		}
		return
	}
	for i := range n {
		scores[i*apart] += *(*float32)(unsafe.Add(mask, i*stride))
	}
}

// addHalves adds elements of float16 or bfloat16, which are converted a run at a time.
// SAFETY: see addMask.
func addHalves(value func(uint16) float32) masking {
	return func(scores []float32, apart int64, mask unsafe.Pointer, stride, n int64, fill float32) {
		var run [maskRun]float32
		for n > 0 && stride != 0 {
			m := min(n, maskRun)
			for i := range m {
				run[i] = value(*(*uint16)(unsafe.Add(mask, i*stride)))
			}
			addMask(scores, apart, unsafe.Pointer(&run), 4, m, fill)
			n -= m
			if n > 0 {
				scores, mask = scores[m*apart:], unsafe.Add(mask, m*stride)
			}
		}
		if n > 0 {
			run[0] = value(*(*uint16)(mask))
			addMask(scores, apart, unsafe.Pointer(&run), 0, n, fill)
		}
	}
}

// hideMask replaces what a mask of bools hides. Which elements those are is as good as random, so that it takes no branch for each.
// SAFETY: the elements lie in the operand.
func hideMask(scores []float32, apart int64, mask unsafe.Pointer, stride, n int64, fill float32) {
	if stride == 0 && *(*uint8)(mask) != 0 {
		return
	}
	filled := math.Float32bits(fill)
	for i := range n {
		hidden := uint32((int32(*(*uint8)(unsafe.Add(mask, i*stride))) - 1) >> 31) // all ones or none
		scores[i*apart] = math.Float32frombits(math.Float32bits(scores[i*apart])&^hidden | filled&hidden)
	}
}

// hide applies the mask of a block of scores, and then what causal hides: a later key is hidden whatever its score is, also where
// that is the fill of the mask.
func (a *attending) hide(scores []float32, first, queries, from, n int64) {
	if a.masking != nil {
		a.maskBlock(scores, first, queries, from, n)
	}
	if !a.causal {
		return
	}
	for j := max(first-from+1, 0); j < n; j++ {
		row := scores[j*a.cols:][:min(from+j-first, queries)]
		for c := range row {
			row[c] = unseen
		}
	}
}

// maskBlock applies the mask of a block of scores.
// SAFETY: see addMask.
func (a *attending) maskBlock(scores []float32, first, queries, from, n int64) {
	o := &a.operands[maskOperand]
	size := o.DType.Size()
	down, along := o.Strides[o.Rank-2]*size, o.Strides[o.Rank-1]*size
	at := unsafe.Add(a.heads[maskOperand].Here(), first*down+from*along)
	for j := int64(0); down == 0 && j < n; j++ {
		a.masking(scores[j*a.cols:], 1, unsafe.Add(at, j*along), 0, queries, a.fill)
	}
	for j := int64(0); down != 0 && j < n; j += maskRun {
		for c := range queries {
			a.masking(scores[j*a.cols+c:], a.cols, unsafe.Add(at, c*down+j*along), along, min(maskRun, n-j), a.fill)
		}
	}
}
