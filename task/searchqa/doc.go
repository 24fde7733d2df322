// Package searchqa is the question answering domain (paper, section 2): questions that are answered by searching, a search tool, and a verifier that reads the last
// <answer> tag.
//
// Questions come from one of two sources:
//
//   - task/searchqa/world makes an encyclopedia of a world that does not exist, and one-hop and two-hop questions about it; its articles are searched in memory.
//   - files ([FileOptions]): JSONL, CSV or Parquet, such as the ones of verl (Natural Questions, HotpotQA, Bamboogle). How many questions of which file a
//     split has is configuration; no question is in two splits. Passages come from an index on disk or over HTTP.
//
// What searches is a [Retriever]: BM25 in memory or on disk (task/searchqa/bm25), or a client of the Search-R1 protocol (task/searchqa/retriever, which
// also serves it). [New] makes the task from a [Config]; close it.
//
// An episode has one tool, search. Query, number of passages and their length are the caller's choice, within limits. The verifier takes the content
// of the last <answer>…</answer> of the final reply and compares it with the references as SQuAD does (task/answer), or asks a judge (task/judge).
// Beside the reward it measures where an episode fails: whether a passage that was found holds a reference, whether the model was shown it, and whether it then gave it.
package searchqa
