package podspec

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/ephemeral"
	"k8s.io/component-helpers/storage/volume"
	csitranslation "k8s.io/csi-translation-lib"
	"k8s.io/klog/v2"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
)

// VolumeUse is one volume of a pod that is attached to its node: a claim, or
// a volume of a cloud written into the pod.
type VolumeUse struct {
	Claim    types.NamespacedName              // empty for a volume written into the pod
	Pod      types.UID                         // whose own the claim must be; empty where any pod may use it
	Template *corev1.PersistentVolumeClaimSpec // what the claim will be while it is not there yet; nil where it is never made
	Driver   string                            // of a volume written into the pod
}

// Equal reports whether both say the same.
func (u VolumeUse) Equal(v VolumeUse) bool {
	return u.Claim == v.Claim && u.Pod == v.Pod && u.Driver == v.Driver &&
		(u.Template == v.Template || reflect.DeepEqual(u.Template, v.Template))
}

// VolumeUses lists the volumes of a pod that matter to where it can go, each
// claim once.
func VolumeUses(pod *corev1.Pod) []VolumeUse {
	var out []VolumeUse
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		switch {
		case v.PersistentVolumeClaim != nil:
			out = append(out, VolumeUse{Claim: types.NamespacedName{Namespace: pod.Namespace, Name: v.PersistentVolumeClaim.ClaimName}})
		case v.Ephemeral != nil:
			use := VolumeUse{Claim: types.NamespacedName{Namespace: pod.Namespace, Name: ephemeral.VolumeClaimName(pod, v)}, Pod: pod.UID}
			if v.Ephemeral.VolumeClaimTemplate != nil {
				use.Template = &v.Ephemeral.VolumeClaimTemplate.Spec
			}
			out = append(out, use)
		default:
			if driver := inlineDriver(v); driver != "" {
				out = append(out, VolumeUse{Driver: driver})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b VolumeUse) int {
		return cmp.Or(strings.Compare(a.Claim.Name, b.Claim.Name), strings.Compare(a.Driver, b.Driver))
	})
	return slices.CompactFunc(out, func(a, b VolumeUse) bool { return a.Claim.Name != "" && a.Claim == b.Claim })
}

// IsAttached reports whether a pod's volume is one that VolumeUses lists.
func IsAttached(v *corev1.Volume) bool {
	return v.PersistentVolumeClaim != nil || v.Ephemeral != nil || csitranslation.New().IsInlineMigratable(v)
}

func inlineDriver(v *corev1.Volume) string {
	translator := csitranslation.New()
	if !translator.IsInlineMigratable(v) {
		return ""
	}
	pv, err := translator.TranslateInTreeInlineVolumeToCSI(klog.Background(), v, "")
	if err != nil || pv == nil || pv.Spec.CSI == nil {
		return ""
	}
	return pv.Spec.CSI.Driver
}

// AddVolumes says in a shape where the volumes of its pods can be attached, what they count
// against, and why no instance helps where that is so.
func (s *Storage) AddVolumes(shape *cluster.Shape, uses []VolumeUse) {
	for _, use := range uses {
		v, why := s.look(use)
		if v.out.Driver != "" || v.out.Exclusive {
			shape.Volumes = append(shape.Volumes, v.out) // a pod that runs holds it, usable for others or not
		}
		if why != "" {
			if shape.Unable == "" {
				shape.Unable = why
			}
			continue
		}
		if v.together != "" && v.out.Claim != "" {
			together(shape, claimMark+use.Claim.Name, use.Claim.Namespace, v.together, "shared", "shared")
		}
		terms, ok := both(shape.VolumeTerms, v.terms)
		if !ok && shape.Unable == "" {
			shape.Unable = fmt.Sprintf("no node can have all volumes of the pod: that of claim %s lies where the others are not; move it, or use another", use.Claim)
		}
		shape.VolumeTerms = terms
	}
	slices.SortFunc(shape.Volumes, func(a, b cluster.Volume) int {
		return cmp.Or(strings.Compare(a.Driver, b.Driver), strings.Compare(a.Claim, b.Claim))
	})
}

// claimMark begins the label of pods that share a claim without a volume.
const claimMark = "claim!"

// together makes pods follow those that have the followed value of a label that stands for what they share, such as a
// claim without a volume: where the first one goes the volume comes to be, and the others must be able to reach it. No
// label of a pod can have the key that is used for it.
func together(shape *cluster.Shape, key, namespace, domain, value, followed string) {
	shape.Labels = shape.Labels.With(key, value)
	chosen := also(cluster.Selector{}, key, constraint.Values(followed))
	shape.Neighbours = append(slices.Clone(shape.Neighbours), cluster.Neighbours{Key: domain, Selector: chosen,
		Namespaces: []string{namespace}, Volume: true})
}

// both combines alternatives of two volumes, without those that exclude each
// other; ok is false where none is left. None at all means anywhere.
func both(a, b []constraint.Requirements) (terms []constraint.Requirements, ok bool) {
	if len(a) == 0 || len(b) == 0 {
		return slices.Concat(a, b), true
	}
	for _, x := range a {
		for _, y := range b {
			if _, conflict := x.Conflict(y); conflict {
				continue
			}
			term := x.AndAll(y)
			if !slices.ContainsFunc(terms, term.Equal) {
				terms = append(terms, term)
			}
		}
	}
	if len(terms) == 0 {
		return []constraint.Requirements{translate.Impossible()}, false
	}
	return terms, true
}

type looked struct {
	out      cluster.Volume
	terms    []constraint.Requirements
	together string // the domain that the volume will lie in; empty where it is there, or anywhere
}

// look finds out about one volume; why is set where no further pod can have
// it.
func (s *Storage) look(use VolumeUse) (v looked, why string) {
	if use.Claim.Name == "" {
		return looked{out: cluster.Volume{Driver: use.Driver}}, ""
	}
	claim := s.Claims[use.Claim]
	if claim == nil && use.Template != nil {
		claim = &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: use.Claim.Namespace, Name: use.Claim.Name}, Spec: *use.Template}
	} else {
		why = unusable(claim, use)
	}
	switch {
	case claim == nil:
		return looked{}, why
	case why != "":
		v = s.held(claim)
	case claim.Spec.VolumeName == "":
		v, why = s.unbound(claim)
	case !metav1.HasAnnotation(claim.ObjectMeta, volume.AnnBindCompleted):
		v, why = s.held(claim), fmt.Sprintf("volume claim %s asks for volume %s and is not bound to it yet; see the events of the claim if it stays so", use.Claim, claim.Spec.VolumeName)
	default:
		v, why = s.bound(claim)
	}
	if s.Shared != nil && s.Shared(use.Claim) {
		v.out.Claim = use.Claim.String()
		v.out.Exclusive = slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteOncePod)
	}
	return v, why
}

// unusable says why no pod can use a claim, or not this one.
func unusable(claim *corev1.PersistentVolumeClaim, use VolumeUse) string {
	switch {
	case claim == nil:
		return fmt.Sprintf("volume claim %s of the pod does not exist; create it", use.Claim)
	case claim.DeletionTimestamp != nil:
		return fmt.Sprintf("volume claim %s of the pod is being deleted; create it again when it is gone", use.Claim)
	case claim.Status.Phase == corev1.ClaimLost:
		return fmt.Sprintf("volume claim %s of the pod has lost its volume %s; restore the volume, or create the claim again", use.Claim, claim.Spec.VolumeName)
	case use.Pod != "" && !controlledBy(claim, use.Pod):
		return fmt.Sprintf("volume claim %s has the name of the pod's own and was not made for it; delete it, or rename the pod's volume", use.Claim)
	}
	return ""
}

func controlledBy(claim *corev1.PersistentVolumeClaim, pod types.UID) bool {
	owner := metav1.GetControllerOfNoCopy(claim)
	return owner != nil && owner.UID == pod
}

// bound says where a claim's volume can be attached.
func (s *Storage) bound(claim *corev1.PersistentVolumeClaim) (looked, string) {
	pv := s.Volumes[claim.Spec.VolumeName]
	v := s.held(claim)
	if pv == nil {
		return v, fmt.Sprintf("volume %s of claim %s/%s does not exist; restore it, or create the claim again", claim.Spec.VolumeName, claim.Namespace, claim.Name)
	}
	v.terms = places(pv)
	return v, ""
}

// held is what a claim that no further pod can use counts for where a pod runs with it. Where the
// volume is not there, its class names the driver.
func (s *Storage) held(claim *corev1.PersistentVolumeClaim) (v looked) {
	if pv := s.Volumes[claim.Spec.VolumeName]; pv != nil {
		if pv = inCSI(pv); pv.Spec.CSI != nil {
			v.out.Driver = pv.Spec.CSI.Driver
		}
		return v
	}
	if class := s.Classes[s.classOf(claim)]; class != nil && !MadeByHand(class) {
		v.out.Driver = csiName(class.Provisioner)
	}
	return v
}

// inCSI is a volume as its CSI driver sees it, where it is written in the way
// of a driver that was part of Kubernetes.
func inCSI(pv *corev1.PersistentVolume) *corev1.PersistentVolume {
	translator := csitranslation.New()
	if !translator.IsPVMigratable(pv) {
		return pv
	}
	if out, err := translator.TranslateInTreePVToCSI(klog.Background(), pv); err == nil {
		return out
	}
	return pv
}

// places are the alternatives of which nodes a volume can be attached to: its
// node affinity, and the zone and region of its labels, which ask nothing of a
// node that says neither.
func places(pv *corev1.PersistentVolume) []constraint.Requirements {
	var terms []constraint.Requirements
	if pv.Spec.NodeAffinity != nil && pv.Spec.NodeAffinity.Required != nil {
		for i := range pv.Spec.NodeAffinity.Required.NodeSelectorTerms {
			if term, ok := nodeSelectorTerm(&pv.Spec.NodeAffinity.Required.NodeSelectorTerms[i]); ok {
				terms = append(terms, term)
			}
		}
		if len(terms) == 0 {
			return []constraint.Requirements{translate.Impossible()}
		}
	}
	var where constraint.Requirements
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion} {
		if value, has := pv.Labels[key]; has {
			where = where.And(constraint.Requirement{Key: translate.NormaliseKey(key), Set: constraint.Values(strings.Split(value, "__")...)})
		}
	}
	if len(where) == 0 {
		return terms
	}
	terms, _ = both(terms, []constraint.Requirements{where, nowhere})
	return terms
}

// nowhere is a node that does not say where it is.
var nowhere = constraint.Requirements{}.And(absent(corev1.LabelTopologyZone)).And(absent(corev1.LabelTopologyRegion))

func absent(key string) constraint.Requirement {
	return constraint.Requirement{Key: key, Set: constraint.Absent()}
}

// unbound says where the volume of a claim can come to be.
func (s *Storage) unbound(claim *corev1.PersistentVolumeClaim) (looked, string) {
	name, of := s.classOf(claim), claim.Namespace+"/"+claim.Name
	switch {
	case name == "" && claim.Spec.StorageClassName == nil && !metav1.HasAnnotation(claim.ObjectMeta, corev1.BetaStorageClassAnnotation):
		return looked{}, fmt.Sprintf("volume claim %s is not bound and names no storage class, and the cluster has no default StorageClass; mark one as the default, or name one in the claim", of)
	case name == "":
		return looked{}, fmt.Sprintf("volume claim %s is not bound and asks for a volume without storage class (storageClassName: \"\"); create such a volume, or name a class in the claim", of)
	}
	class := s.Classes[name]
	if class == nil {
		return looked{}, fmt.Sprintf("storage class %s of volume claim %s does not exist; create it", name, of)
	}
	if class.VolumeBindingMode == nil || *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer {
		return looked{}, fmt.Sprintf("volume claim %s is not bound yet, and its storage class %s binds without waiting for pods; see the events of the claim, or use a class with volumeBindingMode: WaitForFirstConsumer", of, name)
	}
	v := looked{together: api.LabelZone}
	if MadeByHand(class) {
		v.together = api.LabelHostname
		terms, found := s.ready(claim, name)
		if !found {
			return looked{}, fmt.Sprintf("no free volume of storage class %s suits claim %s, and the class makes none; create one", name, of)
		}
		v.terms = terms
	} else {
		v.out.Driver, v.terms = csiName(class.Provisioner), allowed(class.AllowedTopologies)
	}
	if node, chosen := claim.Annotations[volume.AnnSelectedNode]; chosen { // the volume is being made for this node
		v.terms, _ = both(v.terms, []constraint.Requirements{{{Key: translate.FieldName, Set: constraint.Values(node)}}})
	}
	return v, ""
}

// MadeByHand reports whether volumes of a class are made before they are
// claimed.
func MadeByHand(c *storagev1.StorageClass) bool {
	return c.Provisioner == "" || c.Provisioner == volume.NotSupportedProvisioner
}

// ready are the places of the volumes made beforehand that suit a claim; found
// is false where there is no such volume.
func (s *Storage) ready(claim *corev1.PersistentVolumeClaim, class string) (out []constraint.Requirements, found bool) {
	for _, pv := range s.free(claim, class) {
		terms := places(inCSI(pv))
		if len(terms) == 0 {
			return nil, true // one can be had anywhere
		}
		for _, term := range terms {
			if !slices.ContainsFunc(out, term.Equal) {
				out = append(out, term)
			}
		}
	}
	return out, len(out) > 0
}

// allowed are the places where a class makes volumes; nil means anywhere.
func allowed(terms []corev1.TopologySelectorTerm) []constraint.Requirements {
	if len(terms) == 0 {
		return nil
	}
	var out []constraint.Requirements
	for _, t := range terms {
		var term constraint.Requirements
		for _, e := range t.MatchLabelExpressions {
			term = term.And(constraint.Requirement{Key: translate.NormaliseKey(e.Key), Set: constraint.Values(e.Values...)})
		}
		if len(term) > 0 {
			out = append(out, term)
		}
	}
	if len(out) == 0 {
		return []constraint.Requirements{translate.Impossible()}
	}
	return out
}

// csiName is the CSI driver that took over from a provisioner that was part of
// Kubernetes; any other is one itself.
func csiName(provisioner string) string {
	if name, err := csitranslation.New().GetCSINameFromInTreeName(provisioner); err == nil {
		return name
	}
	return provisioner
}
