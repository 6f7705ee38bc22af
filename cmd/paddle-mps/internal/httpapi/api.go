// Package httpapi implements the inference protocol over HTTP: KServe v2 with the extensions of Triton Inference
// Server, as JSON and with tensors in binary form.
//
// A request takes these steps: the path selects a handler (api.go); the body is read and decompressed within its
// limit (body.go); its JSON is checked and read in place (infer.go, data.go); serve.Server answers; the response is
// written in the requested form (respond.go). Paths, status codes, JSON forms and messages are those of
// tritonserver.
//
// The invariant: nothing that a client states is trusted. Sizes are compared with what has arrived before memory is
// allocated for them, nesting is bounded, and a connection that is too slow is closed.
//
// # Bodies of an inference
//
// A body has one of three forms, selected by the header Inference-Header-Content-Length:
//
//   - without the header it is JSON: {"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2]}]}.
//   - with a number above 0 it is that many bytes of JSON, followed by the elements of the inputs that have a
//     parameter binary_data_size, in their order, little-endian.
//   - with 0 it is the elements of the only input, as a batch of one.
//
// A response is JSON, optionally followed by the outputs that were requested in binary form, with the same header.
// The third form requests all outputs in binary form.
//
// Element types without a JSON form, FP16 and BF16, are refused in JSON. NaN and Infinity are written and read as
// these words, which is not valid JSON, but is what tritonserver does. A float32 is written with the digits of the
// equal float64.
//
// # Shared memory
//
// An input or output whose parameters name a region is in that region, not in the body: inputs are copied out before
// the request is passed to the server, and outputs are copied in before the response is written (memory.go). A
// region that is unregistered meanwhile stays valid for the request. For such an output the response has only name,
// type and shape, as in tritonserver. Package sharedmemory explains why regions are not mapped.
//
// # The status page
//
// The path / is the status page (page.go, page.html), and /status.json has its numbers. Both belong to the
// restricted group "statistics". The server keeps no state for the page: every number only grows, and the browser
// subtracts. Percentiles are computed from histograms of durations, from which the browser subtracts those of ten
// seconds ago. Model names come from folders and requests. The page inserts them as text, and its content security
// policy is a second barrier.
//
// # Traces
//
// A sampled inference (package traces) is stamped at its start, when its body was read, and around writing its
// response (trace.go). As in tritonserver, the sampling decision is made once the body is read and the model is
// known to serve. A request that the model refuses has no timestamps of sending.
//
// # Web pages
//
// Package origins refuses requests of pages of other servers before they come here.
//
// # Limits
//
//   - The header of a request: 64 KiB, within 15 s, and memory for a large one (package service).
//   - A body: --http-max-input-size, both as sent and decompressed; 20 s for its first bytes, then 32 KiB per
//     second, so that a client which sends a byte per second is disconnected after 20 s; 65,536 chunks if it
//     has no length.
//   - Memory for a body is allocated as it arrives: 1 MiB, then doubled.
//   - The memory of all bodies together, of the elements that JSON has, of what a run makes of strings, and of outputs:
//     --total-max-input-size, for both protocols (room.go).
//   - The inputs in shared memory of a request: together as many bytes as a body may have. An object may be
//     sparse, so its size says nothing about memory.
//   - JSON: 100 levels, and 65,536 members of objects. A shape says nothing about memory: elements are counted where they are in the text.
//   - A response above 64 KiB must be read at the same minimum rate.
//
// # Memory
//
// Bodies and the JSON of responses are in reused buffers. Binary inputs are slices of the buffer of their body,
// whose start is chosen so that the first input is aligned to 16 bytes: CPU kernels then read it in place. Outputs
// are written from the server's memory.
package httpapi

import (
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/sharedmemory"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/traces"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/serve"
	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// Config is what the API needs to know.
// It is not changed once the API is made.
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
	Regions    *sharedmemory.Regions
	Runtime    *runtime.Runtime // for the page; nil: it shows no devices
	Traces     *traces.Tracer   // nil: there are none
	Room       *Room            // of all bodies together; nil: there is no bound
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
// Handlers are methods of it. They return an error for ServeHTTP to write, or have written the answer themselves.
type call struct {
	api     *API
	w       http.ResponseWriter
	r       *http.Request
	model   string // in the path
	version int64  // in the path; -1: the latest one
	region  string // of shared memory, in the path
	pacer   pacer  // of the body
	held    int64  // bytes of Room
}

// route is what a path leads to.
// Paths are data, so that which API a path belongs to, for restrictions, stands beside it.
type route struct {
	group  string
	method string // the only one; "": several
	handle func(*call) error
}

// The answers by the words that end the path of a model.
// generate and generate_stream are there to be refused by name.
var modelRoutes = map[string]route{
	"":                {groupMetadata, http.MethodGet, (*call).metadata},
	"ready":           {groupHealth, http.MethodGet, (*call).modelReady},
	"config":          {groupConfig, http.MethodGet, (*call).config},
	"stats":           {groupStatistics, http.MethodGet, (*call).statistics},
	"infer":           {groupInference, http.MethodPost, (*call).infer},
	"generate":        {groupInference, http.MethodPost, (*call).generate},
	"generate_stream": {groupInference, http.MethodPost, (*call).generate},
	"trace/setting":   {groupTrace, "", (*call).trace}, // of the model, not of a version
}

// The answers by the word that ends the path of a model in a repository.
var repositoryRoutes = map[string]route{
	"load":   {groupRepository, http.MethodPost, (*call).load},
	"unload": {groupRepository, http.MethodPost, (*call).unload},
}

// The answers by kind of shared memory and the word that ends the path of a region.
var memoryRoutes = map[string]map[string]route{
	"systemsharedmemory": {
		"status":     {groupMemory, http.MethodGet, (*call).systemMemoryStatus},
		"register":   {groupMemory, http.MethodPost, (*call).systemMemoryRegister},
		"unregister": {groupMemory, http.MethodPost, (*call).systemMemoryUnregister},
	},
	"cudasharedmemory": {
		"status":     {groupMemory, http.MethodGet, (*call).cudaMemoryStatus},
		"register":   {groupMemory, http.MethodPost, (*call).cudaMemoryRegister},
		"unregister": {groupMemory, http.MethodPost, (*call).cudaMemoryUnregister},
	},
}

// The answers of the other paths.
var routes = map[string]route{
	"/":                                 {groupStatistics, http.MethodGet, (*call).page},
	"/status.json":                      {groupStatistics, http.MethodGet, (*call).status},
	"/v2":                               {groupMetadata, http.MethodGet, (*call).serverMetadata},
	"/v2/health/live":                   {groupHealth, http.MethodGet, (*call).live},
	"/v2/health/ready":                  {groupHealth, http.MethodGet, (*call).ready},
	"/v2/models/stats":                  {groupStatistics, http.MethodGet, (*call).statistics},
	"/v2/repository/index":              {groupRepository, http.MethodPost, (*call).index},
	"/v2/logging":                       {groupLogging, "", (*call).logging},
	"/v2/trace/setting":                 {groupTrace, "", (*call).trace},
	"/v2/systemsharedmemory/status":     {groupMemory, http.MethodGet, (*call).systemMemoryStatus},
	"/v2/systemsharedmemory/register":   {groupMemory, http.MethodPost, (*call).systemMemoryRegister},
	"/v2/systemsharedmemory/unregister": {groupMemory, http.MethodPost, (*call).systemMemoryUnregister},
	"/v2/cudasharedmemory/status":       {groupMemory, http.MethodGet, (*call).cudaMemoryStatus},
	"/v2/cudasharedmemory/unregister":   {groupMemory, http.MethodPost, (*call).cudaMemoryUnregister},
}

// find returns the route of a path and its parameters. ok is false for unknown paths.
// What it finds in the path it writes into the call.
func (c *call) find() (found route, ok bool) {
	// Names of models may have characters that a path escapes, a slash among them: parts are unescaped one by one.
	path := c.r.URL.EscapedPath()
	if found, ok = routes[path]; ok {
		return found, true
	}
	// Most requests are inferences of the latest version of a model whose name needs no escapes.
	if rest, ok := strings.CutPrefix(path, "/v2/models/"); ok {
		if name, ok := strings.CutSuffix(rest, "/infer"); ok && name != "" && !strings.ContainsAny(name, "/%") {
			c.model = name
			return modelRoutes["infer"], true
		}
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
	}
	return c.findMemory(memoryRoutes[parts[2]], parts[3:])
}

// findModel is the route of /v2/models/MODEL and what follows.
func (c *call) findModel(model string, rest []string) (found route, ok bool) {
	c.model = model
	// A version consists of digits; any other word is an unknown path.
	hasVersion := len(rest) >= 2 && rest[0] == "versions"
	if hasVersion {
		n, err := strconv.ParseInt(rest[1], 10, 64)
		if err != nil || strings.ContainsAny(rest[1], "+-") {
			if strings.Trim(rest[1], "0123456789") != "" || rest[1] == "" {
				return found, false
			}
			return route{groupInference, "", func(*call) error {
				return inference.Errorf(inference.InvalidArg, "failed to get model version from specified version string '%s' (details: stol), version should be an integral value > 0", rest[1])
			}}, true
		}
		c.version, rest = n, rest[2:]
	}
	last := strings.Join(rest, "/")
	if (last == "") != (len(rest) == 0) || last == "trace/setting" && (hasVersion || len(rest) != 2) {
		return found, false
	}
	found, ok = modelRoutes[last]
	return found, ok
}

// findRepository is the route of /v2/repository[/NAME]/index and .../models/MODEL/load and unload.
func (c *call) findRepository(rest []string) (found route, ok bool) {
	if len(rest) == 2 && rest[1] == "index" {
		return routes["/v2/repository/index"], true
	}
	// A path may name a repository, which is refused as in tritonserver, but only where the rest of it is right.
	named := len(rest) == 4 && rest[1] == "models"
	if named {
		rest = rest[1:]
	}
	if len(rest) != 3 || rest[0] != "models" || rest[1] == "" {
		return found, false
	}
	if found, ok = repositoryRoutes[rest[2]]; !ok {
		return found, false
	}
	c.model = rest[1]
	if named {
		found.handle = func(*call) error {
			return inference.Errorf(inference.Unsupported, "'repository_name' specification is not supported")
		}
	}
	return found, true
}

// findMemory is the route of /v2/..sharedmemory/region/NAME/status, register and unregister.
// A status without a name is in the table of paths.
func (c *call) findMemory(routes map[string]route, rest []string) (found route, ok bool) {
	if len(rest) != 3 || rest[0] != "region" || rest[1] == "" {
		return found, false
	}
	c.region = rest[1]
	found, ok = routes[rest[2]]
	return found, ok
}

// ServeHTTP answers one request.
// It may be called from any goroutine.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{api: a, w: w, r: r, version: -1}
	// The order of refusals is tritonserver's: the path, the header that is asked for, then the method.
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
	defer func() { a.Room.Give(c.held) }() // also after a panic, which net/http catches
	if err := found.handle(c); err != nil {
		c.refuse(err)
	}
}

// allowed reports whether the request has the header that its group asks for; else it has been answered.
// The value is compared as a whole and with its case.
func (c *call) allowed(group string) bool {
	want, restricted := c.api.Restricted[group]
	if !restricted || c.r.Header.Get(want.Header) == want.Value {
		return true
	}
	c.fail(http.StatusForbidden, "This API is restricted, expecting header '"+want.Header+"'")
	return false
}
