// Package sample says which part of a large test runs: all of it, or one group of cases in a few, other ones at every
// commit. It is tests/sampling.py for tests in Go, which says more.
//
// `./build.sh test` sets PADDLE_MPS_SAMPLE to a number that grows by one with each commit, the turn. N successive turns
// run every case exactly once. Without the variable all cases run. PADDLE_MPS_TOUCHED has what the change touches, which runs
// whole: a group that has the name of such an operator, and all groups of such a file of tests.
package sample

import (
	"hash/crc32"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// turn is the number of the turn. Without one, or with one that is no number, nothing is left out.
func turn() (n int, sampled bool) {
	n, err := strconv.Atoi(os.Getenv("PADDLE_MPS_SAMPLE"))
	return n, err == nil && n >= 0
}

// touched reports whether the change touches an operator, or a file of tests.
func touched(name string) bool {
	return slices.Contains(strings.Fields(os.Getenv("PADDLE_MPS_TOUCHED")), name)
}

// touchedFile reports whether the change touches a file, whose path is as the compiler knows it: with -trimpath it begins with the
// module's, else with the folder of the checkout.
func touchedFile(path string) bool {
	return slices.ContainsFunc(strings.Fields(os.Getenv("PADDLE_MPS_TOUCHED")), func(name string) bool {
		return strings.Contains(name, "/") && strings.HasSuffix(path, "/"+name)
	})
}

// takes reports whether a group runs in this one of a number of turns. Groups of one name and successive numbers have
// successive turns.
func takes(every int, group string, number int) bool {
	n, sampled := turn()
	return !sampled || touched(group) || (int(crc32.ChecksumIEEE([]byte(group))%uint32(every))+number)%every == n%every
}

// Timed marks a test that asserts durations, the order of goroutines, the memory of the process or numbers of threads. Parts of
// `./build.sh test` leave it out with PADDLE_MPS_TIMED=0; those that run it alone at the end name it in tests/parts.toml.
func Timed(t testing.TB) {
	t.Helper()
	if os.Getenv("PADDLE_MPS_TIMED") == "0" {
		t.Skip("timed: it runs alone, in a part of its own")
	}
}

// Skip skips a test that runs in another one of a number of turns: number says which of a group of tests it is, from 0.
func Skip(t testing.TB, every int, group string, number int) {
	t.Helper()
	_, file, _, _ := runtime.Caller(1)
	if !takes(every, group, number) && !touchedFile(file) {
		n, _ := turn()
		t.Skipf("has its turn at another commit; this is turn %d of %d", n%every+1, every)
	}
}
