package service

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// config is the configuration of TLS that the options ask for, nil for none.
func (c *certificates) config() (*tls.Config, error) {
	if !c.use && !c.mutual {
		return nil, nil
	}
	if c.cert == "" || c.key == "" {
		return nil, errors.New("TLS is on, but certificate or key is missing; want --http-server-cert and --http-server-key for HTTP, --grpc-server-cert and --grpc-server-key for gRPC")
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return nil, fmt.Errorf("certificate %q with key %q: %w", c.cert, c.key, err)
	}
	// Older versions than 1.2 are refused, as everywhere by now.
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if !c.mutual {
		return config, nil
	}
	authorities, err := os.ReadFile(c.root)
	if err != nil {
		return nil, fmt.Errorf("root certificate: %w", err)
	}
	config.ClientCAs = x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(authorities) {
		return nil, fmt.Errorf("root certificate %q has no certificate in PEM", c.root)
	}
	// A client without a certificate of these authorities does not get a connection.
	config.ClientAuth = tls.RequireAndVerifyClientCert
	return config, nil
}
