package op

import "testing"

// What the texts add to the time in which the library is loaded.
func BenchmarkReadFormulas(b *testing.B) {
	for range b.N {
		for _, list := range [][]composite{activationFormulas, lossFormulas, normFormulas, mathFormulas} {
			composites(list)
		}
	}
}
