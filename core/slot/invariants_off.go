//go:build !invariants

package slot

// histories is empty in normal builds: see invariants_on.go.
type histories struct{}

func (*histories) begin(uint64) {}
func (*histories) end(uint64)   {}

// History is where a handle was made and, if it was, freed, as call stacks for an error message. Without the
// build tag invariants it is empty.
func (*Table[T]) History(uint64) string { return "" }

// Leaks lists where every valid handle was made. Without the build tag invariants it is empty.
func (*Table[T]) Leaks() string { return "" }
