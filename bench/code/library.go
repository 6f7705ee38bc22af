package main

import (
	"bytes"
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// weight is what a package takes of the library, in bytes; the last two are counts. The linker shares equal tables and names among
// functions: each counts for the first function that has it.
type weight struct {
	text, pclntab, types, data, functions, relocations int
}

// relocation is the size of a relocation that is not packed.
const relocation = 24

// sum is what the package takes in a library whose relocations are not packed.
func (w *weight) sum() int { return w.text + w.pclntab + w.types + w.data + relocation*w.relocations }

func (w *weight) add(o *weight) {
	w.text += o.text
	w.pclntab += o.pclntab
	w.types += o.types
	w.data += o.data
	w.functions += o.functions
	w.relocations += o.relocations
}

// library prints the table by package of the shared library for Linux in the file at path, which has its symbols and DWARF: that of
// `./build.sh prepare lib-symbols`. Each byte of its loaded sections counts once.
func library(w io.Writer, path string) error {
	file, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	t := tally{file: file, rows: map[string]*weight{}}
	for _, step := range []func() error{t.symbols, t.runtimeTypes, t.tables, t.places} {
		if err := step(); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return t.print(w)
}

// span is a range of addresses that belongs to a package.
type span struct {
	start, end uint64
	owner      string
}

// tally adds up the weights.
type tally struct {
	file  *elf.File
	rows  map[string]*weight
	spans []span // of data, where relocations may be
	types span   // descriptors of types and their names
	base  uint64 // what offsets of types in DWARF begin at
}

func (t *tally) at(owner string) *weight {
	if t.rows[owner] == nil {
		t.rows[owner] = &weight{}
	}
	return t.rows[owner]
}

// packageOf is the import path in the name of a symbol or type, ours without the module. What Go makes is in parentheses.
func packageOf(name string) string {
	name = strings.TrimLeft(name, "*[]0123456789")
	for _, made := range []string{"type:.eq.", "go:itab.", "map.group", "map[", "noalg.", "func("} {
		if rest, is := strings.CutPrefix(name, made); is {
			return packageOf(rest)
		}
	}
	if end := strings.IndexAny(name, "[({ ,"); end >= 0 {
		name = name[:end]
	}
	slash := max(strings.LastIndexByte(name, '/'), 0)
	dot := strings.IndexByte(name[slash:], '.')
	if dot <= 0 {
		return "(no package)"
	}
	return strings.TrimPrefix(strings.ReplaceAll(name[:slash+dot], "%2e", "."), "pmps/") // as build.sh names the module
}

// symbols counts what has a symbol: functions and data.
func (t *tally) symbols() error {
	symbols, err := t.file.Symbols()
	if err != nil {
		return err
	}
	for _, s := range symbols {
		switch s.Name {
		case "runtime.types":
			t.base = s.Value
		case "type:*":
			t.types.start = s.Value
		case "go:funcdescrel":
			t.types.end = s.Value
		}
	}
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF || int(s.Section) >= len(t.file.Sections) || s.Size == 0 {
			continue
		}
		switch section := t.file.Sections[s.Section]; {
		case section.Type == elf.SHT_NOBITS || section.Name == ".gopclntab":
		case section.Flags&elf.SHF_EXECINSTR != 0:
			t.at(packageOf(s.Name)).text += int(s.Size)
		case s.Value < t.types.start || s.Value >= t.types.end:
			t.at(packageOf(s.Name)).data += int(s.Size)
			t.spans = append(t.spans, span{s.Value, s.Value + s.Size, packageOf(s.Name)})
		}
	}
	return nil
}

// runtimeTypes counts the descriptors of types, which have no symbols: DWARF has their addresses.
func (t *tally) runtimeTypes() error {
	section := t.file.Section(".data.rel.ro")
	content, err := section.Data()
	if err != nil {
		return err
	}
	info, err := t.file.DWARF()
	if err != nil {
		return err
	}
	rest := int(t.types.end - t.types.start)
	const runtimeType = dwarf.Attr(0x2904) // DW_AT_go_runtime_type
	seen := map[uint64]bool{}
	for entries := info.Reader(); ; {
		entry, err := entries.Next()
		if err != nil {
			return err
		}
		if entry == nil {
			break
		}
		offset, _ := entry.Val(runtimeType).(uint64) // 0 if the library has no descriptor of the type
		if offset == 0 || seen[offset] {
			continue
		}
		seen[offset] = true
		name, _ := entry.Val(dwarf.AttrName).(string)
		address := t.base + offset
		size := descriptor(content[address-section.Addr:])
		rest -= size
		t.at(packageOf(name)).types += size
		t.spans = append(t.spans, span{address, address + uint64(size), packageOf(name)})
	}
	t.at("(names of types)").types += rest
	return nil
}

// descriptor is the size of the descriptor of a type: internal/abi's Type, what its kind adds, and its methods.
func descriptor(text []byte) int {
	const uncommon, pointer = 1, 8
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(text[at:])) }
	u16 := func(at int) int { return int(binary.LittleEndian.Uint16(text[at:])) }
	size, behind := 48, 0
	switch text[23] & 31 {
	case 17: // an array
		size += 24
	case 18: // a channel
		size += 16
	case 19: // a function
		size += 8
		behind = pointer * (u16(48) + u16(50)&0x7fff)
	case 20: // an interface, with two offsets for each method
		size += 32
		behind = 8 * u32(64)
	case 21: // a map
		size += 56
	case 22, 23: // a pointer, a slice
		size += pointer
	case 25: // a struct, with name, type and offset of each field
		size += 32
		behind = 24 * u32(64)
	}
	if text[20]&uncommon != 0 {
		behind += 16 * u16(size+4)
		size += 16
	}
	return size + behind
}

// tables counts the tables of pclntab, which runtime/symtab.go and runtime2.go describe: names, lines, frames and pointer maps of
// functions.
func (t *tally) tables() error {
	section := t.file.Section(".gopclntab")
	content, err := section.Data()
	if err != nil {
		return err
	}
	u32 := func(text []byte, i int) uint32 { return binary.LittleEndian.Uint32(text[4*i:]) }
	header := func(i int) int { return int(binary.LittleEndian.Uint64(content[8+8*i:])) }
	names, pctab, functions := content[header(3):], content[header(6):], content[header(7):]
	funcdata := map[uint32]string{} // by offset, the first function that has it
	counted := map[[2]uint32]bool{} // names and tables
	first := func(kind, at uint32) bool {
		is := !counted[[2]uint32{kind, at}]
		counted[[2]uint32{kind, at}] = true
		return is
	}
	for i := range header(0) {
		const fixed = 11 // words of runtime._func
		f := functions[u32(functions, 2*i+1):]
		nameAt := u32(f, 1)
		name := names[nameAt:]
		name = name[:bytes.IndexByte(name, 0)]
		owner := packageOf(string(name))
		w := t.at(owner)
		w.functions++
		lists, data := int(u32(f, 7)), int(f[4*fixed-1])
		w.pclntab += 8 + (4*(fixed+lists+data)+7)&^7
		if first(0, nameAt) {
			w.pclntab += len(name) + 1
		}
		for _, word := range append([]int{4, 5, 6}, indices(fixed, lists)...) {
			if at := u32(f, word); at != 0 && first(1, at) {
				w.pclntab += tableSize(pctab[at:])
			}
		}
		for _, word := range indices(fixed+lists, data) {
			if at := u32(f, word); at != ^uint32(0) && funcdata[at] == "" {
				funcdata[at] = owner
			}
		}
	}
	offsets := slices.Sorted(maps.Keys(funcdata))
	for i, at := range offsets[:max(len(offsets)-1, 0)] {
		t.at(funcdata[at]).pclntab += int(offsets[i+1] - at)
	}
	return nil
}

// indices are n numbers from first on.
func indices(first, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = first + i
	}
	return list
}

// tableSize is the length of a table of pairs of varints, which a value of 0 ends, but for the first.
func tableSize(table []byte) (n int) {
	for {
		value, length := binary.Uvarint(table[n:])
		if value == 0 && n > 0 {
			return n + length
		}
		n += length
		_, length = binary.Uvarint(table[n:])
		n += length
	}
}

// places counts relocations by the data that they are in.
func (t *tally) places() error {
	slices.SortFunc(t.spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	list, err := t.file.Section(".rela.dyn").Data()
	if err != nil {
		return err
	}
	for ; len(list) >= relocation; list = list[relocation:] {
		at := binary.LittleEndian.Uint64(list)
		i, found := slices.BinarySearchFunc(t.spans, at, func(s span, at uint64) int { return cmp.Compare(s.start, at) })
		if !found {
			i--
		}
		owner := "(other)"
		if i >= 0 && at < t.spans[i].end {
			owner = t.spans[i].owner
		}
		t.at(owner).relocations++
	}
	return nil
}

// print writes the rows, the largest first, then what belongs to no package, and the sum of all sections that are loaded.
func (t *tally) print(w io.Writer) error {
	total := 0
	for _, section := range t.file.Sections {
		if section.Flags&elf.SHF_ALLOC != 0 && section.Type != elf.SHT_NOBITS {
			total += int(section.Size)
		}
	}
	counted := &weight{}
	for _, row := range t.rows {
		counted.add(row)
	}
	t.at("(strings, shared tables)").data += total - counted.sum()
	counted.data += total - counted.sum()
	p := printer{w: w}
	line := func(name string, v *weight) {
		p.line("%-42s%10d%10d%10d%10d%10d%8d%8d\n", name, v.sum(), v.text, v.pclntab, v.types, v.data, v.functions, v.relocations)
	}
	p.line("%-42s%10s%10s%10s%10s%10s%8s%8s\n", "bytes; numbers of functions, relocations", "sum", "text", "pclntab", "types", "data", "funcs", "relocs")
	names := slices.SortedFunc(maps.Keys(t.rows), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.rows[b].sum(), t.rows[a].sum()), cmp.Compare(a, b))
	})
	line("all", counted)
	for _, name := range names {
		line(name, t.rows[name])
	}
	return p.err
}

// prepareLibrary builds the library with its symbols, and names the file.
func prepareLibrary() (string, error) {
	if err := os.MkdirAll("build", 0o755); err != nil {
		return "", err
	}
	text, err := command("./build.sh", "prepare", "lib-symbols")
	return strings.TrimSpace(string(text)), err
}
