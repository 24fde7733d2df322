package serve

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestRefusals has what may not be ignored, with the field that the answer must name.
func TestRefusals(t *testing.T) {
	s := newServer(t, says("x"), nil)
	msg := `"messages":[{"role":"user","content":"hi"}]`
	for _, c := range []struct{ path, body, param, text string }{
		{chatPath, `{`, "", "JSON object"},
		{chatPath, `[]`, "", "JSON object"},
		{chatPath, `null`, "", "JSON object"},
		{chatPath, `{}`, "messages", "at least one"},
		{chatPath, `{"messages":[]}`, "messages", "at least one"},
		{chatPath, `{"messages":7}`, "messages", "a list"},
		{chatPath, `{"messages":[{"role":"user"}]}`, "messages[0].content", "text"},
		{chatPath, `{"messages":[{"role":"user","content":7}]}`, "messages[0].content", "text"},
		{chatPath, `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{}}]}]}`, "messages[0].content[0].type", "nothing else"},
		{chatPath, `{"messages":[{"role":"judge","content":"x"}]}`, "messages[0].role", "judge"},
		{chatPath, `{"messages":[{"role":"user","content":"x","name":"bob"}]}`, "messages[0].name", "unknown"},
		{chatPath, `{"messages":[{"role":"tool","content":"x","tool_call_id":"c"}]}`, "messages[0].tool_call_id", "earlier"},
		{chatPath, `{"messages":[{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}]}`, "messages", "cannot render"},
		{chatPath, `{"messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"["}}]}]}`, "messages[0].tool_calls[0].function.arguments", "JSON object"},
		{chatPath, `{` + msg + `,"temperature":3}`, "temperature", "0 to 2"},
		{chatPath, `{` + msg + `,"temperature":"hot"}`, "temperature", "number"},
		{chatPath, `{` + msg + `,"top_p":0}`, "top_p", "more than 0"},
		{chatPath, `{` + msg + `,"top_k":1.5}`, "top_k", "whole number"},
		{chatPath, `{` + msg + `,"n":0}`, "n", "1 to"},
		{chatPath, `{` + msg + `,"n":1000000000}`, "n", "1 to"},
		{chatPath, `{` + msg + `,"seed":-1}`, "seed", "2147483647"},
		{chatPath, `{` + msg + `,"max_tokens":0}`, "max_tokens", "1"},
		{chatPath, `{` + msg + `,"max_tokens":5,"max_completion_tokens":6}`, "max_completion_tokens", "one of them"},
		{chatPath, `{` + msg + `,"max_tokens":4000}`, "messages", "context"},
		{chatPath, `{"messages":[{"role":"user","content":"` + strings.Repeat("x", fakeContext) + `"}]}`, "messages", "context"},
		{chatPath, `{` + msg + `,"stop":[""]}`, "stop", "1 to"},
		{chatPath, `{` + msg + `,"stop":7}`, "stop", "list of texts"},
		{chatPath, `{` + msg + `,"stop_token_ids":[258]}`, "stop_token_ids", "257"},
		{chatPath, `{` + msg + `,"stream_options":{"include_usage":true}}`, "stream_options", "stream"},
		{chatPath, `{` + msg + `,"stream":true,"stream_options":{"include_usages":true}}`, "stream_options.include_usages", `did you mean "include_usage"`},
		{chatPath, `{` + msg + `,"logprobs":true,"top_logprobs":2}`, "top_logprobs", "sampled token"},
		{chatPath, `{` + msg + `,"frequency_penalty":0.5}`, "frequency_penalty", "penalties"},
		{chatPath, `{` + msg + `,"logit_bias":{"5":1}}`, "logit_bias", "biases"},
		{chatPath, `{` + msg + `,"response_format":{"type":"json_object"}}`, "response_format", "free text"},
		{chatPath, `{` + msg + `,"temprature":1}`, "temprature", `did you mean "temperature"`},
		{chatPath, `{` + msg + `,"min_p":0.1}`, "min_p", "unknown field"},
		{chatPath, `{` + msg + `,"tool_choice":"auto"}`, "tool_choice", "without tools"},
		{chatPath, `{` + msg + `,` + oneTool + `,"tool_choice":"required"}`, "tool_choice", "make the model"},
		{chatPath, `{` + msg + `,` + oneTool + `,"parallel_tool_calls":false}`, "parallel_tool_calls", "as many"},
		{chatPath, `{` + msg + `,"tools":[{"type":"function","function":{"name":"a b"}}]}`, "tools[0].function.name", "letters"},
		{chatPath, `{` + msg + `,"tools":[{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"a"}}]}`, "tools", "twice"},
		{chatPath, `{` + msg + `,"tools":[{"type":"function","function":{"name":"a","strict":true}}]}`, "tools[0].function.strict", "constrains"},
		{chatPath, `{` + msg + `,"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"object","properties":{"x":{"type":"string","enum":["a"]}}}}}]}`, "tools[0].function.parameters.properties.x.enum", "unknown"},
		{textPath, `{}`, "prompt", "token ids"},
		{textPath, `{"prompt":""}`, "prompt", "no tokens"},
		{textPath, `{"prompt":[]}`, "prompt", "token ids"},
		{textPath, `{"prompt":[1,-2]}`, "prompt", "got token id -2"},
		{textPath, `{"prompt":[[]]}`, "prompt", "no tokens"},
		{textPath, `{"prompt":["a","b"],"n":64}`, "n", "in all"},
		{textPath, `{"prompt":"x","logprobs":3}`, "logprobs", "want 0"},
		{textPath, `{"prompt":"x","echo":true}`, "echo", "repeated"},
		{textPath, `{"prompt":"x","suffix":"y"}`, "suffix", "continues"},
		{textPath, `{"prompt":"x","best_of":2}`, "best_of", "ask for n"},
	} {
		w := post(t, s, c.path, c.body)
		var e struct {
			Error struct {
				Message, Type string
				Param         *string
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || w.Code != http.StatusBadRequest || e.Error.Type != "invalid_request_error" {
			t.Errorf("%s: got %d %s", c.body, w.Code, w.Body)
			continue
		}
		param := ""
		if e.Error.Param != nil {
			param = *e.Error.Param
		}
		if param != c.param || !strings.Contains(e.Error.Message, c.text) || strings.Contains(e.Error.Message, "\n") {
			t.Errorf("%s: got param %q and %q, want param %q and …%s…", c.body, param, e.Error.Message, c.param, c.text)
		}
	}
}

func TestNeutralValuesPass(t *testing.T) {
	s := newServer(t, says("x"), nil)
	ask[chatReply](t, s, chatPath, `{"model":"m","messages":[{"role":"developer","content":"a"},{"role":"assistant","content":"b","refusal":null},{"role":"user","content":"hi"}],"frequency_penalty":0,"presence_penalty":0.0,"logit_bias":{},
		"top_logprobs":0,"response_format":{"type":"text"},"store":false,"modalities":["text"],"n":1,"stop":null,"stream":false,"tools":[],"logprobs":false}`)
}

func FuzzRequests(f *testing.F) {
	f.Add(`{"messages":[{"role":"user","content":"hi"}],"stop":["a"],"n":2,"stream":true,"stream_options":{"include_usage":true}}`)
	f.Add(`{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"x"}],` + oneTool + `}`)
	f.Add(`{"prompt":[[1,2],[3]],"logprobs":0,"best_of":1,"echo":false,"seed":3,"stop_token_ids":[1]}`)
	f.Add(`{"prompt":"a","\u0000":1,"top_k":1e999}`)
	p := says("[add]é")
	s := newServer(f, p, nil)
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range []string{chatPath, textPath} {
			w := post(t, s, path, body)
			switch w.Code {
			case http.StatusOK:
			case http.StatusBadRequest, http.StatusNotFound:
				if !json.Valid(w.Body.Bytes()) || len(w.Body.Bytes()) > 2000 {
					t.Errorf("answer to %q: %s", body, w.Body)
				}
			default:
				t.Errorf("answer to %q: %d %s", body, w.Code, w.Body)
			}
		}
	})
}
