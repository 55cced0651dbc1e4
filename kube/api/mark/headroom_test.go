package mark

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
)

// A share is of all pods or of those of one NodePool; anything else is refused by the name of the annotation.
func TestHeadroomOf(t *testing.T) {
	pool := cluster.PoolID{Kind: "NodePool", Name: "default"}
	for text, want := range map[string]struct {
		headroom Headroom
		refused  string
	}{
		"10%":                      {Headroom{Percent: 10}, ""},
		"2.5% of NodePool/default": {Headroom{2.5, pool}, ""},
		"10":                       {refused: `metadata.annotations[daemok.sh/headroom]: "10": want a share such as 10%, or 10% of NodePool/default`},
		"-5%":                      {refused: `metadata.annotations[daemok.sh/headroom]: "-5%": want a share such as 10%, or 10% of NodePool/default`},
		"5% of default":            {refused: `metadata.annotations[daemok.sh/headroom]: "5% of default": want a share such as 10%, or 10% of NodePool/default`},
		"2000%":                    {refused: `metadata.annotations[daemok.sh/headroom]: "2000%": want 1000% at most`},
	} {
		got, err := HeadroomOf(map[string]string{api.AnnotationHeadroom: text})
		switch {
		case err != nil && err.Error() != want.refused, err == nil && want.refused != "":
			t.Errorf("%q is refused by %v, want %q", text, err, want.refused)
		case err == nil && *got != want.headroom:
			t.Errorf("%q is %+v, want %+v", text, *got, want.headroom)
		}
	}
	if got, err := HeadroomOf(nil); got != nil || err != nil {
		t.Errorf("without the annotation it is %+v, %v", got, err)
	}
}
