package market

import "time"

// Figures are the market's latencies, lags and limits. None is published by
// AWS: they are engineering picks from what operators see, kept in one place
// so that a scenario can change any of them.
type Figures struct {
	BootOnDemand, BootSpot, BootSlow Spread // from launched to running
	Join, JoinSlow                   Spread // from running to the node in the cluster
	ShutDown                         Spread // from asked to terminated
	Visible                          Spread // until a new instance and its tags are seen by every call
	RememberFor                      time.Duration
	WarningFor                       time.Duration // from an interruption's warning to the end
	PriceStep                        time.Duration
	Buckets                          map[string]Rate // by action; "" for the others
}

// Spread is a distribution of durations: half lie below Half, and one in a
// hundred beyond Tail.
type Spread struct{ Half, Tail time.Duration }

// Rate is a token bucket: how many calls a second, and at once.
type Rate struct{ PerSecond, Burst float64 }

// OnDemandJoins is how long it is from the launch of an instance on demand until its node joins, by two draws between 0 and 1.
func (f Figures) OnDemandJoins(boot, join float64) time.Duration {
	return f.BootOnDemand.at(boot) + f.Join.at(join)
}

// DefaultFigures are those of an ordinary day.
func DefaultFigures() Figures {
	return Figures{
		BootOnDemand: Spread{8 * time.Second, 25 * time.Second},
		BootSpot:     Spread{10 * time.Second, 30 * time.Second},
		BootSlow:     Spread{3 * time.Minute, 8 * time.Minute},
		Join:         Spread{35 * time.Second, 110 * time.Second},
		JoinSlow:     Spread{90 * time.Second, 5 * time.Minute},
		ShutDown:     Spread{15 * time.Second, 60 * time.Second},
		Visible:      Spread{300 * time.Millisecond, 5 * time.Second},
		RememberFor:  time.Hour,
		WarningFor:   2 * time.Minute,
		PriceStep:    5 * time.Minute,
		Buckets: map[string]Rate{
			"":                     {20, 100},
			"CreateFleet":          {5, 50},
			"CreateLaunchTemplate": {5, 50},
			"DeleteLaunchTemplate": {5, 50},
			"RunInstances":         {2, 5},
			"TerminateInstances":   {5, 100},
			"CreateTags":           {10, 100},
		},
	}
}
