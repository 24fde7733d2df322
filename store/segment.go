package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const (
	trajectoryDir = "trajectories"
	segmentSuffix = ".jsonl.zst"

	// segmentSize is where a new segment begins: files that a person can still copy and open.
	segmentSize = 256 << 20
)

// segment is the tail of the trajectory files: where the next frames go. It belongs to the writer's goroutine.
type segment struct {
	dir    string
	root   *os.Root
	number int
	file   *os.File // nil until the first frame
	size   int64    // bytes that committed rows refer to
	buf    []byte   // frames of the group being written, at offset size
}

func segmentName(number int) string {
	return path.Join(trajectoryDir, fmt.Sprintf("%06d%s", number, segmentSuffix))
}

// add places a frame in the group and tells where it will be.
func (s *segment) add(frame []byte) (file string, offset int64) {
	offset = s.size + int64(len(s.buf))
	s.buf = append(s.buf, frame...)
	return segmentName(s.number), offset
}

func (s *segment) mark() int       { return len(s.buf) }
func (s *segment) rewind(mark int) { s.buf = s.buf[:mark] }

// flush writes the group's frames behind the committed ones and syncs them.
func (s *segment) flush() error {
	if len(s.buf) == 0 {
		return nil
	}
	name := segmentName(s.number)
	where := filepath.Join(s.dir, name)
	if s.file == nil {
		f, err := s.root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return classify(where, err)
		}
		s.file = f
		if err := syncRootDir(s.root, trajectoryDir); err != nil {
			return classify(where, err)
		}
	}
	if _, err := s.file.WriteAt(s.buf, s.size); err != nil {
		return classify(where, err)
	}
	return classify(where, s.file.Sync())
}

// committed makes the group's frames part of the segment, and starts a new segment when this one is long enough.
func (s *segment) committed() {
	s.size += int64(len(s.buf))
	s.buf = s.buf[:0]
	if s.size < segmentSize {
		return
	}
	if s.file != nil {
		_ = s.file.Close() // synced already
	}
	s.number, s.file, s.size = s.number+1, nil, 0
}

// discard drops the group's frames. When the file cannot be cut now, the next group overwrites the rest, and Open cuts
// what is left.
func (s *segment) discard() {
	s.buf = s.buf[:0]
	if s.file != nil {
		_ = s.file.Truncate(s.size)
	}
}

func (s *segment) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// recoverSegments cuts the torn tail of every segment and returns the place where writing continues. A segment that is
// shorter than the journal says was damaged from outside, and is an [ErrCorrupt].
func recoverSegments(ctx context.Context, dir string, root *os.Root, db *sql.DB) (*segment, error) {
	ends, err := segmentEnds(ctx, dir, db)
	if err != nil {
		return nil, err
	}
	names, err := segmentNames(dir, root)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := cutTail(dir, root, name, ends[name]); err != nil {
			return nil, err
		}
	}
	last := &segment{dir: dir, root: root, number: 1}
	for name, end := range ends {
		if _, err := root.Lstat(name); err != nil {
			return nil, fmt.Errorf("%s: %w: the journal refers to it: %w", filepath.Join(dir, name), ErrCorrupt, err)
		}
		var n int
		if _, err := fmt.Sscanf(path.Base(name), "%06d", &n); err != nil {
			return nil, fmt.Errorf("%s: %w: the journal refers to trajectory file %q", dir, ErrCorrupt, name)
		}
		if n >= last.number {
			last.number, last.size = n, end
		}
	}
	if last.size >= segmentSize {
		last.number, last.size = last.number+1, 0
	}
	return last, nil
}

// segmentEnds returns for each segment the end of its last committed frame.
func segmentEnds(ctx context.Context, dir string, db *sql.DB) (map[string]int64, error) {
	where := filepath.Join(dir, journalName)
	rows, err := db.QueryContext(ctx, "SELECT file, MAX(offset + length) FROM rollouts WHERE length > 0 GROUP BY file")
	if err != nil {
		return nil, classify(where, err)
	}
	defer rows.Close()
	ends := map[string]int64{}
	for rows.Next() {
		var name string
		var end int64
		if err := rows.Scan(&name, &end); err != nil {
			return nil, classify(where, err)
		}
		ends[name] = end
	}
	return ends, classify(where, rows.Err())
}

func segmentNames(dir string, root *os.Root) ([]string, error) {
	entries, err := fs.ReadDir(root.FS(), trajectoryDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, classify(filepath.Join(dir, trajectoryDir), root.Mkdir(trajectoryDir, 0o755))
	}
	if err != nil {
		return nil, classify(filepath.Join(dir, trajectoryDir), err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), segmentSuffix) {
			names = append(names, path.Join(trajectoryDir, e.Name()))
		}
	}
	return names, nil
}

// cutTail shortens a segment to the end of its last committed frame; a segment without any is removed.
func cutTail(dir string, root *os.Root, name string, end int64) error {
	where := filepath.Join(dir, name)
	info, err := root.Lstat(name)
	if err != nil {
		return classify(where, err)
	}
	switch {
	case info.Size() < end:
		return fmt.Errorf("%s: %w: got %d bytes, want %d as the journal says", where, ErrCorrupt, info.Size(), end)
	case info.Size() == end:
		return nil
	case end == 0:
		return classify(where, root.Remove(name))
	}
	f, err := root.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return classify(where, err)
	}
	defer f.Close()
	if err := f.Truncate(end); err != nil {
		return classify(where, err)
	}
	return classify(where, f.Sync())
}
