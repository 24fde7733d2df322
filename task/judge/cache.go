package judge

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	whale "github.com/seed-095d5d2b/whale"
)

// cache knows judgements by the hash of what was asked. In a file it is a line a judgement, appended; a line that was cut off by a crash is
// skipped, and the judgement asked for again.
type cache struct {
	mu    sync.Mutex
	known map[whale.ID]bool
	file  *os.File // nil = in memory alone
}

// judgement is a line of the file.
type judgement struct {
	Key     whale.ID `json:"key"`
	Correct *bool    `json:"correct"`
}

// maxLine bounds a line of the file; a longer one is not ours.
const maxLine = 4096

func openCache(path string) (*cache, error) {
	c := &cache{known: make(map[whale.ID]bool)}
	if path == "" {
		return c, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	if err := c.load(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c.file = f
	return c, nil
}

func (c *cache) load(f *os.File) error {
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 0, maxLine), maxLine)
	n, good := 0, 0
	for lines.Scan() {
		n++
		var j judgement
		if json.Unmarshal(lines.Bytes(), &j) == nil && len(j.Key) == 32 && j.Correct != nil {
			c.known[j.Key] = *j.Correct
			good++
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("got a file that holds no judgements: %w", err)
	}
	if n > 2 && good < n/2 {
		return fmt.Errorf("got a file of %d lines of which %d are judgements: it is another's file", n, good)
	}
	// A line that was cut off must not swallow the next one.
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, info.Size()-1); err != nil {
		return err
	}
	if last[0] != '\n' {
		_, err = f.WriteString("\n")
	}
	return err
}

func (c *cache) get(key whale.ID) (correct, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	correct, ok = c.known[key]
	return correct, ok
}

// put remembers a judgement. An error means that the file does not have it.
func (c *cache) put(key whale.ID, correct bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[key] = correct
	if c.file == nil {
		return nil
	}
	line, err := json.Marshal(judgement{key, &correct})
	if err != nil {
		return err
	}
	if _, err := c.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("judge: cache: %w", err)
	}
	return nil
}

func (c *cache) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == nil {
		return nil
	}
	err := errors.Join(c.file.Sync(), c.file.Close())
	c.file = nil
	return err
}

// oneLine makes a text from outside fit for a line of a message.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	const most = 300
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
