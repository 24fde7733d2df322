package sandbox

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Parent and worker exchange frames: four bytes of length (big endian, of what follows), one byte of kind, the payload.
const (
	frameHello   = 'h' // to the worker, first: the hello as JSON
	frameRequest = 'q' // to the worker
	frameReady   = 'r' // from the worker, answers the hello
	frameReply   = 'a' // from the worker: the entry's reply
	frameError   = 'e' // from the worker: text of an error
	frameOutput  = 'o' // from the worker: the reply was longer than allowed; the payload tells how long
)

const (
	frameHeader = 5
	// maxFrame bounds payloads in both directions, before any memory is taken for them.
	maxFrame = 64 << 20
	// maxText bounds errors and the like, which workers keep short.
	maxText = 64 << 10
)

func writeFrame(w io.Writer, kind byte, payload []byte) error {
	if len(payload) > maxFrame {
		return fmt.Errorf("sandbox frame: got %d bytes, want at most %d", len(payload), maxFrame)
	}
	frame := make([]byte, frameHeader, frameHeader+len(payload))
	binary.BigEndian.PutUint32(frame, uint32(1+len(payload)))
	frame[4] = kind
	_, err := w.Write(append(frame, payload...))
	return err
}

// readFrame reads one frame whose payload has at most limit bytes. The other side is not trusted: a longer one is an
// error, found before it is read.
func readFrame(r io.Reader, limit int) (kind byte, payload []byte, err error) {
	var header [frameHeader]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return 0, nil, err
	}
	n := int64(binary.BigEndian.Uint32(header[:4])) - 1
	if n < 0 || n > int64(limit) {
		return 0, nil, fmt.Errorf("sandbox frame: got %d bytes, want 0 to %d", n, limit)
	}
	payload = make([]byte, n)
	if _, err := io.ReadFull(r, payload); err != nil {
		return 0, nil, fmt.Errorf("sandbox frame cut short: %w", err)
	}
	return header[4], payload, nil
}
