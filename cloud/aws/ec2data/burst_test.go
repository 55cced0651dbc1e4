package ec2data

import "testing"

// Shares are those of the table in AWS's user guide.
func TestBaseline(t *testing.T) {
	tests := map[string]struct {
		kind string
		want int64
	}{
		"the smallest earns a twentieth":        {"t3.nano", 50},
		"AMD is like Intel":                     {"t3a.medium", 200},
		"Graviton is like Intel":                {"t4g.2xlarge", 400},
		"large T2 earn less than later ones":    {"t2.xlarge", 225},
		"the largest T2 earns least of large":   {"t2.2xlarge", 170},
		"a new family gets the least of a size": {"t5.xlarge", 225},
		"a new size gets a fifth":               {"t5.12xlarge", 200},
		"what has no size gets a fifth":         {"t5", 200},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Baseline(tt.kind); got != tt.want {
				t.Errorf("Baseline(%s) = %d, want %d thousandths", tt.kind, got, tt.want)
			}
		})
	}
}

// A burstable type that is in the record but not in the table of shares would
// be guessed at silently.
func TestEveryBurstableTypeHasItsShare(t *testing.T) {
	seen := 0
	for _, kind := range Load().Types {
		if !kind.Burstable {
			continue
		}
		seen++
		if _, known := baselines[kind.Family][kind.Size]; !known {
			t.Errorf("%s is burstable and has no share in the table", kind.Name)
		}
	}
	if seen == 0 {
		t.Error("the record has no burstable type")
	}
}
