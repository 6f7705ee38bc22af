//go:build !race

package host

const underRace = false
