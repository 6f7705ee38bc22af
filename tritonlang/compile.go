package tritonlang

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/tritonlang/clean"
	"github.com/paddle-mps/paddle-mps/tritonlang/emit"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// Options are what a caller may choose. The zero value means 4 SIMD groups and the limits of every Apple GPU.
type Options struct {
	Warps      int  // SIMD groups of 32 threads; 0: 4
	F64AsF32   bool // compute float64 as float32; without it float64 is refused
	MaxThreads int  // of a threadgroup; 0: 1024
	MaxShared  int  // bytes of threadgroup memory; 0: 32 KiB
	NoFusion   bool // keep products and sums apart, which Metal may otherwise fuse
	Explain    bool // Result.Source is the description that Explain gives
}

// Result is a compiled kernel.
type Result struct {
	Source   string // Metal's shading language; its first line is the metadata
	Metadata string // JSON, one line
	Name     string
	Stats    emit.Stats
}

// Format is the version of the metadata and of the launch convention.
const Format = 1

// Compile compiles the public function of a module. file is the name that errors give. Errors are *ttir.Error for text
// that is no Triton IR, *ttir.Unsupported for what is refused, and *ttir.OutOfResources.
func Compile(text, file string, o Options) (*Result, error) {
	m, err := ttir.Parse(text, file)
	if err != nil {
		return nil, err
	}
	if err := ttir.Verify(m); err != nil {
		return nil, err
	}
	// Text that no pass of Triton's has run on.
	if clean.Needed(m) {
		if err := clean.Run(m); err != nil {
			return nil, err
		}
		if err := ttir.Verify(m); err != nil {
			return nil, fmt.Errorf("[triton] cleaning has made a wrong module: %w", err)
		}
	}
	warps := o.Warps
	if warps == 0 {
		warps = 4
	}
	k, err := emit.Emit(m, &emit.Options{Warps: warps, F64AsF32: o.F64AsF32, MaxThreads: o.MaxThreads, MaxShared: o.MaxShared, NoFusion: o.NoFusion})
	if err != nil {
		return nil, err
	}
	meta := metadata(k, warps)
	r := &Result{Source: "// " + meta + "\n" + k.Body, Metadata: meta, Name: k.Name, Stats: k.Stats}
	if o.Explain {
		r.Source = r.Explain()
	}
	return r, nil
}

// metadata is what a launch has to know, as JSON.
func metadata(k *emit.Kernel, warps int) string {
	var s strings.Builder
	s.WriteString(`{"triton_mps":` + strconv.Itoa(Format) + `,"name":` + strconv.Quote(k.Name) + `,"args":[`)
	for i, a := range k.Args {
		if i > 0 {
			s.WriteByte(',')
		}
		s.WriteString(`{"name":` + strconv.Quote(a.Name) + `,"type":` + strconv.Quote(a.Type))
		if a.Divisible > 1 {
			s.WriteString(`,"divisible":` + strconv.Itoa(a.Divisible))
		}
		if a.Writes {
			s.WriteString(`,"writes":true`)
		}
		s.WriteByte('}')
	}
	s.WriteString(`],"grid":"threadgroups","num_warps":` + strconv.Itoa(warps) + `,"threads":` + strconv.Itoa(k.Threads) +
		`,"shared":` + strconv.Itoa(k.Stats.Shared))
	if k.Packed {
		s.WriteString(`,"packed":true`)
	}
	if k.Tabled {
		s.WriteString(`,"table":true`)
	}
	if len(k.Sites) > 0 {
		s.WriteString(`,"reports":` + string(k.Sites.Append(nil)))
	}
	s.WriteByte('}')
	return s.String()
}

// Unsupported, OutOfResources and SyntaxError are the errors of Compile.
type (
	Unsupported    = ttir.Unsupported
	OutOfResources = ttir.OutOfResources
	SyntaxError    = ttir.Error
)

func refused(what, why string) error { return &Unsupported{Op: what, Why: why} }
