package commitments

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/kube/api"
)

// now are the commitments that plans use of no account.
func now(t *Table) commitment.Commitments { return t.Now(time.Time{}, nil) }

// What cannot be read says so, and leaves what was listed before, until the ConfigMap is corrected or deleted.
func TestWhatCannotBeReadLosesNothing(t *testing.T) {
	table := Table{In: "kube-system"}
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: api.ConfigMapCommitments}}
	c.Data = map[string]string{api.CommitmentsFile: "savingsPlans: [{id: a, commitment: 1}]"}
	if table.Seen(c) || table.Odd() != "" {
		t.Errorf("a ConfigMap of another namespace counts: %q", table.Odd())
	}
	c.Namespace = "kube-system"
	if table.Seen(c) || !strings.HasSuffix(table.Odd(), "until it is corrected, plans use no commitments") {
		t.Errorf("odd is %q, want that no commitments are used", table.Odd())
	}
	good := c.DeepCopy()
	good.Data[api.CommitmentsFile] = "savingsPlans: [{id: a, commitment: 1, discount: 20%}]"
	if !table.Seen(good) || table.Seen(good) || table.Odd() != "" || len(now(&table).Plans) != 1 {
		t.Errorf("commitments are %+v, %q; want a change where they are new alone", now(&table), table.Odd())
	}
	changed := table.Seen(c)
	kept := strings.HasSuffix(table.Odd(), "plans use what it listed before")
	if changed || !kept || len(now(&table).Plans) != 1 {
		t.Errorf("commitments are %+v, %q; want those before", now(&table), table.Odd())
	}
	gone := table.Gone(c)
	if left := now(&table); !gone || left.Any() || table.Odd() != "" {
		t.Errorf("commitments are %+v, %q once the ConfigMap is gone", now(&table), table.Odd())
	}
}

// SC-631, SC-636: What AWS says of the account is joined with what the ConfigMap lists, and pays until its end.
// Instances that are no nodes of the cluster are counted.
func TestCommitmentsOfTheAccount(t *testing.T) {
	now := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	large := commitment.Usage{InstanceType: "m5.large", Zone: "a", OnDemand: 96_000}
	account := cloud.AccountCommitments{
		Commitments: commitment.Commitments{Reserved: []commitment.ReservedInstances{
			{ID: "r-1", InstanceType: "m5.large", Count: 4, Account: true},
			{ID: "r-2", InstanceType: "m5.large", Count: 1, Account: true},
		}},
		EndsAt: map[string]time.Time{"r-1": now.Add(24 * time.Hour), "r-2": now.Add(time.Hour)},
		Running: []cloud.RunningInstance{
			{ProviderID: "aws:///a/i-1", Usage: large}, {ProviderID: "aws:///a/i-2", Usage: large},
			{ProviderID: "aws:///a/i-3", Usage: large},
		},
	}
	table := Table{In: "kube-system", Account: func() cloud.AccountCommitments { return account }}
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: api.ConfigMapCommitments}}
	c.Data = map[string]string{api.CommitmentsFile: "{reservedInstances: [{id: r-1, usedElsewhere: 2}], " +
		"savingsPlans: [{id: lent, commitment: 1, discount: 20%}]}"}
	if !table.Seen(c) || table.Odd() != "" {
		t.Fatalf("the ConfigMap is refused: %s", table.Odd())
	}
	own := func() map[string]bool { return map[string]bool{"aws:///a/i-2": true} }
	got := table.Now(now, own)
	two := large
	two.Count = 2
	others := slices.Equal(got.Others, []commitment.Usage{two})
	if len(got.Reserved) != 2 || got.Reserved[0].Elsewhere != 2 || len(got.Plans) != 1 || !others {
		t.Errorf("commitments are %+v, want both of the account, one lent, and two other instances", got)
	}
	if table.Expired(now.Add(59*time.Minute)) || !table.Expired(now.Add(time.Hour)) {
		t.Error("Reserved Instances are to end after an hour, and not before")
	}
	if got := table.Now(now.Add(time.Hour), own); len(got.Reserved) != 1 || table.Expired(now.Add(2*time.Hour)) {
		t.Errorf("after their end commitments are %+v, want one less, once", got)
	}
	again := Table{In: "kube-system"}
	again.Recall(got)
	if saved := again.Now(now.Add(48*time.Hour), nil); !reflect.DeepEqual(saved, got) {
		t.Errorf("a saved snapshot has %+v, want what it was saved with, %+v", saved, got)
	}
	if again.Gone(c); !again.Now(now, nil).Reserved[0].Account || len(again.Now(now, nil).Plans) != 0 {
		t.Errorf("without the ConfigMap a saved snapshot has %+v, want the account's alone", again.Now(now, nil))
	}
	table.In = "" // as the gate is off
	if off := table.Now(now, own); table.ReadsAccount() || len(off.Reserved) != 0 {
		t.Errorf("without commitments there are %+v", off)
	}
}

// SC-632: Instances of the account use the commitments that users list as well, where AWS says nothing of these: each
// instance that one of them may pay for.
func TestOthersUseListedCommitments(t *testing.T) {
	m5 := commitment.Usage{InstanceType: "m5.large", Zone: "a", OnDemand: 96_000}
	c5 := commitment.Usage{InstanceType: "c5.large", Zone: "a", OnDemand: 85_000}
	account := cloud.AccountCommitments{Running: []cloud.RunningInstance{
		{ProviderID: "aws:///a/i-1", Usage: m5}, {ProviderID: "aws:///a/i-2", Usage: c5},
		{ProviderID: "aws:///a/i-3", Usage: c5},
	}}
	table := Table{In: "kube-system", Account: func() cloud.AccountCommitments { return account }}
	own := func() map[string]bool { return map[string]bool{"aws:///a/i-2": true} }
	if got := table.Now(time.Time{}, own); len(got.Others) != 0 {
		t.Errorf("without commitments other instances are %+v, want none", got.Others)
	}
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: api.ConfigMapCommitments}}
	for file, want := range map[string][]commitment.Usage{
		"savingsPlans: [{id: compute, commitment: 1, discount: 20%}]":        {counted(c5), counted(m5)},
		"savingsPlans: [{id: c5, family: c5, commitment: 1, discount: 20%}]": {counted(c5)},
		"reservedInstances: [{id: web, instanceType: r5.large, count: 4}]":   nil,
		"reservedInstances: [{id: web, instanceType: m5.large, count: 4}]":   {counted(m5)},
	} {
		c.Data = map[string]string{api.CommitmentsFile: file}
		table.Seen(c)
		if got := table.Now(time.Time{}, own); !slices.Equal(got.Others, want) {
			t.Errorf("with %s other instances are %+v, want %+v", file, got.Others, want)
		}
	}
}

// counted is one instance of its kind.
func counted(u commitment.Usage) commitment.Usage {
	u.Count = 1
	return u
}

// SC-632: The instance of a node that is gone is no other instance until the account is read again: right after a
// reading, and also where the node goes between the last snapshot and the reading. If it runs on then, it is one.
func TestTheInstanceOfANodeThatIsGoneIsNoOther(t *testing.T) {
	account := cloud.AccountCommitments{Reading: 1}
	for _, id := range []string{"aws:///a/i-1", "aws:///a/i-2", "aws:///a/i-3"} {
		account.Running = append(account.Running, cloud.RunningInstance{ProviderID: id,
			Usage: commitment.Usage{InstanceType: "m5.large", Zone: "a", OnDemand: 96_000}})
	}
	account.Plans = []commitment.SavingsPlan{{ID: "p", Commitment: 1_000_000, Discount: 0.2, Account: true}}
	table := Table{In: "kube-system", Account: func() cloud.AccountCommitments { return account }}
	others := func(nodes ...string) (n int64) {
		own := map[string]bool{}
		for _, id := range nodes {
			own["aws:///a/"+id] = true
		}
		for _, u := range table.Now(time.Time{}, func() map[string]bool { return own }).Others {
			n += u.Count
		}
		return n
	}
	want := func(n, got int64, when string) {
		t.Helper()
		if got != n {
			t.Errorf("%s there are %d other instances, want %d", when, got, n)
		}
	}
	want(1, others("i-1", "i-2"), "at first")
	want(1, others("i-1"), "with a node gone")
	want(1, others("i-1"), "some time later")
	account.Reading++
	want(2, others(), "with a node gone when the account is read, and one before")
	want(2, others(), "some time later")
	account.Reading++
	want(3, others(), "once the account is read again")
}
