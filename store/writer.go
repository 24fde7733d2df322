package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// maxGroup bounds how many waiting writes share one commit.
const maxGroup = 512

// op is one write to the journal. apply runs inside the transaction of its group. A *refusal is about this op alone and
// leaves the others of the group untouched; any other error fails the group.
type op interface {
	apply(ctx context.Context, w *writer) error
}

// refusal is an error in what the caller asked for, as opposed to a failing disk.
type refusal struct{ err error }

func (e *refusal) Error() string { return e.err.Error() }
func (e *refusal) Unwrap() error { return e.err }

func refuse(format string, args ...any) error { return &refusal{fmt.Errorf(format, args...)} }

// request is a list of ops that happen together or not at all.
type request struct {
	ops  []op
	done chan error // buffered: the writer never waits for a caller that has gone away
}

// writer is the one goroutine that changes the journal and the trajectory segments. Group commit: all requests that
// arrived while a commit was being synced share the next one, so that the number of syncs does not grow with the number
// of callers.
type writer struct {
	dir   string
	now   func() time.Time
	db    *sql.DB
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	seg   *segment

	mu      sync.Mutex
	pending []*request
	closed  bool
	wake    chan struct{} // capacity 1
	ended   chan struct{}
	err     error // of closing, valid after ended
}

// startWriter recovers the journal and the segments, and starts the goroutine.
func startWriter(ctx context.Context, dir string, root *os.Root, db *sql.DB, now func() time.Time) (*writer, error) {
	if err := checkVersion(ctx, dir, db); err != nil {
		return nil, err
	}
	if err := checkPages(ctx, dir, db); err != nil {
		return nil, err
	}
	seg, err := recoverSegments(ctx, dir, root, db)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		seg.close()
		return nil, classify(filepath.Join(dir, journalName), err)
	}
	w := &writer{
		dir: dir, now: now, db: db, conn: conn, stmts: map[string]*sql.Stmt{}, seg: seg,
		wake: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	go w.loop()
	return w, nil
}

// submit hands ops to the writer and waits until they are durable. When ctx ends first the ops may still be
// applied; all of them can be repeated without harm.
func (w *writer) submit(ctx context.Context, ops ...op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	req := &request{ops: ops, done: make(chan error, 1)}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return fmt.Errorf("%s: %w", w.dir, ErrClosed)
	}
	w.pending = append(w.pending, req)
	w.mu.Unlock()
	w.signal()
	select {
	case err := <-req.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// close lets the waiting requests finish and ends the goroutine.
func (w *writer) close() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.signal()
	<-w.ended
	return w.err
}

func (w *writer) loop() {
	defer close(w.ended)
	for range w.wake {
		for {
			group, closed := w.take()
			if len(group) > 0 {
				w.commit(group)
				continue
			}
			if closed {
				w.err = w.shut()
				return
			}
			break
		}
	}
}

func (w *writer) take() (group []*request, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.pending), maxGroup)
	group, w.pending = w.pending[:n:n], w.pending[n:]
	return group, w.closed
}

func (w *writer) shut() error {
	var errs []error
	for _, s := range w.stmts {
		errs = append(errs, s.Close())
	}
	errs = append(errs, w.checkpoint(), w.conn.Close(), w.db.Close(), w.seg.close())
	return classify(w.dir, errors.Join(errs...))
}

// checkpoint moves the whole log into the journal, so that journal.db alone is the run. Closing does that too, but only for the
// last connection of all processes, and somebody may be looking at the run. One who is in the middle of reading keeps the log: that is
// no error, and the next Open reads it.
func (w *writer) checkpoint() error {
	const script = "PRAGMA busy_timeout(1000); PRAGMA wal_checkpoint(TRUNCATE)"
	_, err := w.conn.ExecContext(context.Background(), script)
	return err
}

// commit applies a group in one transaction and answers each of its requests.
func (w *writer) commit(group []*request) {
	verdicts, err := w.transact(group)
	for i, req := range group {
		if err != nil {
			req.done <- err
			continue
		}
		req.done <- verdicts[i]
	}
}

// transact applies the group: rows first (uncommitted), then the trajectory frames, synced, then the commit. On an
// error nothing of the group remains.
func (w *writer) transact(group []*request) (verdicts []error, err error) {
	// The callers' contexts do not reach in here: one caller giving up must not undo the others' writes.
	ctx := context.Background()
	if err := w.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			w.seg.discard()
			// After a full disk SQLite may have rolled back already, and then this fails, which is fine.
			_ = w.exec(ctx, "ROLLBACK")
		}
	}()
	verdicts = make([]error, len(group))
	for i, req := range group {
		var no *refusal
		err := w.applyRequest(ctx, req)
		if errors.As(err, &no) {
			verdicts[i] = no.err
		} else if err != nil {
			return nil, err
		}
	}
	if err := w.seg.flush(); err != nil {
		return nil, err
	}
	if err := w.exec(ctx, "COMMIT"); err != nil {
		return nil, err
	}
	w.seg.committed()
	return verdicts, nil
}

// applyRequest applies the ops of one request; when one is refused the earlier ones are taken back.
func (w *writer) applyRequest(ctx context.Context, req *request) error {
	if len(req.ops) == 1 {
		return req.ops[0].apply(ctx, w) // an op refuses before it writes
	}
	if err := w.exec(ctx, "SAVEPOINT request"); err != nil {
		return err
	}
	mark := w.seg.mark()
	for _, o := range req.ops {
		err := o.apply(ctx, w)
		if err == nil {
			continue
		}
		var no *refusal
		if errors.As(err, &no) {
			w.seg.rewind(mark)
			if err := w.exec(ctx, "ROLLBACK TO request"); err != nil {
				return err
			}
			if err := w.exec(ctx, "RELEASE request"); err != nil {
				return err
			}
		}
		return err
	}
	return w.exec(ctx, "RELEASE request")
}

// exec runs a statement, prepared once, on the writer's connection.
func (w *writer) exec(ctx context.Context, query string, args ...any) error {
	_, err := w.execResult(ctx, query, args...)
	return err
}

func (w *writer) execResult(ctx context.Context, query string, args ...any) (sql.Result, error) {
	stmt, err := w.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	res, err := stmt.ExecContext(ctx, args...)
	return res, classify(filepath.Join(w.dir, journalName), err)
}

// queryRow scans the first row of a query; found is false when there is none.
func (w *writer) queryRow(ctx context.Context, query string, args, into []any) (found bool, err error) {
	stmt, err := w.prepared(ctx, query)
	if err != nil {
		return false, err
	}
	err = stmt.QueryRowContext(ctx, args...).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, classify(filepath.Join(w.dir, journalName), err)
}

func (w *writer) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := w.stmts[query]; ok {
		return s, nil
	}
	s, err := w.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, classify(filepath.Join(w.dir, journalName), err)
	}
	w.stmts[query] = s
	return s, nil
}
