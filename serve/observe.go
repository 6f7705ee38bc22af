package serve

import "time"

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
func (v *Version) observe(j *job, m *moments) {
	// Usually there is none, and a request pays nothing for it.
	to := v.observer
	if to == nil {
		return
	}
	to(v, ObservedRequest, m.end.Sub(j.received))
	to(v, ObservedQueue, m.start.Sub(j.queued))
	to(v, ObservedInput, m.inputs.Sub(m.start))
	to(v, ObservedInfer, m.outputs.Sub(m.inputs))
	to(v, ObservedOutput, m.end.Sub(m.outputs))
}

// observeSpent is observe for an ensemble.
func (v *Version) observeSpent(j *job, s *spent) {
	to := v.observer
	if to == nil {
		return
	}
	to(v, ObservedRequest, time.Since(j.received))
	to(v, ObservedQueue, s.queue)
	to(v, ObservedInput, s.input)
	to(v, ObservedInfer, s.infer)
	to(v, ObservedOutput, s.output)
}

// observeOne reports one duration.
func (v *Version) observeOne(what Observed, took time.Duration) {
	if v.observer != nil {
		v.observer(v, what, took)
	}
}

// Load is a number that no other version has, and none of the same model that is loaded later.
func (v *Version) Load() uint64 { return v.load }
