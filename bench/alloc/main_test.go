package main

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The traces are what programs.go makes: they were not changed to fit the allocator.
func TestTracesAreThoseOfThePrograms(t *testing.T) {
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			kept, err := load("../traces", p.name)
			require.NoError(t, err)
			made := p.make()
			require.Greater(t, len(made.events), 50_000)
			require.Equal(t, len(made.events), len(kept.events))
			for i := range made.events {
				require.Equal(t, made.events[i], kept.events[i], "event %d", i)
			}
		})
	}
}

func TestReplayCountsPeaks(t *testing.T) {
	tr := newTrace()
	a := tr.alloc(1000)
	b := tr.alloc(2000)
	tr.free(a)
	tr.alloc(500)
	tr.free(b)
	tr.finish()
	top := replay(tr, &nearlyExact{})
	require.Equal(t, peaks{allocated: 3000, reserved: 3500}, top)
	require.Equal(t, peaks{allocated: 3000, reserved: 8 * mib}, replay(tr, &wholeBuffers{}))
	require.Equal(t, peaks{allocated: 3000, reserved: 8 * mib}, replay(tr, newOurs()))
}

func TestPoliciesReuse(t *testing.T) {
	n := &nearlyExact{}
	n.free(n.alloc(100 * kib))
	n.alloc(90 * kib) // 112 KiB, which is less than 96 KiB and two pages
	require.EqualValues(t, 112*kib, n.reserved())
	n.alloc(50 * kib)
	require.EqualValues(t, (112+64)*kib, n.reserved())
	w := &wholeBuffers{}
	w.free(w.alloc(5 * mib))
	w.free(w.alloc(2 * mib))
	require.EqualValues(t, 32*mib, w.reserved(), "2 MiB took the buffer of 5 MiB")
	w.alloc(600 * mib)
	require.EqualValues(t, 632*mib, w.reserved())
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ text, words string }{
		{"+5\n-0\n-0\n", "line 3"}, {"+0\n", "line 1"}, {"-3\n", "line 1"}, {"x\n", "line 1"}, {"+5\n\n", "line 2"}, {"+9999999999999999999\n", "line 1"},
	} {
		_, err := read(zipped(t, c.text))
		require.ErrorContains(t, err, c.words)
	}
	_, err := read(strings.NewReader("plain"))
	require.Error(t, err)
}

func zipped(t testing.TB, text string) *bytes.Buffer {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return &b
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("+5\n+6\n-1\n-0\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		tr, err := read(zipped(t, string(text)))
		if err != nil {
			return
		}
		var again bytes.Buffer
		require.NoError(t, tr.write(&again))
		same, err := read(&again)
		require.NoError(t, err)
		require.Equal(t, tr.events, same.events)
	})
}
