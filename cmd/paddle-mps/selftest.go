package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// pythonVariable is the environment variable with the path of the interpreter that has the package. Without it, the
// first of pythons that has the package is used.
const pythonVariable = "PADDLE_MPS_PYTHON"

// pythons are the names that are tried.
var pythons = []string{"python3", "python"}

// failed is the error of a program that has printed its own error message.
type failed struct{ status int }

// Error is the status; run passes it on and prints nothing.
func (f failed) Error() string { return fmt.Sprintf("ended with status %d", f.status) }

// selftest is the command selftest.
func selftest(args []string, out, complain io.Writer) error {
	return runModule("selftest", "paddle_mps.selftest", args, out, complain)
}

// collectEnv is the command collect-env.
func collectEnv(args []string, out, complain io.Writer) error {
	return runModule("collect-env", "paddle_mps.collect_env", args, out, complain)
}

// runModel is the command run.
func runModel(args []string, out, complain io.Writer) error {
	return runModule("run", "paddle_mps.onnx", args, out, complain)
}

// explainModel, benchModel and convertModel are the commands explain, bench and convert.
func explainModel(args []string, out, complain io.Writer) error {
	return runModule("explain", "paddle_mps._commands._explain", args, out, complain)
}

func benchModel(args []string, out, complain io.Writer) error {
	return runModule("bench", "paddle_mps._commands._bench", args, out, complain)
}

func convertModel(args []string, out, complain io.Writer) error {
	return runModule("convert", "paddle_mps._commands._conversion", args, out, complain)
}

// runModule runs a module of the Python package, which loads the shared library. Help that the module cannot give,
// because there is no package, says how to get it.
func runModule(name, module string, args []string, out, complain io.Writer) error {
	python, err := interpreter()
	if err != nil && wantsHelp(args) {
		fmt.Fprintf(out, "usage: paddle-mps %s [OPTIONS]\n\nRuns python -m %s, which describes its options.\nIt cannot now: %v\n", name, module, err)
		return nil
	}
	if err != nil {
		return err
	}
	c := exec.Command(python, append([]string{"-m", module}, args...)...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, out, complain
	err = c.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return failed{max(ended.ExitCode(), 1)} // -1 for a program that was ended by a signal
	}
	return err
}

// interpreter finds a Python that has the package. It only looks the package up: importing it would load the shared
// library.
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
	return "", fmt.Errorf("found no package paddle_mps with %q; want it installed (pip install), or the path of its interpreter in %s", names, pythonVariable)
}
