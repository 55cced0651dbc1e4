package web

import (
	"context"
	"crypto/rand"
	"net/http"
	"time"

	"github.com/daemok/daemok/ui/view"
)

// batchFor is how long changes are gathered before browsers get them.
const batchFor = 250 * time.Millisecond

// Server serves the pages of a cluster.
type Server struct {
	Options
	feed    *feed
	waits   waits     // belongs to Run
	came    time.Time // when the newest state came, by the clock of this process; belongs to Run
	replies *replies
	files   map[string]file
	streams chan struct{} // one for each that is open
	ended   chan struct{} // closed when Run ends
}

// New makes a server. Run has to run for it to show changes.
func New(o Options) *Server {
	return &Server{
		Options: o, feed: newFeed(rand.Text()[:8]), replies: newReplies(o), files: files(),
		streams: make(chan struct{}, streamsMost), ended: make(chan struct{}),
	}
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
			s.point()
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
	s.came = time.Now()
	s.waits.follow(c)
	s.feed.publish(c)
	if first {
		s.point()
	}
}

// point adds to the history. Its times are those of the cluster's clock: that of this host may be another.
func (s *Server) point() {
	c := s.feed.newest()
	if c == nil {
		return
	}
	now := time.Now()
	at := c.At.Add(now.Sub(s.came))
	s.came = now
	p := pointOf(c, at)
	s.waits.fill(&p, at)
	s.feed.point(c, at, p)
}

// Handler serves the pages and the stream.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.file)
	mux.HandleFunc("GET /assets/{name}", s.file)
	mux.HandleFunc("GET /stream", s.stream)
	mux.HandleFunc("GET /about/{kind}/{name...}", s.replies.about)
	mux.HandleFunc("GET /owner/{namespace}/{kind}/{name...}", s.replies.owner)
	mux.HandleFunc("GET /plan", s.replies.plan)
	mux.HandleFunc("GET /costs", s.replies.costs)
	mux.HandleFunc("GET /costs.csv", s.replies.costsCSV)
	mux.HandleFunc("GET /facts", s.facts)
	return s.protected(mux)
}

// tooMany is said where so many browsers follow that another one cannot.
const tooMany = "Too many browsers follow this cluster: close one, or try again later."

// facts are what does not change while the server runs, and why no stream is to be had now.
func (s *Server) facts(w http.ResponseWriter, _ *http.Request) {
	_, explains := s.Source.(view.Inputs)
	full := ""
	if len(s.streams) == cap(s.streams) {
		full = tooMany
	}
	answer(w, http.StatusOK, map[string]any{
		"full": full, "title": s.Title, "historyHours": historyFor.Hours(),
		"plan": s.Planner != nil, "latest": s.Latest, "costs": explains,
	})
}
