package organism

// The texts around problems. A model that has met many ways of asking is not thrown off by the next one.

// boxRequests ask for the answer's format.
var boxRequests = []string{
	`Put the final answer in \boxed{}.`,
	`Write the answer in \boxed{}.`,
	`Give the answer as \boxed{}.`,
	`Put your final answer in \boxed{}.`,
	`Finish with \boxed{}.`,
	`The final answer must be in \boxed{}.`,
	`End with the answer in \boxed{}.`,
}

// toolRequests ask for the tool.
var toolRequests = []string{
	"Use the calculator.",
	"Use the tool.",
	"Use the tool for every step.",
	"Use Python for the calculation.",
	"Write code in a python block.",
	"Call the tool before you answer.",
}

// manners ask for a way of working. They change nothing here.
var manners = []string{
	"You are a helpful assistant.",
	"You are an agent that solves problems.",
	"Think step by step.",
	"Solve the problem.",
	"Read the question carefully.",
	"Check your work.",
	"Be brief.",
	"Be careful.",
	"Answer the question.",
	"Do not guess.",
	"Work in small steps.",
	"Give only the final answer.",
	"Explain nothing.",
	"Take your time.",
	"Let's think about it.",
	"Do one step at a time.",
	"Stop when you are done.",
	"Use the result of the tool.",
	"State the final answer.",
	"Keep it short.",
}

// nudges remind the model in a later user turn.
var nudges = []string{
	`Put the final answer in \boxed{}.`,
	`You did not give the answer in \boxed{}.`,
	`Please give the final answer in \boxed{}.`,
	`There is no \boxed{} in your reply.`,
	`Write the final answer now.`,
	`Give the answer now.`,
	`Answer now, in \boxed{}.`,
	`Your reply has no \boxed{}.`,
	`Continue.`,
	`Please finish.`,
}

// resultForms are ways in which a harness reports a tool's result; %s is the result.
var resultForms = []string{"%s", "Output: %s", "Result: %s", "output:\n%s", "Result:\n%s", "The tool says: %s", "stdout: %s", "=> %s", "Output:\n%s"}

// errorTexts are ways in which a tool or a harness reports a mistake.
var errorTexts = []string{"line 1: got newline, want an expression", "error: line 1: syntax error", "line 1: unexpected end", "invalid syntax", "Error: not Python"}

// proseAnswers state an answer without the box; %s is the number.
var proseAnswers = []string{"The answer is %s.", "So the answer is %s.", "It is %s.", "That makes %s.", "The result is %s."}

// boxedAnswers state an answer in the box; %s is the number.
var boxedAnswers = []string{`\boxed{%s}`, `The answer is \boxed{%s}.`, `So the answer is \boxed{%s}.`}

// badCalls are calls that are not Python; %s and %s are numbers.
var badCalls = []string{"%s plus %s", "calculate %s and %s", "%s and %s = ?", "%s with %s"}

// rambles are sentences of thinking aloud; %s is a number of the problem, where there is one.
var rambles = []string{
	"Let me think about this.",
	"First, I read the question again.",
	"The question says %s.",
	"Hmm, wait.",
	"So we have %s here.",
	"I should be careful.",
	"Let me see what is asked.",
	"Is it %s or not?",
	"Maybe I should start again.",
	"There is the number %s.",
	"What does it mean?",
	"Let me think step by step.",
	"I am not sure about %s.",
	"Let me read it once more.",
	"OK, so %s is given.",
	"Now think about what comes next.",
	"But wait, maybe not.",
	"That is a good question.",
	"We need to find the answer.",
	"One more time.",
}
