package serve

import (
	"time"

	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// beginTrace sets what is known of an accepted request.
func beginTrace(t *inference.Trace, v *Version, r *inference.Request) {
	t.Model, t.Version, t.ID, t.Started = v.config.Name, v.number, r.ID, time.Now()
}

// endTrace sets the times of the job. Those of a job that failed end where it did.
func endTrace(t *inference.Trace, j *job) {
	t.Ended, t.Times = time.Now(), j.response.Times
	if t.Times.Queued.IsZero() {
		t.Times.Queued = t.Started // it was in no queue
	}
}
