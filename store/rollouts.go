package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// maxTrajectory bounds one trajectory line, uncompressed. It is far above any real one and keeps a damaged or
// hostile frame from filling memory.
const maxTrajectory = 1 << 30

// RolloutRow is what the journal keeps of a rollout beside its trajectory.
type RolloutRow struct {
	Key            string // content key; a rollout is written once
	Purpose, Phase string
	Step           int
	ExampleID      string
	Draw           int
	Harness        string
	Weights        string
	State          string
	Reward         *float64 // nil when there is none
	Reason         string
	Usage          json.RawMessage // any JSON value, or empty

	// Set by the store.
	Seq int64 // order of insertion
	At  time.Time
}

// Filter selects rollouts; empty fields select all.
type Filter struct {
	Purpose, Phase, Harness, Weights, State string

	Step  *int
	After int64 // only rows with a greater Seq
}

// PutRollout writes a rollout and its trajectory (one line of JSON without a newline inside; empty when there is none) and
// returns once both are durable. Writing an equal rollout again does nothing; a different one under the same key is an
// [ErrConflict].
func (r *Run) PutRollout(ctx context.Context, row RolloutRow, trajectory []byte) error {
	b := new(Batch)
	b.PutRollout(row, trajectory)
	return r.Commit(ctx, b)
}

// Rollout returns the row with the given key, and whether there is one.
func (r *Run) Rollout(ctx context.Context, key string) (RolloutRow, bool, error) {
	row, _, err := scanRollout(r.readers.QueryRowContext(ctx, "SELECT "+rolloutColumns+" FROM rollouts WHERE key = ?", key))
	if errors.Is(err, sql.ErrNoRows) {
		return RolloutRow{}, false, nil
	}
	if err != nil {
		return RolloutRow{}, false, classify(filepath.Join(r.dir, journalName), err)
	}
	return row, true, nil
}

// Trajectory returns the line that was written with the rollout key, checked against its hash. It is empty when the
// rollout has none; an unknown key is an [ErrNotFound].
func (r *Run) Trajectory(ctx context.Context, key string) ([]byte, error) {
	_, at, err := scanRollout(r.readers.QueryRowContext(ctx, "SELECT "+rolloutColumns+" FROM rollouts WHERE key = ?", key))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("rollout %q: %w", key, ErrNotFound)
	}
	if err != nil {
		return nil, classify(filepath.Join(r.dir, journalName), err)
	}
	if at.length == 0 {
		return nil, nil
	}
	where := filepath.Join(r.dir, at.file)
	f, err := r.root.Open(at.file)
	if err != nil {
		return nil, classify(where, err)
	}
	defer f.Close()
	frame := make([]byte, at.length)
	if _, err := f.ReadAt(frame, at.offset); err != nil {
		return nil, fmt.Errorf("%s: %w: rollout %q at offset %d: %w", where, ErrCorrupt, key, at.offset, err)
	}
	line, err := r.decoder.DecodeAll(frame, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: rollout %q at offset %d: %w", where, ErrCorrupt, key, at.offset, err)
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	if sum := sha256.Sum256(line); !bytes.Equal(sum[:], at.sum) {
		return nil, fmt.Errorf("%s: %w: rollout %q at offset %d: the hash differs", where, ErrCorrupt, key, at.offset)
	}
	return line, nil
}

// Rollouts iterates over the rows that match, in the order in which they were written; rows written after the
// iteration began are not seen. Other calls may be made inside the loop. An error ends the iteration.
func (r *Run) Rollouts(ctx context.Context, filter Filter) iter.Seq2[RolloutRow, error] {
	return func(yield func(RolloutRow, error) bool) {
		var last int64
		if err := r.readers.QueryRowContext(ctx, "SELECT COALESCE(MAX(seq), 0) FROM rollouts").Scan(&last); err != nil {
			yield(RolloutRow{}, classify(filepath.Join(r.dir, journalName), err))
			return
		}
		// Pages, so that no connection is held while the caller works.
		for after := filter.After; after < last; {
			page, err := r.rolloutPage(ctx, filter, after, last)
			if err != nil {
				yield(RolloutRow{}, err)
				return
			}
			for _, row := range page {
				if !yield(row, nil) {
					return
				}
				after = row.Seq
			}
			if len(page) < rolloutPageSize {
				return
			}
		}
	}
}

const rolloutPageSize = 512

func (r *Run) rolloutPage(ctx context.Context, f Filter, after, last int64) ([]RolloutRow, error) {
	query := "SELECT " + rolloutColumns + " FROM rollouts WHERE seq > ? AND seq <= ?"
	args := []any{after, last}
	for _, c := range []struct{ column, value string }{
		{"purpose", f.Purpose}, {"phase", f.Phase}, {"harness", f.Harness}, {"weights", f.Weights}, {"state", f.State},
	} {
		if c.value != "" {
			query += " AND " + c.column + " = ?"
			args = append(args, c.value)
		}
	}
	if f.Step != nil {
		query += " AND step = ?"
		args = append(args, *f.Step)
	}
	where := filepath.Join(r.dir, journalName)
	rows, err := r.readers.QueryContext(ctx, fmt.Sprintf("%s ORDER BY seq LIMIT %d", query, rolloutPageSize), args...)
	if err != nil {
		return nil, classify(where, err)
	}
	defer rows.Close()
	var page []RolloutRow
	for rows.Next() {
		row, _, err := scanRollout(rows)
		if err != nil {
			return nil, classify(where, err)
		}
		page = append(page, row)
	}
	return page, classify(where, rows.Err())
}

const rolloutColumns = "key, purpose, phase, step, example, draw, harness, weights, state, reward, reason, usage, " +
	"seq, at, file, offset, length, sum"

// frameAt is where a trajectory lies.
type frameAt struct {
	file           string
	offset, length int64
	sum            []byte // SHA-256 of the line
}

func scanRollout(from interface{ Scan(...any) error }) (row RolloutRow, f frameAt, err error) {
	var usage string
	var at int64
	err = from.Scan(&row.Key, &row.Purpose, &row.Phase, &row.Step, &row.ExampleID, &row.Draw, &row.Harness, &row.Weights,
		&row.State, &row.Reward, &row.Reason, &usage, &row.Seq, &at, &f.file, &f.offset, &f.length, &f.sum)
	row.At = time.Unix(0, at).UTC()
	if usage != "" {
		row.Usage = json.RawMessage(usage)
	}
	return row, f, err
}

// rolloutOp is a write of one rollout.
type rolloutOp struct {
	row   RolloutRow
	usage string
	line  []byte
	sum   [sha256.Size]byte
	frame []byte // the compressed line with its newline; empty for an empty line
}

func newRolloutOp(row RolloutRow, line []byte) (*rolloutOp, error) {
	o := &rolloutOp{row: row, line: line, sum: sha256.Sum256(line)}
	if row.Reward != nil {
		reward := *row.Reward // the caller may go on with its own
		o.row.Reward = &reward
	}
	switch {
	case row.Key == "":
		return nil, errors.New("rollout: got an empty key")
	case row.Reward != nil && (math.IsNaN(*row.Reward) || math.IsInf(*row.Reward, 0)):
		return nil, fmt.Errorf("rollout %q: reward: got %v, want a finite number", row.Key, *row.Reward)
	case len(line) > maxTrajectory:
		return nil, fmt.Errorf("rollout %q: trajectory: got %d bytes, want at most %d", row.Key, len(line), maxTrajectory)
	case bytes.IndexByte(line, '\n') >= 0:
		return nil, fmt.Errorf("rollout %q: trajectory: got several lines, want one", row.Key)
	case len(line) > 0 && !json.Valid(line):
		return nil, fmt.Errorf("rollout %q: trajectory: got no JSON, want one JSON value", row.Key)
	}
	if len(row.Usage) > 0 {
		var compact bytes.Buffer
		if err := json.Compact(&compact, row.Usage); err != nil {
			return nil, fmt.Errorf("rollout %q: usage: %w", row.Key, err)
		}
		o.usage = compact.String()
	}
	return o, nil
}

func (o *rolloutOp) compress(enc *zstd.Encoder) {
	if len(o.line) == 0 {
		return
	}
	line := append(o.line[:len(o.line):len(o.line)], '\n')
	o.frame = enc.EncodeAll(line, nil)
	o.line = nil
}

func (o *rolloutOp) apply(ctx context.Context, w *writer) error {
	var f frameAt
	mark := w.seg.mark()
	if len(o.frame) > 0 {
		f.file, f.offset = w.seg.add(o.frame)
		f.length = int64(len(o.frame))
	}
	made, err := w.insert(ctx, "INSERT INTO rollouts (key, purpose, phase, step, example, draw, harness, weights, state, reward, reason, "+
		"usage, file, offset, length, sum, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
		o.row.Key, o.row.Purpose, o.row.Phase, o.row.Step, o.row.ExampleID, o.row.Draw, o.row.Harness, o.row.Weights, o.row.State,
		o.row.Reward, o.row.Reason, o.usage, f.file, f.offset, f.length, o.sum[:], w.now().UnixNano())
	if err != nil || made {
		return err
	}
	w.seg.rewind(mark)
	return o.compare(ctx, w)
}

// compare looks at the rollout under the same key, and refuses to write another one in its place.
func (o *rolloutOp) compare(ctx context.Context, w *writer) error {
	var old RolloutRow
	var usage string
	var sum []byte
	if _, err := w.queryRow(ctx, "SELECT purpose, phase, step, example, draw, harness, weights, state, reward, reason, usage, sum "+
		"FROM rollouts WHERE key = ?", []any{o.row.Key}, []any{&old.Purpose, &old.Phase, &old.Step, &old.ExampleID, &old.Draw,
		&old.Harness, &old.Weights, &old.State, &old.Reward, &old.Reason, &usage, &sum}); err != nil {
		return err
	}
	var differ []string
	check := func(name string, same bool) {
		if !same {
			differ = append(differ, name)
		}
	}
	check("purpose", old.Purpose == o.row.Purpose)
	check("phase", old.Phase == o.row.Phase)
	check("step", old.Step == o.row.Step)
	check("example", old.ExampleID == o.row.ExampleID)
	check("draw", old.Draw == o.row.Draw)
	check("harness", old.Harness == o.row.Harness)
	check("weights", old.Weights == o.row.Weights)
	check("state", old.State == o.row.State)
	check("reward", (old.Reward == nil) == (o.row.Reward == nil) && (old.Reward == nil || *old.Reward == *o.row.Reward))
	check("reason", old.Reason == o.row.Reason)
	check("usage", usage == o.usage)
	check("trajectory", bytes.Equal(sum, o.sum[:]))
	if len(differ) > 0 {
		return refuse("rollout %q: %w: %s differ", o.row.Key, ErrConflict, strings.Join(differ, ", "))
	}
	return nil
}
