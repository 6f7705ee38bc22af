//go:build !cgo

package objc

import "unsafe"

// Encode makes the sends of a dispatch one by one, in a build without C. The caller has exclusive use of the
// encoder.
func (d *Dispatch) Encode() {
	defer Pool().Close()
	e := d.Encoder
	if d.Pipeline != 0 {
		setComputePipelineState.Send(e, d.Pipeline)
	}
	defer pinned(d).Unpin()
	for i := range d.arguments {
		if d.length[i] == 0 {
			setBuffer.Send(e, d.buffer[i], d.offset[i], uint64(i))
			continue
		}
		// SAFETY: d is pinned, and Metal copies the bytes before it returns.
		setBytes.Send(e, Pointer(unsafe.Pointer(&d.constant[d.offset[i]])), uint64(d.length[i]), uint64(i))
	}
	if d.Shared != 0 {
		setThreadgroupMemory.Send(e, uint64(d.Shared), 0)
	}
	if d.Barrier != 0 {
		memoryBarrier.Send(e, BarrierScope(d.Barrier))
	}
	if d.InGroups != 0 {
		dispatchThreadgroups.Send(e, dispatchThreadgroups.Sel(), d.Threads, d.Group)
		return
	}
	dispatchThreads.Send(e, dispatchThreads.Sel(), d.Threads, d.Group)
}

// bindEncoder does nothing in a build without C.
func bindEncoder() error { return nil }
