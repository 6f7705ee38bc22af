package winograd

import "github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"

// Winograd's minimal filtering F(2x2, 3x3) finds a tile of 2 x 2 neighbouring sums of a 3 x 3 convolution with 16 products
// for each channel instead of 36: the 4 x 4 elements that a tile sees and the kernel are transformed to 16 cells each, the products of equal cells are
// added up over the channels, which is a matrix product for each cell, and the 16 sums are transformed to the tile.
// The transforms are additions and halvings, so that rounding errors stay about three times those of the sums by definition. See
// Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2015).
//
// An element of the image that is not finite makes all of its tile so, and so does an overflow. Sums tells, and the caller has
// to compute such tiles by definition.

// Cells is the number of cells of a tile.
const Cells = 16

// PanelTiles is the number of tiles whose cells are a row of a panel of [MulCells].
func PanelTiles() int { return gemm.PanelCols() }

// Available reports whether there are vectors for all steps.
func Available() bool { return active.imageTiles != nil }

// Tiles says where tiles are. Line by line, PerLine in each, they cover lines of a result, and see twice as many lines of a copy of a channel
// and two more. A line of the copy is Pitch elements after the one before: first those with even numbers, from Odd on the others;
// element 0 is left of the first tile, in the padding. [Tiles.Open] completes it.
type Tiles struct {
	PerLine, Count int
	Columns, Lines int // of the result
	Apart          int // from one line of the result to the next
	Pitch, Odd     int
	Panel          int // from a panel of cells to the next
	panelTiles     int
	vectors        []tileVector
}

const (
	tileLanes  = 16
	mostPieces = 4 // lines of tiles that a vector is of, at most
	LeastTiles = 4 // PerLine is that at least
)

// tileVector is sixteen tiles of AVX-512. Pieces of it are neighbours in a line. winograd_amd64.s has the offsets of the fields.
type tileVector struct {
	in     [mostPieces]int    // bytes from the first element of the copy to where the line would begin at lane 0
	out    [mostPieces]int    // likewise in the result
	lanes  [mostPieces]uint16 // of a piece
	masks  [4][mostPieces]uint16
	panel  int // bytes from the first cell to those of the vector
	pieces int
	valid  uint16 // all lanes
}

// Open computes what depends on the other fields, in the memory of others that are used no more. It reports false for sizes that are
// no sizes.
func (t *Tiles) Open(others *Tiles) bool {
	t.vectors, t.panelTiles = others.vectors[:0], PanelTiles()
	if t.PerLine < LeastTiles || min(t.Count, t.Columns, t.Lines, t.Apart, t.Pitch, t.Odd, t.Panel) < 0 {
		return false
	}
	if t.Columns > 2*t.PerLine || t.PerLine+1 > t.Pitch-t.Odd || t.PerLine+1 > t.Odd || t.Columns > t.Apart && t.Lines > 1 || t.Lines > 2*t.lines() {
		return false
	}
	for first := 0; first < t.Count; first += tileLanes {
		v := tileVector{panel: 4 * (first/t.panelTiles*t.Panel + first%t.panelTiles)}
		for lane := 0; lane < min(tileLanes, t.Count-first); v.pieces++ {
			lane += t.piece(&v, first, lane)
		}
		t.vectors = append(t.vectors, v)
	}
	return true
}

// lines is the number of lines of tiles.
func (t *Tiles) lines() int { return (t.Count + t.PerLine - 1) / t.PerLine }

// piece notes the tiles of a vector from a lane on that are neighbours in a line, and answers how many there are.
func (t *Tiles) piece(v *tileVector, first, lane int) int {
	line, column := (first+lane)/t.PerLine, (first+lane)%t.PerLine
	n := min(t.PerLine-column, tileLanes-lane, t.Count-first-lane)
	v.in[v.pieces], v.out[v.pieces] = 4*(2*line*t.Pitch+column-lane), 4*(2*line*t.Apart+2*(column-lane))
	v.lanes[v.pieces] = uint16((1<<n - 1) << lane)
	v.valid |= v.lanes[v.pieces]
	elements := uint32((uint64(1)<<max(min(2*n, t.Columns-2*column), 0) - 1) << (2 * lane))
	for i := range min(2, t.Lines-2*line) {
		v.masks[2*i][v.pieces], v.masks[2*i+1][v.pieces] = uint16(elements), uint16(elements>>tileLanes)
	}
	return n
}

// Kernels sets cell i of kernel j to to[i*cell+j], for n kernels of nine elements each, which lie one behind the other. It reports false, and
// does nothing, where they do not fit.
func Kernels(to, w []float32, n, cell int) bool {
	if n < 0 || cell < n || n > len(w)/9 || n > 0 && (Cells-1)*cell+n > len(to) {
		return false
	}
	whole := 0
	if active.kernelCells != nil && n >= tileLanes {
		whole = n / tileLanes
		active.kernelCells(to, w, whole, cell)
	}
	for j := whole * tileLanes; j < n; j++ {
		kernelRow(to[j:], w[9*j:][:9], cell)
	}
	return true
}

// kernelRow transforms one kernel, portable.
func kernelRow(to, w []float32, cell int) {
	var t [4][3]float32
	for j := range 3 {
		t[0][j], t[1][j], t[2][j], t[3][j] = kernelLine(w[j], w[3+j], w[6+j])
	}
	for i := range t {
		a, b, c, d := kernelLine(t[i][0], t[i][1], t[i][2])
		for j, v := range []float32{a, b, c, d} {
			to[(4*i+j)*cell] = v
		}
	}
}

func kernelLine(x, y, z float32) (a, b, c, d float32) {
	ends, middle := float32((x+z)*0.5), float32(y*0.5)
	return x, ends + middle, ends - middle, z
}

// Image sets the cells of all tiles to those of the elements that they see in a copy of a channel: cell i of tile j is
// to[i*cell+j/PanelTiles*Panel+j%PanelTiles]. It reports false, and does nothing, where they do not fit.
func (t *Tiles) Image(to, x []float32, cell int) bool {
	if t.Count == 0 {
		return true
	}
	end := (Cells-1)*cell + (t.Count-1)/max(t.panelTiles, 1)*t.Panel + min(t.Count, t.panelTiles)
	if cell < 0 || len(t.vectors) == 0 || end+tileLanes > len(to) || (2*t.lines()+2)*t.Pitch > len(x) {
		return false
	}
	if active.imageTiles != nil {
		active.imageTiles(t, to, x, cell)
		return true
	}
	for j := range t.Count {
		t.imageTile(to[j/t.panelTiles*t.Panel+j%t.panelTiles:], x[2*(j/t.PerLine)*t.Pitch+j%t.PerLine:], cell)
	}
	return true
}

// imageTile transforms the elements that one tile sees, portable.
func (t *Tiles) imageTile(to, x []float32, cell int) {
	var d [4][4]float32
	for i := range d {
		line := x[i*t.Pitch:]
		d[i] = imageLine(line[0], line[t.Odd], line[1], line[t.Odd+1])
	}
	for j := range 4 {
		for i, v := range imageLine(d[0][j], d[1][j], d[2][j], d[3][j]) {
			to[(4*i+j)*cell] = v
		}
	}
}

func imageLine(a, b, c, d float32) [4]float32 { return [4]float32{a - c, b + c, c - b, b - d} }

// Sums transforms sums of cells to elements of the result: cell i of tile j is m[i*cell+j], where whole vectors of tiles may be read. finite
// says that all elements are. ok is false, and nothing is done, where they do not fit.
func (t *Tiles) Sums(to, m []float32, cell int) (finite, ok bool) {
	if t.Count == 0 {
		return true, true
	}
	if cell < 0 || len(t.vectors) == 0 || (Cells-1)*cell+len(t.vectors)*tileLanes > len(m) || t.Lines > 0 && (t.Lines-1)*t.Apart+t.Columns > len(to) {
		return false, false
	}
	if active.tileSums != nil && len(to) > 0 {
		return active.tileSums(t, to, m, cell), true
	}
	finite = true
	for j := range t.Count {
		finite = t.sumTile(to, m[j:], j, cell) && finite
	}
	return finite, true
}

// sumTile makes tile j, portable.
func (t *Tiles) sumTile(to, m []float32, j, cell int) (finite bool) {
	var s [4][2]float32
	for i := range s {
		s[i] = sumLine(m[4*i*cell], m[(4*i+1)*cell], m[(4*i+2)*cell], m[(4*i+3)*cell])
	}
	finite = true
	line, column := 2*(j/t.PerLine), 2*(j%t.PerLine)
	for b := range 2 {
		for a, v := range sumLine(s[0][b], s[1][b], s[2][b], s[3][b]) {
			finite = finite && v-v == 0
			if line+a < t.Lines && column+b < t.Columns {
				to[(line+a)*t.Apart+column+b] = v
			}
		}
	}
	return finite
}

func sumLine(a, b, c, d float32) [2]float32 { return [2]float32{a + b + c, b - c - d} }

// MulCells sets c (m x n, leading dimension ldc) to a (m x k, leading dimension lda) times panels of the cells of n tiles, each of k rows. It
// reports false, and does nothing, where an operand does not fit, and needs [Available].
func MulCells(c, a, panels []float32, m, n, k, lda, ldc int) bool {
	if !Available() || min(m, n, k) < 0 || (n+PanelTiles()-1)/PanelTiles()*PanelTiles()*k > len(panels) {
		return false
	}
	r := gemm.PackedRightOf(panels, k, n)
	return r.MatMul(c, a, m, 0, n, lda, ldc)
}
