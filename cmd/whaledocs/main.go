package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

//go:generate go run .

func main() {
	measure := flag.Bool("measure", false, "rerun the commands of the measured blocks")
	control := flag.String("control", "", "with -measure: folder of the control model, made by whale model pretrain --control")
	only := flag.String("page", "", "with -measure: the one page whose blocks are measured, such as docs/diagnose.md (default: all)")
	flag.Parse()
	if err := run(*measure, *control, *only); err != nil {
		fmt.Fprintln(os.Stderr, "whaledocs: "+err.Error())
		os.Exit(1)
	}
}

func run(measure bool, control, only string) error {
	if control != "" {
		if !measure {
			return fmt.Errorf("-control: want -measure with it")
		}
		var err error
		if control, err = filepath.Abs(control); err != nil {
			return err
		}
	}
	if only != "" {
		if !measure {
			return fmt.Errorf("-page: want -measure with it")
		}
		if !slices.ContainsFunc(blocks(), func(b block) bool { return b.measured && b.path == only }) {
			return fmt.Errorf("-page: got %s, which has no measured block", only)
		}
	}
	root, err := findRoot()
	if err != nil {
		return err
	}
	bin, done, err := buildWhale(root)
	if err != nil {
		return err
	}
	defer done()
	files, err := generate(source{root, bin, control, only}, measure)
	if err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(root, f.path)
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, f.text) {
			continue
		}
		if err := os.WriteFile(path, f.text, 0o644); err != nil {
			return err
		}
		fmt.Println("wrote " + f.path)
	}
	return nil
}

// findRoot gives the module's root folder, from a working directory inside it.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("go.mod: not found here or above; run this inside the repository")
		}
		dir = up
	}
}
