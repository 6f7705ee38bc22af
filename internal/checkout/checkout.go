// Package checkout finds files of this repository for tests, such as the sources of the mocks.
//
// It does not take the paths of source files that the compiler knows: with -trimpath they are not those of the machine.
package checkout

import (
	"os"
	"path/filepath"
)

// Root is the folder of go.mod, the nearest above the working directory, which for a test is the folder of its package. It panics
// where there is none, because only tests of this repository call it.
func Root() string {
	folder, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		above := filepath.Dir(folder)
		if above == folder {
			panic("checkout: no go.mod above the working directory")
		}
		folder = above
	}
}
