package device

import (
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// Stop is a request that a run end before its next step. Devices look at it between the steps of a program; a step that
// has begun is completed. A nil Stop is that of a run which cannot be cancelled, so that looking at it costs a comparison.
type Stop struct{ requested atomic.Bool }

var errCancelled = status.Errorf(status.Cancelled, "[program] the run was cancelled before it ended")

// Request asks for the end. Any goroutine may call it, more than once.
func (s *Stop) Request() { s.requested.Store(true) }

// Err is nil until the end has been asked for, and then an error of code status.Cancelled.
func (s *Stop) Err() error {
	if s == nil || !s.requested.Load() {
		return nil
	}
	return errCancelled
}
