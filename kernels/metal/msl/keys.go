package msl

import (
	"fmt"

	"github.com/paddle-mps/paddle-mps/core/dtype"
)

// Elements are ordered by keys, unsigned integers K that are in their order: nan is the largest and both zeros are equal,
// as on the CPU. The functions are those of kernels/host/order/keys.go.

// keys defines K and key.
func keys(d dtype.DType) string {
	kind, body := "uint", "return uint(e);" // of bool and uint8
	switch {
	case d.IsFloat():
		// Halves and bfloat16 have the order of the floats that they are.
		body = `const uint u = as_type<uint>(float(load(e)));
    if ((u & 0x7fffffff) > 0x7f800000) return ~0u;
    if (u << 1 == 0) return 0x80000000;
    return u ^ (u >> 31 != 0 ? ~0u : 0x80000000);`
	case d == dtype.Int64:
		kind, body = "ulong", "return ulong(e) ^ 0x8000000000000000ul;"
	case d == dtype.Int8 || d == dtype.Int16 || d == dtype.Int32:
		body = "return uint(int(e)) ^ 0x80000000;"
	}
	return fmt.Sprintf("typedef %s K;\ninline K key(E e) {\n    %s\n}\n", kind, body)
}

// Places of a list that is sorted have the key of an element and where it was. Both fit a word where the key has 32 bits.
const (
	narrowPlaces = `
struct Drawn {
    ulong both;
};
inline Drawn drawn(K k, uint at) { return Drawn{ulong(k) << 32 | at}; }
inline bool before(Drawn a, Drawn b) { return a.both < b.both; }
inline uint at_of(Drawn d) { return uint(d.both); }
`
	widePlaces = `
struct Drawn {
    ulong key;
    uint at, none;
};
inline Drawn drawn(K k, uint at) { return Drawn{k, at, 0}; }
inline bool before(Drawn a, Drawn b) { return a.key < b.key || (a.key == b.key && a.at < b.at); }
inline uint at_of(Drawn d) { return d.at; }
`
)

// SortedPlace is the size of a place of the list that lines of a dtype are sorted in.
func SortedPlace(d dtype.DType) int64 {
	if d == dtype.Int64 {
		return 16
	}
	return 8
}

// Sort is the source of sort and topk, the latter with indices of a dtype: the kernels of sorting.metal and network.metal.
func Sort(d, index dtype.DType, wide bool) string {
	// PLACES and INDEX are where indices go, for topk.
	places, written := narrowPlaces, "#define PLACES\n#define INDEX(line, i, at)\n"
	if SortedPlace(d) == 16 {
		places = widePlaces
	}
	if index != dtype.Invalid {
		written = fmt.Sprintf(`#define PLACES device %s *places [[buffer(7)]], constant Walk<I> &there [[buffer(8)]],
#define INDEX(line, i, at) places[seek(there, line) + I(i) * steps[2]] = at
`, storage[index])
	}
	return source(types(d, wide)+loading(d)+keys(d)+places+written, "sorting", "network")
}
