//go:build goexperiment.simd && !race

#include "textflag.h"

// See prefetch_amd64.go.

// func prefetchLines(p unsafe.Pointer, bytes int)
TEXT ·prefetchLines(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), DI
	MOVQ bytes+8(FP), CX

line:
	PREFETCHT0 (DI)
	ADDQ $64, DI
	SUBQ $64, CX
	JG   line
	RET

// func prefetchFar(p unsafe.Pointer, bytes, step int)
TEXT ·prefetchFar(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), DI
	MOVQ bytes+8(FP), CX
	MOVQ step+16(FP), AX

line:
	PREFETCHT1 (DI)
	ADDQ AX, DI
	SUBQ AX, CX
	JG   line
	RET
