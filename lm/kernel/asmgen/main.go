// Command asmgen writes the assembly of package kernel, for AVX-512 and for AVX2 with
// FMA, with avo. It works on avo's instruction and pass packages and leaves its
// build package out, which would bring in golang.org/x/tools for nothing used here.
//
//	go run ./asmgen -out .    (in lm/kernel; or go generate there)
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", ".", "`directory` to write the files to")
	flag.Parse()
	if err := write(*out); err != nil {
		fmt.Fprintln(os.Stderr, "asmgen:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	for _, s := range sets() {
		files, err := generate(s)
		if err != nil {
			return err
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// generate returns the files of one instruction set by name.
func generate(s set) (map[string][]byte, error) {
	b := newBuilder(s)
	for rows := 1; rows <= s.rows; rows++ {
		for vecs := 1; vecs <= s.vecs; vecs++ {
			b.gemm(rows, vecs)
		}
	}
	b.dot()
	b.axpy()
	b.exp()
	b.softmax()
	b.siluMul()
	b.scaleBy()
	b.scaleMul()
	b.rmsNorm()
	b.rmsNormBackward()
	b.rotate(false)
	b.rotate(true)
	b.swigluBackward()
	b.softmaxBackward()
	b.expSum()
	b.adamW()
	b.peak()
	b.blockKernels()
	if s.transposes {
		b.transpose()
	}
	return b.files()
}
