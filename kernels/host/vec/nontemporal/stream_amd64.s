//go:build goexperiment.simd && !race

#include "textflag.h"

// Loops that write past the caches, which Go's simd/archsimd has no instructions for. Vectors of 32 bytes are as fast here as those
// of 64, so that vec.AVX2 and AVX-512 share the loops. Each round fills a line of the result or, of bools, half of one.
//
// DI is at the result, SI, DX and BX are at the operands, and CX is the bytes of the result that are left. In a round, R8 and R9 move
// SI and DX on.

#define NEXT(loop) \
	VMOVNTPS Y0, (DI); \
	VMOVNTPS Y1, 32(DI); \
	ADDQ R8, SI; \
	ADDQ R9, DX; \
	ADDQ $64, DI; \
	SUBQ $64, CX; \
	JNE  loop; \
	JMP  end

#define PAIRS(loop, OP) \
loop: \
	VMOVUPS (SI), Y0; \
	VMOVUPS 32(SI), Y1; \
	OP (DX), Y0, Y0; \
	OP 32(DX), Y1, Y1; \
	NEXT(loop)

// EXTREMES answers with the second operand where neither is larger, and with the first where that is NaN.
#define EXTREMES(loop, OP, COMPARE, BLEND) \
loop: \
	VMOVUPS (SI), Y2; \
	VMOVUPS 32(SI), Y3; \
	OP (DX), Y2, Y0; \
	OP 32(DX), Y3, Y1; \
	COMPARE $3, Y2, Y2, Y4; \
	COMPARE $3, Y3, Y3, Y5; \
	BLEND Y4, Y2, Y0, Y0; \
	BLEND Y5, Y3, Y1, Y1; \
	NEXT(loop)

// BOOLS packs the answers about 32 elements into bytes. Packing works by halves of a vector, so that Y6 puts the parts in order.
#define BOOLS(loop, predicate) \
loop: \
	VMOVUPS (SI), Y0; \
	VMOVUPS 32(SI), Y1; \
	VMOVUPS 64(SI), Y2; \
	VMOVUPS 96(SI), Y3; \
	VCMPPS predicate, (DX), Y0, Y0; \
	VCMPPS predicate, 32(DX), Y1, Y1; \
	VCMPPS predicate, 64(DX), Y2, Y2; \
	VCMPPS predicate, 96(DX), Y3, Y3; \
	VPACKSSDW Y1, Y0, Y0; \
	VPACKSSDW Y3, Y2, Y2; \
	VPACKSSWB Y2, Y0, Y0; \
	VPERMD Y0, Y6, Y0; \
	VPAND Y7, Y0, Y0; \
	VMOVNTDQ Y0, (DI); \
	SUBQ $-128, SI; \
	SUBQ $-128, DX; \
	ADDQ $32, DI; \
	SUBQ $32, CX; \
	JNE  loop; \
	JMP  end

#define CASE(number, loop) \
	CMPQ AX, number; \
	JEQ  loop

DATA order<>+0(SB)/8, $0x0000000400000000
DATA order<>+8(SB)/8, $0x0000000500000001
DATA order<>+16(SB)/8, $0x0000000600000002
DATA order<>+24(SB)/8, $0x0000000700000003
GLOBL order<>(SB), RODATA|NOPTR, $32

DATA ones<>+0(SB)/8, $0x0101010101010101
GLOBL ones<>(SB), RODATA|NOPTR, $8

DATA limit<>+0(SB)/4, $0x4f000000
GLOBL limit<>(SB), RODATA|NOPTR, $4

// func streamLoop(f int, dst, a, b unsafe.Pointer, n, stepA, stepB int)
TEXT ·streamLoop(SB), NOSPLIT, $0-56
	MOVQ f+0(FP), AX
	MOVQ dst+8(FP), DI
	MOVQ a+16(FP), SI
	MOVQ b+24(FP), DX
	MOVQ n+32(FP), CX
	MOVQ stepA+40(FP), R8
	MOVQ stepB+48(FP), R9
	CASE($0, add)
	CASE($1, sub)
	CASE($2, mul)
	CASE($3, div)
	CASE($4, max)
	CASE($5, min)
	CASE($6, add64)
	CASE($7, sub64)
	CASE($8, mul64)
	CASE($9, div64)
	CASE($10, max64)
	CASE($11, min64)
	CASE($12, relu)
	CASE($20, copy)
	VMOVDQU order<>(SB), Y6
	VPBROADCASTQ ones<>(SB), Y7
	CASE($13, less)
	CASE($14, lessEqual)
	CASE($15, equal)
	CASE($16, notEqual)
	CASE($17, greater)
	CASE($18, greaterEqual)
	VBROADCASTSS limit<>(SB), Y6

// What does not fit becomes the smallest integer, which is right for negative numbers alone.
toInt32:
	VMOVUPS (SI), Y2
	VMOVUPS 32(SI), Y3
	VCVTTPS2DQ Y2, Y0
	VCVTTPS2DQ Y3, Y1
	VCMPPS $13, Y6, Y2, Y4 // at least 2^31: all bits but the sign
	VCMPPS $13, Y6, Y3, Y5
	VXORPS Y4, Y0, Y0
	VXORPS Y5, Y1, Y1
	VCMPPS $7, Y2, Y2, Y2 // no NaN
	VCMPPS $7, Y3, Y3, Y3
	VANDPS Y2, Y0, Y0
	VANDPS Y3, Y1, Y1
	NEXT(toInt32)

PAIRS(add, VADDPS)
PAIRS(sub, VSUBPS)
PAIRS(mul, VMULPS)
PAIRS(div, VDIVPS)
EXTREMES(max, VMAXPS, VCMPPS, VBLENDVPS)
EXTREMES(min, VMINPS, VCMPPS, VBLENDVPS)
PAIRS(add64, VADDPD)
PAIRS(sub64, VSUBPD)
PAIRS(mul64, VMULPD)
PAIRS(div64, VDIVPD)
EXTREMES(max64, VMAXPD, VCMPPD, VBLENDVPD)
EXTREMES(min64, VMINPD, VCMPPD, VBLENDVPD)
PAIRS(relu, VMAXPS) // of NaN the second operand, 0

copy:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	NEXT(copy)

BOOLS(less, $17)
BOOLS(lessEqual, $18)
BOOLS(equal, $0)
BOOLS(notEqual, $4)
BOOLS(greater, $30)
BOOLS(greaterEqual, $29)

end:
	VZEROUPPER
	RET

// CHOOSE takes elements of b where the condition is 0. Conditions become as wide as elements; half is the bytes of them for a vector.
#define CHOOSE(loop, EXTEND, COMPARE, half, STORE) \
loop: \
	EXTEND (SI), Y0; \
	EXTEND half(SI), Y1; \
	COMPARE Y7, Y0, Y0; \
	COMPARE Y7, Y1, Y1; \
	VMOVDQU (DX), Y2; \
	VMOVDQU 32(DX), Y3; \
	VPBLENDVB Y0, (BX), Y2, Y2; \
	VPBLENDVB Y1, 32(BX), Y3, Y3; \
	STORE Y2, (DI); \
	STORE Y3, 32(DI); \
	ADDQ $(2*half), SI; \
	ADDQ $64, DX; \
	ADDQ $64, BX; \
	ADDQ $64, DI; \
	SUBQ $64, CX; \
	JNE  loop; \
	JMP  end

// func chooseLoop(size int, past bool, dst, condition, a, b unsafe.Pointer, n int)
TEXT ·chooseLoop(SB), NOSPLIT, $0-56
	MOVQ    size+0(FP), AX
	MOVBLZX past+8(FP), R8
	MOVQ    dst+16(FP), DI
	MOVQ    condition+24(FP), SI
	MOVQ    a+32(FP), DX
	MOVQ    b+40(FP), BX
	MOVQ    n+48(FP), CX
	VPXOR   Y7, Y7, Y7
	TESTL   R8, R8
	JEQ     near
	CASE($1, past1)
	CASE($2, past2)
	CASE($4, past4)

CHOOSE(past8, VPMOVZXBQ, VPCMPEQQ, 4, VMOVNTDQ)
CHOOSE(past1, VMOVDQU, VPCMPEQB, 32, VMOVNTDQ)
CHOOSE(past2, VPMOVZXBW, VPCMPEQW, 16, VMOVNTDQ)
CHOOSE(past4, VPMOVZXBD, VPCMPEQD, 8, VMOVNTDQ)

near:
	CASE($1, near1)
	CASE($2, near2)
	CASE($4, near4)

CHOOSE(near8, VPMOVZXBQ, VPCMPEQQ, 4, VMOVDQU)
CHOOSE(near1, VMOVDQU, VPCMPEQB, 32, VMOVDQU)
CHOOSE(near2, VPMOVZXBW, VPCMPEQW, 16, VMOVDQU)
CHOOSE(near4, VPMOVZXBD, VPCMPEQD, 8, VMOVDQU)

end:
	VZEROUPPER
	RET

// func storeFence()
TEXT ·storeFence(SB), NOSPLIT, $0-0
	SFENCE
	RET
