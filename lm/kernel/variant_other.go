//go:build !amd64

package kernel

func native() []*Kernels { return nil }
