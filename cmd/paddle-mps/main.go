// Command paddle-mps is the command-line tool. It never loads the shared library: two Go runtimes in one process are
// not supported on macOS, so it is linked with the packages of the core that it needs.
//
//	paddle-mps memory-viz snapshot.json [-o page.html]
//
// turns a snapshot that paddle_mps.mps.dump_snapshot or pmps_memory_snapshot wrote into one page to
// open in a browser.
//
//	paddle-mps run model.onnx --input x.npy [--output DIR]
//
// runs an ONNX model on arrays in NumPy files, through the Python package.
//
//	paddle-mps explain model.onnx [--shape X=N,N]
//	paddle-mps bench model.onnx [--compare onnxruntime]
//	paddle-mps convert model.onnx [--shape X=N,N] [--output FILE]
//
// print the compiled steps of a model, and its running time, and write it as a program, through the Python package.
//
//	paddle-mps serve REPOSITORY | model.onnx [OPTIONS]
//
// serves models over HTTP and gRPC, as tritonserver does: see docs/serving.md.
//
//	paddle-mps triton compile KERNEL.ttir [-o KERNEL.metal]
//
// compiles a Triton kernel to a Metal shader: see docs/triton.md.
//
//	paddle-mps selftest [--quick]
//	paddle-mps collect-env
//
// check every device of the machine, and print the versions that a bug report needs, through the Python package.
//
// pip installs a Python command of the same name with the same subcommands, except triton explain.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/service"
)

// errUsage is the error of a wrong command line; the usage has been printed.
var errUsage = errors.New("usage")

// commands are the subcommands: the line of the usage, and the function that gets the arguments after the name.
var commands = []struct {
	name, line string
	run        func(args []string, out, complain io.Writer) error
}{
	{"run", "run MODEL.onnx [--input X.npy] [--output DIR]   runs an ONNX model (by the Python package)", runModel},
	{"explain", "explain MODEL.onnx [--shape X=N,N]       prints the compiled steps of a model (by the Python package)", explainModel},
	{"bench", "bench MODEL.onnx [--compare onnxruntime]  times an ONNX model (by the Python package)", benchModel},
	{"convert", "convert MODEL.onnx [--output FILE]       writes a model as a program that loads faster (by the Python package)", convertModel},
	{"serve", "serve REPOSITORY|MODEL.onnx [OPTIONS]    serves models over HTTP and gRPC, as tritonserver does", serveModels},
	{"memory-viz", "memory-viz SNAPSHOT.json [-o PAGE.html]   draws a memory snapshot as an HTML page", memoryViz},
	{"triton", "triton compile KERNEL.ttir [-o KERNEL.metal]  compiles a Triton kernel to a Metal shader; also triton explain, triton frontend", triton},
	{"selftest", "selftest [--quick] [...]                  checks every device and prints a report (by the Python package)", selftest},
	{"collect-env", "collect-env                               prints the versions that a bug report needs (by the Python package)", collectEnv},
}

// version is set by build.sh, from paddlemps.h.
var version = "of a development build"

// main runs the command with the arguments of the process.
func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main with its inputs and outputs as arguments, for tests. It returns the status of the process: 0, 1 for a
// failure, 2 for a wrong command line, or that of the program which a command has run.
func run(args []string, out, complain io.Writer) int {
	if len(args) == 0 {
		usage(complain)
		return 2
	}
	switch args[0] {
	case "-h", "--help", "-help", "help":
		if len(args) == 1 {
			usage(out)
			return 0
		}
		args = []string{args[1], "--help"} // help COMMAND
	}
	// The version is that of the command, also behind the name of a subcommand.
	if last := args[len(args)-1]; (last == "--version" || last == "-version") && (len(args) == 1 || len(args) == 2 && known(args[0])) {
		fmt.Fprintln(out, "paddle-mps", version)
		return 0
	}
	return runCommand(args, out, complain)
}

// known reports whether there is a subcommand of a name.
func known(name string) bool {
	for _, c := range commands {
		if c.name == name {
			return true
		}
	}
	return false
}

// runCommand runs the subcommand that is named first.
func runCommand(args []string, out, complain io.Writer) int {
	for _, c := range commands {
		if c.name != args[0] {
			continue
		}
		err := c.run(args[1:], out, complain)
		switch {
		case err == nil:
			return 0
		case errors.Is(err, flag.ErrHelp):
			return 0
		case errors.Is(err, errUsage):
			return 2
		}
		var ended failed
		if errors.As(err, &ended) {
			return ended.status
		}
		fmt.Fprintf(complain, "paddle-mps %s: %v\n", c.name, err)
		return 1
	}
	usage(complain)
	fmt.Fprintf(complain, "\npaddle-mps: got command %q; want one of those above\n", args[0])
	return 2
}

// serveModels is the command serve.
func serveModels(args []string, out, complain io.Writer) error {
	err := service.Run(args, out, complain)
	var wrong service.Mistake
	if errors.As(err, &wrong) {
		fmt.Fprintf(complain, "paddle-mps serve: %v\n", err)
		return errUsage
	}
	return err
}

// usage lists the commands.
func usage(w io.Writer) {
	fmt.Fprintln(w, "usage:")
	for _, c := range commands {
		fmt.Fprintln(w, "  paddle-mps", c.line)
	}
	fmt.Fprintln(w, "\npython -m paddle_mps script.py runs a program for PaddlePaddle.")
	fmt.Fprintln(w, "paddle-mps COMMAND --help describes one; paddle-mps --version prints the version.")
}

// wantsHelp reports whether arguments ask for help, which is then a result and no complaint.
func wantsHelp(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return a == "-h" || a == "-help" || a == "--help" })
}
