package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
)

// fromC prints what x + y costs a C caller of the shared library: the whole call, less the time that the mock needs
// for the same sends. The difference is our share, and the only time in this table; all other rows are counts.
func fromC(t *table) error {
	spent, err := runC()
	if err != nil {
		return err
	}
	t.note("x + y, 8 floats, warm, from C: ns", spent["ours"])
	t.note("  the same sends by the mock alone: ns", spent["theirs"])
	t.row("  our side: ns", spent["ours"]-spent["theirs"], 1500)
	return nil
}

// runC compiles c/call.c, runs it with the shared library of the working tree, and returns the numbers that it prints,
// in nanoseconds, by name. The library has been built by `./build.sh lib`.
func runC() (map[string]float64, error) {
	fake, err := fakemetal.Path()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, fake)
	}
	library, err := filepath.Abs("python/paddle_mps/libpaddlemps.so")
	if err != nil {
		return nil, err
	}
	// The program is linked with the library as a user's would be, so that the calls go through the C ABI.
	folder, err := os.MkdirTemp("", "metal")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	program := filepath.Join(folder, "call")
	cc := exec.Command(cmp.Or(os.Getenv("CC"), "cc"), "-O2", "-Iinclude", "bench/metal/c/call.c", library,
		"-Wl,-rpath,"+filepath.Dir(library), "-ldl", "-o", program)
	if text, err := cc.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	// The program also loads the mock itself, to time its share of the sends.
	call := exec.Command(program, fake)
	call.Env = append(os.Environ(), "PADDLE_MPS_DEVICE=metal", "PADDLE_MPS_METAL_LIBRARY="+fake)
	call.Stderr = os.Stderr
	text, err := call.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	// Lines of "name nanoseconds".
	found := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		var name string
		var ns float64
		if _, err := fmt.Sscan(line, &name, &ns); err != nil {
			return nil, err
		}
		found[name] = ns
	}
	return found, nil
}
