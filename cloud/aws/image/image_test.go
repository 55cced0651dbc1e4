package image

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

var start = time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)

// account is an emulated account: parameters by name, images by id.
type account struct {
	parameters map[string]string
	images     []types.Image
	gets       int
	queries    []string
}

func (a *account) GetParameter(_ context.Context, in *ssm.GetParameterInput, _ ...func(*ssm.Options)) (*ssm.GetParameterOutput, error) {
	a.gets++
	value, ok := a.parameters[aws.ToString(in.Name)]
	if _, version, chosen := strings.Cut(aws.ToString(in.Name), ":"); chosen && version != "1" {
		return nil, &ssmtypes.ParameterVersionNotFound{}
	}
	if !ok {
		return nil, &ssmtypes.ParameterNotFound{}
	}
	return &ssm.GetParameterOutput{Parameter: &ssmtypes.Parameter{Value: &value}}, nil
}

func (a *account) DescribeImages(_ context.Context, in *ec2.DescribeImagesInput, _ ...func(*ec2.Options)) (*ec2.DescribeImagesOutput, error) {
	if !aws.ToBool(in.IncludeDeprecated) {
		return nil, errors.New("deprecated images would be hidden from us")
	}
	words := []string{"owners " + strings.Join(in.Owners, ",")}
	out := &ec2.DescribeImagesOutput{}
	for _, i := range a.images {
		if matches(i, in.Filters) {
			out.Images = append(out.Images, i)
		}
	}
	for _, f := range in.Filters {
		words = append(words, aws.ToString(f.Name)+"="+strings.Join(f.Values, ","))
	}
	a.queries = append(a.queries, strings.Join(words, " "))
	return out, nil
}

func matches(i types.Image, filters []types.Filter) bool {
	for _, f := range filters {
		value := aws.ToString(i.Name)
		if *f.Name == "image-id" {
			value = aws.ToString(i.ImageId)
		}
		if !slices.Contains(f.Values, value) {
			return false
		}
	}
	return true
}

func ami(id, name string, arch types.ArchitectureValues, ageDays int, deprecated bool) types.Image {
	until := start.AddDate(1, 0, 0)
	if deprecated {
		until = start
	}
	return types.Image{ImageId: aws.String(id), Name: aws.String(name), Architecture: arch, State: types.ImageStateAvailable,
		CreationDate:    aws.String(start.AddDate(0, 0, -ageDays).Format("2006-01-02T15:04:05.000Z")),
		DeprecationTime: aws.String(until.Format("2006-01-02T15:04:05.000Z"))}
}

func finder(a *account, now func() time.Time) Finder {
	return Finder{API: a, Parameters: NewParameters(a, now), Now: now}
}

func at(t time.Time) func() time.Time { return func() time.Time { return t } }

func show(images []nodeclass.Image) string {
	var lines []string
	for _, i := range images {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s [%s] %s", i.ID, cmp.Or(map[bool]string{true: "deprecated"}[i.Deprecated], "current"),
			i.Requirements, i.Release())))
	}
	return strings.Join(lines, "\n")
}

func alias(text string) nodeclass.Spec {
	return nodeclass.Spec{Images: []nodeclass.ImageTerm{{Alias: text}}}
}

const (
	noDevices = "karpenter.k8s.aws/instance-accelerator-count doesnotexist; karpenter.k8s.aws/instance-gpu-count doesnotexist"
	eks       = "/aws/service/eks/optimized-ami/1.31/"
)

func TestAliases(t *testing.T) {
	tests := map[string]struct {
		alias      string
		parameters map[string]string
		want       []string
	}{
		"AL2023 has a variant for each device, and not all exist": {"al2023@latest", map[string]string{
			eks + "amazon-linux-2023/x86_64/standard/recommended/image_id": "ami-x",
			eks + "amazon-linux-2023/arm64/standard/recommended/image_id":  "ami-a",
			eks + "amazon-linux-2023/x86_64/nvidia/recommended/image_id":   "ami-xg",
			eks + "amazon-linux-2023/x86_64/neuron/recommended/image_id":   "ami-xn",
		}, []string{
			"ami-x current [" + noDevices + "; kubernetes.io/arch in amd64]",
			"ami-a current [" + noDevices + "; kubernetes.io/arch in arm64]",
			"ami-xg current [karpenter.k8s.aws/instance-gpu-manufacturer in nvidia; kubernetes.io/arch in amd64]",
			"ami-xn current [karpenter.k8s.aws/instance-accelerator-manufacturer in aws; kubernetes.io/arch in amd64]",
		}},
		"AL2023 pinned": {"al2023@v20240807", map[string]string{
			eks + "amazon-linux-2023/x86_64/standard/amazon-eks-node-al2023-x86_64-standard-1.31-v20240807/image_id": "ami-x",
			eks + "amazon-linux-2023/x86_64/standard/recommended/image_id":                                           "ami-a",
		}, []string{"ami-x current [" + noDevices + "; kubernetes.io/arch in amd64]"}},
		"Bottlerocket names its release": {"bottlerocket@latest", map[string]string{
			"/aws/service/bottlerocket/aws-k8s-1.31/x86_64/latest/image_id":       "ami-b",
			"/aws/service/bottlerocket/aws-k8s-1.31-nvidia/arm64/latest/image_id": "ami-a",
		}, []string{
			"ami-a current [karpenter.k8s.aws/instance-gpu-manufacturer in nvidia; kubernetes.io/arch in arm64]",
			"ami-b current [" + noDevices + "; kubernetes.io/arch in amd64] 1.46.0",
		}},
		"Bottlerocket pinned, with or without v": {"bottlerocket@v1.20.0", map[string]string{
			"/aws/service/bottlerocket/aws-k8s-1.31/x86_64/1.20.0/image_id": "ami-b",
		}, []string{"ami-b current [" + noDevices + "; kubernetes.io/arch in amd64] 1.46.0"}},
		"AL2's GPU image serves two kinds of devices": {"al2@latest", map[string]string{
			eks + "amazon-linux-2-gpu/recommended/image_id": "ami-xg",
		}, []string{
			"ami-xg current [karpenter.k8s.aws/instance-accelerator-manufacturer in aws; kubernetes.io/arch in amd64]",
			"ami-xg current [karpenter.k8s.aws/instance-gpu-manufacturer in nvidia; kubernetes.io/arch in amd64]",
		}},
		"AL2 pinned": {"al2@v20240807", map[string]string{
			eks + "amazon-linux-2-arm64/amazon-eks-arm64-node-1.31-v20240807/image_id": "ami-a",
		}, []string{"ami-a current [" + noDevices + "; kubernetes.io/arch in arm64]"}},
		"Windows": {"windows2022@latest", map[string]string{
			"/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.31/image_id": "ami-x",
		}, []string{"ami-x current [kubernetes.io/arch in amd64; kubernetes.io/os in windows; node.kubernetes.io/windows-build in 10.0.20348]"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := &account{parameters: tt.parameters, images: []types.Image{
				ami("ami-x", "x", types.ArchitectureValuesX8664, 1, false), ami("ami-a", "a", types.ArchitectureValuesArm64, 2, false),
				ami("ami-xg", "xg", types.ArchitectureValuesX8664, 3, false), ami("ami-xn", "xn", types.ArchitectureValuesX8664, 4, false),
				ami("ami-b", "bottlerocket-aws-k8s-1.31-x86_64-v1.46.0-431fe75a", types.ArchitectureValuesX8664, 5, false),
			}}
			got, err := finder(a, at(start)).Find(t.Context(), alias(tt.alias), "1.31")
			if err != nil {
				t.Fatal(err)
			}
			if show(got) != strings.Join(tt.want, "\n") {
				t.Errorf("Find(%s) =\n%s\nwant\n%s", tt.alias, show(got), strings.Join(tt.want, "\n"))
			}
		})
	}
}

func TestAliasesThatCannotBe(t *testing.T) {
	tests := map[string]struct{ alias, kubernetes, reason string }{
		"AL2 ended with 1.32":          {"al2@latest", "1.33", "UnsupportedAlias"},
		"Windows 2025 began with 1.35": {"windows2025@latest", "1.34", "UnsupportedAlias"},
		"a family nobody knows":        {"plan9@latest", "1.36", "UnsupportedAlias"},
		"a release that never was":     {"al2023@v19990101", "1.36", "AMINotFound"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := finder(&account{}, at(start)).Find(t.Context(), alias(tt.alias), tt.kubernetes)
			if missing, ok := errors.AsType[*nodeclass.MissingError](err); !ok || missing.Reason != tt.reason {
				t.Errorf("Find(%s) for %s = %v, want %s", tt.alias, tt.kubernetes, err, tt.reason)
			}
		})
	}
}

func TestAClassWithoutImageTermsSelectsNothing(t *testing.T) {
	_, err := finder(&account{}, at(start)).Find(t.Context(), nodeclass.Spec{}, "1.36")
	missing, ok := errors.AsType[*nodeclass.MissingError](err)
	if want := "spec.amiSelectorTerms selects nothing: name an alias such as al2023@latest, or images"; !ok ||
		missing.Reason != nodeclass.AMINotFound || missing.Text != want {
		t.Errorf("without terms: %v, want AMINotFound that says %q", err, want)
	}
}

func TestTheNewestThatIsNotDeprecatedServesEachArchitecture(t *testing.T) {
	a := &account{parameters: map[string]string{"/mine": "ami-old-arm"}, images: []types.Image{
		ami("ami-newest", "mine", types.ArchitectureValuesX8664, 1, true),
		ami("ami-newer", "mine", types.ArchitectureValuesX8664, 2, false),
		ami("ami-older", "mine", types.ArchitectureValuesX8664, 3, false),
		ami("ami-old-arm", "other", types.ArchitectureValuesArm64, 400, true),
	}}
	spec := nodeclass.Spec{Family: nodeclass.AL2023, Images: []nodeclass.ImageTerm{{Name: "mine"}, {SSMParameter: "/mine"}, {SSMParameter: "/nobody's"}}}
	got, err := finder(a, at(start)).Find(t.Context(), spec, "1.36")
	if err != nil {
		t.Fatal(err)
	}
	want := "ami-newer current [kubernetes.io/arch in amd64]\nami-old-arm deprecated [kubernetes.io/arch in arm64]"
	if show(got) != want {
		t.Errorf("Find =\n%s\nwant\n%s", show(got), want)
	}
	if !slices.Equal(a.queries, []string{"owners self,amazon name=mine", "owners  image-id=ami-old-arm"}) {
		t.Errorf("asked %q", a.queries)
	}
}

func TestOwnersAreThoseNamed(t *testing.T) {
	a := &account{}
	spec := nodeclass.Spec{Images: []nodeclass.ImageTerm{{Name: "x", Owner: "123456789012"}, {Tags: map[string]string{"b": "*", "a": "1"}}}}
	_, err := finder(a, at(start)).Find(t.Context(), spec, "1.36")
	if !slices.Equal(a.queries, []string{"owners 123456789012 name=x", "owners self,amazon tag:a=1 tag-key=b"}) {
		t.Errorf("asked %q", a.queries)
	}
	if err == nil || !strings.Contains(err.Error(), "name x, owner 123456789012; or tag a=1, tag b=*") {
		t.Errorf("Find = %v, want an error naming the terms", err)
	}
}

// A term that names nothing selects every image of this account and of AWS, and none that
// another account has made public.
func TestATermWithoutTagsLeavesImagesOfOthersOut(t *testing.T) {
	for want, term := range map[string]nodeclass.ImageTerm{
		"owners self,amazon":  {Tags: map[string]string{}},
		"owners 123456789012": {Tags: map[string]string{}, Owner: "123456789012"},
	} {
		a := &account{}
		if _, err := finder(a, at(start)).Find(t.Context(), nodeclass.Spec{Images: []nodeclass.ImageTerm{term}}, "1.36"); err == nil || !slices.Equal(a.queries, []string{want}) {
			t.Errorf("%+v: asked %q, error %v; want %q", term, a.queries, err, want)
		}
	}
}

// A parameter that leads to no image is named, and keeps no other term from its images.
func TestAParameterThatLeadsToNoImageIsNamed(t *testing.T) {
	a := &account{parameters: map[string]string{"/eks/recommended": `{"schema_version":"2","image_id":"ami-x","image_name":"amazon-eks-node-al2023"}`},
		images: []types.Image{ami("ami-x", "mine", types.ArchitectureValuesX8664, 1, false)}}
	f := finder(a, at(start))
	find := func(terms ...nodeclass.ImageTerm) ([]nodeclass.Image, error) {
		return f.Find(t.Context(), nodeclass.Spec{Images: terms}, "1.36")
	}
	_, err := find(nodeclass.ImageTerm{SSMParameter: "/eks/recommended"}, nodeclass.ImageTerm{SSMParameter: "/nobody's"})
	const want = `(ssmParameter /eks/recommended; or ssmParameter /nobody's), as SSM parameter /eks/recommended holds "{\"schema_version\":\"2\",\"image_id\":\"ami-x\"", which is no image's ID and there is no SSM parameter /nobody's: check`
	if missing, ok := errors.AsType[*nodeclass.MissingError](err); !ok || !strings.Contains(missing.Text, want) {
		t.Errorf("Find = %v, want it to say %s", err, want)
	}
	if len(a.queries) > 0 {
		t.Errorf("asked EC2 %q, want nothing", a.queries)
	}
	if got, err := find(nodeclass.ImageTerm{SSMParameter: "/eks/recommended"}, nodeclass.ImageTerm{ID: "ami-x"}); err != nil || len(got) != 1 {
		t.Errorf("Find beside a good term = %s, %v", show(got), err)
	}
	if got, err := find(nodeclass.ImageTerm{SSMParameter: "/eks/recommended:7"}, nodeclass.ImageTerm{ID: "ami-x"}); err != nil || len(got) != 1 {
		t.Errorf("Find beside a version that there is not = %s, %v", show(got), err)
	}
	a.parameters["/eks/recommended"] = "ami-x"
	if got, err := find(nodeclass.ImageTerm{SSMParameter: "/eks/recommended"}); err != nil || len(got) != 1 {
		t.Errorf("Find once it was corrected = %s, %v", show(got), err)
	}
}

func TestParametersAreRemembered(t *testing.T) {
	now := start
	a := &account{parameters: map[string]string{"/p": "ami-1"}}
	p := NewParameters(a, func() time.Time { return now })
	get := func(name string, moving bool) {
		if _, err := p.Get(t.Context(), name, moving); err != nil && name == "/p" {
			t.Fatal(err)
		}
	}
	get("/p", true)
	get("/p", true)
	if a.gets != 1 {
		t.Errorf("asked %d times for a parameter just read", a.gets)
	}
	now = now.Add(keepLatest)
	get("/p", false)
	if a.gets != 2 {
		t.Errorf("asked %d times, want a second time for one that moves", a.gets)
	}
	now = now.Add(keepLatest)
	get("/p", false)
	if a.gets != 2 {
		t.Errorf("asked %d times, want no third time for one that is pinned", a.gets)
	}
	p.Forget("/p")
	get("/p", false)
	get("/none", true)
	get("/none", true)
	if a.gets != 4 {
		t.Errorf("asked %d times, want once more after Forget and once for what is not there", a.gets)
	}
}

func TestADeprecatedLatestIsAskedForAgain(t *testing.T) {
	name := eks + "amazon-linux-2023/x86_64/standard/recommended/image_id"
	a := &account{parameters: map[string]string{name: "ami-old"}, images: []types.Image{
		ami("ami-old", "o", types.ArchitectureValuesX8664, 9, true), ami("ami-new", "n", types.ArchitectureValuesX8664, 1, false)}}
	f := finder(a, at(start))
	if _, err := f.Find(t.Context(), alias("al2023@latest"), "1.31"); err != nil {
		t.Fatal(err)
	}
	a.parameters[name] = "ami-new"
	got, err := f.Find(t.Context(), alias("al2023@latest"), "1.31")
	if err != nil || got[0].ID != "ami-new" {
		t.Errorf("Find = %s, %v; want the image that has taken the deprecated one's place", show(got), err)
	}
}

// A kubelet may not be newer than the API server: of the images that a name
// selects, those published for a later version wait until it has moved.
func TestImagesForLaterVersionsWait(t *testing.T) {
	name := func(version string) string { return "amazon-eks-node-al2023-x86_64-standard-" + version + "-v20251112" }
	a := &account{images: []types.Image{
		ami("ami-35", name("1.35"), types.ArchitectureValuesX8664, 9, false),
		ami("ami-36", name("1.36"), types.ArchitectureValuesX8664, 1, false),
	}}
	both := nodeclass.Spec{Images: []nodeclass.ImageTerm{{ID: "ami-35"}, {ID: "ami-36"}}}
	for server, want := range map[string]string{"1.35": "ami-35", "1.36": "ami-36", "1.37": "ami-36"} {
		if got, err := finder(a, at(start)).Find(t.Context(), both, server); err != nil || len(got) != 1 || got[0].ID != want {
			t.Errorf("for an API server of %s: %s, %v; want %s", server, show(got), err, want)
		}
	}
	_, err := finder(a, at(start)).Find(t.Context(), both, "1.34")
	missing, ok := errors.AsType[*nodeclass.MissingError](err)
	if !ok || missing.Reason != nodeclass.AMINotFound || !strings.Contains(missing.Text, "may not be newer than the API server, which is 1.34") {
		t.Errorf("for an API server of 1.34: %v; want AMINotFound that says why", err)
	}
}

// Ubuntu is of the release that was the usual one for the version of Kubernetes.
func TestUbuntuIsOfTheReleaseForTheVersion(t *testing.T) {
	for kubernetes, release := range map[string]string{"1.27": "20.04", "1.28": "20.04", "1.29": "22.04", "1.32": "22.04"} {
		for _, v := range ubuntu(kubernetes) {
			if want := "/aws/service/canonical/ubuntu/eks/" + release + "/" + kubernetes + "/stable/current/"; !strings.HasPrefix(v.parameter, want) {
				t.Errorf("Kubernetes %s: the image's parameter is %s, want %s…", kubernetes, v.parameter, want)
			}
		}
	}
}
