package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-095d5d2b/whale"
)

// TestDisguisedPatterns writes a move so that a reader sees one and a plain search does not.
func TestDisguisedPatterns(t *testing.T) {
	r := newRules(chessEnv{}.Rules(), nil, nil)
	for name, text := range map[string]string{
		"accents":                        "\u00e92\u00e94",
		"accents of their own":           "e\u03012e4",
		"cyrillic letters":               "\u04352\u04354",
		"greek and latin letters":        "\u03b12\u02514",
		"digits of another script":       "e\u0662e\u0664",
		"mathematical digits":            "e\U0001d7dae\U0001d7dc",
		"a control character":            "e2\x08e4",
		"a zero byte":                    "e2\x00e4",
		"a variation selector":           "e2\ufe0fe4",
		"a combining frame":              "e2\u20dde4",
		"a filler":                       "e2\u3164e4",
		"an empty pattern of Braille":    "e2\u2800e4",
		"a private character":            "e2\ue000e4",
		"a tag":                          "e2\U000e0061e4",
		"a soft hyphen":                  "e2\u00ade4",
		"a mark of writing direction":    "e2\u202ee4",
		"circled digits":                 "e\u2461e\u2463",
		"letters of a mathematical kind": "\U0001d41e2\U0001d41e4",
	} {
		if r.planted("play "+text+" now") == "" {
			t.Errorf("%s: %q is not found", name, text)
		}
	}
	for _, text := range []string{"e2 e4", "e2\ne4", "\u00e9t\u00e9 2024", "\u0440\u0443\u0441\u0441\u043a\u0438\u0439 2 4"} {
		if got := r.planted(text); got != "" {
			t.Errorf("%q: got a %s, want none", text, got)
		}
	}
}

// TestAuthoredThatFoldsToNothing: what the folding leaves nothing of is no span of everything.
func TestAuthoredThatFoldsToNothing(t *testing.T) {
	letters := regexp.MustCompile(`[^a-z]+`)
	r := newRules(whale.Rules{Fold: func(s string) string { return letters.ReplaceAllString(strings.ToLower(s), "") }}, nil, nil)
	call := &whale.ModelCall{Text: "search: Where is 東京?", ToolCalls: []whale.ToolCall{{Name: "t", Args: map[string]json.RawMessage{"q": json.RawMessage(`"1984"`)}}}}
	for raw, want := range map[string]bool{
		`"where is"`: true, `"東京"`: true, `"1984"`: true, `1984`: true, `""`: true, `"北京"`: false, `"1985"`: false, `[1]`: false, `"who"`: false,
	} {
		if got := r.written(json.RawMessage(raw), call); got != want {
			t.Errorf("%s: got %v, want %v", raw, got, want)
		}
	}
}

// TestNumbersInArguments: a pattern may be one of numbers, which JSON does not write as text.
func TestNumbersInArguments(t *testing.T) {
	r := newRules(whale.Rules{Patterns: []whale.Pattern{{Name: "year", Expr: regexp.MustCompile(`\b1984\b`)}}}, nil, nil)
	for raw, want := range map[string]bool{`1984`: true, `[{"k":1984}]`: true, `"1984"`: true, `19840`: false} {
		err := r.checkInputs("env.call", "echo", map[string]json.RawMessage{"x": json.RawMessage(raw)})
		if (err != nil) != want {
			t.Errorf("%s: got %v, want found %v", raw, err, want)
		}
	}
}

// TestManyMatchesAreCheap: a harness chooses how many matches and blocks a message has; the check must not multiply them.
func TestManyMatchesAreCheap(t *testing.T) {
	r := newRules(chessEnv{}.Rules(), nil, nil)
	r.vouch("e2e4")
	text := strings.Repeat("e2e4 ", 50_000)
	start := time.Now()
	if got := r.planted(text); got != "" {
		t.Errorf("got a %s, want none: all of it is blocks", got)
	}
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("took %v", d)
	}
	if r.planted(text+"e2e5") == "" {
		t.Error("a move after many blocks is not found")
	}
}

// slowCount takes its time to count.
type slowCount struct{ *bytePolicy }

func (slowCount) Count(text string) int { time.Sleep(10 * time.Millisecond); return len(text) }

// TestHostsWorkIsTheHarnesssOwnTime: what a harness makes its host do, model and tools apart, is bounded by the harness's clock.
func TestHostsWorkIsTheHarnesssOwnTime(t *testing.T) {
	policy := &bytePolicy{script: says("yes")}
	r := runner(policy)
	r.Policy = slowCount{policy}
	r.Limits.WallSeconds = 0.1
	counter := goHarness{"counter", func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
		for range 200 {
			if _, err := h.Do(ctx, whale.Request{Op: whale.OpCount, Text: "x"}); err != nil {
				return 0, err
			}
		}
		return 0, errors.New("was never stopped")
	}}
	out, err := r.Run(t.Context(), []Job{job(counter, "x")})
	if err != nil {
		t.Fatal(err)
	}
	if f := out[0].Episode.Failure; f == nil || f.Reason != whale.FailWall {
		t.Errorf("got %s %+v %s, want failed by wall", out[0].State, f, out[0].Error)
	}
}
