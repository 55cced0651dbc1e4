package translate

import (
	"fmt"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/mark"
)

// RollRequested is why a node goes that is as its pool asks for, and whose people
// want another.
const RollRequested = "RollRequested"

// MarkRolled shows a node as drifted that its pool's roll is about.
func MarkRolled(o PoolObject, n *cluster.Node) {
	roll, found, err := mark.ReadRoll(o.Annotations)
	if err == nil && found && roll.All && n.Drifted == "" && n.CreatedAt.Before(roll.Since) {
		n.Drifted, n.DriftedAt = RollRequested, roll.Since
	}
}

// RollKeeps says why a node that was to go for having drifted stays, by what its
// pool's roll says now; empty: it may go. Of what it has drifted from, only that
// it was to be rolled matters.
func RollKeeps(o PoolObject, drifted string) string {
	roll, found, err := mark.ReadRoll(o.Annotations)
	switch {
	case err != nil:
		return fmt.Sprintf("%s: %v", o.ID, err)
	case roll.Paused:
		return fmt.Sprintf("the roll of %s is paused", o.ID)
	case strings.HasPrefix(drifted, RollRequested) && (!found || !roll.All):
		return fmt.Sprintf("the roll of %s was called off", o.ID)
	}
	return ""
}
