package main

import (
	"net/http"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// metricsPath is where controller-runtime's server has its metrics.
const metricsPath = "/metrics"

// scrapedFrom has the metrics server answer scrapes with what another gatherer has in
// place of its own registry, as it would itself. Other paths are as they were. With exemplars
// a client that asks for OpenMetrics gets it: the older form has none.
func scrapedFrom(all prometheus.Gatherer, exemplars bool) func(*rest.Config, *http.Client) (metricsserver.Filter, error) {
	scrape := promhttp.HandlerFor(all, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError, EnableOpenMetrics: exemplars})
	filter := func(_ logr.Logger, next http.Handler) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == metricsPath {
				scrape.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		}), nil
	}
	return func(*rest.Config, *http.Client) (metricsserver.Filter, error) { return filter, nil }
}
