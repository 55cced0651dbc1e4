package web

import (
	"encoding/json"
	"net/http"
)

// failure is why a request has no other answer.
type failure struct {
	Error string `json:"error"`
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the browser may have gone
}
