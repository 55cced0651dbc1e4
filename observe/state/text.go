package state

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// text is a metric as Prometheus's text format has it. Series are written as they come: there are tens of thousands at
// each scrape, of which nothing is kept.
type text struct {
	to   *bufio.Writer
	name string // of the one metric that is shown
	any  bool   // a series was shown
	line []byte
}

func (t *text) wants(name string) bool { return name == t.name }

func (t *text) add(name string, value float64, values []string) {
	if name != t.name {
		return
	}
	if !t.any {
		t.any = true
		t.header()
	}
	line := append(t.line[:0], name...)
	before := byte('{')
	for _, l := range labelsOf(name, values) {
		line = append(line, before)
		line = append(line, l.name...)
		line = append(line, '=', '"')
		line = appendEscaped(line, values[l.at])
		line = append(line, '"')
		before = ','
	}
	if before == ',' {
		line = append(line, '}')
	}
	line = append(line, ' ')
	line = strconv.AppendFloat(line, value, 'g', -1, 64)
	t.line = append(line, '\n')
	_, _ = t.to.Write(t.line) // the error stays for Flush
}

func (t *text) header() {
	help := strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(metrics[t.name].help)
	_, _ = t.to.WriteString("# HELP " + t.name + " " + help + "\n# TYPE " + t.name + " gauge\n") // likewise
}

// appendEscaped appends the value of a label.
func appendEscaped(line []byte, value string) []byte {
	if !strings.ContainsAny(value, "\\\n\"") {
		return append(line, value...)
	}
	return append(line, escaped.Replace(value)...)
}

var escaped = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// Text reads the state and returns what writes it in Prometheus's text format, one metric after another: what Gather
// returns, without a copy of what has a series for each object.
func (c *Collector) Text() (func(io.Writer) error, error) {
	if !c.Leading() {
		return func(io.Writer) error { return nil }, nil
	}
	w, err := c.read()
	if err != nil {
		return nil, err
	}
	few := families{all: map[string]*dto.MetricFamily{}, labels: labels{}}
	w.shown = few
	c.few(w, c.Snapshot())
	return func(to io.Writer) error {
		out := &text{to: bufio.NewWriterSize(to, 64<<10)}
		for _, f := range few.all {
			if _, err := expfmt.MetricFamilyToText(out.to, f); err != nil {
				return err
			}
		}
		w.shown = out
		for _, name := range namesOfEach() {
			out.name, out.any = name, false
			w.each()
		}
		return out.to.Flush()
	}, nil
}
