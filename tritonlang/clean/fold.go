// Folds of single operations: constants, and operands that leave nothing to do.

package clean

import (
	"math"
	"slices"
	"strconv"

	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// folder answers the values that stand for an operation's results, or false if the operation stays.
//
// What it makes goes through p.make, in front of the operation, and is folded in turn. A folder changes nothing else: if it
// answers false, what it has made is forgotten.
type folder func(*pass, *ttir.Op) ([]*ttir.Value, bool)

// folds are the folders by operation; the files of the package add theirs.
var folds = map[string][]folder{}

// fold tries the folders of an operation, in their order.
func (p *pass) fold(o *ttir.Op) ([]*ttir.Value, bool) {
	for _, f := range folds[o.Name] {
		if with, ok := f(p, o); ok {
			return with, true
		}
		p.made = nil
	}
	return nil, false
}

// one is a folder's answer of one value.
func one(v *ttir.Value) ([]*ttir.Value, bool) { return []*ttir.Value{v}, true }

// number is the integer that all elements of a value are.
func number(v *ttir.Value) (int64, bool) {
	if v.Def == nil || v.Def.Name != "arith.constant" || !v.Type.IsInt(0) {
		return 0, false
	}
	all, wrong := ttir.Literal(v.Def)
	if wrong != "" || len(all) != 1 {
		return 0, false
	}
	return signed(all[0].Int, v.Type.Element().Bits), true
}

// signed is a number of some bits, extended by its sign.
func signed(n int64, bits int) int64 {
	if bits >= 64 {
		return n
	}
	return n << (64 - bits) >> (64 - bits)
}

// unsigned is a number of some bits without a sign.
func unsigned(n int64, bits int) uint64 {
	if bits >= 64 {
		return uint64(n)
	}
	return uint64(n) & (1<<bits - 1)
}

// constant makes a constant of a type whose elements are integers.
func (p *pass) constant(n int64, t *ttir.Type) *ttir.Value {
	text := strconv.FormatInt(signed(n, t.Element().Bits), 10)
	if t.IsInt(1) {
		text = strconv.FormatBool(n&1 == 1)
	}
	return p.spell(text, t)
}

// spell makes a constant whose elements are given as text.
func (p *pass) spell(text string, t *ttir.Type) *ttir.Value {
	a := ttir.AttrValue{Text: text, Word: text}
	if t.IsTensor() {
		a.Text = "dense<" + text + ">"
	}
	return p.make("arith.constant", nil, t, ttir.Attr{Name: "value", Value: a})
}

// spelled is the text of the one number that all elements of a constant are.
func spelled(v *ttir.Value) (string, bool) {
	if v.Def == nil || v.Def.Name != "arith.constant" {
		return "", false
	}
	a, _ := v.Def.Attr("value")
	all, wrong := ttir.Literal(v.Def)
	return a.Word, wrong == "" && len(all) == 1 && !slices.Contains([]byte(a.Word), '[')
}

// integers computes operations on two integers of some bits; false: it is undefined, and stays.
//
// Operands are extended by their signs; results are cut to the width of the type afterwards, so that a sum that wraps needs
// no care. Functions on unsigned numbers cut their operands first.
var integers = map[string]func(x, y int64, bits int) (int64, bool){
	"arith.addi":  func(x, y int64, _ int) (int64, bool) { return x + y, true },
	"arith.subi":  func(x, y int64, _ int) (int64, bool) { return x - y, true },
	"arith.muli":  func(x, y int64, _ int) (int64, bool) { return x * y, true },
	"arith.andi":  func(x, y int64, _ int) (int64, bool) { return x & y, true },
	"arith.ori":   func(x, y int64, _ int) (int64, bool) { return x | y, true },
	"arith.xori":  func(x, y int64, _ int) (int64, bool) { return x ^ y, true },
	"arith.maxsi": func(x, y int64, _ int) (int64, bool) { return max(x, y), true },
	"arith.minsi": func(x, y int64, _ int) (int64, bool) { return min(x, y), true },
	"arith.maxui": func(x, y int64, bits int) (int64, bool) {
		return int64(max(unsigned(x, bits), unsigned(y, bits))), true
	},
	"arith.minui": func(x, y int64, bits int) (int64, bool) {
		return int64(min(unsigned(x, bits), unsigned(y, bits))), true
	},
	"arith.divsi": func(x, y int64, bits int) (int64, bool) {
		return divided(x, y, bits, func() int64 { return x / y })
	},
	"arith.remsi": func(x, y int64, bits int) (int64, bool) {
		return divided(x, y, bits, func() int64 { return x % y })
	},
	"arith.divui": func(x, y int64, bits int) (int64, bool) {
		return divided(0, y, bits, func() int64 { return int64(unsigned(x, bits) / unsigned(y, bits)) })
	},
	"arith.remui": func(x, y int64, bits int) (int64, bool) {
		return divided(0, y, bits, func() int64 { return int64(unsigned(x, bits) % unsigned(y, bits)) })
	},
	"arith.shli": func(x, y int64, bits int) (int64, bool) { return shifted(y, bits, func() int64 { return x << y }) },
	"arith.shrsi": func(x, y int64, bits int) (int64, bool) {
		return shifted(y, bits, func() int64 { return signed(x, bits) >> y })
	},
	"arith.shrui": func(x, y int64, bits int) (int64, bool) {
		return shifted(y, bits, func() int64 { return int64(unsigned(x, bits) >> y) })
	},
}

// divided computes a quotient unless the divisor is 0 or it overflows.
func divided(x, y int64, bits int, quotient func() int64) (int64, bool) {
	if y == 0 || y == -1 && x == signed(math.MinInt64>>(64-bits), bits) {
		return 0, false
	}
	return quotient(), true
}

// shifted computes a shift unless it is by more bits than there are.
func shifted(y int64, bits int, result func() int64) (int64, bool) {
	if y < 0 || y >= int64(bits) {
		return 0, false
	}
	return result(), true
}

// neutral has the second operands that leave the first as it is.
var neutral = map[string]int64{
	"arith.addi": 0, "arith.subi": 0, "arith.muli": 1, "arith.divsi": 1, "arith.divui": 1, "arith.ori": 0, "arith.xori": 0, "arith.andi": -1,
	"arith.shli": 0, "arith.shrsi": 0, "arith.shrui": 0,
}

// symmetric are operations whose operands may change places.
var symmetric = map[string]bool{"arith.addi": true, "arith.muli": true, "arith.ori": true, "arith.xori": true, "arith.andi": true}

// comparisons are the predicates of arith.cmpi.
//
// Operands are extended by their signs, as those of integers.
var comparisons = map[string]func(x, y int64, bits int) bool{
	"eq":  func(x, y int64, _ int) bool { return x == y },
	"ne":  func(x, y int64, _ int) bool { return x != y },
	"slt": func(x, y int64, _ int) bool { return x < y },
	"sle": func(x, y int64, _ int) bool { return x <= y },
	"sgt": func(x, y int64, _ int) bool { return x > y },
	"sge": func(x, y int64, _ int) bool { return x >= y },
	"ult": func(x, y int64, bits int) bool { return unsigned(x, bits) < unsigned(y, bits) },
	"ule": func(x, y int64, bits int) bool { return unsigned(x, bits) <= unsigned(y, bits) },
	"ugt": func(x, y int64, bits int) bool { return unsigned(x, bits) > unsigned(y, bits) },
	"uge": func(x, y int64, bits int) bool { return unsigned(x, bits) >= unsigned(y, bits) },
}

func init() {
	// Two constants first, then one.
	for name := range integers {
		folds[name] = append(folds[name], foldIntegers, foldNeutral)
	}
	for name := range map[string]bool{"arith.mulf": true, "arith.divf": true, "arith.addf": true, "arith.subf": true} {
		folds[name] = append(folds[name], foldNeutralFloat)
	}
	folds["arith.cmpi"] = append(folds["arith.cmpi"], foldComparison)
	folds["arith.select"] = append(folds["arith.select"], foldSelect)
	for _, name := range []string{"arith.extsi", "arith.extui", "arith.trunci"} {
		folds[name] = append(folds[name], foldWidth)
	}
	for _, name := range []string{"arith.extf", "arith.truncf"} {
		folds[name] = append(folds[name], foldFloatWidth)
	}
	folds["tt.bitcast"] = append(folds["tt.bitcast"], foldSameType)
}

// foldIntegers computes an operation on two constants.
func foldIntegers(p *pass, o *ttir.Op) ([]*ttir.Value, bool) {
	x, ok := number(o.Operands[0])
	y, ok2 := number(o.Operands[1])
	if !ok || !ok2 {
		return nil, false
	}
	n, ok := integers[o.Name](x, y, o.Results[0].Type.Element().Bits)
	if !ok {
		return nil, false
	}
	return one(p.constant(n, o.Results[0].Type))
}

// foldNeutral drops an operand that changes nothing, and products with 0.
func foldNeutral(p *pass, o *ttir.Op) ([]*ttir.Value, bool) {
	same, ok := neutral[o.Name]
	if !ok {
		return nil, false
	}
	// -1 is the number whose bits are all set, in any width.
	same = signed(same, o.Results[0].Type.Element().Bits)
	for i := range 2 {
		if i == 1 && !symmetric[o.Name] {
			break
		}
		n, ok := number(o.Operands[1-i])
		switch {
		case !ok:
		case n == same:
			return one(o.Operands[i])
		case n == 0 && (o.Name == "arith.muli" || o.Name == "arith.andi"):
			return one(p.constant(0, o.Results[0].Type))
		}
	}
	return nil, false
}

// foldNeutralFloat drops factors of 1, and zeros whose sign makes them do nothing.
func foldNeutralFloat(_ *pass, o *ttir.Op) ([]*ttir.Value, bool) {
	text, ok := spelled(o.Operands[1])
	want := map[string]string{"arith.mulf": "1.000000e+00", "arith.divf": "1.000000e+00", "arith.addf": "-0.000000e+00", "arith.subf": "0.000000e+00"}
	if !ok || text != want[o.Name] {
		return nil, false
	}
	return one(o.Operands[0])
}

// foldComparison compares constants.
func foldComparison(p *pass, o *ttir.Op) ([]*ttir.Value, bool) {
	x, ok := number(o.Operands[0])
	y, ok2 := number(o.Operands[1])
	if !ok || !ok2 {
		return nil, false
	}
	n := int64(0)
	if comparisons[o.Word("predicate")](x, y, o.Operands[0].Type.Element().Bits) {
		n = 1
	}
	return one(p.constant(n, o.Results[0].Type))
}

// foldSelect takes the choice that is known, or that is the same both ways.
func foldSelect(_ *pass, o *ttir.Op) ([]*ttir.Value, bool) {
	c, ok := number(o.Operands[0])
	switch {
	case o.Operands[1] == o.Operands[2] || ok && c != 0:
		return one(o.Operands[1])
	case ok:
		return one(o.Operands[2])
	}
	return nil, false
}

// foldWidth changes the width of an integer constant.
func foldWidth(p *pass, o *ttir.Op) ([]*ttir.Value, bool) {
	n, ok := number(o.Operands[0])
	if !ok {
		return nil, false
	}
	if o.Name == "arith.extui" {
		n = int64(unsigned(n, o.Operands[0].Type.Element().Bits))
	}
	return one(p.constant(n, o.Results[0].Type))
}

// foldFloatWidth changes the width of small whole floats, which every type but those of 8 bits holds exactly.
func foldFloatWidth(p *pass, o *ttir.Op) ([]*ttir.Value, bool) {
	text, ok := spelled(o.Operands[0])
	if !ok {
		return nil, false
	}
	// Up to 128 every whole number is exact in 8 bits of mantissa, those of bfloat16.
	all, _ := ttir.Literal(o.Operands[0].Def)
	f := all[0].Float
	if all[0].IsBit || f != math.Trunc(f) || math.Abs(f) > 128 || o.Results[0].Type.Element().Bits < 16 {
		return nil, false
	}
	return one(p.spell(text, o.Results[0].Type))
}

// foldSameType drops casts to the operand's own type.
func foldSameType(_ *pass, o *ttir.Op) ([]*ttir.Value, bool) {
	if !o.Operands[0].Type.Same(o.Results[0].Type) {
		return nil, false
	}
	return one(o.Operands[0])
}
