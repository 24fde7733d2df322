package local

import (
	"github.com/seed-095d5d2b/whale/policy/chat"
)

// The control tokens of whale-tiny's chat template. Text can never contain them: the tokenizer reads specials in text as plain bytes.
const (
	TokenEnd       = chat.TokenEnd
	TokenSystem    = chat.TokenSystem
	TokenUser      = chat.TokenUser
	TokenAssistant = chat.TokenAssistant
	TokenTool      = chat.TokenTool
)

// TemplateName is the name and version of whale-tiny's chat template.
const TemplateName = "whale-chat/1"

// Specials lists the control tokens that a tokenizer must have for whale-tiny's template, in the order of their ids.
func Specials() []string { return chat.WhaleControls() }
