// Package custom makes a task of a folder that somebody else wrote.
//
// The folder holds task.yaml (a [Manifest]: where the data is, what the agent sees of a row, which fields are reference answers, the verifier, tools,
// limits), a first harness and whatever files the manifest names. [New] reads it and gives a [Task].
//
// # Data
//
// Files are JSONL, CSV or Parquet (package rows), one list a split, or one list that is divided by a seeded hash of what the agent sees, so that no
// example is in two splits. Examples are the same if their views are the same after [task.Normalize]: a repetition within a split is dropped, one across splits is an
// error. An example is known by its id field, or by the hash of its view.
//
// # Verifiers
//
// exact, normalised and numeric compare the final reply; boxed, tag and regex look in it for the answer first; json_schema, judge and command
// judge it by other means (see [VerifierConfig]).
//
// # Tools
//
// A built-in tool (given by the caller, [Deps]), a command, an HTTP endpoint, or the tools of an MCP server (see [ToolConfig]). What a call may cost is in [Limits].
// A mistake of the agent comes back to it as the tool's error; a tool that hangs or dies over a call is a [whale.Incident]; a server that cannot be
// reached is the infrastructure's error.
//
// # Identity
//
// [Task.ID] hashes the examples, the manifest, the bytes of the files in the folder that commands name (or list under files), the schema, and the tool
// list of every MCP server. It does not cover what lies elsewhere: installed programs and their libraries, servers, the model of a judge. Who changes one of those
// changes the task without its knowing.
package custom
