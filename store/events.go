package store

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// Event is a decision or a transition of a run, in the order in which it was journaled.
type Event struct {
	Seq  int64 // increases with every event of the run
	Kind string
	Op   string // unique within its kind
	Data json.RawMessage
	At   time.Time
}

// Append journals an event and returns its sequence number once it is durable. Appending the same (kind, op) again with
// an equal payload returns the first number; with a different one it is an [ErrConflict]. v is marshalled by
// encoding/json, and payloads are equal when those bytes are.
func (r *Run) Append(ctx context.Context, kind, op string, v any) (seq int64, err error) {
	b := new(Batch)
	b.Append(kind, op, v)
	if err := r.Commit(ctx, b); err != nil {
		return 0, err
	}
	return b.ops[0].(*appendOp).seq, nil
}

// Events returns the events of the given kinds, of all kinds when none is given, in journal order.
func (r *Run) Events(ctx context.Context, kinds ...string) ([]Event, error) {
	return r.EventsAfter(ctx, 0, kinds...)
}

// EventsAfter is [Run.Events] restricted to those after sequence number seq, for a reader that follows a run.
func (r *Run) EventsAfter(ctx context.Context, seq int64, kinds ...string) ([]Event, error) {
	query := "SELECT seq, kind, op, data, at FROM events WHERE seq > ?"
	args := []any{seq}
	if len(kinds) > 0 {
		query += " AND kind IN (?" + strings.Repeat(", ?", len(kinds)-1) + ")"
		for _, k := range kinds {
			args = append(args, k)
		}
	}
	where := filepath.Join(r.dir, journalName)
	rows, err := r.readers.QueryContext(ctx, query+" ORDER BY seq", args...)
	if err != nil {
		return nil, classify(where, err)
	}
	defer rows.Close()
	var events []Event
	for rows.Next() {
		var e Event
		var data string
		var at int64
		if err := rows.Scan(&e.Seq, &e.Kind, &e.Op, &data, &at); err != nil {
			return nil, classify(where, err)
		}
		e.Data, e.At = json.RawMessage(data), time.Unix(0, at).UTC()
		events = append(events, e)
	}
	return events, classify(where, rows.Err())
}

type appendOp struct {
	kind, op, data string
	seq            int64 // result
}

func newAppendOp(kind, op string, v any) (*appendOp, error) {
	if kind == "" || op == "" {
		return nil, fmt.Errorf("event: got kind %q and op %q, want both", kind, op)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("event %s %q: %w", kind, op, err)
	}
	return &appendOp{kind: kind, op: op, data: string(data)}, nil
}

func (o *appendOp) apply(ctx context.Context, w *writer) error {
	var data string
	found, err := w.queryRow(ctx, "SELECT seq, data FROM events WHERE kind = ? AND op = ?", []any{o.kind, o.op}, []any{&o.seq, &data})
	if err != nil {
		return err
	}
	if found {
		if data != o.data {
			return refuse("event %s %q: %w: event %d has %s, got %s", o.kind, o.op, ErrConflict, o.seq, clip(data), clip(o.data))
		}
		return nil
	}
	res, err := w.execResult(ctx, "INSERT INTO events (kind, op, data, at) VALUES (?, ?, ?, ?)", o.kind, o.op, o.data, w.now().UnixNano())
	if err != nil {
		return err
	}
	o.seq, err = res.LastInsertId()
	return err
}

// clip shortens a payload for an error message.
func clip(s string) string {
	const limit = 120
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
