"""Methods of the builder that make one operation without any choice: a row each."""

from __future__ import annotations

# Two operands and a result of one type.
BINARY = {
    "create_add": "arith.addi",
    "create_sub": "arith.subi",
    "create_mul": "arith.muli",
    "create_sdiv": "arith.divsi",
    "create_udiv": "arith.divui",
    "create_srem": "arith.remsi",
    "create_urem": "arith.remui",
    "create_and": "arith.andi",
    "create_or": "arith.ori",
    "create_xor": "arith.xori",
    "create_shl": "arith.shli",
    "create_ashr": "arith.shrsi",
    "create_lshr": "arith.shrui",
    "create_minsi": "arith.minsi",
    "create_maxsi": "arith.maxsi",
    "create_minui": "arith.minui",
    "create_maxui": "arith.maxui",
    "create_fadd": "arith.addf",
    "create_fsub": "arith.subf",
    "create_fmul": "arith.mulf",
    "create_fdiv": "arith.divf",
    "create_frem": "arith.remf",
    "create_minimumf": "arith.minimumf",
    "create_maximumf": "arith.maximumf",
    "create_minnumf": "arith.minnumf",
    "create_maxnumf": "arith.maxnumf",
    "create_umulhi": "tt.mulhiui",
    "create_precise_divf": "tt.precise_divf",
    "create_approx_divf": "tt.approx_divf",
}

# One operand and a result of its type.
UNARY = {
    "create_fneg": "arith.negf",
    "create_precise_sqrt": "tt.precise_sqrt",
    "create_fabs": "math.absf",
    "create_iabs": "math.absi",
} | {
    f"create_{name}": f"math.{name}"
    for name in ("exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "rsqrt", "erf", "floor", "ceil")
}

# An operand, and the type of the result.
CASTS = {
    "create_fp_ext": ("arith.extf", "cast"),
    "create_fp_trunc": ("arith.truncf", "cast"),
    "create_si_to_fp": ("arith.sitofp", "cast"),
    "create_ui_to_fp": ("arith.uitofp", "cast"),
    "create_fp_to_si": ("arith.fptosi", "cast"),
    "create_fp_to_ui": ("arith.fptoui", "cast"),
    "create_bitcast": ("tt.bitcast", "arrow"),
    "create_int_to_ptr": ("tt.int_to_ptr", "arrow"),
    "create_ptr_to_int": ("tt.ptr_to_int", "arrow"),
}

# Two operands of one type and a truth value.
COMPARISONS = {
    f"create_icmp{name}": ("arith.cmpi", name.lower())
    for name in ("EQ", "NE", "SLT", "SLE", "SGT", "SGE", "ULT", "ULE", "UGT", "UGE")
} | {
    f"create_fcmp{name}": ("arith.cmpf", name.lower())
    for name in ("OEQ", "ONE", "OLT", "OLE", "OGT", "OGE", "UEQ", "UNE", "ULT", "ULE", "UGT", "UGE")
}

# Scalar types.
FLOATS = {
    "get_half_ty": ("f16", 16),
    "get_bf16_ty": ("bf16", 16),
    "get_float_ty": ("f32", 32),
    "get_double_ty": ("f64", 64),
    "get_fp8e4nv_ty": ("f8E4M3FN", 8),
    "get_fp8e4b8_ty": ("f8E4M3FNUZ", 8),
    "get_fp8e5_ty": ("f8E5M2", 8),
    "get_fp8e5b16_ty": ("f8E5M2FNUZ", 8),
    "get_fp8e4b15_ty": ("f8E4M3B11FNUZ", 8),
}
