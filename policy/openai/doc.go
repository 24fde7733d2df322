// Package openai is a client of OpenAI-compatible endpoints (vLLM, SGLang, llama.cpp, whale model serve, hosted ones): chat completions.
//
//	Client.Chat   one completion of a conversation
//	Client.Ask    the text of one reply to one prompt, at temperature 0
//
// Attempts have a deadline; what may work later (no connection, 408, 429, 5xx) is repeated after a pause that doubles, or the one that the server asks
// for. Replies are bounded. The key comes from the environment variable that the configuration names; it is sent to that endpoint and nowhere else, redirects are not
// followed, and no error holds it.
package openai
