//go:build !amd64

package engine

// pause lets a moment pass in a loop that waits for another thread.
func pause() {}
