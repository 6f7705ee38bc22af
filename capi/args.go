package main

import (
	"math"
	"slices"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// arg, attr and item are pmps_arg, pmps_attr and pmps_index as Go sees them: a union is its bits.
// layout.go holds them to the header.
type (
	arg struct {
		kind, reserved uint32
		bits           uint64
	}
	attr struct {
		name           *byte
		kind, reserved uint32
		bits           uint64
		count          int64
	}
	item struct {
		kind, has         int32
		start, stop, step int64
	}
)

// Kinds of operands, as in the header. Those of attributes are the numbers of op.ValueKind.
const (
	argNone   = 0
	argTensor = 1
	argBool   = 2
	argInt    = 3
	argFloat  = 4
)

// rowOf finds an operator by its number.
func rowOf(id uint64) (*op.Row, error) {
	if id <= math.MaxUint16 {
		if row := op.ByID(op.ID(id)); row != nil {
			return row, nil
		}
	}
	return nil, status.Errorf(status.NotFound, "[op] no operator has the number %d", id)
}

// call is an operator with its operands and attributes, resolved. Its tensors are held until release.
type call struct {
	row *op.Row
	in  []runtime.Operand
	at  op.Attrs
	// Room for attributes of a call of the pool, all zero: the runtime keeps no part of it but lists of numbers, unless it traces.
	room op.Attrs
	out  *runtime.Tensor // nil: the results are new

	displaced int32 // what marks new tensors; see placed
}

// bind reads a call from the caller's memory and copies what it needs. After an error no tensor is held.
func bind(rt *runtime.Runtime, id uint64, args unsafe.Pointer, argCount uint64, attrs unsafe.Pointer, attrCount uint64) (c call, err error) {
	if c.row, err = rowOf(id); err != nil {
		return c, err
	}
	given, err := array[arg](c.row.Name, "operands", args, argCount)
	if err != nil {
		return c, err
	}
	named, err := array[attr](c.row.Name, "attributes", attrs, attrCount)
	if err != nil {
		return c, err
	}
	if c.at, err = attributes(rt, c.row, named); err != nil {
		return c, err
	}
	if err := c.operands(rt, given); err != nil {
		c.release()
		return call{}, err
	}
	return c, nil
}

// operands resolves the operands. Those before the first wrong one are held even after an error: release is
// for the caller to call.
func (c *call) operands(rt *runtime.Runtime, given []arg) error {
	c.in = slices.Grow(c.in[:0], max(len(given), len(c.row.In)))
	for i := range given {
		o, err := operand(rt, c.row, i, &given[i])
		if err != nil {
			return err
		}
		c.in = append(c.in, o)
	}
	for len(c.in) < len(c.row.In) { // trailing ones that were not given
		c.in = append(c.in, runtime.Operand{})
	}
	return nil
}

// release ends what bind holds; it may be called once.
func (c *call) release() {
	for i := range c.in {
		if t := c.in[i].Tensor; t != nil {
			t.Release()
		}
	}
	releaseTensors(c.at)
	if c.out != nil {
		c.out.Release()
	}
}

// operand resolves one operand; a tensor is held.
func operand(rt *runtime.Runtime, row *op.Row, i int, a *arg) (o runtime.Operand, err error) {
	if a.reserved != 0 {
		return o, status.Errorf(status.Invalid, "[%s] reserved of operand %d is %d; want 0", row.Name, i, a.reserved)
	}
	switch a.kind {
	case argNone:
	case argTensor:
		if o.Tensor = rt.Acquire(a.bits); o.Tensor == nil {
			return o, staleOperand(row, i, rt.HandleHistory(a.bits))
		}
	default:
		o.Value, err = scalar(row.Name, uint64(a.kind), a.bits)
	}
	return o, err
}

// scalar reads a scalar, or one that is not given, which is not Set.
func (a *arg) scalar(who string) (v op.Value, err error) {
	switch {
	case a.reserved != 0:
		return v, status.Errorf(status.Invalid, "[%s] reserved is %d; want 0", who, a.reserved)
	case a.kind == argTensor:
		return v, status.Errorf(status.Type, "[%s] got a tensor; want a bool, an int or a float", who)
	case a.kind == argNone:
		return v, nil
	}
	return scalar(who, uint64(a.kind), a.bits)
}

// scalar reads a bool, an int or a float from its bits.
func scalar(who string, kind, bits uint64) (v op.Value, err error) {
	switch kind {
	case argBool:
		v.Kind = op.Bool
		if bits != 0 {
			v.I = 1
		}
	case argInt:
		v.Kind, v.I = op.Int, int64(bits)
	case argFloat:
		v.Kind, v.F = op.Float, math.Float64frombits(bits)
	default:
		return v, status.Errorf(status.Type, "[%s] an operand has kind %d; want one of pmps_arg_kind", who, kind)
	}
	return v, nil
}

// staleOperand is the error for operand i, whose handle is not valid. history is what is known of the handle.
func staleOperand(row *op.Row, i int, history string) error {
	name := "?"
	if n := len(row.In); n > 0 {
		name = row.In[min(i, n-1)].Name
	}
	return status.Errorf(status.InvalidHandle, "[%s] operand %d (%s) is null, freed or not of a tensor; want a live tensor%s", row.Name, i, name, history)
}

// acquireAll holds the tensors of handles, and appends them to ts. After an error it returns those before the first
// invalid handle, for the caller to release.
func acquireAll(ts []*runtime.Tensor, rt *runtime.Runtime, who string, handles []uint64) ([]*runtime.Tensor, error) {
	for i, h := range handles {
		t := rt.Acquire(h)
		if t == nil {
			return ts, status.Errorf(status.InvalidHandle, "[%s] input %d is null, freed or not of a tensor; want a live tensor%s", who, i, rt.HandleHistory(h))
		}
		ts = append(ts, t)
	}
	return ts, nil
}

// releaseAll ends what acquireAll holds.
func releaseAll(ts []*runtime.Tensor) {
	for _, t := range ts {
		t.Release()
	}
}

// indexItems appends the items of an index expression to room, which the caller may have on its stack.
func indexItems(room []runtime.IndexItem, p unsafe.Pointer, count uint64) ([]runtime.IndexItem, error) {
	given, err := array[item]("index", "items", p, count)
	if err != nil {
		return nil, err
	}
	for i := range given {
		it := &given[i]
		if it.kind < 0 || it.kind > int32(runtime.IndexEllipsis) {
			return nil, status.Errorf(status.Type, "[index] item %d has kind %d; want one of pmps_index_kind", i, it.kind)
		}
		if it.has < 0 || it.has > 7 {
			return nil, status.Errorf(status.Invalid, "[index] has of item %d is %d; want bits 0 to 2", i, it.has)
		}
		room = append(room, runtime.IndexItem{
			Kind: runtime.IndexKind(it.kind), Has: uint8(it.has),
			Start: it.start, Stop: it.stop, Step: it.step,
		})
	}
	return room, nil
}
