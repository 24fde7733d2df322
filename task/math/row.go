package math

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/answer"
	"github.com/seed-095d5d2b/whale/task/rows"
)

// row is a row of a data file, in the layout of problems or in verl's. Other fields are ignored.
type row struct {
	ID          json.RawMessage `json:"id"`
	Problem     *string         `json:"problem"`
	Question    *string         `json:"question"`
	Answer      json.RawMessage `json:"answer"`
	Prompt      json.RawMessage `json:"prompt"`
	RewardModel *struct {
		GroundTruth json.RawMessage `json:"ground_truth"`
	} `json:"reward_model"`
	ExtraInfo *struct {
		Index json.RawMessage `json:"index"`
	} `json:"extra_info"`
}

// rows reads a file of any other kind than plain JSONL.
func (c *collector) rows(path string) error {
	r, err := rows.Open(path, rows.Options{RowBytes: maxLine, BadShare: badShare})
	if err != nil {
		return fmt.Errorf("math: %w", err)
	}
	defer r.Close()
	seen := make(map[[sha256.Size]byte]bool) // rows that say the same to the byte, of which DAPO's file has a hundred each
	for {
		one, err := r.Next()
		if errors.Is(err, io.EOF) {
			c.out.Notes = append(c.out.Notes, prefixed(r.Notes())...)
			return nil
		}
		if err != nil {
			return fmt.Errorf("math: %w", err)
		}
		fields := fieldsOf(one)
		said := saidBy(fields)
		if seen[said] {
			c.out.Duplicates++
			continue
		}
		x, err := parseFields(fields, c.source)
		if err != nil {
			if err := r.Bad(one, err); err != nil {
				return fmt.Errorf("math: %w", err)
			}
			continue
		}
		seen[said] = true
		if err := c.add(x, int(one.Number())); err != nil {
			return err
		}
	}
}

// saidBy hashes all of a row that decides what its problem and its answer are.
func saidBy(fields map[string]json.RawMessage) (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, name := range []string{"problem", "question", "answer", "prompt", "reward_model"} {
		v := fields[name]
		fmt.Fprintf(h, "%d:", len(v))
		h.Write(v)
	}
	h.Sum(sum[:0])
	return sum
}

func prefixed(notes []string) (out []string) {
	for _, n := range notes {
		out = append(out, "math: "+n)
	}
	return out
}

// fieldsOf gives the fields of a row that may be used, by their names in lower case.
func fieldsOf(one rows.Row) map[string]json.RawMessage {
	fields := make(map[string]json.RawMessage)
	for _, name := range one.Names() {
		switch lower := strings.ToLower(name); lower {
		case "id", "problem", "question", "answer", "prompt", "reward_model", "extra_info":
			if v, ok := one.JSON(name); ok {
				fields[lower] = v
			}
		}
	}
	if string(fields["id"]) == `""` { // in a column of a CSV file
		delete(fields, "id")
	}
	return fields
}

// parseFields reads fields as parseRow reads a line.
func parseFields(fields map[string]json.RawMessage, source string) (whale.Example, error) {
	line, err := json.Marshal(fields)
	if err != nil {
		return whale.Example{}, err
	}
	return parseRow(line, source)
}

// example makes the example of a row. Integers lose their leading zeros (AIME writes "025").
func (r row) example(source string) (x whale.Example, err error) {
	text, reference, id := r.Problem, r.Answer, r.ID
	switch {
	case r.Problem != nil && r.Question != nil:
		return x, errors.New(`got both "problem" and "question", want one of them`)
	case r.Question != nil:
		text = r.Question
	case r.Problem == nil && r.Prompt != nil && r.RewardModel != nil:
		prompt, err := promptText(r.Prompt)
		if err != nil {
			return x, fmt.Errorf(`"prompt": %w`, err)
		}
		prompt = withoutInstructions(prompt)
		text, reference = &prompt, r.RewardModel.GroundTruth
		if r.ExtraInfo != nil && id == nil {
			id = r.ExtraInfo.Index
		}
	case r.Problem == nil:
		return x, errors.New(`got neither "problem" nor "question", want one of them`)
	}
	if strings.TrimSpace(*text) == "" {
		return x, errors.New("got an empty problem text")
	}
	a, err := scalar(reference)
	if err != nil {
		return x, fmt.Errorf(`"answer": %w`, err)
	}
	if a = answer.Canonical(a); a == "" {
		return x, errors.New(`"answer": got an empty text`)
	}
	meta := map[string]string{MetaSource: source}
	if id != nil {
		if meta[MetaSourceID], err = scalar(id); err != nil {
			return x, fmt.Errorf(`"id": %w`, err)
		}
	}
	return example(*text, a, meta), nil
}

// promptText gives the text of a prompt: itself, or the first message that a user wrote.
func promptText(v json.RawMessage) (string, error) {
	var text string
	if json.Unmarshal(v, &text) == nil {
		return text, nil
	}
	var messages []struct {
		Role    string  `json:"role"`
		Content *string `json:"content"`
	}
	if err := json.Unmarshal(v, &messages); err != nil {
		return "", errors.New("got neither a text nor a list of messages")
	}
	for _, m := range messages {
		if m.Role == whale.RoleUser && m.Content != nil {
			return *m.Content, nil
		}
	}
	return "", fmt.Errorf("got %d messages, none of a user", len(messages))
}

// The instructions that DAPO-Math-17K's prompts have before and after the problem. They ask for a line "Answer: …", which is not what this task verifies, and how to ask is the harness's choice.
const (
	instructionsBefore = "Solve the following math problem step by step. The last line of your response should be of the form Answer:"
	instructionsAfter  = `Remember to put your answer on its own line after "Answer:".`
)

// withoutInstructions gives the problem of a DAPO prompt; any other text stays as it is.
func withoutInstructions(prompt string) string {
	text := strings.TrimSpace(prompt)
	if strings.HasPrefix(text, instructionsBefore) {
		if _, after, ok := strings.Cut(text, "\n\n"); ok {
			text = strings.TrimSpace(strings.TrimSuffix(after, instructionsAfter))
		}
	}
	return text
}
