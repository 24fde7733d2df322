package process

import (
	"strings"
	"testing"
)

// The example is an exchange that both sides accept.
func TestExampleExchange(t *testing.T) {
	hosts, programs := 0, 0
	for _, line := range exchange() {
		if line.host {
			hosts++
			if _, err := decodeHost([]byte(line.text)); err != nil {
				t.Errorf("%s: %v", line.text, err)
			}
			continue
		}
		programs++
		m, err := decodeProgram([]byte(line.text), false)
		if err == nil {
			err = m.check(1)
		}
		if err != nil && m.kind == TypeRequest {
			t.Errorf("%s: %v", line.text, err)
		}
	}
	if hosts != 4 || programs != 5 {
		t.Errorf("got %d and %d lines", hosts, programs)
	}
}

// The reference names every message, operation and field that a program may meet, and nothing of the workers.
func TestReference(t *testing.T) {
	ref := Reference()
	for _, m := range append(programMessages(), hostMessages()...) {
		title := "### " + m.kind
		if m.op != "" {
			title += ": " + m.op
		}
		if has := strings.Contains(ref, title+"\n"); has == m.worker {
			t.Errorf("%s: in the reference: %v", title, has)
		}
		for _, f := range m.fields {
			if m.worker {
				break
			}
			if has := strings.Contains(ref, "| `"+f.name+"` |"); has == f.worker {
				t.Errorf("%s: field %s: in the reference: %v", title, f.name, has)
			}
		}
	}
	for _, want := range []string{"message_bytes", "memory_bytes", "wall_seconds", "| protocol |", "| contract |", "| answer:foreign |"} {
		if !strings.Contains(ref, want) {
			t.Errorf("the reference lacks %s", want)
		}
	}
}
