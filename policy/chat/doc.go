// Package chat renders conversations as the model families were trained to read them, and reads what such a model answers.
//
//	Conversation ──Template.Render──▶ []Segment ──(a renderer with a tokenizer)──▶ token ids
//	text of sampled ids ──Template.Parse──▶ Parsed: text, reasoning, tool calls
//
// A [Template] is the native twin of a Jinja chat template that a family ships: it is chosen by the fingerprint of that Jinja text
// ([Identify]) or by name ([ByName]), never guessed. What the twins give is compared with recorded renderings of the originals
// (testdata/record.py).
//
// A [Segment] is a control token by name, plain text, or a sampled reply by reference. Two things follow. Text from outside (messages,
// tool descriptions, tool results) is always plain text, so that it cannot forge a control token, whatever it spells. And a reply that
// stands in the conversation is spliced in as the ids that were sampled, never as text that is tokenised again.
//
// # Prefixes
//
// Training merges the calls of an episode into one sequence where each later prompt extends the earlier prompt and completion, token for
// token. [Template.PreservesPrefixes] says whether a template promises that for a conversation that only grows. Most do. Qwen3 and
// Qwen3.5 drop the reasoning of turns before the latest user message, so they do not, unless [Options].KeepReasoning asks for whole replies.
package chat
