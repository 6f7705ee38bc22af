package device

// Adopter is a device that can work in memory of somebody else.
type Adopter interface {
	// Adopt makes a heap over memory (at least one byte) that stays where it is until the heap is closed;
	// nothing is copied. status.Unsupported says how the memory would have to lie.
	Adopt(memory []byte) (Heap, error)
}
