package runtime

import (
	"fmt"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/profile"
)

// What the runtime records of itself: calls, runs, compilations, copies, waits and levels of memory. Each place asks
// profile.On first, and does nothing else where it is false. What devices do they record themselves.
//
// A call is recorded where it enters the runtime, so that it is there once: callAs and callIntoAs of core/eager, and its
// fast path; Program.RunWith of core/execute. They call themselves in mode Profiled, which also covers calls that are made again because a
// composite was lowered (ErrLowered). A call that was refused (Refusal, Long) has had no effect and is made again
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
	for _, s := range c.OpenStreams() {
		s.finish()
	}
}

// finish waits for the work submitted to the stream so far, and records the wait, if there is one.
func (s *Stream) finish() {
	t := s.last.Load()
	if s.Device.Done() >= t {
		return
	}
	defer waited("synchronize")()
	s.Device.Sync(t)
}

// levels records the memory of each device.
func (rt *Runtime) levels() {
	for _, c := range rt.contexts() {
		c.Level()
	}
}

// Levels are read where memory is allocated and freed, and not at intervals: a peak between two readings would be lost.

// Level records how much memory of the device is in use, if that is to be recorded. It is short enough to be inlined.
func (c *Context) Level() {
	if profile.Memory() {
		c.recordLevel()
	}
}

func (c *Context) recordLevel() { profile.Level(c.place.String(), c.memory.Levels) }

// tracked is implemented by streams that record their work on a track.
type tracked interface{ Track() *profile.Track }

// nameTrack names the track of a stream after its place.
func (s *Stream) nameTrack() {
	if t, ok := s.Device.(tracked); ok {
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

// Compiling begins to record a compilation; as waited. It may be of another goroutine than the call that needs it: see
// Context.later.
func Compiling(name, detail string) func() {
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

// A run is one span on the side of the caller, whatever its program consists of: its steps are spans of the device, where
// that tells them apart.

// The calls of a backward pass are recorded like any others, within its span.

// Passing begins to record a backward pass; as waited.
func Passing() func() {
	if !profile.On() {
		return func() {}
	}
	start := profile.Now()
	return func() { profile.Span(profile.Backward, "backward", "", start) }
}
