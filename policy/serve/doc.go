// Package serve offers a policy over HTTP in the dialect of the OpenAI API, so that other tools can talk to a model that whale trained.
//
//	Model     what is served: a [whale.Policy], its tokenizer's raw text, a name
//	Server    the handler: routes, guards (key, host, load, body size), lifetime
//	request   a request's fields, read strictly: what is unknown or cannot be honoured is refused by an error that names it
//	Talker    renders conversations with tool calls and reasoning; a policy that is none gets what a [whale.Message] can say
//	run       one request under way: every choice is one Sample call of the policy, with its own seed
//	reply     what the sampled ids become: text cut at stop texts, tool calls, log-probabilities, chunks of a stream
//
// A request becomes a [whale.SampleRequest] for each choice; nothing is sampled but by the policy, and nothing is held between requests. The
// same request with the same seed gives the same text for the same weights.
//
//	POST /v1/chat/completions   messages through the policy's Renderer
//	POST /v1/completions        raw text or token ids
//	GET  /v1/models             the one model
//	GET  /healthz               200 while requests are taken
//
// Streams follow [Streamer] where the policy is one; [Embedded] is. Beyond OpenAI's fields, top_k, ignore_eos, stop_token_ids and
// return_token_ids have the meaning that vLLM gives them.
package serve
