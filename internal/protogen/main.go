// Command protogen writes the Go code of a .proto file, for go generate: protobuf messages and, where the file has
// services, those of gRPC. It needs no protoc: the compiler is a Go module, and so are the two generators.
//
//	go run ./internal/protogen -I FOLDER[,FOLDER] NAME.proto [OUTPUT]
//
// The first folder has the file, the others what it imports. The results are OUTPUT/zNAME.go and OUTPUT/zNAME_grpc.go.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// generators are the two programs, pinned: the first by go.mod.
var generators = []string{
	"google.golang.org/protobuf/cmd/protoc-gen-go",
	"google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2",
}

// formatter is that of build.sh check, which looks at all files that are committed.
const formatter = "mvdan.cc/gofumpt@v0.12.0"

// main ends with status 1 and the reason where nothing could be written.
func main() {
	folders := flag.String("I", ".", "folders of .proto files, with commas between")
	flag.Parse()
	output := "."
	if flag.NArg() > 1 {
		output = flag.Arg(1)
	}
	if err := generate(strings.Split(*folders, ","), flag.Arg(0), output); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

// generate compiles a file and writes what the generators make of it.
func generate(folders []string, name, output string) error {
	compiler := protocompile.Compiler{
		Resolver:       &protocompile.SourceResolver{ImportPaths: folders},
		SourceInfoMode: protocompile.SourceInfoStandard, // comments become those of the Go code
	}
	files, err := compiler.Compile(context.Background(), name)
	if err != nil {
		return err
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: []string{name}, Parameter: proto.String("paths=source_relative")}
	request.ProtoFile = append(request.ProtoFile, dependencies(files[0])...)
	for _, generator := range generators {
		if err := run(generator, request, output); err != nil {
			return fmt.Errorf("%s: %w", generator, err)
		}
	}
	return nil
}

// dependencies are the descriptors of the imports of a file, and last its own.
func dependencies(file linker.File) (all []*descriptorpb.FileDescriptorProto) {
	// Generators want each file behind those that it imports.
	imports := file.Imports()
	for i := range imports.Len() {
		all = append(all, dependencies(file.FindImportByPath(imports.Get(i).Path()))...)
	}
	return append(all, protoutil.ProtoFromFileDescriptor(file))
}

// run gives the request to one generator and writes its files: a.pb.go becomes za.go.
func run(generator string, request *pluginpb.CodeGeneratorRequest, output string) error {
	// A generator reads a request from its standard input and writes a response to its standard output.
	in, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	// go run fetches the generator where it is not in the cache, in the version that is pinned.
	c := exec.Command("go", "run", generator)
	c.Stdin, c.Stderr = bytes.NewReader(in), os.Stderr
	out, err := c.Output()
	if err != nil {
		return err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(out, &response); err != nil {
		return err
	}
	// An error of the .proto file is reported in the response and not by the status.
	if response.Error != nil {
		return fmt.Errorf("%s", *response.Error)
	}
	for _, f := range response.File {
		// Generated files of this project begin with z.
		name := "z" + strings.Replace(filepath.Base(f.GetName()), ".pb.go", ".go", 1)
		path := filepath.Join(output, name)
		if err := os.WriteFile(path, []byte(f.GetContent()), 0o644); err != nil {
			return err
		}
		if out, err := exec.Command("go", "run", formatter, "-w", path).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	return nil
}
