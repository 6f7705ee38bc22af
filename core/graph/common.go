package graph

import (
	"encoding/binary"
	"math"

	"github.com/paddle-mps/paddle-mps/core/op"
)

// shareCommon leaves out calls that repeat an earlier one: the same operator with the same operands and attributes.
// Numbers are the same if their bits are, and constants if they are one object. Random calls never repeat one.
func shareCommon(g *Graph) *Graph {
	first := map[string][]Value{} // by the text of a call: its results
	var text []byte
	return g.replacing(func(n *Node, instead []Value) bool {
		var ok bool
		if text, ok = g.callText(text[:0], n); !ok {
			return true
		}
		out, seen := first[string(text)]
		if !seen {
			first[string(text)] = n.Out
			return true
		}
		// Types are the same too: inference sees nothing but what the text holds.
		for i, v := range n.Out {
			instead[v] = out[i]
		}
		return false
	})
}

// callText appends what a call computes from what, such that different calls have different texts: the parts have
// lengths that follow from what stands before them. ok is false for calls that nothing repeats.
func (g *Graph) callText(text []byte, n *Node) (_ []byte, ok bool) {
	if n.Row.Random {
		return text, false
	}
	text = binary.AppendUvarint(text, uint64(n.Row.ID))
	text = binary.AppendUvarint(text, uint64(len(n.In)))
	for _, v := range n.In {
		if x := &g.values[v]; x.number != nil {
			text = append(text, 'n')
			if text, ok = valueText(text, x.number); !ok {
				return text, false
			}
			continue
		}
		text = binary.AppendUvarint(append(text, 'v'), uint64(v))
	}
	for i := range n.Attrs {
		if text, ok = valueText(text, &n.Attrs[i]); !ok {
			return text, false
		}
	}
	return text, true
}

// valueText appends a value; ok is false for kinds that have no text: tensors and graphs.
func valueText(text []byte, v *op.Value) (_ []byte, ok bool) {
	text = append(text, byte(v.Kind))
	switch v.Kind {
	case op.None:
	case op.Bool, op.Int, op.DType:
		text = binary.AppendVarint(text, v.I)
	case op.Float:
		text = binary.AppendUvarint(text, math.Float64bits(v.F))
	case op.Ints:
		text = binary.AppendUvarint(text, uint64(len(v.Ints)))
		for _, i := range v.Ints {
			text = binary.AppendVarint(text, i)
		}
	case op.String:
		text = append(binary.AppendUvarint(text, uint64(len(v.Str()))), v.Str()...)
	default:
		return text, false
	}
	return text, true
}
