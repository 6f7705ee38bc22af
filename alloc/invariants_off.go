//go:build !invariants

package alloc

// invariants is false in normal builds: see invariants_on.go.
const invariants = false

// origin takes no memory in normal builds.
type origin struct{}

func caller() origin { return origin{} }

func (*Allocator) origins() string { return "" }

// badFree does nothing: Stats.BadFrees counts bad frees.
func badFree(*Block) {}

func poison(*Block) {}
