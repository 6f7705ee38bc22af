package runtime

import (
	"encoding/binary"
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// A kernel of a user's may reach tensors that are not its arguments: by addresses that the program has asked for and has
// written into a tensor. Such a kernel counts as one that writes all storages of its device whose address was returned to a
// caller. They are ordered, waited for and marked as failed as arguments are, and stay allocated until the call is submitted.

// exposed are the storages of a context whose address was returned to a caller and that have a view, in ascending order of
// address. A storage is dropped under the lock together with its last view, so that one which is listed can be retained.
type exposed struct {
	mu  sync.Mutex
	all []*storage
}

// expose notes that the address is returned to a caller, who holds a view. When it returns, the storage is listed, also if another
// goroutine has begun to list it: a kernel may be given the address at once.
func (st *storage) expose() {
	if st.addressTaken.Load() {
		return
	}
	x := &st.ctx.exposed
	x.mu.Lock()
	defer x.mu.Unlock()
	// A device without queues has no kernels that could find it.
	if !st.addressTaken.Load() && !st.ctx.inOrder {
		x.all = append(x.all, st)
		i := x.first(st.base)
		copy(x.all[i+1:], x.all[i:])
		x.all[i] = st
	}
	// Last, because who reads it without the lock takes the storage for a listed one.
	st.addressTaken.Store(true)
}

// first is the place in the list, but for its last element, of the first storage that does not begin before an address.
func (x *exposed) first(base unsafe.Pointer) int {
	low, high := 0, len(x.all)-1
	for low < high {
		if middle := (low + high) / 2; address(x.all[middle].base) < address(base) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// dropView drops the reference of a view, and reports whether it was the last one. Whether the storage is listed is asked once
// there is no other view: until then the holder of another one may expose it.
func (st *storage) dropView() bool {
	for others := st.refs.Load(); others > 0; others = st.refs.Load() {
		if st.refs.CompareAndSwap(others, others-1) {
			return false
		}
	}
	if !st.addressTaken.Load() || st.ctx.inOrder {
		return true
	}
	x := &st.ctx.exposed
	x.mu.Lock()
	defer x.mu.Unlock()
	if !dropRef(&st.refs) { // hold has retained it meanwhile
		return false
	}
	i := x.first(st.base)
	for x.all[i] != st { // another one over the same memory
		i++
	}
	n := copy(x.all[i:], x.all[i+1:])
	x.all[i+n] = nil
	x.all = x.all[:i+n]
	return true
}

// hold lists the storages that have memory. The caller releases each.
func (x *exposed) hold() (all []*storage) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, st := range x.all {
		if st.bytes > 0 {
			st.retain()
			all = append(all, st)
		}
	}
	return all
}

// addressTable is the tensor by which a kernel finds storages by address, in the form that package tritonlang/report
// describes. They are in ascending order. Where two share memory, the row of the second has what the first has not.
func (c *Context) addressTable(all []*storage) (*Tensor, error) {
	dev, ok := c.dev.(device.Shaders)
	if !ok {
		return nil, c.lacks("kernel_run_reporting")
	}
	table := make([]byte, 24)
	rows, end := uint64(0), uint64(0)
	for _, st := range all {
		at, ok := dev.AddressOf(&device.Operand{Addr: st.base, Heap: st.heap()})
		if !ok { // foreign memory that the device does not reach: a kernel reports its addresses as unknown
			continue
		}
		from := address(st.base)
		to := from + uint64(st.bytes)
		skipped := max(from, end) - from
		if from+skipped >= to {
			continue
		}
		for _, word := range [3]uint64{from + skipped, to - from - skipped, at + skipped} {
			table = binary.LittleEndian.AppendUint64(table, word)
		}
		rows, end = rows+1, to
	}
	binary.LittleEndian.PutUint64(table, rows)
	size, err := shape.Of(int64(len(table) / 8))
	if err != nil {
		return nil, err
	}
	return c.rt.FromHost(c, dtype.Int64, size, table)
}

func releaseAll(all []*storage) {
	for _, st := range all {
		st.release()
	}
}

// reach makes storages outputs of the call beside those of its arguments, and their heaps resident.
func (l *launch) reach(all []*storage) {
	for _, st := range all {
		l.stores = append(l.stores, st)
		l.writes++
		// Storages of one heap follow each other.
		if n := len(l.Grid.Resident); n == 0 || l.Grid.Resident[n-1] != st.heap() {
			l.Grid.Resident = append(l.Grid.Resident, st.heap())
		}
	}
}

// address is a pointer as a number.
// SAFETY: nothing is read.
func address(p unsafe.Pointer) uint64 { return uint64(uintptr(p)) }
