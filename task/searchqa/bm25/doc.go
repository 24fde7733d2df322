// Package bm25 finds passages by BM25, on the segments of bleve (github.com/blevesearch/bleve/v2): in memory for a few thousand passages, on disk for a Wikipedia.
//
//	New            an index in memory of a list of passages
//	Build          an index on disk of a stream of passages, complete or absent
//	Open           an index on disk, for reading
//	Index.Search   the best passages of a query
//
// The same passages, query and k give the same result in the same order, on every machine of an architecture and under any load: a score is the sum of
// the terms' BM25 scores in the order of the terms, and passages of equal score stand in the order in which they were
// indexed.
//
// Of bleve only the index layer (scorch) and the analysis are used, and the scores are our own: its top package starts goroutines when it is imported, and its BM25 takes
// the root of a term's frequency, takes the number of distinct terms for the length of all passages, and weighs scores by the share of matched terms.
package bm25
