package metrics

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// processor collects the metrics of the CPU, where the system has the files of Linux; elsewhere there are none.
type processor struct {
	mu         sync.Mutex
	busy, idle float64 // at the last look
}

// The metrics of the CPU.
var (
	utilization = prometheus.NewDesc("nv_cpu_utilization", "CPU utilization rate [0.0 - 1.0]", nil, nil)
	memoryTotal = prometheus.NewDesc("nv_cpu_memory_total_bytes", "CPU total memory (RAM), in bytes", nil, nil)
	memoryUsed  = prometheus.NewDesc("nv_cpu_memory_used_bytes", "CPU used memory (RAM), in bytes", nil, nil)
)

// Describe names the metrics.
func (*processor) Describe(to chan<- *prometheus.Desc) {
	to <- utilization
	to <- memoryTotal
	to <- memoryUsed
}

// Collect sends what the system says. The utilization is that since the last look.
func (p *processor) Collect(to chan<- prometheus.Metric) {
	// Where the system has no such file the metric is absent, and not 0.
	if rate, ok := p.rate(); ok {
		to <- prometheus.MustNewConstMetric(utilization, prometheus.GaugeValue, rate)
	}
	// A line is "MemTotal:  16384 kB".
	values := map[string]float64{}
	for _, fields := range read("/proc/meminfo") {
		if n, err := strconv.ParseFloat(fields[min(1, len(fields)-1)], 64); err == nil {
			values[fields[0]] = n * 1024 // the file has KiB
		}
	}
	if total, ok := values["MemTotal:"]; ok {
		to <- prometheus.MustNewConstMetric(memoryTotal, prometheus.GaugeValue, total)
		to <- prometheus.MustNewConstMetric(memoryUsed, prometheus.GaugeValue, total-values["MemAvailable:"])
	}
}

// rate is the share of time in which the CPUs were not idle.
func (p *processor) rate() (rate float64, ok bool) {
	var busy, idle float64
	for _, fields := range read("/proc/stat") {
		if fields[0] != "cpu" {
			continue
		}
		for i, field := range fields[1:] {
			n, err := strconv.ParseFloat(field, 64)
			switch {
			case err != nil:
				return 0, false
			case i == 3 || i == 4: // idle, and waiting for input or output
				idle += n
			case i < 8: // guests are in the times before
				busy += n
			}
		}
		ok = true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	// Two looks within one tick of the clock have nothing between them.
	passed := busy - p.busy + idle - p.idle
	if passed > 0 {
		rate = (busy - p.busy) / passed
	}
	p.busy, p.idle = busy, idle
	return rate, ok
}

// read is the fields of each line of a file that are not blank; none where the file is not there.
func read(path string) (lines [][]string) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
	for s := bufio.NewScanner(f); s.Scan(); {
		if fields := strings.Fields(s.Text()); len(fields) > 0 {
			lines = append(lines, fields)
		}
	}
	return lines
}
