// Package fakeaccelerate gives tests the mock of Accelerate, tests/fakeaccelerate, built on first use.
package fakeaccelerate

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/paddle-mps/paddle-mps/internal/checkout"
)

// Build builds the mock with flags of accelerate.c, such as those that leave functions out, into a folder, and returns the
// path of the library. The error has the messages of the compiler.
func Build(folder string, flags ...string) (string, error) {
	script := filepath.Join(checkout.Root(), "tests", "fakeaccelerate", "build.sh")
	output := filepath.Join(folder, "libfakeaccelerate.so")
	build := exec.Command("sh", append([]string{script, output}, flags...)...)
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the mock of Accelerate does not build: %w\n%s", err, text)
	}
	return output, nil
}

// CanBuild reports whether there is a C compiler that makes libraries for this process. Programs for a Mac that run on Linux
// (tests/machorun) find the mock in the place of Accelerate itself.
func CanBuild() bool {
	_, err := exec.LookPath(cmp.Or(os.Getenv("CC"), "cc"))
	return err == nil && runtime.GOOS != "darwin"
}
