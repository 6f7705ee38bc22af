package convert

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/slot"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/place"
)

// maxCount bounds the operands, attributes and items of a call, so that a count that was never set
// is an error and does not make the library read foreign memory.
const maxCount = 1 << 16

// DeviceOf finds the device of a place in two numbers.
func DeviceOf(rt *runtime.Runtime, kind, index int32) (*runtime.Context, error) {
	if place.Kind(kind) == place.CPUKind && index != 0 {
		return nil, status.Errorf(status.Unavailable, "[place] cpu:%d does not exist; want index 0 for the CPU", index)
	}
	return rt.Context(place.Place{Kind: place.Kind(kind), Index: index})
}

// DeviceForTensors finds the device of a place for tensors: the CPU may have the index 1 + N, which marks those as displaced from mps:N.
func DeviceForTensors(rt *runtime.Runtime, kind, index int32) (c *runtime.Context, displaced int32, err error) {
	if place.Kind(kind) != place.CPUKind || index == 0 {
		c, err = DeviceOf(rt, kind, index)
		return c, 0, err
	}
	if index < 0 || int(index) > rt.Count(place.MPSKind) {
		return nil, 0, status.Errorf(status.Unavailable, "[place] cpu:%d does not exist; want index 0 for the CPU, or 1 + that of an mps device", index)
	}
	c, err = rt.Context(place.CPU)
	return c, index, err
}

// Displace marks tensors that were just made for a place.
func Displace(displaced int32, made ...*runtime.Tensor) {
	if displaced == 0 {
		return
	}
	for _, t := range made {
		if t != nil {
			t.Displace(displaced - 1)
		}
	}
}

// NullPointer is the error for a pointer argument that must not be null.
func NullPointer(who string) error {
	return status.Errorf(status.Invalid, "[%s] a pointer argument is null; want one to memory of the caller", who)
}

// StaleHandle is the error for a handle that names nothing of the kind. history is what is known of it.
func StaleHandle(who, kind, history string) error {
	return status.Errorf(status.InvalidHandle, "[%s] the handle is null, freed or not of a %s; want a live %s%s", who, kind, kind, history)
}

// TableFull is the error for a handle that the table of its kind has no room for.
func TableFull[T any](all *slot.Table[T], who, kinds string) error {
	return status.Errorf(status.OutOfMemory, "[%s] %d %s are alive; want some to be freed", who, all.Live(), kinds)
}

// The tables of this package hold pointers, so that the compiler makes the code of tables once for all of them.

// NewTable is a table of handles of one kind. When a handle is gone, end is called with the object that it named, unless it got
// none.
func NewTable[P comparable](kind uint8, end func(P)) *slot.Table[P] {
	return slot.NewTable(kind, func(object *P) {
		var none P
		if *object != none {
			end(*object)
		}
		*object = none
	})
}

// WithPinned runs f with the object that a handle of a table names, which stays pinned while f runs.
func WithPinned[P any](all *slot.Table[P], who, kind string, handle uint64, f func(P) error) error {
	named := all.Pin(handle)
	if named == nil {
		return StaleHandle(who, kind, all.History(handle))
	}
	defer all.Unpin(handle)
	return f(*named)
}

// Array is count elements of the caller's memory, which stays the caller's and is only read while the
// exported function runs.
func Array[T any](who, what string, p unsafe.Pointer, count uint64) ([]T, error) {
	if err := CheckArray(who, what, p, count); err != nil || count == 0 {
		return nil, err
	}
	// SAFETY: the C contract says that p points to count elements for the duration of the call.
	return unsafe.Slice((*T)(p), count), nil
}

// CheckArray refuses what cannot be an array of the caller.
func CheckArray(who, what string, p unsafe.Pointer, count uint64) error {
	switch {
	case count > maxCount:
		return status.Errorf(status.Invalid, "[%s] got %d %s; want at most %d", who, count, what, maxCount)
	case count > 0 && p == nil:
		return status.Errorf(status.Invalid, "[%s] the pointer to %d %s is null", who, count, what)
	}
	return nil
}

// Bytes is size bytes of the caller's memory, borrowed as by array and not limited by maxCount.
func Bytes(who string, p unsafe.Pointer, size uint64) ([]byte, error) {
	switch {
	case size > math.MaxInt64:
		return nil, status.Errorf(status.Invalid, "[%s] size is %d; want one that fits into memory", who, size)
	case size == 0:
		return nil, nil
	case p == nil:
		return nil, NullPointer(who)
	}
	// SAFETY: as in array.
	return unsafe.Slice((*byte)(p), size), nil
}

// DTypeOf is the element type with a number, whether tensors have it or not; dtype.Invalid for a number of none.
func DTypeOf(d int32) dtype.DType {
	if t := dtype.DType(d); int32(t) == d && t.Named() {
		return t
	}
	return dtype.Invalid
}

// KnownDType is the element type with a number, for a tensor; status.Type for a number of none that tensors have.
func KnownDType(who string, d int32) (dtype.DType, error) {
	t := DTypeOf(d)
	switch {
	case t.Valid():
		return t, nil
	case t.Named():
		return dtype.Invalid, status.Errorf(status.Type, "[%s] there are no tensors of %s yet; want PMPS_BOOL (%d) to PMPS_COMPLEX128 (%d)", who, t, dtype.Bool, dtype.Last)
	}
	return dtype.Invalid, status.Errorf(status.Type, "[%s] dtype %d is unknown; want PMPS_BOOL (%d) to PMPS_COMPLEX128 (%d)", who, d, dtype.Bool, dtype.Last)
}

// Dimensions reads rank dimensions, whatever they are.
func Dimensions(who string, rank int32, dims unsafe.Pointer) ([]int64, error) {
	if rank < 0 || rank > shape.MaxRank {
		return nil, status.Errorf(status.Invalid, "[%s] rank is %d; want 0 to %d", who, rank, shape.MaxRank)
	}
	return Array[int64](who, "dimensions", dims, uint64(rank))
}

// ShapeOf reads rank dimensions.
func ShapeOf(who string, rank int32, dims unsafe.Pointer) (s shape.Shape, err error) {
	list, err := Dimensions(who, rank, dims)
	if err != nil {
		return s, err
	}
	return shape.Of(list...)
}

// LayoutOf reads rank dimensions and strides of elements of some size; without strides the layout is
// contiguous. Strides that lead out of the address space are status.Invalid.
func LayoutOf(who string, rank int32, dims, strides unsafe.Pointer, size int64) (l shape.Layout, err error) {
	s, err := ShapeOf(who, rank, dims)
	if err != nil {
		return l, err
	}
	if _, err := s.Bytes(size); err != nil {
		return l, err
	}
	if strides == nil {
		return shape.Contiguous(s), nil
	}
	list, err := Array[int64](who, "strides", strides, uint64(rank))
	if err != nil {
		return l, err
	}
	l.Shape = s
	copy(l.Strides[:], list)
	return l, within(who, &l, size)
}

// within refuses layouts whose extent in bytes does not fit into an int64.
func within(who string, l *shape.Layout, size int64) error {
	var total uint64
	for i, d := range l.Slice() {
		if d == 0 {
			return nil
		}
		high, span := bits.Mul64(uint64(d-1), magnitude(l.Strides[i]))
		sum, carry := bits.Add64(total, span, 0)
		if high != 0 || carry != 0 || sum > math.MaxInt64/uint64(size)-1 {
			return status.Errorf(status.Invalid, "[%s] strides %v of shape %s lead out of the address space", who, l.Strides[:l.Rank], &l.Shape)
		}
		total = sum
	}
	return nil
}

// magnitude is |n|, also of the smallest int64.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// maxStruct is more than any struct of the header will ever need; a struct_size above it was never set.
const maxStruct = 1 << 16

// FitStruct says how much of a struct of the caller, given bytes long, is filled in from ours: n bytes of
// values, then rest bytes of zeros, which a newer header takes as absent. Structs grow at the end, and
// a struct shorter than the first version, which is today's, is refused.
func FitStruct(who string, ours, given uintptr) (n, rest uintptr, err error) {
	if given < ours || given > maxStruct {
		return 0, 0, status.Errorf(status.Invalid, "[%s] struct_size is %d; want the size of the struct, %d or more", who, given, ours)
	}
	return ours, given - ours, nil
}
