package tritonlang

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// ParseOptions reads options as JSON: {"num_warps": 4, "allow_f64_as_f32": false, "max_threads": 1024, "shared_memory": 32768,
// "enable_fp_fusion": true, "file": "kernel.ttir", "explain": false}. num_stages has no effect. All are optional; file is the name
// that errors give. Other names are an error.
func ParseOptions(text []byte) (o Options, file string, err error) {
	given := struct {
		Warps     int    `json:"num_warps"`
		F64AsF32  bool   `json:"allow_f64_as_f32"`
		Threads   int    `json:"max_threads"`
		Shared    int    `json:"shared_memory"`
		File      string `json:"file"`
		Stages    any    `json:"num_stages"` // accepted, without effect
		FpFusion  bool   `json:"enable_fp_fusion"`
		Explain   bool   `json:"explain"`
		NumCTAs   int    `json:"num_ctas"`
		Cooperate bool   `json:"launch_cooperative_grid"`
	}{Warps: 4, NumCTAs: 1, File: "kernel.ttir", FpFusion: true}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if len(text) > 0 {
		if err := d.Decode(&given); err != nil {
			return o, "", fmt.Errorf("[triton] options: %w", err)
		}
	}
	o = Options{given.Warps, given.F64AsF32, given.Threads, given.Shared, !given.FpFusion, given.Explain}
	switch {
	case given.Warps < 1 || given.Warps&(given.Warps-1) != 0:
		return o, given.File, refused(fmt.Sprintf("num_warps=%d", given.Warps), "want a power of two")
	case given.NumCTAs != 1:
		return o, given.File, refused(fmt.Sprintf("num_ctas=%d", given.NumCTAs), "a Metal GPU has no clusters of threadgroups")
	case given.Cooperate:
		return o, given.File, refused("launch_cooperative_grid", "threadgroups of a Metal GPU cannot wait for each other")
	case given.Threads < 0 || given.Threads > 1024:
		return o, given.File, fmt.Errorf("[triton] options: max_threads is %d; want up to 1024", given.Threads)
	case given.Shared < 0 || given.Shared > 32<<10:
		return o, given.File, fmt.Errorf("[triton] options: shared_memory is %d; want up to 32768", given.Shared)
	}
	return o, given.File, nil
}
