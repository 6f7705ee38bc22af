//go:build !race

package vec

// vectorLevels is the one of arm64, all of whose processors have NEON.
func vectorLevels() []Level { return []Level{NEON} }
