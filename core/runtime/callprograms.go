package runtime

import (
	"errors"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// startPrograms makes the cache of compiled programs. A program that fails to close is logged: by then no caller
// is left to return the error to.
func (c *Context) startPrograms(cfg Config) {
	limits := cfg.Programs
	limits.Failed = func(err error) { c.Warnf("[program] %s: %v", c.place, err) }
	c.programs = program.New(limits)
}

// programOf finds or compiles the program of the launch for device c, which is the CPU in a fallback. The launch
// holds a reference to it until it is recycled.
func (l *Launch) programOf(c *Context, row *op.Row) (device.Program, error) {
	for {
		e, err := l.entryOf(c, row)
		if errors.Is(err, errKeyChanged) {
			continue // to a key without what was refused: there are only so many
		}
		if err != nil {
			return nil, err
		}
		p, lacking := e.Program()
		if lacking != nil {
			e.Release(l.Lane)
			return nil, lacking
		}
		l.Entry = e
		return p, nil
	}
}

// entryOf finds the entry of the launch's program in the cache or has it compiled, with a reference for the launch.
func (l *Launch) entryOf(c *Context, row *op.Row) (*program.Entry, error) {
	key := l.key(c, row)
	if e := c.programs.Find(&key, l.Lane); e != nil {
		return e, nil
	}
	revision := c.revision()
	key = l.key(c, row) // as of this revision
	if l.nonBlocking && c.info.Compiles {
		return c.later(key, revision, l)
	}
	return c.programs.Get(key, l.Lane, func() (device.Program, error) {
		return c.compileAs(revision, l.planned())
	})
}

// key is the key of the launch's program.
func (l *Launch) key(c *Context, row *op.Row) device.Key {
	if l.whole != nil {
		return l.whole.key
	}
	return c.Device.Key(row.ID, &l.Call)
}

// planned is the plan that the launch's program is compiled from.
func (l *Launch) planned() *device.Plan {
	if l.whole != nil {
		return l.whole.plan
	}
	return device.PlanOf(&l.Call)
}

// errKeyChanged is the error of a compilation during which the device has learned that it lacks what some keys stand
// for, so that the call may have another key by now. No cache keeps it.
var errKeyChanged = status.Errorf(status.Internal, "[compile] the key of the call has changed")

// revision is that of the device's keys; see device.Refuser.
func (c *Context) revision() uint64 {
	if c.refuser == nil {
		return 0
	}
	return c.refuser.Revision()
}

// compileAs compiles a plan for a key that the call has at a revision.
func (c *Context) compileAs(revision uint64, plan *device.Plan) (device.Program, error) {
	defer Compiling(nameOfPlan(plan), "")()
	p, err := c.Device.Compile(plan)
	if step := (*device.StepError)(nil); errors.As(err, &step) && step.Before != nil {
		_ = step.Before.Close() // a call is one program, or none
	}
	if c.revision() == revision {
		return p, err
	}
	if err == nil {
		_ = p.Close() // it has never run
	}
	return nil, errKeyChanged
}

// Programs are the statistics of the device's program cache.
func (c *Context) Programs() program.Stats { return c.programs.Stats() }

// later starts to compile the program of a launch, or joins a running compilation, and refuses the launch. If
// the compilation fails, its error is kept for the next launch that needs the program; revision is that of key.
func (c *Context) later(key device.Key, revision uint64, l *Launch) (*program.Entry, error) {
	if failed, ok := c.compileErrors.LoadAndDelete(key); ok {
		return nil, failed.(error)
	}
	plan := l.planned()
	e, job := c.programs.TryGet(key, l.Lane, func() (device.Program, error) { return c.compileAs(revision, plan) })
	if e != nil {
		return e, nil
	}
	w := c.Runtime.waits.start(func() {
		<-job.Done()
		if err := job.Err(); err != nil && !errors.Is(err, errKeyChanged) {
			c.compileErrors.Store(key, err)
		}
	})
	return nil, &Refusal{w, status.Errorf(status.Busy, "[%s] its program is being compiled", l.row.Name)}
}
