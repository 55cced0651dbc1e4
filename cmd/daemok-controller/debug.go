package main

import (
	"maps"
	"net/http"
	"net/http/pprof"
	"net/netip"
)

// debugging serves these handlers and, where that is asked for, the profiles of the
// running program. All report on all namespaces, so they are served to this host alone.
func debugging(o options, served map[string]http.Handler) map[string]http.Handler {
	out := maps.Clone(served)
	if o.enableProfiling {
		out["/debug/pprof/"] = http.HandlerFunc(pprof.Index) // the named profiles too, such as heap
		out["/debug/pprof/cmdline"] = http.HandlerFunc(pprof.Cmdline)
		out["/debug/pprof/profile"] = http.HandlerFunc(pprof.Profile)
		out["/debug/pprof/symbol"] = http.HandlerFunc(pprof.Symbol)
		out["/debug/pprof/trace"] = http.HandlerFunc(pprof.Trace)
	}
	at := "POD"
	if o.service != "" {
		at = "service/" + o.service
	}
	for path, handler := range out {
		out[path] = loopbackOnly(at, handler)
	}
	return out
}

// loopbackOnly serves requests that come from a loopback address, as those of kubectl
// port-forward do (to what at names), which the API server authenticates and authorizes. The metrics port
// is open to the whole cluster, for Prometheus.
func loopbackOnly(at string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil || !from.Addr().Unmap().IsLoopback() {
			http.Error(w, "this path shows data of all namespaces and is served to localhost only: kubectl -n NAMESPACE port-forward "+at+" 8080:METRICS-PORT, then open http://localhost:8080"+r.URL.Path, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
