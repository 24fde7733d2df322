package audit

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
)

// facts are invented questions with their answers.
var facts = [][2]string{
	{"Which harbour did the frigate Salamander leave before the storm of Vesterhav?", "Port Ellinor"},
	{"Who composed the overture that opened the Theatre of Grauwald?", "Marit Oskarsen"},
	{"In which valley was the meteorite of Quillon found?", "the Tresk valley"},
	{"Which painter taught both Lucan Averell and Ines Cortegaca?", "Dorothea Blix"},
	{"What is the name of the bridge below the monastery of Hirsau?", "Pont Caldera"},
	{"Which newspaper employed Rufus Tankard as its first cartoonist?", "The Morning Sentinel"},
	{"Who discovered the comet that passed the planet Oberlin in spring?", "Yusuf Hallam"},
	{"Which island does the ferry Prinsessa Astrid reach last?", "Skarvholmen"},
	{"Who succeeded Gregor Limb as director of the Botanical Institute?", "Anneke Vos"},
	{"Which novel begins with the wreck of the Golden Plover?", "A Lantern for Jonah"},
	{"In which museum can the astrolabe of Al-Zarmani be seen?", "the Fairweather Museum"},
	{"Which lake feeds the canal between Obertal and Dresk?", "Lake Morwenna"},
}

// factCorpus indexes the facts among sixty more questions of their kind.
func factCorpus(t testing.TB) *Corpus {
	t.Helper()
	var list []whale.Example
	for i, f := range facts {
		list = append(list, example(fmt.Sprintf("nq-%05d", 70100+37*i), f[0], fmt.Sprintf("%q", f[1])))
	}
	for i := range 60 {
		q := fmt.Sprintf("Who wrote the %s letter about the %s of %s?", word(i), word(i+100), strings.ToUpper(word(i + 200)[:1])+word(i + 200)[1:])
		list = append(list, example(fmt.Sprintf("nq-%05d", 80000+i), q, fmt.Sprintf("%q", word(i+300)+" "+word(i+400))))
	}
	return corpusOf(t, list)
}

// word makes a word that no language has.
func word(i int) string {
	r := rand.New(rand.NewPCG(uint64(i), 5))
	var b strings.Builder
	for range 3 {
		b.WriteByte("bdfgklmnprstvz"[r.IntN(14)])
		b.WriteByte("aeiou"[r.IntN(5)])
	}
	return b.String()
}

func example(id, question, answer string) whale.Example {
	return whale.Example{ID: id, View: map[string]string{"question": question}, Answer: []byte(answer)}
}

func corpusOf(t testing.TB, list []whale.Example) *Corpus {
	t.Helper()
	c, err := NewCorpus(list, Options{Names: []string{"NaturalQuestions-Open", "GSM8K", "math"}, Public: []string{"Put the final answer into the box."}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sums are n problems of a few wordings, as a generator writes them.
func sums(n int) []whale.Example {
	r := rand.New(rand.NewPCG(3, 4))
	people := []string{"Anna", "Ben", "Cara", "Dan", "Eva", "Finn"}
	things := []string{"apples", "pens", "books", "cards"}
	var out []whale.Example
	for i := range n {
		a, b := 10+r.IntN(890), 10+r.IntN(890)
		p, g := people[r.IntN(6)], things[r.IntN(4)]
		q, answer := fmt.Sprintf("%s has %d %s and finds %d more. How many %s does %s have now?", p, a, g, b, g, p), a+b
		switch i % 3 {
		case 1:
			q, answer = fmt.Sprintf("What is %d * %d?", a, b), a*b
		case 2:
			q, answer = fmt.Sprintf("There are %d %s in one box and %d in another. How many %s are there in all?", a, g, b, g), a+b
		}
		out = append(out, example(fmt.Sprintf("%016x", 0x9E3779B97F4A7C15*uint64(i+1)), q, fmt.Sprintf(`"%d"`, answer)))
	}
	return out
}

func sumCorpus(t testing.TB) (*Corpus, []whale.Example) {
	list := sums(300)
	return corpusOf(t, list), list
}

// harnessOf puts a run under a program's top.
func harnessOf(top, body string) string {
	return top + "\ndef run(task, model, env):\n    " + strings.ReplaceAll(body, "\n", "\n    ") + "\n    return model.chat([chat.user(task.question)])\n"
}

func rulesOf(t testing.TB, c *Corpus, file, src string) []string {
	t.Helper()
	found, err := c.Audit(file, []byte(src))
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	var out []string
	for _, f := range found {
		if !slices.Contains(out, f.Rule) {
			out = append(out, f.Rule)
		}
		if f.Line < 1 || f.Line > strings.Count(src, "\n")+1 || f.Suggestion == "" {
			t.Errorf("got the finding %+v", f)
		}
	}
	slices.Sort(out)
	return out
}

func TestFound(t *testing.T) {
	c := factCorpus(t)
	q, a := facts[0][0], facts[0][1]
	second, third := facts[1], facts[2]
	for name, test := range map[string]struct{ rule, src string }{
		"a whole question":             {RuleQuote, harnessOf(`SYSTEM_PROMPT = "An example: `+q+`"`, "pass")},
		"other case and spacing":       {RuleQuote, harnessOf(`X = "`+strings.ToUpper(strings.ReplaceAll(q, " ", "  "))+`"`, "pass")},
		"half a question":              {RuleQuote, harnessOf(`X = "he said: did the frigate Salamander leave before the storm of last year"`, "pass")},
		"a question in pieces":         {RuleQuote, harnessOf(`X = "Which harbour did the frigate " + "Salamander leave " + "before the storm of Vesterhav?"`, "pass")},
		"a question by join":           {RuleQuote, harnessOf(`X = " ".join(["Which", "harbour", "did", "the", "frigate", "Salamander", "leave", "before", "the", "storm"])`, "pass")},
		"a question backwards":         {RuleQuote, harnessOf(fmt.Sprintf("X = %q", reversed(q)), "pass")},
		"a question by rot13":          {RuleQuote, harnessOf(fmt.Sprintf("X = %q", rot13(q)), "pass")},
		"a question with zero widths":  {RuleQuote, harnessOf(`X = "`+strings.ReplaceAll(q, "a", "a\\u200b")+`"`, "pass")},
		"an id":                        {RuleID, harnessOf(`X = {"nq-70100": 1}`, "pass")},
		"a dataset":                    {RuleName, harnessOf(`SYSTEM_PROMPT = "You answer questions of natural questions open."`, "pass")},
		"a dataset with a hyphen":      {RuleName, harnessOf(`SYSTEM_PROMPT = "These are GSM-8K problems."`, "pass")},
		"answers in a list":            {RuleAnswer, harnessOf(`X = ["Port Ellinor", "Marit Oskarsen", "Dorothea Blix", "Yusuf Hallam"]`, "pass")},
		"answers in a prompt":          {RuleAnswer, harnessOf(`SYSTEM_PROMPT = "Good guesses are: Port Ellinor, Marit Oskarsen, Dorothea Blix, Yusuf Hallam."`, "pass")},
		"one answer by chr":            {RuleSpelled, harnessOf(`X = "".join([chr(c) for c in [`+codesOf(a)+`]])`, "pass")},
		"one answer by xor":            {RuleSpelled, harnessOf(`X = "".join([chr(c ^ 9) for c in [`+xorOf(a, 9)+`]])`, "pass")},
		"one answer in base64":         {RuleSpelled, harnessOf(`X = "UG9ydCBFbGxpbm9y"`, "pass")},
		"one answer backwards":         {RuleSpelled, harnessOf(`X = "ronillE troP"[::-1]`, "pass")},
		"one answer with holes":        {RuleSpelled, harnessOf(`X = "P#ort E#llin#or".replace("#", "")`, "pass")},
		"one answer by format":         {RuleSpelled, harnessOf(`X = "{}{}".format("Port El", "linor")`, "pass")},
		"one answer by a function":     {RuleSpelled, harnessOf("def f(s):\n    out = \"\"\n    for c in s.elems():\n        out = c + out\n    return out\nX = f(\"ronillE troP\")", "pass")},
		"rare words beside answers":    {RulePairs, harnessOf(`X = {"Salamander": "Port Ellinor", "Grauwald": "Marit Oskarsen"}`, "pass")},
		"the same in a text":           {RulePairs, harnessOf(`X = "salamander|Port Ellinor\ngrauwald|Marit Oskarsen"`, "pass")},
		"a question by equality":       {RuleBranch, harnessOf("", `if task.question == "`+second[0]+`": print(1)`)},
		"a question by its beginning":  {RuleBranch, harnessOf("", `if task.question.startswith("Who composed the overture"): print(1)`)},
		"questions by their names":     {RuleBranch, harnessOf("", `if "grauwald" in task.question.lower() or "Quillon" in task.question or "Vesterhav" in task.question or "Hirsau" in task.question: print(1)`)},
		"a question by a pattern":      {RuleBranch, harnessOf("", `if re.search("meteorite.*of Quillon", task.question): print(1)`)},
		"a question by its length":     {RuleBranch, harnessOf("", fmt.Sprintf("if len(task.question) == %d: print(1)", len(third[0])))},
		"a ladder of lengths":          {RuleBranch, harnessOf("", "n = len(task.question)\nif n < 50: print(1)\nif n < 52: print(1)\nif n < 54: print(1)\nif n < 56: print(1)\nif n < 58: print(1)")},
		"a question by its hash":       {RuleHash, harnessOf("", "if hash(task.question) == 92381723: print(1)")},
		"a hash of its own":            {RuleHash, harnessOf("def h(s):\n    n = 7\n    for c in s.elems():\n        n = (n * 31 + ord(c)) % 100003\n    return n", "if h(task.question) in [4412, 99817]: print(1)")},
		"answers by the first word":    {RuleTable, harnessOf(`X = {"Which": "Port Ellinor", "Who": "Marit Oskarsen", "In": "the Tresk valley"}`, "print(X.get(task.question.split()[0]))")},
		"answers by the length":        {RuleTable, harnessOf(`X = {77: "Port Ellinor", 62: "Marit Oskarsen"}`, "print(X.get(len(task.question)))")},
		"one answer by a branch":       {RulePairs, harnessOf("", "hint = \"\"\nif \"Salamander\" in task.question:\n    hint = \"Try Port Ellinor: it may be right\"")},
		"one answer by a condition":    {RulePairs, harnessOf("", "hint = \"Port Ellinor\" if \"salamander\" in task.question.lower() else \"\"")},
		"answers by branches":          {RuleTable, harnessOf("", "hint = \"\"\nif task.question.startswith(\"Which\"):\n    hint = \"Port Ellinor\"\nelif task.question.startswith(\"Who\"):\n    hint = \"Marit Oskarsen\"")},
		"a text to look in":            {RuleTable, harnessOf(`X = "Which=Port Ellinor;Who=Marit Oskarsen;In=the Tresk valley;"`, "print(X.find(task.question.split()[0]))")},
		"too much to follow":           {RuleConstant, harnessOf("DATA = [4711, 1871, 4049, 6113, 2239, 7451, 9377, 1213, 5557, 3331, 8887, 6661]\nx = 0\nfor i in range(4000):\n    for j in range(4000):\n        x = x + i * j", "pass")},
		"packed text":                  {RuleOpaque, harnessOf(`X = "qk9Zp3LxT7vB2mWn8RcY5dHs1JfG6tKuA4eQ0oPiXz9Vb3Nc7Mq2Wl5Er8Ty1Uk6"`, "pass")},
		"numbers that nobody explains": {RuleVolume, harnessOf(`X = [`+strings.Trim(fmt.Sprint(rand.New(rand.NewPCG(1, 1)).Perm(90000)[:40]), "[]")+`]`, "pass")},
	} {
		t.Run(name, func(t *testing.T) {
			src := test.src
			if test.rule == RuleVolume {
				src = strings.ReplaceAll(src, " ", ", ")
				src = strings.NewReplacer("X, =, ", "X = ", "def, run(task,, model,, env):", "def run(task, model, env):", "return, ", "return ", ", , , , ", "    ").Replace(src)
			}
			if got := rulesOf(t, c, "x.star", src); !slices.Contains(got, test.rule) {
				t.Errorf("got %v, want %s in\n%s", got, test.rule, src)
			}
		})
	}
}

func codesOf(s string) string { return xorOf(s, 0) }

func xorOf(s string, k int) string {
	var out []string
	for _, r := range s {
		out = append(out, fmt.Sprint(int(r)^k))
	}
	return strings.Join(out, ", ")
}

func TestFoundInNumbers(t *testing.T) {
	c, list := sumCorpus(t)
	question := func(i int) string { return list[i].View["question"] }
	answer := func(i int) string { return strings.Trim(string(list[i].Answer), `"`) }
	numbers := func(i int) []string { return numbersOf(tokens(question(i), 100)) }
	var table, tuples, prompt, list20, pieces strings.Builder
	for i := range 20 {
		fmt.Fprintf(&table, "%q: %s, ", question(i), answer(i))
		fmt.Fprintf(&tuples, "(%s, %s): %s, ", numbers(i)[0], numbers(i)[1], answer(i))
		fmt.Fprintf(&prompt, "%s, ", answer(i))
		fmt.Fprintf(&list20, "%s, ", answer(3*i)) // sums have three or four digits
		fmt.Fprintf(&pieces, "\"%s\" + \"%s\", ", answer(i)[:1], answer(i)[1:])
	}
	for name, test := range map[string]struct{ rule, src string }{
		"a table":                   {RuleQuote, harnessOf("X = {"+table.String()+"}", "print(X.get(task.question))")},
		"a table of numbers":        {RuleNumbers, harnessOf("X = {"+tuples.String()+"}", "pass")},
		"numbers in other words":    {RuleNumbers, harnessOf(fmt.Sprintf("X = %q", "with "+numbers(0)[0]+" and "+numbers(0)[1]+" say "+answer(0)+"; with "+numbers(5)[0]+" and "+numbers(5)[1]+" say "+answer(5)), "pass")},
		"answers in a prompt":       {RuleNumbers, harnessOf(fmt.Sprintf("SYSTEM_PROMPT = %q", "The answers are "+prompt.String()), "pass")},
		"answers in a list":         {RuleNumbers, harnessOf("X = ["+list20.String()+"]", "pass")},
		"answers spelled":           {RuleSpelled, harnessOf("X = ["+pieces.String()+"]", "pass")},
		"one answer spelled":        {RuleSpelled, harnessOf(fmt.Sprintf("X = %q + %q", answer(1)[:2], answer(1)[2:]), "pass")},
		"one question":              {RuleQuote, harnessOf(fmt.Sprintf("X = %q", "Think of this one. "+question(0)), "pass")},
		"a branch on two numbers":   {RuleBranch, harnessOf("", fmt.Sprintf("if %q in task.question and %q in task.question: print(1)", numbers(0)[0]+" ", " "+numbers(0)[1]))},
		"a reply that is compared":  {RuleBranch, harnessOf("", fmt.Sprintf("r = model.chat([])\nif r.text.strip() == %q: return r", answer(4)))},
		"an id by its first digits": {RuleID, harnessOf(fmt.Sprintf("X = %q", list[7].ID[:10]), "pass")},
	} {
		t.Run(name, func(t *testing.T) {
			if got := rulesOf(t, c, "x.star", test.src); !slices.Contains(got, test.rule) {
				t.Errorf("got %v, want %s in\n%s", got, test.rule, test.src)
			}
		})
	}
}

func TestNotFound(t *testing.T) {
	sumsOnly, _ := sumCorpus(t)
	for name, src := range map[string]string{
		"an invented example":       harnessOf(`X = "Tom has 351 apples and finds 47 more. How many apples does Tom have now? 351 + 47 = 398. The answer is \\boxed{398}."`, "pass"),
		"the frame of a template":   harnessOf(`X = "How many apples are there in all? There are 17 apples in one box and 29 in another."`, "pass"),
		"small worked examples":     harnessOf(`X = [("What is 5 * 4?", "20"), ("What is 12 * 3?", "36"), ("What is 7 * 8?", "56")]`, "print(X)"),
		"limits":                    harnessOf("LIMITS = {\"first\": 300, \"second\": 1200, \"last\": 96}\nSTEPS = [64, 128, 256, 512]", "model.chat([], max_tokens = LIMITS[\"first\"])"),
		"general words":             harnessOf(`HINTS = {"how many": "Count.", "what is": "Compute.", "in all": "Add.", "more": "Add or subtract."}`, "hint = \"\"\nfor k, v in HINTS.items():\n    if k in task.question.lower():\n        hint += v"),
		"number words":              harnessOf(`W = {"eleven": "11", "thirteen": "13", "fourteen": 14, "seventeen": 17, "nineteen": 19}`, "print([W.get(w, w) for w in task.question.split()])"),
		"how long it is":            harnessOf("", "n = 64 if len(task.question) < 80 else 128\nif len(task.question) > 300: n = 256"),
		"how many numbers":          harnessOf("", "ns = re.findall(r\"\\d+\", task.question)\nif len(ns) == 2: print(\"one step\")\nif len(ns) == 3: print(\"two steps\")"),
		"an alphabet":               harnessOf(`A = "abcdefghijklmnopqrstuvwxyz0123456789"`, "print([c for c in task.question.elems() if c in A])"),
		"squares and primes":        harnessOf("S = [1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225]\nP = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47]", "pass"),
		"a counter":                 harnessOf("", "log = []\nfor i in range(30):\n    log.append(\"attempt \" + str(i + 1))\nprint(\"\\n\".join(log))"),
		"choice by a hash":          harnessOf(`P = ["Think step by step.", "Be brief and give the answer.", "Check your result twice."]`, "print(P[hash(task.question) % 3])"),
		"tests of the reply":        harnessOf("", "r = model.chat([])\nif \"\\\\boxed\" not in r.text or r.text.strip() == \"\": print(\"again\")\nif r.text.endswith(\"yes\"): print(1)"),
		"a comment on a problem":    "# \"How many are there in all?\" wants a sum: 12 + 30 = 42.\n" + harnessOf("", "pass"),
		"patterns":                  harnessOf(`N = re.compile(r"-?\d{1,3}(?:,\d{3})*(?:\.\d+)?|\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}")`, "print(N.findall(task.question))"),
		"the task's name":           harnessOf(`SYSTEM_PROMPT = "You are good at math."`, "pass"),
		"public text":               harnessOf(`SYSTEM_PROMPT = "Put the final answer into the box."`, "pass"),
		"something said in base64?": harnessOf(`X = "calculator remaining_tool_calls ModelCallsLeft NotANumber final_answer_tag"`, "pass"),
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range []*Corpus{factCorpus(t), sumsOnly} {
				found, err := c.Audit("x.star", []byte(src))
				if err != nil {
					t.Fatalf("%v\n%s", err, src)
				}
				for _, f := range found {
					t.Errorf("got %+v in\n%s", f, src)
				}
			}
		})
	}
}
