package chat

import (
	"fmt"
	"strconv"

	"github.com/seed-095d5d2b/whale"
)

// Template is the native twin of a family's chat template.
type Template struct {
	Name         string   // as a config names it
	Revision     int      // of this twin; a change of what it renders raises it
	Serves       string   // the models it is for, in words
	Fingerprints []string // of the Jinja texts it stands for

	Controls []string // control tokens that a vocabulary must have, by name
	Markers  []string // markers that are a token of their own in some vocabularies, and plain text in others
	Stop     []string // control tokens that end a turn; the first closes a reply that was cut off, the others need not exist

	Tools    bool // tools can be offered, and calls rendered
	Thinking bool // there is reasoning: it can be switched off, and that of earlier turns is dropped
	Dated    bool // tells the model a date

	render func(*builder, Conversation, Options) error
	prompt func(*builder, Options) // where the assistant is to speak
	parse  func(string, Options) Parsed
}

// Parsed is what a reply says.
type Parsed struct {
	Text      string // all of it after the reasoning, tool calls included
	Content   string // Text without the tool calls
	Reasoning string
	Calls     []whale.ToolCall
}

// ID is the template's name and revision, for content identities.
func (t *Template) ID() string { return t.Name + "/" + strconv.Itoa(t.Revision) }

// Check refuses an option that the template does not have.
func (t *Template) Check(o Options) error {
	switch {
	case o.NoThinking && !t.Thinking:
		return fmt.Errorf("chat template %s: thinking: got off, want nothing: the template has no reasoning to switch off", t.Name)
	case o.KeepReasoning && !t.Thinking:
		return fmt.Errorf("chat template %s: keep_reasoning: got true, want nothing: the template never drops reasoning", t.Name)
	case o.Date != "" && !t.Dated:
		return fmt.Errorf("chat template %s: date: got %.40q, want nothing: the template tells no date", t.Name, o.Date)
	}
	return nil
}

// PreservesPrefixes says whether the prompt after a reply and further messages always extends the prompt and completion before, token for
// token. It is declared; a property test holds the rendering to it.
func (t *Template) PreservesPrefixes(o Options) bool { return !t.Thinking || o.KeepReasoning }

// Render gives the conversation as segments, with open followed by the words after which the assistant is to speak. Errors name the
// message; a template that has no words for something (tools, a role) refuses it.
func (t *Template) Render(c Conversation, o Options, open bool) ([]Segment, error) {
	if err := t.Check(o); err != nil {
		return nil, err
	}
	if len(c.Tools) > 0 && !t.Tools {
		return nil, fmt.Errorf("tools: got %d, want none: the chat template %s cannot offer tools; describe them in a message", len(c.Tools), t.Name)
	}
	for i, m := range c.Messages {
		switch {
		case m.Reply != 0:
		case m.Role != whale.RoleSystem && m.Role != whale.RoleUser && m.Role != whale.RoleAssistant && m.Role != whale.RoleTool:
			return nil, fmt.Errorf("messages[%d]: role: got %.60q, want system, user, assistant or tool", i, m.Role)
		case (len(m.Calls) > 0 || m.Reasoning != "") && m.Role != whale.RoleAssistant:
			return nil, fmt.Errorf("messages[%d]: got tool calls or reasoning in a %s message, want them in an assistant message", i, m.Role)
		case len(m.Calls) > 0 && !t.Tools:
			return nil, fmt.Errorf("messages[%d]: got tool calls, want none: the chat template %s has no tools", i, t.Name)
		case m.Reasoning != "" && !t.Thinking:
			return nil, fmt.Errorf("messages[%d]: got reasoning, want none: the chat template %s has no place for it", i, t.Name)
		}
	}
	b := t.builder()
	if err := t.render(b, c, o); err != nil {
		return nil, err
	}
	if open {
		t.prompt(b, o)
	}
	return b.segments, nil
}

// Parse reads a reply's text: its ids decoded, control tokens left out and markers spelled by name. Whatever is not a whole, valid tool
// call stays text. The options are those of the prompt.
func (t *Template) Parse(text string, o Options) Parsed { return t.parse(text, o) }
