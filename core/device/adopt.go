package device

// Adopter is implemented by devices that can use memory which they did not allocate.
type Adopter interface {
	// Adopt makes a heap over memory (at least one byte) without a copy. The caller keeps the memory valid and
	// in place until the heap is closed. status.Unsupported says which alignment or size the device requires.
	Adopt(memory []byte) (Heap, error)
}
