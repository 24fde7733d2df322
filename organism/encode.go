package organism

import (
	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/token"
	"github.com/seed-095d5d2b/whale/policy/local"
)

// encode makes training data of a transcript, token for token as the renderer shows it to the model. What the assistant speaks has weight
// 1, the rest contextWeight; an open turn's end is never a target.
func encode(t Transcript, tok *token.Tokenizer, contextWeight float32, limit int) lm.Sequence {
	special := func(name string) int32 {
		id, ok := tok.Special(name)
		if !ok {
			panic("organism: control token " + name + " is missing") // the tokenizer is trained with all of them
		}
		return id
	}
	roles := map[string]int32{
		whale.RoleSystem: special(local.TokenSystem), whale.RoleUser: special(local.TokenUser),
		whale.RoleAssistant: special(local.TokenAssistant), whale.RoleTool: special(local.TokenTool),
	}
	end := special(local.TokenEnd)
	var s lm.Sequence
	add := func(w float32, ids ...int32) {
		for _, id := range ids {
			s.Tokens = append(s.Tokens, id)
			s.Weights = append(s.Weights, w)
		}
	}
	for i, turn := range t {
		w := contextWeight
		add(w, roles[turn.Role])
		if turn.Role == whale.RoleAssistant {
			w = 1
		}
		add(w, tok.Encode(turn.Text)...)
		switch {
		case !turn.Open:
			add(w, end)
		case i+1 < len(t):
			add(0, end) // the harness cut it off
		}
	}
	if len(s.Tokens) > limit {
		s.Tokens, s.Weights = s.Tokens[:limit], s.Weights[:limit]
	}
	s.Weights[0] = 0
	return s
}
