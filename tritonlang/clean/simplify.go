// The driver of what makes a function smaller: rounds of folding and common subexpressions, of loops, and of what is dead,
// until nothing changes.

package clean

import (
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// mostRounds bounds the rounds. Each makes the function smaller or moves an operation outwards, so that a few are enough.
const mostRounds = 12

// simplify works on one function.
func simplify(f *ttir.Func) {
	for range mostRounds {
		// What a fold may do depends on how often a value is used, which each round counts anew.
		p := &pass{f: f, sub: substitution{}}
		p.countUses()
		p.flow(f.Body)
		p.region(f.Body, nil)
		f.Body.Walk(p.sub.operands)
		p.hoist(f.Body)
		p.changed = p.sweep(f.Body) || p.changed
		if !p.changed {
			return
		}
	}
}

// pass is one round over a function.
type pass struct {
	f       *ttir.Func
	sub     substitution
	uses    map[*ttir.Value]int
	changed bool
	// Operations that a fold has made, which go in front of the one that is folded.
	made []*ttir.Op
	loc  *ttir.Loc
}

// countUses counts how often each value is used.
func (p *pass) countUses() {
	p.uses = map[*ttir.Value]int{}
	p.f.Body.Walk(func(o *ttir.Op) {
		for _, v := range o.Operands {
			p.uses[v]++
		}
		for _, s := range o.Succs {
			for _, v := range s.Args {
				p.uses[v]++
			}
		}
	})
}

// scope has the operations that were computed before, by what they compute. Inner regions see outer scopes.
//
// The key of an operation is its name, the identities of its operands, its attributes and the types of its results: see keyOf.
type scope struct {
	outer *scope
	known map[string]*ttir.Op
}

func (s *scope) find(key string) *ttir.Op {
	for ; s != nil; s = s.outer {
		if o := s.known[key]; o != nil {
			return o
		}
	}
	return nil
}

// region folds the operations of a region. What the first block computes is known in all others, which it leads to.
func (p *pass) region(r *ttir.Region, outer *scope) {
	first := &scope{outer, map[string]*ttir.Op{}}
	// Other blocks know what the first has, and keep what they compute to themselves.
	for i, b := range r.Blocks {
		s := first
		if i > 0 {
			s = &scope{first, map[string]*ttir.Op{}}
		}
		p.block(b, s)
	}
}

// block folds the operations of a block.
func (p *pass) block(b *ttir.Block, s *scope) {
	var out []*ttir.Op
	// What a fold makes is put in front of the queue.
	queue := append([]*ttir.Op{}, b.Ops...)
	for len(queue) > 0 {
		o := queue[0]
		queue = queue[1:]
		p.sub.operands(o)
		p.made, p.loc = nil, o.Loc
		// What a fold has made comes first, and may fold in turn.
		if with, ok := p.fold(o); ok {
			queue = append(slices.Clone(p.made), queue...)
			p.replace(o, with)
			continue
		}
		// The same operation on the same values is computed once.
		if pure(o) && len(o.Regions) == 0 {
			key := keyOf(o)
			if same := s.find(key); same != nil {
				p.replace(o, same.Results)
				continue
			}
			s.known[key] = o
		}
		for _, inner := range o.Regions {
			// What combines or maps elements is emitted apart: it uses nothing from outside.
			if strings.HasPrefix(o.Name, "tt.") {
				p.region(inner, nil)
			} else {
				p.region(inner, s)
			}
		}
		out = append(out, o)
	}
	b.Ops = out
}

// replace notes that results are other values.
func (p *pass) replace(o *ttir.Op, with []*ttir.Value) {
	p.changed = true
	for i, v := range o.Results {
		rename(with[i], v.Name)
		p.sub[v] = with[i]
	}
}

// make appends an operation to those that go in front of the one that is folded, and answers its result.
func (p *pass) make(name string, operands []*ttir.Value, t *ttir.Type, attrs ...ttir.Attr) *ttir.Value {
	o := ttir.New(name, operands, []*ttir.Type{t}, attrs...)
	o.Loc = p.loc
	p.made = append(p.made, o)
	o.Results[0].Name = "%0"
	return o.Results[0]
}

// keyOf tells operations apart by what they compute.
func keyOf(o *ttir.Op) string {
	var s strings.Builder
	s.WriteString(o.Name)
	for _, v := range o.Operands {
		s.WriteByte(' ')
		s.WriteString(address(v))
	}
	for _, a := range o.Attrs {
		s.WriteString(" " + a.Name + "=" + a.Value.Text)
	}
	for _, v := range o.Results {
		s.WriteString(" " + v.Type.String())
	}
	return s.String()
}
