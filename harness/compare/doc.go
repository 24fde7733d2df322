// Package compare says how two harness programs differ, in the terms of a harness: prompts, functions, constants.
//
// [Compare] makes a [Diff] of two [Source]s. Starlark programs are compared by their syntax trees (package star's outline), statement of
// the top level by statement:
//
//	source ──star.Parse──▶ units (prompt, function, constant, other) ──pair by name──▶ Diff ──▶ Text, JSON
//
// A prompt is compared word by word, a function line by line, a constant by its value. A function that is there under another name with
// the same body is renamed; statements whose order alone has changed are moved; where trees are equal, what differs is a comment or the
// formatting, and the Diff says so.
//
// For Python and JavaScript there is no parser here: such programs get a line diff of the whole file, and a list of functions that a scan
// for their headers found. The Diff says that, too.
package compare
