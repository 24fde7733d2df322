//go:build !linux

package store

// diskChildren: only Linux lets a test mount file systems that vanish with it.
var diskChildren map[string]func(args []string) error
