package winograd

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// TestKernels compares with the transform of one kernel, and says what that is for one.
func TestKernels(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	to := make([]float32, Cells)
	kernelRow(to, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1)
	require.Equal(t, []float32{1, 3, 1, 3, 6, 11.25, 3.75, 9, 2, 3.75, 1.25, 3, 7, 12, 4, 9}, to)
	eachLevel(t, func(t *testing.T) {
		for n := 1; n < 70; n++ {
			cell := n + r.IntN(3)
			w, got := vectest.Noise(r, 9*n), vectest.Noise(r, (Cells-1)*cell+n)
			want := append([]float32(nil), got...)
			for j := range n {
				kernelRow(want[j:], w[9*j:], cell)
			}
			require.True(t, Kernels(got, w, n, cell))
			require.Equal(t, want, got, "%d kernels", n)
			require.False(t, Kernels(got[1:], w, n, cell))
			require.False(t, Kernels(got, w[1:], n, cell))
			require.Equal(t, want, got)
		}
	})
}

// someTiles are tiles of lines of all kinds of lengths.
func someTiles(r *rand.Rand) *Tiles {
	t := &Tiles{Columns: 7 + r.IntN(40), Lines: 1 + r.IntN(12)}
	t.PerLine = (t.Columns + 1) / 2
	t.Count = (t.Lines + 1) / 2 * t.PerLine
	t.Apart, t.Odd = t.Columns+r.IntN(3), t.PerLine+1+r.IntN(3)
	t.Pitch, t.Panel = t.Odd+t.PerLine+1+r.IntN(3), PanelTiles()*(1+r.IntN(3))
	return t
}

// TestTiles compares both transforms with those of one tile, to the last bit.
func TestTiles(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 54))
	eachLevel(t, func(t *testing.T) {
		for range 200 {
			s := someTiles(r)
			s.Count -= r.IntN(s.PerLine) // the last line may have fewer
			require.True(t, s.Open(&Tiles{}))
			panels := (s.Count + PanelTiles() - 1) / PanelTiles()
			cell := panels*s.Panel + r.IntN(20)
			x, got := vectest.Noise(r, (2*s.lines()+2)*s.Pitch), vectest.Noise(r, Cells*cell+tileLanes)
			want := append([]float32(nil), got...)
			for j := range s.Count {
				s.imageTile(want[j/PanelTiles()*s.Panel+j%PanelTiles():], x[2*(j/s.PerLine)*s.Pitch+j%s.PerLine:], cell)
			}
			require.True(t, s.Image(got, x, cell))
			for i := range Cells { // a vector has lanes behind the last tile
				for j := range s.Count {
					at := i*cell + j/PanelTiles()*s.Panel + j%PanelTiles()
					require.Equal(t, want[at], got[at], "%+v, cell %d, tile %d", s, i, j)
				}
			}
			require.False(t, s.Image(got, x[1:], cell))

			size := len(s.vectors) * tileLanes
			m, out := vectest.Noise(r, Cells*size), vectest.Noise(r, (s.Lines-1)*s.Apart+s.Columns)
			made := append([]float32(nil), out...)
			for j := range s.Count {
				require.True(t, s.sumTile(made, m[j:], j, size))
			}
			for j := s.Count; j < size; j++ { // what belongs to no tile is not looked at
				m[r.IntN(Cells)*size+j] = float32(math.NaN())
			}
			finite, ok := s.Sums(out, m, size)
			require.True(t, ok)
			require.True(t, finite)
			require.Equal(t, made, out, "%+v", s)
			m[r.IntN(Cells)*size+r.IntN(s.Count)] = []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}[r.IntN(3)]
			finite, ok = s.Sums(out, m, size)
			require.True(t, ok)
			require.False(t, finite)
			_, ok = s.Sums(out[1:], m, size)
			require.False(t, ok)
			_, ok = s.Sums(out, m[1:], size)
			require.False(t, ok)
		}
	})
}

// TestWinograd compares all steps together with a convolution by definition, on small integers, of which every sum is exact.
func TestWinograd(t *testing.T) {
	r := rand.New(rand.NewPCG(55, 56))
	eachLevel(t, func(t *testing.T) {
		if !Available() {
			require.NotContains(t, []vec.Level{vec.AVX512, vec.NEON}, vec.Active())
			t.Skip("convolutions in tiles need AVX-512 and GOEXPERIMENT=simd, or arm64 and cgo")
		}
		for range 20 {
			s, rows, channels := someTiles(r), 1+r.IntN(40), 1+r.IntN(40)
			s.Panel = PanelTiles() * channels
			require.True(t, s.Open(&Tiles{}))
			panels, ld := (s.Count+PanelTiles()-1)/PanelTiles(), len(s.vectors)*tileLanes
			w, lines := make([]float32, rows*channels*9), 2*s.lines()+2
			for i := range w {
				w[i] = float32(r.IntN(7) - 3)
			}
			cells := make([]float32, Cells*rows*channels)
			require.True(t, Kernels(cells, w, rows*channels, rows*channels))
			x, image := make([]float32, channels*lines*s.Pitch), make([]float32, Cells*panels*s.Panel+tileLanes)
			for i := range x {
				x[i] = float32(r.IntN(7) - 3)
			}
			for c := range channels {
				require.True(t, s.Image(image[c*PanelTiles():], x[c*lines*s.Pitch:][:lines*s.Pitch], panels*s.Panel))
			}
			m := make([]float32, Cells*rows*ld)
			for i := range Cells {
				require.True(t, MulCells(m[i*rows*ld:], cells[i*rows*channels:], image[i*panels*s.Panel:], rows, s.Count, channels, channels, ld))
			}
			for row := range rows {
				got := make([]float32, s.Lines*s.Apart)
				finite, ok := s.Sums(got, m[row*ld:], rows*ld)
				require.True(t, finite && ok)
				for i := range s.Lines {
					for j := range s.Columns {
						sum := float32(0)
						for k := range 9 * channels {
							c, a, b := k/9, k%9/3, k%3+j
							sum += w[(row*channels+c)*9+k%9] * x[c*lines*s.Pitch+(i+a)*s.Pitch+b%2*s.Odd+b/2]
						}
						require.Equal(t, sum, got[i*s.Apart+j], "%+v, row %d, element %d %d", s, row, i, j)
					}
				}
			}
		}
	})
}
