package corpus

import (
	"fmt"

	"github.com/seed-095d5d2b/whale/task/rows"
)

// Reader gives the passages of a file: JSONL (plain, .gz, .zst), CSV or Parquet, with the fields id and contents, or id, title and text. Rows
// that are no passages are skipped, counted and, beyond a thousandth, fatal.
type Reader struct{ rows *rows.Reader }

// Open opens a file.
func Open(path string) (*Reader, error) {
	r, err := rows.Open(path, rows.Options{RowBytes: 2 * MaxText})
	if err != nil {
		return nil, err
	}
	return &Reader{r}, nil
}

// Next gives the next passage; io.EOF after the last one.
func (r *Reader) Next() (Passage, error) {
	for {
		row, err := r.rows.Next()
		if err != nil {
			return Passage{}, err
		}
		p, err := passage(row)
		if err == nil {
			return p, nil
		}
		if fatal := r.rows.Bad(row, err); fatal != nil {
			return Passage{}, fatal
		}
	}
}

func passage(row rows.Row) (Passage, error) {
	id, err := row.Text("id")
	if err != nil {
		return Passage{}, err
	}
	var p Passage
	if _, ok := row.JSON("contents"); ok {
		contents, err := row.Text("contents")
		if err != nil {
			return Passage{}, err
		}
		p = FromContents(id, contents)
	} else {
		p.ID = id
		if p.Text, err = row.Text("text"); err != nil {
			return Passage{}, fmt.Errorf(`want "contents", or "title" and "text": %w`, err)
		}
		if _, ok := row.JSON("title"); ok {
			if p.Title, err = row.Text("title"); err != nil {
				return Passage{}, err
			}
		}
	}
	return p, p.Validate()
}

// Notes tells people which rows were skipped.
func (r *Reader) Notes() []string { return r.rows.Notes() }

// Close closes the file.
func (r *Reader) Close() error { return r.rows.Close() }
