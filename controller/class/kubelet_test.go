package class

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
	strictjson "sigs.k8s.io/json"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1alpha5 "github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
)

// everyField is kubelet settings in which each field of the API's type has a value, those
// that are not given here among them: a field that is added later is in it.
func everyField[T any](t *testing.T, given string) T {
	t.Helper()
	var out T
	if err := json.Unmarshal([]byte(given), &out); err != nil {
		t.Fatal(err)
	}
	v := reflect.ValueOf(&out).Elem()
	for i := range v.NumField() {
		if name := v.Type().Field(i).Tag.Get("json"); v.Field(i).IsZero() && name != "-" {
			t.Fatalf("give field %s a value here, so that it is checked", name)
		}
	}
	return out
}

const everyKubeletField = `{"clusterDNS":["10.0.0.10"],"systemReserved":{"cpu":"100m","memory":"100Mi","ephemeral-storage":"1Gi","pid":"100"},
	"kubeReserved":{"cpu":"1","memory":"1Gi","ephemeral-storage":"1Gi","pid":"100"},"evictionHard":{"memory.available":"5%","pid.available":"10%"},
	"evictionSoft":{"memory.available":"500Mi"},"evictionSoftGracePeriod":{"memory.available":"1m30s"},"evictionMaxPodGracePeriod":60,
	"imageGCHighThresholdPercent":85,"imageGCLowThresholdPercent":80,"cpuCFSQuota":true,"podsPerCore":2,"maxPods":20`

// The document that nodes of AL2023 receive has no field that KubeletConfiguration lacks,
// and none of another type: a strict reader takes it, whichever API version it was written
// in.
func TestKubeletDocumentsAreReadStrictly(t *testing.T) {
	older := everyField[karpv1alpha5.KubeletConfiguration](t, everyKubeletField+`,"containerRuntime":"containerd"}`)
	newer := everyField[awsv1.Kubelet](t, everyKubeletField+`}`)
	ofClass, err := kubeletOf(&newer)
	if err != nil {
		t.Fatal(err)
	}
	kind := NodeTemplates(&Account{})
	template := kind.Of(&awsv1alpha1.AWSNodeTemplate{})
	withKubelet(template, &karpv1alpha5.Provisioner{Spec: karpv1alpha5.ProvisionerSpec{KubeletConfiguration: &older}})
	if template.Unread != nil {
		t.Fatal(template.Unread)
	}
	for version, kubelet := range map[string]nodeclass.Kubelet{"karpenter.sh/v1alpha5": template.Spec.Kubelet, "karpenter.k8s.aws/v1": ofClass} {
		document, err := json.Marshal(kubelet.Raw)
		if err != nil {
			t.Fatal(err)
		}
		unknown, err := strictjson.UnmarshalStrict(document, &kubeletv1beta1.KubeletConfiguration{})
		if err != nil || len(unknown) > 0 {
			t.Errorf("the document of %s is not what a kubelet reads: %v, %v in\n%s", version, err, unknown, document)
		}
		if !strings.Contains(string(document), `"podsPerCore":2`) {
			t.Errorf("the document of %s lost fields: %s", version, document)
		}
	}
	if older.ContainerRuntime == nil {
		t.Error("the Provisioner itself was changed")
	}
}

// A kubelet flag in the user's NodeConfig wins over the taints and pods that are planned
// with: it is reported before a node comes, and the class is ready nevertheless.
func TestFlagsOfUserDataThatDecideAreReported(t *testing.T) {
	text := "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {flags: [--register-with-taints=agent=starts:NoExecute]}}\n"
	r := reconciler(&account{}, class(func(c *awsv1.EC2NodeClass) { c.Spec.UserData = &text }))
	events := &heard{}
	r.Events = events
	look(t, r)
	got, _ := look(t, r)
	all := strings.Join(events.messages, "\n")
	if strings.Count(all, "spec.userData: kubelet flag --register-with-taints of a NodeConfig wins") != 1 || !condition.IsTrue(got, awsv1.ClassReady) {
		t.Errorf("events %q, conditions %+v; want one that names the flag, and the class ready", all, got.Status.Conditions)
	}
}
