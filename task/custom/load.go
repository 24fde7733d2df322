package custom

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task"
	"github.com/seed-095d5d2b/whale/task/rows"
)

// dataset is what the files hold.
type dataset struct {
	items    map[whale.Split][]item
	rows     map[string]int64 // by file, for people
	repeated int              // examples that were dropped as repetitions
	left     int              // examples of divided files that no split takes
	notes    []string
}

// loader reads the files of a task.
type loader struct {
	m      Manifest
	root   string
	report *Report // collects what is wrong; nil = the first thing that is fatal ends loading
	data   *dataset
	seen   map[viewHash]place
	names  map[whale.Split]map[string]string // by id: where
	bytes  int
}

type place struct {
	split  whale.Split // "" = of divided files, not yet dealt out
	at     string
	view   [32]byte
	answer []byte
}

// load reads everything. Without a report the first thing that makes the task unusable is the error; with one, such things are noted and the rest is read on.
func load(ctx context.Context, folder string, m Manifest, getenv func(string) string, report *Report) (*dataset, error) {
	root, err := dataRoot(folder, m.Data, getenv)
	if err != nil {
		return nil, err
	}
	l := &loader{
		m: m, root: root, report: report, seen: map[viewHash]place{}, names: map[whale.Split]map[string]string{},
		data: &dataset{items: map[whale.Split][]item{}, rows: map[string]int64{}},
	}
	for _, s := range splits() {
		l.names[s] = map[string]string{}
		for _, f := range m.Data.Splits.of(s) {
			if err := l.file(ctx, f, s); err != nil {
				return nil, err
			}
		}
	}
	for _, f := range m.Data.Divide.Files {
		if err := l.file(ctx, f, ""); err != nil {
			return nil, err
		}
	}
	if err := l.divide(); err != nil {
		return nil, err
	}
	return l.data, nil
}

// file reads one file for a split, or to be divided.
func (l *loader) file(ctx context.Context, name string, s whale.Split) (err error) {
	path := filepath.Join(l.root, name)
	if err := regular(path); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = &task.AwayError{Err: errors.New("data: not there")}
		}
		return l.wrong(path, err)
	}
	o := rows.Options{RowBytes: l.m.Data.RowBytes, BadShare: l.m.Data.BadShare}
	if o.BadShare == 0 {
		o.BadShare = -1
	}
	if l.report != nil {
		o.BadShare = 1 // all of them are wanted
	}
	r, err := rows.Open(path, o)
	if err != nil {
		return l.wrong("", err) // it names the file
	}
	defer r.Close()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return l.wrong("", err)
		}
		it, err := l.m.itemOf(row)
		if err == nil {
			var fatal error
			if err, fatal = l.take(it, s); fatal != nil {
				return fatal
			}
		}
		if err == nil {
			continue
		}
		if l.report != nil {
			l.report.problem(row.At(), err.Error())
			continue
		}
		if err := r.Bad(row, err); err != nil {
			return err
		}
	}
	l.data.rows[path] = r.Rows()
	if l.report != nil {
		for _, n := range r.Notes() { // rows that could not be read at all
			l.report.problem("", n)
		}
	}
	l.data.notes = append(l.data.notes, r.Notes()...)
	return nil
}

// take adds an example. bad is about its row alone; fatal ends loading.
func (l *loader) take(it item, s whale.Split) (bad, fatal error) {
	exact := sha256.Sum256([]byte(DataConfig{}.form(it.example.View)))
	before, known := l.seen[it.same]
	if known && before.split == s {
		if !bytes.Equal(before.answer, it.example.Answer) {
			return fmt.Errorf("repeats %s with another answer", before.at), nil
		}
		l.data.repeated++
		return nil, nil
	}
	if known {
		how := "the same"
		if before.view != exact {
			how = "the same but for case and white space"
		}
		return nil, l.wrong(it.at, fmt.Errorf("%s as %s, which is of %s; this is of %s: an example must not be in two splits", how, before.at, side(before.split), side(s)))
	}
	if s != "" {
		if at, ok := l.names[s][it.example.ID]; ok {
			return fmt.Errorf("has the id %q, which %s has already", clip(it.example.ID), at), nil
		}
		l.names[s][it.example.ID] = it.at
	}
	if l.bytes += it.size; l.bytes > l.m.Data.MiB<<20 {
		return nil, fmt.Errorf("data.mib: the examples take more than %d MiB, at %s", l.m.Data.MiB, it.at)
	}
	l.seen[it.same] = place{s, it.at, exact, it.example.Answer}
	l.data.items[s] = append(l.data.items[s], it)
	return nil, nil
}

func side(s whale.Split) string {
	if s == "" {
		return "the divided files"
	}
	return "split " + string(s)
}

// wrong notes what makes the task unusable, or gives it back as the error.
func (l *loader) wrong(at string, err error) error {
	if l.report == nil {
		if at == "" {
			return err
		}
		return fmt.Errorf("%s: %w", at, err)
	}
	l.report.problem(at, err.Error())
	return nil
}

// divide deals the examples of divided files out to splits.
func (l *loader) divide() error {
	d := l.m.Data.Divide
	pool := l.data.items[""]
	delete(l.data.items, "")
	if len(d.Files) == 0 {
		return nil
	}
	give := func(it item, s whale.Split) error {
		if at, ok := l.names[s][it.example.ID]; ok {
			return l.wrong(it.at, fmt.Errorf("has the id %q, which %s has already", clip(it.example.ID), at))
		}
		l.names[s][it.example.ID] = it.at
		l.data.items[s] = append(l.data.items[s], it)
		return nil
	}
	if d.Counts == (SplitSizes{}) {
		var buckets task.Buckets
		for _, s := range splits() {
			if p := d.Percent.of(s); p > 0 {
				buckets = append(buckets, task.Bucket{Name: string(s), Percent: p})
			}
		}
		for _, it := range pool {
			if err := give(it, whale.Split(buckets.Of(seeded(d.Seed, it.text)))); err != nil {
				return err
			}
		}
		return nil
	}
	// By the order of seeded hashes: equal data and seed give equal splits, whatever the order of the rows.
	order := make(map[viewHash][32]byte, len(pool))
	for _, it := range pool {
		order[it.same] = sha256.Sum256([]byte("whale/divide\n" + seeded(d.Seed, it.text)))
	}
	slices.SortFunc(pool, func(a, b item) int {
		x, y := order[a.same], order[b.same]
		return bytes.Compare(x[:], y[:])
	})
	for _, s := range splits() {
		n := d.Counts.of(s)
		if n > len(pool) {
			return l.wrong("data.divide", fmt.Errorf("counts.%s: got %d, but only %d examples are left", s, n, len(pool)))
		}
		for _, it := range pool[:n] {
			if err := give(it, s); err != nil {
				return err
			}
		}
		pool = pool[n:]
	}
	l.data.left = len(pool)
	return nil
}

func seeded(seed uint64, text string) string { return fmt.Sprintf("%d\n%s", seed, text) }
