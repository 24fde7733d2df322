package token

import (
	"encoding/json"
	"fmt"
	"slices"
)

// frame is what post-processing puts around a single text.
type frame struct{ prefix, suffix []frameToken }

// frameToken is a token of a template with the ids that the file gives for it.
type frameToken struct {
	name string
	ids  []int32
}

// readPostProcessor reads a post_processor: none, ByteLevel (which adds no tokens),
// TemplateProcessing, or a Sequence of these with one template at most.
func readPostProcessor(raw json.RawMessage) (frame, error) {
	if raw == nil || string(raw) == "null" {
		return frame{}, nil
	}
	const where, most = "post_processor", 8
	o := readObject(raw, where)
	if string(o.fields["type"]) != `"Sequence"` {
		return readPostStep(raw, where)
	}
	o.take("type")
	var f frame
	seen := false
	o.list("processors", func(i int, raw json.RawMessage) error {
		if i == most {
			return fmt.Errorf("got more than %d steps", most)
		}
		step, err := readPostStep(raw, where)
		if err != nil {
			return err
		}
		if len(step.prefix)+len(step.suffix) == 0 {
			return nil
		}
		if seen {
			return fmt.Errorf("unsupported: got a second template, want one")
		}
		seen, f = true, step
		return nil
	})
	return f, o.close()
}

func readPostStep(raw json.RawMessage, where string) (frame, error) {
	o := readObject(raw, where)
	if string(o.fields["type"]) != `"TemplateProcessing"` {
		return frame{}, readByteLevel(raw, where)
	}
	return readTemplate(o)
}

// readTemplate reads a TemplateProcessing: its "single" part. The "pair" part, for
// two texts at once, concerns tasks that no language model here has; it must be a list.
func readTemplate(o *object) (frame, error) {
	o.take("type")
	known := readFrameTokens(o)
	var f frame
	text := false // the text's place has been seen
	o.list("single", func(_ int, raw json.RawMessage) error {
		piece := readObject(raw, "piece")
		if piece.err != nil || len(piece.fields) != 1 {
			return fmt.Errorf("got %s, want a SpecialToken or a Sequence", brief(raw))
		}
		if seq := piece.take("Sequence"); seq != nil {
			in := readObject(seq, "Sequence")
			in.only("id", `"A"`)
			in.only("type_id", "0", "1")
			if text {
				in.fail("got the text twice, want it once")
			}
			text = true
			return in.close()
		}
		in := readObject(piece.take("SpecialToken"), "SpecialToken")
		name := in.text("id")
		in.only("type_id", "0", "1")
		ids, ok := known[name]
		if !ok {
			in.fail("got %.60q, want one of special_tokens", name)
		}
		if text {
			f.suffix = append(f.suffix, frameToken{name, ids})
		} else {
			f.prefix = append(f.prefix, frameToken{name, ids})
		}
		if len(f.prefix)+len(f.suffix) > maxFrame {
			in.fail("got more than %d tokens", maxFrame)
		}
		return in.close()
	})
	if !text {
		o.fail("single: got no Sequence, want the text's place")
	}
	if pair := o.take("pair"); pair != nil && pair[0] != '[' {
		o.fail("pair: got %s, want a list", brief(pair))
	}
	return f, o.close()
}

// readFrameTokens reads the special_tokens of a template: name → ids.
func readFrameTokens(o *object) map[string][]int32 {
	known := make(map[string][]int32)
	all := readObject(o.take("special_tokens"), "special_tokens")
	for name, raw := range all.fields {
		in := readObject(raw, "token")
		if id := in.text("id"); id != name {
			in.fail("id: got %.60q, want %.60q", id, name)
		}
		in.list("ids", func(i int, raw json.RawMessage) error {
			if i == maxFrame {
				return fmt.Errorf("got more than %d ids", maxFrame)
			}
			id, err := readID(raw)
			known[name] = append(known[name], id)
			return err
		})
		in.list("tokens", func(i int, _ json.RawMessage) error {
			if i >= len(known[name]) {
				return fmt.Errorf("got more tokens than ids")
			}
			return nil
		})
		if err := in.close(); err != nil {
			all.fail("%.60q: %v", name, err)
		}
	}
	if all.err != nil {
		o.fail("%v", all.err)
	}
	return known
}

// resolve gives the ids of both sides; a template must agree with the vocabulary.
func (f frame) resolve(added map[string]Added, ids map[string]int32) (prefix, suffix []int32, err error) {
	side := func(tokens []frameToken) (out []int32) {
		for _, t := range tokens {
			if id, ok := known(t.name, added, ids); ok && !slices.Equal(t.ids, []int32{id}) && err == nil {
				err = fmt.Errorf("post_processor: %.60q: got ids %d, want %d as in the vocabulary", t.name, t.ids, id)
			}
			out = append(out, t.ids...)
		}
		return out
	}
	return side(f.prefix), side(f.suffix), err
}

func known(name string, added map[string]Added, ids map[string]int32) (int32, bool) {
	if a, ok := added[name]; ok {
		return a.ID, true
	}
	id, ok := ids[name]
	return id, ok
}
