package sandbox

import (
	"bytes"
	"testing"
)

func FuzzReadFrame(f *testing.F) {
	var good bytes.Buffer
	if err := writeFrame(&good, frameReply, []byte("hello")); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes())
	f.Add([]byte{0, 0, 0, 0, 'a'})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 'a', 1, 2})
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 64
		kind, payload, err := readFrame(bytes.NewReader(data), limit)
		if err != nil {
			return
		}
		if len(payload) > limit {
			t.Fatalf("got %d bytes, want at most %d", len(payload), limit)
		}
		var again bytes.Buffer
		if err := writeFrame(&again, kind, payload); err != nil || !bytes.HasPrefix(data, again.Bytes()) {
			t.Fatalf("frame %q became %q, %v", data, again.Bytes(), err)
		}
	})
}
