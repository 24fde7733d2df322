// Package harness loads and checks harness programs.
//
// A harness is one file; its extension says in which language. [Load] and [New] give a program that runs ([whale.Harness]); [Check] says
// what is wrong with one, gate by gate, as findings that a person or a proposer can act on. Only Starlark (.star) is known so far: package
// star holds the contract, its standard library and their reference.
//
// The gates a program passes come in a fixed order, and a program is not looked at further by a gate that follows one it failed.
package harness
