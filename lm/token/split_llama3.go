package token

// llama3Next is the end of the word that starts at i < len(s) under Llama 3's
// pattern: Qwen's, with up to three numbers to a word.
func llama3Next(s string, i int) int {
	end := qwenNext(s, i)
	if c, _ := classAt(s, i); c != number {
		return end
	}
	for range 2 {
		if end == len(s) {
			break
		}
		c, size := classAt(s, end)
		if c != number {
			break
		}
		end += size
	}
	return end
}
