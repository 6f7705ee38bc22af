package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/paddle-mps/paddle-mps/internal/codestat"
)

// module is the prefix of our own import paths.
const module = "github.com/paddle-mps/paddle-mps/"

// goImports is the import graph among our packages, tests left out. Go itself refuses cycles among
// packages, but a revision that does not compile may have one.
func goImports(files []*codestat.File) map[string][]string {
	imports := map[string][]string{}
	for _, f := range files {
		for _, path := range f.Imports {
			if ours, is := strings.CutPrefix(path, module); is {
				imports[f.Package()] = append(imports[f.Package()], ours)
			}
		}
	}
	return imports
}

// moduleImports says which modules of the Python package each module imports, at its top or within a
// function: those that run, and those with what only type checkers see.
type moduleImports struct{ Run, Typed map[string][]string }

// pythonImports lets Python parse itself, in imports.py: its parser is newer than any that we could
// write. Both revisions are read by the same interpreter.
func pythonImports(files map[string][]byte) (imports moduleImports, err error) {
	texts := map[string]string{} // by path within the folder that is on Python's path
	for name, text := range files {
		if strings.HasSuffix(name, ".py") {
			texts[strings.TrimPrefix(name, "python/")] = string(text)
		}
	}
	input, err := json.Marshal(texts)
	if err != nil {
		return imports, err
	}
	python := exec.Command(cmp.Or(os.Getenv("PYTHON"), "python3"), "bench/code/imports.py")
	python.Stdin, python.Stderr = bytes.NewReader(input), os.Stderr
	output, err := python.Output()
	if err != nil {
		return imports, fmt.Errorf("bench/code/imports.py: %w", err)
	}
	return imports, json.Unmarshal(output, &imports)
}
