// Command alloc measures package alloc: what fragmentation costs when the allocations of programs are
// replayed, beside two policies of others, and what a pair of Alloc and Free costs, beside malloc.
//
// The traces lie in bench/traces. They were written from programs.go before the allocator was tuned to
// them, and a test holds the two equal; -make writes them anew.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	folder := flag.String("traces", "bench/traces", "where the traces are")
	write := flag.Bool("make", false, "write the traces anew and do nothing else")
	flag.Parse()
	if err := run(*folder, *write); err != nil {
		fmt.Fprintln(os.Stderr, "alloc:", err)
		os.Exit(1)
	}
}

func run(folder string, write bool) error {
	if write {
		return writeTraces(folder)
	}
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
