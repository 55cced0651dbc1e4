package gateway

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/daemok/daemok/internal/pause"
)

// lookEvery is how often a log that is followed is looked at for more.
const lookEvery = 200 * time.Millisecond

// serveLog writes a file as the options of the request say: tailLines, limitBytes and follow.
func serveLog(w http.ResponseWriter, r *http.Request, name string) {
	file, err := os.Open(name)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	defer file.Close()
	content, err := io.ReadAll(file)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if n, err := strconv.Atoi(r.FormValue("tailLines")); err == nil {
		content = tail(content, n)
	}
	if n, err := strconv.Atoi(r.FormValue("limitBytes")); err == nil && n < len(content) {
		_, _ = w.Write(content[:n])
		return
	}
	if _, err := w.Write(content); err != nil || r.FormValue("follow") != "true" {
		return
	}
	for {
		_ = http.NewResponseController(w).Flush()
		if pause.For(r.Context(), lookEvery) != nil {
			return
		}
		if _, err := io.Copy(w, file); err != nil {
			return
		}
	}
}

// tail returns the last n lines.
func tail(content []byte, n int) []byte {
	end := len(bytes.TrimSuffix(content, []byte("\n")))
	for i := end; n > 0; n-- {
		if i = bytes.LastIndexByte(content[:i], '\n'); i < 0 {
			return content
		}
		end = i + 1
	}
	if end == len(bytes.TrimSuffix(content, []byte("\n"))) {
		return nil
	}
	return content[end:]
}
