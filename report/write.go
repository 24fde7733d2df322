package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
// where it is missing, and gives their names in order. Files of those names are replaced, each whole or not at all; others are left alone.
func (r *Report) WriteAll(ctx context.Context, dir string) ([]string, error) {
	var out []string
	put := func(name string, write func(io.Writer) error) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return fmt.Errorf("report: %s: %w", name, err)
		}
		out = append(out, name)
		return replace(filepath.Join(dir, filepath.FromSlash(name)), b.Bytes())
	}
	if err := os.MkdirAll(filepath.Join(dir, "plots"), 0o755); err != nil {
		return nil, err
	}
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{{"report.html", r.WriteHTML}, {"report.json", r.WriteJSON}, {"report.txt", r.WriteText}} {
		if err := put(f.name, f.write); err != nil {
			return out, err
		}
	}
	for _, s := range sheets() {
		if err := put(s.name+".csv", func(w io.Writer) error { return r.writeSheet(w, s) }); err != nil {
			return out, err
		}
	}
	for i := range r.Groups {
		for _, f := range r.Groups[i].figures(r.prefix(i)) {
			err := errors.Join(
				put("plots/"+f.name+".svg", func(w io.Writer) error {
					s, err := f.svg()
					if err != nil {
						return err
					}
					_, err = io.WriteString(w, s)
					return err
				}),
				put("plots/"+f.name+".png", f.png),
			)
			if err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// replace puts a file in the place of one that may be there. A link is replaced, not followed.
func replace(path string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".report-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Chmod(0o644), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
