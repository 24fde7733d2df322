package token

// gpt2Next is the end of the word that starts at i < len(s) under the GPT-2 pattern.
func gpt2Next(s string, i int) int {
	if s[i] == '\'' {
		if n := contraction(s[i+1:]); n > 0 {
			return i + 1 + n
		}
	}
	j := i
	if s[i] == ' ' && i+1 < len(s) {
		j++ // the optional space before a word
	}
	if c, size := classAt(s, j); c != space {
		return classEnd(s, j+size, c)
	}
	return spaceEnd(s, i)
}

// contraction is the length of s, t, m, d, re, ve or ll at the start of s, or 0.
func contraction(s string) int {
	if s == "" {
		return 0
	}
	switch s[0] {
	case 's', 't', 'm', 'd':
		return 1
	}
	if len(s) >= 2 {
		switch s[:2] {
		case "re", "ve", "ll":
			return 2
		}
	}
	return 0
}
