package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"time"

	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/ui/view"
)

// batchFor is how long changes are gathered before browsers get them.
const batchFor = 250 * time.Millisecond

// explainer knows what was decided about objects.
type explainer interface {
	// About lists what is on record about an object, what holds first; empty: nothing is.
	About(ctx context.Context, o record.Object) ([]record.Statement, error)
}

// reviewer knows whose token a browser has.
type reviewer interface {
	// Review returns nil where the token's user may see the pages. An error wraps ErrUnknown or ErrForbidden, or says why
	// it could not be reviewed.
	Review(ctx context.Context, token string) error
}

// Options are what is served and to whom.
type Options struct {
	Source view.Source
	Record explainer // nil: no record can be read
	Title  string    // of the pages: the name of the cluster

	// Token is what a browser needs where users of the same host are not to see the pages; empty: it needs none.
	Token string
	// Tokens reviews bearer tokens, where the pages are served to other hosts. Without it only requests to localhost are
	// answered.
	Tokens reviewer
}

// Server serves the pages of a cluster.
type Server struct {
	Options
	feed    *feed
	files   map[string]file
	streams chan struct{} // one for each that is open
	ended   chan struct{} // closed when Run ends
}

// New makes a server. Run has to run for it to show changes.
func New(o Options) *Server {
	return &Server{Options: o, feed: newFeed(rand.Text()[:8]), files: files(), streams: make(chan struct{}, streamsMost), ended: make(chan struct{})}
}

// Run follows the source until ctx ends, and then ends all streams. It is called once.
func (s *Server) Run(ctx context.Context) {
	defer close(s.ended)
	points := time.NewTicker(pointEvery)
	defer points.Stop()
	batch := time.NewTimer(batchFor)
	defer batch.Stop()
	var news <-chan struct{} // nil while changes are gathered
	s.read()
	for {
		select {
		case <-ctx.Done():
			return
		case <-points.C:
			s.feed.point(time.Now())
		case <-batch.C:
			news = s.Source.Changed()
		case <-news:
			news = nil
			batch.Reset(batchFor)
			s.read()
		}
	}
}

// Browsers is how many browsers follow now.
func (s *Server) Browsers() int { return len(s.streams) }

// read takes over what the source shows. The history begins with the first state.
func (s *Server) read() {
	c := s.Source.View()
	if c == nil {
		return
	}
	first := s.feed.newest() == nil
	s.feed.publish(c)
	if first {
		s.feed.point(time.Now())
	}
}

// Handler serves the pages and the stream.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.file)
	mux.HandleFunc("GET /assets/{name}", s.file)
	mux.HandleFunc("GET /stream", s.stream)
	mux.HandleFunc("GET /about/{kind}/{name...}", s.about)
	mux.HandleFunc("GET /facts", s.facts)
	return s.protected(mux)
}

// facts are what does not change while the server runs.
func (s *Server) facts(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{"title": s.Title, "record": s.Record != nil, "historyHours": historyFor.Hours()})
}

// about says what is on record about an object.
func (s *Server) about(w http.ResponseWriter, r *http.Request) {
	if s.Record == nil {
		answer(w, http.StatusNotFound, failure{"no record of decisions can be read here"})
		return
	}
	about, err := record.Parse(r.PathValue("kind"), r.PathValue("name"), "default")
	if err != nil {
		answer(w, http.StatusBadRequest, failure{err.Error()})
		return
	}
	list, err := s.Record.About(r.Context(), about)
	if err != nil {
		answer(w, http.StatusBadGateway, failure{"the record of decisions could not be read: " + err.Error()})
		return
	}
	answer(w, http.StatusOK, append([]record.Statement{}, list...))
}

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
