// Package judge asks a language model whether an answer is right.
//
// Exact match is strict: "the 44th president" is not "Barack Obama". A judge reads question, references and answer and says CORRECT or
// INCORRECT. What it reads comes from the model that is being judged, so the answer is cut to a length and written as a JSON string: it cannot
// end its place in the prompt, and what stands in it is data, as the prompt says. Whatever the judge says beside the one word is no judgement.
//
// The endpoint is somebody else's and may fail. After its retries the judge falls back to exact match, and counts it: a failed judge is never a
// silent 0. An endpoint that fails time after time is left alone for a while. Judgements are cached by content: (model, prompt, limits) are the same question. Where exact match disagrees, that is counted too.
//
// Who is asked is the caller's business ([Asker]), at temperature 0.
package judge
