package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

const (
	configName  = "config.yaml"
	readerConns = 4
)

// Options are what a Run needs from outside.
type Options struct {
	// Now is the clock that stamps events and rollouts. It is required.
	Now func() time.Time
}

// Run is an open run directory. All methods may be called from many goroutines at once.
type Run struct {
	dir     string
	config  []byte
	root    *os.Root
	lock    *os.File // nil when read-only
	readers *sql.DB
	writer  *writer // nil when read-only
	encoder *zstd.Encoder
	decoder *zstd.Decoder

	closing sync.Once
	closed  error
}

// Create makes the run directory dir with the given config.yaml and opens it under its lock. A directory that holds
// a run is an [ErrExists], one that holds anything else an [ErrNotRun]. A Create that was killed half way leaves no run;
// the next Create starts over in the same place.
func Create(dir string, config []byte, opt Options) (*Run, error) {
	if opt.Now == nil {
		return nil, errors.New("store options: got no clock, want Now")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, classify(dir, err)
	}
	if err := syncDir(filepath.Dir(dir)); err != nil {
		return nil, err
	}
	if err := checkCreatable(dir); err != nil {
		return nil, err
	}
	lock, err := takeLock(dir)
	if err != nil {
		return nil, err
	}
	// Another process may have finished a Create between the check and the lock.
	if err := checkCreatable(dir); err != nil {
		releaseLock(lock)
		return nil, err
	}
	r, err := build(dir, config, lock, opt)
	if err != nil {
		releaseLock(lock)
		return nil, err
	}
	return r, nil
}

// build fills a locked empty directory. config.yaml is written last: it is what makes the directory a run.
func build(dir string, config []byte, lock *os.File, opt Options) (*Run, error) {
	ctx := context.Background()
	for _, name := range journalFiles {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, classify(filepath.Join(dir, name), err)
		}
	}
	for _, name := range ownDirs {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return nil, classify(filepath.Join(dir, name), err)
		}
	}
	db, err := openDB(dir, "rwc", 1)
	if err != nil {
		return nil, err
	}
	err = createSchema(ctx, dir, db)
	if closeErr := db.Close(); err == nil {
		err = classify(filepath.Join(dir, journalName), closeErr)
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, classify(dir, err)
	}
	err = replaceFile(root, configName, writeBytes(config))
	if closeErr := root.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, err
	}
	return open(ctx, dir, lock, opt)
}

// Open resumes the run in dir: it takes the exclusive lock ([ErrLocked] names the process that holds it), checks
// the journal, and cuts off what a killed process left half written.
func Open(dir string, opt Options) (*Run, error) {
	if opt.Now == nil {
		return nil, errors.New("store options: got no clock, want Now")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := checkIsRun(dir); err != nil {
		return nil, err
	}
	lock, err := takeLock(dir)
	if err != nil {
		return nil, err
	}
	r, err := open(context.Background(), dir, lock, opt)
	if err != nil {
		releaseLock(lock)
		return nil, err
	}
	return r, nil
}

// open assembles a Run over a locked directory.
func open(ctx context.Context, dir string, lock *os.File, opt Options) (_ *Run, err error) {
	r := &Run{dir: dir, lock: lock}
	defer func() {
		if err != nil {
			r.lock = nil // the caller's
			r.Close()
		}
	}()
	if err := r.openFiles(); err != nil {
		return nil, err
	}
	if err := r.clearScratch(); err != nil {
		return nil, err
	}
	if err := r.clearUndone(); err != nil {
		return nil, err
	}
	db, err := openDB(dir, "rw", 1)
	if err != nil {
		return nil, err
	}
	if r.writer, err = startWriter(ctx, r.dir, r.root, db, opt.Now); err != nil {
		db.Close()
		return nil, err
	}
	r.readers, err = openReader(ctx, dir)
	return r, err
}

// OpenReadOnly opens the run in dir to look at it, also while another process works in it. Methods that write
// return [ErrReadOnly].
func OpenReadOnly(dir string) (_ *Run, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := checkIsRun(dir); err != nil {
		return nil, err
	}
	r := &Run{dir: dir}
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	if err := r.openFiles(); err != nil {
		return nil, err
	}
	r.readers, err = openReader(context.Background(), dir)
	return r, err
}

// openFiles opens what both kinds of Run need.
func (r *Run) openFiles() (err error) {
	if r.root, err = os.OpenRoot(r.dir); err != nil {
		return classify(r.dir, err)
	}
	if r.config, err = r.root.ReadFile(configName); err != nil {
		return classify(filepath.Join(r.dir, configName), err)
	}
	if r.encoder, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithEncoderLevel(zstd.SpeedFastest)); err != nil {
		return err
	}
	r.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxTrajectory+1))
	return err
}

// Dir returns the absolute path of the run directory.
func (r *Run) Dir() string { return r.dir }

// Config returns a copy of config.yaml as it was when the run was opened.
func (r *Run) Config() []byte { return slices.Clone(r.config) }

// Close finishes the writes that were submitted, moves the write-ahead log into the journal, releases the lock, and ends all
// goroutines of the Run. A second Close does nothing and returns the same error.
func (r *Run) Close() error {
	r.closing.Do(func() {
		var errs []error
		// The readers go first: while they are open the log cannot be emptied, and they themselves may not do it.
		if r.readers != nil {
			errs = append(errs, r.readers.Close())
		}
		if r.writer != nil {
			errs = append(errs, r.writer.close())
		}
		if r.encoder != nil {
			errs = append(errs, r.encoder.Close())
		}
		if r.decoder != nil {
			r.decoder.Close()
		}
		if r.root != nil {
			errs = append(errs, r.root.Close())
		}
		if r.lock != nil {
			errs = append(errs, releaseLock(r.lock))
		}
		r.closed = errors.Join(errs...)
	})
	return r.closed
}

// journalFiles are the journal and what SQLite may keep beside it: the log and its index, and before the journal is in WAL mode a rollback journal.
var journalFiles = []string{journalName, journalName + "-wal", journalName + "-shm", journalName + "-journal"}

// ownDirs are the folders that every run has from the start.
var ownDirs = []string{scratchName, trajectoryDir, harnessDir, weightsDir}

// checkCreatable refuses a directory in which a run cannot be made.
func checkCreatable(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return classify(dir, err)
	}
	own := slices.Concat([]string{lockName}, journalFiles, ownDirs)
	foreign, locked := "", false
	for _, e := range entries {
		switch {
		case e.Name() == configName:
			if _, err := os.Lstat(filepath.Join(dir, journalName)); err == nil {
				return fmt.Errorf("%s: %w: resume it or choose another name", dir, ErrExists)
			}
			foreign = configName
		case e.Name() == lockName:
			locked = true
		case !slices.Contains(own, e.Name()):
			foreign = e.Name()
		}
	}
	if foreign == "" && len(entries) > 0 && !locked {
		foreign = entries[0].Name()
	}
	if foreign != "" {
		return fmt.Errorf("%s: %w and not empty (it holds %q): choose another name", dir, ErrNotRun, foreign)
	}
	return nil
}

// checkIsRun refuses a directory that does not hold a finished run directory.
func checkIsRun(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w: it does not exist", dir, ErrNotRun)
		}
		return classify(dir, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s: %w: it is a file", dir, ErrNotRun)
	}
	if _, err := os.Stat(filepath.Join(dir, configName)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w: it has no %s", dir, ErrNotRun, configName)
		}
		return classify(filepath.Join(dir, configName), err)
	}
	if _, err := os.Stat(filepath.Join(dir, journalName)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w: the file is missing", filepath.Join(dir, journalName), ErrCorrupt)
		}
		return classify(filepath.Join(dir, journalName), err)
	}
	return nil
}
