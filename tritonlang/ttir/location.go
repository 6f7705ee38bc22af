// Locations. A program's line is the innermost frame of a chain of calls that is not of Triton's library: what a person
// looks for when something is refused.

package ttir

import (
	"strconv"
	"strings"
)

// Loc is where an operation comes from. A nil Loc is unknown.
type Loc struct {
	File      string
	Line, Col int
	// Of a value, given by the program.
	Name string
	// Of a name, or the callee of a call site.
	Inner *Loc
	// Of a call site.
	Caller *Loc
	Fused  []*Loc
}

// String is the location as the text has it, without aliases.
func (l *Loc) String() string {
	switch {
	case l == nil:
		return "unknown"
	case l.Caller != nil:
		return "callsite(" + l.Inner.String() + " at " + l.Caller.String() + ")"
	case l.Fused != nil:
		all := make([]string, len(l.Fused))
		for i, f := range l.Fused {
			all[i] = f.String()
		}
		return "fused[" + strings.Join(all, ", ") + "]"
	case l.Name != "" && l.Inner != nil:
		return escape(l.Name) + "(" + l.Inner.String() + ")"
	case l.Name != "":
		return escape(l.Name)
	}
	return escape(l.File) + ":" + strconv.Itoa(l.Line) + ":" + strconv.Itoa(l.Col)
}

// Place is the file and line of a location: the innermost frame, which is the line of the operation itself.
func (l *Loc) Place() (file string, line int) {
	for l != nil {
		if l.Fused != nil {
			l = l.Fused[0]
		} else if l.Inner != nil {
			l = l.Inner
		} else {
			return l.File, l.Line
		}
	}
	return "", 0
}

// Program is the innermost frame that is not of Triton's own library.
func (l *Loc) Program() (file string, line int) {
	if l != nil && l.Caller == nil && l.Fused == nil && l.Inner != nil {
		return l.Inner.Program()
	}
	if l != nil && l.Caller != nil {
		if file, line = l.Inner.Program(); !strings.Contains(file, "triton/language/") && file != "" {
			return file, line
		}
		return l.Caller.Program()
	}
	return l.Place()
}

// Where is the line of the program as file.py:line, without folders.
func (l *Loc) Where() string {
	file, line := l.Program()
	if file == "" {
		return ""
	}
	return file[strings.LastIndexByte(file, '/')+1:] + ":" + strconv.Itoa(line)
}

// mostNested bounds what nests in the text, so that none of it can exhaust the stack.
const mostNested = 200

// loc parses what stands in loc(...), after the parenthesis.
func (p *parser) loc(depth int) *Loc {
	if depth > mostNested {
		p.fail("locations are nested too deeply")
	}
	t := p.next()
	switch {
	case t.kind == hash:
		return p.alias(t, depth)
	case t.text == "unknown":
		return nil
	case t.text == "callsite":
		p.want("(")
		inner := p.loc(depth + 1)
		p.want("at")
		l := &Loc{Inner: inner, Caller: p.loc(depth + 1)}
		p.want(")")
		// A call from an unknown place says nothing.
		if l.Caller == nil {
			return inner
		}
		return l
	case t.text == "fused":
		return p.fused(depth)
	case t.kind == str:
		return p.fileOrName(t, depth)
	}
	p.failAt(t, "a location begins with a file, a name, callsite, fused or unknown")
	return nil
}

// fused parses fused[a, b], of which the first location counts.
func (p *parser) fused(depth int) *Loc {
	if p.take("<") {
		for !p.take(">") {
			p.skip()
		}
	}
	p.want("[")
	l := &Loc{Fused: []*Loc{}}
	for !p.take("]") {
		l.Fused = append(l.Fused, p.loc(depth+1))
		if !p.take(",") {
			p.want("]")
			break
		}
	}
	if len(l.Fused) == 0 {
		return nil
	}
	return l
}

// fileOrName parses "file":line:column, "name" and "name"(location). An empty name says nothing, and neither does line 0
// of an empty file.
func (p *parser) fileOrName(t token, depth int) *Loc {
	name := p.unquote(t)
	if p.take("(") {
		inner := p.loc(depth + 1)
		p.want(")")
		if name == "" {
			return inner
		}
		return &Loc{Name: name, Inner: inner}
	}
	if !p.take(":") {
		if name == "" {
			return nil
		}
		return &Loc{Name: name}
	}
	l := &Loc{File: name, Line: p.number()}
	p.want(":")
	l.Col = p.number()
	if p.take("to") { // a range: its beginning is enough
		p.take(":")
		p.number()
		if p.take(":") {
			p.number()
		}
	}
	if l.File == "" && l.Line == 0 {
		return nil
	}
	return l
}

// alias resolves #loc4, which the text may define behind its use.
func (p *parser) alias(t token, depth int) *Loc {
	if l, ok := p.locs[t.text]; ok {
		return l
	}
	at, ok := p.aliases[t.text]
	if !ok {
		p.failAt(t, "location "+t.text+" is not defined")
	}
	// An alias may lead to itself.
	if p.locDepth++; p.locDepth > mostNested {
		p.failAt(t, "locations are nested too deeply")
	}
	// The definition is parsed where it stands, and then the text goes on here.
	back := p.at
	p.at = at
	p.want("loc")
	p.want("(")
	l := p.loc(depth + 1)
	p.want(")")
	p.at = back
	p.locDepth--
	p.locs[t.text] = l
	return l
}

// trailing parses the loc(...) that may follow an operation or argument.
func (p *parser) trailing() *Loc {
	if !p.is("loc") {
		return nil
	}
	p.at++
	p.want("(")
	l := p.loc(0)
	p.want(")")
	return l
}
