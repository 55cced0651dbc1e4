package up

import (
	"strings"
	"testing"

	"github.com/daemok/daemok/lab/control"
)

// Commands are taken as soon as a lab begins to start, before there is anything to give them
// to.
func TestOrdersToALabThatIsJustStarting(t *testing.T) {
	var l Lab
	l.enter(control.Starting)
	if err := l.Restart(t.Context(), "karpenter-0"); err == nil || !strings.Contains(err.Error(), "none yet") {
		t.Errorf("Restart = %v, want that nothing runs yet", err)
	}
	if _, err := l.Act(control.Act{Machine: "*"}); err == nil || !strings.Contains(err.Error(), "when it is ready") {
		t.Errorf("Act = %v, want that the lab is not ready", err)
	}
	if s := l.Status(); s.Phase != control.Starting || len(s.Components) > 0 {
		t.Errorf("Status = %+v, want a lab that starts and has no components", s)
	}
}
