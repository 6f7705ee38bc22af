package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// words are those of a kernel that has written some records.
func words(records ...[Record]uint32) []uint32 {
	w := make([]uint32, Words)
	for _, r := range records {
		copy(w[First+w[0]:], r[:])
		w[0] += Record
	}
	return w
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		kind string
		hex  bool
		bits uint64
		want string
	}{
		{"i32", false, ^uint64(2), "-3"},
		{"u8", false, 200, "200"},
		{"i1", false, 1, "1"},
		{"fp32", false, 0x3fc00000, "1.500000"},
		{"bf16", false, 0x3fc00000, "1.500000"},
		{"i8", true, ^uint64(0), "0xff"},
		{"i64", true, ^uint64(0), "0xffffffffffffffff"},
		{"i1", true, 1, "0x1"},
	} {
		require.Equal(t, c.want, value(c.kind, c.hex, c.bits), c.kind)
	}
}

func TestLines(t *testing.T) {
	s, err := Parse([]byte(`[{"kind":"print","text":" x: ","where":"k.py:3","types":["i32","fp32"],"shape":[4,16]},{"kind":"print","text":" here"}]`))
	require.NoError(t, err)
	printed, failed := s.Read(words(
		[Record]uint32{1, 0, 1, 0}, [Record]uint32{0, 2, 0, 0, 19, 7}, [Record]uint32{9},
		[Record]uint32{0, 2, 0, 0, 1, 8},
	))
	require.Empty(t, failed)
	require.Equal(t, "pid (2, 0, 0) idx (1,  3) x: (operand 0) 7\npid (2, 0, 0) idx (0,  1) x: (operand 0) 8\npid (0, 1, 0) idx () here\n", printed)
	// Site 0 with operand 1; site 1 has no operand 1.
	printed, _ = s.Read(words([Record]uint32{1 << 16, 0, 0, 0, 63, 0x40000000}, [Record]uint32{1<<16 | 1}))
	require.Equal(t, "pid (0, 0, 0) idx (3, 15) x: (operand 1) 2.000000\n", printed)
}

func TestFailure(t *testing.T) {
	s := Sites{{Kind: "print"}, {Kind: "assert", Text: "x is negative", Where: "k.py:7", Shape: []int{8}}}
	w := words()
	w[1] = 1
	copy(w[Failed:], []uint32{1, 3, 4, 5, 6})
	_, failed := s.Read(w)
	require.Equal(t, "device_assert: x is negative at k.py:7, program (3, 4, 5), element 6", failed)
	s[1] = Site{Kind: Address, Where: "k.py:9"}
	require.True(t, s.FindsAddresses())
	require.False(t, s[:1].FindsAddresses())
	copy(w[Failed:], []uint32{1, 3, 4, 5, 0, 0x1000, 0x7f})
	_, failed = s.Read(w)
	require.Equal(t, "address 0x7f00001000 is in no tensor of this device at k.py:9, program (3, 4, 5)", failed)
	w[Failed] = 2
	_, failed = s.Read(w)
	require.Empty(t, failed, "no such site")
}

// TestAnything: a kernel that writes beyond its tensors may leave anything in the words.
func TestAnything(t *testing.T) {
	s := Sites{{Kind: "print", Types: []string{"i32"}, Shape: []int{1, 3}}, {Kind: "assert"}}
	w := make([]uint32, Words)
	for i := range w {
		w[i] = uint32(i * 2654435761)
	}
	_, _ = s.Read(w)
	for _, n := range []uint32{0, 1, Record - 1, Words, ^uint32(0)} {
		w[0] = n
		printed, _ := s.Read(w)
		require.Equal(t, n >= Words-First, strings.Contains(printed, "more values"), n)
	}
	_, err := Parse([]byte("{"))
	require.Error(t, err)
	printed, failed := s.Read(nil)
	require.Empty(t, printed+failed)
}
