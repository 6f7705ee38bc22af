//go:build race

package sample

// UnderRace reports whether the race detector watches, which makes tests ten times slower.
const UnderRace = true
