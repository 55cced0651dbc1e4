package commitment

import (
	"reflect"
	"testing"
)

// What AWS says of a commitment counts, and users say of it how much is used elsewhere.
func TestJoin(t *testing.T) {
	type reserved = []ReservedInstances
	type plans = []SavingsPlan
	ri := ReservedInstances{ID: "r-1", InstanceType: "m5.large", Count: 4, Flexible: true, Account: true}
	sp := SavingsPlan{ID: "s-1", Commitment: 1_000_000, Discount: 0.25, Account: true}
	shared, partly := ri, sp
	shared.Elsewhere, partly.Elsewhere = 3, 400_000
	own := ReservedInstances{ID: "own", InstanceType: "c5.large", Count: 1}
	lent := SavingsPlan{ID: "lent", Commitment: 5, Discount: 0.1}
	others := []Usage{{InstanceType: "m5.large", Zone: "a", OnDemand: 96_000, Count: 2}}
	account := Commitments{reserved{ri}, plans{sp}, others}
	tests := map[string]struct{ listed, want Commitments }{
		"nothing is listed": {Commitments{}, account},
		"other commitments are added": {
			Commitments{Reserved: reserved{own}, Plans: plans{lent}},
			Commitments{reserved{ri, own}, plans{sp, lent}, others},
		},
		"of the account's it is said what others use": {
			Commitments{Reserved: reserved{{ID: "r-1", Elsewhere: 3}}, Plans: plans{{ID: "s-1", Elsewhere: 400_000}}},
			Commitments{reserved{shared}, plans{partly}, others},
		},
		"one that is listed as a whole counts once, as AWS says": {
			Commitments{Reserved: reserved{{ID: "r-1", InstanceType: "c5.large", Count: 9, Elsewhere: 3}}},
			Commitments{reserved{shared}, plans{sp}, others},
		},
		"what is said of commitments that have expired has no effect": {
			Commitments{Reserved: reserved{{ID: "r-0", Elsewhere: 3}}, Plans: plans{{ID: "s-0", Elsewhere: 4}}},
			account,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Join(account, tt.listed)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if of := got.OfAccount(); !reflect.DeepEqual(of, account) {
				t.Errorf("the account's part is %+v, want %+v", of, account)
			}
		})
	}
}
