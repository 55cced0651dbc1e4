package aws

import (
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/capacity"
	"github.com/daemok/daemok/cloud/aws/interruption"
	"github.com/daemok/daemok/test/conformance"
	"github.com/daemok/daemok/test/emulator/ec2/reservation"
	"github.com/daemok/daemok/test/market"
)

// The adapter keeps the port's promises over AWS's own wire, with the lags and
// limits of an ordinary day.
func TestConformance(t *testing.T) {
	conformance.Run(t, func(t *testing.T) conformance.Subject {
		a := openAccount(t)
		t.Setenv("AWS_ACCESS_KEY_ID", "test-2") // the first cluster's policies end with it
		other, err := New(t.Context(), Options{Cluster: "test", Now: a.Now, Pause: a.Pause})
		if err != nil {
			t.Fatal(err)
		}
		return conformance.Subject{
			Catalog: a.provider, Instances: a.provider, Other: other, Class: a.port(),
			InterruptionMessages: a.provider.InterruptionMessages("prod"), RedeliverIn: interruption.HiddenFor,
			Advance: func(d time.Duration) {
				a.Advance(d)
				a.server.Advance()
				if a.class.Spec.Reservations != nil {
					a.recheck(t)
				}
			},
			Reserve: func(kind, zone string, n int) string {
				return a.reserve(t, reservation.CapacityReservation{Type: kind, Zone: zone, Count: n, Targeted: true})
			},
			EndReservation: func(reservedCapacity string) {
				if _, err := a.admin.EC2.CancelCapacityReservation(t.Context(), &ec2.CancelCapacityReservationInput{CapacityReservationId: sdk.String(reservedCapacity)}); err != nil {
					t.Fatal(err)
				}
			},
			Interrupt: func(id string) { a.server.Market().Interrupt(id) },
			Exhaust:   func(o cloud.OfferingChoice, n int) { a.server.Market().SetCapacity(poolOf(o), n, 0) },
			SetPrice: func(o cloud.OfferingChoice, dollars float64) {
				a.server.Market().SetPrice(poolOf(o), dollars)
				if err := a.provider.RefreshSpot(t.Context()); err != nil {
					t.Error(err)
				}
			},
			Dedicated: true, LagMax: time.Minute, EndMax: 5 * time.Minute, ShortageFor: capacity.Keep,
		}
	})
}

func poolOf(o cloud.OfferingChoice) market.Pool {
	return market.Pool{Kind: o.Kind, Zone: o.Zone, Option: market.Option(o.Option)}
}
