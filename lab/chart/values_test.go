package chart

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/charts"
)

// least is what has to be set.
const least = "settings: {clusterName: my-cluster}"

// schema are the values of the chart by their dotted paths, as values.schema.json has them: those of older charts too.
// "closed" are those below which nothing else may stand. The lists of Kubernetes' own objects are one value.
func schema(t *testing.T) map[string]string {
	t.Helper()
	text, err := charts.FS.ReadFile("daemok/files/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	if err := yaml.UnmarshalStrict(text, &known); err != nil {
		t.Fatal(err)
	}
	return known
}

// all are the paths of the schema, sorted.
func all(t *testing.T) []string {
	t.Helper()
	list := slices.Sorted(maps.Keys(schema(t)))
	if len(list) < 190 {
		t.Fatalf("%d values, the schema has more", len(list))
	}
	return list
}

// documented are the paths of the values that values.yaml has.
func documented(t *testing.T) []string {
	t.Helper()
	known := schema(t)
	text, err := charts.FS.ReadFile("daemok/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	var walk func(at string, values map[string]any)
	walk = func(at string, values map[string]any) {
		for _, key := range slices.Sorted(maps.Keys(values)) {
			list = append(list, at+key)
			if child, is := values[key].(map[string]any); is && known[at+key] == "closed" {
				walk(at+key+".", child)
			}
		}
	}
	walk("", valuesOf(t, string(text)))
	return list
}

// with sets the value at a path.
func with(values map[string]any, path string, value any) map[string]any {
	at, key, deeper := strings.Cut(path, ".")
	if !deeper {
		values[path] = value
		return values
	}
	child, is := values[at].(map[string]any)
	if !is {
		child = map[string]any{}
	}
	values[at] = with(child, key, value)
	return values
}

// A value that is misspelt by a letter is refused, and the message says which was meant.
func TestAMisspeltValueIsNamedWithTheRightOne(t *testing.T) {
	render := load(t, Daemok)
	for i, path := range all(t) {
		at := strings.LastIndex(path, ".") + 1
		middle := at + len(path[at:])/2
		wrong := []string{path[:middle] + path[middle+1:], path[:middle] + "x" + path[middle:], path[:middle] + "x" + path[middle+1:]}[i%3]
		_, err := render(Options{Release: "karpenter", Namespace: "kube-system", Values: with(valuesOf(t, least), wrong, "x")})
		want := wrong + " is not a value of this chart; did you mean " + path + "?"
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s for %s: %v; want %q", wrong, path, err, want)
		}
	}
}

// What is meant may stand elsewhere.
func TestValuesThatDoNotExist(t *testing.T) {
	render := load(t, Daemok)
	tests := map[string]struct {
		values string
		want   []string // parts of the message
	}{
		"one of the settings at the top":    {"interruptionQueue: q", []string{"interruptionQueue is not a value of this chart; did you mean settings.interruptionQueue?"}},
		"nothing like it":                   {"vegetables: 1", []string{"vegetables is not a value of this chart\n"}},
		"several":                           {"settings: {clusterNam: c, isolatedVpc: true}", []string{"settings.clusterNam is not", "mean settings.clusterName?", "settings.isolatedVpc is not", "mean settings.isolatedVPC?", "settings.clusterName is not set"}},
		"in what goes to the pod":           {"affinity: {nodeAfinity: {}}", []string{"affinity.nodeAfinity is not a value of this chart; did you mean affinity.nodeAffinity?"}},
		"an older name and a newer one":     {"settings: {clusterName: c, logLevel: debug}", []string{"settings.logLevel is not a value of this chart; did you mean logLevel?"}},
		"an older name alone":               {"defaultInstanceProfile: p\n" + least, []string{"did you mean aws.defaultInstanceProfile?"}},
		"a gate":                            {"settings: {clusterName: c, featureGates: {nodeRepairs: true}}", []string{"did you mean settings.featureGates.nodeRepair?"}},
		"no cluster":                        {"replicas: 2", []string{"settings.clusterName is not set"}},
		"two letters changed places":        {"settings: {clutserName: c}", []string{"did you mean settings.clusterName?"}},
		"what the controller refuses":       {"settings: {clusterName: c, disableControllerWarmup: true}", []string{"settings.disableControllerWarmup is true"}},
		"Karpenter's image as 0.16 has it":  {"controller: {image: \"public.ecr.aws/karpenter/controller:v0.16.3@sha256:68db\"}\n" + least, []string{`controller.image is the text "public.ecr.aws/karpenter/controller:v0.16.3@sha256:68db"`, "remove it from your values, or set controller.image.repository"}},
		"a section that is empty":           {"controller: {metrics: }\nserviceMonitor:\n" + least, []string{"at '': missing property 'serviceMonitor'", "at '/controller': missing property 'metrics'"}},
		"a value that is empty":             {"serviceAccount: {create: }\nreplicas:\n" + least, []string{"at '/serviceAccount': missing property 'create'", "missing property 'replicas'"}},
		"Karpenter's image":                 {"controller: {image: {repository: public.ecr.aws/karpenter/controller}}\n" + least, []string{"is Karpenter's image"}},
		"two ports alike":                   {"controller: {metrics: {port: 8081}}\n" + least, []string{"controller.metrics.port and controller.healthProbe.port are both 8081"}},
		"several replicas without election": {"settings: {clusterName: c, disableLeaderElection: true}", []string{"settings.disableLeaderElection is true", "replicas (2)"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := render(Options{Release: "karpenter", Namespace: "kube-system", Values: valuesOf(t, tt.values)})
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error()+"\n", want) {
					t.Errorf("%s: %v; want %q", tt.values, err, want)
				}
			}
		})
	}
}

// What users of older charts and of umbrella charts have in their values, and what is left empty there, changes nothing for the worse.
func TestValuesThatAreTaken(t *testing.T) {
	render := load(t, Daemok)
	for name, tt := range map[string]struct{ values, want string }{
		"the condition of an umbrella chart":  {"enabled: true", "kind: Deployment"},
		"a context of 0.27, of a strict user": {"controller: {securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, readOnlyRootFilesystem: true, runAsNonRoot: true, privileged: false}}", "privileged: false"},
		"a root file system to write to":      {"controller: {securityContext: {readOnlyRootFilesystem: false}}", "readOnlyRootFilesystem: false"},
		"an affinity that is empty":           {"affinity: {podAffinity: , nodeAffinity: , podAntiAffinity: }", "key: karpenter.sh/nodepool"},
		"texts that are empty":                {"dnsPolicy: \"\"\nstrategy: {type: \"\", rollingUpdate: {maxSurge: }}\npriorityClassName: \"\"", "maxUnavailable: 1"},
		"no section of another chart":         {"global:\nwebhook:\nsettings: {featureGates: , aws: }", "kind: Deployment"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := render(Options{Release: "karpenter", Namespace: "kube-system", Values: with(valuesOf(t, tt.values), "settings.clusterName", "c")})
			if err != nil || !strings.Contains(got.Text, tt.want) {
				t.Fatalf("%s\n got %v\n%s\nwant %q", tt.values, err, got.Text, tt.want)
			}
			for _, o := range got.Objects {
				for _, wrong := range refused(t, o) {
					t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), wrong)
				}
			}
		})
	}
}

// A release of Karpenter's chart of definitions has values of its own, which Helm hands on where it upgrades the release in place.
func TestTheDefinitionsTakeValuesOfKarpenters(t *testing.T) {
	got, err := load(t, DaemokCRDs)(Options{Release: "karpenter-crd", Namespace: "kube-system", Values: valuesOf(t, "webhook: {enabled: true, serviceName: karpenter, serviceNamespace: kube-system, port: 8443}")})
	if want := "webhook: remove it, it changes nothing"; err != nil || !strings.Contains(got.Notes, want) {
		t.Errorf("%v\n%s\nwant %q in the notes", err, got.Notes, want)
	}
}

// Clusters before 1.30 do not serve the admission policy.
func TestTheAdmissionPolicyNeedsANewCluster(t *testing.T) {
	render := load(t, Daemok)
	for version, want := range map[string]string{"v1.29.4-eks-abcdef": "admissionPolicy.enabled is true, and Kubernetes v1.29.4-eks-abcdef has no ValidatingAdmissionPolicy v1: remove it, or upgrade the cluster to 1.30", "v1.30.0-eks-abcdef": ""} {
		_, err := render(Options{Release: "karpenter", Namespace: "kube-system", Kubernetes: version, Values: valuesOf(t, "admissionPolicy: {enabled: true}\n"+least)})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v; want %q", version, err, want)
		}
	}
}

// The values of a release as Helm prints them without --output have a title above them, which is no value.
func TestValuesAsHelmPrintsThem(t *testing.T) {
	if _, err := load(t, Daemok)(Options{Release: "karpenter", Namespace: "kube-system", Values: valuesOf(t, "USER-SUPPLIED VALUES:\n"+least)}); err != nil {
		t.Error(err)
	}
}

// A value of a type that is not its own is refused by name: of a text, a list and a map, the two that it is not.
func TestAValueOfTheWrongTypeIsNamed(t *testing.T) {
	render := load(t, Daemok)
	for _, path := range all(t) {
		refused := 0
		for _, wrong := range []any{"{nothing} such", []any{[]any{}}, map[string]any{"such": []any{}}, -1.5} {
			_, err := render(Options{Release: "karpenter", Namespace: "kube-system", Values: with(valuesOf(t, least), path, wrong)})
			if err == nil {
				continue
			}
			refused++
			if named := "/" + strings.ReplaceAll(path, ".", "/"); !strings.Contains(err.Error(), named) && !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v: the message does not name it: %v", path, wrong, err)
			}
		}
		if refused < 2 {
			t.Errorf("%s takes values of any type", path)
		}
	}
}

// Settings that have a form of their own are held to it.
func TestAWrongFormIsNamed(t *testing.T) {
	render := load(t, Daemok)
	for path, wrong := range map[string]any{
		"settings.batchMaxDuration": "10", "settings.clusterEndpoint": "my-cluster", "settings.preferencePolicy": "respect", "settings.minValuesPolicy": "Loose",
		"settings.isolatedVPC": "maybe", "settings.reservedENIs": -1, "settings.vmMemoryOverheadPercent": 7.5, "settings.payback": "sometimes", "settings.kubeClientQPS": "fast",
		"settings.assumeRoleARN": "nodes", "settings.maxSystemMemory": "0.25", "logLevel": "verbose", "controller.logLevel": "warn", "logEncoding": "text", "settings.offeringMetrics": "some", "controller.image.digest": "0123",
		"settings.interruptionQueue": "https://sqs.eu-west-1.amazonaws.com/123456789012/prod", "settings.aws.interruptionQueueName": "arn:aws:sqs:eu-west-1:123456789012:prod",
		"imagePullPolicy": "Sometimes", "replicas": 1.5, "podDisruptionBudget.maxUnavailable": "half", "controller.metrics.port": 0, "dnsPolicy": "None of it",
	} {
		_, err := render(Options{Release: "karpenter", Namespace: "kube-system", Values: with(valuesOf(t, least), path, wrong)})
		if err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(path, ".", "/")) {
			t.Errorf("%s is %v: %v", path, wrong, err)
		}
	}
}

// The story of every value has every value.
func TestEverythingIsEverything(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/everything.txtar")
	if err != nil {
		t.Fatal(err)
	}
	values := read(t, archive.Files).options.Values
	for _, path := range documented(t) {
		var at any = values
		for key := range strings.SplitSeq(path, ".") {
			in, _ := at.(map[string]any)
			next, is := in[key]
			if !is && !strings.HasPrefix(path, "affinity.") && !strings.HasPrefix(path, "podSecurityContext.") && !strings.HasPrefix(path, "strategy.") {
				t.Errorf("testdata/everything.txtar does not set %s", path)
				break
			}
			at = next
		}
	}
}

// Old names and new ones of a setting may stand beside each other where they agree.
func TestOldAndNewNames(t *testing.T) {
	render := load(t, Daemok)
	tests := map[string]struct {
		values string
		want   string // in the objects, or in the error after "refused:"
	}{
		"the old name":             {"clusterName: a", "value: a\n"},
		"both, alike":              {"clusterName: a\nsettings: {clusterName: a, aws: {clusterName: a}}", "value: a\n"},
		"two that disagree":        {"clusterName: a\nsettings: {clusterName: b}", `refused:settings.clusterName is "b" and clusterName is "a": they mean the same, set settings.clusterName alone`},
		"two old ones":             {"clusterName: a\nsettings: {aws: {clusterName: b}}", `refused:settings.aws.clusterName is "b" and clusterName is "a"`},
		"one is false":             {"settings: {clusterName: a, isolatedVPC: false, aws: {isolatedVPC: true}}", `refused:settings.isolatedVPC is "false" and settings.aws.isolatedVPC is "true"`},
		"a gate":                   {"settings: {clusterName: a, featureGates: {drift: false, driftEnabled: true}}", `refused:settings.featureGates.drift is "false" and settings.featureGates.driftEnabled is "true"`},
		"a number and its text":    {"settings: {clusterName: a, reservedENIs: 1, aws: {reservedENIs: \"1\"}}", "value: \"1\"\n"},
		"one of the global ones":   {"aws: {defaultInstanceProfile: p}\n" + least, "aws.defaultInstanceProfile: p\n"},
		"two global ones disagree": {"aws: {defaultInstanceProfile: p}\nsettings: {clusterName: a, aws: {defaultInstanceProfile: q}}", `refused:settings.aws.defaultInstanceProfile is "q" and aws.defaultInstanceProfile is "p"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := render(Options{Release: "karpenter", Namespace: "kube-system", Values: valuesOf(t, tt.values)})
			text := got.Text
			if err != nil {
				text = "refused:" + err.Error()[strings.LastIndex(err.Error(), "): ")+len("): "):]
			}
			if !strings.Contains(text, tt.want) || (err == nil) == strings.HasPrefix(tt.want, "refused:") {
				t.Errorf("%s\n got %s\nwant %s", tt.values, text, tt.want)
			}
		})
	}
}

// What the objects are called, by the release and the two overrides.
func TestNames(t *testing.T) {
	render := load(t, Daemok)
	tests := map[string]struct {
		release, values string
		want            string // name of objects, name and instance in labels, account
	}{
		"as Karpenter's":             {"karpenter", "", "karpenter karpenter/karpenter karpenter"},
		"with Karpenter's in it":     {"my-karpenter", "", "my-karpenter karpenter/my-karpenter my-karpenter"},
		"as the chart":               {"daemok", "", "daemok daemok/daemok daemok"},
		"any other":                  {"nodes", "", "nodes-daemok daemok/nodes nodes-daemok"},
		"nameOverride":               {"nodes", "nameOverride: karpenter", "nodes-karpenter karpenter/nodes nodes-karpenter"},
		"fullnameOverride":           {"nodes", "fullnameOverride: one", "one daemok/nodes one"},
		"an account of its own":      {"karpenter", "serviceAccount: {name: a}", "karpenter karpenter/karpenter a"},
		"an account that is there":   {"karpenter", "serviceAccount: {create: false, name: a}", "karpenter karpenter/karpenter a"},
		"no account":                 {"karpenter", "serviceAccount: {create: false}", "karpenter karpenter/karpenter default"},
		"a name that is cut":         {strings.Repeat("a", 53), "nameOverride: " + strings.Repeat("b", 20), strings.Repeat("a", 53) + "-bbbbbbbbb " + strings.Repeat("b", 20) + "/" + strings.Repeat("a", 53) + " " + strings.Repeat("a", 53) + "-bbbbbbbbb"},
		"a name that ends at a dash": {strings.Repeat("a", 53), "nameOverride: bbbbbbbb-b", strings.Repeat("a", 53) + "-bbbbbbbb bbbbbbbb-b/" + strings.Repeat("a", 53) + " " + strings.Repeat("a", 53) + "-bbbbbbbb"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := render(Options{Release: tt.release, Namespace: "kube-system", Values: valuesOf(t, tt.values+"\n"+least)})
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range got.Objects {
				if o.GetKind() != "Deployment" {
					continue
				}
				pod, _ := o.Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
				labels := o.GetLabels()
				is := o.GetName() + " " + labels["app.kubernetes.io/name"] + "/" + labels["app.kubernetes.io/instance"] + " " + pod["serviceAccountName"].(string)
				if is != tt.want {
					t.Errorf("release %s with %q is %s, want %s", tt.release, tt.values, is, tt.want)
				}
			}
		})
	}
}
