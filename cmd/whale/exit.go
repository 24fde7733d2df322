package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/sandbox"
	"github.com/seed-095d5d2b/whale/store"
)

// The exit codes. exitHelp documents them in the help and in docs/cli.md.
const (
	exitOK          = 0
	exitError       = 1
	exitUsage       = 2
	exitInput       = 3
	exitLocked      = 4
	exitRunDir      = 5
	exitDisk        = 6
	exitFindings    = 7
	exitSandbox     = 8
	exitInterrupted = 130
)

var exitCodes = []struct {
	code int
	text string
}{
	{exitOK, "done"},
	{exitError, "something else failed; the message says what"},
	{exitUsage, "the command line or the config is wrong"},
	{exitInput, "a model, dataset or harness that was named cannot be used"},
	{exitLocked, "the run directory is in use by another process"},
	{exitRunDir, "the run directory exists already, is none, or belongs to another config, task or model"},
	{exitDisk, "the disk is full or cannot be written; nothing is lost, resume when there is room"},
	{exitFindings, "a check found something"},
	{exitSandbox, "a mechanism of isolation is missing that --require-sandbox asks for"},
	{exitInterrupted, "interrupted; whale resume goes on"},
}

func exitHelp() string {
	var b strings.Builder
	b.WriteString("Exit codes:\n")
	for _, c := range exitCodes {
		fmt.Fprintf(&b, "  %3d  %s\n", c.code, c.text)
	}
	return strings.TrimRight(b.String(), "\n")
}

// usageError is a mistake on the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// errSaid ends a command whose output has said everything; errFindings is its kind for checks.
var (
	errSaid     = errors.New("said")
	errFindings = fmt.Errorf("findings: %w", errSaid)
)

func exitCode(ctx context.Context, err error) int {
	var (
		usage   *usageError
		config  *recipe.ConfigError
		input   *recipe.InputError
		changed *recipe.ChangedError
		other   *recipe.ReplacedError
	)
	switch {
	case errors.Is(err, errFindings):
		return exitFindings
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, sandbox.ErrUnconfined):
		return exitSandbox
	case errors.As(err, &usage), errors.As(err, &config):
		return exitUsage
	case errors.As(err, &input):
		return exitInput
	case errors.Is(err, store.ErrLocked):
		return exitLocked
	case errors.As(err, &changed), errors.As(err, &other), errors.Is(err, store.ErrExists), errors.Is(err, store.ErrNotRun), errors.Is(err, store.ErrCorrupt):
		return exitRunDir
	case errors.Is(err, store.ErrFull), errors.Is(err, store.ErrReadOnly), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EROFS):
		return exitDisk
	case ctx.Err() != nil:
		return exitInterrupted
	}
	return exitError
}
