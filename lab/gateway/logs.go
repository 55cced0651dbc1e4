package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/daemok/daemok/internal/pause"
)

// checkEvery is how often a log that is followed is checked for more.
const checkEvery = 200 * time.Millisecond

// serveLog writes a container's file as the options of the request say: tailLines, limitBytes and
// follow. A container that runs as no process has no file, and has printed nothing.
func serveLog(w http.ResponseWriter, r *http.Request, name string, previous bool) {
	for option, flag := range map[string]string{"sinceSeconds": "--since", "sinceTime": "--since-time", "timestamps": "--timestamps"} {
		if v := r.FormValue(option); v != "" && v != "false" {
			http.Error(w, "a lab does not keep when a container printed what: leave "+flag+" out, or choose lines by --tail", http.StatusBadRequest)
			return
		}
	}
	file, err := os.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && previous:
		http.Error(w, fmt.Sprintf("previous terminated container %q in pod %q not found", r.PathValue("container"), r.PathValue("pod")), http.StatusBadRequest)
		return
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
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
	follow(w, r, file)
}

// follow writes what is added to a file until the request ends or another run prints to another file of its name.
func follow(w http.ResponseWriter, r *http.Request, file *os.File) {
	for {
		_ = http.NewResponseController(w).Flush()
		if pause.For(r.Context(), checkEvery) != nil {
			return
		}
		over := !isAt(file, file.Name())
		if _, err := io.Copy(w, file); err != nil || over {
			return
		}
	}
}

// isAt reports whether an open file is the one that a name stands for.
func isAt(file *os.File, name string) bool {
	open, err := file.Stat()
	named, errNamed := os.Stat(name)
	return err == nil && errNamed == nil && os.SameFile(open, named)
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
