//go:build goexperiment.simd && !race

#include "textflag.h"

// Eight windows of a depthwise convolution: see depthwiseWindows512. A weight is loaded once for all of them, and the sums are enough to
// hide the latency of an addition.
//
// SI is at what the first window sees at an offset of 0; R8, R9, R11 and R12 are 1, 3, 5 and 7 times the distance of windows. R10 is
// the bytes of the channels of a window, and R13 those of the channels before the vector. AX is at a tap, of which CX are left.

// func eightWindows512(to, x, w *float32, taps *Tap, count, step, channels int)
TEXT ·eightWindows512(SB), NOSPLIT, $0-56
	MOVQ to+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ w+16(FP), BX
	MOVQ step+40(FP), R8
	MOVQ channels+48(FP), R10
	SHLQ $2, R8
	SHLQ $2, R10
	LEAQ (R8)(R8*2), R9
	LEAQ (R8)(R8*4), R11
	LEAQ (R9)(R8*4), R12
	XORL R13, R13

vector:
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7
	MOVQ taps+24(FP), AX
	MOVQ count+32(FP), CX

tap:
	MOVLQSX 8(AX), DX
	IMULQ R10, DX
	ADDQ BX, DX
	VMOVUPS (DX)(R13*1), Z8
	MOVQ (AX), DX
	LEAQ (SI)(DX*4), DX
	ADDQ R13, DX
	VFMADD231PS (DX), Z8, Z0
	VFMADD231PS (DX)(R8*1), Z8, Z1
	VFMADD231PS (DX)(R8*2), Z8, Z2
	VFMADD231PS (DX)(R9*1), Z8, Z3
	VFMADD231PS (DX)(R8*4), Z8, Z4
	VFMADD231PS (DX)(R11*1), Z8, Z5
	VFMADD231PS (DX)(R9*2), Z8, Z6
	VFMADD231PS (DX)(R12*1), Z8, Z7
	ADDQ $16, AX
	DECQ CX
	JNZ  tap

	LEAQ (DI)(R13*1), DX
	LEAQ (DX)(R10*4), CX
	LEAQ (R10)(R10*2), AX
	VMOVUPS Z0, (DX)
	VMOVUPS Z1, (DX)(R10*1)
	VMOVUPS Z2, (DX)(R10*2)
	VMOVUPS Z3, (DX)(AX*1)
	VMOVUPS Z4, (CX)
	VMOVUPS Z5, (CX)(R10*1)
	VMOVUPS Z6, (CX)(R10*2)
	VMOVUPS Z7, (CX)(AX*1)

	// The last vector ends where the channels do, and computes some of them once more.
	LEAQ -64(R10), AX
	CMPQ R13, AX
	JEQ  done
	ADDQ $64, R13
	CMPQ R13, AX
	JLE  vector
	MOVQ AX, R13
	JMP  vector

done:
	VZEROUPPER
	RET
