package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTritonCompile compiles a file, and names the place of an error.
func TestTritonCompile(t *testing.T) {
	run := func(args ...string) (status int, out, complaint string) {
		var o, c bytes.Buffer
		status = run(append([]string{"triton"}, args...), &o, &c)
		return status, o.String(), c.String()
	}
	add := filepath.Join("..", "..", "tritonlang", "testdata", "add.ttir")
	to := filepath.Join(t.TempDir(), "add.metal")
	status, _, complaint := run("compile", add, "-o", to, "-w", "2")
	require.Zero(t, status, complaint)
	text, err := os.ReadFile(to)
	require.NoError(t, err)
	require.Contains(t, string(text), `"threads":64`)
	require.Contains(t, string(text), "kernel void add(")

	status, out, _ := run("explain", add)
	require.Zero(t, status)
	require.Contains(t, out, "16 bytes an access")
	require.Contains(t, out, "0 barriers")

	bad := filepath.Join(t.TempDir(), "x.ttir")
	require.NoError(t, os.WriteFile(bad, []byte("module {\n  tt.func public @f() {\n    %0 = tt.nothing\n    tt.return %1\n"), 0o644))
	status, _, complaint = run("compile", bad)
	require.Equal(t, 1, status)
	require.Contains(t, complaint, "tt.nothing at x.ttir:3")
	require.NoError(t, os.WriteFile(bad, []byte("module {\n  tt.func public @f() {\n    tt.return %1 : i32\n"), 0o644))
	status, _, complaint = run("compile", bad)
	require.Equal(t, 1, status)
	require.Contains(t, complaint, "x.ttir:3:15: value %1 is not defined")

	for _, wrong := range [][]string{{}, {"compile"}, {"decompile"}, {"compile", add, add}, {"compile", "-q", add}} {
		status, _, _ = run(wrong...)
		require.Equal(t, 2, status, wrong)
	}
	status, _, complaint = run("compile", "-w", "3", add)
	require.Equal(t, 1, status)
	require.Contains(t, complaint, "num_warps=3")

	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	pipe := fmt.Sprintf("/dev/fd/%d", r.Fd())
	for _, endless := range []string{"/dev/zero", pipe, t.TempDir()} {
		for _, command := range []string{"compile", "explain"} {
			status, _, complaint = run(command, endless)
			require.Equal(t, 1, status, endless)
			require.Contains(t, complaint, "want a file with Triton IR")
		}
	}
}

// TestTritonFrontend hands the command line to Python, and its status back.
func TestTritonFrontend(t *testing.T) {
	for _, c := range []struct {
		status string
		want   int
	}{{"0", 0}, {"1", 1}, {"2", 2}} {
		t.Setenv("PADDLE_MPS_PYTHON", python(t, "0", c.status))
		var out, complaint bytes.Buffer
		require.Equal(t, c.want, run([]string{"triton", "frontend", "triton.whl", "there"}, &out, &complaint))
		require.Contains(t, out.String()+complaint.String(), "paddle_mps_triton.frontend triton.whl there")
	}
	t.Setenv("PADDLE_MPS_PYTHON", filepath.Join(t.TempDir(), "none"))
	var out, complaint bytes.Buffer
	require.Equal(t, 1, run([]string{"triton", "frontend", "a", "b"}, &out, &complaint))
	require.Contains(t, complaint.String(), "found no package paddle_mps")
}
