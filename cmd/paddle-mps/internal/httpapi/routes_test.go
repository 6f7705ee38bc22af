package httpapi

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/routes.txt anew")

// allRoutes are the methods and paths of the tables, with names in braces.
func allRoutes() (all []string) {
	add := func(path string, r route) {
		methods := []string{r.method}
		if r.method == "" {
			methods = []string{http.MethodGet, http.MethodPost}
		}
		for _, method := range methods {
			all = append(all, method+" "+path)
		}
	}
	for path, r := range routes {
		add(path, r)
	}
	for last, r := range modelRoutes {
		add(strings.TrimSuffix("/v2/models/{model}/"+last, "/"), r)
		if last != "trace/setting" {
			add(strings.TrimSuffix("/v2/models/{model}/versions/{version}/"+last, "/"), r)
		}
	}
	for last, r := range repositoryRoutes {
		add("/v2/repository/models/{model}/"+last, r)
		add("/v2/repository/{repository}/models/{model}/"+last, r)
	}
	for kind, routes := range memoryRoutes {
		for last, r := range routes {
			add("/v2/"+kind+"/region/{region}/"+last, r)
		}
	}
	slices.Sort(all)
	return append(all, "POST /v2/repository/{repository}/index")
}

// TestRoutes: testdata/routes.txt lists all routes, for tests/browser, which tries each from a page of another origin.
// `go test -update` writes the file.
func TestRoutes(t *testing.T) {
	const file = "testdata/routes.txt"
	got := strings.Join(allRoutes(), "\n") + "\n"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "run go test ./cmd/paddle-mps/internal/httpapi -run TestRoutes -update")
	// What the file says is what leads to a handler.
	names := strings.NewReplacer("{model}", "m", "{version}", "1", "{region}", "r", "{repository}", "a")
	for line := range strings.Lines(got) {
		method, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		c := &call{r: httptest.NewRequest(method, names.Replace(path), nil)}
		found, ok := c.find()
		require.True(t, ok, line)
		require.Contains(t, []string{"", method}, found.method, line)
	}
}

// TestPathsThatAreNone: what almost is a path of the tables leads nowhere.
func TestPathsThatAreNone(t *testing.T) {
	for _, path := range []string{
		"/v2/models/m/", "/v2/models/m//infer", "/v2/models/m/infer/", "/v2/models/m/trace", "/v2/models/m/trace%2Fsetting", "/v2/models/m/versions/1/",
		"/v2/models/m/versions/1/trace/setting", "/v2/models/m/trace/setting/", "/v2/models/m/versions/", "/v2/models/m/versions/x", "/v2/models//infer",
		"/v2/repository/models/m", "/v2/repository/models/m/reload", "/v2/repository/models//load", "/v2/repository/a/models/m/reload",
		"/v2/systemsharedmemory/region/r", "/v2/systemsharedmemory/region//status", "/v2/systemsharedmemory/region/r/load", "/v2/nosharedmemory/region/r/status", "/v2/", "//v2",
	} {
		c := &call{r: httptest.NewRequest(http.MethodGet, path, nil)}
		_, ok := c.find()
		require.False(t, ok, path)
	}
}
