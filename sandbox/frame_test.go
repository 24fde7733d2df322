package sandbox

import (
	"bytes"
	"io"
	"os"
	"strings"
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

// A worker that floods its standard error must not fill the memory of its parent.
func TestBuffersAreBounded(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer w.Close()
		for range 100 {
			if _, err := w.WriteString(strings.Repeat("0123456789", 1000)); err != nil {
				return
			}
		}
		_, _ = w.WriteString("end")
	}()
	var head headBuffer
	var edges edgesBuffer
	if n, err := io.Copy(&edges, io.TeeReader(r, &head)); n != 1000003 || err != nil {
		t.Fatal(n, err)
	}
	if got := head.String(); len(got) != 4<<10 || !strings.HasPrefix(got, "0123456789") {
		t.Errorf("head: got %d bytes", len(got))
	}
	if got := edges.String(); len(got) > 9<<10 || !strings.HasPrefix(got, "0123456789") || !strings.HasSuffix(got, "789end") {
		t.Errorf("edges: got %d bytes", len(got))
	}
	for _, w := range []any{&head, &edges} {
		if _, ok := w.(io.ReaderFrom); ok {
			t.Errorf("%T reads by itself, past its bound", w)
		}
	}
}
