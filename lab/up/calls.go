package up

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// bodyMax is more than AWS takes of any request.
const bodyMax = 4 << 20

// logged writes one line for every call that next answers.
func logged(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyMax))
		if err != nil {
			http.Error(w, "request is too large or was cut off", http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		begin, status := time.Now(), &statusWriter{ResponseWriter: w, code: http.StatusOK}
		next.ServeHTTP(status, r)
		log.Info("call", "service", serviceOf(r), "action", actionOf(r, body),
			"status", status.code, "took", time.Since(begin).Round(10*time.Microsecond))
	})
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	code int
}

func (w *statusWriter) WriteHeader(code int) {
	w.code = code
	w.ResponseWriter.WriteHeader(code)
}

// serviceOf reads the service from the scope of the call's signature:
// Credential=KEY/DAY/REGION/SERVICE/aws4_request.
func serviceOf(r *http.Request) string {
	_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	scope, _, _ = strings.Cut(scope, ",")
	if parts := strings.Split(scope, "/"); len(parts) == 5 {
		return parts[3]
	}
	return "unsigned"
}

// actionOf names what is called, wherever the service's protocol says so.
func actionOf(r *http.Request, body []byte) string {
	if _, action, found := strings.Cut(r.Header.Get("X-Amz-Target"), "."); found {
		return action
	}
	if form, err := url.ParseQuery(string(body)); err == nil && form.Get("Action") != "" {
		return form.Get("Action")
	}
	return r.Method + " " + r.URL.Path
}
