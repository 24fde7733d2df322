package local

import (
	"io/fs"
	"slices"
	"testing"
)

// TestEveryEmbeddedModelOpens: one model a quick domain, each of a size that a repository and a laptop bear.
func TestEveryEmbeddedModelOpens(t *testing.T) {
	want := []string{"whale-tiny", "whale-tiny-chess", "whale-tiny-search"}
	if got := EmbeddedModels(); !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	var all int64
	for _, name := range want {
		b, err := Open(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if b.Source != embeddedPrefix+name || b.Renderer.template.ID() != TemplateName {
			t.Errorf("%s: got source %s and template %s", name, b.Source, b.Renderer.template.ID())
		}
		if n := b.Model.NumParams(); n < 1_000_000 || n > 1_300_000 {
			t.Errorf("%s: got %d parameters, want about a million", name, n)
		}
		if b.Stored != "bfloat16" {
			t.Errorf("%s: got weights stored as %q, want bfloat16", name, b.Stored)
		}
	}
	err := fs.WalkDir(embedded, "models", func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			all += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if all > 8<<20 {
		t.Errorf("the embedded models have %d bytes, want at most 8 MiB", all)
	}
}

// TestTinyIsWhatItWas: results that name these weights stay comparable.
func TestTinyIsWhatItWas(t *testing.T) {
	b, err := Open("whale-tiny")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(b.Weights().ID); got != "8613c011ad3d8f1dcc62576e51e86796" {
		t.Errorf("whale-tiny has the weights %s, want 8613c011ad3d8f1dcc62576e51e86796", got)
	}
}
