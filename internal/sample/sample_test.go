package sample

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Successive turns run each case once, and a group with as many cases as turns runs in each.
func TestTurns(t *testing.T) {
	const every = 5
	t.Setenv("PADDLE_MPS_TOUCHED", "") // what a change touches runs in every turn
	for _, group := range []string{"add", "matmul", ""} {
		runs := [2 * every]int{}
		for n := range every {
			t.Setenv("PADDLE_MPS_SAMPLE", strconv.Itoa(241+n))
			one := 0
			for number := range every {
				if takes(every, group, number) {
					one++
				}
			}
			require.Equal(t, 1, one, "of one group in turn %d", n)
			for number := range runs {
				if takes(every, group, number) {
					runs[number]++
				}
			}
		}
		for number, times := range runs {
			require.Equal(t, 1, times, "case %d of %q", number, group)
		}
	}
}

// Without a turn all cases run.
func TestAll(t *testing.T) {
	for _, none := range []string{"", "x", "-1"} {
		t.Setenv("PADDLE_MPS_SAMPLE", none)
		for number := range 7 {
			require.True(t, takes(3, "add", number), "%q", none)
		}
	}
}

// A timed test runs unless the part leaves it out.
func TestTimed(t *testing.T) {
	for setting, want := range map[string]bool{"0": false, "only": true, "": true} {
		t.Setenv("PADDLE_MPS_TIMED", setting)
		ran := false
		t.Run("part "+setting, func(t *testing.T) {
			Timed(t)
			ran = true
		})
		require.Equal(t, want, ran, setting)
	}
}

// A test that is left out says so. The turns are those of tests/sampling.py, whose test has the same row.
func TestSkip(t *testing.T) {
	t.Setenv("PADDLE_MPS_SAMPLE", "0")
	t.Setenv("PADDLE_MPS_TOUCHED", "")
	var taken []int
	for number := range 6 {
		ran := false
		t.Run(strconv.Itoa(number), func(t *testing.T) {
			Skip(t, 3, "logaddexp", number)
			ran = true
		})
		if ran {
			taken = append(taken, number)
		}
	}
	require.Equal(t, []int{2, 5}, taken)
}

// What a change touches runs in each turn: groups of an operator's name, and all groups of a file.
func TestTouched(t *testing.T) {
	const every = 5
	ran := func(group string) (n int) {
		for number := range every {
			t.Run(strconv.Itoa(number), func(t *testing.T) {
				Skip(t, every, group, number)
				n++
			})
		}
		return n
	}
	t.Setenv("PADDLE_MPS_SAMPLE", "3")
	t.Setenv("PADDLE_MPS_TOUCHED", "matmul internal/sample/other_test.go")
	require.Equal(t, 1, ran("logaddexp"))
	require.Equal(t, every, ran("matmul"))
	t.Setenv("PADDLE_MPS_TOUCHED", "matmul internal/sample/sample_test.go")
	require.Equal(t, every, ran("logaddexp"))
	t.Setenv("PADDLE_MPS_TOUCHED", "sample_test.go") // no path of a file
	require.Equal(t, 1, ran("logaddexp"))
}
