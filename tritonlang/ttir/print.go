// The printer. It writes MLIR's custom form with names as they were read and locations in full, so that what it writes parses
// to the same module.

package ttir

import (
	"strconv"
	"strings"
)

// Print gives the module as text, locations in full. Parsing it gives the same module.
func Print(m *Module) string {
	p := &printer{}
	p.out.WriteString("module ")
	if len(m.Attrs) > 0 {
		p.out.WriteString("attributes ")
		p.braces(m.Attrs)
		p.out.WriteString(" ")
	}
	p.out.WriteString("{\n")
	p.indent++
	for _, f := range m.Funcs {
		p.function(f)
	}
	p.out.WriteString("}")
	p.loc(m.Loc)
	p.out.WriteString("\n")
	return p.out.String()
}

// printer writes text.
type printer struct {
	out    strings.Builder
	indent int
}

// line begins a line.
func (p *printer) line() {
	for range p.indent {
		p.out.WriteString("  ")
	}
}

// loc prints a location in full, behind a blank.
func (p *printer) loc(l *Loc) { p.out.WriteString(" loc(" + l.String() + ")") }

// quoteSymbol is @name, or @"name" where the name is not made of letters, digits, $, . and _.
func quoteSymbol(name string) string {
	if run(name, inName) == len(name) && name != "" && !digit(name[0]) {
		return "@" + name
	}
	return "@" + escape(name)
}

// escape is a string as MLIR prints it: bytes that are not printable as two hex digits.
func escape(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c < ' ' || c > '~':
			out.WriteString(`\` + strings.ToUpper(strconv.FormatUint(uint64(c)|256, 16)[1:]))
		default:
			out.WriteByte(c)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// function prints a function.
func (p *printer) function(f *Func) {
	p.line()
	p.out.WriteString("tt.func ")
	if f.Visibility != "" {
		p.out.WriteString(f.Visibility + " ")
	}
	p.out.WriteString(quoteSymbol(f.Name) + "(")
	// Each parameter has its attributes and location behind it.
	for i, v := range f.Params() {
		if i > 0 {
			p.out.WriteString(", ")
		}
		p.out.WriteString(v.Name + ": " + v.Type.String())
		if len(f.ParamAttrs[i]) > 0 {
			p.out.WriteString(" ")
			p.braces(f.ParamAttrs[i])
		}
		p.loc(v.Loc)
	}
	p.out.WriteString(")")
	if len(f.Results) > 0 {
		p.out.WriteString(" -> ")
		all := make([]string, len(f.Results))
		for i, t := range f.Results {
			all[i] = t.String()
		}
		if len(all) == 1 {
			p.out.WriteString(all[0])
		} else {
			p.out.WriteString("(" + strings.Join(all, ", ") + ")")
		}
	}
	if len(f.Attrs) > 0 {
		p.out.WriteString(" attributes ")
		p.braces(f.Attrs)
	}
	p.out.WriteString(" ")
	p.region(f.Body, false)
	p.loc(f.Loc)
	p.out.WriteString("\n")
}

// region prints { blocks }. Without a terminator that has no operands, where that is implied.
func (p *printer) region(r *Region, implied bool) {
	p.out.WriteString("{\n")
	// The first block of a function or loop has no label, since nothing branches to it.
	for _, b := range r.Blocks {
		if b.Label != "" {
			p.line()
			p.out.WriteString(b.Label)
			if len(b.Args) > 0 {
				p.out.WriteString("(")
				for i, v := range b.Args {
					if i > 0 {
						p.out.WriteString(", ")
					}
					p.out.WriteString(v.Name + ": " + v.Type.String())
					p.loc(v.Loc)
				}
				p.out.WriteString(")")
			}
			p.out.WriteString(":\n")
		}
		p.indent++
		for i, o := range b.Ops {
			// MLIR prints no yield of nothing.
			if implied && i == len(b.Ops)-1 && o.Name == "scf.yield" && len(o.Operands) == 0 {
				continue
			}
			p.op(o)
		}
		p.indent--
	}
	p.line()
	p.out.WriteString("}")
}

// op checks an operation, then its regions.
func (p *printer) op(o *Op) {
	p.line()
	switch n := len(o.Results); {
	case n == 0 || o.Results[0].Name == "":
	case o.packed:
		// All results under one name.
		p.out.WriteString(o.Results[0].Name + ":" + strconv.Itoa(n) + " = ")
	default:
		for i, v := range o.Results {
			if i > 0 {
				p.out.WriteString(", ")
			}
			p.out.WriteString(v.Name)
		}
		p.out.WriteString(" = ")
	}
	// Triton has no custom form for its operations with regions.
	if len(o.Regions) > 0 && strings.HasPrefix(o.Name, "tt.") {
		p.out.WriteString(strconv.Quote(o.Name))
	} else {
		p.out.WriteString(o.Name)
	}
	if o.row.print != nil {
		o.row.print(p, o)
	} else {
		p.printHead(o)
		o.row.sig.print(p, o)
	}
	p.loc(o.Loc)
	p.out.WriteString("\n")
}

// values prints references to values.
func (p *printer) values(all []*Value) {
	for i, v := range all {
		if i > 0 {
			p.out.WriteString(", ")
		}
		p.out.WriteString(v.Ref())
	}
}

// assignments prints what regions' arguments are at first.
func (p *printer) assignments(names, values []*Value) {
	for i, v := range names {
		if i > 0 {
			p.out.WriteString(", ")
		}
		p.out.WriteString(v.Name + " = " + values[i].Ref())
	}
}

// dict prints the attributes of an operation but for some, with a blank in front, or nothing.
func (p *printer) dict(o *Op, but map[string]bool) {
	var rest []Attr
	for _, a := range o.Attrs {
		if !but[a.Name] {
			rest = append(rest, a)
		}
	}
	if len(rest) > 0 {
		p.out.WriteString(" ")
		p.braces(rest)
	}
}

// braces prints attributes. A name that is no word is quoted.
func (p *printer) braces(all []Attr) {
	p.out.WriteString("{")
	for i, a := range all {
		if i > 0 {
			p.out.WriteString(", ")
		}
		name := a.Name
		if run(name, inName) != len(name) || name == "" || digit(name[0]) {
			name = escape(name)
		}
		p.out.WriteString(name)
		if a.Value.Text != "" {
			p.out.WriteString(" = " + a.Value.Text)
		}
	}
	p.out.WriteString("}")
}
