//go:build race

package metal

const underRace = true
