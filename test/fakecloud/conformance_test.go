package fakecloud

import (
	"testing"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/test/conformance"
	"github.com/daemok/daemok/test/market"
	"github.com/daemok/daemok/test/market/clock"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func TestConformance(t *testing.T) {
	for name, scale := range map[string]float64{"in real time": 1, "with boots at once": 0} {
		t.Run(name, func(t *testing.T) {
			conformance.Run(t, func(*testing.T) conformance.Subject { return subject(scale) })
		})
	}
}

func subject(scale float64) conformance.Subject {
	virtual := clock.NewVirtual(start)
	o := Options{Clock: virtual, Seed: 7, TimeScale: scale}
	o.Market = NewMarket(o)
	c := New(o)
	o.Cluster = "other"
	return conformance.Subject{
		Catalog: c, Instances: c, InterruptionMessages: c, Other: New(o), Class: cloud.Class{ID: "EC2NodeClass/default"},
		Advance: virtual.Advance, Exhaust: c.Exhaust,
		SetPrice:  func(o cloud.OfferingChoice, dollars float64) { c.Market().SetPrice(poolOf(o), dollars) },
		Interrupt: func(id string) { c.Market().Interrupt(id) },
		Reserve:   c.Reserve, EndReservation: c.EndReservation,
		LagMax: 10 * time.Second, EndMax: 5 * time.Minute,
		Dedicated: true, ShortageFor: 3 * time.Minute, RedeliverIn: 20 * time.Second,
	}
}

// quiet is a cloud without lags, for tests of single things.
func quiet(change ...func(*Options)) (*Cloud, *clock.Virtual) {
	virtual := clock.NewVirtual(start)
	figures := market.DefaultFigures()
	figures.Visible = market.Spread{}
	o := Options{Clock: virtual, Seed: 7, Figures: figures}
	for _, f := range change {
		f(&o)
	}
	return New(o), virtual
}
