package runtime

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/profile"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// What the runtime records of itself: calls, runs, compilations, copies, waits and levels of memory. Each place asks
// profile.On first, and does nothing else where it is false. What devices do they record themselves.
//
// A call is recorded where it enters the runtime, so that it is there once: Runtime.call and callInto, Stream.direct for the
// fast path, Program.run. These call themselves in mode profiled, which also covers calls that are made again because a
// composite was lowered (errLowered). A call that was refused (Refusal, Long) has had no effect and is made again
// by its caller: it is recorded then.

// StartProfile begins a recording; see profile.Start. Levels of memory begin with what they are now.
func (rt *Runtime) StartProfile(o profile.Options) error {
	if err := profile.Start(o); err != nil {
		return err
	}
	rt.levels()
	return nil
}

// StopProfile waits for the work submitted so far, ends the recording, and returns it. Failures of the work stay for the next
// Synchronize.
func (rt *Runtime) StopProfile() (*profile.Recording, error) {
	if profile.On() {
		for _, c := range rt.contexts() {
			c.finish()
		}
		rt.levels()
	}
	return profile.Stop()
}

// finish waits for all work on all streams.
func (c *Context) finish() {
	for _, s := range c.open() {
		s.finish()
	}
}

// finish waits for the work submitted to the stream so far, and records the wait, if there is one.
func (s *Stream) finish() {
	t := s.last.Load()
	if s.dev.Done() >= t {
		return
	}
	defer waited("synchronize")()
	s.dev.Sync(t)
}

// levels records the memory of each device.
func (rt *Runtime) levels() {
	for _, c := range rt.contexts() {
		c.level()
	}
}

// Levels are read where memory is allocated and freed, and not at intervals: a peak between two readings would be lost.

// level records how much memory of the device is in use, if that is to be recorded. It is short enough to be inlined.
func (c *Context) level() {
	if profile.Memory() {
		c.recordLevel()
	}
}

func (c *Context) recordLevel() { profile.Level(c.place.String(), c.memory.Levels) }

// tracked is implemented by streams that record their work on a track.
type tracked interface{ Track() *profile.Track }

// nameTrack names the track of a stream after its place.
func (s *Stream) nameTrack() {
	if t, ok := s.dev.(tracked); ok {
		t.Track().Rename(fmt.Sprintf("%s stream %d (%s)", s.ctx.place, s.id, s.ctx.info.Backend))
	}
}

// waited begins to record a wait of the calling goroutine, which ends when the result is called: `defer waited(name)()`.
// Where nothing is recorded, the result does nothing.
func waited(name string) func() {
	if !profile.On() {
		return func() {}
	}
	start := profile.Now()
	return func() { profile.Span(profile.Wait, name, "", start) }
}

// compiling begins to record a compilation; as waited. It may be of another goroutine than the call that needs it: see
// Context.later.
func compiling(name, detail string) func() {
	if !profile.On() {
		return func() {}
	}
	start := profile.Now()
	return func() { profile.Span(profile.Compile, "compile "+name, detail, start) }
}

// copied begins to record a copy of bytes to or from memory of a device; as waited. What a stream copies is recorded
// by the device too, when it is done.
func (c *Context) copied(name string, bytes int64) func() {
	if !profile.On() {
		return func() {}
	}
	start := profile.Now()
	return func() {
		profile.Span(profile.Copy, name, fmt.Sprintf(`"place":"%s","bytes":%d`, c.place, bytes), start)
	}
}

// nameOfPlan is what a compilation is of.
func nameOfPlan(p *device.Plan) string {
	if c := p.Single(); c != nil && op.ByID(c.Op) != nil {
		return op.ByID(c.Op).Name
	}
	return "program"
}

// notMade reports whether an error says that a call has had no effect and is to be made again: then it is recorded.
func notMade(err error) bool {
	var refusal *Refusal
	var long *Long
	return errors.As(err, &refusal) || errors.As(err, &long)
}

// recordCall records a call of an operator that began at start. One that was traced has not run: its program's runs will be
// recorded. out are its results, none after an error.
func recordCall(row *op.Row, in []Operand, out []*Tensor, err error, on *Stream, start int64) {
	if on.Traces() || notMade(err) {
		return
	}
	var text []byte
	if profile.Shapes() && err == nil { // a call that was refused may have operands that the row does not know
		text = appendOperands(text, row, in)
		text = appendTensors(text, "output", "out", out)
	}
	profile.Span(profile.Operator, row.Name, string(appendError(text, err)), start)
}

// A run is one span on the side of the caller, whatever its program consists of: its steps are spans of the device, where
// that tells them apart.

func (p *Program) recordRun(in, out []*Tensor, err error, start int64) {
	if notMade(err) {
		return
	}
	text := fmt.Appendf(nil, `"program":%d,"place":"%s"`, p.id, p.ctx.place)
	if profile.Shapes() && err == nil {
		text = appendTensors(append(text, ','), "input", "in", in)
		text = appendTensors(text, "output", "out", out)
	}
	profile.Span(profile.Program, "program", string(appendError(text, err)), start)
}

// appendError appends the code of an error, if there is one.
func appendError(text []byte, err error) []byte {
	if err == nil {
		return text
	}
	if len(text) > 0 {
		text = append(text, ',')
	}
	return fmt.Appendf(text, `"error":%q`, status.CodeOf(err).String())
}

// appendOperands appends the shapes and the dtypes of the operands that are tensors, by their names in the row: a list for
// each name, because the last one may stand for many.
func appendOperands(text []byte, row *op.Row, in []Operand) []byte {
	name := func(i int) string {
		if i >= len(row.In) {
			i = len(row.In) - 1
		}
		return row.In[i].Name
	}
	// Twice the same: once for shapes, once for dtypes.
	for what, write := range [2]func([]byte, *Tensor) []byte{appendDims, appendDType} {
		text = append(text, [2]string{`"input_shapes":{`, `"input_dtypes":{`}[what]...)
		last := ""
		for i := range in {
			t := in[i].Tensor
			switch {
			case t == nil:
				continue
			case name(i) == last: // another tensor of the list: its bracket opens again
				text = append(text[:len(text)-1], ',')
			default:
				if last != "" {
					text = append(text, ',')
				}
				last = name(i)
				text = append(strconv.AppendQuote(text, last), ":["...)
			}
			text = append(write(text, t), ']')
		}
		text = append(text, "},"...)
	}
	return text[:len(text)-1]
}

// appendTensors appends the shapes and the dtypes of a list of tensors.
func appendTensors(text []byte, what, name string, list []*Tensor) []byte {
	if len(text) > 0 && text[len(text)-1] != ',' {
		text = append(text, ',')
	}
	text = fmt.Appendf(text, `"%s_shapes":{"%s":[`, what, name)
	for i, t := range list {
		if i > 0 {
			text = append(text, ',')
		}
		text = appendDims(text, t)
	}
	text = fmt.Appendf(text, `]},"%s_dtypes":{"%s":[`, what, name)
	for i, t := range list {
		if i > 0 {
			text = append(text, ',')
		}
		text = appendDType(text, t)
	}
	return append(text, "]}"...)
}

func appendDims(text []byte, t *Tensor) []byte {
	var s shape.Shape = t.Shape
	text = append(text, '[')
	for i, n := range s.Slice() {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, n, 10)
	}
	return append(text, ']')
}

func appendDType(text []byte, t *Tensor) []byte { return strconv.AppendQuote(text, t.dtype.String()) }

// The calls of a backward pass are recorded like any others, within its span.

// passing begins to record a backward pass; as waited.
func passing() func() {
	if !profile.On() {
		return func() {}
	}
	start := profile.Now()
	return func() { profile.Span(profile.Backward, "backward", "", start) }
}
