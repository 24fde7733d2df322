// Package retriever speaks the protocol of Search-R1's retrieval server, as client and as server:
//
//	POST /retrieve  {"queries": ["…"], "topk": 3, "return_scores": true}
//	→ {"result": [[{"document": {"id": "…", "contents": "\"title\"\ntext"}, "score": 0.7}, …], …]}
//
// A [Client] spreads queries over several endpoints. An attempt has a deadline; a failed one is repeated at another endpoint after a pause; an endpoint that
// fails several times in a row is left alone for a while. Whatever a server sends is bounded and checked.
//
// A [Server] answers from an index. Bodies, queries and searches at a time are bounded; it ends when its context does, after the requests that it has begun.
package retriever
