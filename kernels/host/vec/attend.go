package vec

import "math"

// Attention in panels: as many queries as a tile has columns stand side by side, and what belongs to a query is a column. Scores
// of a block of keys are keys times queries, and their weights, in the same place, are the right operand of the product with the
// values as they lie.

// PanelTile is the shape of a tile of float32: left panels have this many rows, and right panels this many columns.
func PanelTile() (rows, cols int) { return active.tile32.rows, active.tile32.cols }

// MulPanels adds a times b to c, or with set makes c the product. a is left panels, as many as c has tiles one below the other, of
// whose columns the first k count; the panels have so many columns, each of them one behind the other. b is k rows of a right
// panel. It reports false and leaves c alone where a or b are shorter than that, or the length of c is no multiple of a tile.
func MulPanels(c, a, b []float32, k, columns int, set bool) bool {
	t := &active.tile32
	panels := len(c) / (t.rows * t.cols)
	if k < 0 || columns < k || len(c)%(t.rows*t.cols) != 0 || len(b) < t.cols*k || panels > 0 && len(a) < ((panels-1)*columns+k)*t.rows {
		return false
	}
	if k == 0 && set {
		clear(c)
	}
	for i := 0; i < panels && k > 0; i++ {
		t.run(c[i*t.rows*t.cols:], t.cols, a[i*columns*t.rows:][:t.rows*k], b[:t.cols*k], set)
	}
	return true
}

// maxScaling is the largest scaling of WeighColumns.
const maxScaling = 60

// WeighColumns is a step of an online softmax along columns. s is rows of as many scores as tops has; tops are the largest scores
// of the columns before and become those with s, and sums become those of exp(score - top) * 2^-scaling. The scores become these
// weights, and factors what all earlier ones have to be multiplied by. A column whose largest score is -Inf has the weights 0;
// with NaN, or +Inf, one of its weights is NaN. The other slices are at least as long as tops, and scaling is from 0 to 60.
//
// Weights below 2^-125 may be 0.
func WeighColumns(s, tops, sums, factors []float32, scaling int) {
	if n := len(tops); n > 0 && len(sums) >= n && len(factors) >= n {
		active.weigh(s[:len(s)/n*n], tops, sums[:n], factors[:n], min(max(scaling, 0), maxScaling))
	}
}

// weighColumns is the portable form.
func weighColumns(s, tops, sums, factors []float32, scaling int) {
	n := len(tops)
	for c, before := range tops {
		top := before
		for at := c; at < len(s); at += n {
			top = max(top, s[at])
		}
		tops[c] = top
		if math.IsInf(float64(top), -1) {
			top = 0
		}
		down, sum := math.Ldexp(1, -scaling), float32(0)
		for at := c; at < len(s); at += n {
			s[at] = float32(math.Exp(float64(s[at])-float64(top)) * down)
			sum += s[at]
		}
		factors[c] = float32(math.Exp(float64(before) - float64(top)))
		sums[c] = sums[c]*factors[c] + sum
	}
}
