package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
)

// tritonKernel asks Python for the Triton IR of a kernel in a Python file, by Triton and the plug-in: signature is that of
// triton.tools.compile. The file is run, as by an import, because a kernel may be made of others and of constants in it; no
// device is needed. What is wrong with the file or the signature is printed by Python to complain; an interpreter without
// the package or without Triton is an error of one line.
func tritonKernel(file, name, signature string, warps int, complain io.Writer) (string, error) {
	python, err := interpreter()
	if err != nil {
		return "", err
	}
	// It only looks triton up: importing it takes a third of a second.
	const find = "import importlib.util, sys; sys.exit(importlib.util.find_spec('triton') is None)"
	if exec.Command(python, "-c", find).Run() != nil {
		return "", fmt.Errorf("%s has no triton; want it installed, or the path of an interpreter that has it in %s", python, pythonVariable)
	}
	var text bytes.Buffer // what the module prints: the IR, and nothing else
	err = ranBy(python, []string{"-m", "paddle_mps_triton.ttir", file, "-n", name, "-s", signature, "-w", strconv.Itoa(warps)}, &text, complain)
	return text.String(), err
}

// ranBy runs a program of Python's, which has said what is wrong if it fails.
func ranBy(python string, args []string, out, complain io.Writer) error {
	c := exec.Command(python, args...)
	c.Stdout, c.Stderr = out, complain
	err := c.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return failed{max(ended.ExitCode(), 1)}
	}
	return err
}

// isKernelFile reports whether a file is of Python, and an error unless the kernel and its signature are given with it, and
// only with it.
func isKernelFile(file, name, signature string) (bool, error) {
	if !strings.HasSuffix(file, ".py") {
		if name != "" || signature != "" {
			return false, fmt.Errorf("-n and -s are for a Python file; got %s", file)
		}
		return false, nil
	}
	if name == "" || signature == "" {
		return true, fmt.Errorf("%s is a Python file; want the kernel's name by -n and its signature by -s", file)
	}
	return true, nil
}
