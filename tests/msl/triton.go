package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/paddle-mps/paddle-mps/tritonlang"
)

// triton lists what the compiler of Triton IR makes of the modules among its test data, with 1, 4 and 8 SIMD groups.
// Those that it refuses have no source.
func triton(root string) (all []source, err error) {
	files, err := filepath.Glob(filepath.Join(root, "tritonlang", "testdata", "*.ttir"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(filepath.Base(file), ".ttir")
		for _, warps := range []int{1, 4, 8} {
			k, err := tritonlang.Compile(string(text), filepath.Base(file), tritonlang.Options{Warps: warps})
			if err != nil {
				continue
			}
			all = append(all, source{fmt.Sprintf("triton_%s_%d", name, warps), k.Source, []string{k.Name}})
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no module of %s compiles", filepath.Join(root, "tritonlang", "testdata"))
	}
	return all, nil
}
