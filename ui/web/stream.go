package web

import (
	"cmp"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"time"
)

// How often a stream says that it lives, and how long a browser may take to accept what is written.
const (
	beatEvery = 10 * time.Second
	writeFor  = 30 * time.Second
)

// streamsMost bounds the browsers that follow at once: each takes a megabyte for compression.
const streamsMost = 64

// stream serves the states of the cluster as server-sent events until the browser goes, the server ends, or the token is
// not good any more.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		w.Header().Set("Retry-After", "10")
		deny(w, r, http.StatusServiceUnavailable, tooMany)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies are to pass on each event at once
	out := &events{to: w, last: w, rc: http.NewResponseController(w)}
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		packed, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level exists
		out.to, out.packed = packed, packed
	}
	revision, known := s.feed.revisionOf(cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("since")))
	out.write([]byte("retry: 2000\n\n"))
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	for out.err == nil {
		list, now, next := s.feed.since(revision, known)
		out.write(list...)
		known = known || len(list) > 0
		revision = now
		select {
		case <-next:
		case <-beat.C:
			if s.refused(r) {
				return
			}
			out.write([]byte("event: beat\ndata: {}\n\n"))
		case <-r.Context().Done():
			return
		case <-s.ended:
			return
		}
	}
}

// events writes to a browser. After the first error it writes nothing.
type events struct {
	to, last io.Writer
	packed   *gzip.Writer // nil: not compressed
	rc       *http.ResponseController
	err      error
}

func (e *events) write(list ...[]byte) {
	if len(list) == 0 || e.err != nil {
		return
	}
	_ = e.rc.SetWriteDeadline(time.Now().Add(writeFor)) // a recorder of tests has none
	for _, event := range list {
		if e.err == nil {
			_, e.err = e.to.Write(event)
		}
	}
	if e.err == nil && e.packed != nil {
		e.err = e.packed.Flush()
	}
	if e.err == nil {
		e.err = e.rc.Flush()
	}
}
