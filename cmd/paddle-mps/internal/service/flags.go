package service

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/metrics"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/origins"
	"github.com/paddle-mps/paddle-mps/serve"
)

// option is one option of the command line.
// The table of options is what parses a line, what the help prints, and what docs/serving.md lists.
type option struct {
	name  string
	value string // what it takes, for the help; "": nothing
	help  string
	set   func(o *options, value string) error
}

// kinds of values

// flag is an option that is true where it has no value.
func flag(name, help string, at func(*options) *bool) option {
	return option{name, "<boolean>", help, func(o *options, value string) error {
		b, ok := booleans[strings.ToLower(value)]
		if !ok {
			return fmt.Errorf("want true or false")
		}
		*at(o) = b
		return nil
	}}
}

// booleans are the values of flags, in small letters: those that tritonserver takes.
var booleans = map[string]bool{"true": true, "on": true, "1": true, "false": false, "off": false, "0": false}

// number is an option with a whole number between two.
func number(name, help string, low, high int64, set func(*options, int64)) option {
	return option{name, "<integer>", help, func(o *options, value string) error {
		// The limits are of the option: a number outside them is refused with both.
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < low || n > high {
			return fmt.Errorf("want a whole number from %d to %d", low, high)
		}
		set(o, n)
		return nil
	}}
}

// text is an option with a text.
func text(name, help string, at func(*options) *string) option {
	return option{name, "<string>", help, func(o *options, value string) error {
		*at(o) = value
		return nil
	}}
}

// port is an option with the number of a port; 0 takes one that is free.
func port(name, help string, at func(*options) *int) option {
	return number(name, help+" 0: a free port, which is printed.", 0, 65535, func(o *options, n int64) { *at(o) = int(n) })
}

// longest is a duration in seconds that options may name.
const longest = 1 << 31

// table are the options that the server has. Names and meanings are those of tritonserver 2.73 but where the help says so.
var table = slices.Concat([]option{
	{"model-repository", "<string>", "A folder of models, or one ONNX file. May be repeated.", addRepository},
	{"model-store", "<string>", "The same as --model-repository.", addRepository},
	text("id", "The name of the server in its metadata. Default: triton.", func(o *options) *string { return &o.id }),
	choice("model-control-mode", "Which models are loaded: none (all at the start; the default), poll (and whenever the repository changes), explicit (on request).", func(o *options) *string { return &o.control }, "none", "poll", "explicit"),
	{"load-model", "<string>", "A model to load at the start with --model-control-mode=explicit; * for all. May be repeated.", addModel},
	number("repository-poll-secs", "Seconds between checks of the repository with --model-control-mode=poll. Default: 15.", 1, longest, func(o *options, n int64) { o.poll = time.Duration(n) * time.Second }),
	flag("exit-on-error", "Whether to exit if a model cannot be loaded at the start. Default: true.", func(o *options) *bool { return &o.exitOnError }),
	flag("strict-readiness", "Whether the server is ready only if all models are ready. Default: true.", func(o *options) *bool { return &o.strictReady }),
	number("exit-timeout-secs", "Seconds to wait at shutdown for requests in flight. Default: 30.", 0, longest, func(o *options, n int64) { o.exitTimeout = time.Duration(n) * time.Second }),
	number("model-load-thread-count", "How many models are loaded concurrently. Default: 2.", 1, 1024, func(o *options, n int64) { o.loads = int(n) }),
	{"disable-auto-complete-config", "", "Do not complete configurations from the files of models: each model needs a whole config.pbtxt.", func(o *options, _ string) error { o.noComplete = true; return nil }},
	flag("strict-model-config", "An old name: true is the same as --disable-auto-complete-config.", func(o *options) *bool { return &o.strictConfig }),
	{"model-config-name", "<string>", "Read configs/<string>.pbtxt in the folder of a model in place of config.pbtxt, where there is such a file.", setConfigName},
	{"backend-config", "<backend>,<key>=<value>", "A setting of the backend metal_mps or onnxruntime: default-max-batch-size.", addBackendConfig},
	choice("rate-limit", "Whether instances wait for the resources of their instance group: off (the default), execution_count.", func(o *options) *string { return &o.rateLimit }, "off", "execution_count"),
	{"rate-limit-resource", "<name>:<count>:<device>", "How much of a resource exists, on one device, or on each device if none is given. May be repeated.", addResource},
	{"cache-config", "local,size=<integer>", "Caches responses of models with response_cache { enable: true }, up to this many bytes.", setCache},
	{"response-cache-byte-size", "<integer>", "The same as --cache-config=local,size=<integer>.", func(o *options, value string) error {
		o.cacheSize = true
		return setCacheSize(o, value)
	}},
	flag("allow-client-shm", "Whether clients may register system shared memory. Default: false.", func(o *options) *bool { return &o.clientMemory }),
	number("total-max-input-size", "The largest total size of the bodies, messages and outputs of all requests whose responses are not sent, in bytes. Default: 2147483648. (Not in tritonserver.)", 1, 1<<50, func(o *options, n int64) { o.allMaxInput = n }),
	{"ends-with-parent", "", "Exit when standard input is closed. (Not in tritonserver.)", func(o *options, _ string) error { o.parent = true; return nil }},
}, httpOptions, grpcOptions, metricsOptions, logOptions, traceOptions)

// httpOptions are those of HTTP.
var httpOptions = []option{
	flag("allow-http", "Whether to serve HTTP. Default: true.", func(o *options) *bool { return &o.http }),
	text("http-address", "The address to serve HTTP on. Default: 127.0.0.1 (tritonserver: 0.0.0.0).", func(o *options) *string { return &o.httpAddress }),
	port("http-port", "The port to serve HTTP on. Default: 8000.", func(o *options) *int { return &o.httpPort }),
	number("http-max-input-size", "The largest request body in bytes, both as sent and decompressed. Default: 67108864.", 1, 1<<40, func(o *options, n int64) { o.httpMaxInput = n }),
	{"http-restricted-api", "<apis>:<key>=<value>", "APIs that require a header with this key and value. May be repeated.", restrictHTTP},
	{"http-allowed-host", "<host>[:<port>]", "A host, beside the server's own, under whose name requests of HTTP and of metrics may reach the server on a loopback address, and whose web pages may send requests. May be repeated. (Not in tritonserver.)", addHost},
	flag("http-use-ssl", "Whether HTTP uses TLS. (Not in tritonserver.)", func(o *options) *bool { return &o.httpTLS.use }),
	flag("http-use-ssl-mutual", "Whether HTTP clients must present a certificate. (Not in tritonserver.)", func(o *options) *bool { return &o.httpTLS.mutual }),
	text("http-server-cert", "The server certificate for HTTP, a PEM file. (Not in tritonserver.)", func(o *options) *string { return &o.httpTLS.cert }),
	text("http-server-key", "The private key for HTTP, a PEM file. (Not in tritonserver.)", func(o *options) *string { return &o.httpTLS.key }),
	text("http-root-cert", "The certificate authorities for client certificates, a PEM file. (Not in tritonserver.)", func(o *options) *string { return &o.httpTLS.root }),
}

// grpcOptions are those of gRPC.
var grpcOptions = []option{
	flag("allow-grpc", "Whether to serve gRPC. Default: true.", func(o *options) *bool { return &o.grpc }),
	text("grpc-address", "The address to serve gRPC on. Default: 127.0.0.1 (tritonserver: 0.0.0.0).", func(o *options) *string { return &o.grpcAddress }),
	port("grpc-port", "The port to serve gRPC on. Default: 8001.", func(o *options) *int { return &o.grpcPort }),
	number("grpc-max-input-size", "The largest message in bytes, also decompressed. Default: 67108864. (Not in tritonserver, where it is 2147483647.)", 1, 1<<31-1, func(o *options, n int64) { o.grpcMaxInput = n }),
	{"grpc-restricted-protocol", "<protocols>:<key>=<value>", "Protocols that require a header with this key and value. May be repeated.", restrictGRPC},
	flag("grpc-use-ssl", "Whether gRPC uses TLS.", func(o *options) *bool { return &o.tls.use }),
	flag("grpc-use-ssl-mutual", "Whether gRPC clients must present a certificate.", func(o *options) *bool { return &o.tls.mutual }),
	text("grpc-server-cert", "The server certificate for gRPC, a PEM file.", func(o *options) *string { return &o.tls.cert }),
	text("grpc-server-key", "The private key for gRPC, a PEM file.", func(o *options) *string { return &o.tls.key }),
	text("grpc-root-cert", "The certificate authorities for client certificates, a PEM file.", func(o *options) *string { return &o.tls.root }),
}

// metricsOptions are those of the metrics.
var metricsOptions = []option{
	flag("allow-metrics", "Whether to serve metrics. Default: true.", func(o *options) *bool { return &o.metrics }),
	flag("allow-gpu-metrics", "Whether to report GPU metrics. Default: true.", func(o *options) *bool { return &o.gpuMetrics }),
	flag("allow-cpu-metrics", "Whether to report CPU metrics. Default: true.", func(o *options) *bool { return &o.cpuMetrics }),
	text("metrics-address", "The address to serve metrics on. Default: that of HTTP.", func(o *options) *string { return &o.metricsAddress }),
	{"metrics-config", "<setting>=<value>", "counter_latencies=<boolean>, summary_latencies=<boolean>, summary_quantiles=<quantile>:<error>,... histogram_latencies has no effect: it is for decoupled models, which are not supported.", setMetrics},
	port("metrics-port", "The port to serve metrics on. Default: 8002.", func(o *options) *int { return &o.metricsPort }),
}

// logOptions are those of the log.
var logOptions = []option{
	verbosity,
	flag("log-info", "Whether to log information. Default: true.", func(o *options) *bool { return &o.log.Info }),
	flag("log-warning", "Whether to log warnings. Default: true.", func(o *options) *bool { return &o.log.Warning }),
	flag("log-error", "Whether to log errors. Default: true.", func(o *options) *bool { return &o.log.Error }),
	choice("log-format", "The format of the log: default, ISO8601, or json (not in tritonserver).", func(o *options) *string { return &o.log.Format }, "default", "ISO8601", "json"),
	text("log-file", "The file to log to. Default: standard error.", func(o *options) *string { return &o.log.File }),
}

// verbosity is the level of the log. true and false are levels as well.
var verbosity = func() option {
	o := number("log-verbose", "Whether to log verbose messages: 0 (the default) or a level from 1 on.", 0, 1<<31, func(o *options, n int64) { o.log.Verbose = uint32(n) })
	level := o.set
	o.set = func(o *options, value string) error {
		switch strings.ToLower(value) {
		case "true":
			value = "1"
		case "false":
			value = "0"
		}
		return level(o, value)
	}
	return o
}()

// traceOptions are those of traces. All but the first are old names of tritonserver's for settings of the first.
var traceOptions = []option{
	{"trace-config", "<mode>,<setting>=<value>", "mode=triton or opentelemetry, level=OFF or TIMESTAMPS, rate=<n>, count=<n>; triton,file=<path>, triton,log-frequency=<n>; opentelemetry,url=<url>, opentelemetry,resource=<key>=<value>, opentelemetry,bsp_max_queue_size=<n>, bsp_schedule_delay=<ms>, bsp_max_export_batch_size=<n>. May be repeated.", addTrace("")},
	{"trace-file", "<string>", "The same as --trace-config=triton,file=<string>.", addTrace("triton,file=")},
	{"trace-level", "<string>", "The same as --trace-config=level=<string>.", addTrace("level=")},
	{"trace-rate", "<integer>", "The same as --trace-config=rate=<integer>.", addTrace("rate=")},
	{"trace-count", "<integer>", "The same as --trace-config=count=<integer>.", addTrace("count=")},
	{"trace-log-frequency", "<integer>", "The same as --trace-config=triton,log-frequency=<integer>.", addTrace("triton,log-frequency=")},
}

// addTrace adds a setting of traces: what an option stands for, and its value.
func addTrace(setting string) func(*options, string) error {
	return func(o *options, value string) error { return o.traces.Add(setting + value) }
}

// choice is an option with one of some words. tritonserver takes those of the log's format as they are, and the others in any
// case.
func choice(name, help string, at func(*options) *string, words ...string) option {
	return option{name, "<string>", help, func(o *options, value string) error {
		if name != "log-format" {
			value = strings.ToLower(value)
		}
		if !slices.Contains(words, value) {
			return fmt.Errorf("want one of %s", strings.Join(words, ", "))
		}
		*at(o) = value
		return nil
	}}
}

// addRepository and the next ones set options with values of their own.
func addRepository(o *options, value string) error {
	o.repositories = append(o.repositories, value)
	return nil
}

func addModel(o *options, value string) error {
	if !slices.Contains(o.load, value) { // a model that is named twice is loaded once
		o.load = append(o.load, value)
	}
	return nil
}

// addHost reads a host.
func addHost(o *options, value string) error {
	// Browsers call the origin of every file and sandbox null.
	h, err := origins.ParseHost(value)
	if err != nil || h.String() == "null" {
		return errors.New("want the name or IP address of a host, and perhaps a port")
	}
	o.allowedHosts = append(o.allowedHosts, h)
	return nil
}

// addResource reads <name>:<count> or <name>:<count>:<device>.
func addResource(o *options, value string) error {
	// Names have no colon: tritonserver refuses them too.
	words := strings.Split(value, ":")
	l := serve.Limit{Resource: serve.Resource{Name: words[0], Device: serve.EveryDevice}}
	var err error
	if len(words) == 2 || len(words) == 3 {
		l.Count, err = strconv.Atoi(words[1])
	}
	if len(words) == 3 && err == nil {
		l.Device, err = strconv.Atoi(words[2])
	}
	if len(words) < 2 || len(words) > 3 || err != nil || l.Count < 0 || l.Device < serve.EveryDevice {
		return fmt.Errorf("want <name>:<count> or <name>:<count>:<device>")
	}
	o.resources = append(o.resources, l)
	return nil
}

// setMetrics reads one setting of the metrics. tritonserver drops settings that it does not know; here they are refused.
func setMetrics(o *options, value string) error {
	setting, to, ok := strings.Cut(value, "=")
	b, err := strconv.ParseBool(strings.ToLower(to))
	switch {
	case ok && setting == "summary_quantiles":
		o.quantiles = to
		_, err = metrics.NewSummaries(to)
		return err
	case !ok || err != nil:
		return fmt.Errorf("want <setting>=<value>")
	case setting == "counter_latencies":
		o.noLatencies = !b
	case setting == "summary_latencies":
		o.summaries = b
	case setting != "histogram_latencies":
		return fmt.Errorf("there is no setting %s", setting)
	}
	return nil
}

// setCache reads the size of the cache. Other caches than "local" are plug-ins of tritonserver.
func setCache(o *options, value string) error {
	text, ok := strings.CutPrefix(value, "local,size=")
	if !ok || setCacheSize(o, text) != nil {
		return fmt.Errorf("want local,size=<integer>: no other cache is supported")
	}
	o.cacheConfig = true
	return nil
}

// setCacheSize reads how many bytes the cache has.
func setCacheSize(o *options, value string) error {
	size, err := strconv.ParseInt(value, 10, 64)
	if err != nil || size < 1 {
		return fmt.Errorf("want a whole number of bytes from 1 on")
	}
	o.cache = size
	return nil
}

// setConfigName takes the name of a file, which does not lead out of its folder.
func setConfigName(o *options, value string) error {
	if value == "" || strings.ContainsAny(value, "/\\\x00") {
		return fmt.Errorf("want the name of a file without its ending .pbtxt, such as h100")
	}
	o.configName = value
	return nil
}

func addBackendConfig(o *options, value string) error {
	// The form is <backend>,<key>=<value>; an empty backend means all of them.
	backend, setting, ok := strings.Cut(value, ",")
	key, to, ok2 := strings.Cut(setting, "=")
	if !ok || !ok2 || key != "default-max-batch-size" || backend != "" && backend != "metal_mps" && backend != "onnxruntime" {
		return fmt.Errorf("want metal_mps,default-max-batch-size=<integer>: no other setting is supported")
	}
	if n, err := strconv.Atoi(to); err != nil || n < 0 {
		return fmt.Errorf("want a whole number for default-max-batch-size")
	}
	o.backendConfigs[key] = to
	return nil
}

// parse reads a command line.
// It looks at nothing but the line: files and ports are looked at later.
func parse(args []string) (*options, error) {
	// Options come in any order, and the last one counts; words without dashes are repositories.
	o := defaults()
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if !strings.HasPrefix(arg, "--") {
			o.repositories = append(o.repositories, arg)
			continue
		}
		name, value, hasValue := strings.Cut(arg[2:], "=")
		// An option is found by its whole name. Abbreviations, which getopt would take, are not.
		at := slices.IndexFunc(table, func(t option) bool { return t.name == name })
		if at < 0 {
			rest, err := unknown(name, value, hasValue, args)
			if err != nil {
				return nil, err
			}
			o.unused, args = append(o.unused, name), rest
			continue
		}
		found := table[at]
		// A value stands behind an equals sign or is the next word. A boolean needs none.
		switch {
		case found.value == "" && hasValue:
			return nil, fmt.Errorf("option --%s takes no value", name)
		case found.value == "<boolean>" && !hasValue:
			value = "true"
			if len(args) > 0 && isBool(args[0]) {
				value, args = args[0], args[1:]
			}
		case found.value != "" && !hasValue:
			if len(args) == 0 {
				return nil, fmt.Errorf("option --%s has no value; want %s", name, found.value)
			}
			value, args = args[0], args[1:]
		}
		if err := found.set(o, value); err != nil {
			return nil, fmt.Errorf("option --%s is %q; %w", name, value, err)
		}
	}
	return o, o.agree()
}

// agree refuses options that exclude each other.
func (o *options) agree() error {
	switch {
	case len(o.repositories) == 0:
		return fmt.Errorf("got no model repository; want a folder of models or an ONNX file (--help describes the options)")
	case len(o.load) > 0 && o.control != "explicit":
		//lint:ignore ST1005 it is Triton's text
		return errors.New("Use of '--load-model' requires setting '--model-control-mode=explicit' as well.")
	case len(o.load) > 1 && slices.Contains(o.load, "*"):
		//lint:ignore ST1005 it is Triton's text
		return errors.New("Wildcard model name '*' must be the ONLY startup model if specified at all.")
	case o.cacheSize && o.cacheConfig:
		//lint:ignore ST1005 it is Triton's text
		return errors.New("Incompatible flags --response-cache-byte-size and --cache-config both provided. Please provide one or the other.")
	}
	return nil
}

// isBool reports whether an argument is the value of a boolean.
func isBool(arg string) bool {
	_, ok := booleans[strings.ToLower(arg)]
	return ok
}

// usage describes the options.
func usage(w io.Writer) {
	fmt.Fprintln(w, "usage: paddle-mps serve REPOSITORY | MODEL.onnx [OPTIONS]\n\nServes models over HTTP and gRPC, as tritonserver does.")
	fmt.Fprintln(w, "\noptions:")
	for _, t := range table {
		fmt.Fprintf(w, "  --%s %s\n        %s\n", t.name, t.value, t.help)
	}
	fmt.Fprintln(w, "\nOther options of tritonserver are refused by name, except those that only tune it, which are ignored: docs/serving.md lists both.")
}
