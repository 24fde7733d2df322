package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// The kinds of failure a caller may have to decide on. Errors of this package wrap them; their text is one line that
// names the path.
var (
	ErrNotRun   = errors.New("not a run directory")
	ErrExists   = errors.New("run already exists")
	ErrLocked   = errors.New("run is locked")
	ErrFull     = errors.New("disk full")
	ErrReadOnly = errors.New("read-only")
	ErrCorrupt  = errors.New("corrupt")
	ErrConflict = errors.New("already written with a different content")
	ErrNotFound = errors.New("not found")
	ErrPath     = errors.New("path not allowed")
	ErrClosed   = errors.New("run is closed")
)

// LockedError says that another process works in the run. It is an [ErrLocked].
type LockedError struct {
	Dir string
	PID int // 0 when the holder had not written its process id yet
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s: run is locked by another process", e.Dir)
	}
	return fmt.Sprintf("%s: run is locked by process %d", e.Dir, e.PID)
}

// Is makes errors.Is(err, ErrLocked) hold.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// classify turns an error of the file system or of SQLite into one line that names path and wraps the kind.
func classify(path string, err error) error {
	if err == nil {
		return nil
	}
	// A *PathError repeats the path of a temporary file, which tells the reader nothing.
	var pe *fs.PathError
	cause := err
	if errors.As(err, &pe) {
		cause = pe.Err
	}
	if kind := kindOf(err); kind != nil {
		return &classified{path: path, kind: kind, cause: cause}
	}
	return &classified{path: path, cause: cause}
}

type classified struct {
	path        string
	kind, cause error
}

func (e *classified) Error() string {
	cause := strings.ReplaceAll(e.cause.Error(), "\n", " ")
	if e.kind == nil {
		return e.path + ": " + cause
	}
	return fmt.Sprintf("%s: %v (%s)", e.path, e.kind, cause)
}

func (e *classified) Unwrap() []error {
	if e.kind == nil {
		return []error{e.cause}
	}
	return []error{e.kind, e.cause}
}

// kindOf names the kind of a system or SQLite error, nil when it has none.
func kindOf(err error) error {
	var se *sqlite.Error
	if errors.As(err, &se) {
		switch se.Code() & 0xff {
		case sqlite3.SQLITE_FULL:
			return ErrFull
		case sqlite3.SQLITE_READONLY:
			return ErrReadOnly
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			return ErrCorrupt
		}
		return nil
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return ErrFull
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return ErrReadOnly
	}
	return nil
}
