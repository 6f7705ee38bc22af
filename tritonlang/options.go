package tritonlang

import (
	"fmt"

	"github.com/paddle-mps/paddle-mps/core/jsontext"
)

// ParseOptions reads options as JSON: {"num_warps": 4, "allow_f64_as_f32": false, "max_threads": 1024, "shared_memory": 32768,
// "enable_fp_fusion": true, "file": "kernel.ttir", "explain": false}. num_stages has no effect. All are optional; file is the name
// that errors give. Other names are an error.
func ParseOptions(text []byte) (o Options, file string, err error) {
	g := given{Warps: 4, NumCTAs: 1, File: "kernel.ttir", FpFusion: true}
	if len(text) > 0 {
		if err := g.read(text); err != nil {
			return o, "", fmt.Errorf("[triton] options: %w", err)
		}
	}
	o = Options{g.Warps, g.F64AsF32, g.Threads, g.Shared, !g.FpFusion, g.Explain}
	switch {
	case g.Warps < 1 || g.Warps&(g.Warps-1) != 0:
		return o, g.File, refused(fmt.Sprintf("num_warps=%d", g.Warps), "want a power of two")
	case g.NumCTAs != 1:
		return o, g.File, refused(fmt.Sprintf("num_ctas=%d", g.NumCTAs), "a Metal GPU has no clusters of threadgroups")
	case g.Cooperate:
		return o, g.File, refused("launch_cooperative_grid", "threadgroups of a Metal GPU cannot wait for each other")
	case g.Threads < 0 || g.Threads > 1024:
		return o, g.File, fmt.Errorf("[triton] options: max_threads is %d; want up to 1024", g.Threads)
	case g.Shared < 0 || g.Shared > 32<<10:
		return o, g.File, fmt.Errorf("[triton] options: shared_memory is %d; want up to 32768", g.Shared)
	}
	return o, g.File, nil
}

// given are the options as JSON has them.
type given struct {
	Warps, Threads, Shared, NumCTAs        int
	F64AsF32, FpFusion, Explain, Cooperate bool
	File                                   string
}

// read reads the members of an object. A null leaves the default.
func (g *given) read(text []byte) error {
	all, err := jsontext.Read(text)
	if err != nil {
		return err
	}
	return jsontext.Fields{
		"num_warps": &g.Warps, "allow_f64_as_f32": &g.F64AsF32, "max_threads": &g.Threads, "shared_memory": &g.Shared,
		"file": &g.File, "num_stages": nil, "enable_fp_fusion": &g.FpFusion, "explain": &g.Explain,
		"num_ctas": &g.NumCTAs, "launch_cooperative_grid": &g.Cooperate,
	}.Read(all)
}
