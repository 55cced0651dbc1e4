// Package recording stores the series of a running controller: scraped at an interval, written as
// text, and read back as storage that Prometheus' engine queries.
//
// A line of the text is a series with a value for each scrape, as in the tests of Prometheus' rules:
// `1x3` is a value that comes three more times, `_` a scrape without one. A series that is missing
// from a scrape ends there, as it does in Prometheus.
package recording

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// nameLabel is the label that names the metric.
const nameLabel = "__name__"

// Recording is series by their labels, in rounds of scrapes.
type Recording struct {
	From  time.Time     // of the first round
	Every time.Duration // from one round to the next

	rounds int
	series map[string]*series // by line
}

// series has a value for each round, or fewer where it has ended; missing where a scrape lacks it.
type series struct {
	labels labels.Labels
	values []float64
	chunk  *chunkenc.XORChunk // the same as the engine reads them, once the recording is read
}

// To is the time of the last round.
func (r *Recording) To() time.Time { return r.From.Add(time.Duration(r.rounds-1) * r.Every) }

// missing is what Prometheus marks the end of a series with.
func missing() float64 { return math.Float64frombits(value.StaleNaN) }

// add records a value of the last round.
func (r *Recording) add(l labels.Labels, v float64) {
	key := line(l)
	if r.series == nil {
		r.series = map[string]*series{}
	}
	if r.series[key] == nil {
		r.series[key] = &series{labels: l}
	}
	s := r.series[key]
	for len(s.values) < r.rounds-1 {
		s.values = append(s.values, missing())
	}
	s.values = append(s.values, v)
}

// line is a series as PromQL names it.
func line(l labels.Labels) string {
	var pairs []string
	l.Range(func(one labels.Label) {
		if one.Name != nameLabel {
			pairs = append(pairs, one.Name+"="+strconv.Quote(one.Value))
		}
	})
	return l.Get(nameLabel) + "{" + strings.Join(pairs, ",") + "}"
}

// Write writes the series of the metrics that are to be kept, compressed. What it writes is the
// same each time.
func (r *Recording) Write(to io.Writer, keep func(metric string) bool) error {
	packed, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(packed)
	_, _ = fmt.Fprintln(out, r.From.Format(time.RFC3339), r.Every, r.rounds)
	for _, key := range slices.Sorted(maps.Keys(r.series)) {
		if s := r.series[key]; keep(s.labels.Get(nameLabel)) {
			_, _ = fmt.Fprintln(out, key, sequence(s.values))
		}
	}
	return errors.Join(out.Flush(), packed.Close())
}

// sequence is values in words, equal ones in one.
func sequence(values []float64) string {
	var words []string
	for i := 0; i < len(values); {
		n := 1
		for i+n < len(values) && math.Float64bits(values[i+n]) == math.Float64bits(values[i]) {
			n++
		}
		switch word := strconv.FormatFloat(values[i], 'g', -1, 64); {
		case value.IsStaleNaN(values[i]):
			words = append(words, "_x"+strconv.Itoa(n))
		case math.IsNaN(values[i]): // "NaNx3" would be read as a name
			words = append(words, slices.Repeat([]string{word}, n)...)
		case n > 1:
			words = append(words, word+"x"+strconv.Itoa(n-1))
		default:
			words = append(words, word)
		}
		i += n
	}
	return strings.Join(words, " ")
}

// Read reads what Write has written.
func Read(from io.Reader) (*Recording, error) {
	unpacked, err := gzip.NewReader(from)
	if err != nil {
		return nil, fmt.Errorf("read the recording: %w", err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		return nil, fmt.Errorf("read the recording: %w", err)
	}
	head, lines, _ := strings.Cut(string(text), "\n")
	r, err := headed(head)
	if err != nil {
		return nil, fmt.Errorf("read the recording: its first line %q: %w", head, err)
	}
	for l := range strings.Lines(lines) {
		if err := r.parse(strings.TrimSuffix(l, "\n")); err != nil {
			return nil, fmt.Errorf("read the recording: %s: %w", l, err)
		}
	}
	return r, nil
}

// headed is a recording with the times of its first line.
func headed(head string) (*Recording, error) {
	var from, every string
	r := &Recording{series: map[string]*series{}}
	if _, err := fmt.Sscan(head, &from, &every, &r.rounds); err != nil {
		return nil, err
	}
	var err error
	if r.From, err = time.Parse(time.RFC3339, from); err != nil {
		return nil, err
	}
	if r.Every, err = time.ParseDuration(every); err == nil && (r.Every <= 0 || r.rounds < 2) {
		err = errors.New("it has less than two rounds of scrapes")
	}
	return r, err
}

// parse adds the series of a line.
func (r *Recording) parse(text string) error {
	l, values, err := parser.NewParser(parser.Options{}).ParseSeriesDesc(text)
	if err != nil {
		return err
	}
	s := &series{labels: l, chunk: chunkenc.NewXORChunk()}
	to, err := s.chunk.Appender()
	if err != nil {
		return err
	}
	for i := range r.rounds {
		v := missing()
		if i < len(values) && !values[i].Omitted {
			v = values[i].Value
		}
		s.values = append(s.values, v)
		to.Append(0, r.From.Add(time.Duration(i)*r.Every).UnixMilli(), v)
	}
	r.series[line(l)] = s
	return nil
}
