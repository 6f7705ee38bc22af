// Calls. A body of one block is put in the place of its call. A body of several, which returns early, splits the block of
// its call where blocks may be split; within loops and conditions its call stays, and the compiler emits the body there.

package clean

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// mostOps bounds what calls of calls can grow to.
const mostOps = 400_000

// inliner replaces calls.
//
// A function is completed, its own calls replaced, before a copy of it is made: so each body is gone through once, however
// often it is called.
type inliner struct {
	module *ttir.Module
	// Functions whose own calls are replaced.
	done map[*ttir.Func]bool
	// Functions that a call is left of.
	called map[*ttir.Func]bool
	count  int
}

// function replaces the calls of a function; around are the functions that have called it.
func (in *inliner) function(f *ttir.Func, around []*ttir.Func) {
	if in.done[f] {
		return
	}
	// Results of calls are replaced at the end, all at once.
	s := substitution{}
	in.region(f.Body, true, append(around, f), s)
	f.Body.Walk(s.operands)
	in.done[f] = true
}

// region replaces the calls of a region; split says whether its blocks may be split.
func (in *inliner) region(r *ttir.Region, split bool, around []*ttir.Func, s substitution) {
	for i := 0; i < len(r.Blocks); i++ {
		if blocks := in.block(r.Blocks[i], split, around, s); blocks != nil {
			r.Blocks = slices.Insert(r.Blocks, i+1, blocks...)
			i += len(blocks) - 1 // the last one has what followed the call, and is next
		}
	}
}

// block replaces the calls of a block. It answers the blocks that follow it if a call has split it, else nil.
func (in *inliner) block(b *ttir.Block, split bool, around []*ttir.Func, s substitution) []*ttir.Block {
	var out []*ttir.Op
	for k, o := range b.Ops {
		if o.Name != "tt.call" || len(o.Regions) > 0 {
			for _, inner := range o.Regions {
				in.region(inner, o.Name == "tt.map_elementwise", around, s)
			}
			out = append(out, o)
			continue
		}
		callee := in.callee(o, around)
		n := len(callee.Body.Blocks)
		if noinline(callee) || n > 1 && !split {
			in.leave(callee)
			out = append(out, o)
			continue
		}
		if n == 1 {
			out = append(out, in.splice(o, callee, s)...)
			continue
		}
		// What follows the call goes on in a block of its own.
		after := &ttir.Block{Ops: b.Ops[k+1:]}
		first, rest := in.blocks(o, callee, after, s)
		b.Ops = append(out, first...)
		return append(rest, after)
	}
	b.Ops = out
	return nil
}

// callee is the function of a call, with its own calls replaced.
func (in *inliner) callee(o *ttir.Op, around []*ttir.Func) *ttir.Func {
	f := in.module.Func(o.Word("callee"))
	if slices.Contains(around, f) {
		refuse(o, ttir.Recursive)
	}
	if in.count > mostOps {
		refuse(o, ttir.Grown(mostOps))
	}
	in.function(f, around)
	return f
}

// leave notes that a call of a function stays, and with it those in its body.
func (in *inliner) leave(f *ttir.Func) {
	if in.called == nil {
		in.called = map[*ttir.Func]bool{}
	}
	if in.called[f] {
		return
	}
	in.called[f] = true
	f.Body.Walk(func(o *ttir.Op) {
		if o.Name == "tt.call" && len(o.Regions) == 0 {
			in.leave(in.module.Func(o.Word("callee")))
		}
	})
}

// noinline reports whether a function asks to stay one.
func noinline(f *ttir.Func) bool {
	return slices.ContainsFunc(f.Attrs, func(a ttir.Attr) bool {
		return a.Name == "noinline" && len(a.Value.Ints) == 1 && a.Value.Ints[0] == 1
	})
}

// copied is a copy of a body whose parameters are the operands of a call, and whose locations lead through it.
func (in *inliner) copied(o *ttir.Op, f *ttir.Func, s substitution) *ttir.Region {
	body := f.Body.Clone(map[*ttir.Value]*ttir.Value{}, &in.count)
	for i, v := range body.Blocks[0].Args {
		s[v] = o.Operands[i]
	}
	// The first block has no arguments any more: they are the operands.
	body.Blocks[0].Args = nil
	body.Walk(func(c *ttir.Op) {
		if c.Loc != nil && o.Loc != nil {
			c.Loc = &ttir.Loc{Inner: c.Loc, Caller: o.Loc}
		}
	})
	return body
}

// splice is the body of a function of one block, whose results take the place of the call's.
func (in *inliner) splice(o *ttir.Op, f *ttir.Func, s substitution) []*ttir.Op {
	b := in.copied(o, f, s).Blocks[0]
	end := b.Terminator()
	for i, v := range o.Results {
		s[v] = end.Operands[i]
		rename(end.Operands[i], v.Name)
	}
	return b.Ops[:len(b.Ops)-1]
}

// rename gives a value the name that the program has for it, if it has none of its own.
func rename(v *ttir.Value, name string) {
	if len(name) > 1 && (name[1] < '0' || name[1] > '9') && v.Def != nil && len(v.Name) > 1 && v.Name[1] >= '0' && v.Name[1] <= '9' {
		v.Name = name
	}
}

// blocks are those of a function of several: the operations of its first, which go on in the block of the call, and the
// others. Each return leads to the block behind the call.
func (in *inliner) blocks(o *ttir.Op, f *ttir.Func, after *ttir.Block, s substitution) (first []*ttir.Op, rest []*ttir.Block) {
	all := in.copied(o, f, s).Blocks
	for i, v := range o.Results {
		w := &ttir.Value{Name: v.Name, Type: v.Type, Block: after, Index: i, Loc: o.Loc}
		after.Args = append(after.Args, w)
		s[v] = w
	}
	// Every return gives its values to the block behind the call.
	for _, b := range all {
		end := b.Terminator()
		if end.Name != "tt.return" {
			continue
		}
		br := ttir.New("cf.br", nil, nil)
		br.Succs, br.Loc = []ttir.Succ{{To: after, Args: end.Operands}}, end.Loc
		b.Ops[len(b.Ops)-1] = br
	}
	return all[0].Ops, all[1:]
}
