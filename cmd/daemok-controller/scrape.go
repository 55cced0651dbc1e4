package main

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/daemok/daemok/observe/alias"
)

// metricsPath is where controller-runtime's server has its metrics.
const metricsPath = "/metrics"

// streamed writes what it gathers itself in Prometheus's text format.
type streamed interface {
	Text() (func(io.Writer) error, error)
}

// scrape answers scrapes.
type scrape struct {
	all       *alias.Gatherer
	whole     http.Handler // with all that is gathered at once
	exemplars bool
}

// scrapedFrom has the metrics server answer scrapes with what another gatherer has in
// place of its own registry, as it would itself. Other paths are as they were. With exemplars
// a client that asks for OpenMetrics gets it: the older form has none.
func scrapedFrom(all *alias.Gatherer, exemplars bool) func(*rest.Config, *http.Client) (metricsserver.Filter, error) {
	s := scrape{all, promhttp.HandlerFor(all, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError, EnableOpenMetrics: exemplars}), exemplars}
	filter := func(_ logr.Logger, next http.Handler) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == metricsPath {
				s.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		}), nil
	}
	return func(*rest.Config, *http.Client) (metricsserver.Filter, error) { return filter, nil }
}

// ServeHTTP answers in the text format, where that is asked for, without gathering all at once: a large cluster has
// tens of thousands of series. Metrics that have more labels for older dashboards, or are chosen by name, are gathered.
func (s scrape) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	beside, streams := s.all.Beside.(streamed)
	format := s.format(r.Header)
	if !streams || len(s.all.Copies) > 0 || r.URL.Query().Has("name[]") || format.FormatType() != expfmt.TypeTextPlain {
		s.whole.ServeHTTP(w, r)
		return
	}
	families, err := (&alias.Gatherer{From: s.all.From, Rules: s.all.Rules}).Gather()
	if err != nil {
		http.Error(w, "gather metrics: "+err.Error(), http.StatusInternalServerError)
		return
	}
	write, err := beside.Text()
	if err != nil {
		http.Error(w, "gather metrics: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", string(format))
	out, end := compressed(w, r)
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(out, f); err != nil {
			return // the client is gone
		}
	}
	if write(out) == nil {
		_ = end() // likewise
	}
}

func (s scrape) format(asked http.Header) expfmt.Format {
	if s.exemplars {
		return expfmt.NegotiateAccept(asked, expfmt.DefaultOpenMetricsAcceptedFormats()...)
	}
	return expfmt.NegotiateAccept(asked, expfmt.DefaultAcceptedFormats()...)
}

// compressed is where to write the answer, and what ends it. It is compressed for clients that take that, by the fastest way:
// series resemble each other so much that a slower one gains little.
func compressed(w http.ResponseWriter, r *http.Request) (out io.Writer, end func() error) {
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		return w, func() error { return nil }
	}
	zipped, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return w, func() error { return nil }
	}
	w.Header().Set("Content-Encoding", "gzip")
	return zipped, zipped.Close
}
