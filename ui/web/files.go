package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed assets
var assets embed.FS

// file is a part of the pages, as it is served.
type file struct {
	plain, packed []byte
	kind, tag     string
}

// kinds are the types of files by how their names end; those of the system differ.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// files reads what is embedded.
func files() map[string]file {
	list, err := assets.ReadDir("assets")
	if err != nil {
		panic("web: its files are embedded: " + err.Error())
	}
	out := map[string]file{}
	for _, entry := range list {
		plain, err := assets.ReadFile("assets/" + entry.Name())
		if err != nil {
			panic("web: its files are embedded: " + err.Error())
		}
		var packed bytes.Buffer
		to := gzip.NewWriter(&packed)
		_, _ = to.Write(plain) // a buffer takes everything
		_ = to.Close()
		kind := kinds[path.Ext(entry.Name())]
		if kind == "" {
			kind = mime.TypeByExtension(path.Ext(entry.Name()))
		}
		out[entry.Name()] = file{plain, packed.Bytes(), kind, fmt.Sprintf(`"%x"`, sha256.Sum256(plain))}
	}
	return out
}

// file serves a part of the pages: index.html where none is named.
func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if name == "" {
		name = "index.html"
	}
	f, known := s.files[name]
	if !known {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", "no-cache") // asked for again each time, by its tag
	h.Set("ETag", f.tag)
	h.Set("Vary", "Accept-Encoding")
	if r.Header.Get("If-None-Match") == f.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = f.packed
	}
	_, _ = w.Write(body) // the browser may have gone
}
