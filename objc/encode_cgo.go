//go:build cgo

package objc

// #include "encode.h"
// #cgo noescape objc_encode
// #cgo nocallback objc_encode
import "C"

import "unsafe"

// Encode makes the sends of a dispatch in one call of C, within an autorelease pool of its own. The caller has
// exclusive use of the encoder.
func (d *Dispatch) Encode() {
	// SAFETY: both are the same bytes (see below) and hold no Go pointer; C keeps no address of them.
	C.objc_encode((*C.objc_dispatch)(unsafe.Pointer(d)))
}

// bindEncoder passes the addresses that Load has found to C.
func bindEncoder() error {
	w := func(s Sel) C.uintptr_t { return C.uintptr_t(s) }
	C.objc_bind(&C.objc_names{
		send: C.uintptr_t(msgSend), push: C.uintptr_t(poolPush), pop: C.uintptr_t(poolPop),
		set_pipeline: w(setComputePipelineState.Sel()), set_buffer: w(setBuffer.Sel()),
		set_bytes: w(setBytes.Sel()), set_shared: w(setThreadgroupMemory.Sel()), dispatch: w(dispatchThreads.Sel()),
		barrier: w(memoryBarrier.Sel()), dispatch_groups: w(dispatchThreadgroups.Sel()),
	})
	return nil
}

// Both sides see the same layout: an index other than 0 does not compile.
var (
	_ = [1]int{}[unsafe.Sizeof(Dispatch{})-unsafe.Sizeof(C.objc_dispatch{})]
	_ = [1]int{}[unsafe.Offsetof(Dispatch{}.Threads)-unsafe.Offsetof(C.objc_dispatch{}.threads)]
	_ = [1]int{}[unsafe.Offsetof(Dispatch{}.arguments)-unsafe.Offsetof(C.objc_dispatch{}.arguments)]
	_ = [1]int{}[unsafe.Offsetof(Dispatch{}.Shared)-unsafe.Offsetof(C.objc_dispatch{}.shared)]
	_ = [1]int{}[unsafe.Offsetof(Dispatch{}.InGroups)-unsafe.Offsetof(C.objc_dispatch{}.in_groups)]
	_ = [1]int{}[unsafe.Offsetof(Dispatch{}.Barrier)-unsafe.Offsetof(C.objc_dispatch{}.barrier)]
	_ = [1]int{}[unsafe.Offsetof(Dispatch{}.buffer)-unsafe.Offsetof(C.objc_dispatch{}.buffer)]
	_ = [1]int{}[unsafe.Offsetof(Dispatch{}.offset)-unsafe.Offsetof(C.objc_dispatch{}.offset)]
	_ = [1]int{}[unsafe.Offsetof(Dispatch{}.length)-unsafe.Offsetof(C.objc_dispatch{}.length)]
	_ = [1]int{}[unsafe.Offsetof(Dispatch{}.constant)-unsafe.Offsetof(C.objc_dispatch{}.constant)]
)
