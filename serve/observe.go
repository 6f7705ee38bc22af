package serve

import (
	"time"

	"github.com/paddle-mps/paddle-mps/serve/statistics"
)

// Observed is what a duration that Options.Observe gets is of.
type Observed int

// The durations of a request that was answered.
const (
	ObservedRequest Observed = iota
	ObservedQueue
	ObservedInput
	ObservedInfer
	ObservedOutput
	ObservedHit  // answered from the cache, in place of the last three
	ObservedMiss // looked for in the cache and kept there
)

// observe reports the durations of a request that was run, if an observer is set.
func (v *Version) observe(j *job, m *statistics.Moments) {
	// Usually there is none, and a request pays nothing for it.
	to := v.observer
	if to == nil {
		return
	}
	to(v, ObservedRequest, m.End.Sub(j.received))
	to(v, ObservedQueue, m.Start.Sub(j.queued))
	to(v, ObservedInput, m.Inputs.Sub(m.Start))
	to(v, ObservedInfer, m.Outputs.Sub(m.Inputs))
	to(v, ObservedOutput, m.End.Sub(m.Outputs))
}

// observeSpent is observe for an ensemble.
func (v *Version) observeSpent(j *job, s *statistics.Spent) {
	to := v.observer
	if to == nil {
		return
	}
	to(v, ObservedRequest, time.Since(j.received))
	to(v, ObservedQueue, s.Queue)
	to(v, ObservedInput, s.Input)
	to(v, ObservedInfer, s.Infer)
	to(v, ObservedOutput, s.Output)
}

// observeOne reports one duration.
func (v *Version) observeOne(what Observed, took time.Duration) {
	if v.observer != nil {
		v.observer(v, what, took)
	}
}

// Load is a number that no other version has, and none of the same model that is loaded later.
func (v *Version) Load() uint64 { return v.load }
