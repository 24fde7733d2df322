package chat

import (
	"strings"
	"testing"
)

// TestPythonJSON holds what Python 3's json.dumps(json.loads(x), ensure_ascii=False) prints.
func TestPythonJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"b":1,"a":[1,2,{}],"b":2}`:                    `{"b": 2, "a": [1, 2, {}]}`, // a key keeps its first place and its last value
		`[1.0,2.50,1e5,1E+2,-0.0,-0]`:                   `[1.0, 2.5, 100000.0, 100.0, -0.0, 0]`,
		`[1e15,1e16,123456789012345680000.0,1e-4,1e-5]`: `[1000000000000000.0, 1e+16, 1.2345678901234568e+20, 0.0001, 1e-05]`,
		`[0.1,5e-324,1e400,-1e400]`:                     `[0.1, 5e-324, Infinity, -Infinity]`,
		`12345678901234567890123`:                       `12345678901234567890123`,
		`"\u00e9\u2028\ud83d\ude00\/<&>"`:               "\"é\u2028😀/<&>\"",
		`"\u0000\u001f\u007f\b\f\n\r\t\"\\"`:            "\"\\u0000\\u001f\u007f\\b\\f\\n\\r\\t\\\"\\\\\"",
		` [ true , false , null , [ ] , "" ] `:          `[true, false, null, [], ""]`,
	} {
		v, err := parseJSON([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got, err := format(v, 0); err != nil || got != want {
			t.Errorf("%s: got %s %v, want %s", in, got, err, want)
		}
	}
	for _, bad := range []string{"", "{", "[1,]", `{"a"}`, "1 2", "nan", "[1}", strings.Repeat("[", maxDepth+2) + strings.Repeat("]", maxDepth+2), strings.Repeat("[", 1<<20)} {
		if v, err := parseJSON([]byte(bad)); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: got %v %v, want an error of one line", bad, v, err)
		}
	}
}

// FuzzJSON holds what is printed to what is read.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5,-0,1e400],"a":"\u2028\ud800"}`, `[[[[{}]]]]`, `"` + "\xff" + `"`, `1e-7`, `{"":{"":[]}}`, strings.Repeat("[", 100)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := parseJSON(data)
		if err != nil {
			return
		}
		for _, indent := range []int{0, 4} {
			once, err := format(v, indent)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(once, "Infinity") {
				continue // Python's word, which JSON does not have
			}
			again, err := parseJSON([]byte(once))
			if err != nil {
				t.Fatalf("%q: printed as %q: %v", data, once, err)
			}
			if twice, err := format(again, indent); err != nil || twice != once {
				t.Errorf("%q: got %q, then %q %v", data, once, twice, err)
			}
		}
	})
}
