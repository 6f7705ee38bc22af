package objc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVersionsThatAreMasked: macOS 26 and later tell an old program 16.0, and the build that they are.
func TestVersionsThatAreMasked(t *testing.T) {
	for text, want := range map[string]Version{
		"Version 16.0 (Build 25A353)":     {26, 0},
		"Version 16.0 (Build 25C101)":     {26, 2},
		"Version 16.0 (Build 26A5421a)":   {27, 0},
		"Version 16.0 (Build 26A428)":     {27, 0},
		"Version 16.0":                    {16, 0},
		"Version 16.0 (Build fakemetal)":  {16, 0},
		"Version 16.0 (Build 24)":         {16, 0},
		"Version 16.0 (Build 24C101)":     {16, 0}, // of macOS 15, which is not masked
		"Version 16.0 (Build 9999999999x": {16, 0},
	} {
		require.Equal(t, want, Version{16, 0}.told(text), text)
		require.Equal(t, Version{15, 2}, Version{15, 2}.told(text), text)
	}
}
