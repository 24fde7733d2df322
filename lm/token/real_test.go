package token

import (
	"bytes"
	"os"
	"slices"
	"testing"
	"time"
)

// Real files, against Hugging Face's library; see testdata/real.py.
func TestRealTokenizers(t *testing.T) {
	path := os.Getenv("WHALE_TOKENIZERS")
	if path == "" {
		t.Skip("WHALE_TOKENIZERS names no file; see testdata/real.py")
	}
	var ref struct {
		Texts      []string `json:"texts"`
		Tokenizers []struct {
			File   string    `json:"file"`
			IDs    [][]int32 `json:"ids"`
			Text   [][]int32 `json:"text"`
			Framed []int32   `json:"framed"`
		} `json:"tokenizers"`
	}
	readTestJSON(t, path, &ref)
	for _, want := range ref.Tokenizers {
		data, err := os.ReadFile(want.File)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		tok, err := ReadJSON(bytes.NewReader(data))
		if err != nil {
			t.Errorf("%s: %v", want.File, err)
			continue
		}
		read := time.Since(start)
		same := 0
		for i, text := range ref.Texts {
			with, as := tok.EncodeWithSpecials(text), tok.EncodeText(text)
			if slices.Equal(with, want.IDs[i]) && slices.Equal(as, want.Text[i]) {
				same++
			} else if same > i-5 {
				t.Errorf("%s: %.80q gives %v and %v, want %v and %v", want.File, text, with, as, want.IDs[i], want.Text[i])
			}
		}
		if got := tok.PostProcess(tok.EncodeText("a text")); !slices.Equal(got, want.Framed) {
			t.Errorf("%s: framed %v, want %v", want.File, got, want.Framed)
		}
		t.Logf("%s: %d tokens read in %v; ids equal for %d of %d texts", want.File, tok.Vocab(), read.Round(time.Millisecond), same, len(ref.Texts))
	}
}
