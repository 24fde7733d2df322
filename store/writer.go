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
	ops   []op
	build func() ([]op, error) // where set, gives the ops, in the writer's goroutine
	done  chan error           // buffered: the writer never waits for a caller that has gone away; nil when nobody waits
}

// writer is the one goroutine that changes the journal and the trajectory segments. Group commit: all requests that
// arrived while a commit was being synced share the next one, so that the number of syncs does not grow with the number
// of callers; and what nobody waits for stays in an open group for a while, which others join.
type writer struct {
	dir   string
	now   func() time.Time
	db    *sql.DB
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	seg   *segment
	group group

	mu      sync.Mutex
	pending []*request
	under   int         // requests that are neither committed nor failed
	due     *time.Timer // fires when the open group and the queue are old
	armed   bool        // due is running
	closed  bool
	failed  error         // of a write that nobody waited for; all later ones fail with it
	told    bool          // failed was returned to a caller
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
		wake: make(chan struct{}, 1), ended: make(chan struct{}), due: time.NewTimer(groupAge), armed: true,
	}
	go w.loop()
	return w, nil
}

// submit hands a request to the writer and waits until it is durable. When ctx ends first the ops may still be
// applied; all of them can be repeated without harm.
func (w *writer) submit(ctx context.Context, req *request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	req.done = make(chan error, 1)
	if _, err := w.enqueue(req, 0); err != nil {
		return err
	}
	select {
	case err := <-req.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enqueue puts a request into the queue, unless limit is above 0 and as many wait there already.
func (w *writer) enqueue(req *request, limit int) (ok bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.failed != nil:
		w.told = true
		return false, w.failed
	case w.closed:
		return false, fmt.Errorf("%s: %w", w.dir, ErrClosed)
	case limit > 0 && len(w.pending) >= limit:
		return false, nil
	}
	w.pending = append(w.pending, req)
	w.under++
	if req.done != nil || len(w.pending)%gather == 0 {
		w.signal()
	}
	w.arm()
	return true, nil
}

// idle says whether there is nothing to wait for and nothing to complain of.
func (w *writer) idle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.under == 0 && w.failed == nil && !w.closed
}

// arm sees to it that what is in the queue is durable before long. Callers hold mu.
func (w *writer) arm() {
	if !w.armed {
		w.armed = true
		w.due.Reset(groupAge)
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

// loop applies what arrives to the open group, and commits it once somebody waits for it, it is large, or it is old.
func (w *writer) loop() {
	defer close(w.ended)
	defer w.due.Stop()
	for {
		old := false
		select {
		case <-w.wake:
		case <-w.due.C:
			old = true
		}
		for {
			reqs, closed := w.take()
			for _, req := range reqs {
				w.join(req)
			}
			if old || closed || w.group.awaited || len(w.group.requests) >= maxGroup {
				w.commit()
				w.rearm()
				old = false
			}
			if len(reqs) > 0 {
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

// rearm is arm for what arrived while a group was being committed.
func (w *writer) rearm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due.Stop()
	if w.armed = false; len(w.pending) > 0 {
		w.arm()
	}
}

func (w *writer) take() (reqs []*request, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.pending), maxGroup)
	reqs, w.pending = w.pending[:n:n], w.pending[n:]
	return reqs, w.closed
}

func (w *writer) shut() error {
	var errs []error
	if !w.told { // nobody else calls any more
		errs = append(errs, w.failed)
	}
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

// insert is an execResult that may do nothing for want of a free key; made says whether it did something.
func (w *writer) insert(ctx context.Context, query string, args ...any) (made bool, err error) {
	res, err := w.execResult(ctx, query, args...)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, classify(filepath.Join(w.dir, journalName), err)
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
