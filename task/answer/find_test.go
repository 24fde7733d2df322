package answer

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

const none = "(none)"

func TestLastBoxOfSeveral(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`\boxed{1} \fbox{2}`, "2"}, {`\fbox{2} \boxed{1}`, "1"}, {`\fbox{7}`, "7"}, {`\boxed{1} \fbox`, "1"}, {`\boxed{1} \fbox{2`, none}, {`\fbox{\boxed{3}}`, "3"},
		{`\boxed 1 \fbox {2}`, "2"}, {"", none},
	} {
		got, ok := LastBox(c.text, Boxed, Fbox)
		if !ok {
			got = none
		}
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestLastTag(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"<answer>Paris</answer>", "Paris"}, {"<answer> Paris\n</answer> done", "Paris"}, {"<answer>a</answer> <answer>b</answer>", "b"}, {"<answer></answer>", ""},
		{"<answer>a <answer>b</answer>", "b"}, {"<answer>a</answer> and <answer>b", none}, {"Paris", none}, {"</answer>x<answer>", none}, {"<answer>a</ answer>", none}, {"<ANSWER>a</ANSWER>", none},
		{"<answer>a</answer></answer>", "a"}, {"<answer>1 < 2 & 3 > 2</answer>", "1 < 2 & 3 > 2"}, {"", none},
	} {
		got, ok := LastTag(c.text, "answer")
		if !ok {
			got = none
		}
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.StringMatching(`([a-z<>/]{0,20}[a-z])?`).Draw(t, "content")
		before := rapid.String().Draw(t, "before")
		if got, ok := LastTag(before+"<t>"+want+"</t>", "t"); ok && got != want && !regexp.MustCompile(`</?t>`).MatchString(want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestLastMatch(t *testing.T) {
	for _, c := range []struct{ expr, text, want string }{
		{`\d+`, "1 and 22", "22"}, {`#### (-?\d+)`, "#### 1\n#### -25", "-25"}, {`(a)|(b)`, "ab", none}, {`x`, "abc", none}, {`a*`, "b", ""}, {`(?i)answer: (.*)`, "Answer: no\nanswer: yes", "yes"},
	} {
		got, ok := LastMatch(regexp.MustCompile(c.expr), c.text)
		if !ok {
			got = none
		}
		if got != c.want {
			t.Errorf("%q in %q: got %q, want %q", c.expr, c.text, got, c.want)
		}
	}
}
