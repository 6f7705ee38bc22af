// Command paddle-mps is the tool beside the library. It never loads the library: what it needs of the
// core it is linked with.
//
//	paddle-mps memory-viz snapshot.json [-o page.html]
//
// turns a snapshot that paddle_mps.mps.dump_snapshot or pmps_memory_snapshot wrote into one page to
// open in a browser.
//
//	paddle-mps selftest [--quick]
//
// checks every device of the machine: it runs the self-test of the Python package.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// errUsage is an error of which the usage has been printed already.
var errUsage = errors.New("usage")

// commands by name, each with its arguments after the name.
var commands = []struct {
	name, line string
	run        func(args []string, out, complain io.Writer) error
}{
	{"memory-viz", "memory-viz SNAPSHOT.json [-o PAGE.html]   a snapshot of memory as a page for a browser", memoryViz},
	{"selftest", "selftest [--quick] [-h]                     checks every device, by the Python package", selftest},
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main with everything that it touches: 0, 1 for a failure, 2 for a wrong command line.
func run(args []string, out, complain io.Writer) int {
	if len(args) == 0 {
		usage(complain)
		return 2
	}
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
	fmt.Fprintf(complain, "paddle-mps: there is no command %q\n", args[0])
	usage(complain)
	return 2
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "usage:")
	for _, c := range commands {
		fmt.Fprintln(w, "  paddle-mps", c.line)
	}
}
