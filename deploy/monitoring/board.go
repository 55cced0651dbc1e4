// Package monitoring makes Grafana dashboards and Prometheus rules for the metrics of the controller.
//
// It promises that the files beside it are what `make generate` writes, and that they query only
// series and labels that are in the product's table of metrics.
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
	About   string // what it shows, and which values are good
	Unit    string // as Grafana calls it
	Now     bool
	Names   bool // with Now: the names of the series, not their values; "None" if there are none
	Bars    bool // with Now: as bars up to 1
	Stacked bool
	Alarm   Alarm
	Queries []Query
}

// Alarm says which values of a panel that shows what is now are red; the others are green. None
// are where From and Below are 0.
type Alarm struct {
	From  float64 // these and larger values
	Below float64 // smaller values
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
	events  = "short" // in the rate interval
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

// names is one that shows the names of the series that there are now: each is one to act on.
func (p Panel) names() Panel {
	p.Now, p.Names = true, true
	return p
}

// red is one whose values are red from a number on.
func (p Panel) red(from float64) Panel {
	p.Alarm = Alarm{From: from}
	return p
}

// green is one whose values are red below a number.
func (p Panel) green(from float64) Panel {
	p.Alarm = Alarm{Below: from}
	return p
}

// bars is one that shows the newest values as bars up to 1.
func (p Panel) bars() Panel {
	p.Now, p.Bars = true, true
	return p
}

// counted is how often something has happened within the rate interval, by some labels or none.
//
// It is a difference and not increase(), which misses the first event of a series that was not there
// before it, such as the first interruption in a NodePool since the leader started, and shows a third
// too much where a minute has four scrapes. A series that is new counts in full. Only processes of
// Daemok count, and only those that were scraped before: what happened earlier is no event of now.
func counted(metric, by string) string {
	of := "sum"
	if by != "" {
		of += " by (" + by + ")"
	}
	return of + " ((clamp_min(" + metric + " - " + metric + " offset $__rate_interval, 0) or " + metric +
		") and on (instance) karpenter_build_info offset $__rate_interval)"
}

// everAbove0 is an expression for the series that have been above 0 in the time that the dashboard
// shows: a metric that has a series for each possible reason fills the legend with noughts.
func everAbove0(metric string) string {
	return metric + " and max_over_time(" + metric + "[$__range]) > 0"
}

// leads is an expression for the leader's series alone: a standby has the same at 0.
func leads(metric string) string { return metric + " and on (instance) daemok_leader == 1" }

// quantiles is the median and the 99th percentile of a histogram, by some labels or none.
func quantiles(title, histogram, by, legend, about string) Panel {
	p := Panel{Title: title, Unit: seconds, About: about}
	for _, q := range []struct{ share, name string }{{"0.5", "median"}, {"0.99", "99 %"}} {
		p.Queries = append(p.Queries, Query{quantile(q.share, histogram, by), legend + q.name})
	}
	return p
}

// slowest is the 99th percentile of a histogram alone, where there are many series.
func slowest(title, histogram, by, legend, about string) Panel {
	return one(title, seconds, quantile("0.99", histogram, by), legend, about)
}

func quantile(share, histogram, by string) string {
	of := "le"
	if by != "" {
		of += ", " + by
	}
	return "histogram_quantile(" + share + ", sum by (" + of + ") (rate(" + histogram + "[$__rate_interval])))"
}

// Boards are all dashboards.
func Boards() []Board {
	return []Board{costs(), provisioning(), disruptions(), spot(), limits(), health()}
}
