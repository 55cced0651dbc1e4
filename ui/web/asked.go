package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/observe/spend"
	"github.com/daemok/daemok/ui/costs"
	"github.com/daemok/daemok/ui/page"
	"github.com/daemok/daemok/ui/view"
)

// replies answers what pages ask for beside the stream.
type replies struct {
	Options

	plans *shared[page.Page]
	bills *shared[bill]
}

func newReplies(o Options) *replies { return &replies{o, newShared[page.Page](), newShared[bill]()} }

// freshFor is for how long an answer that took a while is given again: to browsers that ask at about the same time.
const freshFor = 5 * time.Second

// made is an answer, when it was made, and how long that took.
type made[T any] struct {
	value   T
	at      time.Time
	seconds float64
}

// shared has an answer made once for all browsers that ask meanwhile.
type shared[T any] struct {
	turn chan struct{} // has a value while none is being made
	last made[T]       // belongs to the one whose turn it is
}

func newShared[T any]() *shared[T] {
	s := &shared[T]{turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	return s
}

func (s *shared[T]) get(ctx context.Context, make func(context.Context) (T, error)) (made[T], error) {
	select {
	case <-ctx.Done():
		return made[T]{}, ctx.Err()
	case <-s.turn:
	}
	defer func() { s.turn <- struct{}{} }()
	began := time.Now()
	if began.Sub(s.last.at) < freshFor {
		return s.last, nil
	}
	value, err := make(ctx)
	if err != nil {
		return made[T]{}, err
	}
	now := time.Now()
	s.last = made[T]{value, now, now.Sub(began).Seconds()}
	return s.last, nil
}

// plan answers with what would happen now.
func (d *replies) plan(w http.ResponseWriter, r *http.Request) {
	if d.Planner == nil {
		answer(w, http.StatusNotFound, failure{"no plan is made here: `daemok plan` prints what would happen now"})
		return
	}
	m, err := d.plans.get(r.Context(), d.Planner.Plan)
	if err != nil {
		answer(w, http.StatusBadGateway, failure{"No plan can be made: " + err.Error()})
		return
	}
	answer(w, http.StatusOK, map[string]any{"at": m.at, "ago": time.Since(m.at).Seconds(), "seconds": m.seconds, "page": sheetOf(&m.value)})
}

// input is what the newest state is made from; nil: that is not known.
func (d *replies) input() *view.Input {
	if from, is := d.Source.(view.Inputs); is {
		return from.Input()
	}
	return nil
}

// about answers with the card of an object, and what is on record about it.
func (d *replies) about(w http.ResponseWriter, r *http.Request) {
	about, err := record.Parse(r.PathValue("kind"), r.PathValue("name"), "default")
	if err != nil {
		answer(w, http.StatusBadRequest, failure{err.Error()})
		return
	}
	out := said{Record: []record.Statement{}}
	if d.Record == nil {
		out.Trouble = "No record of decisions can be read here."
	} else if list, err := d.Record.About(r.Context(), about); err != nil {
		out.Trouble = "The record of decisions could not be read: " + err.Error()
	} else {
		out.Record = append(out.Record, list...)
	}
	if in := d.input(); in != nil {
		out.explained(view.Explain(*in, about, out.Record))
	}
	answer(w, http.StatusOK, out)
}

// owner answers with the card of the pods of one owner.
func (d *replies) owner(w http.ResponseWriter, r *http.Request) {
	out := said{Record: []record.Statement{}}
	if in := d.input(); in != nil {
		out.explained(view.ExplainOwner(*in, r.PathValue("namespace"), r.PathValue("kind")+"/"+r.PathValue("name")))
	}
	answer(w, http.StatusOK, out)
}

// said is what is said about an object.
type said struct {
	Card    *view.Card         `json:"card"` // null: nothing is known of it
	Record  []record.Statement `json:"record"`
	Trouble string             `json:"trouble,omitempty"` // why there is no record
}

func (s *said) explained(card view.Card, err error) {
	if err != nil {
		if !errors.Is(err, view.ErrUnknown) {
			s.Trouble = err.Error()
		}
		return
	}
	card.Record = nil // it stands beside the card
	s.Card = &card
}

// The groups of the page, and that of its CSV.
var (
	pageGroups = []string{"pool", "capacity-type", "namespace", "owner"}
	csvGroups  = []string{"pool,namespace,owner"}
)

// bill is the report with what only these pages know.
type bill struct {
	costs.Report

	Savings []spend.Saving `json:"savings"` // the newest first
}

// report computes what the cluster costs.
func (d *replies) report(ctx context.Context, by []string) (bill, error) {
	in := d.input()
	if in == nil {
		return bill{}, errors.New("the cluster is being read: try again in a moment")
	}
	listed := map[string]quantity.MicroUSDPerHour{}
	if in.Prices != nil {
		listed = costs.Listed(in.Snapshot, in.Prices)
	}
	of := costs.Input{
		At: in.Snapshot.Now, Allocation: cost.Allocate(cost.Input{Snapshot: in.Snapshot, Listed: listed}),
		NoUsage: "What pods request too much is not known: usage is not read here.", Troubles: in.Troubles,
	}
	for _, text := range by {
		keys, err := cost.ParseKeys(text)
		if err != nil {
			return bill{}, err
		}
		of.By = append(of.By, keys)
	}
	if d.Meter != nil {
		var err error
		if of.Usage, of.NoUsage, err = d.Meter.Pods(ctx, ""); err != nil {
			of.NoUsage = "What pods request too much is not known: " + err.Error()
		}
	}
	return bill{costs.Of(of), spend.Noted(in.Statements)}, nil
}

// costs answers with what the cluster costs.
func (d *replies) costs(w http.ResponseWriter, r *http.Request) {
	m, err := d.bills.get(r.Context(), func(ctx context.Context) (bill, error) { return d.report(ctx, pageGroups) })
	if err != nil {
		answer(w, http.StatusServiceUnavailable, failure{"The cost is not known: " + err.Error()})
		return
	}
	b := m.value
	more := map[string]int{}
	b.Groups = append([]costs.Group{}, b.Groups...)
	for i, g := range b.Groups {
		more[g.By[0]] = max(0, len(g.Rows)-rowsMost)
		b.Groups[i].Rows = g.Rows[:min(len(g.Rows), rowsMost)]
	}
	more["over"], b.Over = max(0, len(b.Over)-rowsMost), b.Over[:min(len(b.Over), rowsMost)]
	more["savings"], b.Savings = max(0, len(b.Savings)-rowsMost), b.Savings[:min(len(b.Savings), rowsMost)]
	answer(w, http.StatusOK, map[string]any{"at": m.at, "report": b, "more": more})
}

// costsCSV answers with the cost of each workload, for spreadsheets.
func (d *replies) costsCSV(w http.ResponseWriter, r *http.Request) {
	b, err := d.report(r.Context(), csvGroups)
	if err != nil {
		answer(w, http.StatusServiceUnavailable, failure{"The cost is not known: " + err.Error()})
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="daemok-cost.csv"`)
	h.Set("Cache-Control", "no-store")
	_ = costs.CSV(w, &b.Report) // the browser may have gone
}
