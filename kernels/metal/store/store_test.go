package store

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
)

// The package of a key, in these tests, is two files that have its text.

// write makes a package.
func write(text string) func(path string) {
	return func(path string) {
		_ = os.Mkdir(path, 0o777)
		_ = os.Mkdir(filepath.Join(path, "inner"), 0o777)
		_ = os.WriteFile(filepath.Join(path, "manifest.plist"), []byte(text), 0o666)
		_ = os.WriteFile(filepath.Join(path, "inner", "model.bin"), []byte(strings.Repeat(text, 100)), 0o666)
	}
}

// read checks a package and its note, which is the text too.
func read(t testing.TB, text string) func(path string, note []byte) bool {
	return func(path string, note []byte) bool {
		first, err := os.ReadFile(filepath.Join(path, "manifest.plist"))
		require.NoError(t, err)
		second, err := os.ReadFile(filepath.Join(path, "inner", "model.bin"))
		require.NoError(t, err)
		require.Equal(t, text, string(first))
		require.Equal(t, strings.Repeat(text, 100), string(second))
		require.Equal(t, text, string(note))
		return true
	}
}

// told is a store with the warnings it gave.
type told struct {
	*Store
	warnings []string
}

func open(t testing.TB, folder string, limit int64) *told {
	s := &told{Store: New(folder, limit)}
	s.OnWarning(func(text string) {
		s.Stats() // who is told may ask
		s.warnings = append(s.warnings, text)
	})
	t.Cleanup(s.Close)
	return s
}

func (s *told) save(key string) { s.Save(key, []byte(key), write(key)) }

// entries are the names of the entries in a folder.
func entries(t testing.TB, folder string) (names []string) {
	all, err := os.ReadDir(filepath.Join(folder, subfolder))
	require.NoError(t, err)
	for _, e := range all {
		if isName(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestLaterProcessFindsWhatWasSaved(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "made", "by the store")
	first := open(t, folder, 0)
	require.False(t, first.Load("a", read(t, "a")))
	first.save("a")
	first.save("a") // once is enough
	require.True(t, first.Load("a", read(t, "a")))
	require.False(t, first.Load("b", read(t, "b")))
	first.Close()
	require.False(t, first.Load("a", read(t, "a")), "after Close")

	later := open(t, folder, 0)
	require.True(t, later.Load("a", read(t, "a")))
	require.Equal(t, device.Stored{Hits: 1, Bytes: sizeOf(filepath.Join(folder, subfolder, nameOf("a")))}, later.Stats())
	require.Equal(t, int64(1), first.Stats().Writes)
	require.Equal(t, int64(2), first.Stats().Misses)
	require.Empty(t, first.warnings)
	require.Empty(t, later.warnings)
}

func TestNilStoresNothing(t *testing.T) {
	var s *Store
	require.False(t, s.Load("a", nil))
	s.Save("a", nil, nil)
	s.OnWarning(nil)
	s.Close()
	require.Zero(t, s.Stats())
}

// TestDamage has an entry damaged in every way: it is not loaded, one warning says so, it is removed, and the next save
// brings it back.
func TestDamage(t *testing.T) {
	model := filepath.Join(content, "inner", "model.bin")
	change := func(name string, f func(text []byte) []byte) func(t *testing.T, at string) {
		return func(t *testing.T, at string) {
			text, err := os.ReadFile(filepath.Join(at, name))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(at, name), f(text), 0o600))
		}
	}
	flip := func(text []byte) []byte { text[len(text)/2] ^= 1; return text }
	half := func(text []byte) []byte { return text[:len(text)/2] }
	none := func([]byte) []byte { return nil }
	longer := func(text []byte) []byte { return append(text, 0) }
	remove := func(name string) func(t *testing.T, at string) {
		return func(t *testing.T, at string) { require.NoError(t, os.RemoveAll(filepath.Join(at, name))) }
	}
	for name, damage := range map[string]func(t *testing.T, at string){
		"model flipped":        change(model, flip),
		"model truncated":      change(model, half),
		"model empty":          change(model, none),
		"model longer":         change(model, longer),
		"model gone":           remove(model),
		"package gone":         remove(content),
		"description flipped":  change(manifest, flip),
		"description half":     change(manifest, half),
		"description empty":    change(manifest, none),
		"description longer":   change(manifest, longer),
		"description gone":     remove(manifest),
		"description too long": change(manifest, func([]byte) []byte { return make([]byte, mostManifest+1) }),
		"another file": func(t *testing.T, at string) {
			require.NoError(t, os.WriteFile(filepath.Join(at, content, "more"), nil, 0o600))
		},
		"link to a file": func(t *testing.T, at string) {
			require.NoError(t, os.Rename(filepath.Join(at, model), filepath.Join(at, "elsewhere")))
			require.NoError(t, os.Symlink(filepath.Join(at, "elsewhere"), filepath.Join(at, model)))
		},
		"link to a package": func(t *testing.T, at string) {
			require.NoError(t, os.Rename(filepath.Join(at, content), filepath.Join(at, "elsewhere")))
			require.NoError(t, os.Symlink(filepath.Join(at, "elsewhere"), filepath.Join(at, content)))
		},
		"pipe": func(t *testing.T, at string) {
			require.NoError(t, os.Remove(filepath.Join(at, model)))
			require.NoError(t, syscall.Mkfifo(filepath.Join(at, model), 0o600))
		},
		"a file in its place": func(t *testing.T, at string) {
			require.NoError(t, os.RemoveAll(at))
			require.NoError(t, os.WriteFile(at, []byte("no entry"), 0o600))
		},
		"an empty folder in its place": func(t *testing.T, at string) {
			require.NoError(t, os.RemoveAll(at))
			require.NoError(t, os.Mkdir(at, 0o700))
		},
		"the entry of another graph": func(t *testing.T, at string) {
			require.NoError(t, os.RemoveAll(at))
			require.NoError(t, os.Rename(filepath.Join(filepath.Dir(at), nameOf("other")), at))
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			s := open(t, folder, 0)
			s.save("a")
			s.save("other")
			damage(t, filepath.Join(folder, subfolder, nameOf("a")))
			require.False(t, s.Load("a", func(string, []byte) bool { require.Fail(t, "loads it"); return true }))
			require.Len(t, s.warnings, 1)
			require.Contains(t, s.warnings[0], "is damaged")
			require.Equal(t, int64(1), s.Stats().Dropped)
			require.NotContains(t, entries(t, folder), nameOf("a"))
			s.save("a")
			require.True(t, s.Load("a", read(t, "a")))
			require.Len(t, s.warnings, 1)
		})
	}
}

// TestOwner has files of another user, which only root can make.
func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	for name, path := range map[string]string{"entry": "", "description": manifest, "file": filepath.Join(content, "manifest.plist")} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			s := open(t, folder, 0)
			s.save("a")
			require.NoError(t, os.Chown(filepath.Join(folder, subfolder, nameOf("a"), path), 12345, -1))
			require.False(t, s.Load("a", read(t, "a")))
			require.Len(t, s.warnings, 1)
		})
	}
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, subfolder), 0o700))
	require.NoError(t, os.Chown(filepath.Join(folder, subfolder), 12345, -1))
	s := open(t, folder, 0)
	s.save("a")
	require.Empty(t, entries(t, folder))
	require.Len(t, s.warnings, 1)
}

// TestUnusableFolder has folders that cannot be used: one warning, and nothing else happens.
func TestUnusableFolder(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T, folder string)
		word    string
	}{
		"a file":          {func(t *testing.T, folder string) { require.NoError(t, os.WriteFile(folder, nil, 0o600)) }, "not a directory"},
		"open to others":  {func(t *testing.T, folder string) { makeFolder(t, folder, 0o777) }, "others may write there"},
		"open to a group": {func(t *testing.T, folder string) { makeFolder(t, folder, 0o770) }, "others may write there"},
		"no place for lock": {func(t *testing.T, folder string) {
			require.NoError(t, os.MkdirAll(filepath.Join(folder, subfolder, "lock"), 0o700))
		}, "is a directory"},
		"a link to nothing": {func(t *testing.T, folder string) { require.NoError(t, os.Symlink("nothing", folder)) }, "file exists"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "x")
			c.prepare(t, folder)
			s := open(t, folder, 0)
			for range 2 {
				require.False(t, s.Load("a", read(t, "a")))
				s.Save("a", nil, func(string) { require.Fail(t, "writes") })
			}
			require.Len(t, s.warnings, 1)
			require.Contains(t, s.warnings[0], c.word)
			left, err := filepath.Glob(filepath.Join(folder, subfolder, process+"*"))
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

func makeFolder(t *testing.T, folder string, mode os.FileMode) {
	require.NoError(t, os.MkdirAll(filepath.Join(folder, subfolder), 0o700))
	require.NoError(t, os.Chmod(filepath.Join(folder, subfolder), mode))
}

// TestPathIsText has a path of which Foundation would make no URL.
func TestPathIsText(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "\xff"), 0)
	s.save("a")
	require.False(t, s.Load("a", read(t, "a")))
	require.Len(t, s.warnings, 1)
	require.Contains(t, s.warnings[0], "not UTF-8")
}

// TestLockedFolder has a process that has stopped while it opened the folder.
func TestLockedFolder(t *testing.T) {
	folder := t.TempDir()
	makeFolder(t, folder, 0o700)
	f, err := os.Create(filepath.Join(folder, subfolder, "lock"))
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	s := open(t, folder, 0)
	s.save("a")
	require.False(t, s.Load("a", read(t, "a")))
	require.Len(t, s.warnings, 1)
	require.Contains(t, s.warnings[0], "locked for too long")
}

// TestFolderGoesAway removes the folder while it is used.
func TestFolderGoesAway(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder, 0)
	s.save("a")
	require.NoError(t, os.RemoveAll(filepath.Join(folder, subfolder)))
	require.False(t, s.Load("a", read(t, "a")))
	s.save("a")
	s.save("b")
	require.Len(t, s.warnings, 1)
}

// TestFullDisk limits the size of files, which is what a process sees of a full disk or of a quota, in a process of its own.
func TestFullDisk(t *testing.T) {
	folder := t.TempDir()
	first := open(t, folder, 0)
	first.save("old")
	first.Close()
	out := child(t, "full", folder)
	require.Contains(t, out, "old true")
	require.Contains(t, out, "new false")
	require.Equal(t, 1, strings.Count(out, "warning"), out)
	require.Equal(t, []string{nameOf("old")}, entries(t, folder))
}

// TestNothingWritten has a package that was not written, as where the system fails without a word.
func TestNothingWritten(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder, 0)
	calls := 0
	for range 3 {
		s.Save("a", nil, func(string) { calls++ })
		s.Save("b", nil, func(path string) { calls++; _ = os.Mkdir(path, 0o700) })
	}
	require.Equal(t, 2, calls, "it is not tried again")
	require.Empty(t, s.warnings)
	require.Empty(t, entries(t, folder))
	s.save("c")
	require.True(t, s.Load("c", read(t, "c")))
}

// TestNotLoadable has a package that the system does not load: no process tries it again.
func TestNotLoadable(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder, 0)
	s.save("a")
	require.False(t, s.Load("a", func(string, []byte) bool { return false }))
	require.Contains(t, s.warnings[0], "is not loaded")
	for _, s := range []*told{s, open(t, folder, 0)} {
		s.save("a")
		require.False(t, s.Load("a", func(string, []byte) bool { require.Fail(t, "tries it again"); return true }))
	}
	require.Len(t, s.warnings, 1)
}

// TestBound adds more than there is room for. Nothing is evicted while another store is open; later the oldest are.
func TestBound(t *testing.T) {
	folder := t.TempDir()
	one := open(t, folder, 0)
	one.save("0")
	size := one.Stats().Bytes
	limit := 20 * size
	one.Close()
	s := open(t, folder, limit)
	for i := range 30 {
		s.save(strconv.Itoa(i))
	}
	held := entries(t, folder)
	bytes := func() (n int64) {
		for _, name := range entries(t, folder) {
			n += sizeOf(filepath.Join(folder, subfolder, name))
		}
		return n
	}
	require.Less(t, bytes(), limit)
	require.Equal(t, bytes(), s.Stats().Bytes)
	require.Greater(t, len(held), 15)
	require.Empty(t, s.warnings)

	second := open(t, folder, limit)
	require.True(t, second.Load("0", read(t, "0")), "s is open: nothing has been evicted")
	require.ElementsMatch(t, held, entries(t, folder))
	for i, name := range held { // the order of their use, apart by more than the clock of the file system
		at := time.Now().Add(time.Duration(i-1000) * time.Minute)
		require.NoError(t, os.Chtimes(filepath.Join(folder, subfolder, name, used), at, at))
	}
	s.Close()
	second.Close()

	last := open(t, folder, limit)
	require.False(t, last.Load("new", nil))
	kept := entries(t, folder)
	require.Less(t, len(kept), len(held))
	require.LessOrEqual(t, bytes(), limit/4*3)
	require.ElementsMatch(t, held[len(held)-len(kept):], kept, "the oldest have gone")
	last.save("new")
	require.True(t, last.Load("new", read(t, "new")))
}

// TestUseKeeps has an entry that was used of late outlive younger ones.
func TestUseKeeps(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder, 0)
	for i := range 10 {
		s.save(strconv.Itoa(i))
		at := time.Now().Add(time.Duration(i-1000) * time.Minute)
		require.NoError(t, os.Chtimes(filepath.Join(folder, subfolder, nameOf(strconv.Itoa(i)), used), at, at))
	}
	size := s.Stats().Bytes
	require.True(t, s.Load("0", read(t, "0")))
	s.Close()
	last := open(t, folder, size)
	require.True(t, last.Load("0", read(t, "0")))
	require.False(t, last.Load("1", read(t, "1")))
}

// TestDeath ends a process while the system writes, reads or first runs a package. No process sees a part of it, the next process says
// what happened, and the graph is not tried again.
func TestDeath(t *testing.T) {
	for _, where := range []string{"write", "read", "run"} {
		t.Run(where, func(t *testing.T) {
			folder := t.TempDir()
			if where != "write" {
				first := open(t, folder, 0)
				first.save("a")
				first.Close()
			}
			other := open(t, folder, 0)
			other.save("b") // a process that lives hinders nothing
			child(t, "die in "+where, folder)
			next := open(t, folder, 0)
			require.True(t, next.Load("b", read(t, "b")))
			require.Len(t, next.warnings, 1)
			require.Contains(t, next.warnings[0], "when a process ended")
			for _, s := range []*told{next, open(t, folder, 0)} {
				s.save("a")
				require.False(t, s.Load("a", read(t, "a")))
				s.Close()
			}
			other.Close()
			last := open(t, folder, 0)
			require.False(t, last.Load("a", read(t, "a")))
			last.Close()
			left, err := filepath.Glob(filepath.Join(folder, subfolder, "*-*"))
			require.NoError(t, err)
			require.Empty(t, left, "what dead processes have left is gone")
		})
	}
}

// TestKilledBetween kills a process that is not in the system's code: nothing is refused.
func TestKilledBetween(t *testing.T) {
	folder := t.TempDir()
	child(t, "die between", folder)
	s := open(t, folder, 0)
	require.True(t, s.Load("a", read(t, "a")))
	require.Empty(t, s.warnings)
}

// TestProcesses has several processes save and load the same keys at once: each sees all of an entry or nothing.
func TestProcesses(t *testing.T) {
	folder := t.TempDir()
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() { require.NotContains(t, child(t, "hammer", folder), "warning") })
	}
	wait.Wait()
	s := open(t, folder, 0)
	for i := range 8 {
		require.True(t, s.Load(strconv.Itoa(i), read(t, strconv.Itoa(i))))
	}
	require.Len(t, entries(t, folder), 8)
}

// TestWatchRuns has what was loaded run, also when the store is closed or busy.
func TestWatchRuns(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	s.save("a")
	runs := 0
	require.True(t, s.Load("a", func(string, []byte) bool {
		s.Watch("b", func() { runs++ })
		return true
	}))
	s.Close()
	s.Watch("a", func() { runs++ })
	require.Equal(t, 2, runs)
}

// TestThreads is TestProcesses in one process.
func TestThreads(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	hammer(t, s.Store)
	require.Equal(t, int64(8), s.Stats().Writes)
	require.Empty(t, s.warnings)
}

func hammer(t testing.TB, s *Store) {
	var wait sync.WaitGroup
	for n := range 8 {
		wait.Go(func() {
			for i := range 40 {
				key := strconv.Itoa((n + i) % 8)
				if !s.Load(key, read(t, key)) {
					s.Save(key, []byte(key), write(key))
				}
			}
		})
	}
	wait.Wait()
}

// child runs this test program as another process, in a role, and returns what it printed.
func child(t testing.TB, role, folder string) string {
	c := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v")
	c.Env = append(os.Environ(), "STORE_ROLE="+role, "STORE_FOLDER="+folder)
	out, err := c.CombinedOutput()
	if strings.HasPrefix(role, "die") {
		require.Error(t, err)
	} else {
		require.NoErrorf(t, err, "%s", out)
	}
	return string(out)
}

// TestChild is the other process; it does nothing in the tests themselves.
func TestChild(t *testing.T) {
	role, folder := os.Getenv("STORE_ROLE"), os.Getenv("STORE_FOLDER")
	if role == "" {
		t.Skip("a part of other tests")
	}
	s := New(folder, 0)
	s.OnWarning(func(text string) { fmt.Println("warning:", text) })
	die := func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} }
	switch role {
	case "hammer":
		hammer(t, s)
	case "die in write":
		s.Save("a", nil, func(path string) { write("a")(path); die() })
	case "die in read":
		s.Load("a", func(string, []byte) bool { die(); return true })
	case "die in run":
		require.True(t, s.Load("a", read(t, "a")))
		s.Watch("a", die)
	case "die between":
		s.Save("a", []byte("a"), write("a"))
		require.True(t, s.Load("a", read(t, "a")))
		s.Watch("a", func() {})
		die()
	case "full":
		require.False(t, s.Load("other", nil)) // opens the folder
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4096, Max: 4096}))
		s.Save("new", nil, write("new"))
		s.Save("newer", nil, write("newer"))
		fmt.Println("old", s.Load("old", read(t, "old")))
		fmt.Println("new", s.Load("new", read(t, "new")))
	}
}
