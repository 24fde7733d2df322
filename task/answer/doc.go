// Package answer finds the answer in a reply and compares it with a reference.
//
// # Finding
//
//   - [LastBox]: the content of the last \boxed{…}, or of other commands such as \fbox; [Tail] bounds where it may be.
//   - [LastTag]: what stands between the last <answer> and its </answer>.
//   - [LastMatch]: the last match of a regular expression.
//
// # Comparing
//
//   - [Canonical]: strings, with integers in one form ("025" is "25"); as DAPO's verifier compares.
//   - [Squad] and [ExactMatch]: as the SQuAD evaluation script does, against any of several references.
//   - [Numeric]: as numbers, exactly (rational numbers, never floating point), however they are written: 1/2, \frac12, 0.50, 50\%, 1{,}000,
//     2.5 million, 6.02 \times 10^{23}, 12 cm, x = 5. What is no number is compared as text without the ways of writing it ([Plain]).
//
// All of it works on text that nobody vouches for: it is linear in the text or bounded, and never panics.
package answer
