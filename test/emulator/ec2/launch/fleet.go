package launch

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/daemok/daemok/test/emulator/ec2/instance"
	"github.com/daemok/daemok/test/emulator/ec2/reservation"
	"github.com/daemok/daemok/test/emulator/ec2/template"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// fleet is the record of one instant fleet.
type fleet struct {
	ID        string
	CreatedAt time.Time
	Instances []string
	Tags      world.Tags
}

// Limits of fleets.
const (
	fleetTargetMax    = 1000
	fleetOverridesMax = 300
)

// fleetRequest is a decoded CreateFleet call.
type fleetRequest struct {
	configs  []*wire.Node
	target   int
	least    int // MinTargetCapacity
	spot     bool
	launches string   // DefaultTargetCapacityType
	reserved []string // kinds of reservations that a fleet of reserved capacity may use
	strategy string
	tags     []world.TagSpecification
	token    string
}

// fleetChoice is one override of a fleet: a launch, or why it cannot be one.
type fleetChoice struct {
	launch
	echo fleetEcho
	err  *wire.Error
}

type fleetXML struct {
	ID        string          `xml:"fleetId"`
	Errors    []fleetError    `xml:"errorSet>item"`
	Instances []fleetLaunched `xml:"fleetInstanceSet>item"`
}

type fleetError struct {
	Code      string    `xml:"errorCode"`
	Message   string    `xml:"errorMessage"`
	Echo      fleetEcho `xml:"launchTemplateAndOverrides"`
	Lifecycle string    `xml:"lifecycle"`
}

type fleetLaunched struct {
	Zone      string    `xml:"availabilityZone"`
	ZoneID    string    `xml:"availabilityZoneId"`
	IDs       []string  `xml:"instanceIds>item"`
	Type      string    `xml:"instanceType"`
	Echo      fleetEcho `xml:"launchTemplateAndOverrides"`
	Lifecycle string    `xml:"lifecycle"`
	Platform  string    `xml:"platform,omitempty"`
	SubnetID  string    `xml:"subnetId"`
}

// fleetEcho repeats which template and override an item is about.
type fleetEcho struct {
	Template  templateRef `xml:"launchTemplateSpecification"`
	Overrides overrideXML `xml:"overrides"`
}

type templateRef struct {
	ID      string `xml:"launchTemplateId,omitempty"`
	Name    string `xml:"launchTemplateName,omitempty"`
	Version string `xml:"version"`
}

type overrideXML struct {
	Zone     string   `xml:"availabilityZone,omitempty"`
	ImageID  string   `xml:"imageId,omitempty"`
	Type     string   `xml:"instanceType,omitempty"`
	MaxPrice string   `xml:"maxPrice,omitempty"`
	Priority *float64 `xml:"priority"`
	SubnetID string   `xml:"subnetId,omitempty"`
}

// createFleet ends a dry run before it looks at templates and overrides: it tells rights alone, and
// clients rehearse with templates that they have not made yet.
func createFleet(c *call) (any, error) {
	r, err := readFleet(c)
	if err != nil {
		return nil, err
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	return world.Once(c.Call, func() (fleetXML, error) {
		choices, err := fleets{c.server}.choices(c, r)
		if err != nil {
			return fleetXML{}, err
		}
		return fleets{c.server}.launchAll(c, r, choices), nil
	})
}

func readFleet(c *call) (fleetRequest, error) {
	p := c.Params
	capacity := p.At("TargetCapacitySpecification")
	r := fleetRequest{configs: p.List("LaunchTemplateConfigs"), token: p.String("ClientToken")}
	if kind := p.String("Type"); kind != "instant" {
		return r, wire.Errorf("UnsupportedOperation", "The emulator makes fleets of type instant only, not '%s'", kind)
	}
	r.launches = cmp.Or(capacity.String("DefaultTargetCapacityType"), "on-demand")
	r.spot = r.launches == "spot"
	options := p.At("OnDemandOptions")
	switch {
	case r.spot:
		options = p.At("SpotOptions")
	case r.launches == launchesReserved:
		options = p.At("ReservedCapacityOptions")
		r.reserved = options.Strings("ReservationType")
	}
	r.strategy = cmp.Or(options.String("AllocationStrategy"), "lowest-price")
	var err error
	if r.target, err = capacity.Int("TotalTargetCapacity", 0); err != nil {
		return r, err
	}
	if r.least, err = options.Int("MinTargetCapacity", 0); err != nil {
		return r, err
	}
	if r.tags, err = world.ReadTagSpecifications(p); err != nil {
		return r, err
	}
	return r, r.check(p)
}

// strategies are what each capacity type may be allocated by.
var strategies = map[bool][]string{
	false: {"lowest-price", "prioritized"},
	true:  {"lowest-price", "diversified", "capacity-optimized", "capacity-optimized-prioritized", "price-capacity-optimized"},
}

// launchesReserved is the target of a fleet that draws on reservations by their kind.
const launchesReserved = "reserved-capacity"

// offers reports whether a fleet launches on the market of reservations that a launch asks
// for: a capacity block needs a fleet of such blocks, an interruptible reservation one of
// reserved capacity. Either may be named among the kinds of a fleet of reserved capacity.
func (r fleetRequest) offers(market string) bool {
	switch {
	case market == "":
		return r.launches != reservation.ReservationBlock
	case r.launches == launchesReserved:
		return len(r.reserved) == 0 || slices.Contains(r.reserved, market)
	}
	return market == reservation.ReservationBlock && r.launches == reservation.ReservationBlock
}

func (r fleetRequest) check(p *wire.Node) error {
	overrides := 0
	for _, config := range r.configs {
		overrides += len(config.List("Overrides"))
	}
	switch {
	case len(r.configs) == 0:
		return wire.Errorf("MissingParameter", "The request must contain the parameter LaunchTemplateConfigs")
	case r.target < 1:
		return wire.Errorf("InvalidParameterValue", "TotalTargetCapacity must be at least 1")
	case r.target > fleetTargetMax:
		return wire.Errorf("InvalidTargetCapacitySpecification", "TotalTargetCapacity of an instant fleet must not exceed %d", fleetTargetMax)
	case overrides > fleetOverridesMax:
		return wire.Errorf("InvalidFleetConfiguration", "A fleet must not have more than %d overrides, got %d", fleetOverridesMax, overrides)
	case !slices.Contains([]string{"on-demand", "spot", reservation.ReservationBlock, launchesReserved}, r.launches):
		return wire.Errorf("InvalidParameterValue", "Invalid value '%s' for DefaultTargetCapacityType", r.launches)
	case p.Has("ReservedCapacityOptions") && r.launches != launchesReserved:
		return wire.Errorf("InvalidParameterCombination", "ReservedCapacityOptions needs a DefaultTargetCapacityType of reserved-capacity")
	case !slices.Contains(strategies[r.spot], r.strategy):
		return wire.Errorf("InvalidParameterValue", "Invalid value '%s' for AllocationStrategy", r.strategy)
	}
	for _, s := range r.tags {
		if s.ResourceType == "spot-instances-request" && !r.spot {
			return wire.Errorf("InvalidParameterValue", "'spot-instances-request' is not a valid taggable resource type for this operation.")
		}
	}
	if err := r.checkUnheard(p); err != nil {
		return err
	}
	if p.String("ValidUntil") != "" {
		return wire.Errorf("InvalidParameterCombination", "ValidUntil cannot be used with fleets of type instant")
	}
	return nil
}

// fleets makes fleets of what it launches.
type fleets struct{ *Launcher }

// choices resolves every override. What EC2 refuses per override becomes
// part of the answer; a missing template is the request's own fault.
func (s fleets) choices(c *call, r fleetRequest) ([]fleetChoice, error) {
	var choices []fleetChoice
	for _, config := range r.configs {
		spec := config.At("LaunchTemplateSpecification")
		t, v, err := s.UsableTemplate(spec.String("LaunchTemplateId"), spec.String("LaunchTemplateName"), spec.String("Version"), c.At)
		if err != nil {
			return nil, err
		}
		overrides := config.List("Overrides")
		if len(overrides) == 0 {
			overrides = []*wire.Node{nil}
		}
		for _, o := range overrides {
			choice, err := s.choice(c, r, t, v, o)
			if err != nil {
				return nil, err
			}
			choices = append(choices, choice)
		}
	}
	return choices, nil
}

func (s fleets) choice(c *call, r fleetRequest, t *template.Template, v template.TemplateVersion, o *wire.Node) (fleetChoice, error) {
	over, err := template.ReadLaunchData(o)
	if err != nil {
		return fleetChoice{}, err
	}
	choice := fleetChoice{echo: fleetEcho{
		Template:  templateRef{ID: t.ID, Version: strconv.Itoa(v.Number)},
		Overrides: overrideXML{Zone: over.Zone, ImageID: over.ImageID, Type: over.InstanceType, MaxPrice: over.MaxPrice, SubnetID: over.SubnetID},
	}}
	l, err := s.resolve(v.Data.Under(over), r.spot, c.At)
	if err != nil {
		choice.err = world.AsError(err)
		return choice, nil
	}
	l.template, l.version, l.tags, l.token, l.who = t, v.Number, r.tags, r.token, c.Who
	l.priority = o.Float("Priority", 0)
	if o.Has("Priority") {
		choice.echo.Overrides.Priority = &l.priority
	}
	choice.echo.Overrides.Zone = l.subnet.Zone.Name
	if err := world.CheckTagCount(world.TagsFor(slices.Concat(l.data.Tags, r.tags), "instance")); err != nil {
		choice.err = world.AsError(err)
	}
	if !r.offers(l.market()) {
		choice.err = wire.Errorf("InvalidFleetConfiguration", "The market type '%s' of the launch template does not go with the fleet's DefaultTargetCapacityType '%s'.", l.market(), r.launches)
	}
	choice.launch = l
	return choice, nil
}

// launchAll walks the choices in the strategy's order until the target is met.
func (s fleets) launchAll(c *call, r fleetRequest, choices []fleetChoice) fleetXML {
	answer := fleetXML{ID: s.NewID("fleet")}
	f := &fleet{ID: answer.ID, CreatedAt: c.At, Tags: world.TagsFor(r.tags, "fleet")}
	s.Fleets[f.ID] = f
	left := r.target
	ordered := s.allocate(r, choices, c.At)
	if r.least > 0 && s.reachable(ordered) < r.least {
		left = 0
		answer.Errors = append(answer.Errors, s.shortages(r, ordered)...)
	}
	for i, choice := range ordered {
		if left == 0 {
			break
		}
		choice.fleet = f.ID
		made, why := s.launch(choice.launch, share(r, left, len(ordered)-i), s.NewID("r"))
		if len(made) > 0 {
			answer.Instances = append(answer.Instances, launched(choice, made))
			left -= len(made)
		}
		for _, m := range made {
			f.Instances = append(f.Instances, m.ID)
		}
		if why != nil {
			answer.Errors = append(answer.Errors, refusedChoice(choice, r.spot, why))
		}
	}
	for _, choice := range choices {
		if choice.err != nil && left > 0 {
			answer.Errors = append(answer.Errors, refusedChoice(choice, r.spot, choice.err))
		}
	}
	return answer
}

// share is how many instances the next pool is asked for: all that are left,
// or an even part where the strategy spreads.
func share(r fleetRequest, left, pools int) int {
	if r.strategy != "diversified" {
		return left
	}
	return (left + pools - 1) / pools
}

// reachable is how many instances all choices together could give.
func (s fleets) reachable(choices []fleetChoice) int {
	total := 0
	counted := map[market.Pool]bool{}
	for _, choice := range choices {
		if p := choice.pool(); !counted[p] {
			counted[p] = true
			there, _ := s.available(choice.launch)
			total += min(there, fleetTargetMax)
		}
	}
	return total
}

func (s fleets) shortages(r fleetRequest, choices []fleetChoice) []fleetError {
	var all []fleetError
	for _, choice := range choices {
		_, why := s.available(choice.launch)
		all = append(all, refusedChoice(choice, r.spot, why))
	}
	return all
}

func launched(choice fleetChoice, made []*instance.Instance) fleetLaunched {
	b := fleetLaunched{
		Zone: choice.subnet.Zone.Name, ZoneID: choice.subnet.Zone.ID, Type: choice.kind.Name, Echo: choice.echo,
		Lifecycle: fleetLifecycle(choice), SubnetID: choice.subnet.ID,
	}
	if choice.image.Windows {
		b.Platform = "windows"
	}
	for _, m := range made {
		b.IDs = append(b.IDs, m.ID)
	}
	return b
}

func refusedChoice(choice fleetChoice, spot bool, why *wire.Error) fleetError {
	choice.spot = spot // one that was refused may not know it
	return fleetError{Code: why.Code, Message: why.Message, Echo: choice.echo, Lifecycle: fleetLifecycle(choice)}
}

func fleetLifecycle(choice fleetChoice) string {
	if choice.spot {
		return "spot"
	}
	return cmp.Or(choice.market(), "on-demand")
}

// allocate orders the choices that can be launched by the fleet's strategy.
// Ties go by type, zone and subnet, so that equal requests give equal fleets.
func (s fleets) allocate(r fleetRequest, choices []fleetChoice, now time.Time) []fleetChoice {
	type ranked struct {
		fleetChoice
		first, second float64
	}
	var all []ranked
	for _, choice := range choices {
		if choice.err == nil {
			first, second := s.rank(r.strategy, choice.launch, now)
			all = append(all, ranked{choice, first, second})
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.second, b.second), cmp.Compare(a.kind.Name, b.kind.Name),
			cmp.Compare(a.subnet.Zone.Name, b.subnet.Zone.Name), cmp.Compare(b.subnet.Free(), a.subnet.Free()), cmp.Compare(a.subnet.ID, b.subnet.ID))
	})
	ordered := make([]fleetChoice, 0, len(all))
	for _, a := range all {
		ordered = append(ordered, a.fleetChoice)
	}
	return ordered
}

// riskSteps is how coarsely pools are told apart by risk where a strategy
// puts the caller's order second.
const riskSteps = 5

// rank gives a launch's place under a strategy; lower is better.
func (s fleets) rank(strategy string, l launch, now time.Time) (first, second float64) {
	price := s.Market().PriceUSD(l.pool(), now)
	risk := 0.0
	if price > 0 {
		risk = s.Market().Score(l.pool()) / price
	}
	switch strategy {
	case "prioritized":
		return l.priority, price
	case "price-capacity-optimized":
		return s.Market().Score(l.pool()), price
	case "capacity-optimized":
		return risk, price
	case "capacity-optimized-prioritized":
		return float64(int(risk * riskSteps)), l.priority
	}
	return price, 0
}
