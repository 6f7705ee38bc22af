// Inlining. Triton leaves calls where a function is marked noinline or returns early. A copy of the body in each call is what
// lets layouts and known facts go through it.

package ttir

import (
	"slices"
	"strconv"
)

// Inlined is the operation that Inline puts in a call's place: its region is the function's body, whose first block's
// arguments are the operands, and whose tt.return gives the results.
const Inlined = "tt.call"

// mostInlined bounds the text that calls of calls can grow to.
const mostInlined = 200_000

// Recursive is why a function that calls itself, directly or not, is refused.
const Recursive = "functions that call themselves are not supported"

// Grown is why a call is refused with whose copies of bodies a program has more than so many operations.
func Grown(most int) string {
	return "copies of the functions that are called grow to more than " + strconv.Itoa(most) + " operations; want fewer calls within functions that are called"
}

// Inline replaces the calls of a function by the bodies of what they call, until there are none. It answers an error for a
// function that calls itself, and where the copies become too many or nest too deep.
func Inline(m *Module, f *Func) error {
	count := 0
	return inline(m, f.Body, []string{f.Name}, &count)
}

// inline goes through a region; stack are the functions around it.
func inline(m *Module, r *Region, stack []string, count *int) error {
	for _, b := range r.Blocks {
		for _, o := range b.Ops {
			if o.Name == "tt.call" && len(o.Regions) == 0 {
				name := o.Word("callee")
				callee := m.Func(name)
				// Calls of calls of calls can grow a small text beyond measure.
				why := ""
				switch *count++; {
				case slices.Contains(stack, name):
					why = Recursive
				case *count > mostInlined:
					why = Grown(mostInlined)
				case len(stack) > mostNested:
					why = "calls are nested more than " + strconv.Itoa(mostNested) + " deep"
				}
				if why != "" {
					return &Unsupported{Op: o.Name, Where: o.Where(), Why: why}
				}
				body := callee.Body.clone(map[*Value]*Value{}, count)
				body.Parent = o
				o.Regions = []*Region{body}
				if err := inline(m, body, append(stack, name), count); err != nil {
					return err
				}
				continue
			}
			for _, inner := range o.Regions {
				if err := inline(m, inner, stack, count); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Clone copies a region; values notes what each value has become, and count what the copy costs.
func (r *Region) Clone(values map[*Value]*Value, count *int) *Region { return r.clone(values, count) }

// clone copies a region; values from outside stay.
func (r *Region) clone(values map[*Value]*Value, count *int) *Region {
	out := &Region{Parent: r.Parent}
	// Blocks first, since branches may name later ones.
	blocks := map[*Block]*Block{}
	for _, b := range r.Blocks {
		c := &Block{Label: b.Label}
		for _, v := range b.Args {
			w := *v
			w.Block = c
			values[v] = &w
			c.Args = append(c.Args, &w)
		}
		blocks[b] = c
		out.Blocks = append(out.Blocks, c)
	}
	// What a copy costs counts against the limit.
	for i, b := range r.Blocks {
		for _, o := range b.Ops {
			*count++
			out.Blocks[i].Ops = append(out.Blocks[i].Ops, o.clone(values, blocks, count))
		}
	}
	return out
}

// clone copies an operation with its results and regions.
func (o *Op) clone(values map[*Value]*Value, blocks map[*Block]*Block, count *int) *Op {
	c := *o
	c.Operands = replaced(o.Operands, values)
	c.Results, c.Regions, c.Succs = nil, nil, nil
	for _, v := range o.Results {
		w := *v
		w.Def = &c
		values[v] = &w
		c.Results = append(c.Results, &w)
	}
	for _, s := range o.Succs {
		c.Succs = append(c.Succs, Succ{blocks[s.To], replaced(s.Args, values)})
	}
	for _, r := range o.Regions {
		inner := r.clone(values, count)
		inner.Parent = &c
		c.Regions = append(c.Regions, inner)
	}
	return &c
}

// replaced are values, or what they have become in a copy.
func replaced(all []*Value, values map[*Value]*Value) []*Value {
	out := make([]*Value, len(all))
	for i, v := range all {
		if out[i] = values[v]; out[i] == nil {
			out[i] = v
		}
	}
	return out
}
