package text

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// A string has one number in a run, wherever it comes from.
func TestEqualStringsHaveOneNumber(t *testing.T) {
	m := &Model{}
	require.Equal(t, int64(-1), m.Add("a"))
	require.Equal(t, int64(-2), m.Add("b"))
	require.Equal(t, int64(-1), m.Add("a"))
	require.Zero(t, m.Add(""))
	require.Equal(t, int64(2), m.Len())
	one, other := New(m), New(m)
	for _, x := range []struct {
		s    string
		want int64
	}{{"a", -1}, {"", 0}, {"c", 1}, {"b", -2}, {"c", 1}, {"d\x00", 2}, {"d", 3}} {
		id, err := one.ID(x.s)
		require.NoError(t, err)
		require.Equal(t, x.want, id, "%q", x.s)
		s, err := one.Text(id)
		require.NoError(t, err)
		require.Equal(t, x.s, s)
	}
	_, err := other.Text(1)
	require.EqualError(t, err, "[string] an element is 1, which is the number of no string of this run")
	_, err = one.Texts([]int64{0, -3})
	require.Equal(t, status.Invalid, status.CodeOf(err))
	var none *Model
	require.Zero(t, none.Len())
	id, err := New(nil).ID("a")
	require.NoError(t, err)
	require.Equal(t, int64(1), id)
}

// The memory of a run is bounded, also where no string is made yet.
func TestRoom(t *testing.T) {
	x := New(nil)
	require.Equal(t, status.OutOfMemory, status.CodeOf(x.Room(mostBytes)))
	long := strings.Repeat("x", 1<<20)
	for i := range mostBytes >> 19 { // all of them are in one memory
		if _, err := x.ID(long[i:]); err != nil {
			require.Equal(t, status.OutOfMemory, status.CodeOf(err))
			return
		}
	}
	require.Fail(t, "there is no limit")
}

func TestWireForm(t *testing.T) {
	for _, list := range [][]string{{}, {""}, {"a", "", "äß\x00", strings.Repeat("long", 1000)}} {
		wire, err := Encode(list)
		require.NoError(t, err)
		got, err := Decode("x", wire, int64(len(list)))
		require.NoError(t, err)
		require.Equal(t, list, got)
	}
	for _, test := range []struct {
		wire string
		n    int64
		want string
	}{
		{"", 1, "[x] got 0 bytes; want at least 4 for each of 1 strings: a length and the bytes"},
		{"", 1 << 60, "got 0 bytes"},
		{"\x00\x00\x00\x00\x00", 1, "[x] 1 strings end at byte 4 of 5; want nothing behind them"},
		{"\x00\x00\x00\x00", 0, "end at byte 0 of 4"},
		{"\x05\x00\x00\x00abcd", 1, "[x] string 0 has 5 bytes from byte 4 on; want no more than the 4 that follow"},
		{"\xff\xff\xff\xffabcd", 1, "string 0 has 4294967295 bytes"},
		{"\x03\x00\x00\x00abcd", 2, "[x] string 1 begins at byte 7 of 8; want 4 bytes for its length"},
		{"\x00\x00\x00\x00\x01\x00\x00\x00\xff", 2, "[x] string 1 is not UTF-8"},
	} {
		_, err := Decode("x", []byte(test.wire), test.n)
		require.ErrorContains(t, err, test.want)
		require.Equal(t, status.Invalid, status.CodeOf(err))
	}
}

// A wire form has a string as often as it occurs, however little memory its one copy takes.
func TestWireFormIsBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	_, err := Encode(slices.Repeat([]string{long}, 2048))
	require.EqualError(t, err, "[string] the first 2048 of 2048 strings of a tensor take 2147491840 bytes; want at most 2147483647")
	require.Equal(t, status.OutOfMemory, status.CodeOf(err))
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00a\x00\x00\x00\x00"), int64(2))
	f.Fuzz(func(t *testing.T, wire []byte, n int64) {
		if n < 0 {
			return
		}
		list, err := Decode("x", wire, n)
		if err != nil {
			return
		}
		again, err := Encode(list)
		require.NoError(t, err)
		require.Equal(t, string(wire), string(again))
	})
}

// What is kept has each string once, and no part of what it was cut from.
func TestOwn(t *testing.T) {
	x, whole := New(nil), fmt.Sprint("a long", " text")
	a, err := x.ID(whole[:1])
	require.NoError(t, err)
	b, err := x.ID(whole[2:4])
	require.NoError(t, err)
	own, at, err := x.Own([]int64{a, b, 0, a})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "lo", ""}, own)
	require.Equal(t, []int64{0, 1, 2, 0}, at)
	require.NotSame(t, unsafe.StringData(whole), unsafe.StringData(own[0]))
	own, at, err = x.Own(nil)
	require.NoError(t, err)
	require.NotNil(t, own, "it is a list of strings")
	require.Empty(t, at)
	_, _, err = x.Own([]int64{9})
	require.Equal(t, status.Invalid, status.CodeOf(err))
}

// TestLongestWire: a string that a tensor has many times is refused before its copies take memory.
func TestLongestWire(t *testing.T) {
	list := slices.Repeat([]string{strings.Repeat("a", 1<<20)}, 1<<11)
	_, err := Encode(list)
	require.EqualError(t, err, "[string] the first 2048 of 2048 strings of a tensor take 2147491840 bytes; want at most 2147483647")
	require.Equal(t, status.OutOfMemory, status.CodeOf(err))
}
