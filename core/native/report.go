package native

import (
	"encoding/binary"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// RunReporting is Run for a kernel whose last argument is memory that it reports to: words of zeros, which are given to
// read when the call is done, on a goroutine of the stream. One that finds addresses has the table of those that are known
// to the program in front of it, and may read and write what is there.
func (k *Kernel) RunReporting(args []KernelArg, threads, group [3]uint64, words int, finds bool, read func([]uint32) error, on *runtime.Stream) error {
	rt := k.ctx.Runtime
	size, err := shape.Of(int64(words))
	if err != nil {
		return err
	}
	var more [2]*runtime.Tensor // the table and the words
	var reaches []*runtime.Storage
	if finds {
		reaches = k.ctx.HoldExposed()
		defer runtime.ReleaseAll(reaches)
		if more[0], err = addressTable(k.ctx, reaches); err != nil {
			return err
		}
		args = append(args, KernelArg{Tensor: more[0]})
	}
	if more[1], err = rt.FromHost(k.ctx, dtype.Int32, size, make([]byte, 4*words)); err != nil {
		rt.FreeAll(more[:])
		return err
	}
	memory := more[1].Addr
	submitted, err := k.run(append(args, KernelArg{Tensor: more[1]}), threads, group, reaches, func(failed error) error {
		// Only now, because memory that is freed may be used again by what follows the call in the stream.
		defer rt.FreeAll(more[:])
		if failed != nil {
			return nil
		}
		// SAFETY: the tensor is freed after this.
		return read(unsafe.Slice((*uint32)(memory), words))
	}, on)
	if !submitted {
		rt.FreeAll(more[:])
	}
	return err
}

// addressTable is the tensor by which a kernel finds storages by address, in the form that package tritonlang/report
// describes. They are in ascending order. Where two share memory, the row of the second has what the first has not.
func addressTable(c *runtime.Context, all []*runtime.Storage) (*runtime.Tensor, error) {
	dev, ok := c.Device.(device.Shaders)
	if !ok {
		return nil, lacks(c, "kernel_run_reporting")
	}
	table := make([]byte, 24)
	rows, end := uint64(0), uint64(0)
	for _, st := range all {
		at, ok := dev.AddressOf(&device.Operand{Addr: st.Base, Heap: st.Heap()})
		if !ok { // foreign memory that the device does not reach: a kernel reports its addresses as unknown
			continue
		}
		from := runtime.Address(st.Base)
		to := from + uint64(st.Size)
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
	return c.Runtime.FromHost(c, dtype.Int64, size, table)
}
