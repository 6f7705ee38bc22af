package engine

// pause lets a moment pass in a loop that waits for another thread, in which the other hardware thread of the core has all
// of it.
//
//go:noescape
func pause()
