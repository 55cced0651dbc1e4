package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
)

// Target is an endpoint of metrics.
type Target struct {
	Instance string // value of the label instance
	URL      string
}

// Round scrapes all targets once, as the next round. A target that does not answer has no series in
// it, and is among the errors.
func (r *Recording) Round(ctx context.Context, targets []Target) error {
	r.rounds++
	var errs []error
	for _, t := range targets {
		if err := r.scrape(ctx, t); err != nil {
			errs = append(errs, fmt.Errorf("scrape %s: %w", t.URL, err))
		}
	}
	return errors.Join(errs...)
}

func (r *Recording) scrape(ctx context.Context, t Target) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.URL, http.NoBody)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	p := textparse.NewPromParser(text, labels.NewSymbolTable(), false)
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if entry != textparse.EntrySeries {
			continue
		}
		var l labels.Labels
		p.Labels(&l)
		_, _, v := p.Series()
		r.add(labels.NewBuilder(l).Set("instance", t.Instance).Set("job", "daemok").Labels(), v)
	}
}
