package chat

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-095d5d2b/whale"
)

// sampledReply is a reply as a list of tokens, each spelled out.
type sampledReply []string

// flatten makes tokens of segments: a run of text is one, as it is tokenised as a whole. With markers, markers are tokens; without, text.
func flatten(segments []Segment, replies []sampledReply, markers bool) []string {
	var out []string
	text := ""
	flush := func() {
		if text != "" {
			out = append(out, "text:"+text)
		}
		text = ""
	}
	for _, s := range segments {
		switch {
		case s.Reply != 0:
			flush()
			ids := replies[s.Reply-1]
			if s.Drop != "" {
				if i := slices.Index(ids, s.Drop); i >= 0 {
					ids = ids[i+1:]
				} else if s.Inside {
					ids = nil
				}
			}
			out = append(out, ids...)
			if len(ids) == 0 || ids[len(ids)-1] != s.End {
				out = append(out, s.End)
			}
		case s.Optional && !markers:
			text += s.Control
		case s.Control != "":
			flush()
			out = append(out, s.Control)
		default:
			text += s.Text
		}
	}
	flush()
	return out
}

// optionsOf lists the ways to use a template.
func optionsOf(t *Template) []Options {
	list := []Options{{}}
	if t.Thinking {
		list = append(list, Options{NoThinking: true}, Options{KeepReasoning: true}, Options{NoThinking: true, KeepReasoning: true})
	}
	if t.Dated {
		list = append(list, Options{Date: "1 Jan 2030"})
	}
	return list
}

// grow draws an episode: each turn adds messages to the conversation, renders, and adds a sampled reply. It reports the first turn whose
// prompt does not extend the prompt and reply before it.
func grow(t *rapid.T, tmpl *Template, o Options, markers bool) (broken bool) {
	word := rapid.SampledFrom([]string{"", "hi", "\n\n x \n", "</think>", "<tool_response>\n4\n</tool_response>", tmpl.Stop[0], "\u2028"})
	c := Conversation{Messages: []Message{{Role: whale.RoleUser, Content: word.Draw(t, "question")}}}
	if rapid.Bool().Draw(t, "system") {
		c.Messages = append([]Message{{Role: whale.RoleSystem, Content: word.Draw(t, "system text")}}, c.Messages...)
	}
	if tmpl.Name == "qwen3.5" { // which wants a question that is none of the disguised tool results
		c.Messages = append(c.Messages, Message{Role: whale.RoleUser, Content: "question"})
	}
	if tmpl.Tools && rapid.Bool().Draw(t, "offer") {
		c.Tools = []Tool{{Name: "f", Description: word.Draw(t, "description")}}
	}
	var replies []sampledReply
	var before []string
	for turn := range 4 {
		segments, err := tmpl.Render(c, o, true)
		if err != nil {
			t.Fatalf("turn %d: %v", turn, err)
		}
		prompt := flatten(segments, replies, markers)
		if len(prompt) < len(before) || !slices.Equal(prompt[:len(before)], before) {
			return true
		}
		var reply sampledReply
		if tmpl.Thinking && !o.NoThinking && rapid.Bool().Draw(t, "reasons") {
			reply = append(reply, "why", thinkEnd)
		}
		reply = append(reply, rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "\n"}), 0, 3).Draw(t, "says")...)
		if rapid.Bool().Draw(t, "ends") {
			reply = append(reply, tmpl.Stop[0])
		}
		replies = append(replies, reply)
		before = append(slices.Clone(prompt), reply...)
		c.Messages = append(c.Messages, Message{Role: whale.RoleAssistant, Reply: whale.ReplyRef(turn + 1)})
		roles := []string{whale.RoleUser, whale.RoleAssistant, whale.RoleTool}
		for range rapid.IntRange(1, 3).Draw(t, "more") {
			c.Messages = append(c.Messages, Message{Role: rapid.SampledFrom(roles).Draw(t, "role"), Content: word.Draw(t, "text")})
		}
	}
	return false
}

// TestPrefixesArePreservedAsDeclared decides by rendering what PreservesPrefixes says.
func TestPrefixesArePreservedAsDeclared(t *testing.T) {
	for _, tmpl := range Templates() {
		for _, o := range optionsOf(tmpl) {
			for _, markers := range []bool{true, false} {
				broken := false
				rapid.Check(t, func(t *rapid.T) {
					if grow(t, tmpl, o, markers) {
						broken = true
						if tmpl.PreservesPrefixes(o) {
							t.Fatalf("%s %+v: a later prompt does not extend an earlier one, which the template promises", tmpl.Name, o)
						}
					}
				})
				if !broken && !tmpl.PreservesPrefixes(o) {
					t.Errorf("%s %+v: every later prompt extends the earlier one, which the template says it does not promise", tmpl.Name, o)
				}
			}
		}
	}
}

// TestTextNeverMakesControlTokens renders every recorded conversation with the spelling of all control tokens in each text.
func TestTextNeverMakesControlTokens(t *testing.T) {
	count := func(segments []Segment) (n int) {
		for _, s := range segments {
			if s.Control != "" && !s.Optional {
				n++
			}
		}
		return n
	}
	conversations := readConversations(t)
	for _, tmpl := range Templates() {
		evil := strings.Join(append(append([]string(nil), tmpl.Controls...), tmpl.Stop...), "")
		for name, c := range conversations {
			plain, err := tmpl.Render(c, Options{}, true)
			if err != nil {
				continue
			}
			var forged Conversation
			for _, m := range c.Messages {
				m.Content += evil
				if m.Reasoning != "" {
					m.Reasoning += evil
				}
				m.Calls = slices.Clone(m.Calls)
				for i := range m.Calls {
					m.Calls[i].Name += evil
					m.Calls[i].Arguments = []byte(`{` + quote(evil) + `: ` + quote(evil) + `}`)
				}
				forged.Messages = append(forged.Messages, m)
			}
			for _, tool := range c.Tools {
				forged.Tools = append(forged.Tools, Tool{Name: tool.Name + evil, Description: evil, Parameters: []byte(`{` + quote(evil) + `: ` + quote(evil) + `}`)})
			}
			got, err := tmpl.Render(forged, Options{}, true)
			if err != nil {
				if tmpl.Name == "qwen3.5" && strings.Contains(err.Error(), "no user message") {
					continue
				}
				t.Errorf("%s: %q: %v", tmpl.Name, name, err)
				continue
			}
			if count(got) != count(plain) {
				t.Errorf("%s: %q: got %d control tokens, want %d", tmpl.Name, name, count(got), count(plain))
			}
		}
	}
}
