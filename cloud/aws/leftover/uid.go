package leftover

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// NoUID stands for what carries no UID of a cluster: made before there was that tag, or by
// what gives none.
const NoUID = "none"

// Alive is a cluster that answers. The zero value is none.
type Alive struct {
	UID  string // of its namespace kube-system
	Host string // URL of its API server
}

// Selection is which of several clusters of one name are meant.
type Selection struct {
	UIDs  []string // of the clusters that are gone, NoUID among them; none: it has to be plain which is meant
	Alive Alive    // the cluster that the user is connected to, which is not gone
}

// Select says which of the clusters of the name are meant. It is called before Find.
func (s *Sweeper) Select(selected Selection) { s.selected = selected }

// meant reports whether a thing is of a cluster that is meant.
func (s *Sweeper) meant(t Thing) bool {
	return len(s.selected.UIDs) == 0 || slices.Contains(s.selected.UIDs, t.uid())
}

func (t Thing) uid() string {
	if t.UID == "" {
		return NoUID
	}
	return t.UID
}

// Unclear is an error where it is not plain that all things are of one cluster that is
// gone: things of several clusters of the name, or of one that answers.
func (s *Sweeper) Unclear(things []Thing) error {
	count := map[string]int{}
	var uids []string
	for _, t := range things {
		if t.UID != "" && count[t.UID] == 0 {
			uids = append(uids, t.UID)
		}
		count[t.uid()]++
	}
	slices.Sort(uids)
	if alive := s.selected.Alive; alive.UID != "" && count[alive.UID] > 0 {
		return fmt.Errorf("cluster UID %s is that of the cluster at %s, which answers: name the UIDs of clusters that are gone: --uid UID", alive.UID, alive.Host)
	}
	if len(s.selected.UIDs) > 0 || len(uids) < 2 {
		return nil
	}
	if count[NoUID] > 0 {
		uids = append(uids, NoUID)
	}
	said := make([]string, len(uids))
	for i, uid := range uids {
		said[i] = fmt.Sprintf("%s (%d)", uid, count[uid])
	}
	return fmt.Errorf("these are of several clusters called %s, by the tag %s: %s; one of them may live: name those that are gone: --uid UID",
		s.cluster, nodeclass.TagUID, strings.Join(said, ", "))
}

// beside is an error unless what an earlier cluster left can be distinguished from what the
// one of the same name has that EKS knows at that URL.
func (s *Sweeper) beside(host string) error {
	switch alive := s.selected.Alive; {
	case len(s.selected.UIDs) == 0:
		return fmt.Errorf("delete its NodePools and wait until their nodes have gone, or delete the cluster first; what an earlier cluster of that name left goes by that one's UID, as in the tag %s: --uid UID", nodeclass.TagUID)
	case alive.UID == "" || host == "" || strings.TrimSuffix(alive.Host, "/") != strings.TrimSuffix(host, "/"):
		return fmt.Errorf("with --uid its own UID has to be known, so that nothing of its own goes: have KUBECONFIG lead to it, at %s", host)
	case slices.Contains(s.selected.UIDs, alive.UID):
		return fmt.Errorf("--uid %s is its own UID", alive.UID)
	case slices.Contains(s.selected.UIDs, NoUID):
		return errors.New("what carries no UID may be its own: leave --uid " + NoUID + " out")
	}
	return nil
}
