// Package harness loads and checks harness programs.
//
// A harness is one file; its extension says in which language. The rooms below it:
//
//   - star has the contract, its standard library and the interpreter of Starlark programs;
//   - process runs programs of every language in processes of their own, confined and bounded, over one protocol;
//   - audit looks for what a program holds of the examples it is to be measured on;
//   - compare says how two programs differ; scaffold has the program that a new author starts from;
//   - conformance is the suite that every language passes.
//
// The gates a program passes come in a fixed order, and a program is not looked at further by a gate that follows one it failed: [Check] and
// process.Runtime.New run the static ones, and [Findings] makes of their error what a person or a proposer can act on.
package harness
