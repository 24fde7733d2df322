package task

import (
	"errors"
	"io/fs"
)

// AwayError says that data which a task names is not on this machine. Such a task can be planned and not run.
type AwayError struct{ Err error }

func (e *AwayError) Error() string { return e.Err.Error() }
func (e *AwayError) Unwrap() error { return e.Err }

// Away makes the error of opening a file of data an [AwayError] where the file is not there.
func Away(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &AwayError{err}
	}
	return err
}
