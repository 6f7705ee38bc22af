package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/paddle-mps/paddle-mps/tritonlang"
)

const tritonUsage = `usage:
  paddle-mps triton compile KERNEL.ttir [-o KERNEL.metal] [-w WARPS]
  paddle-mps triton compile KERNEL.py -n NAME -s SIGNATURE [-o KERNEL.metal] [-w WARPS]
  paddle-mps triton explain KERNEL.ttir [-w WARPS]
  paddle-mps triton frontend SOURCE DIR

compile translates Triton IR (the .ttir file in Triton's cache) to the source of a Metal kernel, whose first line says how to
launch it. explain prints layouts, threadgroup memory, barriers and bytes per access. Neither needs Python for a .ttir file. For
a kernel in a Python file, PADDLE_MPS_PYTHON names an interpreter that has Triton, which makes the IR. SIGNATURE lists the types
and constants of the parameters, such as "*fp32:16, i32, 1024"; :16 promises that the address or number is a multiple of 16.

frontend writes a package triton into DIR, for machines without a wheel of Triton, from a copy of Triton 3.6 to 3.9: a wheel for
any platform, an unpacked one, or a checkout. It needs Python with the package paddle_mps, and downloads nothing.
`

// triton compiles Triton IR.
func triton(args []string, out, complain io.Writer) error {
	if len(args) == 0 {
		fmt.Fprint(complain, tritonUsage)
		return errUsage
	}
	switch args[0] {
	case "compile", "explain":
		return tritonFile(args[0], args[1:], out, complain)
	case "frontend":
		return tritonFrontend(args[1:], out, complain)
	case "-h", "--help", "-help":
		fmt.Fprint(out, tritonUsage)
		return nil
	}
	fmt.Fprintf(complain, "paddle-mps triton: got %q; want compile, explain or frontend\n", args[0])
	return errUsage
}

// tritonFrontend writes Triton's Python files with a libtriton for any machine. Python does it: what is written is for it.
func tritonFrontend(args []string, out, complain io.Writer) error {
	python, err := interpreter()
	if err != nil {
		return err
	}
	return ranBy(python, append([]string{"-m", "paddle_mps_triton.frontend"}, args...), out, complain)
}

// tritonFile compiles a file and writes or explains the result. Errors name the file without its folder, as they name the
// program's.
func tritonFile(command string, args []string, out, complain io.Writer) error {
	// The usage of the flag package lists flags alone; a line for each command says more.
	flags := flag.NewFlagSet("triton "+command, flag.ContinueOnError)
	flags.SetOutput(complain)
	flags.Usage = func() { fmt.Fprint(complain, tritonUsage) }
	to := flags.String("o", "", "where the source goes")
	var o tritonlang.Options
	name := flags.String("n", "", "the kernel in a Python file")
	signature := flags.String("s", "", "its signature")
	flags.IntVar(&o.Warps, "w", 4, "SIMD groups of a threadgroup")
	flags.BoolVar(&o.F64AsF32, "allow-f64-as-f32", false, "compute float64 as float32")
	file, err := parseAround(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err != nil || file == "":
		if err == nil {
			fmt.Fprint(complain, tritonUsage)
		}
		return errUsage
	}
	text, err := tritonText(file, *name, *signature, o.Warps, complain)
	if err != nil {
		return err
	}
	k, err := tritonlang.Compile(text, filepath.Base(file), o)
	if err != nil {
		return err
	}
	// The source goes to a file or to the standard output, so that it can be piped.
	switch {
	case command == "explain":
		_, err = io.WriteString(out, k.Explain())
	case *to == "" || *to == "-":
		_, err = io.WriteString(out, k.Source)
	default:
		err = os.WriteFile(*to, []byte(k.Source), 0o644)
	}
	return err
}

// tritonText is the Triton IR in a file, or of a kernel in a Python file.
func tritonText(file, name, signature string, warps int, complain io.Writer) (string, error) {
	python, err := isKernelFile(file, name, signature)
	if err != nil || !python {
		text, missing := readText(file)
		return text, cmp.Or(err, missing)
	}
	return tritonKernel(file, name, signature, warps, complain)
}

// longestText is how long Triton IR may be. That of a kernel has some kilobytes.
const longestText = 64 << 20

// readText reads a regular file. A device such as /dev/zero has no end, and opening a pipe may wait for ever.
func readText(file string) (string, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no regular file; want a file with Triton IR", file)
	case info.Size() > longestText:
		return "", fmt.Errorf("%s has %d bytes; want at most %d", file, info.Size(), longestText)
	}
	text, err := os.ReadFile(file)
	return string(text), err
}

// parseAround parses flags before and behind the one argument that is no flag.
func parseAround(flags *flag.FlagSet, args []string) (file string, err error) {
	if err := flags.Parse(args); err != nil {
		return "", err
	}
	file = flags.Arg(0)
	if flags.NArg() > 1 {
		if err := flags.Parse(flags.Args()[1:]); err != nil {
			return "", err
		}
		if flags.NArg() > 0 {
			return "", nil
		}
	}
	return file, nil
}
