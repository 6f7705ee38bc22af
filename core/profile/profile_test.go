package profile

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/internal/sample"
)

// The tests share the one recording of the process, and so do not run in parallel.

// traced is an event as a reader of the trace sees it.
type traced struct {
	Ph, Cat, Name string
	Pid, Tid      int64
	Ts, Dur       float64
	Args          map[string]any
}

// document is a whole trace.
type document struct {
	OtherData   struct{ Events, Dropped, Limit int }
	TraceEvents []traced
}

// stopped ends the recording and reads its trace.
func stopped(t *testing.T) document {
	t.Helper()
	r, err := Stop()
	require.NoError(t, err)
	var d document
	require.NoError(t, json.Unmarshal(r.AppendTrace(nil), &d))
	return d
}

// of are the events of a phase.
func (d document) of(ph string) (found []traced) {
	for _, e := range d.TraceEvents {
		if e.Ph == ph {
			found = append(found, e)
		}
	}
	return found
}

func TestNothingIsRecordedWhenOff(t *testing.T) {
	require.False(t, On())
	Span(Operator, "before", "", Now())
	Level("cpu", func() (int64, int64) { t.Error("asked for a level"); return 0, 0 })
	_, err := Stop()
	require.Equal(t, status.Invalid, status.CodeOf(err))
	require.NoError(t, Start(Options{}))
	require.True(t, On())
	require.False(t, Shapes() || Memory())
	require.Empty(t, stopped(t).of("X"))
	require.False(t, On())
}

func TestOneRecordingAtATime(t *testing.T) {
	require.Equal(t, status.Invalid, status.CodeOf(Start(Options{Events: -1})))
	require.Equal(t, status.Invalid, status.CodeOf(Start(Options{Events: MaxEvents + 1})))
	require.NoError(t, Start(Options{Shapes: true, Memory: true}))
	require.True(t, Shapes() && Memory())
	require.ErrorContains(t, Start(Options{}), "is under way")
	require.Equal(t, DefaultEvents, stopped(t).OtherData.Limit)
}

// A span of an earlier recording, or one that began before the recording did, is not part of it.
func TestSpansLieWithinTheirRecording(t *testing.T) {
	early := Now()
	require.NoError(t, Start(Options{}))
	Span(Operator, "early", "", early)
	stopped(t)
	require.NoError(t, Start(Options{}))
	Span(Operator, "early", "", early)
	Span(Operator, "in time", `"a":1`, Now())
	spans := stopped(t)
	require.Len(t, spans.of("X"), 1)
	require.Equal(t, "in time", spans.of("X")[0].Name)
	require.EqualValues(t, 1, spans.of("X")[0].Args["a"])
}

// The clock is that of package time, and goes on with it.
func TestClock(t *testing.T) {
	sample.Timed(t)
	from, clock := time.Now(), Now()
	time.Sleep(2 * time.Millisecond)
	ours, theirs := Now()-clock, int64(time.Since(from))
	require.GreaterOrEqual(t, ours, int64(2*time.Millisecond))
	require.InDelta(t, theirs, ours, 5e6)
}

func TestContainingSpansComeFirst(t *testing.T) {
	require.NoError(t, Start(Options{}))
	start := Now()
	for i := range 3 { // a span is recorded when it ends: the innermost first
		current.Lock()
		current.ring.push(&event{kind: Operator, name: fmt.Sprint(i), start: start, end: start + 10})
		current.Unlock()
	}
	track := NewTrack("stream %d")
	track.Within(Kernel, "step", "", start+20, start+30)
	track.On(Sequence, "program", "", start+20, start+30)
	track.On(Kernel, "late", "", start+25, start+50) // in a GPU, work may overlap
	d := stopped(t)
	var names []string
	for _, e := range d.of("X") {
		names = append(names, e.Name)
	}
	require.Equal(t, []string{"2", "1", "0", "program", "step", "late"}, names)
	last := d.of("X")[5]
	require.InDelta(t, 0.02, last.Dur, 0.0011)
	require.Equal(t, track.name, d.of("M")[1].Args["name"])
	require.Equal(t, int64(track.id), last.Tid)
}

func TestRing(t *testing.T) {
	for _, c := range []struct{ limit, pushed int }{{1, 3}, {10, 10}, {10, 11}, {chunk, 3*chunk + 1}, {chunk + 7, 5 * chunk}, {4 * chunk, 100}} {
		require.NoError(t, Start(Options{Events: c.limit}))
		for i := range c.pushed {
			UserSpan("Stage", fmt.Sprint(i), Now())
		}
		rooms := 0
		for _, part := range current.chunks {
			rooms += len(part)
		}
		require.LessOrEqual(t, rooms, c.limit)
		d := stopped(t)
		kept := min(c.limit, c.pushed)
		spans := d.of("X")
		require.Len(t, spans, kept)
		require.Equal(t, kept, d.OtherData.Events)
		require.Equal(t, c.pushed-kept, d.OtherData.Dropped)
		require.Equal(t, c.limit, d.OtherData.Limit)
		require.Equal(t, fmt.Sprint(c.pushed-kept), spans[0].Name)
		require.Equal(t, fmt.Sprint(c.pushed-1), spans[kept-1].Name)
	}
}

func TestTextsOfPrograms(t *testing.T) {
	long := strings.Repeat("é", mostText)
	require.NoError(t, Start(Options{}))
	for _, s := range []string{"", "a\"\\\n\x00<>&", "\xff\xfe", long, "x" + long} {
		UserSpan(s, s, Now())
	}
	spans := stopped(t)
	require.Len(t, spans.of("X"), 5)
	for i, want := range []string{"", "a\"\\\n\x00<>&", "\uFFFD", long[:mostText], "x" + long[:mostText-2] + "\uFFFD"} {
		require.Equal(t, want, spans.of("X")[i].Name)
		require.Equal(t, want, spans.of("X")[i].Cat)
	}
}

func TestLevels(t *testing.T) {
	require.NoError(t, Start(Options{Memory: true}))
	for n := range int64(3) {
		Level("mps:0", func() (int64, int64) { return n, 100 })
	}
	levels := stopped(t)
	require.Len(t, levels.of("C"), 3)
	require.Equal(t, map[string]any{"allocated": 2.0, "reserved": 100.0}, levels.of("C")[2].Args)
	require.Equal(t, "memory of mps:0", levels.of("C")[2].Name)
}

// TestHammer records from many goroutines while recordings begin and end.
func TestHammer(t *testing.T) {
	var group sync.WaitGroup
	stop := make(chan struct{})
	track := NewTrack("shared %d")
	for range 8 {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if !On() {
					continue
				}
				start := Now()
				Span(Operator, "call", `"a":[1]`, start)
				track.On(Kernel, "kernel", "", start, Now())
				if Memory() {
					Level("cpu", func() (int64, int64) { return start, 0 })
				}
			}
		})
	}
	for i := range 50 {
		require.NoError(t, Start(Options{Memory: i%2 == 0, Events: 1000}))
		time.Sleep(time.Millisecond)
		d := stopped(t)
		ends := map[int64]float64{}
		for _, e := range d.of("X") {
			if e.Tid >= firstTrack && e.Dur > 0 { // one that was empty by the end of another may share its beginning with the next
				require.GreaterOrEqual(t, e.Ts+0.0005, ends[e.Tid], "spans of a track overlap")
				ends[e.Tid] = e.Ts + e.Dur
			}
		}
	}
	close(stop)
	group.Wait()
}

// BenchmarkOff is what a place that could record costs when nothing is recorded.
func BenchmarkOff(b *testing.B) {
	for b.Loop() {
		if On() {
			Span(Operator, "call", "", Now())
		}
	}
}

// BenchmarkSpan is what a span costs.
func BenchmarkSpan(b *testing.B) {
	require.NoError(b, Start(Options{}))
	for b.Loop() {
		Span(Operator, "call", "", Now())
	}
	_, err := Stop()
	require.NoError(b, err)
}
