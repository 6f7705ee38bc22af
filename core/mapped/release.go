//go:build !linux

package mapped

// Release does nothing here: the system drops pages of files on its own when it needs memory.
func Release([]byte) {}
