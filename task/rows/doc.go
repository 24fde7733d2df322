// Package rows reads data files row by row: JSONL, CSV and Parquet, the first two also compressed (.gz, .zst).
//
// [Open] chooses the format by the file's name. [Reader.Next] gives one [Row] at a time, in memory that depends on the size of a row and not
// on that of the file; of Parquet, on the size of a page ([Options].PageBytes). A row's fields are found by path, whatever the format:
//
//	question                 a column of a CSV file, a key of a JSON object, a column of a Parquet file
//	extra_info.answer        inside an object or a group
//	prompt[0].content        in an element of a list
//
// # Bad rows
//
// A file is outside input. A row that cannot be read is skipped and counted, and a caller counts with [Reader.Bad] those that say nothing it can use.
// [Reader.Next] ends with an error instead of [io.EOF] when more than [Options].BadShare of all rows were bad; both name the first rows by file and number,
// and [Reader.Notes] tells of those that were tolerated. What leaves nothing to go on with (a broken compression, a damaged Parquet page, a quote
// that is never closed) is an error at once.
//
// A row's number counts from 1: lines of a JSONL file, empty ones included; records of a CSV file after its header; rows of a Parquet file.
package rows
