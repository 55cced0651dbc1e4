package podspec

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
)

const ebs = "ebs.csi.aws.com"

// store is what a test's cluster says about volumes: classes that wait
// (waits), bind at once (atonce), make volumes in zones a and b alone (zonal),
// and make none (local).
func store(change ...func(*Storage)) *Storage {
	s := &Storage{
		Claims:  map[types.NamespacedName]*corev1.PersistentVolumeClaim{},
		Volumes: map[string]*corev1.PersistentVolume{},
		Classes: map[string]*storagev1.StorageClass{},
	}
	for _, c := range []*storagev1.StorageClass{
		class("waits", ebs, storagev1.VolumeBindingWaitForFirstConsumer),
		class("atonce", ebs, storagev1.VolumeBindingImmediate),
		class("old", "kubernetes.io/aws-ebs", storagev1.VolumeBindingWaitForFirstConsumer),
		class("local", "kubernetes.io/no-provisioner", storagev1.VolumeBindingWaitForFirstConsumer),
		class("zonal", ebs, storagev1.VolumeBindingWaitForFirstConsumer, func(c *storagev1.StorageClass) {
			c.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{
				{Key: "topology.ebs.csi.aws.com/zone", Values: []string{"a", "b"}}}}}
		}),
	} {
		s.Classes[c.Name] = c
	}
	for _, c := range change {
		c(s)
	}
	return s
}

func class(name, provisioner string, mode storagev1.VolumeBindingMode, change ...func(*storagev1.StorageClass)) *storagev1.StorageClass {
	c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: &mode}
	for _, f := range change {
		f(c)
	}
	return c
}

type claimChange = func(*corev1.PersistentVolumeClaim)

func claim(name string, change ...claimChange) func(*Storage) {
	return func(s *Storage) {
		c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}
		for _, f := range change {
			f(c)
		}
		s.Claims[types.NamespacedName{Namespace: "default", Name: name}] = c
	}
}

func of(class string) claimChange {
	return func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = &class }
}

func bound(volume string) claimChange {
	return func(c *corev1.PersistentVolumeClaim) {
		c.Spec.VolumeName = volume
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, "pv.kubernetes.io/bind-completed", "yes")
	}
}

func oncePerPod(c *corev1.PersistentVolumeClaim) {
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
}

func pv(name string, source corev1.PersistentVolumeSource, zones []string, change ...func(*corev1.PersistentVolume)) func(*Storage) {
	return func(s *Storage) {
		v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: source}}
		if zones != nil {
			v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "topology.ebs.csi.aws.com/zone", Operator: corev1.NodeSelectorOpIn, Values: zones}}}}}}
		}
		for _, f := range change {
			f(v)
		}
		s.Volumes[name] = v
	}
}

var (
	csi   = corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: ebs, VolumeHandle: "vol-1"}}
	nfs   = corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "files"}}
	intra = corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://a/vol-2"}}
)

func free(class, size string) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) {
		v.Spec.StorageClassName, v.Status.Phase = class, corev1.VolumeAvailable
		v.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
	}
}

// uses is a pod with claims, each in a volume of its own.
func uses(claims ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-0", UID: "uid-web-0"}}
	for i, name := range claims {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: fmt.Sprint("v", i), VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
	}
	return pod
}

func holding(source corev1.VolumeSource) *corev1.Pod {
	pod := uses()
	pod.Spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: source}}
	return pod
}

func TestVolumes(t *testing.T) {
	ephemeral := corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
		Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: new("zonal")}}}}
	zone := func(list string) string { return api.LabelZone + " in " + list }
	nowhere := " | " + corev1.LabelTopologyRegion + " doesnotexist; " + api.LabelZone + " doesnotexist"
	newest := func(name string, at int64) func(*Storage) {
		return func(s *Storage) {
			s.Classes[name].CreationTimestamp = metav1.Unix(at, 0)
			s.Classes[name].Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
		}
	}
	shared := func(s *Storage) { s.Shared = func(types.NamespacedName) bool { return true } }
	tests := map[string]struct {
		store   *Storage
		pod     *corev1.Pod
		where   string // the alternatives
		volumes string
		unable  string // words of the reason
	}{
		"a pod without volumes":                                {store(), uses(), "", "[]", ""},
		"SC-179 a claim that does not exist":                   {store(), uses("data"), "", "[]", "default/data of the pod does not exist; create it"},
		"SC-180 a bound claim without a class":                 {store(claim("data", bound("pv")), pv("pv", csi, nil)), uses("data"), "", "[{ebs.csi.aws.com  false}]", ""},
		"SC-180 a bound claim with a lost class":               {store(claim("data", of("gone"), bound("pv")), pv("pv", csi, nil)), uses("data"), "", "[{ebs.csi.aws.com  false}]", ""},
		"SC-181 an unbound claim with a lost class":            {store(claim("data", of("gone"))), uses("data"), "", "[]", "storage class gone of volume claim default/data does not exist"},
		"SC-181 an unbound claim without a class":              {store(claim("data", of(""))), uses("data"), "", "[]", "default/data is not bound and asks for a volume without storage class"},
		"SC-182 zones that a class allows":                     {store(claim("data", of("zonal"))), uses("data"), zone("a,b"), "[{ebs.csi.aws.com  false}]", ""},
		"SC-182 a class that allows all":                       {store(claim("data", of("waits"))), uses("data"), "", "[{ebs.csi.aws.com  false}]", ""},
		"SC-184 an ephemeral volume before its claim is there": {store(), holding(ephemeral), zone("a,b"), "[{ebs.csi.aws.com  false}]", ""},
		"SC-184 an ephemeral volume": {store(claim("web-0-scratch", of("zonal"), bound("pv"), func(c *corev1.PersistentVolumeClaim) {
			c.OwnerReferences = []metav1.OwnerReference{{UID: "uid-web-0", Controller: new(true)}}
		}), pv("pv", csi, []string{"b"})), holding(ephemeral), zone("b"), "[{ebs.csi.aws.com  false}]", ""},
		"an ephemeral volume whose claim is another's": {store(claim("web-0-scratch", of("zonal"))), holding(ephemeral), "", "[{ebs.csi.aws.com  false}]", "was not made for it"},
		"SC-185 the zone of a bound volume":            {store(claim("data", bound("pv")), pv("pv", csi, []string{"a"})), uses("data"), zone("a"), "[{ebs.csi.aws.com  false}]", ""},
		"SC-186 several zones of a bound volume":       {store(claim("data", bound("pv")), pv("pv", csi, []string{"a", "c"})), uses("data"), zone("a,c"), "[{ebs.csi.aws.com  false}]", ""},
		"zones in the labels of a volume": {store(claim("data", bound("pv")), pv("pv", csi, nil, func(v *corev1.PersistentVolume) {
			v.Labels = map[string]string{"failure-domain.beta.kubernetes.io/zone": "a__b"}
		})), uses("data"), zone("a,b") + nowhere, "[{ebs.csi.aws.com  false}]", ""},
		"SC-187 two volumes together": {store(claim("data", bound("pv")), pv("pv", csi, []string{"b", "c"}), claim("logs", of("zonal"))),
			uses("data", "logs"), zone("b"), "[{ebs.csi.aws.com  false} {ebs.csi.aws.com  false}]", ""},
		"SC-187 two volumes in different zones": {store(claim("data", bound("pv")), pv("pv", csi, []string{"c"}), claim("logs", of("zonal"))),
			uses("data", "logs"), translate.FieldName + " nothing", "[{ebs.csi.aws.com  false} {ebs.csi.aws.com  false}]", "that of claim default/logs lies where the others are not"},
		"SC-187 alternatives that exclude each other are left out": {store(
			claim("data", bound("pv")), pv("pv", csi, nil, alternatives("a", "b")), claim("logs", bound("pv2")), pv("pv2", csi, nil, alternatives("b", "c"))),
			uses("data", "logs"), zone("b"), "[{ebs.csi.aws.com  false} {ebs.csi.aws.com  false}]", ""},
		"SC-190 a claim that is named twice":                          {store(claim("data", of("waits"))), uses("data", "data"), "", "[{ebs.csi.aws.com  false}]", ""},
		"SC-190 a claim that several pods use":                        {store(claim("data", of("waits")), shared), uses("data"), "", "[{ebs.csi.aws.com default/data false}]", ""},
		"ReadWriteOncePod, used by one pod":                           {store(claim("data", of("waits"), oncePerPod)), uses("data"), "", "[{ebs.csi.aws.com  false}]", ""},
		"ReadWriteOncePod, used by several":                           {store(claim("data", of("waits"), oncePerPod), shared), uses("data"), "", "[{ebs.csi.aws.com default/data true}]", ""},
		"SC-191 a volume that nobody attaches":                        {store(claim("data", bound("pv")), pv("pv", nfs, nil), shared), uses("data"), "", "[]", ""},
		"SC-191 a volume that is none":                                {store(), holding(corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{}}), "", "[]", ""},
		"SC-192 the newest default class":                             {store(claim("data"), newest("waits", 100), newest("zonal", 200)), uses("data"), zone("a,b"), "[{ebs.csi.aws.com  false}]", ""},
		"SC-192 a class beats the default":                            {store(claim("data", of("waits")), newest("zonal", 200)), uses("data"), "", "[{ebs.csi.aws.com  false}]", ""},
		"no default class":                                            {store(claim("data")), uses("data"), "", "[]", "default/data is not bound and names no storage class, and the cluster has no default StorageClass; mark one as the default"},
		"SC-194 a class that does not wait":                           {store(claim("data", of("atonce"))), uses("data"), "", "[]", "default/data is not bound yet, and its storage class atonce binds without waiting"},
		"SC-194 a claim that is being deleted":                        {store(claim("data", bound("pv"), func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }), pv("pv", csi, nil)), uses("data"), "", "[{ebs.csi.aws.com  false}]", "is being deleted"},
		"SC-194 a claim that lost its volume":                         {store(claim("data", bound("pv"), func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimLost })), uses("data"), "", "[]", "has lost its volume pv"},
		"SC-194 a volume that is gone":                                {store(claim("data", bound("pv"))), uses("data"), "", "[]", "volume pv of claim default/data does not exist"},
		"SC-194 a volume that will go after its claim is there still": {store(claim("data", bound("pv")), pv("pv", csi, nil, func(v *corev1.PersistentVolume) { v.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} })), uses("data"), "", "[{ebs.csi.aws.com  false}]", ""},
		"SC-195 a claim that names a volume and is not bound":         {store(claim("data", of("waits"), func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "pv" }), pv("pv", csi, nil)), uses("data"), "", "[{ebs.csi.aws.com  false}]", "is not bound to it yet"},
		"SC-196 a volume in the old way counts for its driver": {store(claim("data", bound("pv")), pv("pv", intra, nil, func(v *corev1.PersistentVolume) {
			v.Labels = map[string]string{api.LabelZone: "a"}
		})), uses("data"), zone("a") + nowhere, "[{ebs.csi.aws.com  false}]", ""},
		"SC-196 a class in the old way":      {store(claim("data", of("old"))), uses("data"), "", "[{ebs.csi.aws.com  false}]", ""},
		"SC-196 a volume written in the pod": {store(), holding(corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-3"}}), "", "[{ebs.csi.aws.com  false}]", ""},
		"a volume that is being made for a node": {store(claim("data", of("zonal"), func(c *corev1.PersistentVolumeClaim) {
			c.Annotations = map[string]string{"volume.kubernetes.io/selected-node": "n1"}
		})), uses("data"), translate.FieldName + " in n1; " + zone("a,b"), "[{ebs.csi.aws.com  false}]", ""},
		"volumes made beforehand": {store(claim("data", of("local")), pv("one", csi, []string{"a"}, free("local", "10Gi")), pv("two", csi, []string{"b"}, free("local", "20Gi")),
			pv("small", csi, []string{"c"}, free("local", "9Gi")), pv("other", csi, []string{"c"}, free("waits", "10Gi"))), uses("data"), zone("a") + " | " + zone("b"), "[]", ""},
		"a volume made beforehand for any node": {store(claim("data", of("local")), pv("one", csi, nil, free("local", "10Gi"))), uses("data"), "", "[]", ""},
		"no volume made beforehand":             {store(claim("data", of("local"))), uses("data"), "", "[]", "no free volume of storage class local suits claim default/data"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var shape cluster.Shape
			tt.store.AddVolumes(&shape, VolumeUses(tt.pod))
			var words []string
			for _, term := range shape.VolumeTerms {
				words = append(words, term.String())
			}
			if got := strings.Join(words, " | "); got != tt.where {
				t.Errorf("VolumeTerms = %q, want %q", got, tt.where)
			}
			if got := fmt.Sprint(shape.Volumes); got != tt.volumes {
				t.Errorf("Volumes = %s, want %s", got, tt.volumes)
			}
			if (shape.Unable == "") != (tt.unable == "") || !strings.Contains(shape.Unable, tt.unable) {
				t.Errorf("Unable = %q, want it to say %q", shape.Unable, tt.unable)
			}
		})
	}
}

// alternatives lets a volume lie in one of several zones, each a term.
func alternatives(zones ...string) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) {
		required := &corev1.NodeSelector{}
		for _, zone := range zones {
			required.NodeSelectorTerms = append(required.NodeSelectorTerms, corev1.NodeSelectorTerm{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: api.LabelZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}}})
		}
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: required}
	}
}

func TestAttachable(t *testing.T) {
	seen := &storagev1.CSINode{Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
		{Name: "efs.csi.aws.com"}, {Name: ebs, Allocatable: &storagev1.VolumeNodeResources{Count: new(int32(25))}}, {Name: "a.example", Allocatable: &storagev1.VolumeNodeResources{Count: new(int32(0))}},
	}}}
	if got := fmt.Sprint(Attachable(seen)); got != "[{a.example 0} {ebs.csi.aws.com 25}]" {
		t.Errorf("SC-189: Attachable = %s, want the drivers that name a number", got)
	}
	kind := []cluster.Attachable{{Driver: ebs, Count: 39}, {Driver: "efs.csi.aws.com", Count: 1}, {Driver: "fsx.csi.aws.com", Count: 9}}
	if got := fmt.Sprint(Expect(Attachable(seen), seen, kind)); got != "[{a.example 0} {ebs.csi.aws.com 25} {fsx.csi.aws.com 9}]" {
		t.Errorf("SC-189: while it starts = %s, want the kind's number for drivers that have not registered", got)
	}
	if got := fmt.Sprint(Expect(nil, nil, kind)); got != fmt.Sprint(kind) {
		t.Errorf("SC-189: before any driver = %s, want those of the kind", got)
	}
}

// TestWhatARunningPodHoldsCounts: a claim that no further pod can use is
// attached all the same to the node of the pod that runs with it.
func TestWhatARunningPodHoldsCounts(t *testing.T) {
	deleted := func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }
	tests := map[string]struct {
		store *Storage
		want  int
	}{
		"a claim that is being deleted":    {store(claim("data", of("waits"), bound("v"), deleted), pv("v", csi, nil)), 1},
		"a volume that is gone, by class":  {store(claim("data", of("waits"), bound("v"))), 1},
		"a volume that no driver attaches": {store(claim("data", of("waits"), bound("v"), deleted), pv("v", nfs, nil)), 0},
		"a claim that is gone":             {store(), 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			shape := cluster.Shape{}
			tt.store.AddVolumes(&shape, VolumeUses(uses("data")))
			if len(shape.Volumes) != tt.want || shape.Unable == "" {
				t.Errorf("volumes = %v, unable = %q; want %d, and a reason", shape.Volumes, shape.Unable, tt.want)
			}
		})
	}
}

// TestPodsFollowTheFirstOfAClaim: pods that share a claim whose volume is yet
// to be made go where the first one goes.
func TestPodsFollowTheFirstOfAClaim(t *testing.T) {
	shared := func(s *Storage) { s.Shared = func(types.NamespacedName) bool { return true } }
	tests := map[string]struct {
		store *Storage
		want  string
	}{
		"a volume to be made":      {store(claim("data", of("waits")), shared), api.LabelZone},
		"a volume to be chosen":    {store(claim("data", of("local")), pv("one", csi, nil, free("local", "10Gi")), shared), api.LabelHostname},
		"a volume that is there":   {store(claim("data", bound("pv")), pv("pv", csi, []string{"a"}), shared), ""},
		"a claim of one pod alone": {store(claim("data", of("waits"))), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			common := []cluster.Neighbours{{Key: "rack"}}
			shape := cluster.Shape{Namespace: "default", Neighbours: common[:1:1]}
			tt.store.AddVolumes(&shape, VolumeUses(uses("data")))
			follows := shape.Neighbours[1:]
			if tt.want == "" {
				if len(follows) != 0 || len(shape.Labels) != 0 {
					t.Errorf("the pod follows %+v with labels %v, want nobody", follows, shape.Labels)
				}
				return
			}
			if len(follows) != 1 || follows[0].Key != tt.want || follows[0].Apart || !follows[0].Selector.Matches(shape.Labels) ||
				follows[0].Namespaces[0] != "default" {
				t.Errorf("the pod follows %+v with labels %v, want those of its claim on %s, itself included", follows, shape.Labels, tt.want)
			}
		})
	}
}
