//go:build arm64 && !cgo && !race

package vec

// useC: this build has no loops in C.
func (t *table) useC() {}
