package formula

import "testing"

// What the texts add to the time in which the library is loaded.
func BenchmarkReadFormulas(b *testing.B) {
	for range b.N {
		for _, list := range allFormulas {
			composites(list)
		}
	}
}
