package main

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The tables of four benchmarks, as revisions print them: with units, with rows that belong to the
// one above, and with several numbers a row, of which one touches what follows.
const (
	call = `torch is not installed: its bar is not checked
                                    measured            bar
x + y, paddle_mps                     151.25 ns
paddle_mps / numpy                      3.54              4 ok
import beyond NumPy                   120.34 ms          60 MISSED
`
	calls = `operator: call                                ns       bar
conv: F.conv2d(I, K, None, [1, 1], 1)       9263      1625 MISSED   12.54 times x + y  (conv, 2 views)
add: x + 1.0                                 740      1628 ok        1.00 times x + y
left out: sum: paddle.sum(X, axis=[0, 1]): TypeError: got 1 of  2
3 calls of 2 operators: 1 take more than 2.2 times x + y, 0 of them without a reason; 1 are left out
`
	metal = `on fakemetal (Apple GPU family 7), macOS 15.0                      count     bar
x + y, 8 floats, warm: sends                                           5       8 ok
  Go allocations                                                 0.06588       0 MISSED
matmul of 64 by 64 through MPSGraph, warm: sends                   11.58
  Go allocations                                                   7e-05
`
	memory = `x + y, float32             MiB   new, ms  given, ms   ratio       bar    GB/s  of a copy
paddle_mps, cpu             64      9.25       7.02    1.321.1 MISSED    21.8       90%
paddle_mps, mps             64     22.12      24.87    0.80    1.1 ok     9.1      101%
numpy                      256      0.05       0.04    1.04              67.9       98%
`
)

func TestParse(t *testing.T) {
	for text, want := range map[string][]line{
		call: {
			{"x + y, paddle_mps: ns", 151.25, false},
			{"paddle_mps / numpy", 3.54, false},
			{"import beyond NumPy: ms", 120.34, false},
		},
		calls: {
			{"conv: F.conv2d(I, K, None, [1, 1], 1)", 9263, false},
			{"add: x + 1.0", 740, false},
		},
		metal: {
			{"x + y, 8 floats, warm: sends", 5, false},
			{"x + y, 8 floats, warm: sends / Go allocations", 0.06588, false},
			{"matmul of 64 by 64 through MPSGraph, warm: sends", 11.58, false},
			{"matmul of 64 by 64 through MPSGraph, warm: sends / Go allocations", 7e-05, false},
		},
		memory: {
			{"paddle_mps, cpu, 64 MiB: new, ms", 9.25, false},
			{"paddle_mps, cpu, 64 MiB: given, ms", 7.02, false},
			{"paddle_mps, cpu, 64 MiB: ratio", 1.32, false},
			{"paddle_mps, cpu, 64 MiB: GB/s", 21.8, true},
			{"paddle_mps, mps, 64 MiB: new, ms", 22.12, false},
			{"paddle_mps, mps, 64 MiB: given, ms", 24.87, false},
			{"paddle_mps, mps, 64 MiB: ratio", 0.8, false},
			{"paddle_mps, mps, 64 MiB: GB/s", 9.1, true},
			{"numpy, 256 MiB: new, ms", 0.05, false},
			{"numpy, 256 MiB: given, ms", 0.04, false},
			{"numpy, 256 MiB: ratio", 1.04, false},
			{"numpy, 256 MiB: GB/s", 67.9, true},
		},
		"nothing  1 2\nof a table\n": nil,
	} {
		require.Equal(t, want, parse(text))
	}
	require.Equal(t, "a (2)", parse("x  y  z\na     1\na     2\n")[1].key)
}

func TestReport(t *testing.T) {
	then, now := newResults(), newResults()
	for _, cost := range []float64{4, 2, 100} {
		then.add([]line{{"sum", cost, false}, {"GB/s", cost, true}, {"numpy", 1, false}, {"old", 1, false}})
		now.add([]line{{"sum", 2 * cost, false}, {"GB/s", cost / 4, true}, {"numpy", 9, false}, {"new", 1, false}})
	}
	var text strings.Builder
	require.NoError(t, report(&text, "abc", then, now, regexp.MustCompile("")))
	rows := strings.Split(text.String(), "\n")
	require.Equal(t, []string{"rounds:", "3", "abc", "now", "ratio", "paired", "best"}, strings.Fields(rows[0]))
	require.Equal(t, []string{"sum", "4", "8", "2.000", "2.000", "2.000"}, strings.Fields(rows[1]))
	require.Equal(t, []string{"GB/s", "4", "1", "4.000", "4.000", "4.000"}, strings.Fields(rows[2]))
	require.Equal(t, []string{
		"median ratio: 3.000 of 2 lines", "largest ratio: 4.000 (GB/s)", "only abc: old: 1", "only now: new: 1", "",
	}, rows[4:])
	text.Reset()
	require.NoError(t, report(&text, "abc", then, now, regexp.MustCompile("^sum$")))
	require.Contains(t, text.String(), "largest ratio: 2.000 (sum)")
	require.NotContains(t, text.String(), "numpy")
}

func TestRatio(t *testing.T) {
	require.Equal(t, 1.0, ratio(0, 0, false))
	require.Equal(t, math.Inf(1), ratio(0, 1, false))
	require.Equal(t, 0.5, ratio(1, 2, true))
	require.Equal(t, 2.5, median([]float64{4, 1, 3, 2}))
}

func TestOptions(t *testing.T) {
	o, err := parseOptions([]string{"-rounds", "3", "-only", "^x", "main", "metal", "soak", "-5"})
	require.NoError(t, err)
	require.Equal(t, []string{"main", "metal"}, []string{o.rev, o.name})
	require.Equal(t, []string{"soak", "-5"}, o.args)
	for _, wrong := range [][]string{{"main"}, {"-rounds", "0", "main", "call"}, {"-only", "(", "main", "call"}} {
		_, err := parseOptions(wrong)
		require.Error(t, err)
	}
}
