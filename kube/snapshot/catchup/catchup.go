// Package catchup waits until watches have shown what the API server has: a filled cache may be many
// seconds old when a process begins to lead.
package catchup

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/internal/pause"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/pages"
)

const (
	// relistEvery is how long watches may take to show what was listed before all is listed again:
	// what came and went meanwhile is never shown.
	relistEvery = 5 * time.Second
	// relistMost is how long that may become where it does not suffice: the watches of a
	// large cluster may be later than that while everything starts.
	relistMost = 2 * time.Minute
	// compareEvery is how often what they have shown is compared with it.
	compareEvery = 50 * time.Millisecond
	// perPage is how many objects are listed at once, with their metadata alone.
	perPage = 5000
)

// Kinds that watches are compared by: what is launched, where it has come, and for whom. Pods on nodes are not
// compared: they are many, nothing is launched for them, and what is to be disrupted is read live before.
const (
	Claims = "NodeClaims"
	Nodes  = "Nodes"
	Pods   = "Pods without a node"
)

// Progress is which versions of objects the watches have shown, until they have caught up with the API
// server for the first time. The zero value has seen nothing.
type Progress struct {
	mu    sync.Mutex
	shown map[string]map[types.UID]uint64
	gone  map[types.UID]bool // since all was listed; nil before
	done  bool               // they have caught up
}

// Recording hands on to a handler, and then records what a watch of the kind has shown.
func (s *Progress) Recording(kind string, h toolscache.ResourceEventHandler) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(o any, first bool) { h.OnAdd(o, first); s.saw(kind, o, false) },
		UpdateFunc: func(before, o any) {
			h.OnUpdate(before, o)
			if isAnother(before, o) {
				s.saw(kind, before, true)
			}
			s.saw(kind, o, false)
		},
		DeleteFunc: func(o any) { h.OnDelete(o); s.saw(kind, o, true) },
	}
}

// isAnother reports whether an update is the end of one object and the beginning of
// another of the same name, both of which came while the watch was broken.
func isAnother(before, after any) bool {
	b, is := before.(client.Object)
	a, too := after.(client.Object)
	return is && too && a.GetUID() != b.GetUID()
}

func (s *Progress) saw(kind string, what any, gone bool) {
	if tomb, ok := what.(toolscache.DeletedFinalStateUnknown); ok {
		what = tomb.Obj
	}
	o, ok := what.(client.Object)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.done:
	case gone || isBound(o):
		delete(s.shown[kind], o.GetUID())
		if s.gone != nil {
			s.gone[o.GetUID()] = true
		}
	default:
		if s.shown == nil {
			s.shown = map[string]map[types.UID]uint64{}
		}
		if s.shown[kind] == nil {
			s.shown[kind] = map[types.UID]uint64{}
		}
		s.shown[kind][o.GetUID()] = versionOf(o)
	}
}

// isBound reports whether the object is a pod with a node, for which nothing is launched any more.
func isBound(o client.Object) bool {
	p, is := o.(*corev1.Pod)
	return is && p.Spec.NodeName != ""
}

// versionOf reads a resource version, which may be compared with others of the same resource; 0 where
// it is no number.
func versionOf(o interface{ GetResourceVersion() string }) uint64 {
	version, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return version
}

// listed is what the API server has of a kind.
type listed struct {
	kind    string
	only    client.MatchingFields // which of them; nil: all
	at      uint64                // version of the list
	objects map[types.UID]uint64
}

func (l *listed) add(page *metav1.PartialObjectMetadataList) {
	if l.objects == nil {
		l.objects, l.at = make(map[types.UID]uint64, len(page.Items)), versionOf(page)
	}
	for i := range page.Items {
		l.objects[page.Items[i].UID] = versionOf(&page.Items[i])
	}
}

// behind counts the objects of a kind that watches have yet to show, or to show as they are or as gone.
func (s *Progress) behind(l *listed) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uid, version := range l.objects {
		if shown, known := s.shown[l.kind][uid]; !s.gone[uid] && (!known || shown < version) {
			n++
		}
	}
	for uid, version := range s.shown[l.kind] {
		if _, there := l.objects[uid]; !there && version <= l.at {
			n++
		}
	}
	return n
}

// Wait waits until the watches have shown what the API server has now of claims, nodes and pods without a node. A
// filled cache may be many seconds old when this process begins to lead, and what a plan
// launched for its sake would be launched again. late is called, every few seconds, with what is missing; an
// error is that of reading, or of ctx.
func (s *Progress) Wait(ctx context.Context, live client.Reader, late func(what string)) error {
	for wait := relistEvery; ; wait = min(2*wait, relistMost) {
		s.begin()
		all, err := listAll(ctx, live)
		if err != nil {
			return err
		}
		missing := ""
		for end := time.Now().Add(wait); time.Now().Before(end); {
			if missing = s.compare(all); missing == "" {
				s.end()
				return nil
			}
			if err := pause.For(ctx, compareEvery); err != nil {
				return err
			}
		}
		late(missing)
	}
}

func (s *Progress) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = map[types.UID]bool{}
}

func (s *Progress) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done, s.shown, s.gone = true, nil, nil
}

// compare says how many objects of which kinds are missing; empty: none.
func (s *Progress) compare(all []listed) string {
	s.mu.Lock()
	done := s.done
	s.mu.Unlock()
	var out []string
	for i := range all {
		if n := s.behind(&all[i]); n > 0 && !done {
			out = append(out, fmt.Sprintf("%d %s", n, all[i].kind))
		}
	}
	return strings.Join(out, ", ")
}

// listAll reads past every cache, with one call for every few thousand objects.
func listAll(ctx context.Context, live client.Reader) ([]listed, error) {
	out := []listed{{kind: Claims}, {kind: Nodes}, {kind: Pods, only: client.MatchingFields{"spec.nodeName": ""}}}
	for i, of := range []schema.GroupVersionKind{karpv1.GroupVersion.WithKind("NodeClaimList"), corev1.SchemeGroupVersion.WithKind("NodeList"), corev1.SchemeGroupVersion.WithKind("PodList")} {
		if err := out[i].read(ctx, live, of); err != nil {
			return nil, fmt.Errorf("list %s to compare the watches with: %w", out[i].kind, err)
		}
	}
	return out, nil
}

// read lists the objects of a kind, page by page.
func (l *listed) read(ctx context.Context, live client.Reader, of schema.GroupVersionKind) error {
	newPage := func() client.ObjectList {
		page := &metav1.PartialObjectMetadataList{}
		page.SetGroupVersionKind(of)
		return page
	}
	return pages.EachList(ctx, live, newPage, func(page client.ObjectList) { l.add(page.(*metav1.PartialObjectMetadataList)) }, l.only, client.Limit(perPage))
}
