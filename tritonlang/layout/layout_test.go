package layout

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// holders counts how often each element of a tensor occurs among registers, lanes and warps.
func holders(l Layout) map[int]int {
	count := map[int]int{}
	for r := range 1 << len(l.Reg) {
		for lane := range 1 << len(l.Lane) {
			for warp := range 1 << len(l.Warp) {
				at := 0
				for i, part := range []int{r, lane, warp} {
					for k, b := range [][]int{l.Reg, l.Lane, l.Warp}[i] {
						if b != None {
							at |= part >> k & 1 << b
						}
					}
				}
				count[at]++
			}
		}
	}
	return count
}

// TestEachElementIsHeld: every element is held, and by as many threads as there are replicated bits.
func TestEachElementIsHeld(t *testing.T) {
	for bits := range 13 {
		for vec := range 4 {
			for warps := range 4 {
				order := make([]int, bits)
				for i := range order {
					order[i] = i
				}
				for _, l := range []Layout{Blocked(order, vec, warps), Chunks(order, vec, warps)} {
					count := holders(l)
					require.Len(t, count, 1<<bits, l.Key())
					require.Equal(t, bits, l.Bits())
					for _, n := range count {
						require.Equal(t, 1<<(len(l.Reg)+Lanes+warps-bits), n, l.Key())
					}
				}
			}
		}
	}
}

// TestTransposeTwiceIsIdentity, and a transposed element is where it was.
func TestTransposeTwiceIsIdentity(t *testing.T) {
	shape := []int{4, 64, 8}
	l := Blocked(Order(shape, []int{2, 1, 0}), 2, 2)
	there := l.Transpose(shape, []int{2, 0, 1})
	require.False(t, l.Same(there))
	require.True(t, l.Same(there.Transpose([]int{8, 4, 64}, []int{1, 2, 0})))
}

// TestShrink: the layout of a column from that of a matrix has the bits of rows only.
func TestShrink(t *testing.T) {
	l := Blocked(Order([]int{16, 64}, []int{1, 0}), 2, 2)
	column := l.Shrink([]int{16, 64}, []int{16, 1})
	require.Equal(t, 4, column.Bits())
	require.Equal(t, "|* * * * 0|1 2", Layout{nil, column.Lane, column.Warp}.Key())
	require.Len(t, holders(column), 16)
}
