package web

import (
	"context"

	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/ui/page"
	"github.com/daemok/daemok/ui/view"
)

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

	Planner planner // nil: no plan is shown
	Latest  bool    // the plan is one that was made anyway: pages may ask for it often
	Meter   meter   // nil: what pods use is not known

	// Token is what a browser needs where users of the same host are not to see the pages; empty: it needs none.
	Token string
	// Tokens reviews bearer tokens, where the pages are served to other hosts. Without it only requests to localhost are
	// answered.
	Tokens reviewer
}

// planner makes the plan of a moment.
type planner interface {
	// Plan lays out what would happen now. It may take long; it is called by one goroutine at a time.
	Plan(ctx context.Context) (page.Page, error)
}

// meter knows what pods use.
type meter interface {
	// Pods is what pods use, of one namespace or, where that is empty, of all; without it, a sentence why it is not known.
	Pods(ctx context.Context, namespace string) (map[cost.PodID]cost.Used, string, error)
}
