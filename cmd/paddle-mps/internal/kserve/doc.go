// Package kserve has the messages and the service of the inference protocol over gRPC, generated from grpc_service.proto.
package kserve

//go:generate go run ../../../../internal/protogen -I .,../../../../serve/modelconfig grpc_service.proto
