package device

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// operandsOf makes operands of the given dtypes, which stand for nothing else.
func operandsOf(ds ...dtype.DType) (os []Operand) {
	for _, d := range ds {
		os = append(os, Operand{DType: d})
	}
	return os
}

// keyOf is a key as devices fill it.
func keyOf(id op.ID, out, in []dtype.DType, rest string) (k Key) {
	k.Op = id
	k.SetDTypes(operandsOf(out...), operandsOf(in...))
	k.AppendRest([]byte(rest))
	return k
}

// TestKeysTellCallsApart compares the keys of all pairs of calls with up to 24 operands: every split into
// outputs and inputs, every position of a dtype that differs from the others, with and without a text.
func TestKeysTellCallsApart(t *testing.T) {
	seen := map[Key]string{}
	add := func(out, in []dtype.DType, rest string) {
		k := keyOf(1, out, in, rest)
		call := fmt.Sprintf("%v from %v, %q", out, in, rest)
		if k != keyOf(1, out, in, rest) || seen[k] != "" {
			t.Fatalf("%s: two keys, or the same key as %s", call, seen[k])
		}
		seen[k] = call
	}
	for n := range 25 {
		for outs := range n + 1 {
			for odd := range n + 1 { // n: none is odd
				ds := slices.Repeat([]dtype.DType{dtype.Float32}, n)
				if odd < n {
					ds[odd] = dtype.Last
				}
				add(ds[:outs], ds[outs:], "")
				add(ds[:outs], ds[outs:], "\x01")
			}
		}
	}
}

// TestWideKeysKeepTheirParts has texts that look like the dtypes of more operands, and the reverse.
func TestWideKeysKeepTheirParts(t *testing.T) {
	ds := slices.Repeat([]dtype.DType{dtype.Bool}, 18)
	long, short := keyOf(1, ds[:1], ds[1:], ""), keyOf(1, ds[:1], ds[1:17], string(rune(dtype.Bool)))
	require.NotEqual(t, long, short)
	require.NotEqual(t, long, keyOf(1, nil, nil, long.Rest), "a maxNarrow key with the text of a wide one")
	require.NotEqual(t, long, keyOf(2, ds[:1], ds[1:], ""))
	again := long
	again.SetDTypes(operandsOf(dtype.Int8), nil)
	require.Equal(t, keyOf(1, []dtype.DType{dtype.Int8}, nil, ""), again, "nothing stays of what was there")
}

// FuzzKeys has two calls with equal keys if and only if they are the same call. Each line of the input is
// a call: an operator, a number of outputs, dtypes, and after a zero byte a text.
func FuzzKeys(f *testing.F) {
	f.Add([]byte{1, 1, 5, 5, 5}, []byte{1, 2, 5, 5, 5})
	f.Add([]byte{1, 1, 5, 5, 5, 0, 7}, []byte{1, 1, 5, 5, 5, 0, 7})
	f.Add([]byte("aabbbbbbbbbbbbbbbbbbbb\x00c"), []byte("aabbbbbbbbbbbbbbbbbbbbc"))
	f.Add([]byte{9, 0, 0, 1, 17}, []byte{9, 0, 1, 17})
	type call struct {
		id      op.ID
		out, in string
		rest    string
	}
	parse := func(b []byte) (c call) {
		if len(b) < 2 {
			return c
		}
		c.id = op.ID(b[0])
		ds, rest := b[2:], []byte(nil)
		if i := slices.Index(ds, 0); i >= 0 {
			ds, rest = ds[:i], ds[i+1:]
		}
		outs := min(int(b[1]), len(ds))
		c.out, c.in, c.rest = string(ds[:outs]), string(ds[outs:]), string(rest)
		return c
	}
	key := func(c call) Key {
		dtypes := func(s string) (ds []dtype.DType) {
			for _, b := range []byte(s) {
				ds = append(ds, dtype.DType(b))
			}
			return ds
		}
		return keyOf(c.id, dtypes(c.out), dtypes(c.in), c.rest)
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, y := parse(a), parse(b)
		if (x == y) != (key(x) == key(y)) {
			t.Errorf("calls %+v and %+v have keys %+v and %+v", x, y, key(x), key(y))
		}
	})
}

// TestKeysDoNotAllocate counts allocations of keys that have been made before.
func TestKeysDoNotAllocate(t *testing.T) {
	for _, operands := range []int{1, 3, 16, 17, 200} {
		os := operandsOf(slices.Repeat([]dtype.DType{dtype.Float32}, operands)...)
		text := make([]byte, 300)
		require.Zerof(t, testing.AllocsPerRun(100, func() {
			var k Key
			k.SetDTypes(os[:1], os[1:])
			k.AppendRest(text)
		}), "%d operands", operands)
	}
}

// TestInternerIsBounded fills it beyond its bound: what was kept before stays equal.
func TestInternerIsBounded(t *testing.T) {
	var n interner
	first := n.keep([]byte("first"))
	for i := range 3 * maxInterned {
		n.keep(fmt.Append(nil, i))
		require.LessOrEqual(t, len(n.all), maxInterned)
	}
	require.Equal(t, first, n.keep([]byte("first")))
}
