package shape

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Views of a contiguous layout have one element for each index, and windows of it that overlap do not.
func TestMayOverlap(t *testing.T) {
	for _, c := range []struct {
		name          string
		dims, strides []int64
		want          bool
	}{
		{"0-d", nil, nil, false},
		{"contiguous", []int64{2, 3, 4}, []int64{12, 4, 1}, false},
		{"transposed", []int64{4, 3, 2}, []int64{1, 4, 12}, false},
		{"reversed, every second", []int64{2, 2}, []int64{-4, -2}, false},
		{"diagonal", []int64{3}, []int64{5}, false},
		{"an axis of one element", []int64{1, 3}, []int64{0, 1}, false},
		{"empty", []int64{0, 3}, []int64{0, 0}, false},
		{"broadcast", []int64{2, 3}, []int64{0, 1}, true},
		{"windows", []int64{3, 4}, []int64{1, 1}, true},
		{"windows that touch", []int64{3, 4}, []int64{4, 1}, false},
		{"windows that share an element", []int64{3, 4}, []int64{3, 1}, true},
		{"backwards", []int64{3, 4}, []int64{-3, 1}, true},
		{"strides of 2 and 3, not looked into", []int64{2, 3}, []int64{3, 2}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l Layout
			for i, d := range c.dims {
				l.Append(d)
				l.Strides[i] = c.strides[i]
			}
			require.Equal(t, c.want, l.MayOverlap())
		})
	}
}
