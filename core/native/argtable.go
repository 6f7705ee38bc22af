package native

import (
	"encoding/binary"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// A device binds at most device.MaxArguments arguments. A kernel that needs more has tensors in an argument buffer: its first
// argument, which is called TableName, has the address of each as the GPU sees it, 8 bytes, in their order. Numbers follow as
// arguments of their own. Such a kernel counts as one that writes all of these tensors, as the device cannot say which of them it
// does write.

// TableName is the name of the argument.
const TableName = "argument_table"

// hasTable reports whether the kernel takes an argument buffer.
func (k *Kernel) hasTable() bool { return len(k.Params) > 0 && k.Params[0].Name == TableName }

// tabled is the arguments with the tensors in a table, which the caller frees once the call is submitted, and reaches with their
// storages. The caller of run holds the tensors, and with them their storages, until it returns.
//
// Tensors must be on the device of the kernel: a number of the CPU, which is bound by its bytes elsewhere, has no address there.
// The storages are ordered, waited for and marked as failed as outputs are, and their heaps are resident while the kernel runs.
func (k *Kernel) tabled(args []KernelArg, reaches []*runtime.Storage) ([]KernelArg, []*runtime.Storage, *runtime.Tensor, error) {
	dev, ok := k.ctx.Device.(device.Shaders)
	if !ok {
		return nil, nil, nil, lacks(k.ctx, "kernel_run")
	}
	// The first argument is the table, which is made last.
	var words []byte
	list := make([]KernelArg, 1)
	all := append([]*runtime.Storage{}, reaches...)
	for i := range args {
		t := args[i].Tensor
		if t == nil {
			list = append(list, args[i])
			continue
		}
		if t.Store.Context != k.ctx {
			return nil, nil, nil, status.Errorf(status.Invalid, "[%s] argument %d is on %s; want a tensor on %s", k.Name, i, t.Store.Context.Place(), k.ctx.Place())
		}
		if t.Store.Traced != nil {
			return nil, nil, nil, runtime.TracedError(k.Name)
		}
		// An empty tensor has no memory that could be accessed.
		at := uint64(0)
		if t.Store.Size > 0 {
			if at, ok = dev.AddressOf(&device.Operand{Addr: t.Addr, Heap: t.Store.Heap()}); !ok {
				return nil, nil, nil, status.Errorf(status.Unsupported, "[%s] argument %d is memory that the device cannot address; want a tensor that is copied to %s", k.Name, i, k.ctx.Place())
			}
			// As if it were written: gradients that read it must not be computed from other elements.
			all = append(all, t.Store)
			t.Store.Version.Add(1)
		}
		words = binary.LittleEndian.AppendUint64(words, at)
	}
	size, err := shape.Of(int64(len(words) / 8))
	if err != nil {
		return nil, nil, nil, err
	}
	table, err := k.ctx.Runtime.FromHost(k.ctx, dtype.Int64, size, words)
	if err != nil {
		return nil, nil, nil, err
	}
	list[0].Tensor = table
	return list, all, table, nil
}
