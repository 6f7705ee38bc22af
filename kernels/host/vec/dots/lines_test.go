package dots

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// Sums along lines are those of float64 within the roundings of their terms. NaN between the lines does not count.
func TestAddLineDots(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		for range 300 {
			m, terms := lineRows+r.IntN(40), 1+r.IntN(20)
			l := Lines{Width: 1 + r.IntN(40), Count: 1 + r.IntN(4), Images: 1 + r.IntN(3)}
			l.StepA, l.StepB = l.Width+r.IntN(3), l.Width+10+r.IntN(3)
			l.Row = l.Count * l.StepA
			l.NextA, l.NextB = m*l.Row+r.IntN(5), l.Count*l.StepB+10+r.IntN(5)
			a, b := make([]float32, l.Images*l.NextA), make([]float32, l.Images*l.NextB)
			for i := range a {
				a[i] = float32(math.NaN())
			}
			for i := range b {
				b[i] = float32(r.NormFloat64())
			}
			offsets := make([]int, terms)
			for j := range offsets {
				offsets[j] = r.IntN(10)
			}
			eachOfLines(&l, m, func(i, _ int, at int) { a[at+i*l.Row] = float32(r.NormFloat64()) })
			c, check := vectest.Guarded(make([]float32, m*(terms+2)))
			if !HasLines() {
				require.False(t, AddLines(c, a, b, offsets, m, terms+2, &l))
				continue
			}
			require.True(t, AddLines(c, a, b, offsets, m, terms+2, &l))
			check(t)
			for j, offset := range offsets {
				sums, sizes := make([]float64, m), make([]float64, m)
				eachOfLines(&l, m, func(i, b0, at int) {
					product := float64(a[at+i*l.Row]) * float64(b[b0+offset])
					sums[i], sizes[i] = sums[i]+product, sizes[i]+math.Abs(product)
				})
				for i := range sums {
					terms := float64(l.Width * l.Count * l.Images)
					require.InDelta(t, sums[i], c[i*(len(offsets)+2)+j], terms*sizes[i]*0x1p-24)
				}
			}
			require.False(t, AddLines(c, a[:(m-1)*l.Row], b, offsets, m, len(offsets)+2, &l))
			require.False(t, AddLines(c, a, b, []int{len(b)}, m, len(offsets)+2, &l))
			require.False(t, AddLines(c, a, b, []int{-1}, m, len(offsets)+2, &l))
			require.False(t, AddLines(c, a, b, offsets, lineRows-1, len(offsets)+2, &l))
		}
	})
}

// eachOfLines visits the elements of lines, for each row of a: where it is in b, and where in row 0 of a.
func eachOfLines(l *Lines, m int, f func(row, b, a int)) {
	for img := range l.Images {
		for line := range l.Count {
			for w := range l.Width {
				for i := range m {
					f(i, img*l.NextB+line*l.StepB+w, img*l.NextA+line*l.StepA+w)
				}
			}
		}
	}
}
