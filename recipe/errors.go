package recipe

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// ConfigError says that a config file cannot be used as it is.
type ConfigError struct{ Err error }

func (e *ConfigError) Error() string { return e.Err.Error() }
func (e *ConfigError) Unwrap() error { return e.Err }

func configErrorf(format string, args ...any) error { return &ConfigError{fmt.Errorf(format, args...)} }

// InputError says that something a config names (model, dataset, harness) cannot be used as it is.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }
func (e *InputError) Unwrap() error { return e.Err }

// ChangedError says that a config is not the one of the run that it should resume.
type ChangedError struct {
	Dir  string
	Keys []string // "key: old → new"

	Comparison bool // Dir is a comparison's
}

func (e *ChangedError) Error() string {
	if e.Comparison {
		return fmt.Sprintf("%s: the comparison there is of another config: %s; name another directory, or give the config back", e.Dir, strings.Join(e.Keys, "; "))
	}
	return fmt.Sprintf("%s: the config differs from the run's: %s; resume without a config, or start a new run", e.Dir, strings.Join(e.Keys, "; "))
}

// ReplacedError says that what a run was made with (task, model, harness contract) is not what its config names now.
type ReplacedError struct {
	Dir, What, Was, Now string
}

func (e *ReplacedError) Error() string {
	return fmt.Sprintf("%s: the %s changed since the run began: got %s, want %s; start a new run, or bring the old one back", e.Dir, e.What, e.Now, e.Was)
}

func unwrapPath(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
