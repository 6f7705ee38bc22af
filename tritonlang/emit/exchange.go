// Moving tensors between layouts, and the shuffles that lanes exchange values by.
//
// A change of layout in which each thread has all that it needs renames registers and costs nothing. Any other goes
// through threadgroup memory: the owners of elements write them in row-major order, a barrier, and each thread reads its own.

package emit

import (
	"strconv"

	"github.com/paddle-mps/paddle-mps/tritonlang/layout"
	"github.com/paddle-mps/paddle-mps/tritonlang/tree"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// area opens a part of the pool for some elements.
func (e *emitter) area(ctype string, bytes, count int) *tree.Area {
	a := &tree.Area{Name: e.temp("shared"), CType: ctype, Bytes: (bytes*count + 15) / 16 * 16}
	e.add(&tree.Node{Kind: tree.OpenArea, Area: a})
	return a
}

// writes notes that what follows writes an area. A barrier is put in front of it if others may still read there.
func (e *emitter) writes(a *tree.Area) {
	e.add(&tree.Node{Kind: tree.TouchMemory, Area: a, Effect: tree.Effect{Writes: true}})
}

// reads notes that what follows reads an area that other threads have written.
func (e *emitter) reads(a *tree.Area) {
	e.add(&tree.Node{Kind: tree.TouchMemory, Area: a, Effect: tree.Effect{Reads: true}})
}

// sharedType is what a register's type is in threadgroup memory, and its bytes.
func sharedType(ctype string) (string, int) {
	switch ctype {
	case "bool", "char", "uchar":
		if ctype == "bool" {
			ctype = "uchar"
		}
		return ctype, 1
	case "short", "ushort", "half":
		return ctype, 2
	case "long", "ulong":
		return ctype, 8
	}
	return ctype, 4
}

// address is an element's number in row-major order, of a register of a layout.
func address(l layout.Layout, i tree.RegisterNumber) string {
	terms := threadPart(l, nil)
	if i.Name == "" {
		return tree.Sum(terms, 0)
	}
	return tree.Sum(append(terms, tree.Scatter(i.Name, l.Reg)...), 0)
}

// convert moves a tensor to another layout. Registers may be kept where both layouts give a thread the same elements;
// otherwise they go through threadgroup memory.
func (e *emitter) convert(v *ttir.Value, x *value, from, to layout.Layout) *value {
	// Pointers without offsets are one base for all layouts.
	if x.regs == nil {
		return x
	}
	if index, ok := sameThread(from, to); ok {
		r := *x.regs
		r.Index = make([]int, len(index))
		for i, k := range index {
			r.Index[i] = x.regs.Index[k]
		}
		return &value{scalar: x.scalar, regs: &r, wide: x.wide, full: x.full}
	}
	if x.full {
		panic(&ttir.Unsupported{Op: "tensor of pointers", Where: e.where, Why: "pointers from several arguments cannot change their layout"})
	}
	e.stats.Exchanges++
	return &value{scalar: x.scalar, wide: x.wide, regs: e.throughPool(v.Name, x.regs, from, to)}
}

// sameThread says which register of one layout is which of another, if each thread has all that it needs.
func sameThread(from, to layout.Layout) (index []int, ok bool) {
	for _, pair := range [][2][]int{{from.Lane, to.Lane}, {from.Warp, to.Warp}} {
		for i := range pair[0] {
			if pair[0][i] != pair[1][i] {
				return nil, false
			}
		}
	}
	// Threads hold the same elements, perhaps in another order of registers.
	for _, b := range to.Reg {
		k := indexOf(from.Reg, b)
		if k < 0 {
			return nil, false
		}
		index = append(index, k)
	}
	return index, true
}

// indexOf is where a number stands in a list, -1 if it does not.
func indexOf(all []int, b int) int {
	for i, x := range all {
		if x == b {
			return i
		}
	}
	return -1
}

// throughPool writes all elements to threadgroup memory and reads those of another layout.
func (e *emitter) throughPool(like string, x *tree.Registers, from, to layout.Layout) *tree.Registers {
	ctype := x.CType
	// Every element once, whatever threads hold it.
	memory, bytes := sharedType(ctype)
	a := e.area(memory, bytes, 1<<from.Bits())
	e.fill(a, x, from)
	e.reads(a)
	r := e.array(like, ctype, to.Registers())
	e.whole(to.Registers(), func(i tree.RegisterNumber) string {
		return e.element(r, nil, i) + " = " + fromShared(ctype, a.Name+"["+address(to, i)+"]") + ";"
	})
	return r
}

// fill writes a tensor to an area, in row-major order.
func (e *emitter) fill(a *tree.Area, x *tree.Registers, l layout.Layout) {
	e.writes(a)
	e.owned(l, func() {
		e.whole(l.Registers(), func(i tree.RegisterNumber) string {
			return a.Name + "[" + address(l, i) + "] = " + toShared(x.CType, e.element(x, nil, i)) + ";"
		})
	})
}

// fromShared is an element of threadgroup memory as it is kept in registers.
func fromShared(ctype, text string) string {
	if ctype == "bool" {
		return text + " != 0"
	}
	return text
}

// toShared is a register as it is written to threadgroup memory.
func toShared(ctype, text string) string {
	if ctype == "bool" {
		return "uchar(" + text + ")"
	}
	return text
}

// materialize makes a register array of its own of what may be a literal or a view, so that its type is known.
func (e *emitter) materialize(v *ttir.Value, x *value, l layout.Layout) *tree.Registers {
	if x.regs.CType != "" && x.regs.N == l.Registers() {
		return x.regs
	}
	ctype := cType(v.Type.Element())
	r := e.array(v.Name, ctype, l.Registers())
	e.whole(l.Registers(), func(i tree.RegisterNumber) string {
		return e.element(r, nil, i) + " = " + e.element(x.regs, nil, i) + ";"
	})
	return r
}

// shuffled is what the lane with one bit of its number turned has. Metal shuffles up to 32 bits, and no bool.
func shuffled(ctype, x, mask string) string {
	switch ctype {
	case "bool":
		return "(simd_shuffle_xor(ushort(" + x + "), ushort(" + mask + ")) != 0)"
	case "char", "uchar":
		return ctype + "(simd_shuffle_xor(short(" + x + "), ushort(" + mask + ")))"
	case "long", "ulong":
		return "as_type<" + ctype + ">(simd_shuffle_xor(as_type<uint2>(" + x + "), ushort(" + mask + ")))"
	}
	return "simd_shuffle_xor(" + x + ", ushort(" + mask + "))"
}

// A barrier of the program orders all memory; it has one name in 3.6 and another one since.
func init() {
	rules["gpu.barrier"] = func(e *emitter, _ *ttir.Op) {
		e.add(&tree.Node{Kind: tree.TouchMemory, Effect: tree.Effect{Everyone: true}})
	}
	rules["ttg.barrier"] = rules["gpu.barrier"]
}

// cell is a register by terms of its number, for loops over more than one variable.
func (e *emitter) cell(r *tree.Registers, terms ...string) string {
	if r.N == 1 {
		return r.Name
	}
	*r.Array = true
	return r.Name + "[" + tree.Sum(terms, r.Plus) + "]"
}

// through maps register bits of a layout to bits of the registers' number in storage.
func through(index, bits []int) []int {
	out := make([]int, len(bits))
	for i, b := range bits {
		if out[i] = layout.None; b != layout.None {
			out[i] = index[b]
		}
	}
	return out
}

// itoa is a number as text.
func itoa(n int) string { return strconv.Itoa(n) }
