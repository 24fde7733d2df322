package searchqa

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/answer"
	"github.com/seed-095d5d2b/whale/task/rows"
)

// drawing shares out the questions of files among the splits.
type drawing struct {
	config Config
	files  map[string][]whale.Example // by clean path, in the order in which they are drawn
	taken  map[string]whale.Split     // by example ID
	notes  []string
}

// draw reads every file once and gives each split its questions. What a split gets from a file depends on the seed and the questions, not on
// the order of the rows.
func draw(ctx context.Context, c Config) (map[whale.Split][]whale.Example, []string, error) {
	d := &drawing{config: c, files: make(map[string][]whale.Example), taken: make(map[string]whale.Split)}
	out := make(map[whale.Split][]whale.Example)
	// The test first: it does not depend on how much there is to train on. Files of which all is taken come last.
	for _, all := range []bool{false, true} {
		for _, s := range []whale.Split{whale.SplitTest, whale.SplitValidation, whale.SplitSearch, whale.SplitTrain} {
			for i, f := range c.Files[s] {
				if (f.Count == 0) != all {
					continue
				}
				if err := d.take(ctx, s, f, out); err != nil {
					return nil, nil, fmt.Errorf("files.%s[%d]: %w", s, i, err)
				}
			}
		}
	}
	return out, d.notes, nil
}

// take moves questions of a file into a split.
func (d *drawing) take(ctx context.Context, s whale.Split, f FileOptions, out map[whale.Split][]whale.Example) error {
	list, err := d.read(ctx, f.Path)
	if err != nil {
		return err
	}
	got, others := 0, 0
	for _, x := range list {
		if f.Count > 0 && got == f.Count {
			break
		}
		if _, ok := d.taken[x.ID]; ok {
			others++
			continue
		}
		d.taken[x.ID] = s
		out[s] = append(out[s], x)
		got++
	}
	switch {
	case got == 0:
		return fmt.Errorf("%s: got no question that no split has taken", f.Path)
	case got < f.Count:
		return fmt.Errorf("%s: got %d questions of which %d are in another split or file already, want %d that are in none", f.Path, len(list), others, f.Count)
	case f.Count == 0 && others > 0:
		d.notes = append(d.notes, fmt.Sprintf("searchqa: %s: left %d questions of %s out, which are in another split or file", s, others, f.Path))
	}
	return nil
}

// read gives the questions of a file, shuffled by the seed. A repeated question counts once; its answers are put together.
func (d *drawing) read(ctx context.Context, path string) ([]whale.Example, error) {
	key := filepath.Clean(path)
	if list, ok := d.files[key]; ok {
		return list, nil
	}
	r, err := rows.Open(path, rows.Options{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	byID := make(map[string]int)
	var list []whale.Example
	repeated, merged := 0, 0
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		x, err := ofRow(row, d.config.Fields)
		if err != nil {
			if fatal := r.Bad(row, err); fatal != nil {
				return nil, fatal
			}
			continue
		}
		if at, ok := byID[x.ID]; ok {
			repeated++
			if mergeAnswers(&list[at], x) {
				merged++
			}
			continue
		}
		if len(list) == maxExamples {
			return nil, fmt.Errorf("%s: got more than %d questions", path, maxExamples)
		}
		byID[x.ID] = len(list)
		list = append(list, x)
	}
	d.notes = append(d.notes, r.Notes()...)
	if repeated > 0 {
		d.notes = append(d.notes, fmt.Sprintf("searchqa: %s: %d rows repeat a question; %d of them added answers to it", path, repeated, merged))
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: got no questions", path)
	}
	d.shuffle(list)
	d.files[key] = list
	return list, nil
}

// shuffle orders questions by a hash of the seed and their ID.
func (d *drawing) shuffle(list []whale.Example) {
	order := make(map[string]whale.ID, len(list))
	for _, x := range list {
		order[x.ID] = whale.HashBytes(fmt.Sprintf("searchqa/draw/%d", d.config.DrawSeed), []byte(x.ID))
	}
	slices.SortFunc(list, func(a, b whale.Example) int { return cmp.Compare(order[a.ID], order[b.ID]) })
}

// mergeAnswers adds the answers that x has not yet. It reports whether there were any.
func mergeAnswers(x *whale.Example, other whale.Example) bool {
	have, more := references(*x), references(other)
	before := len(have)
	for _, a := range more {
		if !answer.ExactMatch(a, have) && len(have) < maxAnswers {
			have = append(have, a)
		}
	}
	if len(have) == before {
		return false
	}
	*x = newExample(x.View[viewQuestion], have, x.Meta)
	return true
}
