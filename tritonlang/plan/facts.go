// What is known of integers and pointers: how many elements follow each other in memory, what divides them, and how many
// are equal. This decides which layouts suit an access, and whether it may take 16 bytes at once.
//
// The analysis is Triton's own, AxisInfo: rules for each operation, run until loops change nothing. A rule that is missing
// means that nothing is known, so that accesses are narrow but right.
//
//	%r = tt.make_range {0, 1024}                contig 1024, div 2^30
//	%b = arith.muli %pid, %c1024                div 1024
//	%o = arith.addi (splat %b), %r              contig 1024, div 1024
//	%p = tt.addptr (splat %x), %o               contig 1024, div 16 if x is promised to be a multiple of 16 bytes
//
// so that 4 floats may be loaded at once. With a mask `%o < splat %n` the facts of the comparison say whether all 4 elements
// have one answer, which they have if n is a multiple of 4.

package plan

import (
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// fact is what is known of a tensor of integers or pointers along each dimension; of a scalar, along one of size 1.
//
// Along a dimension values come in runs: Contiguous says how many follow each other by steps of 1, beginning at multiples of
// that; Equal how many are equal; Divisor what divides the first of each run (of pointers: in bytes). All are powers of two.
type fact struct {
	Contiguous, Equal, Divisor []int
	// The value, where all elements are equal and it is constant.
	Known *int64
	// No element is negative, as signed numbers are read, if nothing overflows.
	natural bool
}

// mostDiv stands for "divisible by everything".
const mostDiv = 1 << 30

// blank is the fact that nothing is known.
func blank(t *ttir.Type) fact {
	n := max(1, len(t.Shape))
	return fact{Contiguous: ones(n), Equal: ones(n), Divisor: ones(n)}
}

// ones is a list of n times 1.
func ones(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = 1
	}
	return all
}

// size is a dimension's size; 1 for a scalar.
func size(t *ttir.Type, d int) int {
	if d < len(t.Shape) {
		return t.Shape[d]
	}
	return 1
}

// power is the largest power of two that divides a number.
func power(n int64) int {
	if n == 0 {
		return mostDiv
	}
	return int(min(n&-n, mostDiv))
}

// every is what divides all elements along a dimension, not only the first of each run.
func (f fact) every(d int) int {
	for _, c := range f.Contiguous {
		if c > 1 {
			return 1
		}
	}
	return f.Divisor[d]
}

// facts analyses a function's integers and pointers. Values that a loop carries begin with what is known before the loop,
// and are weakened by what the loop yields until nothing changes.
type facts struct {
	of      map[*ttir.Value]fact
	changed bool
}

// analyse finds the facts of a function. It ends, because facts of what loops carry only weaken.
func analyse(f *ttir.Func) *facts {
	a := &facts{of: map[*ttir.Value]fact{}}
	// A parameter is known by its attribute alone: Triton puts it on pointers and integers that are
	// multiples of 16.
	for i, v := range f.Params() {
		k := blank(v.Type)
		for _, attr := range f.ParamAttrs[i] {
			if attr.Name == "tt.divisibility" && len(attr.Value.Ints) == 1 {
				k.Divisor[0] = power(attr.Value.Ints[0])
			}
		}
		a.of[v] = k
	}
	// The first round takes what is known before a loop for what it carries, which is too much; later
	// rounds weaken it.
	for a.changed = true; a.changed; {
		a.changed = false
		a.region(f.Body)
	}
	return a
}

// Of is what is known of a value so far.
func (a *facts) Of(v *ttir.Value) fact {
	if k, ok := a.of[v]; ok {
		return k
	}
	return blank(v.Type)
}

// region goes through the operations of a region, in the order of the text.
func (a *facts) region(r *ttir.Region) {
	for _, b := range r.Blocks {
		for _, o := range b.Ops {
			a.op(o)
		}
	}
}

// op computes the facts of an operation's results, and goes into its regions.
func (a *facts) op(o *ttir.Op) {
	switch o.Name {
	case "scf.for":
		b := o.Regions[0].Blocks[0]
		i := blank(b.Args[0].Type)
		// The induction variable goes from the lower bound by steps: what divides both divides it.
		i.Divisor[0] = min(a.Of(o.Operands[0]).Divisor[0], a.Of(o.Operands[2]).Divisor[0])
		i.natural = a.Of(o.Operands[0]).natural
		a.of[b.Args[0]] = i
		a.carry(b.Args[1:], o.Operands[3:])
		a.region(o.Regions[0])
		a.carry(b.Args[1:], b.Terminator().Operands)
		a.carry(o.Results, o.Operands[3:])
		a.carry(o.Results, b.Terminator().Operands)
		return
	case "scf.if":
		for _, r := range o.Regions {
			a.region(r)
			a.carry(o.Results, r.Blocks[0].Terminator().Operands)
		}
		return
	case ttir.Inlined:
		a.carry(o.Regions[0].Blocks[0].Args, o.Operands)
	case "tt.reduce", "tt.scan", "tt.map_elementwise":
		return
	case "llvm.intr.assume":
		a.assume(o.Operands[0].Def)
		return
	}
	for _, r := range o.Regions {
		a.region(r)
	}
	// Without a rule nothing is known, which is always right.
	rule := factRules[o.Name]
	if rule == nil || len(o.Results) != 1 {
		return
	}
	k := rule(a, o)
	a.hint(o, &k)
	a.of[o.Results[0]] = k
}

// assume notes that a number is not negative, if that is what the program promises.
func (a *facts) assume(o *ttir.Op) {
	if o == nil || o.Name != "arith.cmpi" {
		return
	}
	x, y := o.Operands[0], a.Of(o.Operands[1])
	if least := map[string]int64{"sge": 0, "sgt": -1}; y.Known != nil {
		if n, ok := least[o.Word("predicate")]; ok && *y.Known >= n {
			k := a.Of(x)
			k.natural = true
			a.of[x] = k
		}
	}
}

// carry weakens what is known of the values that a loop or condition gives.
func (a *facts) carry(to, from []*ttir.Value) {
	for i, v := range to {
		old, seen := a.of[v]
		now := a.Of(from[i])
		// The first value is taken as it is. It is not constant, even if it was.
		if !seen {
			a.of[v] = fact{now.Contiguous, now.Equal, now.Divisor, nil, now.natural}
			a.changed = true
			continue
		}
		k := fact{least(old.Contiguous, now.Contiguous), least(old.Equal, now.Equal), least(old.Divisor, now.Divisor), nil, old.natural && now.natural}
		a.changed = a.changed || k.natural != old.natural
		for d := range k.Contiguous {
			if k.Contiguous[d] != old.Contiguous[d] || k.Equal[d] != old.Equal[d] || k.Divisor[d] != old.Divisor[d] {
				a.changed = true
			}
		}
		a.of[v] = k
	}
}

// least takes the smaller of each pair of numbers, all powers of two: what holds for both.
func least(x, y []int) []int {
	all := make([]int, len(x))
	for i := range all {
		all[i] = min(x[i], y[i])
	}
	return all
}

// hint applies tt.divisibility, tt.contiguity and tt.constancy, which the program promises.
func (a *facts) hint(o *ttir.Op, k *fact) {
	for name, list := range map[string][]int{"tt.divisibility": k.Divisor, "tt.contiguity": k.Contiguous, "tt.constancy": k.Equal} {
		v, ok := o.Attr(name)
		if !ok {
			continue
		}
		text, _, _ := strings.Cut(v.Text, " :")
		// dense<[16, 1]> : tensor<2xi32> has a number a dimension, dense<16> one for all.
		all := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
		for d := range list {
			if len(all) == 0 {
				break
			}
			if n, err := strconv.Atoi(all[min(d, len(all)-1)]); err == nil && n > 0 {
				list[d] = max(list[d], power(int64(n)))
			}
		}
	}
}

// factRules has a rule for each operation that something is known of.
var factRules = map[string]func(*facts, *ttir.Op) fact{
	// A constant is the same everywhere, and divisible by what divides it.
	"arith.constant": func(_ *facts, o *ttir.Op) fact {
		k := blank(o.Results[0].Type)
		all, _ := ttir.Literal(o)
		if len(all) == 1 && o.Results[0].Type.IsInt(0) {
			k.Known, k.natural = &all[0].Int, all[0].Int >= 0
			for d := range k.Equal {
				k.Equal[d], k.Divisor[d] = size(o.Results[0].Type, d), power(all[0].Int)
			}
		}
		return k
	},
	// One run, from a known start.
	"tt.make_range": func(_ *facts, o *ttir.Op) fact {
		return fact{[]int{o.Results[0].Type.Shape[0]}, []int{1}, []int{power(int64(o.Int("start", 0)))}, nil, o.Int("start", 0) >= 0}
	},
	// All elements are the scalar.
	"tt.splat": func(a *facts, o *ttir.Op) fact {
		k, from := blank(o.Results[0].Type), a.Of(o.Operands[0])
		for d := range k.Equal {
			k.Equal[d], k.Divisor[d] = o.Results[0].Type.Shape[d], from.Divisor[0]
		}
		k.Known, k.natural = from.Known, from.natural
		return k
	},
	// Along the new dimension there is one element.
	"tt.expand_dims": func(a *facts, o *ttir.Op) fact {
		from, axis := a.Of(o.Operands[0]), o.Int("axis", 0)
		insert := func(list []int, n int) []int {
			out := append([]int{}, list[:axis]...)
			return append(append(out, n), list[axis:]...)
		}
		return fact{insert(from.Contiguous, 1), insert(from.Equal, 1), insert(from.Divisor, from.every(0)), from.Known, from.natural}
	},
	// Along a dimension that grows, all elements are the same.
	"tt.broadcast": func(a *facts, o *ttir.Op) fact {
		from, t := a.Of(o.Operands[0]), o.Results[0].Type
		k := fact{append([]int{}, from.Contiguous...), append([]int{}, from.Equal...), append([]int{}, from.Divisor...), from.Known, from.natural}
		// All elements along a new dimension are one element of the operand.
		for d := range t.Shape {
			if o.Operands[0].Type.Shape[d] != t.Shape[d] {
				k.Equal[d], k.Contiguous[d] = t.Shape[d], 1
			}
		}
		return k
	},
	"arith.addi": func(a *facts, o *ttir.Op) fact { return a.sum(o, 1, false) },
	"arith.subi": func(a *facts, o *ttir.Op) fact { return a.sum(o, 1, true) },
	// Offsets count in elements, divisors of pointers in bytes.
	"tt.addptr": func(a *facts, o *ttir.Op) fact {
		return a.sum(o, o.Operands[0].Type.Element().Elem.ByteSize(), false)
	},
	"arith.muli":       (*facts).product,
	"arith.shli":       (*facts).product,
	"arith.remsi":      func(a *facts, o *ttir.Op) fact { return a.divide(o, true) },
	"arith.remui":      func(a *facts, o *ttir.Op) fact { return a.divide(o, true) },
	"arith.divsi":      func(a *facts, o *ttir.Op) fact { return a.divide(o, false) },
	"arith.divui":      func(a *facts, o *ttir.Op) fact { return a.divide(o, false) },
	"arith.cmpi":       (*facts).compare,
	"arith.andi":       (*facts).logic,
	"arith.ori":        (*facts).logic,
	"arith.xori":       (*facts).logic,
	"arith.extsi":      func(a *facts, o *ttir.Op) fact { return a.Of(o.Operands[0]) },
	"arith.extui":      (*facts).widen,
	"arith.index_cast": func(a *facts, o *ttir.Op) fact { return a.Of(o.Operands[0]) },
	"tt.bitcast":       (*facts).cast,
	"arith.minsi":      (*facts).uniform,
	"arith.maxsi":      (*facts).uniform,
	"arith.select":     (*facts).choose,
	// Dimensions change places.
	"tt.trans": func(a *facts, o *ttir.Op) fact {
		from, k := a.Of(o.Operands[0]), blank(o.Results[0].Type)
		order, _ := o.Attr("order")
		for d, s := range order.Ints {
			k.Contiguous[d], k.Equal[d], k.Divisor[d] = from.Contiguous[s], from.Equal[s], from.Divisor[s]
		}
		k.Known, k.natural = from.Known, from.natural
		return k
	},
	"tt.reshape": func(a *facts, o *ttir.Op) fact {
		k := blank(o.Results[0].Type)
		k.natural = a.Of(o.Operands[0]).natural
		return k
	},
	"tt.get_program_id":   counts,
	"tt.get_num_programs": counts,
}

// counts is the rule of what counts from 0.
func counts(_ *facts, o *ttir.Op) fact {
	k := blank(o.Results[0].Type)
	k.natural = true
	return k
}

// sum is the rule of a sum, whose second operand counts in units of some bytes, and of a difference.
func (a *facts) sum(o *ttir.Op, unit int, minus bool) fact {
	x, y, k := a.Of(o.Operands[0]), a.Of(o.Operands[1]), blank(o.Results[0].Type)
	for d := range k.Contiguous {
		// A run of x stays one where y is the same.
		k.Contiguous[d] = min(x.Contiguous[d], y.Equal[d])
		if !minus {
			k.Contiguous[d] = max(k.Contiguous[d], min(x.Equal[d], y.Contiguous[d]))
		}
		k.Equal[d] = min(x.Equal[d], y.Equal[d])
		k.Divisor[d] = min(begins(x, d, k.Contiguous[d], unit), begins(y, d, k.Contiguous[d], 1)*unit, mostDiv)
	}
	k.natural = !minus && x.natural && y.natural
	// Constants are folded, for shifts and factors made of them.
	if x.Known != nil && y.Known != nil && unit == 1 {
		n := *x.Known + *y.Known
		if minus {
			n = *x.Known - *y.Known
		}
		k.Known = &n
	}
	return k
}

// begins is what divides the first of each run, where runs have become shorter: each begins at a multiple of its length.
func begins(f fact, d, contig, unit int) int {
	if f.Contiguous[d] > contig {
		return min(f.Divisor[d], contig*unit)
	}
	return f.Divisor[d]
}

// product is the rule of a product, and of a shift by a known number of bits.
func (a *facts) product(o *ttir.Op) fact {
	x, y, k := a.Of(o.Operands[0]), a.Of(o.Operands[1]), blank(o.Results[0].Type)
	if o.Name == "arith.shli" {
		if y.Known == nil || *y.Known < 0 || *y.Known > 30 {
			return k
		}
		n := int64(1) << *y.Known
		y = fact{y.Contiguous, y.Equal, ones(len(y.Divisor)), &n, true}
		for d := range y.Divisor {
			y.Divisor[d] = int(n)
		}
	}
	for d := range k.Contiguous {
		k.Equal[d] = min(x.Equal[d], y.Equal[d])
		switch {
		case y.Known != nil && *y.Known == 1:
			k.Contiguous[d], k.Divisor[d] = x.Contiguous[d], x.Divisor[d]
		case x.Known != nil && *x.Known == 1:
			k.Contiguous[d], k.Divisor[d] = y.Contiguous[d], y.Divisor[d]
		default:
			k.Divisor[d] = min(x.every(d)*y.every(d), mostDiv)
		}
	}
	k.natural = x.natural && y.natural
	if x.Known != nil && y.Known != nil {
		n := *x.Known * *y.Known
		k.Known = &n
	}
	return k
}

// divide is the rule of a quotient or rest by a divisor that is the same along a dimension.
func (a *facts) divide(o *ttir.Op, rest bool) fact {
	x, y, k := a.Of(o.Operands[0]), a.Of(o.Operands[1]), blank(o.Results[0].Type)
	// Signed division rounds towards zero: below it, what falls between two multiples of the divisor are other numbers.
	signed := strings.HasSuffix(o.Name, "si")
	k.natural = x.natural && (!signed || y.Known == nil || *y.Known > 0)
	for d := range k.Contiguous {
		if signed && !x.natural {
			k.Equal[d] = min(x.Equal[d], y.Equal[d])
			continue
		}
		if y.Equal[d] != size(o.Results[0].Type, d) {
			continue
		}
		// Between two multiples of the divisor a run is not cut, and the quotient is one.
		run := min(x.Contiguous[d], x.Divisor[d], y.Divisor[d])
		if rest {
			k.Contiguous[d], k.Equal[d] = run, x.Equal[d]
			k.Divisor[d] = min(begins(x, d, run, 1), y.Divisor[d])
		} else {
			k.Equal[d] = max(run, x.Equal[d])
		}
	}
	return k
}

// compare: x < n changes at n, so that it is the same along a run of x if n is a multiple of the run's length.
func (a *facts) compare(o *ttir.Op) fact {
	x, y, k := a.Of(o.Operands[0]), a.Of(o.Operands[1]), blank(o.Results[0].Type)
	p := o.Word("predicate")
	for d := range k.Equal {
		k.Equal[d] = min(x.Equal[d], y.Equal[d])
		run := func(x, y fact) int { return min(x.Contiguous[d], x.Divisor[d], y.Divisor[d], y.Equal[d]) }
		// x <= n changes behind n, at no multiple of anything.
		switch p {
		case "slt", "sge", "ult", "uge":
			k.Equal[d] = max(k.Equal[d], run(x, y))
		case "sgt", "sle", "ugt", "ule":
			k.Equal[d] = max(k.Equal[d], run(y, x))
		}
	}
	return k
}

// logic is the rule of and, or and xor: only that equal operands give equal results.
func (a *facts) logic(o *ttir.Op) fact {
	x, y, k := a.Of(o.Operands[0]), a.Of(o.Operands[1]), blank(o.Results[0].Type)
	for d := range k.Equal {
		k.Equal[d] = min(x.Equal[d], y.Equal[d])
		k.natural = x.natural && y.natural || o.Name == "arith.andi" && (x.natural || y.natural)
		if k.Equal[d] == size(o.Results[0].Type, d) && o.Name != "arith.andi" {
			k.Divisor[d] = min(x.Divisor[d], y.Divisor[d])
		}
	}
	return k
}

// uniform is the rule of a minimum or maximum, which is one of its operands.
func (a *facts) uniform(o *ttir.Op) fact {
	x, y, k := a.Of(o.Operands[0]), a.Of(o.Operands[1]), blank(o.Results[0].Type)
	for d := range k.Equal {
		k.Equal[d] = min(x.Equal[d], y.Equal[d])
		k.Divisor[d] = min(x.every(d), y.every(d))
	}
	k.natural = x.natural && y.natural || o.Name == "arith.maxsi" && (x.natural || y.natural)
	return k
}

// choose is the rule of a selection: what holds for both choices, as far as the condition is the same.
func (a *facts) choose(o *ttir.Op) fact {
	c, x, y, k := a.Of(o.Operands[0]), a.Of(o.Operands[1]), a.Of(o.Operands[2]), blank(o.Results[0].Type)
	for d := range k.Equal {
		// A scalar condition is the same for all.
		s := mostDiv
		if d < len(c.Equal) && o.Operands[0].Type.IsTensor() {
			s = c.Equal[d]
		}
		k.Equal[d] = min(s, x.Equal[d], y.Equal[d])
		k.Contiguous[d] = min(s, x.Contiguous[d], y.Contiguous[d])
		k.Divisor[d] = min(begins(x, d, k.Contiguous[d], 1), begins(y, d, k.Contiguous[d], 1))
	}
	k.natural = x.natural && y.natural
	return k
}

// cast is the rule of a bitcast. Pointers to elements of another size do not follow each other by one of these.
func (a *facts) cast(o *ttir.Op) fact {
	k, from, to := a.Of(o.Operands[0]), o.Operands[0].Type.Element(), o.Results[0].Type.Element()
	if from.IsPointer() != to.IsPointer() || from.IsPointer() && from.Elem.ByteSize() != to.Elem.ByteSize() {
		div := append([]int{}, k.Divisor...)
		// Each element begins a run now.
		for d := range div {
			if k.Contiguous[d] > 1 {
				div[d] = min(div[d], from.Elem.ByteSize())
			}
		}
		k = fact{Contiguous: ones(len(k.Contiguous)), Equal: k.Equal, Divisor: div}
	}
	return k
}

// widen is the rule of arith.extui: what was negative is a large number now.
func (a *facts) widen(o *ttir.Op) fact {
	k := a.Of(o.Operands[0])
	if k.Known != nil && *k.Known < 0 {
		k.Known = nil
	}
	k.natural = true
	return k
}
