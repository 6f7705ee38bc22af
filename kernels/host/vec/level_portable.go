//go:build !((goexperiment.simd && amd64) || arm64) || race

package vec

// vectorLevels: this build has no vector loops. (The race detector does not see vector loads and stores, so its builds do without as
// well.)
func vectorLevels() []Level { return nil }
