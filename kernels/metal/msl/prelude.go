package msl

import _ "embed"

// prelude begins every source: conversions, and functions that the language lacks or whose own forms are
// not exact enough.
//
//go:embed prelude.metal
var prelude string
