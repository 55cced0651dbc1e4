package commitment

import "testing"

func TestRooms(t *testing.T) {
	type reserved = []ReservedInstances
	large := ReservedInstances{ID: "ri", InstanceType: "m5.large", Count: 3}
	flexible, zonal, shared := large, large, large
	flexible.Flexible, zonal.Zone, shared.Elsewhere = true, "a", 2
	metal := ReservedInstances{ID: "ri", InstanceType: "m5.metal", Count: 2}
	gone := SavingsPlan{ID: "sp", Commitment: 1, Elsewhere: 2, Discount: 0.25}
	plan := SavingsPlan{ID: "sp", Commitment: 100_000, Discount: 0.25, Elsewhere: 20_000}
	for name, tt := range map[string]struct {
		c       Commitments
		running string
		next    string
		left    int64
		takes   int64 // 0: it does not cover the next one
	}{
		"of one type":            {Commitments{Reserved: reserved{large}}, "m5.large", "m5.large", 32, 16},
		"of one size":            {Commitments{Reserved: reserved{large}}, "m5.large", "m5.xlarge", 32, 0},
		"of any size":            {Commitments{Reserved: reserved{flexible}}, "m5.large", "m5.xlarge", 32, 32},
		"of no other family":     {Commitments{Reserved: reserved{flexible}}, "", "c5.large", 48, 0},
		"of one zone":            {Commitments{Reserved: reserved{zonal}}, "m5.large/b", "m5.large", 48, 16},
		"of no other zone":       {Commitments{Reserved: reserved{zonal}}, "", "m5.large/b", 48, 0},
		"beside what others use": {Commitments{Reserved: reserved{shared}}, "", "m5.large", 16, 16},
		"of a Savings Plan":      {Commitments{Plans: []SavingsPlan{plan}}, "", "m5.large", 80_000, 72_000},
		"of a plan that is used": {Commitments{Plans: []SavingsPlan{plan}}, "m5.large", "m5.large", 8_000, 72_000},
		"of what has no factor":  {Commitments{Reserved: reserved{metal}}, "m5.metal", "m5.metal", 1, 1},
		"of more than is there":  {Commitments{Reserved: reserved{flexible}}, "m5.2xlarge", "m5.large", 0, 16},
		"of what others exhaust": {Commitments{Plans: []SavingsPlan{gone}}, "", "m5.large", 0, 72_000},
	} {
		t.Run(name, func(t *testing.T) {
			rooms := Rooms(&tt.c, running(tt.running))
			if len(rooms) != 1 || rooms[0].Left != tt.left {
				t.Fatalf("%+v is left, want %d", rooms, tt.left)
			}
			if takes, covers := rooms[0].Takes(running(tt.next)[0]); covers != (tt.takes > 0) || takes != tt.takes {
				t.Errorf("%s takes %d, %v; want %d", tt.next, takes, covers, tt.takes)
			}
		})
	}
}
