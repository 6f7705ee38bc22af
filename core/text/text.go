// Package text gives the strings of a run numbers. A tensor of strings is a tensor of int64 with these numbers, so that every
// operator that moves or compares elements, such as a reshape, a gather, a concatenation or an equality, works on strings without
// a kernel of its own. Only operators that look into strings read a [Table].
//
// The invariant: within a run, two strings have the same number if and only if they are equal. The number of the empty string
// is 0, so that an operator that makes zeros makes empty strings. The strings of a model have negative numbers, which all runs
// share, and may be constants of a compiled graph; those that a run adds have positive ones, which mean nothing to another run.
//
// The package does not know tensors. A string is any bytes to it; [Decode] requires UTF-8.
package text

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// Model is the strings of a model: those that its file has. It is complete before the first run, and only read from then on.
type Model struct {
	ids  map[string]int64
	list []string // number -1-i is list[i]
}

// Add returns the number of a string, a new one where the model does not have it yet. It must not be called once there are runs.
func (m *Model) Add(s string) int64 {
	if id, ok := m.ID(s); ok {
		return id
	}
	if m.ids == nil {
		m.ids = map[string]int64{}
	}
	m.list = append(m.list, s)
	id := -int64(len(m.list))
	m.ids[s] = id
	return id
}

// ID is the number of a string of the model; false where it has no such string. A nil model has the empty string alone.
func (m *Model) ID(s string) (id int64, ok bool) {
	if s == "" || m == nil {
		return 0, s == ""
	}
	id, ok = m.ids[s]
	return id, ok
}

// Len is how many strings the model has besides the empty one: their numbers are -1 to -Len.
func (m *Model) Len() int64 {
	if m == nil {
		return 0
	}
	return int64(len(m.list))
}

// mostBytes is how much memory the strings of a run take at most. A model can make strings much longer than its inputs are, as by
// joining a string with itself in a loop, and a Go program that runs out of memory ends.
const mostBytes = 1 << 30

// overhead is about what a string takes in a table besides its bytes.
const overhead = 64

// Table is the strings of a run. One goroutine at a time may use it. Nothing else keeps it, so that its memory is free after the
// run.
type Table struct {
	model *Model
	ids   map[string]int64
	list  []string // number i is list[i]
	bytes int
}

// New is a table for a run of a model, which may be nil.
func New(m *Model) *Table {
	return &Table{model: m, ids: map[string]int64{}, list: []string{""}}
}

// ID is the number of a string, a new one where the run does not have it yet. The table keeps s.
func (t *Table) ID(s string) (int64, error) {
	if id, ok := t.model.ID(s); ok {
		return id, nil
	}
	if id, ok := t.ids[s]; ok {
		return id, nil
	}
	if err := t.Room(len(s)); err != nil {
		return 0, err
	}
	t.bytes += len(s) + overhead
	id := int64(len(t.list))
	t.list, t.ids[s] = append(t.list, s), id
	return id, nil
}

// Room refuses a string of so many bytes that the table has no memory for. Callers ask before they make a string that may be much
// longer than those it is made of.
func (t *Table) Room(bytes int) error {
	if bytes > mostBytes-overhead-t.bytes {
		return status.Errorf(status.OutOfMemory, "[string] the strings of a run take more than %d bytes; want fewer or shorter ones", mostBytes)
	}
	return nil
}

// Text is the string with a number. A number of none is an error: a program outside has written into a tensor of strings.
func (t *Table) Text(id int64) (string, error) {
	switch {
	case id >= 0 && id < int64(len(t.list)):
		return t.list[id], nil
	case id < 0 && id >= -t.model.Len():
		return t.model.list[-1-id], nil
	}
	return "", status.Errorf(status.Invalid, "[string] an element is %d, which is the number of no string of this run", id)
}

// Texts are the strings with these numbers.
func (t *Table) Texts(ids []int64) ([]string, error) {
	list := make([]string, len(ids))
	for i, id := range ids {
		s, err := t.Text(id)
		if err != nil {
			return nil, err
		}
		list[i] = s
	}
	return list, nil
}

// Own are copies of the strings with these numbers, each of them once, however often it occurs: a string of the table may be a part of
// a much longer one, which its copy does not keep. at is where each of the ids is in the list.
func (t *Table) Own(ids []int64) (own []string, at []int64, err error) {
	places, at, own := map[int64]int64{}, make([]int64, len(ids)), []string{}
	for i, id := range ids {
		place, ok := places[id]
		if !ok {
			s, err := t.Text(id)
			if err != nil {
				return nil, nil, err
			}
			place = int64(len(own))
			own, places[id] = append(own, strings.Clone(s)), place
		}
		at[i] = place
	}
	return own, at, nil
}

// The wire form of strings is that of BYTES in the protocol of Triton Inference Server: for each element its length in bytes, in
// 4 bytes, little-endian, and then the bytes.

// prefix is the bytes of a length.
const prefix = 4

// Decode are the n strings of a wire form, in one copy of it.
func Decode(who string, wire []byte, n int64) ([]string, error) {
	if n > int64(len(wire))/prefix { // before anything is made for n
		return nil, status.Errorf(status.Invalid, "[%s] got %d bytes; want at least %d for each of %d strings: a length and the bytes", who, len(wire), prefix, n)
	}
	list, all, at := make([]string, 0, n), string(wire), 0
	for i := range n {
		if len(all)-at < prefix {
			return nil, status.Errorf(status.Invalid, "[%s] string %d begins at byte %d of %d; want %d bytes for its length", who, i, at, len(all), prefix)
		}
		size := int64(binary.LittleEndian.Uint32(wire[at:]))
		at += prefix
		if size > int64(len(all)-at) {
			return nil, status.Errorf(status.Invalid, "[%s] string %d has %d bytes from byte %d on; want no more than the %d that follow", who, i, size, at, len(all)-at)
		}
		s := all[at:][:size]
		if !utf8.ValidString(s) {
			return nil, status.Errorf(status.Invalid, "[%s] string %d is not UTF-8", who, i)
		}
		list, at = append(list, s), at+int(size)
	}
	if at != len(all) {
		return nil, status.Errorf(status.Invalid, "[%s] %d strings end at byte %d of %d; want nothing behind them", who, n, at, len(all))
	}
	return list, nil
}

// mostWire is how many bytes a wire form has at most. A tensor has each of its strings once in memory, and a model may repeat a long
// one many times.
const mostWire = 1 << 32

// Encode is the wire form of strings.
func Encode(list []string) ([]byte, error) {
	size := 0
	for i, s := range list {
		if len(s) > math.MaxUint32 {
			return nil, status.Errorf(status.Unsupported, "[string] element %d has %d bytes; want at most %d", i, len(s), math.MaxUint32)
		}
		if size += prefix + len(s); size > mostWire {
			return nil, status.Errorf(status.OutOfMemory, "[string] the strings take more than %d bytes, each as often as it occurs; want a part of the tensor at a time", mostWire)
		}
	}
	wire := make([]byte, 0, size)
	for _, s := range list {
		wire = append(binary.LittleEndian.AppendUint32(wire, uint32(len(s))), s...)
	}
	return wire, nil
}
