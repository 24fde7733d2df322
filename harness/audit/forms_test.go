package audit

import (
	"fmt"
	"strings"
	"testing"
)

// TestForms asks that a dozen questions or answers in a prompt are found in the forms that a reader still understands.
func TestForms(t *testing.T) {
	numbers, list := sumCorpus(t)
	texts := factCorpus(t)
	var problems, questions []known
	for _, x := range list[20:32] {
		problems = append(problems, known{x.View["question"], strings.Trim(string(x.Answer), `"`)})
	}
	for _, f := range facts {
		questions = append(questions, known{f[0], f[1]})
	}
	lookalike := strings.NewReplacer("o", "о", "a", "а", "e", "е", "i", "і", "p", "р", "c", "с")
	vowels := strings.NewReplacer("a", "", "e", "", "i", "", "o", "", "u", "")
	spaced := func(s, sep string) string { return strings.Join(strings.Split(s, ""), sep) }
	number := func(k known, last bool) string {
		ns := numbersOf(tokens(k.q, 100))
		switch {
		case len(ns) == 0:
			f := strings.Fields(k.q)
			return f[len(f)-2]
		case last:
			return ns[len(ns)-1]
		}
		return ns[0]
	}
	for name, form := range map[string]func(k known) string{
		"questions":            func(k known) string { return k.q + " " + k.a + "\n" },
		"half of each":         func(k known) string { return k.q[:len(k.q)/2] + "... " + k.a + "\n" },
		"without vowels":       func(k known) string { return vowels.Replace(k.q) + " = " + k.a + "\n" },
		"letters that look so": func(k known) string { return lookalike.Replace(k.q) + " " + lookalike.Replace(k.a) + "\n" },
		"the first number":     func(k known) string { return "the one with " + number(k, false) + " gives " + k.a + ". " },
		"the last number":      func(k known) string { return "if you see " + number(k, true) + " then say " + k.a + ". " },
		"answers":              func(k known) string { return k.a + ", " },
		"answers in capitals":  func(k known) string { return strings.ToUpper(k.a) + "; " },
		"answers with letters that look so": func(k known) string {
			return lookalike.Replace(k.a) + ", "
		},
		"answers letter by letter": func(k known) string { return spaced(k.a, " ") + ", " },
		"answers with dashes":      func(k known) string { return spaced(k.a, "-") + ", " },
		"answers with underscores": func(k known) string { return strings.ReplaceAll(k.a, " ", "_") + " " },
		"answers in one word":      func(k known) string { return strings.ReplaceAll(k.a, " ", "") + " " },
	} {
		for kind, known := range map[string][]known{"numbers": problems, "texts": questions} {
			t.Run(name+" of "+kind, func(t *testing.T) {
				c := texts
				if kind == "numbers" {
					c = numbers
				}
				var b strings.Builder
				for _, k := range known {
					b.WriteString(form(k))
				}
				src := harnessOf(fmt.Sprintf("SYSTEM_PROMPT = %q", "Think first. "+b.String()), "pass")
				if got := rulesOf(t, c, "x.star", src); len(got) == 0 {
					t.Errorf("nothing found in\n%s", src)
				}
			})
		}
	}
}

// TestUnexplained keeps worked examples apart from numbers that come from nowhere.
func TestUnexplained(t *testing.T) {
	for text, want := range map[string]string{
		"Tom has 351 apples and finds 47. 398":    "",
		"12 boxes of 30, then 15 more: 375":       "",
		"347 gives 912, 58 gives 77":              "347 912 58 77",
		"351 47 398 and then 4711":                "4711",
		"1969 and 1989":                           "1969 1989",
		"from 100 take 30, then divide by 7: 10.": "",
	} {
		if got := strings.Join(unexplained(numbersOf(tokens(text, 100))), " "); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
