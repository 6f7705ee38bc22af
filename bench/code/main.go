// Command code compares the hand-written code of a revision with that of the working tree: lines,
// lengths of functions and files, packages with their comments, and import cycles.
//
//	code [REV]     the revision is the one before the redesign by default
//	code library   prints instead what each package takes of the library for Linux
//
// One line of the table is one number of both, so that a closing note can quote it as it stands.
// Tests and generated files do not count. It is a report: no number is a reason to fail.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/paddle-mps/paddle-mps/internal/codestat"
)

// before is the last revision of the eager engine for single operators.
const before = "9d64382"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "code:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("got %q; want nothing or a revision", args)
	}
	rev := cmp.Or(append(args, before)...)
	if rev == "library" {
		path, err := prepareLibrary()
		if err != nil {
			return err
		}
		return library(os.Stdout, path)
	}
	then, err := revision(rev)
	if err != nil {
		return err
	}
	now, err := workingTree()
	if err != nil {
		return err
	}
	return report(os.Stdout, rev, then, now)
}

// code is what there is of one revision. Each list of cycles is as codestat.Cycles gives it: a cycle is
// a set of packages or modules that all import each other.
type code struct {
	goFiles       []*codestat.File // hand-written and no tests, in any order
	pythonModules int              // of the package, hand-written or not
	goCycles      [][]string       // always empty while it compiles; here for the comparison
	pythonCycles  [][]string       // among imports that run
	typedCycles   [][]string       // with those for type checkers alone
}

// measure takes the files of a tree, by path: all Go, and the Python package. A file that does not parse
// is an error, because numbers without it would look better than they are.
func measure(files map[string][]byte) (*code, error) {
	c := &code{}
	for name, text := range files {
		if !codestat.Measured(name, text) {
			continue
		}
		file, err := codestat.Measure(name, text)
		if err != nil {
			return nil, err
		}
		c.goFiles = append(c.goFiles, file)
	}
	c.goCycles = codestat.Cycles(goImports(c.goFiles))
	modules, err := pythonImports(files)
	if err != nil {
		return nil, err
	}
	c.pythonModules = len(modules.Run)
	c.pythonCycles, c.typedCycles = codestat.Cycles(modules.Run), codestat.Cycles(modules.Typed)
	return c, nil
}

// command is what a program writes to its standard output. The error of one that fails holds what it
// wrote to the other.
func command(name string, args ...string) ([]byte, error) {
	out, err := exec.Command(name, args...).Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return nil, fmt.Errorf("%s: %w: %s", name, err, failed.Stderr)
	}
	return out, err
}
