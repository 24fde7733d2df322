// Command whaledocs writes what the documentation says about the code from the code itself.
//
//	go run ./cmd/whaledocs            rewrites generated pages and blocks
//	go run ./cmd/whaledocs -measure   also reruns the commands behind the measured blocks (minutes); with -control DIR beside it, the
//	                                  model card has a row of the control model, and with -page PAGE only that page's blocks are measured
//
// A page is a whole file (docs/contract.md, docs/cli.md, docs/config.md, …). A block is a part of a page that people wrote, between the
// comments <!-- begin NAME --> and <!-- end NAME -->. Measured blocks hold the output of commands, with the commit, the machine and the
// inputs' hashes; they are rewritten only by -measure, and a test says when their inputs are no longer the ones that were measured.
//
// Tests of this package fail where a page or a block is not current, where a link leads nowhere, and where a command that the
// documentation shows does not parse.
package main
