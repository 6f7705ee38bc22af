package metal

import (
	"fmt"

	"github.com/paddle-mps/paddle-mps/core/jsontext"
	"github.com/paddle-mps/paddle-mps/core/profile"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// Recording of what the GPU does, for core/profile. Metal says when a command buffer began and ended, and nothing of the
// dispatches in it, so that a span is a command buffer: of up to 40 calls, or a part of a program. Its times are readings of
// mach_absolute_time, which is the clock of profile.Now.

// mostNamed is how many operators of a command buffer a span lists.
const mostNamed = 64

// Track is the line of a trace for the work of the stream.
func (s *stream) Track() *profile.Track { return s.track }

// measure records the command buffers of a batch that has ended. It comes before the owners are notified, because calls are
// gone afterwards.
func (b *batch) measure() {
	if b.buffer == 0 {
		return
	}
	name, detail := b.described()
	for _, c := range b.before {
		b.span(c, name, detail)
	}
	b.span(b.buffer, name, detail)
}

// span records a command buffer. One that the GPU has not run has no times.
func (b *batch) span(c mtl.CommandBuffer, name, detail string) {
	start, end := c.GPUStartTime(), c.GPUEndTime()
	if c == 0 || start == 0 || end == 0 {
		return
	}
	b.stream.track.On(profile.Kernel, name, detail, nanoseconds(start), nanoseconds(end))
}

// described is what a batch is called in a trace, and which calls are in it. A batch of several command buffers has one name
// for all, because it is not known which call is in which.
func (b *batch) described() (name, detail string) {
	names := make([]string, 0, min(len(b.calls), mostNamed))
	for i := range b.calls {
		names = b.calls[i].appendNames(names)
	}
	names = names[:min(len(names), mostNamed)]
	switch len(b.calls) {
	case 0:
		return "command buffer", ""
	case 1:
		name = b.calls[0].name()
	default:
		name = fmt.Sprintf("%d calls", len(b.calls))
	}
	list := jsontext.Append(nil, jsontext.List(names))
	return name, fmt.Sprintf(`"calls":%d,"names":%s,"dispatches":%d,"buffers":%d`, len(b.calls), list, b.dispatches, len(b.before)+1)
}

// appendNames appends the name of the call or, for a program of several operators, those of its steps.
func (p *pending) appendNames(names []string) []string {
	if !p.plan || p.program == nil {
		return append(names, p.name())
	}
	for i := range p.program.plan.plan {
		names = append(names, nameOf(p.program.plan.plan[i].Call))
	}
	return names
}

// hosted does the work of the CPU that stands in place of a command buffer.
func (b *batch) hosted(p *pending) error {
	if !profile.On() {
		return b.host()
	}
	start := profile.Now()
	err := b.host()
	b.stream.track.On(profile.Kernel, p.name(), `"by":"CPU"`, start, profile.Now())
	return err
}

// nanoseconds is a time of Metal. Whole seconds and the rest are converted by themselves: a product would be rounded
// once more.
func nanoseconds(seconds float64) int64 {
	whole := int64(seconds)
	return whole*1e9 + int64((seconds-float64(whole))*1e9)
}
