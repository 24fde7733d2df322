package rows

import (
	"encoding/json"
	"strings"
	"testing"
)

func rowOf(t *testing.T, data string) Row {
	t.Helper()
	f, err := parseObject([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return Row{file: "d/a.jsonl", number: 17, fields: f}
}

func TestRowPaths(t *testing.T) {
	r := rowOf(t, `{"s": "te\u00dft", "n": 1e3, "t": true, "z": null, "l": ["a", 2, [3]], "o": {"x": {"y": "deep"}, "z": null, "": 1}, "a.b": "dotted", "prompt": [{"role": "user", "content": "hi"}], "e": [], "big": 123456789012345678901234567890}`)
	for _, c := range []struct{ path, want, err string }{
		{"s", "teßt", ""}, {"n", "1e3", ""}, {"t", "true", ""}, {"big", "123456789012345678901234567890", ""}, {"l[1]", "2", ""}, {"l[2][0]", "3", ""}, {"o.x.y", "deep", ""}, {"a.b", "dotted", ""},
		{"prompt[0].content", "hi", ""},
		{"z", "", `field "z": got null`}, {"o.z", "", "got null"}, {"nope", "", `field "nope": not there (fields: a.b, big, e, l, n, o, prompt, s, t, z)`}, {"o.nope", "", "not there (fields: , x, z)"},
		{"l", "", `field "l": got a list, want a text; name an element, as l[0]`}, {"o", "", "got an object, want a text"}, {"o.x", "", "name a field, as o.x.y"},
		{"l[3]", "", "l has 3 elements"}, {"s[0]", "", "s is no list"}, {"s.x", "", "s is no object"}, {"l.x", "", "l is no object"}, {"z.x", "", "z is no object"}, {"z[0]", "", "z is no list"},
		{"", "", "want a name"}, {"a[", "", "want an index"}, {"a[x]", "", "want an index"}, {"a[-1]", "", "want an index"}, {"a[99999999999]", "", "want an index"}, {".a", "", "want a name"}, {"a.", "", "want a name"}, {"a..b", "", "want a name"},
		{"[0]", "", "want a name"}, {"a[0]b", "", "want a dot"}, {strings.Repeat("a", 2000), "", "too long"},
	} {
		got, err := r.Text(c.path)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%.40q: got %q, %v, want %q, %q", c.path, got, err, c.want, c.err)
		}
		if v, ok := r.JSON(c.path); ok != (c.err == "" || strings.Contains(c.err, "want a text") || strings.Contains(c.err, "name a field")) || ok && !json.Valid(v) {
			t.Errorf("%.40q: got JSON %s, %v", c.path, v, ok)
		}
	}
	for path, want := range map[string]string{"s": "teßt", "l[2]": "3", "t": "true"} {
		if got, err := r.Texts(path); err != nil || strings.Join(got, "|") != want {
			t.Errorf("%s: got %q, %v, want %q", path, got, err, want)
		}
	}
	for path, want := range map[string]string{"l": `field "l[2]": got a list`, "e": "got an empty list", "o": "got an object", "z": "got null"} {
		if got, err := r.Texts(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %q, %v, want %q", path, got, err, want)
		}
	}
	if r.At() != "d/a.jsonl:row 17" || r.File() != "d/a.jsonl" || r.Number() != 17 {
		t.Errorf("got %q, %q, %d", r.At(), r.File(), r.Number())
	}
	if CheckPath("a.b[0]") != nil || CheckPath("a[") == nil {
		t.Error("CheckPath: got another verdict than Text")
	}
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"a", "a.b[0].c", "a[", "[0]", "", "a[0][1]", "é.ß"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		parts, err := parsePath(path)
		if err == nil && join(parts) != path && !strings.Contains(path, "[0") && !strings.Contains(path, "[+") {
			t.Errorf("%q: got %q", path, join(parts))
		}
	})
}
