package serve

import (
	"net/http"
)

type modelEntry struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
	Context int    `json:"max_model_len"` // vLLM's name for the context's length
}

func (s *Server) entry() modelEntry {
	return modelEntry{ID: s.model.Name, Object: "model", Created: s.started.Unix(), OwnedBy: "whale", Context: s.model.Policy.Capabilities().MaxContext}
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, struct {
		Object string       `json:"object"`
		Data   []modelEntry `json:"data"`
	}{"list", []modelEntry{s.entry()}})
}

func (s *Server) oneModel(w http.ResponseWriter, r *http.Request) {
	if f := s.checkModel(r.PathValue("model")); f != nil {
		f.write(w)
		return
	}
	writeJSON(w, http.StatusOK, s.entry())
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	if s.stopping.Load() {
		stopping().write(w)
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// elsewhere answers what no route takes: unknown paths, and known ones by another method.
func (s *Server) elsewhere(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/v1/chat/completions", "/v1/completions":
		w.Header().Set("Allow", http.MethodPost)
	case "/v1/models", "/healthz":
		w.Header().Set("Allow", "GET, HEAD")
	default:
		(&failure{status: http.StatusNotFound, kind: "invalid_request_error", code: "unknown_url", message: "path: want /v1/chat/completions, /v1/completions, /v1/models or /healthz"}).write(w)
		return
	}
	(&failure{status: http.StatusMethodNotAllowed, kind: "invalid_request_error", message: "method: not one of this path"}).write(w)
}
