package podspec

import (
	"cmp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// ownLabels are labels that controllers give their pods: they distinguish one pod, or one version
// of a template, from another and say nothing that a user said.
var ownLabels = []string{
	appsv1.DefaultDeploymentUniqueLabelKey, appsv1.ControllerRevisionHashLabelKey, appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel,
	batchv1.ControllerUidLabel, batchv1.JobNameLabel, batchv1.JobCompletionIndexAnnotation, "controller-uid", "job-name",
}

// Alike reports whether two shapes could be those of pods that one template
// makes: they differ in nothing but labels that controllers give, in where the
// volumes of the pods lie, and in tolerations that every pod has.
func Alike(a, b *cluster.Shape) bool {
	x, y := templated(a), templated(b)
	return ShapeKey(&x) == ShapeKey(&y)
}

// templated is what a shape has of the template of its pods.
func templated(s *cluster.Shape) cluster.Shape {
	out := *s
	out.Unable, out.VolumeTerms = "", nil
	out.Labels = slices.DeleteFunc(slices.Clone(s.Labels), func(l constraint.Label) bool {
		return slices.Contains(ownLabels, l.Key) || strings.HasPrefix(l.Key, claimMark)
	})
	out.Tolerations = slices.DeleteFunc(slices.Clone(s.Tolerations), func(t constraint.Toleration) bool {
		return t.Exists && t.Effect == constraint.NoExecute && slices.Contains(everyPodTolerates, t.Key)
	})
	out.Spread = slices.Clone(s.Spread)
	for i := range out.Spread {
		out.Spread[i].Selector = withoutOwnLabels(out.Spread[i].Selector)
	}
	out.Neighbours = slices.DeleteFunc(slices.Clone(s.Neighbours), func(n cluster.Neighbours) bool { return n.Volume })
	for i := range out.Neighbours {
		out.Neighbours[i].Selector = withoutOwnLabels(out.Neighbours[i].Selector)
	}
	out.Volumes = nil
	for _, v := range s.Volumes {
		out.Volumes = append(out.Volumes, cluster.Volume{Driver: v.Driver})
	}
	slices.SortFunc(out.Volumes, func(v, w cluster.Volume) int { return cmp.Compare(v.Driver, w.Driver) })
	return out
}

func withoutOwnLabels(s cluster.Selector) cluster.Selector {
	s.Requirements = slices.DeleteFunc(slices.Clone(s.Requirements), func(r constraint.Requirement) bool {
		return slices.Contains(ownLabels, r.Key)
	})
	return s
}
