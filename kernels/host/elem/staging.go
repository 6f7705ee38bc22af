package elem

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// Staging is the call by which a kernel casts something else than its operands.
type Staging struct {
	casting  device.Call
	from, to [1]device.Operand
}

// Copy casts one operand to another.
func (s *Staging) Copy(t *engine.Threads, from, to *device.Operand) error {
	s.from[0], s.to[0] = *from, *to
	s.casting = device.Call{In: s.from[:], Out: s.to[:]}
	return castOf(&s.casting).Run(t, &s.casting)
}
