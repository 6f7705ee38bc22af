package gpu

// MostWindows is how many windows a heap keeps.
const MostWindows = mostWindows

// Windows is how many it has.
func (h *Heap) Windows() int { return len(h.windows) }

// SetSize has a buffer of a length take so many bytes of a heap.
func (d *Device) SetSize(length, size uint64) {
	n := d.Need(length)
	n.Size = size
	d.needs.all[length] = n
}

// Essence is what is quoted of a compiler.
var Essence = essence
