// Command pair runs a benchmark of a revision and that of the working tree by turns, and prints what
// each line of their tables has become.
//
//	pair [-rounds N] [-only REGEX] [-script] REV NAME [ARGS]
//
// REV is unpacked and built under build/pair, once. Either tree runs its own benchmark with its own
// library. The tables are read as they are printed (see parse), so that an old revision needs no option
// for it. A ratio above 1 is always worse.
//
// The machine should have nothing else to do. Where it has, more rounds help the medians, and the rows of
// other libraries (NumPy) show how much is left to chance.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pair:", err)
		os.Exit(1)
	}
}

// options is the command line.
type options struct {
	rounds    int            // at least 1
	only      *regexp.Regexp // over keys of lines, as they are printed
	script    bool           // for lines that the script of REV does not have yet
	rev, name string
	args      []string // for the benchmark
}

// parseOptions stops at the first argument that is no flag: what follows the names of the revision and of
// the benchmark is the benchmark's own, flags too.
func parseOptions(args []string) (o options, err error) {
	set := flag.NewFlagSet("pair", flag.ContinueOnError)
	set.IntVar(&o.rounds, "rounds", 5, "how often each revision runs")
	only := set.String("only", "", "print the lines that this matches")
	set.BoolVar(&o.script, "script", false, "run the working tree's script (in Python) with either library")
	if err := set.Parse(args); err != nil {
		return o, err
	}
	if set.NArg() < 2 || o.rounds < 1 {
		return o, errors.New("got no revision and benchmark, or no rounds; want [-rounds N] [-only REGEX] REV NAME [ARGS]")
	}
	o.rev, o.name, o.args = set.Arg(0), set.Arg(1), set.Args()[2:]
	o.only, err = regexp.Compile(*only)
	return o, err
}

func run(args []string) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	// The revision comes first: a name that is none should not cost a build.
	there, err := unpack(o.rev)
	if err != nil {
		return err
	}
	old, err := prepare(here, there, &o)
	if err != nil {
		return err
	}
	current, err := prepare(here, here, &o)
	if err != nil {
		return err
	}
	then, now, err := byTurns(old, current, o.rounds)
	if err != nil {
		return err
	}
	return report(os.Stdout, o.rev, then, now, o.only)
}

// byTurns runs both in every round, and the other one first in every second, so that a machine that
// becomes slower or warmer favours neither. One that prints no number at all has failed, whatever its
// status was.
func byTurns(old, current *benchmark, rounds int) (then, now *results, err error) {
	then, now = newResults(), newResults()
	for i := range rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", i+1, rounds)
		turns := []struct {
			b  *benchmark
			to *results
		}{{old, then}, {current, now}}
		if i%2 == 1 {
			turns[0], turns[1] = turns[1], turns[0]
		}
		for _, turn := range turns {
			text, err := turn.b.run()
			if err != nil {
				return nil, nil, err
			}
			if turn.to.add(parse(text)) == 0 {
				return nil, nil, fmt.Errorf("%s printed no table:\n%s", filepath.Join(turn.b.tree, turn.b.command[0]), text)
			}
		}
	}
	return then, now, nil
}
