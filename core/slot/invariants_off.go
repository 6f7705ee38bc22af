//go:build !invariants

package slot

// stories is nothing in normal builds: see invariants_on.go.
type stories struct{}

func (*stories) begin(uint64) {}
func (*stories) end(uint64)   {}

// Story is what became of a handle: where it was made, and freed if it was. Without the build tag
// invariants it is empty.
func (*Table[T]) Story(uint64) string { return "" }

// Leaks says where every valid handle was made. Without the build tag invariants it is empty.
func (*Table[T]) Leaks() string { return "" }
