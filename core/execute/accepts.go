package execute

import (
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Accepts reports whether a traced program was traced for such arguments: of these dtypes, shapes and place, with gradients
// recorded as they are now, and then with the same arguments and captured tensors asking for them. Other programs accept all.
// A size that Unify has left open may be any but 0 and 1, with which functions often do other things than with the rest.
func (p *Program) Accepts(in []*runtime.Tensor, recording, recorded bool) bool {
	if !p.IsTraced {
		return true
	}
	if len(in) != p.Given || recording != recorded || !p.upToDate(recording) {
		return false
	}
	if p.Open && !p.admits(in) {
		return false
	}
	for i, t := range in {
		want := &p.AllInputs[i]
		if t.DType != want.DType || t.Shape != want.Shape && !p.Open || t.Store.Context != p.ctx || recording && t.Asks() != p.Asked[i] {
			return false
		}
	}
	return true
}

// upToDate reports whether captured tensors are as they were when the function was traced: what it has read has not been written to,
// and in mode recording the same ones ask for gradients.
func (p *Program) upToDate(recording bool) bool {
	for i, t := range p.CapturedInputs {
		if recording && t.Store.Asked.Load() != p.AskedAt[i] { // frozen weights that are trained now
			return false
		}
		if t.Store.Replaced.Load() != p.ReplacedAt[i] {
			return false
		}
	}
	for i, t := range p.ReadTensors {
		if t.Store.Version.Load() != p.ReadVersions[i] {
			return false
		}
	}
	return true
}

// admits reports whether a program with symbols takes arguments of these shapes; see Accepts. Few have more symbols than
// fit the array, and those are resolved by a run, which finds the same.
func (p *Program) admits(in []*runtime.Tensor) bool {
	var sizes [16]int64
	for i, t := range in {
		want := &p.AllInputs[i].Shape
		if want.Rank != t.Rank {
			return false
		}
		for j, d := range want.Slice() {
			n := t.Dims[j]
			if !shape.IsSymbol(d) {
				if d != n {
					return false
				}
				continue
			}
			if n < 2 {
				return false
			}
			if s := shape.SymbolNumber(d); s < len(sizes) {
				if sizes[s] != 0 && sizes[s] != n {
					return false
				}
				sizes[s] = n
			}
		}
	}
	return true
}
