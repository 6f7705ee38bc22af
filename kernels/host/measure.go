package host

import (
	"strings"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/profile"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// Recording of what the device does, for core/profile. The times are those of the goroutine that does the work:
// the worker of a queue, or the caller where the work is small or the stream is direct. How the threads of one kernel share
// its work is not recorded.

// measured is compute with a span on the track of the stream or, where that is nil, on the calling thread. A program of many
// steps has a span for each of its stages within its own.
func measured(t *engine.Threads, p *program, c *device.Call, on *profile.Track) error {
	start := profile.Now()
	err := probed(t, p, c, on)
	kind, name := profile.Kernel, label(c)
	switch {
	case p == nil:
		kind, name = profile.Copy, "copy"
	case sequenceOf(p) != nil: // its call is of no operator
		kind, name = profile.Sequence, "program"
	}
	if on == nil {
		profile.Span(kind, name, "", start)
	} else {
		on.On(kind, name, "", start, profile.Now())
	}
	return err
}

// probed is compute with spans for the stages of a program of many steps.
func probed(t *engine.Threads, p *program, c *device.Call, on *profile.Track) (err error) {
	s := sequenceOf(p)
	if s == nil {
		return compute(t, p, c)
	}
	defer func() {
		if r := recover(); r != nil {
			err = engine.Panicked(r)
		}
	}()
	return s.runStages(t, c, &probe{on})
}

// sequenceOf is the kernel of a program of many steps; nil for any other.
func sequenceOf(p *program) *sequence {
	if p == nil {
		return nil
	}
	s, _ := p.kernel.(*sequence)
	return s
}

// label is the name of the operator of a call.
func label(c *device.Call) string {
	if row := op.ByID(c.Op); row != nil {
		return row.Name
	}
	return "call"
}

// probe records the stages of a sequence; nil records nothing.
type probe struct{ on *profile.Track }

// begin is when a stage begins; the result means nothing where nothing is recorded.
func (p *probe) begin() int64 {
	if p == nil {
		return 0
	}
	return profile.Now()
}

// end records a stage that began at start. A group has the names of all its steps.
func (p *probe) end(s *stage, start int64) {
	if p == nil {
		return
	}
	name := label(s.steps[0].Call)
	if len(s.steps) > 1 {
		names := make([]string, len(s.steps))
		for i := range s.steps {
			names[i] = label(s.steps[i].Call)
		}
		name = strings.Join(names, "+")
	}
	if p.on == nil {
		profile.Span(profile.Kernel, name, "", start)
		return
	}
	p.on.Within(profile.Kernel, name, "", start, profile.Now())
}
