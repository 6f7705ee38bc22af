package gpu

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels"
)

// Variant is one way in which an operator runs here: a shader of ours or a graph of MPSGraph.
type Variant = kernels.Variant[*Device, Kernel]

// Prefer says which variants are tried first.
type Prefer uint8

// The preferences. Shaders are the default, because their dispatch costs a tenth.
const (
	PreferShaders Prefer = iota
	PreferGraphs
)

// variants holds all variants once for each preference, which decides their priorities.
var variants [2]kernels.Variants[*Device, Kernel]

// Rank is what a variant is, by which a preference orders it.
type Rank int

const (
	Graph  Rank = iota
	Shader      // costs less than a graph to dispatch
	Slow        // a shader that only runs what no graph can
)

var priorities = [2][3]kernels.Priority{
	PreferShaders: {Graph: 10, Shader: 20, Slow: 0},
	PreferGraphs:  {Graph: 20, Shader: 10, Slow: 0},
}

// Register adds a variant of an operator for a set of dtypes, from an init function.
func Register(r Rank, id op.ID, set dtype.Set, v Variant) {
	v.Op, v.DTypes = id, set
	for prefer := range variants {
		v.Priority = priorities[prefer][r]
		variants[prefer].Add(v)
	}
}

// Variants are all variants in the order of a preference.
func Variants(p Prefer) *kernels.Variants[*Device, Kernel] { return &variants[p] }

// Named lists the variants of one rank for an operator and a dtype.
func Named(id op.ID, d dtype.DType, r Rank) (all []*kernels.Variant[*Device, Kernel]) {
	for _, v := range variants[PreferShaders].Of(id, d) {
		if v.Priority == priorities[PreferShaders][r] {
			all = append(all, v)
		}
	}
	return all
}

// Parts of classes of graphs. The classes of shaders are small numbers.
const (
	// Specific is a class of kernels that are compiled for the dimensions, strides, axes and attributes of
	// a call. They may refuse when they are made.
	Specific = 1 << 39
	// Given is where a set of attributes begins that each call gives anew: they make no other program.
	Given     = 32
	MostGiven = 7
)
