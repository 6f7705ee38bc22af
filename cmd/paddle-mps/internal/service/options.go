package service

import (
	"time"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/origins"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/traces"
	"github.com/paddle-mps/paddle-mps/serve"
)

// options are what the command line says.
type options struct {
	repositories []string
	id           string

	control        string
	load           []string
	poll           time.Duration
	exitOnError    bool
	strictReady    bool
	exitTimeout    time.Duration
	loads          int
	noComplete     bool              // whether --disable-auto-complete-config is given
	strictConfig   bool              // --strict-model-config, which asks for the same
	configName     string            // --model-config-name
	backendConfigs map[string]string // of our backend and that for ONNX, by key

	http, grpc, metrics                      bool
	httpAddress, grpcAddress, metricsAddress string
	httpPort, grpcPort, metricsPort          int
	httpMaxInput, grpcMaxInput, allMaxInput  int64
	httpRestricted, grpcRestricted           map[string]httpapi.Restriction
	allowedHosts                             []origins.Host // of --http-allowed-host
	gpuMetrics, cpuMetrics                   bool
	tls                                      certificates
	httpTLS                                  certificates

	summaries    bool   // metrics of quantiles
	quantiles    string // of them; "": those of tritonserver
	noLatencies  bool   // no counters of durations
	rateLimit    string
	resources    []serve.Limit
	cache        int64 // bytes of responses; 0: none are kept
	cacheSize    bool  // whether --response-cache-byte-size is given
	cacheConfig  bool  // whether --cache-config is
	clientMemory bool  // whether clients may register shared memory
	traces       traces.Config

	log    httpapi.Logging
	unused []string // options of tritonserver that change nothing here
	parent bool     // end with the process at the other end of the standard input
}

// certificates are the files of TLS.
type certificates struct {
	use, mutual     bool
	cert, key, root string
}

// defaults are the options of an empty command line: those of tritonserver but for the addresses. A server is reachable
// from other machines only where it is told to be.
func defaults() *options {
	return &options{
		id: "triton", control: "none", rateLimit: "off", poll: 15 * time.Second, exitOnError: true, strictReady: true, exitTimeout: 30 * time.Second,
		loads: 2, backendConfigs: map[string]string{},
		http: true, grpc: true, metrics: true,
		httpAddress: local, grpcAddress: local, httpPort: 8000, grpcPort: 8001, metricsPort: 8002,
		httpMaxInput: 64 << 20, grpcMaxInput: 64 << 20, allMaxInput: 2 << 30,
		// Ports and times are tritonserver's.
		httpRestricted: map[string]httpapi.Restriction{}, grpcRestricted: map[string]httpapi.Restriction{},
		gpuMetrics: true, cpuMetrics: true,
		log: httpapi.Logging{Info: true, Warning: true, Error: true, Format: "default"},
	}
}

// local is the address of the machine itself.
const local = "127.0.0.1"
