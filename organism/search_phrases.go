package organism

// The texts around questions and passages.

// passageForm is how a harness shows passages: number, title, text.
type passageForm struct{ one, between, dots string }

var passageForms = []passageForm{
	{one: "%[2]s: %[3]s", between: "\n"}, // what the search tool says
	{one: "%[2]s: %[3]s", between: "\n"},
	{one: "%[2]s: %[3]s", between: "\n", dots: "..."},
	{one: "%[2]s: %[3]s", between: "\n\n"},
	{one: "[%[1]d] %[2]s: %[3]s", between: "\n", dots: "…"},
	{one: "%[1]d. %[2]s: %[3]s", between: "\n"},
	{one: "\"%[2]s\"\n%[3]s", between: "\n", dots: "..."},
	{one: "Doc %[1]d(Title: %[2]s) %[3]s", between: "\n"},
	{one: "- %[2]s: %[3]s", between: "\n"},
	{one: "%[2]s\n%[3]s", between: "\n\n"},
}

var headings = []string{"Results:\n", "Search results:\n", "Passages:\n", "Found: ", "Context:\n", "information:\n"}

// searchRequests ask for a search.
var searchRequests = []string{
	"Search with <search>query</search>.",
	"Use <search>query</search> to search.",
	"You can search with <search>your query</search>.",
	"To search, write <search>query</search>.",
	"You may search: <search>query</search>.",
	"Search before you answer.",
	"Search for one name at a time.",
	"Write a short query.",
	"If the passages do not help, search again.",
}

// tagRequests ask for the answer's format.
var tagRequests = []string{
	"Put the answer in <answer></answer>.",
	"Give the answer in <answer>answer</answer>.",
	"Answer with <answer>your answer</answer>.",
	"Write the answer as <answer>answer</answer>.",
	"Put the final answer between <answer> and </answer>.",
	"Finish with <answer>answer</answer>.",
	"Answer inside <answer> tags.",
}

var afterSearch = []string{"Now answer.", "Search again or answer.", "Answer, or search again.", "Read the passages.", "Use the passages to answer."}

// searchNudges remind of the search in a later user turn.
var searchNudges = []string{
	"Search first.",
	"Please search first: <search>query</search>.",
	"You did not search.",
	"Write <search>query</search>.",
	"Do not guess. Search.",
	"Use <search>query</search> before you answer.",
	"Continue.",
	"Please search now.",
}

// tagNudges remind of the tag.
var tagNudges = []string{
	"Put the answer in <answer></answer>.",
	"There is no <answer> in your reply.",
	"Give the final answer in <answer> tags.",
	"Write <answer>your answer</answer>.",
	"Answer now, in <answer></answer>.",
	"You forgot the <answer> tag.",
	"Give the answer now.",
	"Please finish.",
}

// taggedAnswers and searches hold the answer or the query as %s.
var (
	taggedAnswers = []string{"<answer>%s</answer>", "<answer>%s</answer>", "The answer is <answer>%s</answer>."}
	searches      = []string{"<search>%s</search>", "<search>%s</search>", "<search>%s</search>", "Let me search. <search>%s</search>"}
)
