// Package store keeps compiled graphs in a folder, so that later processes need not compile them.
//
// The folder holds:
//
//	HASH/           an entry, named after the hash of its key (FNV-1a, 128 bits)
//	  entry         the key in full, a note, and the size and hash of each file of the package
//	  graph.mpsgraphpackage  what MPSGraph wrote
//	  used          written at each use: its time is that of the last one
//	HASH.refused    this graph is compiled by each process: see below
//	new-N/          an entry that is being written
//	process-N       locked by the process that made it while it uses the folder; names what MPSGraph is working on
//	lock            locked while a process opens the folder
//
// How it stays right:
//
//   - An entry appears by one rename and is never changed, so other processes see all of it or nothing.
//   - The key says everything that the package depends on and is compared in full. Before MPSGraph sees a package, the
//     owner, the list, the size and the content of all files are checked. What does not fit is removed.
//   - MPSGraph ends the process where it cannot write or read a package, and nothing can catch that. While it does either,
//     and while it runs for the first time what it has read, the file process-N names the entry. The next process to open
//     the folder finds that file unlocked and marks the entry as refused, so that no later process ends with it. A package
//     that MPSGraph does not load is marked too.
//   - MPSGraph may read a package later than it opens it. So entries are evicted only by a process that opens the folder
//     while no other one uses it: the least recently used ones, until a quarter of the limit is free. A process adds no
//     entry beyond the limit.
//   - Hashes detect damage, not attacks: the folder must belong to the user, and no other user may write there.
//   - Nothing here is an error for the caller. What goes wrong with the folder costs its benefit and one warning.
//
// The package knows nothing of Metal; what reads and writes packages is passed in.
package store

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/paddle-mps/paddle-mps/core/device"
)

// Names in the folder.
const (
	subfolder = "executables" // of the folder that the user names; it is ours alone
	content   = "graph.mpsgraphpackage"
	manifest  = "entry"
	used      = "used"
	refused   = ".refused"
	partial   = "new-"
	process   = "process-"
)

// Limits.
const (
	// DefaultLimit is the size of the folder in bytes where the user names none.
	DefaultLimit = 256 << 20
	patience     = 2 * time.Second // for another process to open the folder
	probeBytes   = 1 << 20         // must fit on the disk before MPSGraph writes: it ends the process where the disk is full
	mostManifest = 1 << 20         // bytes of an entry's manifest
)

// Store is a folder of compiled graphs; nil stores nothing. Goroutines may share one; one at a time reads or writes a
// package, because Apple does not document that several may.
type Store struct {
	folder string
	limit  int64

	first  sync.Mutex // held while a loaded graph runs for the first time; taken without mu
	naming sync.Mutex // of the process file's text, taken last

	mu       sync.Mutex
	opened   bool
	off      bool     // nothing is read or written
	readOnly bool     // nothing is written
	self     *os.File // process-N
	owner    uint32
	skipped  map[string]bool // names that are not tried
	made     int             // fresh names
	added    int64           // bytes since the folder was measured
	stats    device.Stored
	warn     func(text string)
	warnings []string // that are passed on when the store is unlocked
}

// New returns the store in a folder of the user's, which is made when it is first used. limit 0 is DefaultLimit.
func New(folder string, limit int64) *Store {
	if limit == 0 {
		limit = DefaultLimit
	}
	return &Store{folder: filepath.Join(folder, subfolder), limit: limit, skipped: map[string]bool{}}
}

// OnWarning sets the function that is told in a sentence what went wrong. It is called with no lock held.
func (s *Store) OnWarning(warn func(text string)) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warn = warn
}

// Stats are the figures.
func (s *Store) Stats() device.Stored {
	if s == nil {
		return device.Stored{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// ResetStats sets the counts to 0; the bytes stay.
func (s *Store) ResetStats() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats = device.Stored{Bytes: s.stats.Bytes}
}

// Load has load make a graph of the package that is stored under a key, and reports whether it did. load gets the path
// of the package and the note that was saved with it.
func (s *Store) Load(key string, load func(path string, note []byte) bool) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.unlock()
	name := nameOf(key)
	if !s.ready() || s.skipped[name] {
		return false
	}
	// What is gone, or cannot be read right now, is no damage.
	note, err := s.check(name, key)
	if !s.has(name) || isPassing(err) {
		s.stats.Misses++
		return false
	}
	if err != nil {
		s.drop(name, err)
		return false
	}
	// If the process ends here, the next one finds the name.
	if !s.announce(handling, name) {
		return false
	}
	ok := load(s.path(name, content), note)
	s.announce(handling, "")
	if !ok {
		// Its files are as they were written, so writing them again would not help.
		s.refuse(name, "is not loaded by MPSGraph")
		return false
	}
	s.stats.Hits++
	_ = os.WriteFile(s.path(name, used), []byte("\n"), 0o600) // a folder that cannot be written evicts nothing
	return true
}

// Watch has run use a graph that Load has made under a key for the first time. Nothing else of the store waits for it.
func (s *Store) Watch(key string, run func()) {
	s.first.Lock()
	defer s.first.Unlock()
	s.announce(running, nameOf(key)) // what is loaded has to run, whatever becomes of the folder
	run()
	s.announce(running, "")
}

// Save has write make a package and stores it, with a note, under a key that Load has not found. write gets the path of a
// folder that does not exist yet, in one that does.
func (s *Store) Save(key string, note []byte, write func(path string)) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.unlock()
	name := nameOf(key)
	if !s.ready() || s.readOnly || s.skipped[name] || s.has(name) || s.full(0) {
		return
	}
	// An error is one of the folder, such as a full disk, and will occur again.
	if err := s.add(name, key, note, write); err != nil {
		s.readOnly = true
		s.warnf("%s: %v; graphs that are not there yet are not stored", s.folder, err)
	}
}

// Close leaves the folder to others. The store does nothing afterwards.
func (s *Store) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave()
}

// leave removes the process file, which says that packages are in use, and turns the store off.
func (s *Store) leave() {
	s.opened, s.off = true, true
	s.naming.Lock()
	defer s.naming.Unlock()
	if s.self != nil {
		_ = os.Remove(s.self.Name())
		_ = s.self.Close()
		s.self = nil
	}
}

// unlock unlocks the store, then passes on what there is to report: who is told may ask for the figures.
func (s *Store) unlock() {
	texts, warn := s.warnings, s.warn
	s.warnings = nil
	s.mu.Unlock()
	for _, text := range texts {
		if warn != nil {
			warn(text)
		}
	}
}

// ready opens the folder at the first use.
func (s *Store) ready() bool {
	if !s.opened {
		s.opened = true
		if err := s.open(); err != nil {
			s.leave()
			s.warnf("%s: %v; no compiled graphs are stored", s.folder, err)
		}
	}
	return !s.off
}

// open makes the folder, cleans it and enters this process. A folder that is there but cannot be written is of no use
// either: without the process file, another process could evict what this one reads.
func (s *Store) open() error {
	if !utf8.ValidString(s.folder) {
		return errors.New("the path is not UTF-8") // of which Foundation would make no URL
	}
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		return err
	}
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if s.self, err = os.OpenFile(s.fresh(process), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		return err
	}
	if err := syscall.Flock(int(s.self.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return err
	}
	made, err := s.self.Stat()
	if err != nil {
		return err
	}
	// A user who may write to the folder could have MPSGraph read any file. The owner of a file that was made just now is
	// the user of this process.
	s.owner = made.Sys().(*syscall.Stat_t).Uid
	info, err := os.Lstat(s.folder)
	if err != nil {
		return err
	}
	if !info.IsDir() || !s.own(info) || info.Mode().Perm()&0o022 != 0 {
		return errors.New("others may write there; want a folder of this user alone")
	}
	return s.clean()
}

// lock takes the folder's lock and returns what gives it back.
func (s *Store) lock() (unlock func(), err error) {
	f, err := os.OpenFile(s.path("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	// Opening takes milliseconds. A process that was stopped meanwhile is not waited for.
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		switch {
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			_ = f.Close()
			return nil, fmt.Errorf("it cannot be locked: %w", err)
		case time.Now().After(end):
			_ = f.Close()
			return nil, errors.New("another process has had it locked for too long")
		}
	}
}

// clean looks at what processes that have ended left behind, and evicts entries if no other process uses the folder. The
// caller holds the lock.
func (s *Store) clean() error {
	all, err := namesIn(s.folder)
	if err != nil {
		return err
	}
	// Of a process that lives, the file is locked.
	alone := true
	for _, name := range all {
		if strings.HasPrefix(name, process) && s.path(name) != s.self.Name() {
			alone = s.reap(s.path(name)) && alone
		}
	}
	// Each belongs to the process that made it; if none lives, it will not be finished.
	for _, name := range all {
		if alone && strings.HasPrefix(name, partial) {
			removeAll(s.path(name))
		}
	}
	s.measure()
	if alone && s.stats.Bytes > s.limit/4*3 {
		s.evict()
	}
	return nil
}

// reap removes the file of a process that has ended, and refuses the graph that it ended with. It reports whether the
// process has ended.
func (s *Store) reap(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return false
	}
	// A place that was never written is zeros.
	text := make([]byte, places*digits)
	n, _ := io.ReadFull(f, text)
	for at := 0; at+digits <= n; at += digits {
		if name := string(text[at:][:digits]); isName(name) {
			s.refuse(name, "was read, written or first run by MPSGraph when a process ended")
		}
	}
	_ = os.Remove(path)
	return true
}

// measure counts the bytes of all entries and finds the refused graphs.
func (s *Store) measure() {
	all, _ := namesIn(s.folder)
	s.stats.Bytes, s.added = 0, 0
	for _, name := range all {
		if graph, ok := strings.CutSuffix(name, refused); ok {
			s.skipped[graph] = true
		}
		if isName(name) {
			s.stats.Bytes += sizeOf(s.path(name))
		}
	}
}

// evict removes the least recently used entries until a quarter of the limit is free. An entry without a time counts as
// the oldest.
func (s *Store) evict() {
	all, _ := namesIn(s.folder)
	var byAge []string // the time of the last use in 16 digits, then the name
	for _, name := range all {
		if !isName(name) {
			continue
		}
		last := int64(0)
		if info, err := os.Lstat(s.path(name, used)); err == nil {
			last = max(info.ModTime().UnixNano(), 0)
		}
		byAge = append(byAge, fmt.Sprintf("%016x%s", last, name))
	}
	slices.Sort(byAge)
	for _, aged := range byAge {
		if s.stats.Bytes <= s.limit/4*3 {
			return
		}
		name := aged[16:]
		bytes := sizeOf(s.path(name))
		if s.remove(name) == nil {
			s.stats.Bytes -= bytes
		}
	}
}

// full reports whether so many bytes more would exceed the limit. What other processes add counts too, from time to time.
func (s *Store) full(more int64) bool {
	if s.added > s.limit/16 {
		s.measure()
	}
	return s.stats.Bytes+more >= s.limit
}

// The places in a process file.
const (
	handling = iota // what is written or read
	running         // what runs for the first time
	places
)

// announce writes into a place of the process file which entry MPSGraph gets; "" for none.
func (s *Store) announce(place int, name string) bool {
	s.naming.Lock()
	defer s.naming.Unlock()
	if s.self == nil {
		return false
	}
	if _, err := s.self.Seek(int64(place*digits), io.SeekStart); err != nil {
		return false
	}
	_, err := fmt.Fprintf(s.self, "%*s", digits, name)
	return err == nil
}

// describe is the text of a manifest: a hash of the rest, the note, the files, and the key.
func describe(key string, note []byte, files string) string {
	text := fmt.Sprintf("note %q\n%s%s", note, files, key)
	return hash([]byte(text)) + "\n" + text
}

// add makes an entry and moves it to where others find it. The error is one of the folder.
func (s *Store) add(name, key string, note []byte, write func(path string)) error {
	temporary := s.fresh(partial)
	if err := os.Mkdir(temporary, 0o700); err != nil {
		return err
	}
	defer removeAll(temporary)
	// A write that fails here is an error; one that fails in MPSGraph ends the process.
	probe := filepath.Join(temporary, "probe")
	if err := os.WriteFile(probe, make([]byte, probeBytes), 0o600); err != nil {
		return err
	}
	if err := os.Remove(probe); err != nil {
		return err
	}
	if !s.announce(handling, name) {
		return errors.New("the process file cannot be written")
	}
	write(filepath.Join(temporary, content))
	s.announce(handling, "")
	files, err := s.list(filepath.Join(temporary, content))
	if err != nil || files == "" {
		// MPSGraph reports no errors: it wrote nothing, which is no fault of the folder.
		s.skipped[name] = true
		return nil //nolint:nilerr // see above
	}
	text := []byte(describe(key, note, files))
	if err := os.WriteFile(filepath.Join(temporary, manifest), text, 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(temporary, used), []byte("\n"), 0o600); err != nil {
		return err
	}
	// What does not fit is not tried again in this process; the next one may have more room.
	size := sizeOf(temporary)
	if s.full(size) || len(text) > mostManifest {
		s.skipped[name] = true
		return nil
	}
	if err := os.Rename(temporary, s.path(name)); err != nil {
		if s.has(name) { // another process was faster
			return nil
		}
		return err
	}
	s.stats.Writes++
	s.stats.Bytes += size
	s.added += size
	return nil
}

// check compares an entry with its manifest and its key, and returns the note.
func (s *Store) check(name, key string) (note []byte, err error) {
	folder, err := os.Lstat(s.path(name))
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(s.path(name, manifest))
	if err != nil {
		return nil, err
	}
	// Nothing is read before it is clear that it is a file of this user, and not too long: no pipe, no link to elsewhere.
	if !folder.IsDir() || !s.own(folder) || !info.Mode().IsRegular() || !s.own(info) || info.Size() > mostManifest {
		return nil, errors.New("a file has another owner or kind")
	}
	text, err := os.ReadFile(s.path(name, manifest))
	if err != nil {
		return nil, err
	}
	// Every byte is compared: MPSGraph ends the process where a file is missing, and does not say what else it checks.
	files, err := s.list(s.path(name, content))
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(string(text), "note ")
	line, _, _ := strings.Cut(rest, "\n")
	quoted, err := strconv.Unquote(line)
	if err != nil || describe(key, []byte(quoted), files) != string(text) {
		return nil, errors.New("its files have changed, or it is another graph")
	}
	return []byte(quoted), nil
}

// list is a line for each file of a package, sorted by name.
func (s *Store) list(root string) (files string, err error) {
	err = walk(root, "", func(name string, info fs.FileInfo) error {
		if !s.own(info) || !info.IsDir() && !info.Mode().IsRegular() {
			return errors.New("a file has another owner or kind")
		}
		if info.IsDir() {
			return nil
		}
		if info.Size() > s.limit {
			return errors.New("a file is larger than the folder may be")
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		files += fmt.Sprintf("file %s %d %q\n", hash(text), len(text), name)
		return err
	})
	return files, err
}

// drop removes an entry that is damaged.
func (s *Store) drop(name string, why error) {
	s.stats.Dropped++
	s.warnf("%s is damaged (%v); it is compiled anew", s.path(name), why)
	if err := s.remove(name); err != nil {
		s.skipped[name] = true // it stays there and is not tried again
	}
}

// refuse marks a graph, for this process and later ones, as one that MPSGraph does not get from the folder. Another process
// may have loaded it, so it is left to eviction.
func (s *Store) refuse(name, why string) {
	s.stats.Dropped++
	s.warnf("%s %s; each process compiles it from now on", s.path(name), why)
	s.skipped[name] = true
	_ = os.WriteFile(s.path(name+refused), nil, 0o600)
}

// remove takes an entry out of the folder by a rename, so that no process sees a part of it.
func (s *Store) remove(name string) error {
	aside := s.fresh(partial)
	err := os.Rename(s.path(name), aside)
	removeAll(aside)
	return err
}

// has reports whether there is something under a name.
func (s *Store) has(name string) bool {
	_, err := os.Lstat(s.path(name))
	return err == nil
}

// own reports whether a file belongs to the user of this process.
func (s *Store) own(info fs.FileInfo) bool {
	at, ok := info.Sys().(*syscall.Stat_t)
	return ok && at.Uid == s.owner
}

// fresh is the path of a file that is not there yet, in this folder.
func (s *Store) fresh(prefix string) string {
	s.made++
	return s.path(fmt.Sprintf("%s%d-%x-%d", prefix, os.Getpid(), time.Now().UnixNano(), s.made))
}

// path is that of a file in the folder.
func (s *Store) path(names ...string) string {
	return filepath.Join(append([]string{s.folder}, names...)...)
}

// warnf has a sentence reported.
func (s *Store) warnf(format string, args ...any) {
	s.warnings = append(s.warnings, "[executables] "+fmt.Sprintf(format, args...))
}

// isPassing reports whether an error is no property of the file that it is about, such as too many open files.
func isPassing(err error) bool {
	var of syscall.Errno
	return errors.As(err, &of) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && of != syscall.ENOTDIR
}

// digits is the length of a hash as text.
const digits = 32

// hash is the hash of bytes, in hexadecimal digits.
func hash(text []byte) string {
	h := fnv.New128a()
	_, _ = h.Write(text) // hashes take everything
	return fmt.Sprintf("%x", h.Sum(nil))
}

// nameOf is the name of the entry of a key.
func nameOf(key string) string { return hash([]byte(key)) }

// isName reports whether a name is one of an entry.
func isName(name string) bool {
	return len(name) == digits && strings.Trim(name, "0123456789abcdef") == ""
}

// walk calls visit for a file, and for all files below it if it is a folder, which comes after them. Names are relative to
// root. The standard library's functions for this would add 20 KB to the library.
func walk(root, name string, visit func(name string, info fs.FileInfo) error) error {
	info, err := os.Lstat(filepath.Join(root, name))
	if err != nil {
		return err
	}
	if info.IsDir() {
		below, err := namesIn(filepath.Join(root, name))
		if err != nil {
			return err
		}
		for _, inner := range below {
			if err := walk(root, filepath.Join(name, inner), visit); err != nil {
				return err
			}
		}
	}
	return visit(name, info)
}

// namesIn is the names of the files in a folder, sorted.
func namesIn(folder string) ([]string, error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// sizeOf is the bytes of all files below a folder, as far as they can be seen.
func sizeOf(folder string) (n int64) {
	_ = walk(folder, "", func(_ string, info fs.FileInfo) error {
		if info.Mode().IsRegular() {
			n += info.Size()
		}
		return nil
	})
	return n
}

// removeAll removes a file or a folder with everything in it, as far as that is possible.
func removeAll(path string) {
	_ = walk(path, "", func(name string, _ fs.FileInfo) error {
		_ = os.Remove(filepath.Join(path, name))
		return nil
	})
}
