package plan

import (
	"fmt"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// Savings is by how much cheaper the cluster is with the plan; negative where instances are
// launched.
func (p Plan) Savings() quantity.MicroUSDPerHour { return p.CostBefore - p.CostAfter }

// Removals lists the nodes that go with any move, in order.
func (p *Plan) Removals() []Removal {
	var out []Removal
	for i := range p.Moves {
		out = append(out, p.Moves[i].Removals...)
	}
	return out
}

// Cost is what the instance costs in all, as far as that is known.
func (c Choice) Cost() quantity.MicroUSDPerHour { return c.Price + c.Beside }

// PaidFor reports whether it is reserved, or a commitment pays for it.
func (c Choice) PaidFor() bool { return c.Option == cluster.Reserved || c.Cover.By != "" }

// ListPrice is its price without commitments.
func (c Choice) ListPrice() quantity.MicroUSDPerHour {
	if c.Cover.By != "" {
		return c.Cover.Listed
	}
	return c.Price
}

// ListCost is Cost without commitments.
func (c Choice) ListCost() quantity.MicroUSDPerHour { return c.ListPrice() + c.Beside }

// LaunchCost is what the launches cost if they become what is chosen.
func (p Plan) LaunchCost() quantity.MicroUSDPerHour {
	var sum quantity.MicroUSDPerHour
	for i := range p.Launches {
		sum += p.Launches[i].Choice.Cost()
	}
	return sum
}

// ForPods is LaunchCost without what is launched for no pod that exists: static pools and buffers.
func (p *Plan) ForPods() quantity.MicroUSDPerHour {
	sum := p.LaunchCost()
	for i := range p.Launches {
		if p.Launches[i].Static || p.Launches[i].ForVirtual() {
			sum -= p.Launches[i].Choice.Cost()
		}
	}
	return sum
}

// PodsUnplaced is how many pods no place was found for, those aside that it is
// too early to launch for.
func (p Plan) PodsUnplaced() int {
	n := 0
	for i := range p.Unplaced {
		if !p.Unplaced[i].Early {
			n += len(p.Unplaced[i].Pods)
		}
	}
	return n
}

// Gap is by what share the launches cost more than the least possible; ok is
// false where that is not known.
func (p Plan) Gap() (gap float64, ok bool) {
	if p.Bound <= 0 {
		return 0, false
	}
	return float64(p.ForPods())/float64(p.Bound) - 1, true
}

// Account says in words what the launches cost, how far from the least possible that is, what
// binds, and what fewer instances would cost; nothing where nothing is launched.
func (p Plan) Account() string {
	if len(p.Launches) == 0 {
		return ""
	}
	return p.bounded() + p.likely() + p.spotMore() + p.fewer()
}

// Promise is what the launches are expected to come to altogether.
func (p *Plan) Promise() quantity.MicroUSDPerHour {
	if p.Likely == nil {
		return p.LaunchCost() + p.SpotMore
	}
	return p.Likely.Cost + p.LaunchCost() - p.ForPods() + p.SpotMore
}

func (p *Plan) spotMore() string {
	if p.SpotMore == 0 {
		return ""
	}
	return fmt.Sprintf("the cloud chooses among spot offerings close to the cheapest: about %s more\n", p.SpotMore)
}

func (p *Plan) bounded() string {
	gap, ok := p.Gap()
	if !ok {
		return ""
	}
	out := fmt.Sprintf("new instances cost %s, the least possible\n", p.ForPods())
	if share := fmt.Sprintf("%.1f", 100*max(0, gap)); share != "0.0" {
		out = fmt.Sprintf("new instances cost %s, at most %s %% above the least possible (%s)\n", p.ForPods(),
			share, p.Bound)
	}
	if len(p.Margins) == 0 {
		return out
	}
	var each []string
	for _, m := range p.Margins {
		where := ""
		if m.Zone != "" {
			where = " in " + m.Zone
		}
		each = append(each, m.unit()+where+" "+m.Price.String())
	}
	return out + "at the margin: " + strings.Join(each, ", ") + "\n"
}

func (p *Plan) likely() string {
	l := p.Likely
	if l == nil {
		return ""
	}
	out := fmt.Sprintf("with pods where kube-scheduler may put them: about %s", l.Cost)
	if l.Left > 0 {
		out += fmt.Sprintf(", since %s may need another instance", counted(l.Left, "pod"))
	}
	if l.Turns > 0 {
		out += fmt.Sprintf("; instances take pods in %d turns, those with the largest last", l.Turns)
	}
	if l.Relaxed.Cost < p.LaunchCost() || l.Relaxed.Instances != len(p.Launches) {
		out += fmt.Sprintf("; %s for %s would come to about %s", counted(l.Relaxed.Instances, "instance"),
			l.Relaxed.Cost, l.RelaxedCost)
	}
	return out + "\n"
}

// counted prints "1 pod" or "3 pods".
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func (p *Plan) fewer() string {
	if p.Fewer == nil {
		return ""
	}
	out := fmt.Sprintf("fewer instances: %d instead of %d for %s", p.Fewer.Instances, len(p.Launches), p.Fewer.Cost)
	switch cost := p.LaunchCost(); {
	case cost > 0 && p.Fewer.Cost >= cost:
		out += fmt.Sprintf(", %.1f %% more", 100*(float64(p.Fewer.Cost)/float64(cost)-1))
	case cost > 0:
		out += fmt.Sprintf(", %.1f %% cheaper on paper", 100*(1-float64(p.Fewer.Cost)/float64(cost)))
		if l := p.Likely; l != nil && l.Relaxed == *p.Fewer {
			out += fmt.Sprintf(", but likely to come to about %s", l.RelaxedCost)
		}
	}
	return out + "\n"
}

func (m Margin) unit() string {
	switch m.Resource {
	case quantity.NameCPU:
		return "a core"
	case quantity.NameMemory:
		return "a GiB of memory"
	case quantity.NameEphemeralStorage:
		return "a GiB of disk"
	case quantity.NamePods:
		return "a pod"
	}
	return "a " + m.Resource
}
