package serve

import (
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/modelconfig"
)

// A repository is a folder of models, each a folder with versions, or one ONNX file:
//
//	REPOSITORY/MODEL/config.pbtxt
//	REPOSITORY/MODEL/configs/NAME.pbtxt, in its place if the server is asked for NAME
//	REPOSITORY/MODEL/VERSION/model.onnx

// found is a model of a repository.
type found struct {
	name   string
	folder string // of the model; "" for a file
	file   string // the model itself, where the repository is a file
}

// layout is what users are told who have arranged their files in another way, which Triton's messages do not say.
const layout = "REPOSITORY/MODEL/VERSION/model.onnx, such as models/net/1/model.onnx"

// isNoModel reports whether a folder has neither a configuration nor a version with a file of the default name.
func (s *Server) isNoModel(f *found) bool {
	if f.file != "" {
		return false
	}
	numbers, _ := versionsIn(f.folder) // what cannot be read is as good as not there
	_, err := os.Stat(s.configPath(f.folder))
	return err != nil && !f.hasDefault(numbers, Overrides{})
}

// configPath is the file with the configuration of the model in a folder, which need not exist.
func (s *Server) configPath(folder string) string {
	if name := s.options.ConfigName; name != "" {
		if own := filepath.Join(folder, "configs", name+".pbtxt"); isFile(own) {
			return own
		}
	}
	return filepath.Join(folder, "config.pbtxt")
}

// isFile reports whether a path is a file, as a repository of one model and a configuration are.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// fileModel is the model of a repository that is one file; its name is that of the file.
func fileModel(repository string) found {
	base := filepath.Base(repository)
	return found{name: strings.TrimSuffix(base, filepath.Ext(base)), file: repository}
}

// scan lists the models of all repositories. A name that two of them have is an error, and in neither list.
func (s *Server) scan() (all map[string]found, failures []error) {
	all = map[string]found{}
	twice := map[string]bool{}
	add := func(f found) {
		// gRPC cannot send such a name: it would break the index and the statistics of all models.
		if !utf8.ValidString(f.name) {
			failures = append(failures, fmt.Errorf("failed to poll model '%s': its name is no UTF-8", strings.ToValidUTF8(f.name, "?")))
			return
		}
		if _, has := all[f.name]; has {
			twice[f.name] = true
		}
		all[f.name] = f
	}
	for _, repository := range s.options.Repositories {
		if isFile(repository) {
			add(fileModel(repository))
			continue
		}
		// Files beside the folders of models are none of ours.
		entries, err := os.ReadDir(repository)
		if err != nil {
			failures = append(failures, fmt.Errorf("failed to poll model repository '%s': %w", repository, err))
		}
		for _, e := range entries {
			// Links to folders are followed, as in Triton: a repository is often made of them.
			if info, err := os.Stat(filepath.Join(repository, e.Name())); err == nil && info.IsDir() {
				add(found{name: e.Name(), folder: filepath.Join(repository, e.Name())})
			}
		}
	}
	for name := range twice {
		delete(all, name)
		failures = append(failures, notUnique(name))
	}
	return all, failures
}

// locate finds one model by name. A name never leads out of its repository. One that two repositories have is not found.
func (s *Server) locate(name string) (f found, ok bool) {
	for _, repository := range s.options.Repositories {
		one := found{name: name, folder: filepath.Join(repository, name)}
		if isFile(repository) {
			if one = fileModel(repository); one.name != name {
				continue
			}
		} else if info, err := os.Stat(one.folder); err != nil || !info.IsDir() {
			continue
		}
		if ok {
			s.options.Log(Failure, notUnique(name).Error())
			return found{}, false
		}
		f, ok = one, true
	}
	return f, ok
}

// notUnique is the error of a name that several repositories have.
func notUnique(name string) error {
	return fmt.Errorf("failed to poll model '%s': not unique across all model repositories", name)
}

// checkName refuses names that are no name of a folder.
func checkName(name string) error {
	trimmed := strings.TrimSpace(name)
	switch {
	case trimmed == "":
		return inference.Errorf(inference.InvalidArg, "Model name cannot be empty. Please enter a valid name to deploy.")
	case trimmed == "." || trimmed == ".." || strings.ContainsAny(name, "/\\\x00"):
		return inference.Errorf(inference.InvalidArg, "invalid model name '%s', model name must not contain path traversal characters", name)
	case !utf8.ValidString(name):
		return inference.Errorf(inference.InvalidArg, "invalid model name '%s', model name must be UTF-8", strings.ToValidUTF8(name, "?"))
	}
	return nil
}

// versionsIn are the numbers of the folders of versions. Other folders, names with leading zeros and numbers that no
// version can have are not among them.
func versionsIn(folder string) (numbers []int64, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if n, ok := versionOf(e.Name()); ok {
			if info, err := os.Stat(filepath.Join(folder, e.Name())); err == nil && info.IsDir() {
				numbers = append(numbers, n)
			}
		}
	}
	slices.SortFunc(numbers, func(a, b int64) int { return int(max(min(b-a, 1), -1)) })
	return numbers, nil
}

// versionOf is the number that the name of a folder stands for.
func versionOf(name string) (int64, bool) {
	// ParseInt alone would take 007 and +7, and two folders could then be one version.
	if len(name) > 1 && name[0] == '0' || strings.HasPrefix(name, "+") || strings.HasPrefix(name, "-") {
		return 0, false
	}
	n, err := strconv.ParseInt(name, 10, 64)
	return n, err == nil
}

// chosen are the versions that a policy selects, of numbers with the highest first.
func chosen(p *modelconfig.ModelVersionPolicy, numbers []int64) []int64 {
	switch {
	case p.GetSpecific() != nil:
		var some []int64
		for _, n := range numbers {
			if slices.Contains(p.GetSpecific().Versions, n) {
				some = append(some, n)
			}
		}
		return some
	case p.GetLatest() != nil:
		return numbers[:min(uint64(len(numbers)), uint64(p.GetLatest().NumVersions))]
	}
	return numbers
}

// signature describes the files of a model: it changes when one of them does.
func (f *found) signature() string {
	h := fnv.New128a()
	root := f.folder
	if f.file != "" {
		root = f.file
	}
	describe(h, root, map[string]bool{})
	return string(h.Sum(nil))
}

// describe writes size and time of a file, or of a folder and everything in it. It follows links, as a load does: many
// repositories are made of them. seen are the folders that were written, by their paths without links: each is written once, since
// links may lead back, and to each folder on a great many ways.
func describe(to io.Writer, path string, seen map[string]bool) {
	info, err := os.Stat(path)
	if err != nil {
		return // what cannot be read is as good as not there
	}
	// Size and time of change of each file are enough: replacing a model changes one of them.
	fmt.Fprintf(to, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
	if !info.IsDir() {
		return
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil || seen[target] {
		return
	}
	seen[target] = true
	entries, _ := os.ReadDir(path) // likewise
	for _, e := range entries {
		describe(to, filepath.Join(path, e.Name()), seen)
	}
}
