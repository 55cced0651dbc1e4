package comparison

import (
	"encoding/json"
	"net/http"
)

// Path is where a Handler is to be served.
const Path = "/debug/shadow"

// Handler serves the history as JSON.
func Handler(b *Book) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h, _ := b.History()
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(h); err != nil {
			panic(http.ErrAbortHandler) // the client has gone
		}
	})
}
