package conv

import (
	"slices"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/winograd"
	"github.com/paddle-mps/paddle-mps/kernels/host/window"
)

// A convolution of 3 x 3 elements with a stride of 1 and many channels is computed in tiles of 2 x 2 elements of the result, with 16
// multiplications instead of 36: see vec/winograd.go. A piece is a strip as in strip.go. Its channels are transformed one after the
// other, each from a padded copy; then a few rows of the weight at a time are multiplied with them, cell by cell, and their sums
// transformed, all in the second-level cache where there are few channels.
//
// Rows of a piece that are not finite are computed once more from the definition: an infinity makes NaN of tiles that see it, also of
// elements that do not see it. So are rows whose kernel is uneven (winograd_uneven.go), and pieces of images that are.
//
// An element is the same whatever piece it is in, because its sums are over ascending channels.

const (
	leastTiled    = 32      // rows and channels
	leastTiles    = 16      // of an image
	mostTiles     = 128     // of a piece, where a line has no more
	fewTiles      = 64      // of all images: each piece transforms the weight itself
	sumElements   = 1 << 16 // of the cells of some rows: a quarter of the second-level cache
	kernelsAtOnce = 1 << 17 // elements of the cells of the weight, where a piece transforms it
	evenCell      = 16      // elements that cells are further apart than they are long: else all would be in the same sets of a cache
)

// tiling says how a phase is computed in tiles.
type tiling struct {
	on    bool
	lines int64     // of tiles, of a piece
	cells []float32 // of the weight, or nil
}

// cellStep is from one cell of so many rows of a weight to the next, and cellLine from one row of them to the next.
func cellStep(rows, channels int64) int64 { return rows*cellLine(channels) + evenCell }
func cellLine(channels int64) int64       { return channels + evenCell }

// cellBytes is the room for the cells of the weight.
func cellBytes(c *device.Call) int64 {
	weight := &c.In[engine.Right]
	w, err := op.WindowsOf(op.ByID(c.Op), c.Attrs, weight.Rank-2)
	if err != nil {
		return 0
	}
	if ok, shared := InTiles(weight, &c.Out[0], &w); !ok || !shared {
		return 0
	}
	return engine.RoundUp(4 * winograd.Cells * cellStep(weight.Dims[0], weight.Dims[1]))
}

// planWinograd decides whether a phase with a grid of windows is computed in tiles. Pieces have as many lines of tiles as leave the
// fewest lanes of vectors unused.
func planWinograd(j *Convolving[float32], grid *[op.MaxSpatial]int64, w *op.Windows) (t tiling) {
	ok, shared := InTiles(&j.all[engine.Right], &j.all[engine.Result], w)
	if !ok || j.sizes.termByTerm {
		return t
	}
	whole, perLine := (grid[1]+1)/2, (grid[2]+1)/2
	least := int64(0)
	for lines := int64(1); lines <= min(max(mostTiles/perLine, 1), whole); lines++ {
		computed := whole/lines*roundTo(lines*perLine, vectorElements) + roundTo(whole%lines*perLine, vectorElements)
		if least == 0 || computed <= least {
			least, t.lines = computed, lines
		}
	}
	if t.on = true; shared {
		t.cells = j.reserve(winograd.Cells * cellStep(j.Groups*j.Rows, j.Channels))
	}
	return t
}

// winogradCall is a call that is computed in tiles. As work, it transforms the rows of its weight.
type winogradCall struct{ *Convolving[float32] }

// Part transforms rows lo to hi-1, counted through all groups.
func (j winogradCall) Part(_ *device.Call, lo, hi int64) error {
	p := &j.phases[0]
	for row := lo; row < hi; row++ {
		j.sizes.alone[row] = j.unevenKernel(p, row)
	}
	if !j.kernels(p, p.tiling.cells[lo*cellLine(j.Channels):], lo, hi-lo, j.Groups*j.Rows) {
		return window.Misfit()
	}
	return nil
}

// kernels transforms n rows of the weight to cells that have room for so many.
func (j winogradCall) kernels(p *convPhase[float32], cells []float32, first, n, room int64) bool {
	for i := range n {
		if !winograd.Kernels(cells[i*cellLine(j.Channels):], p.raw[(first+i)*j.Channels*9:], int(j.Channels), int(cellStep(room, j.Channels))) {
			return false
		}
	}
	return true
}

// tiledPiece is a piece: some rows of a strip of one group.
type tiledPiece struct {
	*winograd.Tiles
	rows                          between // counted through all groups
	line, atOnce                  int64   // elements of a row of the sums of a cell, and rows that are multiplied at once
	image, sums, kernels, channel []float32
	imageStep, sumStep, step      int64 // from one cell to the next
}

// strip computes some rows of a strip in sums, whose rows are ld apart, and returns the numbers of those that are not finite. ok is false
// where memory does not fit.
func (j winogradCall) strip(p *convPhase[float32], group, img, first int64, grid *[op.MaxSpatial]int64, rows between, sums []float32, ld int64, s *window.Scratch[float32]) (again []int64, ok bool) {
	t := tiledPiece{Tiles: &s.Tiles, rows: between{group*j.Rows + rows.from, group*j.Rows + rows.to}}
	if !j.open(&t, grid, p.tiling.cells, s) || !j.image(&t, p, group, img, first) {
		return nil, false
	}
	s.Again = s.Again[:0]
	for row := t.rows.from; row < t.rows.to; row += t.atOnce {
		n := min(t.atOnce, t.rows.to-row)
		kernels, alone := t.kernels, j.alone(p, row, n, s)
		if !slices.Contains(alone, false) {
			for i := range n {
				s.Again = append(s.Again, row-t.rows.from+i)
			}
			continue
		}
		if p.tiling.cells != nil {
			kernels = kernels[row*cellLine(j.Channels):]
		} else if !j.kernels(p, kernels, row, n, t.atOnce) {
			return nil, false
		}
		if !j.multiply(&t, kernels, n) {
			return nil, false
		}
		for i := range n {
			number := row - t.rows.from + i
			finite, ok := t.Sums(sums[number*ld:], t.sums[i*t.line:], int(t.sumStep))
			if !ok {
				return nil, false
			}
			if !finite || alone[i] {
				s.Again = append(s.Again, number)
			}
		}
	}
	return s.Again, true
}

// open cuts a piece, and takes memory for it.
func (j winogradCall) open(t *tiledPiece, grid *[op.MaxSpatial]int64, cells []float32, s *window.Scratch[float32]) bool {
	perLine, lines := (grid[2]+1)/2, (grid[1]+1)/2
	odd := roundTo(perLine+1, vectorElements)
	old := *t.Tiles
	*t.Tiles = winograd.Tiles{
		PerLine: int(perLine), Count: int(lines * perLine), Columns: int(grid[2]), Lines: int(grid[1]), Apart: int(grid[2]),
		Pitch: int(2 * odd), Odd: int(odd), Panel: int(j.Channels) * winograd.PanelTiles(),
	}
	if !t.Open(&old) {
		return false
	}
	t.line = roundTo(lines*perLine, vectorElements)
	t.atOnce = sumElements / winograd.Cells / t.line
	if cells == nil {
		t.atOnce = min(t.atOnce, kernelsAtOnce/winograd.Cells/j.Channels)
	}
	t.atOnce = min(max(t.atOnce/rowsTogether(), 1)*rowsTogether(), t.rows.to-t.rows.from)
	t.imageStep, t.sumStep, t.step = roundTo(t.line, int64(winograd.PanelTiles()))*j.Channels+evenCell, t.atOnce*t.line+evenCell, cellStep(t.atOnce, j.Channels)
	s.Columns = window.Grown(s.Columns, winograd.Cells*(t.imageStep+t.sumStep+t.step)+2*odd*(2*lines+2)+evenCell)
	rest := s.Columns
	take := func(n int64) (part []float32) {
		part, rest = rest[:n], rest[n:]
		return part
	}
	t.image, t.sums, t.channel = take(winograd.Cells*t.imageStep+evenCell), take(winograd.Cells*t.sumStep), take(2*odd*(2*lines+2))
	if t.kernels = rest; cells != nil {
		t.kernels, t.step = cells, cellStep(j.Groups*j.Rows, j.Channels)
	}
	return true
}

// image transforms all channels of a group that a strip sees.
func (j winogradCall) image(t *tiledPiece, p *convPhase[float32], group, img, first int64) bool {
	need, strides := [op.MaxSpatial]int64{1, int64(len(t.channel) / t.Pitch), int64(t.PerLine + 1)}, [op.MaxSpatial]int64{0, int64(t.Pitch), 1}
	even := p.strips.low
	even[1] += first
	odd, panel := even, int64(winograd.PanelTiles())
	odd[2]++
	for c := range j.Channels {
		at := j.In.At(img, group*j.Channels+c)
		j.In.Padded(t.channel, at, &need, &strides, &even, &everySecond)
		j.In.Padded(t.channel[t.Odd:], at, &need, &strides, &odd, &everySecond)
		if !t.Image(t.image[c*panel:], t.channel, int(t.imageStep)) {
			return false
		}
	}
	return true
}

// everySecond are the steps between elements of a line with even numbers.
var everySecond = [op.MaxSpatial]int64{1, 1, 2}

// multiply sets the sums of n rows.
func (j winogradCall) multiply(t *tiledPiece, kernels []float32, n int64) bool {
	for cell := range int64(winograd.Cells) {
		image := t.image[cell*t.imageStep:][:t.imageStep]
		if !winograd.MulCells(t.sums[cell*t.sumStep:], kernels[cell*t.step:], image, int(n), t.Count, int(j.Channels), int(cellLine(j.Channels)), int(t.line)) {
			return false
		}
	}
	return true
}

// floats is a slice of float32 that has another name.
// SAFETY: the caller has seen that T is float32.
func floats[T any](s []T) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}
