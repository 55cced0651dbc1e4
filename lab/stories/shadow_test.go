package stories_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/daemok/daemok/cloud/aws/rights"
	"github.com/daemok/daemok/deploy"
	"github.com/daemok/daemok/observe/comparison"
)

// Beside node groups that another autoscaler scales, in a cluster without CustomResourceDefinitions, shadow mode plans
// with a NodePool of a file. It says what it would have launched and terminated, and what the other has.
func TestShadowModeBesideNodeGroups(t *testing.T) {
	t.Parallel()
	s := begin(t, ownLab(t, "--controller=false"))
	mustKubectl(t, s.dir, "delete", "crd", "--all")
	for _, group := range []string{"web", "web", "db"} {
		s.joinsGroup(group)
	}
	ofGroup := func(name string, replicas int32, cpu string) {
		s.deploy(name, replicas, on("team", "web"), tolerating("team"), apart(hostLabel),
			asking(corev1.ResourceCPU, cpu))
	}
	ofGroup("web", 2, "1")
	s.await("both nodes of the group to have a pod", "v1/Pod", of("web", running(2)))
	c := s.shadow("SHADOW_MANIFESTS=" + s.poolsOfGroups())
	c.awaitHistory("the first plan", func(h comparison.History) bool { return h.Seconds > 0 })

	ofGroup("web", 1, "1")
	c.awaitHistory("the idle node to go", func(h comparison.History) bool { return h.Shadow.Terminated == 1 })
	ofGroup("batch", 3, "1500m")
	c.awaitHistory("a node for each pod", func(h comparison.History) bool { return h.Shadow.Launched == 3 })
	s.joinsGroup("web")
	s.joinsGroup("web")
	s.await("the pods to run on nodes of the group", "v1/Pod", of("batch", running(3)))
	for _, p := range s.list("v1/Pod") {
		if p.GetLabels()["app"] == "web" {
			s.drop("v1/Node", text(p, "spec", "nodeName"))
		}
	}
	want := shadowSide{Launched: 2, Terminated: 1, Evicted: 1}
	c.awaitHistory("what the other did", func(h comparison.History) bool { return h.Actual.Terminated == 1 })
	c.onlyRead()

	c.signal(syscall.SIGTERM)
	c.awaitEnd(limit)
	got := s.shadowReport("--system-namespace=kube-system", "--kubeconfig="+filepath.Join(s.dir, "kubeconfig"))
	if would := (shadowSide{Launched: 3, Terminated: 1}); got.Actual != want || got.Shadow != would {
		t.Errorf("the report says %+v and %+v, want %+v and %+v", got.Actual, got.Shadow, want, would)
	}
	if said := got.decisions(); !saysAll(said,
		[]string{"terminate ", "launch ", "m5.large on-demand", "NodePool/web"}) {
		t.Errorf("the decisions are\n%s", said)
	}
	c.onlyRead()
}

// Beside a controller that acts, shadow mode reads its NodePools and NodeClaims, with the rights of its own files
// alone. What it would have done it says of the same nodes, and of nodes of its own.
func TestShadowModeBesideAController(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	s.pool("")
	ofPool := func(name string, replicas int32) {
		s.deploy(name, replicas, from(s.namespace), apart(hostLabel), asking(corev1.ResourceCPU, "1"))
	}
	ofPool("web", 2)
	s.await("two pods to run", "v1/Pod", of("web", running(2)))
	nodes := nodesOf(s.list("v1/Pod"))
	c := s.shadow()
	c.awaitHistory("the first plan", func(h comparison.History) bool { return h.Seconds > 0 })
	ofPool("web", 0)
	c.awaitHistory("both idle nodes to go", func(h comparison.History) bool {
		for node := range nodes {
			if !decided(h, comparison.Terminate, node) {
				return false
			}
		}
		return h.Actual.Terminated >= 2
	})
	ofPool("more", 2)
	c.awaitHistory("nodes for other pods",
		func(h comparison.History) bool { return decided(h, comparison.Launch, "NodePool/"+s.namespace) })
	s.await("two other pods to run", "v1/Pod", of("more", running(2)))
	c.awaitHistory("the nodes that the other launched",
		func(h comparison.History) bool { return h.Actual.Launched >= 2 })
	if got := s.shadowReport("--from=http://127.0.0.1:" + c.at.port); got.Shadow.Launched < 2 || got.Actual.Launched < 2 {
		t.Errorf("the report says %+v and %+v, want two launches or more on both sides", got.Actual, got.Shadow)
	}
	c.onlyRead()
}

// decided reports whether a decision of the kind has the words.
func decided(h comparison.History, kind comparison.Kind, words string) bool {
	return slices.ContainsFunc(h.Latest,
		func(d comparison.Decision) bool { return d.Kind == kind && strings.Contains(d.What, words) })
}

// joinsGroup has a node of an EKS managed node group join, as that group's Auto Scaling group would.
func (s *story) joinsGroup(group string) types.Instance {
	s.Helper()
	instance := launchWith(s.T, s.dir, fmt.Sprintf(`  kubelet:
    flags: ["--node-labels=eks.amazonaws.com/nodegroup=%[1]s,team=%[1]s", "--register-with-taints=team=%[1]s:NoSchedule"]
`, group))
	s.await("a node of group "+group+" to be ready", "v1/Node", joined(*instance.PrivateDnsName))
	return instance
}

// poolsOfGroups writes a file with a NodePool for group web, and none for others.
func (s *story) poolsOfGroups() string {
	s.Helper()
	file := filepath.Join(s.TempDir(), "pools.yaml")
	write(s.T, file, s.fill(`
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: web}
spec:
  instanceProfile: KarpenterNodeInstanceProfile-${CLUSTER_NAME}
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: "${CLUSTER_NAME}"}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: "${CLUSTER_NAME}"}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: web}
spec:
  template:
    metadata: {labels: {team: web}}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: web}
      taints: [{key: team, value: web, effect: NoSchedule}]
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1s, budgets: [{nodes: "100%"}]}
`))
	return file
}

// shadowing is a controller in shadow mode, of which all requests are seen.
type shadowing struct {
	*controller
	at         endpoint
	kubernetes *watched
	aws        *watched
}

// shadow starts a controller in shadow mode, with the rights of deploy/rbac-shadow.yaml and of the policy of shadow
// mode.
func (s *story) shadow(changes ...string) *shadowing {
	s.Helper()
	const account = "daemok-shadow"
	in := *s
	in.namespace = "kube-system"
	in.apply(string(deploy.ShadowRBAC))
	s.Cleanup(func() {
		for _, kind := range []string{"clusterrole", "clusterrolebinding", "role", "rolebinding", "serviceaccount", "configmap"} {
			got, err := lab(context.Background(), s.dir, "kubectl", "--namespace=kube-system", "delete", kind,
				account, "--ignore-not-found")
			if err != nil || got.code != 0 {
				s.Errorf("delete %s %s: %v %s", kind, account, err, got.stderr)
			}
		}
	})
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(s.dir, "kubeconfig"))
	if err != nil {
		s.Fatal(err)
	}
	transport, err := rest.TransportFor(&rest.Config{TLSClientConfig: rest.TLSClientConfig{CAData: config.CAData,
		CAFile: config.CAFile}})
	if err != nil {
		s.Fatal(err)
	}
	env := environment(s.T, s.dir)
	c := &shadowing{at: s.freeEndpoint(), kubernetes: s.watch(config.Host, transport, httptest.NewTLSServer),
		aws: s.watch(env["AWS_ENDPOINT_URL"], http.DefaultTransport, httptest.NewServer)}
	token := strings.TrimSpace(mustKubectl(s.T, s.dir, "--namespace=kube-system", "create", "token", account))
	kubeconfig := filepath.Join(s.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"lab": {Server: c.kubernetes.url,
			CertificateAuthorityData: c.kubernetes.authority}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{account: {Token: token}},
		Contexts:  map[string]*clientcmdapi.Context{"lab": {Cluster: "lab", AuthInfo: account}}, CurrentContext: "lab",
	}, kubeconfig); err != nil {
		s.Fatal(err)
	}
	c.controller = s.run("shadow",
		append([]string{"SHADOW=true", "KUBECONFIG=" + kubeconfig, "AWS_ENDPOINT_URL=" + c.aws.url,
			"METRICS_PORT=" + c.at.port,
			"INTERRUPTION_QUEUE="}, append(s.shadowRole(), changes...)...)...)
	return c
}

// shadowRole makes a role with the policy of shadow mode, and returns credentials of it as variables.
func (s *story) shadowRole() []string {
	s.Helper()
	c, env := awsOf(s.T, s.dir)
	cluster, name := env["CLUSTER_NAME"], aws.String("daemok-shadow")
	api := iam.NewFromConfig(c)
	role, err := api.CreateRole(s.Context(), &iam.CreateRoleInput{RoleName: name,
		AssumeRolePolicyDocument: aws.String(`{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "sts:AssumeRole"}]}`)})
	if err != nil {
		s.Fatal(err)
	}
	account := strings.Split(*role.Role.Arn, ":")[4]
	document := rights.Whole(rights.Shadow(rights.Scope{Partition: "aws", Account: account, Region: c.Region,
		Cluster: cluster, Features: rights.Features()})).JSON()
	if _, err := api.PutRolePolicy(s.Context(),
		&iam.PutRolePolicyInput{RoleName: name, PolicyName: name, PolicyDocument: &document}); err != nil {
		s.Fatal(err)
	}
	session, err := sts.NewFromConfig(c).AssumeRole(s.Context(),
		&sts.AssumeRoleInput{RoleArn: role.Role.Arn, RoleSessionName: name})
	if err != nil {
		s.Fatal(err)
	}
	of := session.Credentials
	return []string{"AWS_ACCESS_KEY_ID=" + *of.AccessKeyId, "AWS_SECRET_ACCESS_KEY=" + *of.SecretAccessKey,
		"AWS_SESSION_TOKEN=" + *of.SessionToken}
}

// awaitHistory waits until what was watched is as wanted.
func (c *shadowing) awaitHistory(what string, holds func(comparison.History) bool) {
	c.story.Helper()
	text := ""
	if !poll(limit, farEvery, func() bool {
		status := 0
		var h comparison.History
		status, text = c.at.get(comparison.Path)
		return status == http.StatusOK && json.Unmarshal([]byte(text), &h) == nil && holds(h)
	}) {
		c.story.Fatalf("waited for %s: the history is %s; its log is %s", what, text, c.log)
	}
}

// onlyRead checks what the controller has asked for: it wrote its own ConfigMap alone, and nothing was refused.
func (c *shadowing) onlyRead() {
	c.story.Helper()
	for _, r := range c.kubernetes.all() {
		if !r.reads && !strings.Contains(r.what, "/namespaces/kube-system/configmaps") || r.refused {
			c.story.Errorf("it asked the API server for %s; refused: %t", r.what, r.refused)
		}
	}
	calls := c.aws.all()
	for _, r := range calls {
		if !r.reads || r.refused {
			c.story.Errorf("it called %s at AWS; refused: %t", r.what, r.refused)
		}
	}
	if len(calls) == 0 {
		c.story.Error("it made no call to AWS")
	}
}

// watched passes requests on, and remembers them.
type watched struct {
	url       string
	authority []byte // that signed its certificate
	mu        sync.Mutex
	seen      []request
}

type request struct {
	what    string
	reads   bool
	refused bool // for want of a right
}

func (w *watched) all() []request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen)
}

// watch is where a program reaches a server such that its requests are seen.
func (s *story) watch(server string, through http.RoundTripper, serve func(http.Handler) *httptest.Server) *watched {
	s.Helper()
	to, err := url.Parse(server)
	if err != nil {
		s.Fatal(err)
	}
	w := &watched{}
	passing := &httputil.ReverseProxy{
		Transport:     through,
		FlushInterval: -1, // watches
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ModifyResponse: func(r *http.Response) error {
			seen := r.Request.Context().Value(requestKey{}).(request)
			if r.StatusCode >= http.StatusBadRequest {
				text, err := io.ReadAll(r.Body)
				if err != nil {
					return err
				}
				r.Body = io.NopCloser(bytes.NewReader(text))
				seen.refused = r.StatusCode == http.StatusForbidden || bytes.Contains(text,
					[]byte("AccessDenied")) || bytes.Contains(text, []byte("UnauthorizedOperation"))
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			w.seen = append(w.seen, seen)
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request,
			_ error) {
			w.WriteHeader(http.StatusBadGateway)
		}, // the program has gone
	}
	web := serve(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the program has gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		passing.ServeHTTP(rw, r.WithContext(context.WithValue(r.Context(), requestKey{}, requestOf(r, body))))
	}))
	s.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	w.url = web.URL
	if c := web.Certificate(); c != nil {
		w.authority = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
	}
	return w
}

type requestKey struct{}

// requestOf is what a request asks for: at AWS the action, wherever the service's protocol says so.
func requestOf(r *http.Request, body []byte) request {
	if _, action, is := strings.Cut(r.Header.Get("X-Amz-Target"), "."); is {
		return request{what: action, reads: readsAWS(action)}
	}
	if form, err := url.ParseQuery(string(body)); err == nil && form.Get("Action") != "" {
		return request{what: form.Get("Action"), reads: readsAWS(form.Get("Action"))}
	}
	return request{what: r.Method + " " + r.URL.Path, reads: r.Method == http.MethodGet}
}

func readsAWS(action string) bool {
	return slices.ContainsFunc([]string{"Describe", "Get", "List"},
		func(verb string) bool { return strings.HasPrefix(action, verb) })
}

// shadowSide is one side of a report.
type shadowSide struct{ Launched, Terminated, Evicted int }

type shadowReport struct {
	Actual, Shadow shadowSide
	Decisions      []comparison.Decision
}

func (r shadowReport) decisions() (said string) {
	for _, d := range r.Decisions {
		said += fmt.Sprintf("%s %s: %s\n", d.Kind, d.What, d.Why)
	}
	return said
}

// shadowReport is what daemok shadow report says.
func (s *story) shadowReport(from ...string) (out shadowReport) {
	s.Helper()
	command := exec.CommandContext(s.Context(), program("daemok"),
		append([]string{"shadow", "report", "-o", "json"}, from...)...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	text, err := command.Output()
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		s.Fatalf("daemok shadow report %v: %v\n%s%s", from, err, text, &stderr)
	}
	return out
}
