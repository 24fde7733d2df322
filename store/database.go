package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	sqlite3 "modernc.org/sqlite/lib"

	"modernc.org/sqlite"
)

const journalName = "journal.db"

// schemaVersion is kept in the database's user_version. A database without it was never finished, or is not ours.
const schemaVersion = 1

const schema = `
CREATE TABLE events (
	seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, op TEXT NOT NULL, data TEXT NOT NULL, at INTEGER NOT NULL,
	UNIQUE (kind, op)
);
CREATE TABLE rollouts (
	seq INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
	purpose TEXT NOT NULL, phase TEXT NOT NULL, step INTEGER NOT NULL, example TEXT NOT NULL, draw INTEGER NOT NULL,
	harness TEXT NOT NULL, weights TEXT NOT NULL, state TEXT NOT NULL, reward REAL, reason TEXT NOT NULL,
	usage TEXT NOT NULL, file TEXT NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL, sum BLOB NOT NULL,
	at INTEGER NOT NULL
);
CREATE INDEX rollouts_by_step ON rollouts (purpose, phase, step);
CREATE INDEX rollouts_by_pair ON rollouts (harness, weights);
CREATE TABLE charges (op TEXT PRIMARY KEY, purpose TEXT NOT NULL, counters TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE totals (purpose TEXT NOT NULL, counter TEXT NOT NULL, amount REAL NOT NULL, PRIMARY KEY (purpose, counter)) WITHOUT ROWID;
`

// openDB opens the journal. mode is SQLite's: rwc, rw or ro.
func openDB(dir, mode string, conns int, extra ...string) (*sql.DB, error) {
	q := url.Values{"mode": {mode}, "_pragma": {"busy_timeout(10000)"}}
	if mode == "ro" {
		q.Add("_pragma", "query_only(1)")
	} else {
		q.Add("_pragma", "journal_mode(WAL)")
		q.Add("_pragma", "synchronous(FULL)")
	}
	for i := 0; i+1 < len(extra); i += 2 {
		q.Add(extra[i], extra[i+1])
	}
	dsn := (&url.URL{Scheme: "file", Path: filepath.Join(dir, journalName), RawQuery: q.Encode()}).String()
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, classify(filepath.Join(dir, journalName), err)
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// createSchema fills a new journal. The version is written in the same transaction, so that half a schema is none.
func createSchema(ctx context.Context, dir string, db *sql.DB) error {
	script := fmt.Sprintf("BEGIN IMMEDIATE; %s PRAGMA user_version = %d; COMMIT;", schema, schemaVersion)
	if _, err := db.ExecContext(ctx, script); err != nil {
		return classify(filepath.Join(dir, journalName), err)
	}
	return nil
}

// checkVersion reads the schema version, which also finds a file that is no database or is cut short.
func checkVersion(ctx context.Context, dir string, db *sql.DB) error {
	path := filepath.Join(dir, journalName)
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return classify(path, err)
	}
	switch {
	case version == 0:
		return fmt.Errorf("%s: %w (the database is empty)", path, ErrCorrupt)
	case version != schemaVersion:
		return fmt.Errorf("%s: schema version: got %d, want %d: the run was made by another release", path, version, schemaVersion)
	}
	return nil
}

// checkPages walks all pages of the journal once. A resume rests on it, so damage must show here and not hours later.
func checkPages(ctx context.Context, dir string, db *sql.DB) error {
	path := filepath.Join(dir, journalName)
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return classify(path, err)
	}
	if verdict != "ok" {
		return classify(path, fmt.Errorf("%w: %s", ErrCorrupt, verdict))
	}
	return nil
}

// openReader opens the journal for reading only. Where the directory cannot be written and no process works in the run,
// SQLite cannot make its shared-memory file, and the database is opened as the immutable file that it then is.
func openReader(ctx context.Context, dir string) (*sql.DB, error) {
	db, err := openDB(dir, "ro", readerConns)
	if err != nil {
		return nil, err
	}
	err = checkVersion(ctx, dir, db)
	if err == nil {
		return db, nil
	}
	db.Close()
	var se *sqlite.Error
	if !errors.As(err, &se) || se.Code()&0xff != sqlite3.SQLITE_CANTOPEN && se.Code()&0xff != sqlite3.SQLITE_READONLY {
		return nil, err
	}
	if info, statErr := os.Stat(filepath.Join(dir, journalName+"-wal")); statErr == nil && info.Size() > 0 {
		return nil, err // the log holds commits that an immutable open would not see
	}
	if db, err = openDB(dir, "ro", readerConns, "immutable", "1"); err != nil {
		return nil, err
	}
	if err := checkVersion(ctx, dir, db); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}
