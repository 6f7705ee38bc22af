package place

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/status"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Place{"cpu": CPU, "mps": MPS(0), "mps:0": MPS(0), "mps:7": MPS(7)} {
		got, err := Parse(text)
		require.NoError(t, err)
		require.Equal(t, want, got, text)
	}
	for _, bad := range []string{"", "gpu", "cpu:0", "mps:", "mps:-1", "mps:+1", "mps:x", "mps:0:0", "mps:2147483648", "MPS", " cpu"} {
		_, err := Parse(bad)
		require.Equal(t, status.Invalid, status.CodeOf(err), "%q", bad)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("mps:3")
	f.Add("cpu")
	f.Fuzz(func(t *testing.T, s string) {
		p, err := Parse(s)
		if err != nil {
			return
		}
		again, err := Parse(p.String())
		require.NoError(t, err)
		require.Equal(t, p, again)
	})
}
