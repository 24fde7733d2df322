package star

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.starlark.net/syntax"
)

// Advice for the mistakes that authors make who know Python better than Starlark, language models first among them. The parser stops at
// the first error and speaks of tokens; the tables here look at what stands there and say what to write instead.

// keywordAdvice is for Python's statements and operators that Starlark reserves and does not have.
var keywordAdvice = map[string]string{
	"try":      "starlark has no try/except: env.call returns errors in result.error, and json.decode takes a default",
	"except":   "starlark has no try/except: env.call returns errors in result.error, and json.decode takes a default",
	"finally":  "starlark has no try/finally: there is nothing to close",
	"raise":    "starlark has no raise: fail(\"message\") ends the episode as failed; return a reply instead where one can",
	"import":   "starlark has no import: the modules re, json, math, text, chat and loop are there without it",
	"from":     "starlark has no import: the modules re, json, math, text, chat and loop are there without it",
	"class":    "starlark has no class: use a dict, or functions that close over their state",
	"with":     "starlark has no with: there is nothing to open",
	"yield":    "starlark has no generators: build a list and return it",
	"assert":   "starlark has no assert: write if not condition: fail(\"message\")",
	"del":      "starlark has no del: use x.pop(key)",
	"global":   "starlark has no global: keep state in a dict or a list and change its elements",
	"nonlocal": "starlark has no nonlocal: keep state in a dict or a list and change its elements",
	"is":       "starlark has no is: compare with == None or != None",
	"async":    "starlark has no async: calls return when they are done",
	"await":    "starlark has no await: calls return when they are done",
	"as":       "starlark has no as",
}

// parseError turns the parser's error into ours: with the position of the offending token where it can be told, and advice.
func parseError(name, src string, e syntax.Error) *Error {
	out := &Error{Gate: GateParse, File: name, Line: int(e.Pos.Line), Col: int(e.Pos.Col), Message: OneLine(e.Msg)}
	lines := strings.Split(src, "\n")
	line := ""
	if out.Line >= 1 && out.Line <= len(lines) {
		line = strings.TrimSuffix(lines[out.Line-1], "\r")
	}
	got, want, ok := strings.Cut(e.Msg, ", want ")
	got, found := strings.CutPrefix(got, "got ")
	if ok && found {
		got = strings.Trim(got, "'")
		// The parser reports "want primary expression" where the token starts, and the others where it ends.
		if want != "primary expression" {
			out.stepBack(got, lines)
		}
		line = lines[min(max(out.Line, 1), len(lines))-1]
	}
	before, after := splitColumn(line, out.Col)
	out.Suggestion = parseAdvice(e.Msg, got, want, before, after)
	return out
}

// stepBack moves a position from the end of a token to its start.
func (e *Error) stepBack(got string, lines []string) {
	if e.Line > len(lines) {
		return
	}
	if got == "newline" && e.Col == 1 && e.Line > 1 {
		e.Line--
		e.Col = utf8.RuneCountInString(lines[e.Line-1]) + 1
		return
	}
	before, _ := splitColumn(lines[e.Line-1], e.Col)
	start := len(before)
	switch got {
	case "newline", "end of file", "indent", "outdent":
		return
	case "identifier", "int literal", "float literal":
		start = len(strings.TrimRightFunc(before, isWord))
	case "string literal":
		if before == "" {
			return
		}
		start = strings.LastIndexByte(before[:len(before)-1], before[len(before)-1])
	default:
		if strings.HasSuffix(before, got) {
			start = len(before) - len(got)
		}
	}
	if start >= 0 {
		e.Col = utf8.RuneCountInString(before[:start]) + 1
	}
}

// splitColumn splits a line before the character at col (from 1).
func splitColumn(line string, col int) (before, after string) {
	for i := range line {
		if col--; col <= 0 {
			return line[:i], line[i:]
		}
	}
	return line, ""
}

func isWord(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf
}

var (
	stringPrefix = regexp.MustCompile(`(?i)\b(f|rf|fr|u|t)$`)
	increment    = regexp.MustCompile(`\w(\+\+|--)\s*(#.*)?$`)
	annotated    = regexp.MustCompile(`^\s*\w+$`)
	inSignature  = regexp.MustCompile(`^\s*def\s+\w+\s*\([^)]*$`)
)

// parseAdvice says what to write instead. got and want are the parser's words, before and after the rest of the line around the token.
func parseAdvice(msg, got, want, before, after string) string {
	left := strings.TrimSpace(before)
	word := left[len(strings.TrimRightFunc(left, isWord)):]
	if s, ok := keywordAdvice[got]; ok {
		return s
	}
	switch {
	case left == "assert":
		return keywordAdvice["assert"]
	case got == "string literal":
		switch p := strings.ToLower(stringPrefix.FindString(before)); p {
		case "":
			if word == "print" && strings.HasSuffix(before, " ") {
				return `print is a function: print("text")`
			}
			return "adjacent strings are not joined: write + between them"
		case "u":
			return "strings have no u prefix: leave it out"
		default:
			return `starlark has no f-strings: use "…{}…".format(x), "…%s…" % x, or text.fill(template, {"name": value})`
		}
	case got == "**" && want == "primary expression" || got == "*" && want == "primary expression":
		return "starlark has no unpacking here: join lists with +, dicts with a | b, and index tuples"
	case got == "**":
		return "starlark has no power operator: use math.pow(x, y), or multiply"
	case strings.Contains(msg, "does not associate with"):
		return "starlark has no chained comparison: write a < b and b < c"
	case got == ":" && strings.HasPrefix(after, ":="):
		return "starlark has no := : assign on a line of its own"
	case got == ":" && (inSignature.MatchString(before) || annotated.MatchString(before)):
		return "starlark has no type annotations: leave them out"
	case got == "-" && strings.HasPrefix(after, "->"):
		return "starlark has no type annotations: leave them out"
	case got == "for" && want == "':'":
		return "starlark has no set comprehensions: use set([… for …])"
	case got == "for":
		return "starlark has no generator expressions: use a list, [… for …]"
	case got == "," && want == "':'":
		return "starlark has no set literals: use set([…])"
	case got == "else":
		return "an else belongs to an if of the same indentation; starlark has no for/else"
	case got == "identifier" && after != "" && after[0] >= '0' && after[0] <= '9':
		return "numbers have neither underscores nor suffixes"
	case got == "identifier" && (word == "match" || word == "case"):
		return "starlark has no match statement: use if/elif"
	case got == "=" && want == "newline":
		return "starlark has no a = b = c: assign on two lines"
	case got == "=" && (strings.HasPrefix(left, "if ") || strings.HasPrefix(left, "while ") || strings.HasPrefix(left, "elif ")):
		return "compare with =="
	case increment.MatchString(before):
		return "write x += 1"
	case strings.Contains(msg, "unexpected newline in string"):
		return "close the string on its line, or use three quotes"
	case got == "newline" && want == "':'":
		return "end the line with a colon"
	case got == "." && strings.HasPrefix(after, "..."):
		return "starlark has no ... : use pass"
	case got == "&" || got == "|":
		return "write and, or"
	case strings.Contains(msg, "invalid escape sequence"), strings.Contains(msg, "truncated escape sequence"):
		return `write a pattern or LaTeX as a raw string, r"\d", or double the backslash`
	case strings.Contains(msg, "input character '@'"):
		return "starlark has no decorators: call the function by hand"
	case strings.Contains(msg, "input character '?'"):
		return "write a if condition else b"
	case strings.Contains(msg, "input character '!'"):
		return "write not x, or x != y"
	case strings.Contains(msg, "input character '`'"):
		return "a program holds no Markdown: leave the fence out"
	case strings.Contains(msg, "input character '“'"), strings.Contains(msg, "input character '”'"), strings.Contains(msg, "input character '’'"):
		return `use straight quotes, "`
	case strings.Contains(msg, "conditional expression without else"):
		return "write a if condition else b"
	case got == "indent" || strings.HasSuffix(want, "indent"), strings.Contains(msg, "unindent"):
		return "check the indentation of this line"
	}
	return ""
}

var undefined = regexp.MustCompile(`^undefined: (\w+)`)

// nameAdvice is for Python's names that Starlark does not have.
var nameAdvice = map[string]string{
	"isinstance": `use type(x) == "string" (or "int", "float", "list", "dict", "NoneType")`,
	"sum":        "add in a loop",
	"round":      "use math.round(x)",
	"pow":        "use math.pow(x, y)",
	"map":        "use [f(x) for x in xs]",
	"filter":     "use [x for x in xs if f(x)]",
	"open":       "a harness has no files",
	"input":      "a harness has no input: the task's fields are in task",
	"eval":       "a harness cannot evaluate text",
	"exec":       "a harness cannot execute text",
	"Exception":  "starlark has no exceptions: env.call returns errors in result.error",
	"ValueError": "starlark has no exceptions: env.call returns errors in result.error",
	"__name__":   "leave it out: run is called for each episode",
	"os":         "a harness has no operating system",
	"sys":        "a harness has no sys",
	"time":       "a harness has no clock",
	"random":     "a harness has no chance: sampling is the model's",
	"null":       "write None",
	"true":       "write True",
	"false":      "write False",
	"format":     `use "…{}…".format(x)`,
	"iter":       "use for over a list",
	"next":       "index a list",
	"object":     "use a dict",
	"super":      "starlark has no classes",
	"Counter":    "count in a dict",
	"struct":     "use a dict",
	"load":       "the modules re, json, math, text, chat and loop are there without it",
}

// resolveAdvice says what to write instead where the resolver found a mistake.
func resolveAdvice(msg string) string {
	if m := undefined.FindStringSubmatch(msg); m != nil {
		switch m[1] {
		case "task", "model", "env":
			return fmt.Sprintf("%s is a parameter of run: hand it to the function that uses it", m[1])
		}
		return nameAdvice[m[1]]
	}
	if strings.HasPrefix(msg, "return statement not within") {
		return "check the indentation of this line"
	}
	return ""
}

// runtimeAdvice pairs a part of an interpreter's message with what to write instead; the first that is contained decides.
var runtimeAdvice = []struct{ part, advice string }{
	{"string value is not iterable", "iterate over s.elems() for bytes, or s.codepoints() for characters"},
	{"reply has no .content", "its text is reply.text"},
	{"reply has no .message", "its text is reply.text"},
	{"unhandled index operation reply[", "its text is reply.text"},
	{"unknown binary op: string + int", "write str(n)"},
	{"unknown binary op: int + string", "write str(n)"},
	{"unknown binary op: string + float", "write str(x)"},
	{"unknown binary op: string + NoneType", "check for None first"},
	{"unknown binary op: string + reply", "its text is reply.text"},
	{"unknown binary op: reply + string", "its text is reply.text"},
	{"unknown conversion %", "% has no widths: round with math.round, pad with strings"},
	{"format spec features not supported", "format has no specs: round with math.round, pad with strings"},
	{"attribute syntax x.y is not supported", "hand the value itself to format"},
	{"element syntax a[i] is not supported", "hand the value itself to format"},
	{"single '}' in format", "double braces in a format string, or use text.fill"},
	{"unmatched '{' in format", "double braces in a format string, or use text.fill"},
	{"list has no .sort", "use sorted(xs)"},
	{"string has no .zfill", "pad by hand"},
	{"string has no .encode", "strings are UTF-8 already"},
	{"dict has no .copy", "use dict(d)"},
	{"list has no .copy", "use list(xs)"},
	{"list has no .reverse", "use reversed(xs)"},
	{"NoneType has no .", "check for None first"},
	{"unhandled index operation NoneType[", "check for None first"},
	{"int: invalid literal", "check the text with re.fullmatch first"},
	{"invalid float literal", "check the text with re.fullmatch first"},
	{"json.decode: at offset", "give a default: json.decode(s, None)"},
}

func adviseRuntime(msg string) string {
	for _, r := range runtimeAdvice {
		if strings.Contains(msg, r.part) {
			return r.advice
		}
	}
	return ""
}
