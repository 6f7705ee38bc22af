//go:build goexperiment.simd && !race

#include "go_asm.h"
#include "textflag.h"

// Functions of vectors of 16 float32: see functions_amd64.go. The steps are those of the loops in Go. Constants stay in registers, of which
// the compiler uses only half: loads of constants would take longer than the arithmetic, as one vector of 64 bytes is loaded in a cycle.
//
// SI and DX are in the operands, DI is in the result, and CX is the number of elements that are left. AX and BX are at constants.

#define ARGUMENTS \
	MOVQ dst+0(FP), DI; \
	MOVQ src+8(FP), SI; \
	MOVQ n+16(FP), CX; \
	MOVQ c+24(FP), AX

// LOADNINE loads nine vectors of constants, which lie one behind the other.
#define LOADNINE(at, v0, v1, v2, v3, v4, v5, v6, v7, v8) \
	VMOVUPS (at+0*64)(BX), v0; \
	VMOVUPS (at+1*64)(BX), v1; \
	VMOVUPS (at+2*64)(BX), v2; \
	VMOVUPS (at+3*64)(BX), v3; \
	VMOVUPS (at+4*64)(BX), v4; \
	VMOVUPS (at+5*64)(BX), v5; \
	VMOVUPS (at+6*64)(BX), v6; \
	VMOVUPS (at+7*64)(BX), v7; \
	VMOVUPS (at+8*64)(BX), v8

#define NEXT(loop) \
	ADDQ $64, SI; \
	ADDQ $64, DI; \
	SUBQ $16, CX; \
	JG   loop

// The exponential: FOLD is SplitExpNarrow512, with r in x, and GROWTH is Expm1Narrow512, in p. BX stays at narrowExpConstants.
#define LOG2E Z16
#define MAGIC Z17
#define MINUSLN2 Z18
#define MINUSLN2LOW Z19
#define GROWTH0 Z20
#define GROWTH1 Z21
#define GROWTH2 Z22
#define GROWTH3 Z23
#define GROWTH4 Z24
#define ONE Z25
#define LOWEST Z26
#define HIGHEST Z27

#define EXPCONSTANTS \
	LEAQ    constants_narrowExpConstants(AX), BX; \
	VMOVUPS narrowExpConstants_NarrowLog2e(BX), LOG2E; \
	VMOVUPS narrowExpConstants_NarrowMagic(BX), MAGIC; \
	VMOVUPS narrowExpConstants_NarrowMinusLn2(BX), MINUSLN2; \
	VMOVUPS narrowExpConstants_NarrowMinusLn2Low(BX), MINUSLN2LOW; \
	VMOVUPS (narrowExpConstants_narrowGrowth+0*64)(BX), GROWTH0; \
	VMOVUPS (narrowExpConstants_narrowGrowth+1*64)(BX), GROWTH1; \
	VMOVUPS (narrowExpConstants_narrowGrowth+2*64)(BX), GROWTH2; \
	VMOVUPS (narrowExpConstants_narrowGrowth+3*64)(BX), GROWTH3; \
	VMOVUPS (narrowExpConstants_narrowGrowth+4*64)(BX), GROWTH4; \
	VMOVUPS narrowExpConstants_NarrowOne(BX), ONE; \
	VMOVUPS narrowExpConstants_narrowLowest(BX), LOWEST; \
	VMOVUPS narrowExpConstants_narrowHighest(BX), HIGHEST

#define FOLD(x, n) \
	VMOVAPS     LOG2E, n; \
	VFMADD213PS MAGIC, x, n; \
	VSUBPS      MAGIC, n, n; \
	VFMADD231PS MINUSLN2, n, x; \
	VFMADD231PS MINUSLN2LOW, n, x

#define GROWTH(r, square, p) \
	VMOVAPS     GROWTH4, p; \
	VMULPS      r, r, square; \
	VFMADD213PS GROWTH3, r, p; \
	VFMADD213PS GROWTH2, r, p; \
	VFMADD213PS GROWTH1, r, p; \
	VFMADD213PS GROWTH0, r, p; \
	VFMADD213PS r, square, p

// func expVectors(dst, src *float32, n int, c unsafe.Pointer) int
//
// Minima and maxima keep NaN, which is their second operand.
TEXT ·expVectors(SB), NOSPLIT, $0-40
	ARGUMENTS
	MOVQ CX, ret+32(FP)
	EXPCONSTANTS

vector:
	VMAXPS    (SI), LOWEST, Z0
	VMINPS    Z0, HIGHEST, Z0
	FOLD(Z0, Z1)
	GROWTH(Z0, Z2, Z3)
	VADDPS    ONE, Z3, Z3
	VSCALEFPS Z1, Z3, Z3
	VMOVUPS   Z3, (DI)
	NEXT(vector)
	VZEROUPPER
	RET

#define SIGN Z28
#define BIASUP Z29
#define DOWN Z30
#define MINUSDOWN Z31

// func sigmoidVectors(dst, src *float32, n int, c unsafe.Pointer) int
TEXT ·sigmoidVectors(SB), NOSPLIT, $0-40
	ARGUMENTS
	MOVQ CX, ret+32(FP)
	EXPCONSTANTS
	VMOVUPS narrowExpConstants_NarrowSign(BX), SIGN
	LEAQ    constants_narrowSiluConstants(AX), BX
	VMOVUPS narrowSiluConstants_NarrowBiasUp(BX), BIASUP
	VMOVUPS narrowSiluConstants_narrowDown(BX), DOWN
	VMOVUPS narrowSiluConstants_narrowMinusDown(BX), MINUSDOWN
	VPXORD  Z7, Z7, Z7

vector:
	VMOVUPS     (SI), Z4
	VPORD       SIGN, Z4, Z0
	VMAXPS      Z0, LOWEST, Z0
	FOLD(Z0, Z1)
	GROWTH(Z0, Z2, Z3)
	VADDPS      BIASUP, Z1, Z1
	VPSLLD      $23, Z1, Z1
	VFMADD213PS Z1, Z1, Z3          // exp(-|x|), 2^64 times as large
	VMULPS      MINUSDOWN, Z3, Z2   // its negative
	VSUBPS      Z2, ONE, Z5
	VRCP14PS    Z5, Z6              // one step of Newton's method follows
	VSUBPS      Z6, ONE, Z5
	VFMADD231PS Z6, Z2, Z5
	VFMADD213PS Z6, Z6, Z5
	VCMPPS      $1, Z7, Z4, K1
	VMOVAPS     ONE, Z0
	VMULPS      DOWN, Z3, K1, Z0
	VMULPS      Z5, Z0, Z0
	VMOVUPS     Z0, (DI)
	NEXT(vector)
	VZEROUPPER
	RET

// TERM takes the polynomial in p one power further, given the table, the intervals and the distance from their centers.
#define TERM(table, i, t, term, p) \
	VPERMPS     table, i, term; \
	VFMADD213PS term, t, p

// func tanhVectors(dst, src *float32, n int, c unsafe.Pointer) int
//
// Z16 to Z24 have the tables of eight polynomials.
TEXT ·tanhVectors(SB), NOSPLIT, $0-40
	ARGUMENTS
	MOVQ CX, ret+32(FP)
	LEAQ    constants_narrowExpConstants(AX), BX
	VMOVUPS narrowExpConstants_narrowAbs(BX), Z25
	LEAQ    constants_narrowPiecesConstants(AX), BX
	VMOVUPS narrowPiecesConstants_narrowTanhLimit(BX), Z26
	VMOVUPS narrowPiecesConstants_narrowTanhShift(BX), Z27
	LOADNINE(narrowPiecesConstants_narrowTanh, Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23, Z24)

vector:
	VMOVUPS     (SI), Z0
	VPANDD      Z25, Z0, Z1
	VMINPS      Z1, Z26, Z1
	VADDPS      Z27, Z1, Z2
	VPSRAD      $22, Z2, Z2         // the interval
	VPERMPS     Z16, Z2, Z3
	VPERMPS     Z24, Z2, Z4
	VSUBPS      Z3, Z1, Z1          // the distance from its center
	TERM(Z23, Z2, Z1, Z3, Z4)
	TERM(Z22, Z2, Z1, Z3, Z4)
	TERM(Z21, Z2, Z1, Z3, Z4)
	TERM(Z20, Z2, Z1, Z3, Z4)
	TERM(Z19, Z2, Z1, Z3, Z4)
	TERM(Z18, Z2, Z1, Z3, Z4)
	TERM(Z17, Z2, Z1, Z3, Z4)
	VPTERNLOGD  $0xF4, Z25, Z0, Z4  // the sign of Z0
	VMOVUPS     Z4, (DI)
	NEXT(vector)
	VZEROUPPER
	RET

#define GELULIMIT Z16
#define MINUSHALF Z25
#define HALF Z26
#define MINUSHALFLOG2E Z27
#define ABS Z28

// func geluVectors(dst, src *float32, n int, c unsafe.Pointer) int
//
// Z7 to Z15 have the tables of eight polynomials.
TEXT ·geluVectors(SB), NOSPLIT, $0-40
	ARGUMENTS
	MOVQ CX, ret+32(FP)
	EXPCONSTANTS
	VMOVUPS narrowExpConstants_narrowHalf(BX), HALF
	VMOVUPS narrowExpConstants_narrowAbs(BX), ABS
	LEAQ    constants_narrowSiluConstants(AX), BX
	VMOVUPS narrowSiluConstants_NarrowBiasUp(BX), BIASUP
	VMOVUPS narrowSiluConstants_narrowMinusDown(BX), MINUSDOWN
	LEAQ    constants_narrowTrigConstants(AX), BX
	VMOVUPS narrowTrigConstants_narrowMinusHalf(BX), MINUSHALF
	LEAQ    constants_narrowPiecesConstants(AX), BX
	VMOVUPS narrowPiecesConstants_narrowGeluLimit(BX), GELULIMIT
	VMOVUPS narrowPiecesConstants_narrowMinusHalfLog2e(BX), MINUSHALFLOG2E
	LOADNINE(narrowPiecesConstants_narrowGelu, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15)

vector:
	VMOVUPS     (SI), Z0
	VPANDD      ABS, Z0, Z1
	VMINPS      Z1, GELULIMIT, Z1
	// foldSquare512: n is in Z2 and r in Z3.
	VMULPS      Z1, Z1, Z2
	VMULPS      MINUSHALF, Z1, Z4
	VMULPS      MINUSHALF, Z2, Z3
	VMULPS      HALF, Z2, Z5
	VFMADD213PS Z5, Z1, Z4
	VFMADD213PS MAGIC, MINUSHALFLOG2E, Z2
	VSUBPS      MAGIC, Z2, Z2
	VFMADD231PS MINUSLN2, Z2, Z3
	VFMADD231PS MINUSLN2LOW, Z2, Z3
	VADDPS      Z4, Z3, Z3
	// pieces512, in Z6
	VADDPS      narrowPiecesConstants_narrowGeluShift(BX), Z1, Z5
	VCMPPS      $1, narrowPiecesConstants_narrowGeluFirst(BX), Z5, K1
	VPSRAD      $22, Z5, Z5
	VPERMPS     Z7, Z5, Z4
	VSUBPS      Z4, Z1, Z1
	VPERMPS     Z15, Z5, Z6
	TERM(Z14, Z5, Z1, Z4, Z6)
	TERM(Z13, Z5, Z1, Z4, Z6)
	TERM(Z12, Z5, Z1, Z4, Z6)
	TERM(Z11, Z5, Z1, Z4, Z6)
	TERM(Z10, Z5, Z1, Z4, Z6)
	TERM(Z9, Z5, Z1, Z4, Z6)
	VPERMPS     Z8, Z5, Z4
	VMULPS      HALF, Z1, K1, Z4
	VFMADD213PS Z4, Z1, Z6
	GROWTH(Z3, Z5, Z4)
	VFMADD213PS Z6, Z6, Z4
	VADDPS      BIASUP, Z2, Z2
	VPSLLD      $23, Z2, Z2
	VMULPS      Z2, Z4, Z4
	VPMOVD2M    Z0, K1
	VMULPS      constants_plainConstants(AX), Z0, K1, Z0 // 0 in place of negative numbers; NaN of -Inf
	VFMADD213PS Z0, MINUSDOWN, Z4
	VMOVUPS     Z4, (DI)
	NEXT(vector)
	VZEROUPPER
	RET

// func logVectors(dst, src *float32, n int, c unsafe.Pointer) int
//
// Z16 to Z24 have the polynomial.
TEXT ·logVectors(SB), NOSPLIT, $0-40
	ARGUMENTS
	LEAQ    constants_narrowExpConstants(AX), BX
	VMOVUPS narrowExpConstants_NarrowOne(BX), Z25
	LEAQ    constants_narrowLogConstants(AX), BX
	LOADNINE(narrowLogConstants_narrowLogCurve, Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23, Z24)
	VMOVUPS narrowLogConstants_narrowRoot(BX), Z26
	VMOVUPS narrowLogConstants_narrowLn2(BX), Z27
	VMOVUPS narrowLogConstants_narrowLn2Low(BX), Z28
	VMOVUPS narrowLogConstants_narrowNormal(BX), Z29
	VMOVUPS narrowLogConstants_narrowNormalTop(BX), Z30

vector:
	VMOVUPS     (SI), Z0
	VPADDD      Z29, Z0, Z1
	VPCMPGTD    Z30, Z1, K1
	KORTESTW    K1, K1
	JNE         done
	VPSUBD      Z26, Z0, Z1
	VPSRAD      $23, Z1, Z1
	VPSLLD      $23, Z1, Z2
	VPSUBD      Z2, Z0, Z0
	VSUBPS      Z25, Z0, Z0         // f
	VCVTDQ2PS   Z1, Z1              // k
	VMOVAPS     Z24, Z3
	VMULPS      Z0, Z0, Z2
	VFMADD213PS Z23, Z0, Z3
	VFMADD213PS Z22, Z0, Z3
	VFMADD213PS Z21, Z0, Z3
	VFMADD213PS Z20, Z0, Z3
	VFMADD213PS Z19, Z0, Z3
	VFMADD213PS Z18, Z0, Z3
	VFMADD213PS Z17, Z0, Z3
	VFMADD213PS Z16, Z0, Z3
	VMULPS      Z3, Z2, Z2
	VFMADD231PS Z28, Z1, Z2
	VADDPS      Z2, Z0, Z0
	VFMADD231PS Z27, Z1, Z0
	VMOVUPS     Z0, (DI)
	NEXT(vector)

done:
	MOVQ n+16(FP), DX
	SUBQ CX, DX
	MOVQ DX, ret+32(FP)
	VZEROUPPER
	RET

// func sinVectors(dst, src *float32, n int, c unsafe.Pointer) int
TEXT ·sinVectors(SB), NOSPLIT, $0-40
	ARGUMENTS
	LEAQ    constants_narrowExpConstants(AX), BX
	VMOVUPS narrowExpConstants_NarrowOne(BX), Z16
	VMOVUPS narrowExpConstants_narrowAbs(BX), Z17
	VMOVUPS narrowExpConstants_NarrowMagic(BX), Z18
	LEAQ    constants_narrowLogConstants(AX), BX
	VMOVUPS narrowLogConstants_narrowMinusOne(BX), Z19
	LEAQ    constants_narrowTrigConstants(AX), BX
	VMOVUPS narrowTrigConstants_narrowOverPi(BX), Z20
	VMOVUPS narrowTrigConstants_narrowMinusPi(BX), Z21
	VMOVUPS narrowTrigConstants_narrowMinusPiMid(BX), Z22
	VMOVUPS narrowTrigConstants_narrowMinusPiLow(BX), Z23
	VMOVUPS narrowTrigConstants_narrowTrigLimit(BX), Z24
	VMOVUPS (narrowTrigConstants_narrowSin+0*64)(BX), Z25
	VMOVUPS (narrowTrigConstants_narrowSin+1*64)(BX), Z26
	VMOVUPS (narrowTrigConstants_narrowSin+2*64)(BX), Z27
	VMOVUPS (narrowTrigConstants_narrowSin+3*64)(BX), Z28
	VMOVUPS (narrowTrigConstants_narrowSin+4*64)(BX), Z29
	VPXORD  Z30, Z30, Z30

vector:
	VMOVUPS     (SI), Z0
	VPANDD      Z17, Z0, Z1
	VCMPPS      $2, Z24, Z1, K1
	KORTESTW    K1, K1
	JCC         done                // not all within the limit
	VMOVAPS     Z20, Z2
	VFMADD213PS Z18, Z0, Z2         // t
	VSUBPS      Z18, Z2, Z3         // n
	VMOVAPS     Z0, Z1
	VFMADD231PS Z21, Z3, Z1
	VFMADD231PS Z22, Z3, Z1
	VFMADD231PS Z23, Z3, Z1         // r
	VMULPS      Z1, Z1, Z4
	VMOVAPS     Z29, Z5
	VFMADD213PS Z28, Z4, Z5
	VFMADD213PS Z27, Z4, Z5
	VFMADD213PS Z26, Z4, Z5
	VFMADD213PS Z25, Z4, Z5
	VMULPS      Z4, Z5, Z5
	VFMADD213PS Z1, Z1, Z5
	VPMINSD     Z16, Z5, Z5
	VPMINUD     Z19, Z5, Z5
	VPSLLD      $31, Z2, Z2
	VPADDD      Z2, Z5, Z5
	VCMPPS      $0, Z30, Z0, K1
	VMOVAPS     Z0, K1, Z5          // for the sign
	VMOVUPS     Z5, (DI)
	NEXT(vector)

done:
	MOVQ n+16(FP), DX
	SUBQ CX, DX
	MOVQ DX, ret+32(FP)
	VZEROUPPER
	RET

// pow computes two vectors side by side: in one, most instructions would wait for the one before, and those of the next vector would find
// no place in the queues of the processor. These are the steps of a vector; see powers_simd.go. Each leaves in its registers what the
// next ones need. BX, R8 and R9 stay at constants, and the tables are in registers.
#define INVERSE0 Z16
#define INVERSE1 Z17
#define LOG0 Z18
#define LOG1 Z19
#define LOGLOW0 Z20
#define LOGLOW1 Z21
#define STEP Z22
#define STEPLOW Z23
#define POWLOG2E Z24
#define POWMINUSLOG2E Z25
#define POWLOG2ELOW Z26
#define STEPMAGIC Z27
#define CURVE0 Z28
#define CURVE1 Z29
#define CURVE2 Z30
#define MINUSONE Z31

#define POWCONSTANTS \
	LEAQ    constants_tablePowConstants(AX), BX; \
	LEAQ    constants_narrowExpConstants(AX), R8; \
	LEAQ    constants_narrowLogConstants(AX), R9; \
	VMOVUPS (tablePowConstants_powInverse+0*64)(BX), INVERSE0; \
	VMOVUPS (tablePowConstants_powInverse+1*64)(BX), INVERSE1; \
	VMOVUPS (tablePowConstants_powLog+0*64)(BX), LOG0; \
	VMOVUPS (tablePowConstants_powLog+1*64)(BX), LOG1; \
	VMOVUPS (tablePowConstants_powLogLow+0*64)(BX), LOGLOW0; \
	VMOVUPS (tablePowConstants_powLogLow+1*64)(BX), LOGLOW1; \
	VMOVUPS tablePowConstants_step(BX), STEP; \
	VMOVUPS tablePowConstants_stepLow(BX), STEPLOW; \
	VMOVUPS narrowExpConstants_NarrowLog2e(R8), POWLOG2E; \
	VMOVUPS tablePowConstants_powMinusLog2e(BX), POWMINUSLOG2E; \
	VMOVUPS narrowLogConstants_narrowLog2eLow(R9), POWLOG2ELOW; \
	VMOVUPS tablePowConstants_stepMagic(BX), STEPMAGIC; \
	VMOVUPS (tablePowConstants_powCurve+0*64)(BX), CURVE0; \
	VMOVUPS (tablePowConstants_powCurve+1*64)(BX), CURVE1; \
	VMOVUPS (tablePowConstants_powCurve+2*64)(BX), CURVE2; \
	VMOVUPS narrowLogConstants_narrowMinusOne(R9), MINUSONE

// USUAL adds to a mask: the lanes in which x is positive and normal, and y finite and not 2.
#define USUAL(x, y, t, k) \
	VPANDD narrowExpConstants_narrowAbs(R8), y, t; \
	VCMPPS $1, narrowLogConstants_narrowInf(R9), t, k, k; \
	VCMPPS $4, narrowExpConstants_narrowTwo(R8), y, k, k; \
	VPADDD narrowLogConstants_narrowNormal(R9), x, t; \
	VPCMPD $2, narrowLogConstants_narrowNormalTop(R9), t, k, k

// SPLIT: x = 2^k m, in the interval i. x becomes m.
#define SPLIT(x, k, i, t) \
	VPSUBD    tablePowConstants_powOffset(BX), x, k; \
	VPSRAD    $18, k, i; \
	VPSRAD    $23, k, k; \
	VPSLLD    $23, k, t; \
	VPSUBD    t, x, x; \
	VCVTDQ2PS k, k

// REDUCE: m becomes r, k the logarithm without r, and i what that lacks.
#define REDUCE(m, k, i, t) \
	VMOVAPS     i, t; \
	VPERMI2PS   INVERSE1, INVERSE0, t; \
	VFMADD213PS MINUSONE, t, m; \
	VMOVAPS     i, t; \
	VPERMI2PS   LOG1, LOG0, t; \
	VADDPS      t, k, k; \
	VPERMI2PS   LOGLOW1, LOGLOW0, i

// ADDLINEAR: high is the sum of k and r log2(e), t what that lacks but for what rounding drops from it, which k becomes.
#define ADDLINEAR(r, k, i, t, high) \
	VMULPS      POWMINUSLOG2E, r, t; \
	VSUBPS      t, k, high; \
	VSUBPS      high, k, k; \
	VSUBPS      t, k, k; \
	VFMADD231PS POWLOG2E, r, t; \
	VFMADD231PS POWLOG2ELOW, r, t; \
	VADDPS      i, t, t

// ADDCURVE: k becomes the low part of the logarithm.
#define ADDCURVE(r, k, t, square, p, lost) \
	VMULPS      r, r, square; \
	VMOVAPS     square, lost; \
	VFMSUB231PS r, r, lost; \
	VMOVUPS     (tablePowConstants_powCurve+3*64)(BX), p; \
	VFMADD213PS CURVE2, r, p; \
	VFMADD213PS CURVE1, r, p; \
	VFMADD213PS CURVE0, r, p; \
	VFMADD231PS CURVE0, lost, t; \
	VFMADD231PS p, square, t; \
	VADDPS      k, t, k

// TIMES: the product with y is in inside, within its limits, and low.
#define TIMES(y, high, low, product, inside, k) \
	VMULPS        y, high, product; \
	VFMSUB213PS   product, y, high; \
	VMINPS        tablePowConstants_powHigh(BX), product, inside; \
	VMAXPS        tablePowConstants_powLow(BX), inside, inside; \
	VCMPPS        $0, product, inside, k; \
	VFMADD213PS.Z high, y, k, low

// POWER: p becomes 2^(high+low).
#define POWER(high, low, t, whole, p, step) \
	VADDPS      low, high, t; \
	VADDPS      STEPMAGIC, t, t; \
	VSUBPS      STEPMAGIC, t, whole; \
	VSUBPS      whole, high, high; \
	VADDPS      low, high, high; \
	VMOVUPS     (tablePowConstants_stepCurve+2*64)(BX), p; \
	VFMADD213PS (tablePowConstants_stepCurve+1*64)(BX), high, p; \
	VFMADD213PS (tablePowConstants_stepCurve+0*64)(BX), high, p; \
	VPERMPS     STEP, t, step; \
	VPERMPS     STEPLOW, t, t; \
	VMULPS      step, high, high; \
	VFMADD213PS t, high, p; \
	VADDPS      step, p, p; \
	VSCALEFPS   whole, p, p

// func powVectors(dst, x, y *float32, n int, c unsafe.Pointer) int
TEXT ·powVectors(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), DX
	MOVQ n+24(FP), CX
	MOVQ c+32(FP), AX
	POWCONSTANTS
	KXNORW K0, K0, K0
	SUBQ   $32, CX
	JLT    done

vectors:
	VMOVUPS (SI), Z0
	VMOVUPS 64(SI), Z8
	VMOVUPS (DX), Z1
	VMOVUPS 64(DX), Z9
	KMOVW   K0, K1
	USUAL(Z0, Z1, Z4, K1)
	USUAL(Z8, Z9, Z12, K1)
	KORTESTW K1, K1
	JCC     done
	SPLIT(Z0, Z2, Z3, Z4)
	SPLIT(Z8, Z10, Z11, Z12)
	REDUCE(Z0, Z2, Z3, Z4)
	REDUCE(Z8, Z10, Z11, Z12)
	ADDLINEAR(Z0, Z2, Z3, Z4, Z5)
	ADDLINEAR(Z8, Z10, Z11, Z12, Z13)
	ADDCURVE(Z0, Z2, Z4, Z6, Z3, Z7)
	ADDCURVE(Z8, Z10, Z12, Z14, Z11, Z15)
	TIMES(Z1, Z5, Z2, Z6, Z7, K1)
	TIMES(Z9, Z13, Z10, Z14, Z15, K2)
	POWER(Z7, Z2, Z4, Z5, Z6, Z3)
	POWER(Z15, Z10, Z12, Z13, Z14, Z11)
	VMOVUPS Z6, (DI)
	VMOVUPS Z14, 64(DI)
	ADDQ    $128, SI
	ADDQ    $128, DX
	ADDQ    $128, DI
	SUBQ    $32, CX
	JGE     vectors

done:
	MOVQ n+24(FP), DX
	SUBQ $32, DX
	SUBQ CX, DX
	MOVQ DX, ret+40(FP)
	VZEROUPPER
	RET
