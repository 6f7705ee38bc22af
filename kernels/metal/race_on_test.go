//go:build race

package metal

const UnderRace = true
