package metal

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/objc"
)

// TestCensus finds all that the library uses, and leaves nothing behind.
func TestCensus(t *testing.T) {
	r := newRig(t, Config{})
	_, err := r.InterfaceReport()
	require.NoError(t, err)
	before := fakemetal.Settled(t)
	text, err := r.InterfaceReport()
	require.NoError(t, err)
	require.Equal(t, before, fakemetal.Settled(t))

	var c struct {
		MacOS     string
		Findings  []objc.Finding
		Constants []objc.Constant
	}
	require.NoError(t, json.Unmarshal([]byte(text), &c))
	require.Equal(t, objc.MacOS().String(), c.MacOS)
	methods := 0
	for _, f := range c.Findings {
		require.True(t, f.Found || !objc.MacOS().AtLeast(f.Since) || f.Optional, "%s %s", f.Class, f.Selector)
		if f.Found && f.Selector != "" {
			require.NotEmpty(t, f.Encoding, "%s %s", f.Class, f.Selector)
			methods++
		}
	}
	require.Greater(t, methods, 150)
	require.Greater(t, len(c.Constants), 30)
	require.Contains(t, c.Constants, objc.Constant{Name: "MTLHeapTypePlacement", Value: 1, Since: "10.15"})
}

// TestCensusRefused is an error, or says what is missing, when Metal gives nothing.
func TestCensusRefused(t *testing.T) {
	r := newRig(t, Config{})
	for _, what := range []string{"library", "pipeline"} {
		fakemetal.Fail(t, what, 1, 0)
		_, err := r.InterfaceReport()
		require.ErrorContains(t, err, "[device_census]", what)
	}
	before := fakemetal.Settled(t)
	fakemetal.Fail(t, "queue", 1, 0)
	text, err := r.InterfaceReport()
	require.NoError(t, err)
	require.Contains(t, text, `"class":"MTLCommandQueue","selector":"commandBuffer","since":"","optional":false,"found":false`)
	require.Equal(t, before, fakemetal.Settled(t))
}
