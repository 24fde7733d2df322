package local

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm/token"
	"github.com/seed-095d5d2b/whale/policy/chat"
)

// Renderer renders conversations by a chat template into the ids of a tokenizer, and reads sampled ids back. A reply that stands in the
// messages is spliced in as the ids that were sampled.
type Renderer struct {
	tok      *token.Tokenizer
	template *chat.Template
	options  chat.Options
	id       whale.ID
	controls map[string]int32 // control tokens and those markers that are tokens, by name
	hidden   map[int32]string // markers that the tokenizer leaves out of decoded text
	stops    []int32
}

// NewRenderer is the renderer of whale-tiny's template.
func NewRenderer(tok *token.Tokenizer) (*Renderer, error) {
	return NewTemplateRenderer(tok, chat.Whale(), chat.Options{}, nil)
}

// NewTemplateRenderer checks that the tokenizer has the template's control tokens. eos are ids that end a reply besides the template's own,
// as a model's generation_config.json lists them.
func NewTemplateRenderer(tok *token.Tokenizer, template *chat.Template, options chat.Options, eos []int32) (*Renderer, error) {
	if err := template.Check(options); err != nil {
		return nil, err
	}
	r := &Renderer{tok: tok, template: template, options: options, controls: map[string]int32{}, hidden: map[int32]string{}}
	for _, name := range template.Controls {
		id, ok := tok.Special(name)
		if !ok {
			return nil, fmt.Errorf("tokenizer: control token %s is missing, want all of %s, as the chat template %s has them",
				name, strings.Join(template.Controls, " "), template.Name)
		}
		r.controls[name] = id
	}
	for _, name := range template.Markers {
		if id, ok := tok.Named(name); ok {
			r.controls[name] = id
			if tok.IsSpecial(id) {
				r.hidden[id] = name
			}
		}
	}
	for _, name := range template.Stop {
		if id, ok := tok.Special(name); ok {
			r.stops = append(r.stops, id)
		}
	}
	own := len(r.stops)
	for _, id := range eos {
		if !slices.Contains(r.stops, id) {
			r.stops = append(r.stops, id)
		}
	}
	r.id = whale.HashOf("renderer", r.content(own))
	return r, nil
}

// content is what the renderer's identity is made of: for whale-tiny's template the name and the tokenizer, as it was when that was the
// only one, and more where there is more to say.
func (r *Renderer) content(own int) []string {
	parts := []string{r.template.ID(), r.tok.Hash()}
	if r.options.NoThinking {
		parts = append(parts, "no thinking")
	}
	if r.options.KeepReasoning {
		parts = append(parts, "keep reasoning")
	}
	if r.options.Date != "" {
		parts = append(parts, "date "+r.options.Date)
	}
	for _, id := range r.stops[own:] {
		parts = append(parts, fmt.Sprint("stop ", id))
	}
	return parts
}

// ID is the content hash of template, options and tokenizer.
func (r *Renderer) ID() whale.ID { return r.id }

// Template is the chat template.
func (r *Renderer) Template() *chat.Template { return r.template }

// PreservesPrefixes says whether a later prompt that only appends to an earlier one and its reply always extends them token for token, so
// that the calls of an episode make one training sequence.
func (r *Renderer) PreservesPrefixes() bool { return r.template.PreservesPrefixes(r.options) }

// StopIDs are the ids that end a reply.
func (r *Renderer) StopIDs() []int32 { return slices.Clone(r.stops) }

// Count is the number of tokens of a text.
func (r *Renderer) Count(text string) int { return len(r.tok.Encode(text)) }

// Clip is the longest prefix of at most that many whole tokens.
func (r *Renderer) Clip(text string, tokens int) string { return r.tok.Clip(text, tokens) }

// Render gives the prompt ids, which end where the assistant is to speak.
func (r *Renderer) Render(messages []whale.Message, tools []whale.ToolSpec, replies func(whale.ReplyRef) []int32) ([]int32, error) {
	described, err := chat.FromSpecs(tools)
	if err != nil {
		return nil, err
	}
	return r.render(chat.Conversation{Messages: chat.FromMessages(messages), Tools: described}, replies)
}

// RenderChat is Render for conversations without sampled replies that say more than a [whale.Message] can.
func (r *Renderer) RenderChat(c chat.Conversation) ([]int32, error) {
	return r.render(c, func(whale.ReplyRef) []int32 { return nil })
}

func (r *Renderer) render(c chat.Conversation, replies func(whale.ReplyRef) []int32) ([]int32, error) {
	for i, m := range c.Messages {
		if m.Reply != 0 && replies(m.Reply) == nil {
			return nil, fmt.Errorf("messages[%d]: reply %d: no such reply in this episode", i, m.Reply)
		}
	}
	segments, err := r.template.Render(c, r.options, true)
	if err != nil {
		return nil, err
	}
	var ids []int32
	var text strings.Builder // joined before it is tokenised: a token may span the edge of two pieces
	flush := func() {
		ids = append(ids, r.tok.Encode(text.String())...)
		text.Reset()
	}
	for _, s := range segments {
		switch id, isToken := r.controls[s.Control]; {
		case s.Reply != 0:
			flush()
			ids = r.splice(ids, s, replies(s.Reply))
		case s.Control == "":
			text.WriteString(s.Text)
		case isToken:
			flush()
			ids = append(ids, id)
		default: // a marker that this vocabulary has no token for
			text.WriteString(s.Control)
		}
	}
	flush()
	return ids, nil
}

// splice adds sampled ids. A reply that was cut off is closed by context, not by a sampled token.
func (r *Renderer) splice(ids []int32, s chat.Segment, sampled []int32) []int32 {
	if s.Drop != "" {
		sampled = r.afterMarker(sampled, s.Drop, s.Inside)
	}
	ids = append(ids, sampled...)
	if end := r.controls[s.End]; len(sampled) == 0 || sampled[len(sampled)-1] != end {
		ids = append(ids, end)
	}
	return ids
}

// afterMarker leaves out the ids through the last marker, and the line ends after it; what remains are sampled ids, not new ones. Where the
// marker ends inside a token, that token goes too. Without a marker all stays, or nothing where the reply began inside.
func (r *Renderer) afterMarker(sampled []int32, marker string, inside bool) []int32 {
	last := strings.LastIndex(r.text(sampled), marker)
	if last < 0 {
		if inside {
			return nil
		}
		return sampled
	}
	seen := 0
	for seen < last+len(marker) && len(sampled) > 0 {
		seen += len(r.text(sampled[:1]))
		sampled = sampled[1:]
	}
	for len(sampled) > 0 {
		piece := r.text(sampled[:1])
		if piece == "" || strings.Trim(piece, "\n") != "" {
			break
		}
		sampled = sampled[1:]
	}
	return sampled
}

// text decodes ids, with markers shown by name and control tokens left out.
func (r *Renderer) text(ids []int32) string {
	if len(r.hidden) == 0 {
		return r.tok.Decode(ids)
	}
	var b strings.Builder
	start := 0
	for i, id := range ids {
		if name, ok := r.hidden[id]; ok {
			b.WriteString(r.tok.Decode(ids[start:i]))
			b.WriteString(name)
			start = i + 1
		}
	}
	b.WriteString(r.tok.Decode(ids[start:]))
	return b.String()
}

// Parse gives the text after the reasoning, without control tokens, and the native tool calls in it. What is no whole, valid call stays text.
func (r *Renderer) Parse(ids []int32) (string, []whale.ToolCall) {
	p := r.ParseChat(ids)
	return p.Text, p.Calls
}

// ParseChat is Parse with the reasoning, and the text apart from the calls.
func (r *Renderer) ParseChat(ids []int32) chat.Parsed {
	return r.template.Parse(r.text(ids), r.options)
}
