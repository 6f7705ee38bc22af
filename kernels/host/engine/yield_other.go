//go:build !linux

package engine

import "runtime"

// yield lets another goroutine that waits for this processor run.
func yield() { runtime.Gosched() }
