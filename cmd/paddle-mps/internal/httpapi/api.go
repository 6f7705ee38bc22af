// Package httpapi is the inference protocol over HTTP: KServe v2 with the extensions of Triton Inference Server, as JSON
// and with the binary form of tensors.
//
// A request takes these steps: the path selects a handler (api.go); the body is read and decompressed within its limit
// (body.go); its JSON is checked and read in place (infer.go, data.go); serve.Server answers; the response is written as
// the request asks (respond.go). Paths, status codes, forms of JSON and messages are those of tritonserver.
//
// The invariant: nothing that a client states is believed. Sizes are compared with what has arrived before memory is
// taken for them, nesting is bounded, and a connection that is too slow ends.
package httpapi

import (
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/serve"
)

// Config is what the API needs to know.
type Config struct {
	Server     *serve.Server
	Name       string   // of the server, for its metadata
	Version    string   // likewise
	Extensions []string // likewise
	// MaxInput is the size of a body, as it is sent and decompressed, in bytes.
	MaxInput int64
	// Restricted are the headers that groups of paths ask for, by group.
	Restricted map[string]Restriction
	Log        *slog.Logger
	Settings   *Settings
}

// Restriction is a header that a request needs.
type Restriction struct{ Header, Value string }

// API answers requests.
type API struct{ Config }

// New makes the handler of all paths.
func New(c Config) *API { return &API{c} }

// The groups of paths that can be restricted.
const (
	groupHealth     = "health"
	groupMetadata   = "metadata"
	groupInference  = "inference"
	groupMemory     = "shm-memory"
	groupConfig     = "model-config"
	groupRepository = "model-repository"
	groupStatistics = "statistics"
	groupTrace      = "trace"
	groupLogging    = "logging"
)

// Groups are the groups of paths that can be restricted.
var Groups = []string{groupHealth, groupMetadata, groupInference, groupMemory, groupConfig, groupRepository, groupStatistics, groupTrace, groupLogging}

// call is a request on its way to its answer.
type call struct {
	api     *API
	w       http.ResponseWriter
	r       *http.Request
	model   string // in the path
	version int64  // in the path; -1: the latest one
}

// route is what a path leads to.
type route struct {
	group  string
	method string // the only one; "": several
	handle func(*call) error
}

// The answers by the words that end the path of a model.
var modelRoutes = map[string]route{
	"":                {groupMetadata, http.MethodGet, (*call).metadata},
	"ready":           {groupHealth, http.MethodGet, (*call).modelReady},
	"config":          {groupConfig, http.MethodGet, (*call).config},
	"stats":           {groupStatistics, http.MethodGet, (*call).statistics},
	"infer":           {groupInference, http.MethodPost, (*call).infer},
	"generate":        {groupInference, http.MethodPost, (*call).generate},
	"generate_stream": {groupInference, http.MethodPost, (*call).generate},
}

// The answers of the other paths.
var routes = map[string]route{
	"/v2":                               {groupMetadata, http.MethodGet, (*call).serverMetadata},
	"/v2/health/live":                   {groupHealth, http.MethodGet, (*call).live},
	"/v2/health/ready":                  {groupHealth, http.MethodGet, (*call).ready},
	"/v2/models/stats":                  {groupStatistics, http.MethodGet, (*call).statistics},
	"/v2/repository/index":              {groupRepository, http.MethodPost, (*call).index},
	"/v2/logging":                       {groupLogging, "", (*call).logging},
	"/v2/trace/setting":                 {groupTrace, "", (*call).trace},
	"/v2/systemsharedmemory/status":     {groupMemory, http.MethodGet, (*call).systemMemoryStatus},
	"/v2/systemsharedmemory/unregister": {groupMemory, http.MethodPost, (*call).systemMemoryUnregister},
	"/v2/cudasharedmemory/status":       {groupMemory, http.MethodGet, (*call).cudaMemoryStatus},
	"/v2/cudasharedmemory/unregister":   {groupMemory, http.MethodPost, (*call).cudaMemoryUnregister},
}

// find is the route of a path, and what the path says. ok is false for paths that there are not.
func (c *call) find() (found route, ok bool) {
	path := c.r.URL.EscapedPath()
	if found, ok = routes[path]; ok {
		return found, true
	}
	parts := strings.Split(path, "/")
	for i := range parts {
		part, err := url.PathUnescape(parts[i])
		if err != nil {
			return found, false
		}
		parts[i] = part
	}
	if len(parts) < 4 || parts[0] != "" || parts[1] != "v2" || parts[3] == "" {
		return found, false
	}
	switch parts[2] {
	case "models":
		return c.findModel(parts[3], parts[4:])
	case "repository":
		return c.findRepository(parts[3:])
	case "systemsharedmemory":
		return findMemory(parts[3:], (*call).systemMemoryStatus, (*call).systemMemoryRegister, (*call).systemMemoryUnregister)
	case "cudasharedmemory":
		return findMemory(parts[3:], (*call).cudaMemoryStatus, (*call).cudaMemoryRegister, (*call).cudaMemoryUnregister)
	}
	return found, false
}

// findModel is the route of /v2/models/MODEL and what follows.
func (c *call) findModel(model string, rest []string) (found route, ok bool) {
	c.model = model
	hasVersion := len(rest) >= 2 && rest[0] == "versions"
	if hasVersion {
		n, err := strconv.ParseInt(rest[1], 10, 64)
		if err != nil || strings.ContainsAny(rest[1], "+-") {
			if strings.Trim(rest[1], "0123456789") != "" || rest[1] == "" {
				return found, false
			}
			return route{groupInference, "", func(*call) error {
				return serve.Errorf(serve.InvalidArg, "failed to get model version from specified version string '%s' (details: stol), version should be an integral value > 0", rest[1])
			}}, true
		}
		c.version, rest = n, rest[2:]
	}
	if len(rest) == 2 && rest[0] == "trace" && rest[1] == "setting" && !hasVersion {
		return routes["/v2/trace/setting"], true
	}
	if len(rest) > 1 {
		return found, false
	}
	last := ""
	if len(rest) == 1 {
		if last = rest[0]; last == "" {
			return found, false
		}
	}
	found, ok = modelRoutes[last]
	return found, ok
}

// findRepository is the route of /v2/repository[/NAME]/index and .../models/MODEL/load and unload.
func (c *call) findRepository(rest []string) (found route, ok bool) {
	if len(rest) == 2 && rest[1] == "index" {
		return routes["/v2/repository/index"], true
	}
	named := len(rest) == 4 && rest[1] == "models"
	if named {
		rest = rest[1:]
	}
	if len(rest) != 3 || rest[0] != "models" || rest[1] == "" {
		return found, false
	}
	c.model = rest[1]
	found = route{groupRepository, http.MethodPost, (*call).load}
	switch {
	case rest[2] == "unload":
		found.handle = (*call).unload
	case rest[2] != "load":
		return found, false
	}
	if named {
		found.handle = func(*call) error {
			return serve.Errorf(serve.Unsupported, "'repository_name' specification is not supported")
		}
	}
	return found, true
}

// findMemory is the route of /v2/..sharedmemory[/region/NAME]/status, register and unregister.
func findMemory(rest []string, status, register, unregister func(*call) error) (found route, ok bool) {
	if len(rest) != 3 || rest[0] != "region" || rest[1] == "" {
		return found, false
	}
	switch rest[2] {
	case "status":
		return route{groupMemory, http.MethodGet, status}, true
	case "register":
		return route{groupMemory, http.MethodPost, register}, true
	case "unregister":
		return route{groupMemory, http.MethodPost, unregister}, true
	}
	return found, false
}

// ServeHTTP answers one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{api: a, w: w, r: r, version: -1}
	found, ok := c.find()
	switch {
	case !ok:
		c.fail(http.StatusNotFound, "Not Found")
		return
	case !c.allowed(found.group):
		return
	case found.method != "" && found.method != r.Method:
		c.fail(http.StatusMethodNotAllowed, "Method Not Allowed")
		return
	}
	if err := found.handle(c); err != nil {
		c.refuse(err)
	}
}

// allowed reports whether the request has the header that its group asks for; else it has been answered.
func (c *call) allowed(group string) bool {
	want, restricted := c.api.Restricted[group]
	if !restricted || c.r.Header.Get(want.Header) == want.Value {
		return true
	}
	c.fail(http.StatusForbidden, "This API is restricted, expecting header '"+want.Header+"'")
	return false
}
