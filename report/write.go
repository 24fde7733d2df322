package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
)

// WriteJSON writes every number of the report.
func (r *Report) WriteJSON(w io.Writer) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// WriteAll writes report.html, report.json, report.txt, a CSV file a table, and the plots as plots/*.svg and plots/*.png into a folder, which is made
// where it is missing, and gives their names in order. Files of those names are replaced, each whole or not at all; others are left alone. Links in the
// folder are not followed out of it: a run directory may come from somebody else.
func (r *Report) WriteAll(ctx context.Context, dir string) (names []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := root.MkdirAll("plots", 0o755); err != nil {
		return nil, fmt.Errorf("report: %s: %w", dir, err)
	}
	for name, write := range r.files() {
		if err := ctx.Err(); err != nil {
			return names, err
		}
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return names, fmt.Errorf("report: %s: %w", name, err)
		}
		if err := replace(root, name, b.Bytes()); err != nil {
			return names, fmt.Errorf("report: %s: %w", dir, err)
		}
		names = append(names, name)
	}
	return names, nil
}

// files gives the name of each file and what writes it. Plots of a group are drawn when their turn comes.
func (r *Report) files() iter.Seq2[string, func(io.Writer) error] {
	return func(yield func(string, func(io.Writer) error) bool) {
		if !yield("report.html", r.WriteHTML) || !yield("report.json", r.WriteJSON) || !yield("report.txt", r.WriteText) {
			return
		}
		for _, s := range sheets() {
			if !yield(s.name+".csv", func(w io.Writer) error { return r.writeSheet(w, s) }) {
				return
			}
		}
		for i := range r.Groups {
			for _, f := range r.Groups[i].figures(r.prefix(i)) {
				if !yield("plots/"+f.name+".svg", f.writeSVG) || !yield("plots/"+f.name+".png", f.png) {
					return
				}
			}
		}
	}
}

// replace puts a file in the place of one that may be there. A link in its place is replaced, not followed.
func replace(root *os.Root, name string, data []byte) error {
	temp := path.Join(path.Dir(name), ".new-"+path.Base(name))
	if err := root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a report that was killed
		return err
	}
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}
