//go:build goexperiment.simd && !race

package lowprec

import (
	"runtime"
	"sync"
	"syscall"
)

// The tiles of amx_amd64.s, as those of bf16_amd64.go. AMX multiplies 16 pairs at a time: it sums the products of first elements
// from 0, those of second ones too, adds both, and adds that to the sum.

//go:noescape
func amx32x32(c *float32, a *uint16, lda int, b *uint32, pairs int, shapes *[amxPairs + 1]amxShape)

//go:noescape
func amx16x32(c *float32, a *uint16, lda int, b *uint32, pairs int, shapes *[amxPairs + 1]amxShape)

// hasAMX asks the processor, one with AVX-512, for AMX and its products of bfloat16.
//
//go:noescape
func hasAMX() bool

// amx512 sets the tiles of processors that have them.
func (t *table) amx512() {
	if !hasAMX() {
		return
	}
	t.amx = t.pairs
	t.amx.rows, t.amx.run = 32, func(c *float32, a *uint16, lda int, b *uint32, pairs int) {
		amx32x32(c, a, lda, b, pairs, &amxShapes)
	}
	t.amx.fewRows, t.amx.few = 16, func(c *float32, a *uint16, lda int, b *uint32, pairs int) {
		amx16x32(c, a, lda, b, pairs, &amxShapes)
	}
	t.amx.block, t.amx.apart, t.amx.lent = 1<<18, amxPairs, amxLent
}

// amxLent asks the system for the registers, once, at the first product: from then on a signal saves them on its stack, which needs
// 11 KiB for that, and Linux refuses smaller ones. A process that does not multiply bfloat16 must not be bound by that.
var amxLent = sync.OnceValue(func() bool {
	const (
		archPrctl         = 158
		requestPermission = 0x1023 // ARCH_REQ_XCOMP_PERM
		tileData          = 18     // XFEATURE_XTILEDATA
	)
	if runtime.GOOS != "linux" {
		return false
	}
	_, _, refused := syscall.RawSyscall(archPrctl, requestPermission, tileData, 0)
	return refused == 0
})

const amxPairs = 16 // pairs of a step

// amxShape is the operand of LDTILECFG, amxShapes those for steps of so many pairs.
type amxShape [64]byte

var amxShapes = shapesOfAMX()

// shapesOfAMX gives the bytes of a row and the number of rows of each register, at offsets that Intel's manual calls palette 1.
func shapesOfAMX() (shapes [amxPairs + 1]amxShape) {
	const (
		rowBytes, rows = 16, 48 // where the two begin
		left, right    = 4, 6   // first registers of a and of b; below are sums
		registers      = 8
	)
	for pairs := range shapes {
		shape := &shapes[pairs]
		shape[0] = 1
		for r := range registers {
			shape[rowBytes+2*r], shape[rows+r] = 64, 16
			if r >= right {
				shape[rows+r] = byte(pairs)
			} else if r >= left {
				shape[rowBytes+2*r] = byte(4 * pairs)
			}
		}
	}
	return shapes
}
