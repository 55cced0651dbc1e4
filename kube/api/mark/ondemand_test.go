package mark

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
)

// A minimum is a number, or a share of all; anything else is refused by the name of the annotation.
func TestOnDemandMinimum(t *testing.T) {
	const want = `: want a number such as "2", or a share such as "30%"`
	const at = `metadata.annotations[daemok.sh/on-demand-minimum]: `
	for text, tt := range map[string]struct {
		minimum cluster.Minimum
		refused string
	}{
		"2":       {minimum: cluster.Minimum{Least: 2}},
		" 30% ":   {minimum: cluster.Minimum{Least: 30, Percent: true}},
		"100%":    {minimum: cluster.Minimum{Least: 100, Percent: true}},
		"0":       {},
		"0%":      {},
		"101%":    {refused: at + `"101%"` + want},
		"-1":      {refused: at + `"-1"` + want},
		"2.5%":    {refused: at + `"2.5%"` + want},
		"":        {refused: at + `""` + want},
		"half":    {refused: at + `"half"` + want},
		"9999999": {refused: at + `"9999999"` + want},
	} {
		got, err := OnDemandMinimum(map[string]string{api.AnnotationOnDemandMinimum: text})
		switch {
		case err != nil && err.Error() != tt.refused, err == nil && tt.refused != "":
			t.Errorf("%q is refused by %v, want %q", text, err, tt.refused)
		case err == nil && got != tt.minimum:
			t.Errorf("%q is %+v, want %+v", text, got, tt.minimum)
		}
	}
	if got, err := OnDemandMinimum(nil); got.Any() || err != nil {
		t.Errorf("without the annotation it is %+v, %v", got, err)
	}
}
