//go:build goexperiment.simd && !race

#include "textflag.h"

// func pickGrid(to, b *float32, offsets *int, steps int, s *segments)
//
// DI is at a vector of a panel, whose rows are 128 bytes apart; SI at the offsets, CX of which are left. What is loaded of each row of
// b are lanes K1 from R8 bytes behind its offset on, lanes K2 from R9 on, and so on; other lanes are 0. Lanes that are left out are
// not read.
TEXT ·pickGrid(SB), NOSPLIT, $0-40
	MOVQ to+0(FP), DI
	MOVQ b+8(FP), BX
	MOVQ offsets+16(FP), SI
	MOVQ steps+24(FP), CX
	MOVQ s+32(FP), DX
	MOVQ 0(DX), R8
	MOVQ 8(DX), R9
	MOVQ 16(DX), R10
	MOVQ 24(DX), R11
	KMOVW 32(DX), K1
	KMOVW 34(DX), K2
	KMOVW 36(DX), K3
	KMOVW 38(DX), K4
	CMPW 36(DX), $0
	JNE  four

two:
	MOVQ (SI), AX
	LEAQ (BX)(AX*4), AX
	VMOVUPS.Z (AX)(R8*1), K1, Z0
	VMOVUPS (AX)(R9*1), K2, Z0
	VMOVUPS Z0, (DI)
	ADDQ $8, SI
	ADDQ $128, DI
	DECQ CX
	JNZ  two
	VZEROUPPER
	RET

four:
	MOVQ (SI), AX
	LEAQ (BX)(AX*4), AX
	VMOVUPS.Z (AX)(R8*1), K1, Z0
	VMOVUPS (AX)(R9*1), K2, Z0
	VMOVUPS (AX)(R10*1), K3, Z0
	VMOVUPS (AX)(R11*1), K4, Z0
	VMOVUPS Z0, (DI)
	ADDQ $8, SI
	ADDQ $128, DI
	DECQ CX
	JNZ  four
	VZEROUPPER
	RET
