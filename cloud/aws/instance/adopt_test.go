package instance

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/daemok/daemok/cloud"
)

func TestAInstanceMayBeTakenOver(t *testing.T) {
	const class, pool = "karpenter.k8s.aws/ec2nodeclass", "karpenter.sh/provisioner-name"
	tests := map[string]struct {
		cluster, state string
		tags           []string
		lacks          string // a tag that instances of clusters have otherwise
		says           string // why not; empty: it may
	}{
		"one of the cluster that no class was used for": {"prod", "running", []string{pool, "default"}, class, ""},
		"one of another class of the cluster":           {"prod", "running", nil, "", ""},
		"not another cluster's":                         {"test", "running", nil, class, "owned by cluster test"},
		"not one that two clusters own":                 {"prod", "running", []string{"kubernetes.io/cluster/test", "owned"}, class, "owned by cluster test"},
		"one that another cluster may use":              {"prod", "running", []string{"kubernetes.io/cluster/test", "shared"}, class, ""},
		"not one that EKS tells of another cluster":     {"prod", "running", []string{"eks:eks-cluster-name", "test"}, class, "of cluster test"},
		"one of the cluster by its UID":                 {"prod", "running", []string{"daemok.sh/cluster-uid", "uid-1"}, class, ""},
		"not one of another cluster of that name":       {"prod", "running", []string{"daemok.sh/cluster-uid", "uid-2"}, class, "of another cluster called prod"},
		"not one of no cluster":                         {"prod", "running", nil, "kubernetes.io/cluster/prod", "has no tag kubernetes.io/cluster/prod"},
		"not one that a group would replace":            {"prod", "running", []string{"aws:autoscaling:groupName", "workers"}, class, "detach it"},
		"not one that has been stopped":                 {"prod", "stopped", nil, class, "is stopped"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m := instance("i-1", tt.cluster, tt.state, tt.tags...)
			for i, tag := range m.Tags {
				if aws.ToString(tag.Key) == tt.lacks {
					m.Tags = append(m.Tags[:i:i], m.Tags[i+1:]...)
				}
			}
			a := standing()
			a.instances = append(a.instances[:1:1], m)
			s := open(a, func() time.Time { return start })
			s.UID = "uid-1"
			found, err := s.Adoptable(t.Context(), "i-1")
			if tt.says == "" {
				if err != nil || found.ID != "i-1" || found.ProviderID != "aws:///us-east-1a/i-1" {
					t.Errorf("Adoptable = %+v, %v", found, err)
				}
				return
			}
			refused, ok := errors.AsType[*cloud.RefusedError](err)
			if !ok || refused.Reason != cloud.NotAdoptable || !strings.Contains(refused.Cause, tt.says) {
				t.Errorf("Adoptable = %v; want it refused with %q", err, tt.says)
			}
		})
	}
}

func TestAInstanceThatHasEndedIsNotTakenOver(t *testing.T) {
	s := open(standing(), func() time.Time { return start })
	for _, id := range []string{"i-gone", "i-none"} {
		if _, err := s.Adoptable(t.Context(), id); !isMissing(err, id) {
			t.Errorf("Adoptable(%s) = %v, want it not found", id, err)
		}
	}
}

func isMissing(err error, id string) bool {
	missing, ok := errors.AsType[*cloud.NotFoundError](err)
	return ok && missing.InstanceID == id
}

// Tags that say whose an instance is are written over those of before, tags of the class
// are not, and what is there is not written again.
func TestTagsOfAInstanceThatIsTakenOver(t *testing.T) {
	a := standing()
	s := open(a, func() time.Time { return start })
	m := cloud.Instance{ID: "i-managed", Tags: map[string]string{"pool": "before", "team": "red", "there": "x"}}
	own, ofClass := map[string]string{"pool": "now", "there": "x"}, map[string]string{"team": "blue", "cost": "7"}
	if err := s.Adopt(t.Context(), m, own, ofClass); err != nil || !maps.Equal(a.tagged, map[string]string{"pool": "now", "cost": "7"}) {
		t.Errorf("Adopt = %v, tagged %v", err, a.tagged)
	}
	a.tagged = nil
	m.Tags = map[string]string{"pool": "now", "team": "red", "there": "x", "cost": "7"}
	if err := s.Adopt(t.Context(), m, own, ofClass); err != nil || a.tagged != nil {
		t.Errorf("Adopt again = %v, tagged %v; want no call", err, a.tagged)
	}
	if err := s.Adopt(t.Context(), cloud.Instance{ID: "i-none"}, own, nil); !isMissing(err, "i-none") {
		t.Errorf("Adopt of an unknown machine = %v, want it not found", err)
	}
}
