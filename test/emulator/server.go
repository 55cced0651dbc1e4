// Package emulator is an emulated AWS account that the real AWS SDK connects to. It is an http.Handler
// over package market. It speaks the wire protocols of EC2, IAM, STS, SSM, SQS, EventBridge, EKS, EKS
// Auth, Pricing, Service Quotas and FIS. Tests, the lab and demos point AWS_ENDPOINT_URL at it.
//
// It promises AWS's documented behaviour where clients depend on it: paging with its caps, filters and
// their errors, dry runs, idempotency by client token, partial fulfilment of fleets, throttling, and
// the lag between a change and its visibility. It does not check signatures, except for their dates
// where STS is called. Callers have all permissions until Deny takes them away, except for temporary
// credentials and for access keys that Enforce names: for these the policies of their role decide.
// Temporary credentials are issued as AWS issues them to pods: see SetIssuerKeys and PodIdentityAgent.
// The emulator runs no instances: a caller that follows Watch may boot something for them.
package emulator

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/market"
)

// Options is how a server is set up.
type Options struct {
	Account   Account
	Seed      uint64
	Now       func() time.Time // nil: the real time
	TimeScale float64          // of boots and terminations alone; 0: at once
	Figures   market.Figures   // zero: market.DefaultFigures
	Lags      *Lags            // nil: DefaultLags
	Market    *market.Market   // nil: one that offers the region's whole catalogue
}

// Lags are how long AWS takes to know of its own changes, beside those of the
// market. They are engineering picks. Each is drawn evenly between both ends.
type Lags struct {
	ProfileLeast, ProfileMost   time.Duration // an instance profile until EC2 accepts it
	TemplateLeast, TemplateMost time.Duration // a launch template until a launch finds it
	EventLeast, EventMost       time.Duration // an event until it lies in the queue
	TagLeast, TagMost           time.Duration // a tag until filters see it

	ReservationLeast, ReservationMost time.Duration // an instance until its reservation's free count shows that it came, or went

	TemplateSeen float64 // share of launch templates that launches find at once
	EventTwice   float64 // share of events that come twice
}

// DefaultLags are those of an ordinary day.
func DefaultLags() Lags {
	return Lags{
		ProfileLeast: 5 * time.Second, ProfileMost: 15 * time.Second,
		TemplateMost: 500 * time.Millisecond, TemplateSeen: 0.98,
		EventMost:       2 * time.Second,
		TagMost:         2 * time.Second,
		ReservationMost: 5 * time.Second,
		EventTwice:      0.02,
	}
}

// Server is the pretend account. It is safe for concurrent use.
type Server struct {
	now    func() time.Time
	clock  *ahead
	market *market.Market
	shared bool // the market has a clock of its own
	data   *ec2data.Data
	lags   Lags
	seed   uint64

	updateFor time.Duration // how long updates of the cluster take

	tables   map[string]map[string]action
	requests atomic.Uint64 // answered so far

	closing   chan struct{} // closed by Close: long polls end
	closeOnce sync.Once

	mu         sync.Mutex
	st         *state
	faults     []Fault
	denied     map[string]bool
	issuer     jose.JSONWebKeySet            // public keys of the cluster's OIDC issuer
	enforced   map[string]string             // roles whose policies decide on calls, by the access key that signs them
	documents  map[string]iampolicy.Document // of roles, by their text
	refusals   map[market.Pool]refusal
	draws      uint64        // of lags
	faultDraws uint64        // of faults by chance
	polls      chan struct{} // closed and replaced when a queue changed

	advancing sync.Mutex // one Settle at a time, so that events stay in order
	watchers  watchers
}

// New opens an account.
func New(o Options) *Server {
	s := &Server{
		clock: &ahead{base: o.Now, real: o.Now == nil}, market: o.Market, shared: o.Market != nil, data: ec2data.Load(), lags: DefaultLags(), seed: o.Seed, tables: tables(),
		closing: make(chan struct{}), denied: map[string]bool{}, enforced: map[string]string{}, documents: map[string]iampolicy.Document{}, refusals: map[market.Pool]refusal{}, polls: make(chan struct{}),
	}
	if s.clock.base == nil {
		s.clock.base = func() time.Time { return time.Now().UTC() }
	}
	s.now = s.clock.now
	if o.Lags != nil {
		s.lags = *o.Lags
	}
	a := o.Account.withDefaults()
	zones := zonesOf(s.data, a.Region)
	if s.market == nil {
		s.market = market.New(market.Options{
			Seed: o.Seed, Now: s.now, Kinds: Kinds(s.data, a.Region), TimeScale: o.TimeScale, Figures: o.Figures,
		})
	}
	s.st = newState(a, zones, s.now())
	s.updateFor = time.Duration(float64(updateTakes) * o.TimeScale)
	return s
}

func zonesOf(data *ec2data.Data, region string) []zone {
	var zones []zone
	for _, z := range data.Zones(region) {
		zones = append(zones, zone{Name: z.Name, ID: z.ID})
	}
	return zones
}

// Kinds is a region's catalogue as a market offers it.
func Kinds(data *ec2data.Data, region string) []market.Kind {
	var kinds []market.Kind
	for _, t := range data.OfferedIn(region) {
		k := market.Kind{Name: t.Name, Zones: t.OfferedZones(region), Interruption: t.Interruption[region]}
		if t.HasUsage("on-demand") {
			k.OnDemandUSD, _, _ = t.OnDemandUSD(region)
		}
		k.SpotUSD, _, _ = t.SpotUSD(region)
		k.Slow = t.BareMetal || len(t.GPUs) > 0 || len(t.Accelerators) > 0
		kinds = append(kinds, k)
	}
	return kinds
}

// offered lists the types that the market offers.
func (s *Server) offered(region string) []*ec2data.Type {
	return slices.DeleteFunc(slices.Clone(s.data.OfferedIn(region)), func(t *ec2data.Type) bool {
		_, offered := s.market.Kind(t.Name)
		return !offered
	})
}

// Market is the market behind the account: sold-out pools, prices,
// interruptions and call counters are its business.
func (s *Server) Market() *market.Market { return s.market }

// Account returns what the account was made from, defaults filled in.
func (s *Server) Account() Account {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.st.Account
}

// QueueURL is the URL of the cluster's interruption queue, as AWS has it.
func (s *Server) QueueURL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.st.Account
	return fmt.Sprintf("https://sqs.%s.amazonaws.com/%s/%s", a.Region, a.ID, a.ClusterName)
}

// SetClusterEndpoint changes what EKS answers for the cluster's API server and
// its certificate authority (PEM).
func (s *Server) SetClusterEndpoint(url, ca string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.st.Cluster.Endpoint, s.st.Cluster.CA = url, ca
}

// Close ends all long polls and makes Run return. It is safe to repeat.
func (s *Server) Close() { s.closeOnce.Do(func() { close(s.closing) }) }

// regions are the regions that the catalogue knows.
func (s *Server) regions() []string { return s.data.RegionNames() }

// pollSignal is closed when a queue gets a message or a hidden one comes back
// early.
func (s *Server) pollSignal() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.polls
}

// wakePollers lets waiting polls look again; the lock is held.
func (s *Server) wakePollers() {
	close(s.polls)
	s.polls = make(chan struct{})
}

// waitForMessage waits until a poll should look again; false ends the poll.
func (s *Server) waitForMessage(ctx context.Context, end <-chan time.Time, woken <-chan struct{}, next time.Duration) bool {
	var soon <-chan time.Time
	if next > 0 {
		timer := time.NewTimer(next)
		defer timer.Stop()
		soon = timer.C
	}
	select {
	case <-woken:
		return true
	case <-soon:
		return true
	case <-end:
	case <-ctx.Done():
	case <-s.closing:
	}
	return false
}

// Seed is what all that is drawn by chance comes of.
func (s *Server) Seed() uint64 { return s.seed }
