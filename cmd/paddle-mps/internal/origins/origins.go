// Package origins refuses requests of web pages that are not of this server.
//
// A browser sends the requests of any page that its user visits, also to a server on the same machine, and sends a POST
// of plain text without asking the server first. Two headers tell such a request from that of a client, and a page can
// set neither:
//
//   - Origin is the address of the page. It is absent from requests of clients, and equal to Host if the page is the
//     server's own. Any other one is refused, on every address.
//   - Host is the name by which the server was reached. A page whose own name is resolved to a loopback address (DNS
//     rebinding) is of the same origin as the server, and may read what it answers, but Host is its name. On a loopback
//     address Host must therefore be an IP address, which no name service can resolve otherwise, or localhost. On another
//     address the server may have any name, so Host is not checked.
//
// The option --http-allowed-host names more hosts. The invariant: what cannot be read is refused.
//
// The package sends no CORS headers and knows nothing of paths: it guards all of them, with all methods.
package origins

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// Host is a host of a URL: the name of a machine or its IP address, and a port.
type Host struct {
	name    string // in small letters, without the dot at its end; an IP address in its shortest form
	port    string // "": none is given
	address bool   // whether the name is an IP address
}

// ParseHost reads what the header Host has: NAME, NAME:PORT, 127.0.0.1:8000 or [::1]:8000.
func ParseHost(text string) (h Host, err error) {
	name, port, inBrackets := text, "", strings.HasPrefix(text, "[")
	if inBrackets {
		end := strings.IndexByte(text, ']')
		if end < 0 {
			return h, unreadable(text)
		}
		name, port = text[1:end], text[end+1:]
	} else if colon := strings.IndexByte(text, ':'); colon >= 0 {
		name, port = text[:colon], text[colon:]
	}
	if port != "" {
		n, err := strconv.ParseUint(port[1:], 10, 16)
		if port[0] != ':' || err != nil {
			return h, unreadable(text)
		}
		h.port = strconv.FormatUint(n, 10)
	}
	// Only an IPv6 address has brackets, and it always has them. The zone behind its % is the name of an interface.
	address, err := netip.ParseAddr(name)
	if (err == nil && address.Is6()) != inBrackets || err == nil && strings.ContainsFunc(strings.ToLower(address.Zone()), notInName) {
		return h, unreadable(text)
	}
	if err == nil {
		h.name, h.address = address.Unmap().String(), true
		return h, nil
	}
	h.name = strings.ToLower(strings.TrimSuffix(name, "."))
	if h.name == "" || strings.ContainsFunc(h.name, notInName) {
		return h, unreadable(text)
	}
	return h, nil
}

// unreadable is the error of a host that cannot be read.
func unreadable(text string) error {
	return fmt.Errorf("got %s; want a name or an IP address, and perhaps a port", quoted(text))
}

// notInName reports whether a name of a machine cannot have the character. Browsers write other alphabets in ASCII.
func notInName(c rune) bool {
	return (c < 'a' || c > 'z') && (c < '0' || c > '9') && !strings.ContainsRune("-._", c)
}

// parseOrigin reads what the header Origin has: SCHEME://HOST. The port is given if the scheme has one.
func parseOrigin(text string) (h Host, err error) {
	scheme, host, ok := strings.Cut(text, "://")
	if !ok {
		return h, fmt.Errorf("got %s; want SCHEME://HOST", quoted(text))
	}
	if h, err = ParseHost(host); err == nil && h.port == "" {
		h.port = defaultPort(scheme)
	}
	return h, err
}

// defaultPort is the port of a URL without one.
func defaultPort(scheme string) string {
	switch strings.ToLower(scheme) {
	case "http":
		return "80"
	case "https":
		return "443"
	}
	return ""
}

// quoted is what a client has sent, bounded, for an error.
func quoted(text string) string {
	if len(text) > 100 {
		text = text[:100] + "..."
	}
	return strconv.Quote(text)
}

// local reports whether a page cannot have the name unless it is served by this machine, or by that address.
func (h Host) local() bool {
	return h.address || h.name == "localhost"
}

// Guard decides which requests are refused. It is not changed once it is used, by any number of goroutines.
type Guard struct {
	loopback bool
	own      string // the name of the listener's address
	allowed  []Host
}

// New makes the guard of a listener. name is the host that it was told to listen on, and address is what that is. allowed
// are hosts beside the server's own; one without a port stands for all ports.
func New(name string, address net.Addr, allowed ...Host) *Guard {
	tcp, ok := address.(*net.TCPAddr)
	own, _ := ParseHost(name) // an IPv6 address has no brackets here, and needs none: it is not compared
	return &Guard{loopback: ok && tcp.IP.IsLoopback(), own: own.name, allowed: allowed}
}

// allows reports whether an option names the host.
func (g *Guard) allows(h Host) bool {
	for _, a := range g.allowed {
		if a.name == h.name && (a.port == "" || a.port == h.port) {
			return true
		}
	}
	return false
}

// Check returns why the request is refused; nil: it is not.
func (g *Guard) Check(r *http.Request) error {
	// Only HTTP/1.0 has requests without Host, and no browser speaks it.
	var host Host
	if r.Host != "" {
		var err error
		if host, err = ParseHost(r.Host); err != nil && (g.loopback || len(r.Header["Origin"]) > 0) {
			return fmt.Errorf("header Host: %w", err)
		}
		if g.loopback && !host.local() && host.name != g.own && !g.allows(host) {
			return fmt.Errorf("got Host %s on a loopback address; want localhost, an IP address, or a host that the option --http-allowed-host=%s names", quoted(r.Host), host.name)
		}
	}
	for _, text := range r.Header["Origin"] {
		// The null of files and of frames in a sandbox names no server, so that no option allows it.
		origin, err := parseOrigin(text)
		if err != nil {
			return fmt.Errorf("header Origin: %w", err)
		}
		if !g.same(origin, host, text) && !g.allows(origin) {
			return fmt.Errorf("got a request of a web page of %s; want one of this server's own page, or of a host that the option --http-allowed-host=%s names", quoted(text), origin)
		}
	}
	return nil
}

// same reports whether the page is of the host that the request names. A host without a port has that of the scheme.
func (g *Guard) same(origin, host Host, text string) bool {
	if host.port == "" {
		scheme, _, _ := strings.Cut(text, ":")
		host.port = defaultPort(scheme)
	}
	return origin == host
}

// String is the host as an option names it.
func (h Host) String() string {
	name := h.name
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if h.port == "" {
		return name
	}
	return name + ":" + h.port
}

// Handler answers requests that are refused with 403 and the reason, and passes the others on.
func (g *Guard) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := g.Check(r)
		if err == nil {
			next.ServeHTTP(w, r)
			return
		}
		// Clients parse the body of an error as JSON.
		body, _ := json.Marshal(map[string]string{"error": err.Error()})
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write(body) // a client that is gone is no error of ours
	})
}
