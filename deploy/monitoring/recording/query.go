package recording

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"
)

// lookback is how old a sample may be that Prometheus still counts, by default.
const lookback = 5 * time.Minute

// Range evaluates an expression of PromQL at each round of the recording. The series are in the
// order of their labels.
func (r *Recording) Range(ctx context.Context, expr string) (promql.Matrix, error) {
	query, err := engine().NewRangeQuery(ctx, r.storage(), nil, expr, r.From, r.To(), r.Every)
	if err != nil {
		return nil, fmt.Errorf("evaluate %s: %w", expr, err)
	}
	defer query.Close()
	result := query.Exec(ctx)
	matrix, err := result.Matrix()
	if err != nil {
		return nil, fmt.Errorf("evaluate %s: %w", expr, err)
	}
	out := make(promql.Matrix, 0, len(matrix))
	for _, s := range matrix { // the engine uses the points of a closed query again
		out = append(out, promql.Series{Metric: s.Metric, Floats: slices.Clone(s.Floats)})
	}
	slices.SortFunc(out, func(a, b promql.Series) int { return labels.Compare(a.Metric, b.Metric) })
	return out, nil
}

func engine() *promql.Engine {
	return promql.NewEngine(promql.EngineOpts{
		MaxSamples: 10_000_000, Timeout: time.Minute, LookbackDelta: lookback, Parser: parser.NewParser(parser.Options{}),
	})
}

// storage is the recording as the engine reads it.
func (r *Recording) storage() storage.Queryable {
	return storage.QueryableFunc(func(int64, int64) (storage.Querier, error) {
		return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
			return &found{series: r.matching(matchers)}
		}}, nil
	})
}

// matching are the series that satisfy all matchers, in the order of their labels.
func (r *Recording) matching(matchers []*labels.Matcher) []*series {
	var out []*series
	for _, key := range slices.Sorted(maps.Keys(r.series)) {
		s := r.series[key]
		if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(s.labels.Get(m.Name)) }) {
			out = append(out, s)
		}
	}
	return out
}

// found is a storage.SeriesSet of the series that a query selects.
type found struct {
	series []*series
	next   int
}

func (f *found) Next() bool {
	f.next++
	return f.next <= len(f.series)
}

func (f *found) At() storage.Series {
	s := f.series[f.next-1]
	return &storage.SeriesEntry{Lset: s.labels, SampleIteratorFn: func(before chunkenc.Iterator) chunkenc.Iterator { return s.chunk.Iterator(before) }}
}

func (*found) Err() error { return nil }

func (*found) Warnings() annotations.Annotations { return nil }
