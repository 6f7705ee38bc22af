package vec_test

import (
	"testing"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/dots"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/float16"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/lowprec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/maths"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/random"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/rearrange"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/reduction"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/rownorm"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/sorting"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/stencil"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/winograd"
)

// rooms choose the loops of all rooms.
var rooms = []func(vec.Level){
	arith.UseLevel,
	dots.UseLevel,
	float16.UseLevel,
	gemm.UseLevel,
	lowprec.UseLevel,
	maths.UseLevel,
	random.UseLevel,
	rearrange.UseLevel,
	reduction.UseLevel,
	rownorm.UseLevel,
	sorting.UseLevel,
	stencil.UseLevel,
	winograd.UseLevel,
}

// eachLevel runs f once at every level that this machine has.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	vectest.EachLevel(t, f, rooms...)
}
