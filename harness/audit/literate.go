package audit

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// readTokens reads a program of which only the literals are looked at: texts that stand side by side or are added, tables between
// brackets, and lines in which the task's text meets constants.
func readTokens(p *program, l language, src []byte) error {
	s, err := scan(l, src)
	if err != nil {
		return err
	}
	p.atoms = append(p.atoms, s.comments...)
	list := foldStrings(s.out)
	for i, x := range list {
		switch x.kind {
		case lexString:
			from := literal
			if l == python && loneString(list, i) {
				from = comment // a docstring
			} else if x.piece {
				from = computed
			}
			p.addText(atom{text: x.text, at: x.at, from: from, spelled: x.piece, doc: from == comment})
		case lexNumber:
			if n, ok := new(big.Int).SetString(x.text, 10); ok {
				p.addNumber(number{n: n, at: x.at})
			}
		}
	}
	for _, x := range s.out { // the pieces, too
		if x.kind == lexString {
			p.addText(atom{text: x.text, at: x.at})
		}
	}
	names := tables(p, list)
	meetings(p, list, names)
	return nil
}

// loneString says whether a string is a statement of its own.
func loneString(list []lexeme, i int) bool {
	return (i == 0 || list[i-1].kind == lexLine || list[i-1].text == ":") && (i+1 == len(list) || list[i+1].kind == lexLine)
}

// foldStrings joins strings that stand side by side or are added, calls of chr and String.fromCharCode with constants, and "".join of
// constants.
func foldStrings(in []lexeme) []lexeme {
	var out []lexeme
	for i := 0; i < len(in); i++ {
		x := in[i]
		if text, next, ok := characters(in, i); ok {
			x, i = lexeme{kind: lexString, text: text, at: x.at, piece: true}, next
		} else if text, next, ok := joinOf(in, i); ok {
			x, i = lexeme{kind: lexString, text: text, at: x.at, piece: true}, next
		}
		if x.kind != lexString || len(out) == 0 {
			out = append(out, x)
			continue
		}
		last := &out[len(out)-1]
		switch {
		case last.kind == lexString:
			last.piece = last.piece || x.piece || crosses(last.text, x.text)
			last.text = clipLong(last.text + x.text)
		case last.text == "+" && len(out) >= 2 && out[len(out)-2].kind == lexString:
			before := &out[len(out)-2]
			before.piece = before.piece || x.piece || crosses(before.text, x.text)
			before.text = clipLong(before.text + x.text)
			out = out[:len(out)-1]
		default:
			out = append(out, x)
		}
	}
	return out
}

// clipLong bounds a text that is put together; quadratic growth would be the price of none.
func clipLong(s string) string { return s[:min(len(s), maxString)] }

// characters reads chr(52) or String.fromCharCode(52, 48) at i, and gives the index of its last lexeme.
func characters(in []lexeme, i int) (text string, last int, ok bool) {
	if in[i].kind != lexName || in[i].text != "chr" && in[i].text != "String" && in[i].text != "fromCharCode" {
		return "", 0, false
	}
	if in[i].text == "String" {
		if i+2 >= len(in) || in[i+1].text != "." || in[i+2].text != "fromCharCode" {
			return "", 0, false
		}
		i += 2
	}
	if i+1 >= len(in) || in[i+1].text != "(" {
		return "", 0, false
	}
	var b strings.Builder
	for k := i + 2; k < len(in); k++ {
		switch {
		case in[k].kind == lexNumber:
			n, err := strconv.Atoi(in[k].text)
			if err != nil || n < 0 || n > 0x10FFFF {
				return "", 0, false
			}
			b.WriteRune(rune(n))
		case in[k].text == ")" && in[k].kind == lexMark:
			return b.String(), k, b.Len() > 0
		case in[k].text != ",":
			return "", 0, false
		}
	}
	return "", 0, false
}

// joinOf reads "sep".join(["a", "b"]) or ["a", "b"].join("sep") at i.
func joinOf(in []lexeme, i int) (text string, last int, ok bool) {
	list := func(k int) (parts []string, end int) {
		if k >= len(in) || in[k].kind != lexMark || in[k].text != "[" && in[k].text != "(" {
			return nil, 0
		}
		for end = k + 1; end < len(in); end++ {
			switch x := in[end]; {
			case x.kind == lexString || x.kind == lexNumber:
				parts = append(parts, x.text)
			case x.kind == lexMark && (x.text == "]" || x.text == ")"):
				return parts, end
			case x.text != ",":
				return nil, 0
			}
		}
		return nil, 0
	}
	word := func(k int, s string) bool { return k < len(in) && in[k].kind != lexString && in[k].text == s }
	switch {
	case in[i].kind == lexString && word(i+1, ".") && word(i+2, "join") && word(i+3, "("):
		if parts, end := list(i + 4); parts != nil && word(end+1, ")") {
			return clipLong(strings.Join(parts, in[i].text)), end + 1, true
		}
	case word(i, "["):
		if parts, end := list(i); parts != nil && word(end+1, ".") && word(end+2, "join") && word(end+3, "(") && end+5 < len(in) && in[end+4].kind == lexString && word(end+5, ")") {
			return clipLong(strings.Join(parts, in[end+4].text)), end + 5, true
		}
	}
	return "", 0, false
}

// tables keeps what stands between brackets as tables, and gives the cells of those that are assigned to a name.
func tables(p *program, list []lexeme) map[string][]row {
	names := map[string][]row{}
	var open []int // indices of brackets
	for i, x := range list {
		if x.kind != lexMark {
			continue
		}
		switch x.text {
		case "[", "{", "(":
			open = append(open, i)
		case "]", "}", ")":
			if len(open) == 0 {
				continue
			}
			from := open[len(open)-1]
			open = open[:len(open)-1]
			if i-from > 40_000 {
				continue
			}
			rows, constant := rowsOf(list[from+1 : i])
			if !constant || list[from].text == "(" && from > 0 && list[from-1].kind == lexName {
				continue
			}
			p.addRows(table{at: list[from].at, end: x.at, rows: rows})
			if name := assigned(list, from); name != "" && len(rows) >= 2 {
				names[name] = rows
			}
		}
	}
	return names
}

// assigned gives the name that a value beginning at i is assigned to.
func assigned(list []lexeme, i int) string {
	for k := i - 1; k >= 0 && k > i-8; k-- {
		switch {
		case list[k].text == "=" && k > 0 && list[k-1].kind == lexName:
			return list[k-1].text
		case list[k].kind == lexLine:
			return ""
		}
	}
	return ""
}

// rowsOf splits what stands between brackets at its commas; constant says that most of it is literals.
func rowsOf(list []lexeme) (rows []row, constant bool) {
	depth, literals, others := 0, 0, 0
	var r row
	flush := func() {
		if len(r.cells) > 0 && len(rows) < 4096 {
			rows = append(rows, r)
		}
		r = row{}
	}
	for i, x := range list {
		switch {
		case x.kind == lexString || x.kind == lexNumber:
			literals++
			if len(r.cells) < 256 {
				r.cells = append(r.cells, x.text)
			}
		case x.kind == lexName:
			if i+1 < len(list) && list[i+1].text == ":" {
				r.cells = append(r.cells, x.text) // a key of JavaScript
			} else {
				others++
			}
		case x.kind == lexMark && strings.Contains("[{(", x.text):
			depth++
		case x.kind == lexMark && strings.Contains("]})", x.text):
			depth--
		case x.text == "," && depth == 0:
			flush()
		case x.text == ":" && depth == 0 && len(r.cells) == 1:
			r.keyed = true
		}
	}
	flush()
	return rows, literals > 0 && literals >= 2*others
}

// sources are names whose values hold the task's text.
var sources = []string{"question", "observation", "task"}

// meetings looks, line by line, for comparisons of the task's text with constants and for tables that it selects from. A name that is
// assigned on a line with such text holds it from then on.
func meetings(p *program, list []lexeme, names map[string][]row) {
	tainted := map[string]bool{}
	for _, s := range sources {
		tainted[s] = true
	}
	for range 3 {
		for line := range lines(list) {
			if i := slices.IndexFunc(line, func(x lexeme) bool { return x.text == "=" && x.kind == lexMark }); i > 0 && holdsTaint(line[i:], tainted) && len(line) < 400 {
				for _, x := range line[:i] {
					if x.kind == lexName && !slices.Contains([]string{"const", "let", "var"}, x.text) {
						tainted[x.text] = true
					}
				}
			}
		}
	}
	for line := range lines(list) {
		if holdsTaint(line, tainted) {
			meet(p, line, names)
		}
	}
}

func holdsTaint(line []lexeme, tainted map[string]bool) bool {
	return slices.ContainsFunc(line, func(x lexeme) bool { return x.kind == lexName && tainted[x.text] })
}

// lines gives the stretches between ends of lines.
func lines(list []lexeme) func(yield func([]lexeme) bool) {
	return func(yield func([]lexeme) bool) {
		start := 0
		for i := 0; i <= len(list); i++ {
			if i == len(list) || list[i].kind == lexLine {
				if i > start && !yield(list[start:i]) {
					return
				}
				start = i + 1
			}
		}
	}
}

// meet keeps the tests and lookups of a line that holds the task's text.
func meet(p *program, line []lexeme, names map[string][]row) {
	of := &val{taint: taintTask}
	for _, x := range line {
		if x.kind != lexName {
			continue
		}
		switch strings.ToLower(x.text) {
		case "len", "length":
			of.length = true
		case "hash", "ord", "charcodeat", "codepointat", "hashlib", "md5", "sha1", "sha256", "crc32", "adler32", "createhash", "hexdigest", "digest":
			of.opaque = true
		}
	}
	kinds := map[string]testKind{
		"==": testEqual, "===": testEqual, "!=": testEqual, "!==": testEqual, "in": testContains, "startswith": testPrefix, "startsWith": testPrefix,
		"endswith": testSuffix, "endsWith": testSuffix, "includes": testContains, "indexOf": testContains, "find": testContains, "case": testEqual,
		"search": testPattern, "match": testPattern, "fullmatch": testPattern, "test": testPattern,
	}
	for i, x := range line {
		kind, ok := kinds[x.text]
		if ok && x.kind != lexString {
			for _, k := range []int{i - 1, i + 1, i + 2, i - 2} {
				if k < 0 || k >= len(line) || k == i+2 && line[i+1].text != "(" || k == i-2 && line[i-1].text != "." {
					continue
				}
				if kind == testPattern {
					continue // what of a pattern is literal is seen as text
				}
				switch line[k].kind {
				case lexString:
					p.addTest(test{at: line[k].at, kind: kind, with: str(line[k].text), of: of})
				case lexNumber:
					if n, ok := new(big.Int).SetString(line[k].text, 10); ok {
						p.addTest(test{at: line[k].at, kind: kind, with: integer(n), of: of})
					}
				}
			}
		}
		if rows, ok := names[x.text]; ok && x.kind == lexName && i+1 < len(line) && (line[i+1].text == "[" || line[i+1].text == ".") {
			l := lookup{at: x.at, of: of}
			for _, r := range rows {
				cells := r.cells
				if r.keyed && len(cells) > 0 {
					l.keys = append(l.keys, constantOf(cells[0]))
					cells = cells[1:]
				}
				v := listOf()
				for _, c := range cells {
					v.list.elems = append(v.list.elems, constantOf(c))
				}
				l.values = append(l.values, v)
			}
			if len(l.keys) != len(l.values) {
				l.keys = nil
			}
			p.addLookup(l)
		}
	}
}

// constantOf gives a cell as the value that it was.
func constantOf(cell string) *val {
	if n, ok := new(big.Int).SetString(cell, 10); ok {
		return integer(n)
	}
	return str(cell)
}
