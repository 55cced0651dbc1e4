package translate

import (
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/mark"
)

func rolling(text string) PoolObject {
	o := PoolObject{ID: cluster.PoolID{Kind: KindNodePool, Name: "web"}}
	if text != "" {
		o.Annotations = map[string]string{api.MarkRoll: text}
	}
	return o
}

func TestWhatARollIsAbout(t *testing.T) {
	all, outdated := mark.Roll{Since: noon, All: true}.String(), mark.Roll{Since: noon}.String()
	old, fresh := cluster.Node{CreatedAt: noon.Add(-time.Hour)}, cluster.Node{CreatedAt: noon}
	drifted := cluster.Node{CreatedAt: noon.Add(-time.Hour), Drifted: "AMIDrift"}
	tests := map[string]struct {
		roll string
		node cluster.Node
		want string
	}{
		"without a roll nothing drifts":          {"", old, ""},
		"of all, a node that was there":          {all, old, RollRequested},
		"of all, none that came since":           {all, fresh, ""},
		"of those that drifted, no other":        {outdated, old, ""},
		"what it has drifted from is not hidden": {all, drifted, "AMIDrift"},
		"one that is not understood is none":     {"now", old, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			MarkRolled(rolling(tt.roll), &tt.node)
			if tt.node.Drifted != tt.want {
				t.Errorf("drifted: %q, want %q", tt.node.Drifted, tt.want)
			}
		})
	}
}

func TestWhatKeepsNodesOfARoll(t *testing.T) {
	tests := map[string]struct{ roll, drifted, want string }{
		"none, for a node that drifted":          {"", "AMIDrift", ""},
		"one that goes on":                       {mark.Roll{Since: noon, All: true}.String(), RollRequested, ""},
		"one that is paused":                     {mark.Roll{Since: noon, All: true, Paused: true}.String(), RollRequested, "the roll of NodePool/web is paused"},
		"one that is paused, for whatever drift": {mark.Roll{Since: noon, Paused: true}.String(), "AMIDrift", "the roll of NodePool/web is paused"},
		"one that was called off":                {"", RollRequested + "; it goes first", "the roll of NodePool/web was called off"},
		"one that is not understood":             {`{"since":"today"}`, "AMIDrift", "NodePool/web: metadata.annotations[daemok.sh/roll]: "},
		"one without a beginning":                {`{"all":true}`, "", "NodePool/web: metadata.annotations[daemok.sh/roll]: want since"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := RollKeeps(rolling(tt.roll), tt.drifted); !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
				t.Errorf("RollKeeps = %q, want %q", got, tt.want)
			}
		})
	}
}
