package stencil

// A Tap is an element of a window: where it is from the first element of x on, and the number that stands for it.
type Tap struct {
	Offset int
	Number int32
}

// MaxPoolRow finds the largest element of each of n windows, the first of equal ones or the first NaN, in the order of the
// taps, of which there is one at least. Window i has the elements x[tap.Offset+i*step]; step is 1 or 2. best gets the elements
// and at the number of the tap, i*step and first, added up. Both have room for n elements rounded up to [WindowLanes]; what is
// behind the n is undefined.
//
// It reports false, and does nothing, where there are no vectors for it, or where a window does not lie in x.
func MaxPoolRow(best []float32, at []int32, x []float32, taps []Tap, n, step int, first int32) bool {
	room := (n + WindowLanes - 1) &^ (WindowLanes - 1)
	if active.maxPoolRow == nil || n <= 0 || len(taps) == 0 || step < 1 || step > 2 || len(best) < room || len(at) < room {
		return false
	}
	reach := 0
	for i := range taps {
		if taps[i].Offset < 0 {
			return false
		}
		reach = max(reach, taps[i].Offset)
	}
	if span := (n-1)*step + 1; span > len(x) || reach > len(x)-span {
		return false
	}
	active.maxPoolRow(best, at, x, taps, n, step, reach, first)
	return true
}

// HasMaxPoolRow reports whether there are vectors for MaxPoolRow.
func HasMaxPoolRow() bool { return active.maxPoolRow != nil }

// WindowLanes is the largest number of windows that MaxPoolRow looks at together.
const WindowLanes = 16

// maxPoolRowPortable says what MaxPoolRow computes, and does the windows at the end of x, which vectors would read beyond.
func maxPoolRowPortable(best []float32, at []int32, x []float32, taps []Tap, step int, first int32) {
	for i := range best {
		top, number := x[taps[0].Offset+i*step], taps[0].Number
		for _, tap := range taps[1:] {
			// A comparison with NaN is false: a NaN replaces what is there, and nothing replaces it.
			if v := x[tap.Offset+i*step]; !(v <= top) && top == top { //nolint:staticcheck // a NaN is not less
				top, number = v, tap.Number
			}
		}
		best[i], at[i] = top, number+int32(i*step)+first
	}
}
