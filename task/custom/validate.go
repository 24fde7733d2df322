package custom

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale/strictyaml"
	"github.com/seed-095d5d2b/whale/task/rows"
)

var (
	taskName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	fieldName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
	envName   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
)

// Bounds of a manifest.
const (
	maxAbout  = 8000
	maxFields = 32
	maxFiles  = 64
	maxTools  = 64
	maxWords  = 64 // items of other lists
)

// Validate reports what is missing, out of range or contradicts itself; errors begin with the key.
func (m Manifest) Validate() error {
	switch {
	case !taskName.MatchString(m.Name):
		return fmt.Errorf("name: got %q, want letters, digits, dot, dash and underscore, at most 64", clip(m.Name))
	case strings.TrimSpace(m.About) == "" || len(m.About) > maxAbout:
		return fmt.Errorf("about: got %d bytes, want a few lines of at most %d", len(m.About), maxAbout)
	case len(m.View) == 0 || len(m.View) > maxFields:
		return fmt.Errorf("view: got %d fields, want 1 to %d", len(m.View), maxFields)
	case len(m.Meta) > maxFields:
		return fmt.Errorf("meta: got %d fields, want at most %d", len(m.Meta), maxFields)
	case len(m.Answer) > maxFields:
		return fmt.Errorf("answer: got %d paths, want at most %d", len(m.Answer), maxFields)
	case len(m.Tools) > maxTools:
		return fmt.Errorf("tools: got %d, want at most %d", len(m.Tools), maxTools)
	}
	if err := m.fields(); err != nil {
		return err
	}
	if err := m.Data.validate(); err != nil {
		return fmt.Errorf("data.%w", err)
	}
	if err := m.Limits.validate(false); err != nil {
		return err
	}
	if err := m.Verifier.Validate(); err != nil {
		return fmt.Errorf("verifier.%w", err)
	}
	if m.Verifier.needsReference() && len(m.Answer) == 0 {
		return fmt.Errorf("answer: got none, want the paths of reference answers for a verifier of kind %s", m.Verifier.Kind)
	}
	for i, t := range m.Tools {
		if err := t.validate(); err != nil {
			return fmt.Errorf("tools[%d].%w", i, err)
		}
	}
	if err := localPath(m.Harness); err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	_, err := m.Rules.open()
	return err
}

// fields checks names and paths of what is read of a row.
func (m Manifest) fields() error {
	for _, name := range slices.Sorted(maps.Keys(m.View)) {
		if !fieldName.MatchString(name) {
			return fmt.Errorf("view: got the name %q, want letters, digits and underscore: a harness writes task.NAME", clip(name))
		}
		if err := rows.CheckPath(m.View[name]); err != nil {
			return fmt.Errorf("view.%s: %w", name, err)
		}
		if m.ID != "" && inside(m.ID, m.View[name]) {
			return fmt.Errorf("id: got %q, which view.%s shows to the agent; ids are not for it", clip(m.ID), name)
		}
	}
	for i, name := range m.Optional {
		if _, ok := m.View[name]; !ok {
			return unknownWord(fmt.Sprintf("optional[%d]", i), name, slices.Sorted(maps.Keys(m.View)))
		}
		if slices.Index(m.Optional, name) < i {
			return fmt.Errorf("optional[%d]: got %q twice", i, name)
		}
	}
	if len(m.Optional) == len(m.View) {
		return fmt.Errorf("optional: got all fields of the view, want one that every row has")
	}
	for i, p := range m.Answer {
		if err := rows.CheckPath(p); err != nil {
			return fmt.Errorf("answer[%d]: %w", i, err)
		}
		for _, name := range slices.Sorted(maps.Keys(m.View)) {
			if inside(p, m.View[name]) {
				return fmt.Errorf("answer[%d]: got %q, which view.%s shows to the agent", i, clip(p), name)
			}
		}
		if slices.Index(m.Answer, p) < i {
			return fmt.Errorf("answer[%d]: got %q twice", i, clip(p))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Meta)) {
		if !fieldName.MatchString(name) {
			return fmt.Errorf("meta: got the name %q, want letters, digits and underscore", clip(name))
		}
		if err := rows.CheckPath(m.Meta[name]); err != nil {
			return fmt.Errorf("meta.%s: %w", name, err)
		}
	}
	if m.ID != "" {
		if err := rows.CheckPath(m.ID); err != nil {
			return fmt.Errorf("id: %w", err)
		}
	}
	return nil
}

// inside says whether what a path names is shown by showing another.
func inside(path, other string) bool {
	rest, ok := strings.CutPrefix(path, other)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func (d DataConfig) validate() error {
	switch {
	case d.RootEnv != "" && !envName.MatchString(d.RootEnv):
		return fmt.Errorf("root_env: got %q, want the name of an environment variable", clip(d.RootEnv))
	case d.RootEnv != "" && d.Root != "" && localPath(d.Root) != nil:
		return fmt.Errorf("root: got %q with root_env, want a folder under that one", clip(d.Root))
	case strings.Contains(d.Root, "\x00"):
		return fmt.Errorf("root: got a zero byte")
	case d.Same != SameNormalised && d.Same != SameExact:
		return unknownWord("same", d.Same, []string{SameNormalised, SameExact})
	case d.RowBytes < 1 || d.RowBytes > 64<<20:
		return fmt.Errorf("row_bytes: got %d, want 1 to %d", d.RowBytes, 64<<20)
	case !(d.BadShare >= 0 && d.BadShare <= 0.5):
		return fmt.Errorf("bad_share: got %v, want 0 to 0.5", d.BadShare)
	case d.MiB < 1 || d.MiB > 1<<20:
		return fmt.Errorf("mib: got %d, want 1 to %d", d.MiB, 1<<20)
	}
	some := len(d.Divide.Files) > 0
	for _, s := range splits() {
		files := d.Splits.of(s)
		if err := dataFiles(files); err != nil {
			return fmt.Errorf("splits.%s%w", s, err)
		}
		some = some || len(files) > 0
		if len(files) > 0 && d.Divide.Percent.of(s)+d.Divide.Counts.of(s) > 0 {
			return fmt.Errorf("divide: got a share for %s, which has files of its own in splits", s)
		}
	}
	if !some {
		return fmt.Errorf("splits: got no files, and none in divide; want some in one of them")
	}
	if err := d.Divide.validate(); err != nil {
		return fmt.Errorf("divide%w", err)
	}
	return nil
}

func (d Division) validate() error {
	percent, counts := 0, 0
	for _, s := range splits() {
		p, n := d.Percent.of(s), d.Counts.of(s)
		if p < 0 || p > 100 {
			return fmt.Errorf(".percent.%s: got %d, want 0 to 100", s, p)
		}
		if n < 0 || n > 1<<30 {
			return fmt.Errorf(".counts.%s: got %d, want 0 to %d", s, n, 1<<30)
		}
		percent, counts = percent+p, counts+n
	}
	switch {
	case len(d.Files) == 0 && (percent > 0 || counts > 0 || d.Seed != 0):
		return fmt.Errorf(".files: got none, want the files that are divided")
	case len(d.Files) == 0:
		return nil
	case percent > 0 && counts > 0:
		return fmt.Errorf(": got percent and counts, want one of them")
	case percent == 0 && counts == 0:
		return fmt.Errorf(": got neither percent nor counts, want one of them")
	case counts == 0 && percent != 100:
		return fmt.Errorf(".percent: got %d in all, want 100", percent)
	}
	if err := dataFiles(d.Files); err != nil {
		return fmt.Errorf(".files%w", err)
	}
	return nil
}

func dataFiles(files []string) error {
	if len(files) > maxFiles {
		return fmt.Errorf(": got %d files, want at most %d", len(files), maxFiles)
	}
	for i, f := range files {
		if err := localPath(f); err != nil {
			return fmt.Errorf("[%d]: %w; data that lies elsewhere is named by data.root", i, err)
		}
		if slices.Index(files, f) < i {
			return fmt.Errorf("[%d]: got %q twice", i, clip(f))
		}
	}
	return nil
}

func (l Limits) validate(inherits bool) error {
	low := func(least float64) float64 {
		if inherits {
			return 0
		}
		return least
	}
	for _, k := range []struct {
		key       string
		v         float64
		low, high float64
	}{
		{"seconds", l.Seconds, low(0.01), 3600},
		{"output_bytes", float64(l.OutputBytes), low(1), 16 << 20},
		{"at_once", float64(l.AtOnce), low(1), 1024},
		{"memory_mib", float64(l.MemoryMiB), low(32), 1 << 20},
	} {
		if !(k.v >= k.low && k.v <= k.high) {
			return fmt.Errorf("limits.%s: got %v, want %v to %v", k.key, k.v, k.low, k.high)
		}
	}
	if l.MemoryMiB != 0 && l.MemoryMiB < 32 {
		return fmt.Errorf("limits.memory_mib: got %d, want 32 or more", l.MemoryMiB)
	}
	return nil
}

// localPath refuses paths that lead out of the folder that they are meant for.
func localPath(p string) error {
	if p == "" || strings.ContainsAny(p, "\x00\\") || !filepath.IsLocal(p) {
		return fmt.Errorf("got the path %q, want one inside the folder", clip(p))
	}
	return nil
}

// given says whether a group of keys has any that is set.
func given(group any) bool { return !reflect.ValueOf(group).IsZero() }

// unknownWord is the error of a key that takes one of a few words.
func unknownWord(key, got string, want []string) error {
	hint := ""
	if near := strictyaml.Nearest(got, want); near != "" && got != "" {
		hint = fmt.Sprintf(": did you mean %q?", near)
	}
	return fmt.Errorf("%s: got %q, want one of %s%s", key, clip(got), strings.Join(want, ", "), hint)
}

// clip shortens a text from outside for a message of one line.
func clip(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	const most = 60
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
