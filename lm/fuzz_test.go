package lm

import (
	"bytes"
	"strings"
	"testing"
)

func checkError(t *testing.T, err error) {
	t.Helper()
	if strings.Contains(err.Error(), "\n") || len(err.Error()) > 600 {
		t.Errorf("error is not one short line: %q", err)
	}
}

func FuzzReadSafetensors(f *testing.F) {
	cfg := tinyConfig()
	cfg.Vocab, cfg.Dim, cfg.FFN, cfg.Layers = 3, 4, 3, 1
	m := newModel(f, cfg, 1)
	for _, d := range []DType{F32, BF16} {
		data := write(f, m, d, map[string]string{"a": "b"})
		f.Add(data)
		f.Add(data[:len(data)/2])
		f.Add(append(bytes.Repeat([]byte{0xff}, 8), data[8:]...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ReadSafetensors(cfg, data)
		if err != nil {
			checkError(t, err)
			return
		}
		if err := checkFinite(got.w.flat); err != nil {
			t.Error(err)
		}
		back, err := ReadSafetensors(cfg, write(t, got, F32, nil))
		if err != nil || back.Hash() != got.Hash() {
			t.Errorf("what was read does not survive writing: %v", err)
		}
	})
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("{" + shape + `, "model_type": "llama"}`))
	f.Add([]byte("{" + shape + `, "model_type": "qwen3", "rope_parameters": {"rope_theta": 1e40}}`))
	f.Add([]byte(`{"hidden_size": 1e99}`))
	f.Add([]byte("{" + shape + `, "model_type": "qwen2", "num_key_value_heads": null, "use_sliding_window": false, "sliding_window": 9}`))
	f.Add([]byte("{" + shape + `, "model_type": "llama", "rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4}}`))
	f.Add([]byte("{" + shape + `, "model_type": "llama", "rope_scaling": {"type": "linear", "factor": 1e7}, "quantization_config": {}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseConfig(data)
		if err != nil {
			checkError(t, err)
			return
		}
		text, err := c.encode(F32)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := ParseConfig(text); err != nil || back != c {
			t.Errorf("written and read again: got %+v, %v, want %+v", back, err, c)
		}
	})
}

func FuzzReadState(f *testing.F) {
	cfg := tinyConfig()
	cfg.Vocab, cfg.Dim, cfg.FFN, cfg.Layers = 3, 4, 3, 1
	m := newModel(f, cfg, 1)
	var buf bytes.Buffer
	if err := NewTrainer(m, nil, DefaultAdamW()).WriteState(&buf); err != nil {
		f.Fatal(err)
	}
	f.Add(buf.Bytes())
	f.Add(buf.Bytes()[:70])
	f.Fuzz(func(t *testing.T, data []byte) {
		tr := NewTrainer(m, nil, DefaultAdamW())
		if err := tr.ReadState(bytes.NewReader(data)); err != nil {
			checkError(t, err)
			return
		}
		var again bytes.Buffer
		if err := tr.WriteState(&again); err != nil || !bytes.Equal(again.Bytes(), data) {
			t.Errorf("state read and written again differs (%v)", err)
		}
	})
}
