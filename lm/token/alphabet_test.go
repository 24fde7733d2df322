package token

import "testing"

func TestAlphabet(t *testing.T) {
	a := newByteAlphabet()
	var all []byte
	for b := range 256 {
		all = append(all, byte(b))
	}
	spelled := a.spell(string(all))
	if back, _, ok := a.read(spelled); !ok || back != string(all) {
		t.Errorf("read(spell(all bytes)) = %q, %v", back, ok)
	}
	if n := len([]rune(spelled)); n != 256 {
		t.Errorf("spell gives %d characters for 256 bytes", n)
	}
	// Known spellings of GPT-2's vocabulary.
	for _, c := range [][2]string{{" the", "Ġthe"}, {"\n", "Ċ"}, {"\t", "ĉ"}, {"é", "Ã©"}, {"\xad", "Ń"}} {
		if got := a.spell(c[0]); got != c[1] {
			t.Errorf("spell(%q) = %q, want %q", c[0], got, c[1])
		}
	}
	for _, bad := range []string{" ", "\n", "€", "\u0144", "\U0010ffff", "\ufffd"} {
		if _, r, ok := a.read("x" + bad); ok || string(r) != bad {
			t.Errorf("read(%q) = %q, %v, want it refused", "x"+bad, r, ok)
		}
	}
	if a.order[0] != '!' || a.order[255] != 0xad {
		t.Errorf("order starts with %#x and ends with %#x, want ! and soft hyphen", a.order[0], a.order[255])
	}
}
