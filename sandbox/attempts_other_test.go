//go:build !linux

package sandbox

import "errors"

func tryAll(string) []byte { return nil }

func churn(int) ([]byte, error) { return nil, errors.New(unsupported) }

func namespacesRefused() string { return unsupported }
