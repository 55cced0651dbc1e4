package pages_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/pages"
)

// cluster has so many ConfigMaps and no more of a client.Reader than their list, in pages of the size asked for.
type cluster struct {
	client.Reader

	has    int
	asked  []int64 // the limit of each call
	broken int     // the call that fails, from 1; 0: none
}

var errBroken = errors.New("connection refused")

func (c *cluster) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(options)
	c.asked = append(c.asked, o.Limit)
	if len(c.asked) == c.broken {
		return errBroken
	}
	from, _ := strconv.Atoi(o.Continue) // none: 0
	to := min(from+int(o.Limit), c.has)
	for i := from; i < to; i++ {
		one := corev1.ConfigMap{}
		one.Name = fmt.Sprint(i)
		l := list.(*corev1.ConfigMapList)
		l.Items = append(l.Items, one)
	}
	if to < c.has {
		list.SetContinue(strconv.Itoa(to))
	}
	return nil
}

func TestEveryObjectIsReadOnceInPagesOfABoundedSize(t *testing.T) {
	for name, tt := range map[string]struct {
		has     int
		options []client.ListOption
		asked   []int64
	}{
		"none":                {has: 0, asked: []int64{500}},
		"one page, just full": {has: 500, asked: []int64{500}},
		"several pages":       {has: 1001, asked: []int64{500, 500, 500}},
		"pages of two":        {has: 3, options: []client.ListOption{client.Limit(2)}, asked: []int64{2, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &cluster{has: tt.has}
			var seen []string
			err := pages.Each(t.Context(), c, &corev1.ConfigMapList{}, func(l *corev1.ConfigMapList) {
				for i := range l.Items {
					seen = append(seen, l.Items[i].Name)
				}
			}, tt.options...)
			if err != nil || !slices.Equal(c.asked, tt.asked) || len(seen) != tt.has {
				t.Fatalf("Each: error %v, limits %v, %d objects; want none, %v, %d", err, c.asked, len(seen), tt.asked, tt.has)
			}
			for i, name := range seen {
				if name != fmt.Sprint(i) {
					t.Fatalf("object %d is %s; want each once, in order", i, name)
				}
			}
		})
	}
}

func TestAPageThatCannotBeReadIsAnError(t *testing.T) {
	c := &cluster{has: 1001, broken: 2}
	err := pages.Each(t.Context(), c, &corev1.ConfigMapList{}, func(*corev1.ConfigMapList) {})
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "objects of kind ConfigMap:") {
		t.Errorf("Each = %v; want %v, and the kind", err, errBroken)
	}
}
