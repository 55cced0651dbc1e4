package namespaces

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func TestSelectorsChooseNamespaces(t *testing.T) {
	table := New()
	shop := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "one"}}}
	table.Seen(shop)
	table.Assume("shop")
	table.Assume("other")
	team := labels.SelectorFromSet(labels.Set{"team": "one"})
	if got := table.Chosen(team); !slices.Equal(got, []string{"shop"}) {
		t.Errorf("chosen are %v, want shop", got)
	}
	if got := table.Chosen(labels.SelectorFromSet(labels.Set{corev1.LabelMetadataName: "other"})); !slices.Equal(got, []string{"other"}) {
		t.Errorf("chosen by its name is %v, want other", got)
	}
	if table.Gone(shop); len(table.Chosen(team)) != 0 {
		t.Error("a namespace that is gone is chosen")
	}
}
