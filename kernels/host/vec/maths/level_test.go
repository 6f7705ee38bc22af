package maths

import (
	"testing"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// eachLevel runs f once at every level that this machine has.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	vectest.EachLevel(t, f, UseLevel)
}

// tables are the sets of loops that this machine has, slowest first.
func tables() (all []*table) {
	for _, level := range vec.Levels() {
		t := tableOf(level)
		all = append(all, &t)
	}
	return all
}
