// Package monitoring makes Grafana dashboards and Prometheus rules of the metrics that the
// controller serves.
//
// It promises that the files beside it are what `make generate` writes, and that they ask
// for no series and no label that is not in the product's table of metrics.
package monitoring

// Board is one dashboard.
type Board struct {
	File  string // without its ending; the identity in Grafana too
	Title string
	About string // one sentence
	Pools bool   // the panels are about pools that its user chooses
	Rows  []Row
}

// Row is panels under one heading.
type Row struct {
	Title  string
	Panels []Panel
}

// Panel shows what queries say, as it changes or, where Now is set, as it is.
type Panel struct {
	Title   string
	About   string // what it tells, and what is good
	Unit    string // as Grafana calls it
	Now     bool
	Stacked bool
	Queries []Query
}

// Query is one expression of PromQL, and how its series are called.
type Query struct {
	Expr   string
	Legend string
}

// Units, as Grafana calls them.
const (
	dollars = "currencyUSD"
	seconds = "s"
	inBytes = "bytes"
	number  = "short"
	ratio   = "percentunit"
	percent = "percent"
	perSec  = "ops"
	yesNo   = "bool_yes_no"
)

// one is a panel of one query.
func one(title, unit, expr, legend, about string) Panel {
	return Panel{Title: title, Unit: unit, About: about, Queries: []Query{{expr, legend}}}
}

// stacked is one whose series add up to something.
func (p Panel) stacked() Panel {
	p.Stacked = true
	return p
}

// now is one that shows the newest values.
func (p Panel) now() Panel {
	p.Now = true
	return p
}

// quantiles is the median and the 99th percentile of a histogram, by some labels or none.
func quantiles(title, histogram, by, legend, about string) Panel {
	p := Panel{Title: title, Unit: seconds, About: about}
	of := "le"
	if by != "" {
		of += ", " + by
	}
	for _, q := range []struct{ share, name string }{{"0.5", "median"}, {"0.99", "99 %"}} {
		p.Queries = append(p.Queries, Query{
			"histogram_quantile(" + q.share + ", sum by (" + of + ") (rate(" + histogram + "[$__rate_interval])))", legend + q.name,
		})
	}
	return p
}

// Boards are all dashboards.
func Boards() []Board {
	return []Board{costs(), provisioning(), disruptions(), spot(), limits(), health()}
}
