//go:build !linux

package sandbox

import (
	"context"
	"fmt"
)

type commandProcess struct{}

func (c *Command) kill() {}

func startCommand(context.Context, CommandSpec) (*Command, error) {
	return nil, fmt.Errorf("%w: bubblewrap %s", ErrStart, unsupported)
}

func findBubblewrap() (string, error) {
	return "", fmt.Errorf("%w: bubblewrap %s", ErrStart, unsupported)
}

func becomeCommand([]string) error { return fmt.Errorf("bubblewrap %s", unsupported) }
