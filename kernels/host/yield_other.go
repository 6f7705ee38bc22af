//go:build !linux

package host

import "runtime"

// yield lets another goroutine that waits for this processor run.
func yield() { runtime.Gosched() }
