package lowprec

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// extremes8 are the bytes at which a product of 8-bit integers is largest, and where their sign turns.
var extremes8 = []uint8{0, 1, 0x7f, 0x80, 0x81, 0xff}

// randomBytes is a matrix whose elements are often extremes, with a gap behind each row.
func randomBytes(r *rand.Rand, rows, cols, gap int, signed bool) Bytes {
	m := Bytes{Data: make([]uint8, rows*(cols+gap)), Step: cols + gap, Signed: signed}
	for i := range m.Data {
		if m.Data[i] = uint8(r.Uint32()); r.IntN(3) == 0 {
			m.Data[i] = extremes8[r.IntN(len(extremes8))]
		}
	}
	return m
}

// at is an element as a number.
func (m *Bytes) at(i, j int) int64 {
	x := m.Data[i*m.Step+j]
	if m.Signed {
		return int64(int8(x)) - int64(m.Zero)
	}
	return int64(x) - int64(m.Zero)
}

// product8Of is a product by the definition, in 64 bits.
func product8Of(a, b *Bytes, i, j, k int) (sum int64) {
	for l := range k {
		sum += a.at(i, l) * b.at(l, j)
	}
	return sum
}

// signs8 are the four pairs of kinds of elements.
var signs8 = [][2]bool{{false, false}, {false, true}, {true, false}, {true, true}}

// checkBytes multiplies in all four ways: with an operand in memory or one that was laid out before, in full or the low bits.
func checkBytes(t *testing.T, a, b Bytes, m, n, k, gap int) {
	t.Helper()
	right, ldc := NewPackedRight8(&b, k, n), n+gap
	require.NotNil(t, right)
	for _, packed := range []bool{false, true} {
		wide, low := Sums{Wide: make([]int32, m*ldc), Step: ldc}, Sums{Low: make([]uint8, m*ldc), Step: ldc}
		for i := range wide.Wide {
			wide.Wide[i], low.Low[i] = vectest.Guard, vectest.Guard&0xff
		}
		for _, c := range []Sums{wide, low} {
			if packed {
				require.True(t, right.MatMul(&c, &a, m, 0, n))
			} else {
				require.True(t, MatMul8(&c, &a, &b, m, n, k))
			}
		}
		for i := range m {
			for j := range ldc {
				want := int64(vectest.Guard)
				if j < n {
					want = product8Of(&a, &b, i, j, k)
				}
				if at := i*ldc + j; int32(want) != wide.Wide[at] || uint8(want) != low.Low[at] {
					t.Fatalf("c[%d][%d] of %dx%dx%d, signed %v and %v, packed %v: %d and %d; want %d", i, j, m, n, k, a.Signed, b.Signed, packed, wide.Wide[at], low.Low[at], want)
				}
			}
		}
	}
}

// Products of all kinds of elements are exact, on every level and for sizes around those of tiles, groups and blocks.
func TestMatMul8(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	shapes := [][3]int{
		{0, 3, 2},
		{3, 0, 2},
		{3, 2, 0},
		{1, 1, 1},
		{1, 33, 7},
		{2, 32, 4},
		{5, 31, 9},
		{6, 64, 8},
		{11, 65, 513},
		{12, 32, 512},
		{13, 16, 514},
		{18, 97, 1025},
		{97, 33, 40},
		{100, 1, 300},
		{3, 1030, 17},
		{386, 35, 21},
		{7, 1057, 515},
	}
	eachLevel(t, func(t *testing.T) {
		for _, s := range shapes {
			for _, signed := range signs8 {
				for _, gap := range []int{0, 3} {
					m, n, k := s[0], s[1], s[2]
					a := randomBytes(r, m, k, gap, signed[0])
					a.Zero = []int32{0, 0, 1, 128, -128, 255, -7}[r.IntN(7)]
					checkBytes(t, a, randomBytes(r, k, n, gap, signed[1]), m, n, k, gap)
				}
			}
		}
	})
}

// TestMatMul8Small tries each size from 1 to 40 with each other one.
func TestMatMul8Small(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 8))
	eachLevel(t, func(t *testing.T) {
		for m := 1; m <= 40; m++ {
			for n := 1; n <= 40; n++ {
				k := 1 + (7*m+11*n)%40 // one of the 40; all of them with all rows and columns
				signed := signs8[(m+n)%4]
				checkBytes(t, randomBytes(r, m, k, 0, signed[0]), randomBytes(r, k, n, 0, signed[1]), m, n, k, m%2)
			}
		}
	})
}

// The largest products, of one sign, add up without saturation, and beyond 2**31 they wrap around.
func TestMatMul8DoesNotSaturate(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, signed := range signs8 {
			for _, x := range extremes8[2:] {
				for _, y := range extremes8[3:] {
					const m, n, k = 13, 33, 33100 // 255 * 255 * 33100 is more than 2**31
					a := Bytes{Data: make([]uint8, m*k), Step: k, Signed: signed[0]}
					b := Bytes{Data: make([]uint8, k*n), Step: n, Signed: signed[1]}
					for i := range a.Data {
						a.Data[i] = x
					}
					for i := range b.Data {
						b.Data[i] = y
					}
					c := Sums{Wide: make([]int32, m*n), Step: n}
					require.True(t, MatMul8(&c, &a, &b, m, n, k))
					want := int32(k * a.at(0, 0) * b.at(0, 0))
					for i, v := range c.Wide {
						require.Equal(t, want, v, "element %d of %d times %d, signed %v", i, x, y, signed)
					}
				}
			}
		}
	})
}

// A right operand may be gathered, and a product be added to what is there.
func TestMatMul8Gathers(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 8))
	eachLevel(t, func(t *testing.T) {
		for _, s := range [][3]int{{0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {1, 1, 1}, {5, 70, 9}, {13, 1100, 40}, {30, 65, 530}} {
			for _, signed := range signs8 {
				m, n, k := s[0], s[1], s[2]
				a, b := randomBytes(r, m, k, 0, signed[0]), randomBytes(r, k, n, 0, signed[1])
				a.Zero = int32(r.IntN(300)) - 128
				lazy := Bytes{Signed: b.Signed, Gather: func(to []uint8, step, row, rows, col, cols int) {
					for i := range rows {
						copy(to[i*step:][:cols], b.Data[(row+i)*n+col:])
					}
				}}
				for _, add := range []bool{false, true} {
					c := Sums{Wide: make([]int32, m*n), Step: n, Add: add}
					for i := range c.Wide {
						c.Wide[i] = vectest.Guard
					}
					require.True(t, MatMul8(&c, &a, &lazy, m, n, k))
					for i := range c.Wide {
						want := product8Of(&a, &b, i/n, i%n, k)
						if add {
							want += vectest.Guard
						}
						require.Equal(t, int32(want), c.Wide[i], "element %d of %v, added %v", i, s, add)
					}
				}
			}
		}
	})
}

// Columns of an operand that was laid out before may be multiplied from any multiple of the tile's columns on.
func TestRight8Columns(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 8))
	eachLevel(t, func(t *testing.T) {
		const m, n, k = 15, 170, 70
		_, cols := MatMul8Tile()
		for _, signed := range signs8 {
			a, b := randomBytes(r, m, k, 0, signed[0]), randomBytes(r, k, n, 5, signed[1])
			right := NewPackedRight8(&b, k, n)
			for from := 0; from < n; from += cols {
				for _, width := range []int{0, 1, min(cols, n-from), n - from} {
					c := Sums{Wide: make([]int32, m*n), Step: n}
					require.True(t, right.MatMul(&c, &a, m, from, width))
					for i := range m {
						for j := range width {
							require.EqualValues(t, product8Of(&a, &b, i, from+j, k), c.Wide[i*n+j])
						}
					}
				}
			}
			c := Sums{Wide: make([]int32, m*n), Step: n}
			require.False(t, right.MatMul(&c, &a, m, 0, n+1))
			require.False(t, right.MatMul(&c, &a, m, 1, 4))
			require.False(t, right.MatMul(&c, &a, m, -cols, 4))
			require.False(t, right.MatMul(&c, &a, m+1, 0, n))
		}
	})
}

func TestMatMul8Refuses(t *testing.T) {
	a := Bytes{Data: make([]uint8, 4), Step: 2}
	for _, x := range []struct {
		name    string
		a, b    Bytes
		c       Sums
		m, n, k int
	}{
		{"rows", a, a, Sums{Wide: make([]int32, 4), Step: 2}, 3, 2, 2},
		{"negative", a, a, Sums{Wide: make([]int32, 4), Step: 2}, -1, 2, 2},
		{"step", a, Bytes{Data: a.Data, Step: 1}, Sums{Wide: make([]int32, 4), Step: 2}, 2, 2, 2},
		{"result", a, a, Sums{Low: make([]uint8, 3), Step: 2}, 2, 2, 2},
	} {
		require.False(t, MatMul8(&x.c, &x.a, &x.b, x.m, x.n, x.k), x.name)
	}
	require.Nil(t, NewPackedRight8(&a, 3, 2))
}

func BenchmarkMatMul8(b *testing.B) {
	chosen := active
	defer func() { active = chosen }()
	for _, set := range tables()[1:] {
		for _, s := range [][3]int{{1024, 1024, 1024}, {64, 1024, 1024}, {1, 4096, 4096}, {1000, 999, 1001}} {
			for _, packed := range []bool{false, true} {
				for _, low := range []bool{false, true} {
					m, n, k := s[0], s[1], s[2]
					x, y := Bytes{Data: make([]uint8, m*k), Step: k, Signed: true}, Bytes{Data: make([]uint8, k*n), Step: n, Signed: true}
					c := Sums{Wide: make([]int32, m*n), Step: n}
					if low {
						c = Sums{Low: make([]uint8, m*n), Step: n}
					}
					b.Run(fmt.Sprintf("%s/%v/packed=%v/low=%v", set.level, s, packed, low), func(b *testing.B) {
						active = *set
						right := NewPackedRight8(&y, k, n)
						for b.Loop() {
							if packed {
								right.MatMul(&c, &x, m, 0, n)
							} else {
								MatMul8(&c, &x, &y, m, n, k)
							}
						}
						b.ReportMetric(2*float64(m)*float64(n)*float64(k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GOP/s")
					})
				}
			}
		}
	}
}
