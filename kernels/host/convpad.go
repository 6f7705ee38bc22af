package host

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Neighbouring windows of a line see runs of the same lines of the image, each a stride further on than the one before. In padded
// lines these runs are the rows of a left operand that overlap: a product reads them where they lie, one line of the kernel after
// the other, instead of copies side by side, of which a kernel of 3 x 3 needs nine for each element. A piece is some lines of
// the result; it pads the lines that its windows see in scratch memory.

const (
	leastPadded   = 12      // windows of a line: fewer leave tiles empty
	mostIdle      = 16      // one row of a tile may be empty for so many windows
	paddedStrip   = 1 << 15 // elements of the padded lines of a piece, about
	gatheredPlane = 4       // channels up to which an image that has them first is gathered into the lines
)

// padsLines reports whether a conv of images with their channels last reads padded lines: windows overlap, and fill the tiles.
func padsLines(c *device.Call) (bool, error) {
	axes := c.In[left].Rank - 2
	w, err := op.WindowsOf(op.ByID(c.Op), c.Attrs, axes)
	if err != nil {
		return false, err
	}
	copy(w.Kernel[:axes], c.In[right].Dims[2:c.In[right].Rank])
	kernel, step, dilation := spatial(w.Kernel, axes, 1), spatial(w.Stride, axes, 1), spatial(w.Dilation, axes, 1)
	rows := int64(4)
	if height, _ := vec.MatMulTile[float32](); !vec.HasLines() {
		rows = int64(height)
	}
	windows := c.Out[0].Dims[c.Out[0].Rank-1]
	idle := roundTo(windows, rows) - windows
	return kernel[0] == 1 && dilation[2] == 1 && kernel[1]*kernel[2] > step[1]*step[2] && windows >= leastPadded && idle*mostIdle <= windows, nil
}

// padCut says which lines a piece has.
type padCut struct {
	lines    int64 // of the result, of a piece
	perPlane int64 // pieces
	kernel   int64 // lines of it
	apart    int64 // distance of these in the image
	run      int64 // elements of a line of the kernel
	length   int64 // elements of a padded line
}

// planPadded is the plan of a conv whose windows read padded lines. How a result is cut depends on shapes alone.
func planPadded(j *convolving[float32], w *op.Windows) {
	j.work = (*paddedRows)(j)
	j.rows = j.out.channels
	kernel := j.noteTaps(w)
	windows, lines := j.out.dims[2], j.out.dims[1]
	p := &j.byPads
	*p = padCut{kernel: kernel[1], apart: spatial(w.Dilation, w.Axes, 1)[1], run: kernel[2] * j.channels}
	p.length = ((windows-1)*j.step[2] + kernel[2]) * j.channels
	planes := j.out.batch * j.out.dims[0]
	p.lines = min(rowResults/(windows*j.rows), paddedStrip/(p.length*j.step[1]), (lines*planes+wantedPieces-1)/wantedPieces, lines)
	p.lines = max(p.lines, 1)
	p.perPlane = (lines + p.lines - 1) / p.lines
	j.pieces = planes * p.perPlane
}

// paddedRows is a call as work that is cut into lines of windows.
type paddedRows convolving[float32]

// Lines that two pieces see are padded by both: a piece has many lines where its image is small, and else the product takes much
// longer than the copy.

// part computes pieces lo to hi-1.
func (j *paddedRows) part(_ *device.Call, lo, hi int64) error {
	pool := scratchPool[float32]()
	s := pool.Get().(*scratch[float32])
	defer pool.Put(s)
	b := j.epilogue.begin()
	defer j.epilogue.end(b)
	p, windows := &j.byPads, j.out.dims[2]
	for piece := lo; piece < hi; piece++ {
		plane, line := piece/p.perPlane, piece%p.perPlane*p.lines
		lines := min(p.lines, j.out.dims[1]-line)
		j.pad(s, plane, line*j.step[1], (lines-1)*j.step[1]+(p.kernel-1)*p.apart+1)
		first := (plane*j.out.dims[1] + line) * windows
		for l := range lines {
			if !j.line(j.out.data[(first+l*windows)*j.rows:][:windows*j.rows], s.columns[l*j.step[1]*p.length:]) {
				return misfit()
			}
		}
		if err := j.epilogue.rows(b, first*j.rows, lines*windows, j.rows, j.rows); err != nil {
			return err
		}
	}
	return nil
}

// A line of the kernel is added to the sums of those before it, which wait in the result. The order of a sum is that of the other
// kernel for channels last: over the elements of the kernel, and for each over the channels.

// line multiplies what the windows of a line see with the weight, one line of the kernel after the other.
func (j *paddedRows) line(to, padded []float32) bool {
	p := &j.byPads
	for k := range p.kernel {
		for term := int64(0); term < p.run; term += vec.MostSteps {
			from, steps := padded[k*p.apart*p.length+term:], min(vec.MostSteps, p.run-term)
			if !j.right.AddMatMul(to, from, int(k*p.run+term), int(steps), int(j.out.dims[2]), int(j.step[2]*j.channels), 0, int(j.rows), int(j.rows), k+term == 0) {
				return false
			}
		}
	}
	return true
}

// pad fills s.columns with lines of a plane of the image, which windows see from element first on.
func (j *paddedRows) pad(s *scratch[float32], plane, first, lines int64) {
	im, length := &j.in, j.byPads.length
	s.columns = grown(s.columns, lines*length)
	tap := &j.taps[0] // the first that a window sees
	a := plane%j.out.dims[0]*j.step[0] + tap[0]
	// What is left and right of the image is the same in all lines, and in all channels.
	low := min(max(-tap[2], 0)*j.channels, length) // elements of a line that are inside
	high := max(min((im.dims[2]-tap[2])*j.channels, length), low)
	for i := range lines {
		to, b := s.columns[i*length:][:length], first+tap[1]+i
		if a < 0 || a >= im.dims[0] || b < 0 || b >= im.dims[1] {
			clear(to)
			continue
		}
		clear(to[:low])
		clear(to[high:])
		if inside := to[low:high]; len(inside) > 0 {
			at := im.at(plane/j.out.dims[0], 0) + a*im.strides[0] + b*im.strides[1] + (low/j.channels+tap[2])*im.strides[2]
			if im.perChannel == 1 && im.strides[2] == j.channels {
				copy(inside, im.data[at:])
				continue
			}
			for c := range j.channels {
				fillEvery(inside[c:], im.data, at+c*im.perChannel, im.strides[2], j.channels)
			}
		}
	}
}

// fillEvery fills every step-th element with those of a line, which are distance apart from at on.
func fillEvery(to, from []float32, at, distance, step int64) {
	for i := int64(0); i < int64(len(to)); i += step {
		to[i] = from[at]
		at += distance
	}
}
