/*
 * metal.h - Metal's shading language as a C++ header, as much of it as compute kernels use.
 *
 * Written from the Metal Shading Language Specification 3.2: types (section 2), functions (section 6),
 * numerical compliance (section 8). It includes nothing of the machine, so that a shader which uses
 * what a Mac does not have fails to compile here too. Every shader is compiled with it in front;
 * shader_source.c has rewritten what C++ has no words for.
 */
#pragma once
#include "types.h"
#include "traits.h"
#include "entry.h"
#include "math.h"
#include "linear.h"
#include "divide.h"
#include "strict.h"
#include "meet.h"
#include "atomic.h"
#include "matrix.h"
#include "names.h"
