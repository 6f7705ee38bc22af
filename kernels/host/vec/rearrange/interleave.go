package rearrange

// Interleave3 sets to to the elements of three lines in turns: those of a are elements 0, 3, 6 and so on. All lines are as long as a,
// and to three times that; it reports false and does nothing otherwise.
func Interleave3(to, a, b, c []float32) bool {
	if len(b) != len(a) || len(c) != len(a) || len(to)%3 != 0 || len(to)/3 != len(a) {
		return false
	}
	for i := range a {
		to[3*i], to[3*i+1], to[3*i+2] = a[i], b[i], c[i]
	}
	return true
}
