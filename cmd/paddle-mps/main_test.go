package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const small = `{"version": 1, "device": "test </script> & <b>", "place": "mps:0",
	"segments": [{"id": 1, "total_size": 8, "blocks": [{"size": 5, "state": "inactive"}, {"size": 3, "state": "active_allocated", "stack": 1}]}],
	"trace": [{"action": "alloc", "size": 3, "stack": 1}],
	"stacks": [[{"filename": "a.py", "line": 1, "name": "</script><script>alert(1)</script>"}]]}`

func command(t *testing.T, args ...string) (code int, out, complaint string) {
	t.Helper()
	var o, c bytes.Buffer
	code = run(args, &o, &c)
	return code, o.String(), c.String()
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, 2, "usage:"},
		{[]string{"sing"}, 2, `got command "sing"`},
		{[]string{"memory-viz"}, 2, "got 0 snapshots; want 1"},
		{[]string{"memory-viz", "a", "b"}, 2, "got 2 snapshots; want 1"},
		{[]string{"memory-viz", "-x", "a"}, 2, "not defined: -x"},
		{[]string{"memory-viz", "nowhere.json"}, 1, "nowhere.json"},
	} {
		code, _, complaint := command(t, c.args...)
		require.Equal(t, c.code, code, "%v", c.args)
		require.Contains(t, complaint, c.says, "%v", c.args)
	}
}

// TestHelp: help that was asked for is the result.
func TestHelp(t *testing.T) {
	t.Setenv(pythonVariable, python(t, "1", "0")) // there is no package
	for _, c := range []struct{ args, says string }{
		{"help", "memory-viz SNAPSHOT.json"},
		{"-h", "memory-viz SNAPSHOT.json"},
		{"--help", "memory-viz SNAPSHOT.json"},
		{"--version", "paddle-mps of a development build"},
		{"serve --version", "paddle-mps of a development build"},
		{"memory-viz --version", "paddle-mps of a development build"},
		{"selftest --version", "paddle-mps of a development build"},
		{"help memory-viz", "the page to write"},
		{"memory-viz -h", "the page to write"},
		{"memory-viz a.json --help", "the page to write"},
		{"selftest --help", "python -m paddle_mps.selftest"},
		{"help collect-env", "want it installed"},
		{"bench --help", "python -m paddle_mps._commands._bench"},
		{"explain --help", "python -m paddle_mps._commands._explain"},
	} {
		code, out, complaint := command(t, strings.Fields(c.args)...)
		require.Zero(t, code, c.args)
		require.Empty(t, complaint, c.args)
		require.Contains(t, out, c.says, c.args)
	}
}

// TestPageIsNotTheSnapshot: the snapshot is never overwritten, under whatever name.
func TestPageIsNotTheSnapshot(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "x.html")
	require.NoError(t, os.WriteFile(name, []byte(small), 0o600))
	require.NoError(t, os.Symlink(name, filepath.Join(folder, "link")))
	for _, args := range [][]string{{name}, {name, "-o", name}, {name, "-o", filepath.Join(folder, "link")}} {
		code, _, complaint := command(t, append([]string{"memory-viz"}, args...)...)
		require.Equal(t, 1, code)
		require.Contains(t, complaint, "is the snapshot itself")
		left, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, small, string(left))
	}
}

// TestStacksOfC: a program in C has numbers for stacks and no list.
func TestStacksOfC(t *testing.T) {
	_, err := render([]byte(`{"version": 1, "trace": [{"action": "alloc", "size": 3, "stack": 18446744073709551615}]}`))
	require.NoError(t, err)
}

func TestPage(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "s.json")
	require.NoError(t, os.WriteFile(name, []byte(small), 0o600))
	code, out, complaint := command(t, "memory-viz", name)
	require.Zero(t, code, complaint)
	page := filepath.Join(folder, "s.html")
	require.Equal(t, page+"\n", out)
	written, err := os.ReadFile(page)
	require.NoError(t, err)
	code, out, _ = command(t, "memory-viz", name, "-o", "-")
	require.Zero(t, code)
	require.Equal(t, string(written), out)

	require.Equal(t, 2, strings.Count(out, "</script>"), "nothing in the data ends a script")
	require.Contains(t, out, `\u003c/script\u003e\u003cscript\u003ealert(1)`)
	require.Contains(t, out, "<title>Memory of mps:0 (test &lt;/script&gt; &amp; &lt;b&gt;)</title>")
	require.NotRegexp(t, `(src|href)=`, out, "the page is whole by itself")

	code, _, complaint = command(t, "memory-viz", "-o", filepath.Join(folder, "no", "such", "folder.html"), name)
	require.Equal(t, 1, code)
	require.Contains(t, complaint, "folder.html")
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ old, replacement, says string }{
		{small, "", "not a snapshot"},
		{small, "[1, 2]", "not a snapshot"},
		{`"version": 1`, `"version": 2`, "version 2; want 1"},
		{`"size": 5`, `"size": 6`, "8 bytes and its blocks have 9"},
		{`"size": 5`, `"size": 0`, "block of 0 bytes"},
		{`"total_size": 8`, `"total_size": "8"`, "not a snapshot"},
		{`"stack": 1}]}]`, `"stack": 2}]}]`, "stack 2; want"},
		{`"size": 3, "stack": 1}],`, `"size": -3, "stack": 1}],`, "event 0 has -3 bytes"},
	} {
		require.Contains(t, small, c.old)
		_, err := render([]byte(strings.Replace(small, c.old, c.replacement, 1)))
		require.ErrorContains(t, err, c.says)
	}
}

// Whatever a file holds, the answer is an error or a page in which it is only data.
func FuzzRender(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(`{"version": 1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		page, err := render(data)
		if err == nil {
			require.Equal(t, 2, bytes.Count(bytes.ToLower(page), []byte("</script>")))
		}
	})
}
