package vec

import "testing"

// TestChoose takes conditions of every value of a byte, in rows of every length up to maxLength.
func TestChoose(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for n := range maxLength {
			for first := 0; first < 256; first += 5 {
				condition, a, b := make([]uint8, n), make([]uint32, n), make([]uint32, n)
				for i := range n {
					if (first+i)%3 != 0 {
						condition[i] = uint8(first + i)
					}
					a[i], b[i] = 0xFFC00000+uint32(i), 0x80000000+uint32(i)
				}
				dst, check := guarded(make([]uint32, n))
				Choose(dst, condition, a, b)
				check(t)
				for i, got := range dst {
					want := b[i]
					if condition[i] != 0 {
						want = a[i]
					}
					if got != want {
						t.Fatalf("%d of %d, condition %d: got %x, want %x", i, n, condition[i], got, want)
					}
				}
			}
		}
	})
}

// TestChooseOfShortSlices expects that the shortest slice says how many elements are written.
func TestChooseOfShortSlices(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		row := func(n int) []uint32 { return make([]uint32, n) }
		for short := range 4 {
			lengths := [4]int{40, 40, 40, 40}
			lengths[short] = 20
			dst, a := row(lengths[0]), row(lengths[2])
			for i := range a {
				a[i] = 7
			}
			condition := make([]uint8, lengths[1])
			for i := range condition {
				condition[i] = 1
			}
			Choose(dst, condition, a, row(lengths[3]))
			for i, got := range dst {
				if want := map[bool]uint32{true: 7}[i < 20]; got != want {
					t.Fatalf("%d of lengths %v: got %d, want %d", i, lengths, got, want)
				}
			}
		}
	})
}
