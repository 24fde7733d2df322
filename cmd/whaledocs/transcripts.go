package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// transcript runs commands of whale one after the other, and keeps what a reader would see of them.
type transcript struct {
	src  source
	dirs *strings.Replacer // folders of this machine, by what the page calls them
	text strings.Builder
}

// newTranscript makes one that shows folders of this machine by other names; those are given in pairs.
func newTranscript(src source, names ...string) *transcript {
	return &transcript{src: src, dirs: strings.NewReplacer(append(names, src.root+"/", "")...)}
}

// show runs a command and keeps its line and its results, without progress and notes.
func (t *transcript) show(args ...string) error {
	out, err := t.quietly(args...)
	if err == nil {
		fmt.Fprintf(&t.text, "$ whale %s\n%s\n\n", t.dirs.Replace(strings.Join(args, " ")), strings.TrimRight(t.dirs.Replace(out), "\n"))
	}
	return err
}

// quietly runs a command and gives its results.
func (t *transcript) quietly(args ...string) (string, error) {
	cmd := exec.Command(t.src.bin, args...)
	cmd.Dir = t.src.root
	var out, progress bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &progress
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("whale %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(progress.String()))
	}
	return out.String(), nil
}

// block is the transcript as a block, under a line that says what it was measured with.
func (t *transcript) block() (string, error) {
	about, err := measuredWith(t.src.root, "with the commit of this page")
	if err != nil {
		return "", err
	}
	return about + "\n\n```text\n" + strings.TrimRight(t.text.String(), "\n") + "\n```\n", nil
}

// planBlock shows the plan of the quick example.
func planBlock(src source) (string, error) {
	t := newTranscript(src)
	if err := t.show("plan", quickConfig); err != nil {
		return "", err
	}
	return t.block()
}

// explainBlock makes the quick example's adaptive run and explains it; the page has its first cycles.
func explainBlock(src source) (string, error) {
	return inScratch(src, "runs/math-adaptive", func(t *transcript, dir string) error {
		if _, err := t.quietly("run", quickConfig, "--method", "adaptive", "--dir", dir); err != nil {
			return err
		}
		out, err := t.quietly("explain", dir)
		fmt.Fprintf(&t.text, "$ whale run %s --method adaptive --dir runs/math-adaptive\n[…]\n$ whale explain runs/math-adaptive\n%s",
			quickConfig, without(t.dirs.Replace(out), "phase 6-", "tried: "))
		return err
	})
}

// without puts […] in place of what stands from one line to the one before another; they are known by how they begin. A text that lacks
// either is left whole.
func without(text, from, to string) string {
	i, j := strings.Index(text, "\n"+from), strings.LastIndex(text, "\n"+to)
	if i < 0 || j < i {
		return text
	}
	return text[:i] + "\n[…]\n" + text[j:]
}

// diagnoseBlock diagnoses the quick example.
func diagnoseBlock(src source) (string, error) {
	return inScratch(src, "runs/math-quick-diagnose", func(t *transcript, dir string) error {
		out, err := t.quietly("diagnose", quickConfig, "--dir", dir)
		fmt.Fprintf(&t.text, "$ whale diagnose %s\n%s", quickConfig, t.dirs.Replace(out))
		return err
	})
}

// inScratch makes a transcript with a folder that is removed afterwards.
func inScratch(src source, shown string, run func(t *transcript, dir string) error) (string, error) {
	scratch, err := os.MkdirTemp("", "whaledocs")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	dir := filepath.Join(scratch, "run")
	t := newTranscript(src, dir, shown)
	if err := run(t, dir); err != nil {
		return "", err
	}
	return t.block()
}
