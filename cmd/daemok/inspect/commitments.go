package inspect

import (
	"strings"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/snapshot"
)

// accountUnread says what of the account's commitments could not be read, and why; empty: all was, or nothing is read.
func accountUnread(c cloud.AccountCommitments) string {
	if len(c.Unread) == 0 {
		return ""
	}
	parts := make([]string, len(c.Unread))
	for i := range c.Unread {
		parts[i] = c.Unread[i].Text("your own user or role")
	}
	return "Not all commitments of the account could be read, and the rest is left out here: " +
		strings.Join(parts, ". ") + "."
}

// listedUnread says what of the ConfigMap that lists commitments is not understood, and what holds meanwhile; empty: all
// is.
func listedUnread(state *snapshot.ClusterState) string {
	if odd := state.Commitments.Odd(); odd != "" {
		return odd + "."
	}
	return ""
}
