package bm25

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/blevesearch/bleve/v2/index/scorch"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task"
	"github.com/seed-095d5d2b/whale/task/searchqa/corpus"
)

// manifest says what an index on disk holds. It is written last.
type manifest struct {
	Version  int      `json:"version"`
	ID       whale.ID `json:"id"`
	Analyzer string   `json:"analyzer"`
	Passages int      `json:"passages"`
	Tokens   int      `json:"tokens"`
}

const (
	manifestVersion = 1
	manifestName    = "manifest.json"
	segmentsName    = "segments"
	maxManifest     = 1 << 16
)

// BuildOptions are the settings of [Build].
type BuildOptions struct {
	Analyzer string             // Plain or English
	Progress func(passages int) // called now and then, if set
}

// progressEvery is how many passages there are between calls of Progress.
const progressEvery = 10_000

// Build makes an index on disk at dir, which must not exist: it works in a folder beside it and renames that at the end, so that dir is there
// whole or not at all. next gives a passage at a time and io.EOF after the last.
func Build(ctx context.Context, dir string, next func() (corpus.Passage, error), o BuildOptions) (err error) {
	a, err := analyzerOf(o.Analyzer)
	if err != nil {
		return err
	}
	dir = filepath.Clean(dir)
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("bm25: %s is there already: name a new folder, or remove it first", dir)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("bm25: %w", err)
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".building-")
	if err != nil {
		return fmt.Errorf("bm25: %w", err)
	}
	defer os.RemoveAll(work)
	builder, err := scorch.NewBuilder(map[string]any{"path": filepath.Join(work, segmentsName), "buildPathPrefix": work})
	if err != nil {
		return fmt.Errorf("bm25: %w", err)
	}
	hash := newHasher(o.Analyzer)
	counted := &counter{Analyzer: a}
	m := manifest{Version: manifestVersion, Analyzer: o.Analyzer}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		p, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := p.Validate(); err != nil {
			return fmt.Errorf("bm25: passage %d: %w", m.Passages+1, err)
		}
		hash.add(p)
		if err := builder.Index(newDocument(m.Passages, p, counted, true)); err != nil {
			return fmt.Errorf("bm25: passage %d: %w", m.Passages+1, err)
		}
		m.Passages++
		if o.Progress != nil && m.Passages%progressEvery == 0 {
			o.Progress(m.Passages)
		}
	}
	if m.Passages == 0 {
		return errors.New("bm25: got no passages")
	}
	if err := builder.Close(); err != nil {
		return fmt.Errorf("bm25: %w", err)
	}
	if o.Progress != nil {
		o.Progress(m.Passages)
	}
	m.ID, m.Tokens = hash.id(), counted.n
	return finish(work, dir, m)
}

// finish makes a built index last, and gives it its name.
func finish(work, dir string, m manifest) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("bm25: %w", err)
	}
	if err := os.WriteFile(filepath.Join(work, manifestName), append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("bm25: %w", err)
	}
	if err := os.Chmod(work, 0o755); err != nil {
		return fmt.Errorf("bm25: %w", err)
	}
	err = filepath.WalkDir(work, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
	if err == nil {
		err = os.Rename(work, dir)
	}
	if err != nil {
		return fmt.Errorf("bm25: %w", err)
	}
	return nil
}

// Open opens an index that [Build] made.
func Open(dir string) (*Index, error) {
	f, err := os.Open(filepath.Join(dir, manifestName))
	if err != nil {
		return nil, fmt.Errorf("bm25: %s: got no index, want a folder that whale task searchqa index made: %w", dir, task.Away(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxManifest))
	if err != nil {
		return nil, fmt.Errorf("bm25: %w", err)
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("bm25: %s: %w", f.Name(), err)
	}
	if m.Version != manifestVersion {
		return nil, fmt.Errorf("bm25: %s: got version %d, want %d: build the index anew", f.Name(), m.Version, manifestVersion)
	}
	if m.Passages < 1 || m.Tokens < 1 || m.ID == "" {
		return nil, fmt.Errorf("bm25: %s: got an incomplete manifest: build the index anew", f.Name())
	}
	a, err := analyzerOf(m.Analyzer)
	if err != nil {
		return nil, fmt.Errorf("%w, in %s", err, f.Name())
	}
	x := &Index{id: m.ID, analyzer: a, size: m.Passages, average: float64(m.Tokens) / float64(m.Passages)}
	if err := x.open(map[string]any{"path": filepath.Join(dir, segmentsName), "read_only": true, "bolt_timeout": "2s"}, nil); err != nil {
		return nil, fmt.Errorf("%w, in %s", err, dir)
	}
	if n, err := x.reader.DocCount(); err != nil || n != uint64(m.Passages) {
		x.Close()
		return nil, fmt.Errorf("bm25: %s: got %d passages in the segments (%v), but %d in the manifest: build the index anew", dir, n, err, m.Passages)
	}
	return x, nil
}

// hasher hashes passages.
type hasher struct{ hash.Hash }

func newHasher(analyzer string) hasher {
	h := hasher{sha256.New()}
	h.text("whale/bm25/1")
	h.text(analyzer)
	return h
}

func (h hasher) text(s string) {
	h.Write(binary.AppendUvarint(nil, uint64(len(s))))
	io.WriteString(h, s)
}

func (h hasher) add(p corpus.Passage) {
	h.text(p.ID)
	h.text(p.Title)
	h.text(p.Text)
}

func (h hasher) id() whale.ID { return whale.ID(hex.EncodeToString(h.Sum(nil)[:16])) }
