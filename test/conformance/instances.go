package conformance

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
)

// none is the ID of an instance that does not exist.
const none = "i-0ffffffffffffffff"

var instanceTests = []conformance{
	{"a listed instance has its batch, tags, image and network", func(t *testing.T, b *bench) {
		r := b.request(1, b.offerings(t, cluster.OnDemand, 1)...)
		id := b.launch(t, r)[0].ID
		listed := b.list(t, cloud.Filter{IDs: []string{id}})
		if len(listed) != 1 {
			t.Fatalf("List of one ID returned %v", ids(listed))
		}
		m := listed[0]
		if m.Batch != r.Batch || m.Tags["team"] != "blue" || m.LaunchedAt.IsZero() || m.State != cloud.Pending && m.State != cloud.Running {
			t.Errorf("instance = %+v; want batch %s, tag team=blue, pending or running", m, r.Batch)
		}
		if m.Class == "" || !strings.HasSuffix(b.Class.ID, m.Class) {
			t.Errorf("class %q is not that of %s", m.Class, b.Class.ID)
		}
		if !strings.Contains(m.ProviderID, m.ID) || m.PrivateDNS == "" || m.ZoneID == "" || m.Image == "" {
			t.Errorf("instance = %+v; want provider ID, private DNS name, zone ID and image", m)
		}
		if m.Subnet == "" || len(m.Groups) == 0 || !slices.IsSorted(m.Groups) {
			t.Errorf("instance is in subnet %q with security groups %v; want both, the groups sorted", m.Subnet, m.Groups)
		}
	}},
	{"lists are sorted and filtered", func(t *testing.T, b *bench) {
		offerings := b.offerings(t, cluster.OnDemand, 2)
		one, two := b.request(2, offerings[0]), b.request(2, offerings[1])
		first, second := ids(b.launch(t, one)), ids(b.launch(t, two))
		all := slices.Sorted(slices.Values(slices.Concat(first, second)))
		sameIDs(t, "all", b.list(t, cloud.Filter{}), all)
		sameIDs(t, "the first batch", b.list(t, cloud.Filter{Batch: one.Batch}), first)
		sameIDs(t, "two IDs and an unknown one", b.list(t, cloud.Filter{IDs: []string{second[0], none, first[1]}}),
			slices.Sorted(slices.Values([]string{first[1], second[0]})))
		sameIDs(t, "an ID of another batch", b.list(t, cloud.Filter{IDs: first[:1], Batch: two.Batch}), []string{})
		sameIDs(t, "an unknown batch", b.list(t, cloud.Filter{Batch: "unknown-batch"}), []string{})
	}},
	{"answers are the caller's own", func(t *testing.T, b *bench) {
		id := b.launch(t, b.request(1, b.offerings(t, cluster.OnDemand, 1)...))[0].ID
		b.list(t, cloud.Filter{})[0].Tags["team"] = "red"
		if got := b.list(t, cloud.Filter{IDs: []string{id}}); got[0].Tags["team"] != "blue" {
			t.Error("writing to an answer changed the instance")
		}
	}},
	{"terminated instances vanish", func(t *testing.T, b *bench) {
		r := b.request(2, b.offerings(t, cluster.OnDemand, 1)...)
		both := ids(b.launch(t, r))
		b.Advance(b.LagMax)
		terminate(t, b.Instances, both[:1], nil)
		b.Advance(b.EndMax)
		sameIDs(t, "what is left", b.list(t, cloud.Filter{Batch: r.Batch}), both[1:])
		sameIDs(t, "the one terminated", b.list(t, cloud.Filter{IDs: both[:1]}), []string{})
	}},
	{"Terminate can be repeated", func(t *testing.T, b *bench) {
		one := ids(b.launch(t, b.request(1, b.offerings(t, cluster.OnDemand, 1)...)))
		b.Advance(b.LagMax)
		terminate(t, b.Instances, one, nil)
		gone, err := b.Instances.Terminate(t.Context(), one...)
		if err != nil {
			t.Errorf("Terminate again: %v", err)
		}
		if left, err := b.Instances.List(t.Context(), cloud.Filter{IDs: one}); err != nil || len(left) > 0 && len(gone) > 0 {
			t.Errorf("%v was reported gone and is listed as %+v (%v)", gone, left, err)
		}
		b.Advance(b.EndMax)
		terminate(t, b.Instances, one, one)
	}},
	{"one just launched is terminated, or reported as not visible yet", func(t *testing.T, b *bench) {
		one := ids(b.launch(t, b.request(1, b.offerings(t, cluster.OnDemand, 1)...)))
		gone, err := b.Instances.Terminate(t.Context(), one...)
		if err != nil && !cloud.IsNotVisible(err) || len(gone) > 0 {
			t.Fatalf("Terminate at once = gone %v, %v", gone, err)
		}
		if cloud.IsNotVisible(err) {
			b.Advance(b.LagMax)
			terminate(t, b.Instances, one, nil)
		}
		b.Advance(b.EndMax)
		sameIDs(t, "what is left", b.list(t, cloud.Filter{IDs: one}), []string{})
	}},
	{"unknown instances are reported as gone, and the others are terminated", func(t *testing.T, b *bench) {
		one := ids(b.launch(t, b.request(1, b.offerings(t, cluster.OnDemand, 1)...)))
		b.Advance(b.LagMax)
		terminate(t, b.Instances, []string{none, one[0]}, []string{none})
		b.Advance(b.EndMax)
		sameIDs(t, "what is left", b.list(t, cloud.Filter{}), []string{})
		terminate(t, b.Instances, nil, nil)
	}},
	{"instances of another cluster are neither listed nor changed", func(t *testing.T, b *bench) {
		if b.Other == nil {
			t.Skip("the subject has one cluster only")
		}
		r := b.request(1, b.offerings(t, cluster.OnDemand, 1)...)
		shown := b.launch(t, r)
		one := ids(shown)
		b.Advance(b.LagMax)
		for _, f := range []cloud.Filter{{}, {IDs: one}, {Batch: r.Batch}} {
			if got, err := b.Other.List(t.Context(), f); err != nil || len(got) != 0 {
				t.Errorf("the other cluster's List(%+v) = %v, %v", f, ids(got), err)
			}
		}
		terminate(t, b.Other, one, one)
		if err := b.Other.Tag(t.Context(), shown[0], map[string]string{"team": "red"}); !isNotFound(err, one[0]) {
			t.Errorf("the other cluster's Tag = %v, want *NotFoundError", err)
		}
		b.Advance(b.EndMax)
		if got := b.list(t, cloud.Filter{}); len(got) != 1 || got[0].Tags["team"] != "blue" {
			t.Errorf("instances after the other cluster's calls = %+v", got)
		}
	}},
	{"tags are added to those there are", func(t *testing.T, b *bench) {
		one := ids(b.launch(t, b.request(1, b.offerings(t, cluster.OnDemand, 1)...)))
		b.Advance(b.LagMax)
		if err := b.Instances.Tag(t.Context(), b.list(t, cloud.Filter{IDs: one})[0], map[string]string{"Name": "web", "karpenter.sh/nodeclaim": "web-1"}); err != nil {
			t.Fatalf("Tag: %v", err)
		}
		got := b.list(t, cloud.Filter{IDs: one})
		if len(got) != 1 || got[0].Tags["Name"] != "web" || got[0].Tags["karpenter.sh/nodeclaim"] != "web-1" || got[0].Tags["env"] != "test" || got[0].Batch == "" {
			t.Errorf("instance after Tag = %+v", got)
		}
	}},
	{"Tag creates no instance, whether it is terminated or unknown", func(t *testing.T, b *bench) {
		shown := b.launch(t, b.request(1, b.offerings(t, cluster.OnDemand, 1)...))
		b.Advance(b.LagMax)
		terminate(t, b.Instances, ids(shown), nil)
		b.Advance(b.EndMax)
		name := map[string]string{"Name": "web"}
		if err := b.Instances.Tag(t.Context(), shown[0], name); err != nil && !isNotFound(err, shown[0].ID) {
			t.Errorf("Tag of a terminated instance = %v, want nothing or *NotFoundError", err)
		}
		unknown := shown[0]
		unknown.ID = none
		if err := b.Instances.Tag(t.Context(), unknown, name); !isNotFound(err, none) {
			t.Errorf("Tag(%s) = %v, want *NotFoundError", none, err)
		}
		if got := b.list(t, cloud.Filter{}); len(got) != 0 {
			t.Errorf("instances after Tag = %+v", got)
		}
	}},
}

func terminate(t *testing.T, by cloud.Instances, which, wantGone []string) {
	t.Helper()
	gone, err := by.Terminate(t.Context(), which...)
	if err != nil || !slices.Equal(gone, wantGone) {
		t.Errorf("Terminate(%v) = gone %v, %v; want %v", which, gone, err, wantGone)
	}
}

func isNotFound(err error, id string) bool {
	missing, ok := errors.AsType[*cloud.NotFoundError](err)
	return ok && missing.InstanceID == id
}
