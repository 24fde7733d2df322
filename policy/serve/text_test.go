package serve

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mustJSON(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestSettledNeverTakesBack grows a text byte by byte: what was shown stays, and only bytes that the whole text has are shown.
func TestSettledNeverTakesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alphabet := rapid.SampledFrom([]string{"a", "b", "ab", "é", "世", "\xff", "<", " "})
		text := strings.Join(rapid.SliceOfN(alphabet, 0, 20).Draw(t, "text"), "")
		stops := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "é"}), 1, 3).Draw(t, "parts"), "")
		}), 0, 3).Draw(t, "stops")
		end := len(text)
		for i := range len(text) + 1 { // sampling ends by the first stop text
			if _, found := cut(text[:i], stops); found {
				end = i
				break
			}
		}
		final, _ := cut(text[:end], stops)
		shown := ""
		for i := range end + 1 {
			now := settled(text[:i], stops)
			if !strings.HasPrefix(now, shown) || !strings.HasPrefix(final, now) {
				t.Fatalf("stops %q: after %q: shown %q, now %q, in the end %q", stops, text[:i], shown, now, final)
			}
			shown = now
		}
	})
}
