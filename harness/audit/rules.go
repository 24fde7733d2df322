package audit

// The names of the rules.
const (
	RuleQuote    = "quote"    // text of a question
	RuleNumbers  = "numbers"  // numbers of questions, or of answers
	RuleAnswer   = "answer"   // texts that are answers
	RuleSpelled  = "spelled"  // answers made of pieces
	RuleID       = "id"       // ids of examples
	RuleName     = "name"     // names of datasets
	RulePairs    = "pairs"    // words of questions beside their answers
	RuleTable    = "table"    // looking up what the task says in a table
	RuleBranch   = "branch"   // branches that single out examples
	RuleHash     = "hash"     // numbers made of a text
	RuleVolume   = "volume"   // more data than a harness needs
	RuleOpaque   = "opaque"   // text that nobody can read
	RuleConstant = "constant" // too much computed from constants
)

// Rule is a rule of the audit.
type Rule struct {
	Name       string `json:"name"`
	About      string `json:"about"`      // one line: what it finds
	Suggestion string `json:"suggestion"` // one line: what to do instead
}

// Rules lists the rules, in the order of the documentation.
func Rules() []Rule {
	return []Rule{
		{RuleQuote, "a text holds a question of an example, or a long piece of one that other examples do not share", "write an example of your own, with other words and numbers"},
		{RuleNumbers, "constants repeat the numbers of questions, or are answers of examples, more often than by chance", "leave the numbers out; a worked example needs numbers of its own"},
		{RuleAnswer, "constants hold several texts that are answers of examples", "leave the answers to the model"},
		{RuleSpelled, "an answer of an example is put together from pieces, characters or codes", "leave the answers to the model"},
		{RuleID, "a text holds the id of an example", "leave it out: a harness treats all examples alike"},
		{RuleName, "a text holds the name of a dataset or of its source", "describe the kind of problem instead"},
		{RulePairs, "a text or table puts words of questions beside the answers of those questions", "leave the answers to the model"},
		{RuleTable, "the task's or the model's text is looked up in a table of constants that single out examples or give answers", "keep tables to general words, and let the model answer"},
		{RuleBranch, "branches on the task's text single out few examples, or test it for equality or exact length", "branch on what many examples share, or let the model decide"},
		{RuleHash, "a number computed from a text (a hash, a sum of character codes) is compared with constants or selects one of them", "a harness has no need to recognise a text by its hash"},
		{RuleVolume, "a program's tables hold more numbers or short texts than a harness needs", "keep the data that the mechanism needs"},
		{RuleOpaque, "a text is neither words nor a pattern: encoded or packed data", "write texts so that they can be read"},
		{RuleConstant, "a program computes more from constants than the audit follows", "write constants as they are"},
	}
}

func suggestion(rule string) string {
	for _, r := range Rules() {
		if r.Name == rule {
			return r.Suggestion
		}
	}
	return ""
}
