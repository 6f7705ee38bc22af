//go:build goexperiment.simd && amd64 && !race

package maths

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// coefficientsInC reads the arrays of a header by their names. An element is a number, or one divided by another.
func coefficientsInC(t *testing.T, path string) map[string][]float64 {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	all := map[string][]float64{}
	array := regexp.MustCompile(`(?s)static const \w+ (\w+)(?:\[\d*\])+ = \{(.*?)\};`)
	for _, m := range array.FindAllStringSubmatch(string(text), -1) {
		for _, word := range strings.FieldsFunc(m[2], func(r rune) bool { return strings.ContainsRune("{}, \n", r) }) {
			over, under, divided := strings.Cut(strings.TrimSuffix(word, "f"), "./")
			x, err := strconv.ParseFloat(over, 64)
			require.NoError(t, err, "%s of %s", word, m[1])
			if divided {
				y, err := strconv.ParseFloat(under, 64)
				require.NoError(t, err, "%s of %s", word, m[1])
				x /= y
			}
			all[m[1]] = append(all[m[1]], x)
		}
	}
	return all
}

// TestCoefficientsOfNEON compares the polynomials of package neon with those of this package, which other tests hold to their errors.
func TestCoefficientsOfNEON(t *testing.T) {
	narrow := map[string][]float32{"growth": growth[:], "logCurve": logCurve[:], "log2Curve": log2Curve[:], "sinFit": sinFit[:]}
	for name, rows := range map[string][][8]float32{"geluPieces": geluPieces[:], "tanhPieces": tanhPieces[:], "erfPieces": erfPieces[:]} {
		for _, row := range rows {
			narrow[name] = append(narrow[name], row[:]...)
		}
	}
	wide := map[string][]vec.Splat64{
		"expTaylor": Consts.expTaylor[:], "atanhTaylor": Consts.atanhTaylor[:],
		"log2Fitted": Consts.log2Fitted[:], "exp2Fitted": Consts.exp2Fitted[:],
		"sinTaylor": Consts.sinTaylor[:], "cosTaylor": Consts.cosTaylor[:], "atanFitted": Consts.atanFitted[:],
	}
	found := coefficientsInC(t, "../neon/coefficients.h")
	require.Len(t, found, len(narrow)+len(wide))
	for name, want := range narrow {
		require.Len(t, found[name], len(want), name)
		for i, x := range found[name] {
			require.Equal(t, want[i], float32(x), "%s, number %d", name, i)
		}
	}
	for name, want := range wide {
		require.Len(t, found[name], len(want), name)
		for i, x := range found[name] {
			require.Equal(t, want[i][0], x, "%s, number %d", name, i)
		}
	}
}
