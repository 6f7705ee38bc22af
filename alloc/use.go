package alloc

import "github.com/paddle-mps/paddle-mps/core/device"

// Use says that a stream's work up to and including a ticket touches a block.
type Use struct {
	Stream device.Stream
	Ticket device.Ticket
}

// Passed reports whether the work has finished. A use without a stream has.
func (u Use) Passed() bool { return u.Stream == nil || u.Ticket <= u.Stream.Done() }

// AddUse appends a use that has not passed to a list with at most one use per stream, and returns the list:
// of two uses of one stream the later covers the earlier.
func AddUse(uses []Use, u Use) []Use {
	if u.Passed() {
		return uses
	}
	for i := range uses {
		if uses[i].Stream == u.Stream {
			uses[i].Ticket = max(uses[i].Ticket, u.Ticket)
			return uses
		}
	}
	return append(uses, u)
}

// Unpassed removes the uses that have passed and merges those of one stream, in place: the result shares
// the array of the list.
func Unpassed(uses []Use) []Use {
	kept := uses[:0]
	for _, u := range uses {
		kept = AddUse(kept, u)
	}
	return kept
}
