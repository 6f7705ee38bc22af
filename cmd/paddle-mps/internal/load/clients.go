package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// grpcClient is a connection of gRPC. The request is made once, but for its tensor.
type grpcClient struct {
	connection *grpc.ClientConn
	stub       kserve.GRPCInferenceServiceClient
	request    *kserve.ModelInferRequest
}

// dialGRPC makes a client of gRPC.
func dialGRPC(o *options) (client, error) {
	connection, err := grpc.NewClient(o.address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(1<<30), grpc.MaxCallSendMsgSize(1<<30)))
	if err != nil {
		return nil, err
	}
	return &grpcClient{connection, kserve.NewGRPCInferenceServiceClient(connection), &kserve.ModelInferRequest{
		ModelName: o.model,
		Inputs:    []*kserve.ModelInferRequest_InferInputTensor{{Name: "x", Datatype: "FP32", Shape: o.shape()}},
	}}, nil
}

// close ends the connection.
func (c *grpcClient) close() { _ = c.connection.Close() }

// infer sends the tensor in raw contents.
func (c *grpcClient) infer(ctx context.Context, data []byte) (back []byte, refused bool, err error) {
	c.request.RawInputContents = [][]byte{data}
	r, err := c.stub.ModelInfer(ctx, c.request)
	// A full queue is UNAVAILABLE; so is a server that is gone, which the caller sees by the count of refusals.
	switch {
	case status.Code(err) == codes.Unavailable:
		return nil, true, nil
	case err != nil:
		return nil, false, err
	case len(r.RawOutputContents) != 1:
		return nil, false, fmt.Errorf("%d outputs came back", len(r.RawOutputContents))
	}
	return r.RawOutputContents[0], false, nil
}

// httpClient is a connection of HTTP, on which requests follow each other.
type httpClient struct {
	connection net.Conn
	from       *bufio.Reader
	head       []byte // of a request, without its tensor
}

// dialHTTP makes a client of HTTP, which sends tensors in the binary form.
func dialHTTP(o *options) (client, error) {
	// The head of a request is the same for all of them: only the tensor changes.
	connection, err := net.Dial("tcp", o.address)
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf(`{"inputs":[{"name":"x","datatype":"FP32","shape":%s,"parameters":{"binary_data_size":%d}}],"parameters":{"binary_data_output":true}}`, tensors.Text(o.shape()), o.bytes)
	head := fmt.Sprintf("POST /v2/models/%s/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\nInference-Header-Content-Length: %d\r\n\r\n%s", o.model, len(text)+o.bytes, len(text), text)
	return &httpClient{connection, bufio.NewReader(connection), []byte(head)}, nil
}

// close ends the connection.
func (c *httpClient) close() { _ = c.connection.Close() }

// infer sends the tensor behind the JSON, in one write.
func (c *httpClient) infer(_ context.Context, data []byte) (back []byte, refused bool, err error) {
	if _, err := c.connection.Write(append(c.head[:len(c.head):len(c.head)], data...)); err != nil {
		return nil, false, err
	}
	r, err := http.ReadResponse(c.from, nil)
	if err != nil {
		return nil, false, err
	}
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		return nil, false, err
	case r.StatusCode == http.StatusServiceUnavailable:
		return nil, true, nil
	case r.StatusCode != http.StatusOK:
		return nil, false, fmt.Errorf("%s: %s", r.Status, bytes.TrimSpace(body))
	}
	// The tensor is what follows the JSON of the response.
	n, err := strconv.Atoi(r.Header.Get("Inference-Header-Content-Length"))
	if err != nil || n > len(body) {
		return nil, false, fmt.Errorf("the header of the response has length %q", r.Header.Get("Inference-Header-Content-Length"))
	}
	return body[n:], false, nil
}
