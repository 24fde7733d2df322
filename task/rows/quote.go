package rows

import "encoding/json"

// appendText writes a text that is UTF-8 as a JSON string.
func appendText[T string | []byte](buf []byte, s T) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			quoted, err := json.Marshal(string(s))
			if err != nil {
				panic("rows: a string that JSON cannot express: " + err.Error()) // Marshal has no such strings
			}
			return append(buf, quoted...)
		}
	}
	buf = append(buf, '"')
	buf = append(buf, s...)
	return append(buf, '"')
}
