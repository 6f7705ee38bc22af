package main

// #include "shim.h"
import "C"

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/holdings"
	"github.com/paddle-mps/paddle-mps/core/runtime"
)

// goHeldBy is held_by of shim.h. The handles are borrowed; the numbers are C memory that the caller frees, null without any
// memory, or where nothing is held.
//
//export goHeldBy
func goHeldBy(caller C.uint64_t, tensors unsafe.Pointer, count C.uint64_t, handles unsafe.Pointer, programCount C.uint64_t) (found *C.uint64_t) {
	quietly(func(rt *runtime.Runtime) {
		// SAFETY: python.c passes arrays of so many handles, valid for the call.
		owners, named := unsafe.Slice((*uint64)(tensors), count), unsafe.Slice((*uint64)(handles), programCount)
		pinned := make([]*execute.Program, 0, len(named))
		for _, handle := range named {
			if p := programs.Pin(handle); p != nil {
				defer programs.Unpin(handle)
				pinned = append(pinned, *p)
				continue
			}
			return // it was freed meanwhile: the next collection will do
		}
		found = numbersOf(holdings.Of(rt, uint64(caller), owners, pinned))
	})
	return found
}

// numbersOf writes Holdings to C memory: for each owner its group counted from 1, or 0; the number of groups; and for each its
// functions and its groups, counted from 0, either with how many there are before them.
func numbersOf(h *holdings.Holdings) *C.uint64_t {
	if len(h.Groups) == 0 {
		return nil
	}
	list := make([]uint64, 0, len(h.Owners)+8*len(h.Groups))
	for _, group := range h.Owners {
		list = append(list, uint64(group+1))
	}
	list = append(list, uint64(len(h.Groups)))
	for i := range h.Groups {
		g := &h.Groups[i]
		list = append(append(list, uint64(len(g.Numbers))), g.Numbers...)
		list = append(list, uint64(len(g.Of)))
		for _, other := range g.Of {
			list = append(list, uint64(other))
		}
	}
	// SAFETY: the numbers of a slice that is not empty, as bytes.
	return (*C.uint64_t)(C.CBytes(unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), 8*len(list))))
}

// goHeldUnchanged reports whether no tensor has got a history since goHeldBy.
//
//export goHeldUnchanged
func goHeldUnchanged() C.bool { return C.bool(runtime.Unchanged()) }

// goHeldEnd ends the time for which goHeldUnchanged answers.
//
//export goHeldEnd
func goHeldEnd() { runtime.Unwatch() }
