// Pointers, loads and stores whose masks are known, products that are added to, and promises that say nothing.

package clean

import "github.com/paddle-mps/paddle-mps/tritonlang/ttir"

func init() {
	folds["tt.addptr"] = append(folds["tt.addptr"], foldOffset)
	folds["tt.load"] = append(folds["tt.load"], foldLoad)
	folds["tt.store"] = append(folds["tt.store"], foldStore)
	folds["arith.addf"] = append(folds["arith.addf"], foldProduct)
	folds["arith.addi"] = append(folds["arith.addi"], foldProduct)
	folds["tt.assert"] = append(folds["tt.assert"], foldPromise)
	folds["llvm.intr.assume"] = append(folds["llvm.intr.assume"], foldPromise)
}

// foldOffset drops an offset of 0.
func foldOffset(_ *pass, o *ttir.Op) ([]*ttir.Value, bool) {
	if n, ok := number(o.Operands[1]); ok && n == 0 {
		return one(o.Operands[0])
	}
	return nil, false
}

// Masks become known when the size of an array is a constant of the program that its tiles divide: Triton's front end builds
// the comparison all the same.

// foldLoad drops a mask that is true, and loads that a mask forbids.
func foldLoad(p *pass, o *ttir.Op) ([]*ttir.Value, bool) {
	if len(o.Operands) < 2 {
		return nil, false
	}
	n, ok := number(o.Operands[1])
	switch {
	case !ok:
		return nil, false
	case n != 0:
		return one(p.make("tt.load", o.Operands[:1], o.Results[0].Type, o.Attrs...))
	case len(o.Operands) == 3:
		return one(o.Operands[2])
	}
	return one(p.make("ub.poison", nil, o.Results[0].Type))
}

// foldStore drops a mask that is true, and stores that a mask forbids.
func foldStore(p *pass, o *ttir.Op) ([]*ttir.Value, bool) {
	if len(o.Operands) < 3 {
		return nil, false
	}
	n, ok := number(o.Operands[2])
	if !ok {
		return nil, false
	}
	if n != 0 {
		s := ttir.New("tt.store", o.Operands[:2], nil, o.Attrs...)
		s.Loc = o.Loc
		p.made = append(p.made, s)
	}
	return nil, true
}

// foldProduct adds to a product in the product itself, which starts at what it is added to instead of 0.
func foldProduct(p *pass, o *ttir.Op) ([]*ttir.Value, bool) {
	// A product that is used elsewhere too is needed without the sum.
	for i, v := range o.Operands {
		d := v.Def
		if d == nil || d.Name != "tt.dot" || p.uses[v] != 1 || d.Int("maxNumImpreciseAcc", 0) != 0 {
			continue
		}
		if text, ok := spelled(d.Operands[2]); !ok || text != "0" && text != "0.000000e+00" {
			continue
		}
		return one(p.make("tt.dot", []*ttir.Value{d.Operands[0], d.Operands[1], o.Operands[1-i]}, o.Results[0].Type, d.Attrs...))
	}
	return nil, false
}

// foldPromise drops what is known to hold.
func foldPromise(_ *pass, o *ttir.Op) ([]*ttir.Value, bool) {
	n, ok := number(o.Operands[0])
	return nil, ok && n != 0
}
