package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/paddle-mps/paddle-mps/tritonlang"
)

// triton lists what the compiler of Triton IR makes of the modules among its test data, with 1, 4 and 8 SIMD groups.
// Those that it refuses have no source. They are checked apart from the library's own sources, because their texts have no
// beginning in common with those.
func triton(root string) (all []source, err error) {
	files, err := filepath.Glob(filepath.Join(root, "tritonlang", "testdata", "*.ttir"))
	if err != nil {
		return nil, err
	}
	// The source of a refused module is none, so that nothing is lost by asking for all of them.
	// The kernels of tests/triton, as each version of Triton prints them.
	more, err := filepath.Glob(filepath.Join(root, "tests", "triton", "ttir", "*", "*.ttir"))
	if err != nil {
		return nil, err
	}
	for _, file := range append(files, more...) {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		// The name is that of a namespace, and has to be another one than the library's own sources have.
		name := strings.TrimSuffix(filepath.Base(file), ".ttir")
		if version := filepath.Base(filepath.Dir(file)); version != "testdata" {
			name += "_" + strings.ReplaceAll(version, ".", "_")
		}
		// Layouts depend on how many there are: one has no exchange between SIMD groups, eight replicate small tensors.
		for _, warps := range []int{1, 4, 8} {
			k, err := tritonlang.Compile(string(text), filepath.Base(file), tritonlang.Options{Warps: warps})
			if err != nil {
				// Tests of package tritonlang say which modules are refused, and why.
				continue
			}
			all = append(all, source{fmt.Sprintf("triton_%s_%d", name, warps), k.Source, []string{k.Name}})
		}
	}
	// A list that is empty would pass every check.
	if len(all) == 0 {
		return nil, fmt.Errorf("no module of %s compiles", filepath.Join(root, "tritonlang", "testdata"))
	}
	return all, nil
}
