package scenario

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/daemok/daemok/core/cluster"
)

// repair reads after how long with a condition nodes of the pool above are repaired;
// above all pools, those of none.
func (p *parser) repair(w []string) error {
	words, err := unquoted(w, 3)
	if err != nil {
		return fmt.Errorf("%w: want a condition, its status and a length of time", err)
	}
	after, err := time.ParseDuration(words[2])
	if err != nil {
		return err
	}
	r := p.repaired()
	r.Rules = append(r.Rules, cluster.RepairRule{Condition: words[0], Status: words[1], After: after})
	return nil
}

// repairMost reads how many nodes may be unhealthy while any is repaired.
func (p *parser) repairMost(w []string) (err error) {
	if len(w) != 1 {
		return fmt.Errorf("want a number of nodes, or a share of them: 20%%")
	}
	r := p.repaired()
	number, percent := strings.CutSuffix(w[0], "%")
	r.Percent = percent
	r.Most, err = strconv.ParseInt(number, 10, 64)
	return err
}

func (p *parser) repaired() *cluster.Repair {
	if p.parent.pool != nil {
		return &p.parent.pool.Repair
	}
	return &p.out.Repair
}

// ailing reads a condition of the node above.
func (p *parser) ailing(w []string) error {
	words, err := unquoted(w, 3)
	if err != nil || p.parent.node == nil {
		return fmt.Errorf("want a condition, its status and a moment below a node")
	}
	since, err := readTime(words[2])
	if err != nil {
		return err
	}
	p.parent.node.Ailments = append(p.parent.node.Ailments, cluster.Ailment{Condition: words[0], Status: words[1], Since: since})
	return nil
}

// unquoted reads n words.
func unquoted(w []string, n int) (out []string, err error) {
	if len(w) != n {
		return nil, fmt.Errorf("%d words", len(w))
	}
	for _, word := range w {
		text, err := unquote(word)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

func (p *printer) repair(depth int, r cluster.Repair) {
	for _, rule := range r.Rules {
		p.line(depth, "repair", quote(rule.Condition), quote(rule.Status), rule.After.String())
	}
	if r.Most != 0 {
		percent := ""
		if r.Percent {
			percent = "%"
		}
		p.line(depth, "repair-most", strconv.FormatInt(r.Most, 10)+percent)
	}
}

func (p *printer) ailments(list []cluster.Ailment) {
	for _, a := range list {
		p.line(1, "ailing", quote(a.Condition), quote(a.Status), moment(a.Since))
	}
}
