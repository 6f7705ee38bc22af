package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// pythonVariable names the interpreter that has the package; without it the first of pythons that does.
const pythonVariable = "PADDLE_MPS_PYTHON"

var pythons = []string{"python3", "python"}

// failed is the end of a program that has said itself what was wrong.
type failed struct{ status int }

func (f failed) Error() string { return fmt.Sprintf("ended with status %d", f.status) }

// selftest runs the self-test of the Python package, which is the one that loads the library.
func selftest(args []string, out, complain io.Writer) error {
	python, err := interpreter()
	if err != nil {
		return err
	}
	c := exec.Command(python, append([]string{"-m", "paddle_mps.selftest"}, args...)...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, out, complain
	err = c.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return failed{max(ended.ExitCode(), 1)}
	}
	return err
}

// interpreter is a Python that has the package.
func interpreter() (string, error) {
	names := pythons
	if given := os.Getenv(pythonVariable); given != "" {
		names = []string{given}
	}
	for _, name := range names {
		const find = "import importlib.util, sys; sys.exit(importlib.util.find_spec('paddle_mps') is None)"
		if exec.Command(name, "-c", find).Run() == nil {
			return name, nil
		}
	}
	return "", fmt.Errorf("got no package paddle_mps from %q; want it to be installed (pip install), or its interpreter in %s", names, pythonVariable)
}
