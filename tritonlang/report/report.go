// Package report reads what a running kernel reports: values that tl.device_print printed, and the first condition
// of tl.device_assert that did not hold.
//
// The places in a program that may report are its sites, which the compiler numbers and describes in the metadata. A
// kernel with sites has one more argument behind the others, 32-bit words that are zero before it runs:
//
//	word 0     how many words records take; it may count more than there is room for
//	word 1     1 if a condition did not hold
//	words 2-8  the record of that condition
//	words 9-   records of printed values
//	the last 4 what the kernel gets instead of memory that it must not access
//
// A record has seven words: the site with the operand's number in the upper half, the three program ids, the index
// of the element in row-major order, and the lower and upper half of the value's bits.
//
// # Addresses
//
// A site of kind address is an access through a pointer that the program has made from an integer: an address of the CPU,
// as data_ptr() gives it. A kernel with such sites has another argument in front of the words, the table of tensors that it
// may reach in this way. It consists of 64-bit words, three for each row. The first row begins with the number of the
// others. These are in ascending order, have no byte in common, and hold
//
//	word 0   the address of a tensor's memory, as the CPU sees it
//	word 1   its bytes
//	word 2   its address as the GPU sees it
//
// The GPU must be able to access all of this memory while the kernel runs (residency), although it is not bound.
//
// The value in the record of such a site is the address that is in no tensor.
//
// The package imports nothing of the compiler, so that code that launches kernels need not either.
package report

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/jsontext"
)

const (
	// Words is the size of the argument.
	Words = 1 << 16
	// Record is the size of a record, in words.
	Record = 7
	// Failed is where the record of a condition lies.
	Failed = 2
	// First is where records of printed values begin.
	First = Failed + Record
	// Address is the kind of a site that accesses memory by an address of the CPU.
	Address = "address"
)

// Site is a place that may report.
type Site struct {
	Kind  string   // assert, print or address
	Text  string   // the message, or what stands in front of values
	Where string   // file.py:line
	Hex   bool     // integers are printed as such
	Types []string // of the operands, as Triton's signatures have them: i32, u8, fp32
	Shape []int    // of the operands; none of scalars
}

// Sites are all of a kernel, in the order of their numbers.
type Sites []Site

// Append appends sites as the metadata has them: a list of objects, in which what is absent has no member.
func (s Sites) Append(to []byte) []byte {
	made := make([]any, len(s))
	for i := range s {
		p := &s[i]
		made[i] = jsontext.Make("kind", p.Kind).With("text", p.Text).And("where", p.Where).With("hex", p.Hex).
			With("types", jsontext.List(p.Types)).With("shape", jsontext.List(p.Shape))
	}
	return jsontext.Append(to, made)
}

// Parse reads sites as the metadata has them.
func Parse(text []byte) (s Sites, err error) {
	all, err := jsontext.Read(text)
	if err == nil {
		err = all.Each(func(v jsontext.Value) error {
			s = append(s, Site{})
			p := &s[len(s)-1]
			return jsontext.Fields{
				"kind": &p.Kind, "text": &p.Text, "where": &p.Where, "hex": &p.Hex, "types": &p.Types, "shape": &p.Shape,
			}.Read(v)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("reports: %w", err)
	}
	return s, nil
}

// FindsAddresses reports whether the kernel has the table of tensors.
func (s Sites) FindsAddresses() bool {
	for i := range s {
		if s[i].Kind == Address {
			return true
		}
	}
	return false
}

// Read is what a kernel has printed, a line for each value, and what it says of a condition that did not hold; "" for
// nothing. Records of one program keep their order, and programs follow each other by number. Records that name no site are
// left out: a kernel that writes beyond its tensors may have made them.
func (s Sites) Read(words []uint32) (printed, failed string) {
	if len(words) < First {
		return "", ""
	}
	if r := words[Failed:First]; words[1] != 0 && int(r[0]) < len(s) {
		site := s[r[0]]
		what := "device_assert: " + site.Text
		if site.Kind == Address {
			what = fmt.Sprintf("address 0x%x is in no tensor of this device", uint64(r[5])|uint64(r[6])<<32)
		}
		failed = fmt.Sprintf("%s at %s, program (%d, %d, %d)%s", what, site.Where, r[1], r[2], r[3], index(site.Shape, r[4], ", element "))
	}
	var records [][]uint32
	end := min(uint64(len(words)), First+uint64(words[0]))
	for at := uint64(First); at+Record <= end; at += Record {
		records = append(records, words[at:at+Record])
	}
	sort.SliceStable(records, func(i, j int) bool {
		a, b := records[i], records[j]
		return slices.Compare([]uint32{a[3], a[2], a[1]}, []uint32{b[3], b[2], b[1]}) < 0
	})
	var out strings.Builder
	for _, r := range records {
		s.line(&out, r)
	}
	if lost := (First + uint64(words[0]) - end) / Record; lost > 0 {
		fmt.Fprintf(&out, "device_print: %d more values, for which there was no room\n", lost)
	}
	return out.String(), failed
}

// line writes a printed value as Triton does on other GPUs.
func (s Sites) line(out *strings.Builder, r []uint32) {
	site, operand := int(r[0]&0xffff), int(r[0]>>16)
	if site >= len(s) || operand > 0 && operand >= len(s[site].Types) {
		return
	}
	p := &s[site]
	fmt.Fprintf(out, "pid (%d, %d, %d) idx (%s)%s", r[1], r[2], r[3], index(p.Shape, r[4], ""), p.Text)
	if len(p.Types) > 1 {
		fmt.Fprintf(out, "(operand %d) ", operand)
	}
	if len(p.Types) > 0 {
		out.WriteString(value(p.Types[operand], p.Hex, uint64(r[5])|uint64(r[6])<<32))
	}
	out.WriteByte('\n')
}

// index are the coordinates of an element, each as wide as the largest; "" for a scalar.
func index(shape []int, element uint32, before string) string {
	at := make([]string, len(shape))
	rest := int(element)
	for i := len(shape) - 1; i >= 0; i-- {
		n := max(shape[i], 1)
		at[i] = fmt.Sprintf("%*d", len(fmt.Sprint(n-1)), rest%n)
		rest /= n
	}
	if len(at) == 0 {
		return ""
	}
	return before + strings.Join(at, ", ")
}

// value is the text of a value from its bits. Floats of fewer bits come as float32.
func value(kind string, hex bool, bits uint64) string {
	size, _ := strconv.Atoi(strings.TrimLeft(kind, "iufp"))
	switch {
	case hex:
		return fmt.Sprintf("0x%0*x", max(size/4, 1), bits&(1<<max(size, 1)-1))
	case strings.HasPrefix(kind, "fp"), kind == "bf16":
		return fmt.Sprintf("%f", math.Float32frombits(uint32(bits)))
	case strings.HasPrefix(kind, "u"):
		return fmt.Sprint(bits)
	}
	return fmt.Sprint(int64(bits))
}
