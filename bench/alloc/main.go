// Command alloc measures package alloc: its fragmentation when the allocations of programs are replayed, compared with
// the policies of two other libraries, and the time of a pair of Alloc and Free, compared with malloc and mimalloc.
//
// The traces are in bench/traces. They were generated from programs.go before the allocator was tuned to them, and a
// test checks that both are equal; -make generates them again. The command fails where a bar is missed.
//
// # Fragmentation
//
// The number is the peak of reserved memory over the peak of allocated memory, which is 1 at best. The bars allow 5 %
// for the allocations of models, whose sizes repeat, and 15 % for a random walk, plus one heap of the largest tier,
// of which a program may just have begun to use the first byte. The policies of other libraries are reimplemented
// from their sources, because their allocators for Apple GPUs need a Mac; they have no bar.
//
// # Time
//
// A pair is an Alloc and the Free of its block, without a use by a stream: the share of memory in the cost of a small
// operator. malloc and mimalloc run the same loop in C, for comparison, and have no bar.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// main parses the command line; the default of -traces is relative to the top of the tree.
func main() {
	folder := flag.String("traces", "bench/traces", "where the traces are")
	write := flag.Bool("make", false, "write the traces anew and do nothing else")
	flag.Parse()
	if err := run(*folder, *write); err != nil {
		fmt.Fprintln(os.Stderr, "alloc:", err)
		os.Exit(1)
	}
}

// run prints both tables. Both are printed before a missed bar is reported.
func run(folder string, write bool) error {
	if write {
		return writeTraces(folder)
	}
	// Fragmentation first: it does not depend on the load of the machine.
	fits, err := replays(os.Stdout, folder)
	if err != nil {
		return err
	}
	fmt.Println()
	fast, err := pairs(os.Stdout)
	if err != nil {
		return err
	}
	if !fits || !fast {
		return fmt.Errorf("a bar was missed")
	}
	return nil
}

// writeTraces generates the traces of all programs.
func writeTraces(folder string) error {
	for _, p := range programs {
		f, err := os.Create(filepath.Join(folder, p.name+".txt.gz"))
		if err != nil {
			return err
		}
		if err := p.make().write(f); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}
