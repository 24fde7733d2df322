package token

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// golden.json holds what Hugging Face's library computes; see testdata/golden.py.
func TestSameAsHuggingFace(t *testing.T) {
	var texts []string
	readTestJSON(t, "testdata/texts.json", &texts)
	var golden map[Split]struct {
		IDs    [][]int32 `json:"ids"`
		Merges []string  `json:"merges"`
	}
	readTestJSON(t, "testdata/golden.json", &golden)
	if len(golden) != len(Splits()) {
		t.Fatalf("golden.json has %d splits, want %d", len(golden), len(Splits()))
	}
	alphabet := newByteAlphabet()
	for split, want := range golden {
		tok := allPairs(t, split)
		if len(want.IDs) != len(texts) {
			t.Fatalf("%s: %d golden ids for %d texts", split, len(want.IDs), len(texts))
		}
		for i, text := range texts {
			if got := tok.Encode(text); !slices.Equal(got, want.IDs[i]) {
				t.Errorf("%s: ids of %q are %v, want %v", split, text, got, want.IDs[i])
			}
		}
		// Learned until no pair is left: most of the order is decided by ties.
		learned, err := Train(slices.Values(corpusLines(t)), TrainOptions{Vocab: 5000, Split: split})
		if err != nil {
			t.Fatal(err)
		}
		var merges []string
		for _, m := range learned.merges {
			merges = append(merges, alphabet.spell(learned.tokens[m.left])+" "+alphabet.spell(learned.tokens[m.right]))
		}
		for i := range max(len(merges), len(want.Merges)) {
			if i >= len(merges) || i >= len(want.Merges) || merges[i] != want.Merges[i] {
				t.Errorf("%s: merges differ from number %d on (%d learned, want %d)", split, i, len(merges), len(want.Merges))
				break
			}
		}
	}
}

func readTestJSON(t testing.TB, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}
