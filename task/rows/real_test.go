package rows

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-095d5d2b/whale/task/tasktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testdata is the folder with real files.
func testdata(t *testing.T) string { t.Helper(); return tasktest.Data(t, 2) }

// readAll reads a file to its end or its error.
func readAll(t *testing.T, path string, o Options) ([]Row, *Reader, error) {
	t.Helper()
	r, err := Open(path, o)
	if err != nil {
		return nil, nil, err
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	var all []Row
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, r, nil
		}
		if err != nil {
			return all, r, err
		}
		all = append(all, row)
	}
}

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Real files of all three formats: how many rows, and what single fields hold.
func TestRealFiles(t *testing.T) {
	dir := testdata(t)
	for _, c := range []struct {
		file string
		rows int
		row  int // counted from 1
		want map[string]string
	}{
		{"bamboogle_test.parquet", 125, 1, map[string]string{
			"prompt[0].content": "Who was president of the United States in the year that Citibank was founded?", "prompt[0].role": "user",
			"reward_model.ground_truth": "james madison", "extra_info.answer": "james madison", "extra_info.index": "0", "data_source": "chiayewken/bamboogle",
		}},
		{"nq_test.parquet", 3610, 1, map[string]string{
			"extra_info.question": "when was the last time anyone was on the moon", "extra_info.answer": "14 December 1972 UTC|December 1972", "extra_info.answer[1]": "December 1972",
		}},
		{"nq_test.parquet", 3610, 3610, map[string]string{"extra_info.index": "3609", "extra_info.split": "test"}},
		{"hotpotqa_test.parquet", 7405, 1, map[string]string{"extra_info.answer": "yes", "prompt[0].content": "Were Scott Derrickson and Ed Wood of the same nationality?"}},
		{"hotpotqa_test.parquet", 7405, 7405, map[string]string{"extra_info.index": "7404"}},
		{"bamboogle_test.jsonl", 125, 1, map[string]string{"prompt[0].content": "Who was president of the United States in the year that Citibank was founded?", "extra_info.answer": "james madison", "extra_info.index": "0"}},
		{"gsm8k_test_500.jsonl", 500, 1, map[string]string{"id": "0", "answer": "18"}},
		{"lichess_puzzles_1500.csv", 1499, 1, map[string]string{"PuzzleId": "000rZ", "Rating": "633", "Moves": "d4e6 d6h2", "DailyDate": "", "Themes": "kingsideAttack mate mateIn1 oneMove opening"}},
	} {
		all, r, err := readAll(t, filepath.Join(dir, c.file), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != c.rows || r.Notes() != nil || r.Rows() != int64(c.rows) {
			t.Errorf("%s: got %d rows and notes %q, want %d and none", c.file, len(all), r.Notes(), c.rows)
			continue
		}
		row := all[c.row-1]
		if want := filepath.Join(dir, c.file) + fmt.Sprintf(":row %d", c.row); row.At() != want {
			t.Errorf("got place %q, want %q", row.At(), want)
		}
		for path, want := range c.want {
			got, err := row.Texts(path)
			if err != nil || strings.Join(got, "|") != want {
				t.Errorf("%s: %s: got %q, %v, want %q", row.At(), path, got, err, want)
			}
		}
	}
}

// The same 125 questions as Parquet and as JSONL have the same fields.
func TestFormatsAgree(t *testing.T) {
	dir := testdata(t)
	a, _, err := readAll(t, filepath.Join(dir, "bamboogle_test.parquet"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := readAll(t, filepath.Join(dir, "bamboogle_test.jsonl"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range a {
		if !slices.Equal(a[i].Names(), b[i].Names()) {
			t.Fatalf("row %d: got fields %q and %q", i+1, a[i].Names(), b[i].Names())
		}
		for _, path := range []string{"prompt[0].content", "prompt[0].role", "ability", "data_source", "reward_model.ground_truth", "extra_info.answer", "extra_info.index", "extra_info.split"} {
			x, err := a[i].Text(path)
			y, err2 := b[i].Text(path)
			if err != nil || err2 != nil || x != y {
				t.Errorf("row %d: %s: got %q (%v) and %q (%v)", i+1, path, x, err, y, err2)
			}
		}
	}
}
