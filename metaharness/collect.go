package metaharness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/star"
)

// MaxSource is the most bytes of a candidate program, and of its .json file.
const MaxSource = star.MaxSource

const (
	candidatesDir = "candidates"
	maxFiles      = 1000 // in candidates/; a folder with more is not read at all
	maxDiscarded  = 20   // that are listed; more are counted
)

var candidateName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\.star$`)

// Collect copies the candidates out of a workspace: at most limit regular files candidates/*.star, in name order, with what their
// .json files say. Whatever wrote the workspace is not trusted: nothing is followed out of it, and sizes and counts are bounded.
// Files that are no candidates are listed with the reason. The error says that there is no readable folder candidates.
func Collect(workspace string, limit int) ([]Candidate, []Discarded, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, nil, fmt.Errorf("workspace: %w", err)
	}
	defer root.Close()
	names, err := listCandidates(root)
	if err != nil {
		return nil, nil, err
	}
	var found []Candidate
	var bad discards
	for _, name := range names {
		if strings.HasSuffix(name, ".json") && slices.Contains(names, strings.TrimSuffix(name, ".json")+".star") {
			continue // read with its program
		}
		if !candidateName.MatchString(name) {
			bad.add(name, "not a candidate: want a name like my-idea.star of letters, digits, '.', '_' and '-'")
			continue
		}
		if len(found) == limit {
			bad.add(name, fmt.Sprintf("too many candidates: want at most %d, and the first in name order count", limit))
			continue
		}
		source, err := readRegular(root, candidatesDir+"/"+name)
		if err != nil {
			bad.add(name, err.Error())
			continue
		}
		c := Candidate{Name: strings.TrimSuffix(name, ".star"), ID: whale.HarnessID(source), Source: string(source)}
		readMeta(root, &c)
		found = append(found, c)
	}
	return found, bad.list(), nil
}

func listCandidates(root *os.Root) ([]string, error) {
	info, err := root.Lstat(candidatesDir)
	if err != nil || !info.IsDir() {
		return nil, errors.New("workspace: folder candidates: it is not there, or is not a folder")
	}
	dir, err := root.Open(candidatesDir)
	if err != nil {
		return nil, fmt.Errorf("workspace: folder candidates: %w", err)
	}
	defer dir.Close()
	entries, err := dir.ReadDir(maxFiles + 1)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("workspace: folder candidates: %w", err)
	}
	if len(entries) > maxFiles {
		return nil, fmt.Errorf("workspace: folder candidates: got more than %d files", maxFiles)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	slices.Sort(names)
	return names, nil
}

// readRegular reads a small regular file. Links, pipes and devices are refused by Lstat before anything is opened.
func readRegular(root *os.Root, path string) ([]byte, error) {
	info, err := root.Lstat(path)
	switch {
	case err != nil:
		return nil, errors.New("not readable")
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, errors.New("got a symbolic link, want a regular file")
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() > MaxSource:
		return nil, fmt.Errorf("size: got %d bytes, want at most %d", info.Size(), MaxSource)
	}
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, errors.New("not readable")
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		return nil, errors.New("changed while it was read")
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxSource+1))
	switch {
	case err != nil:
		return nil, errors.New("not readable")
	case len(data) > MaxSource:
		return nil, fmt.Errorf("size: got more than %d bytes", MaxSource)
	case !utf8.Valid(data):
		return nil, errors.New("got bytes that are not UTF-8 text")
	}
	return data, nil
}

// readMeta reads what the proposer says of a candidate. It only informs, so what is wrong with it becomes a note, not a rejection.
func readMeta(root *os.Root, c *Candidate) {
	name := c.Name + ".json"
	data, err := readRegular(root, candidatesDir+"/"+name)
	if err != nil {
		c.Note = fmt.Sprintf("%s: %v", name, err)
		return
	}
	var meta CandidateMeta
	if err := json.Unmarshal(data, &meta); err != nil {
		c.Note = cut(fmt.Sprintf("%s: %v", name, err), maxLabel)
		return
	}
	c.Hypothesis = cut(meta.Hypothesis, maxReason)
	c.Axis = cut(meta.Axis, maxLabel)
	c.Parent = whale.ID(cut(meta.Parent, maxLabel))
	for _, op := range meta.Operators[:min(len(meta.Operators), 16)] {
		c.Operators = append(c.Operators, cut(op, maxLabel))
	}
	if c.Hypothesis == "" {
		c.Note = name + ": hypothesis: it is missing"
	}
}

// discards is a list that counts what exceeds its length.
type discards struct {
	listed []Discarded
	more   int
}

func (d *discards) add(name, reason string) {
	if len(d.listed) == maxDiscarded {
		d.more++
		return
	}
	d.listed = append(d.listed, Discarded{Name: cut(name, maxLabel), Reason: reason})
}

func (d *discards) list() []Discarded {
	if d.more > 0 {
		return append(d.listed, Discarded{Name: "…", Reason: fmt.Sprintf("and %d more files", d.more)})
	}
	return d.listed
}
