package profile

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// Kind is the category of an event: what a viewer filters by. The host program may have others of its own; where Paddle's
// profiler has one for the same thing, it has that name.
type Kind string

// The kinds of events that this library records.
const (
	Operator Kind = "Operator" // a call of an operator, from its arguments to its result, which may not be computed yet
	Program  Kind = "Program"  // likewise, a run of a program
	Backward Kind = "Backward" // a backward pass, with the calls that it makes
	Compile  Kind = "Compile"  // making a program for a device
	Kernel   Kind = "Kernel"   // work of a device: an operator, a step of a program, a group of steps, a command buffer
	Sequence Kind = "Sequence" // the kernels of a program on a device, one after the other
	Copy     Kind = "Memcpy"   // a copy between the memory of a device and that of another or of the host program
	Wait     Kind = "Wait"     // a thread that waits for a device
	level    Kind = "Memory"   // bytes of memory; see Level
)

// Track is a line of a trace that is no thread: the work of a stream, one piece after the other. A track is made
// once, named before it is used, and not changed afterwards.
type Track struct {
	id   uint64
	name string
	last atomic.Int64 // when the latest span ended
}

// firstTrack is the number of the first track in a trace. No thread of Linux or macOS has one that high, and Perfetto reads
// no more than 32 bits.
const firstTrack = 1_000_000_000

// tracks counts the tracks made so far.
var tracks atomic.Uint64

// NewTrack makes a track; format is its name, in which %d stands for the number of the track.
func NewTrack(format string) *Track {
	n := tracks.Add(1) - 1
	return &Track{id: firstTrack + n, name: strings.ReplaceAll(format, "%d", fmt.Sprint(n))}
}

// Rename names a track. It comes before the first span.
func (t *Track) Rename(name string) { t.name = name }

// event is a span, or a level of memory.
type event struct {
	kind       Kind
	name       string
	detail     string // members of a JSON object without its braces; empty for none
	start, end int64  // nanoseconds of Now; for a level, both are its time
	thread     uint64 // where there is no track
	track      *Track
}

// Span records what the calling thread has done from start, which was Now() then, until now. detail are the
// members of a JSON object without its braces, or nothing.
func Span(kind Kind, name, detail string, start int64) {
	end := Now()
	start = max(min(start, end), 0) // a program may say anything
	add(&event{kind: kind, name: name, detail: detail, start: start, end: end, thread: here()})
}

// UserSpan is Span with texts of the host program, which may be of any length and no UTF-8.
func UserSpan(kind, name string, start int64) {
	Span(Kind(bounded(kind)), bounded(name), "", start)
}

// bounded is a text without what is beyond mostText bytes, as UTF-8.
func bounded(s string) string {
	if len(s) > mostText {
		s = strings.Clone(s[:mostText])
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// On records a span of a track. A span that begins before the one before it has ended is taken to begin there: work of
// one stream is in order, and a viewer wants the spans of a track to be nested.
func (t *Track) On(kind Kind, name, detail string, start, end int64) {
	for {
		last := t.last.Load()
		start = max(start, last)
		end = max(end, start)
		if t.last.CompareAndSwap(last, end) {
			break
		}
	}
	add(&event{kind: kind, name: name, detail: detail, start: start, end: end, track: t})
}

// Within records a span of a track that lies within one that is recorded later, such as a step of a program.
func (t *Track) Within(kind Kind, name, detail string, start, end int64) {
	add(&event{kind: kind, name: name, detail: detail, start: start, end: end, track: t})
}

// add puts an event into the ring, if it lies within the recording.
func add(e *event) {
	current.Lock()
	defer current.Unlock()
	if current.ring != nil && e.start >= current.ring.start {
		current.ring.push(e)
	}
}

// Level records how many bytes of a place are allocated to tensors and reserved from its device. read is called with
// the lock of the recording, so that levels are in the order in which they were; it may take the allocator's.
func Level(place string, read func() (allocated, reserved int64)) {
	current.Lock()
	defer current.Unlock()
	if current.ring == nil {
		return
	}
	allocated, reserved := read()
	now := Now()
	current.ring.push(&event{
		kind: level, name: "memory of " + place, start: now, end: now,
		detail: fmt.Sprintf(`"allocated":%d,"reserved":%d`, allocated, reserved),
	})
}
