package device

import (
	"encoding/binary"
	"sync"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Key is the identity of a program within one device: calls with equal keys run the same program, and
// calls that need different programs have different keys. The fields are the identity itself, not a
// digest of it, so that keys cannot collide. Keys are compared with ==.
//
// A device fills a key in this order: Op, then SetDTypes, then Class and AppendRest for what else it
// distinguishes.
type Key struct {
	Op        op.ID
	Outs, Ins uint8     // numbers of operands; both are wide where they do not fit DTypes
	DTypes    [2]uint64 // eight bits an operand, outputs first; zero in a wide key
	Class     uint64    // layout class, attribute bits, kind of kernel
	Rest      string    // what fits nowhere else, such as shapes where the device compiles for each
}

const (
	// maxNarrow is the number of operands that fit Key.DTypes.
	maxNarrow = 16
	// wide marks the keys of calls with more operands. Rest then begins with both counts and all dtypes.
	// No maxNarrow key has such a count, so the two kinds never meet.
	wide = 255
)

// SetDTypes records the dtypes of a call's operands and how many of them are outputs. It clears Rest. It
// does not allocate for up to 16 operands, nor for more of them once such a call has been seen.
func (k *Key) SetDTypes(out, in []Operand) {
	k.DTypes, k.Rest = [2]uint64{}, ""
	if len(out)+len(in) > maxNarrow {
		k.setWide(out, in)
		return
	}
	k.Outs, k.Ins = uint8(len(out)), uint8(len(in))
	for i := range out {
		k.put(i, out[i].DType)
	}
	for i := range in {
		k.put(len(out)+i, in[i].DType)
	}
}

// put records the dtype of operand i of a maxNarrow key.
func (k *Key) put(i int, d dtype.DType) { k.DTypes[i/8] |= uint64(d) << (i % 8 * 8) }

// setWide is SetDTypes for any number of operands.
func (k *Key) setWide(out, in []Operand) {
	k.Outs, k.Ins = wide, wide
	var room [256]byte
	text := binary.AppendUvarint(room[:0], uint64(len(out)))
	text = binary.AppendUvarint(text, uint64(len(in)))
	for _, operands := range [2][]Operand{out, in} {
		for i := range operands {
			text = append(text, byte(operands[i].DType))
		}
	}
	k.Rest = interned.keep(text)
}

// AppendRest appends to Rest whatever else distinguishes programs. The caller makes the text unambiguous:
// for calls that agree in all other fields, equal texts must mean the same program. It does not allocate
// when the result is up to 1024 bytes long and has been seen before.
func (k *Key) AppendRest(text []byte) {
	if k.Rest == "" {
		k.Rest = interned.keep(text)
		return
	}
	var room [1024]byte
	k.Rest = interned.keep(append(append(room[:0], k.Rest...), text...))
}

// interner keeps one string for each sequence of bytes, so that the key of a warm call costs no
// allocation.
type interner struct {
	mu  sync.RWMutex
	all map[string]string
}

// interned holds the Rest of the keys of all devices.
var interned interner

// maxInterned bounds an interner. When it is full it starts anew: keys with a string from before stay
// equal to those with a new one, because strings are compared by content.
const maxInterned = 1 << 14

// keep returns text as a string, the same one as last time where it is still known.
func (n *interner) keep(text []byte) string {
	n.mu.RLock()
	s, ok := n.all[string(text)]
	n.mu.RUnlock()
	if ok {
		return s
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.all == nil || len(n.all) >= maxInterned {
		n.all = map[string]string{}
	}
	s = string(text)
	n.all[s] = s
	return s
}
