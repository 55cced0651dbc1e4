package class

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// Forms is what builds of the controller have made of one spec of a class: launch template and user data of a made-up
// instance. It lies on the class, so that the next build can compare its own form with those that nodes have.
type Forms struct {
	UID        types.UID `json:"uid"` // of the class, whose annotations may be copied to another
	Generation int64     `json:"generation"`
	Hash       string    `json:"hash"`  // of the class, with its version before it
	Built      []Built   `json:"built"` // that of the build which led last comes first
}

// Built is one form.
type Built struct {
	Digest string   `json:"digest"` // which NodeClaims carry whose instances were launched in this form
	Builds []string `json:"builds"` // of the controller, that make it
	Packed []byte   `json:"packed"` // values by path
}

// formsMost is how many forms are kept: nodes of more than three at once are rare, and objects have a limit.
const formsMost = 3

// buildsMost is how many builds of one form are named, the newest.
const buildsMost = 4

// FormsOf reads the forms that lie on a class. There are none where they cannot be read, or are of another class.
func FormsOf(c *Subject) (f Forms) {
	if json.Unmarshal([]byte(c.GetAnnotations()[api.AnnotationLaunchForms]), &f) != nil || f.UID != c.GetUID() {
		return Forms{}
	}
	return f
}

// Digest is that of the build's own form; empty while the class was not checked by it.
func (f Forms) Digest(build string) string {
	if len(f.Built) == 0 || !slices.Contains(f.Built[0].Builds, build) {
		return ""
	}
	return f.Built[0].Digest
}

// Earlier are the forms of other builds.
func (f Forms) Earlier() []Built {
	if len(f.Built) == 0 {
		return nil
	}
	return f.Built[1:]
}

// With is the forms once a build has made its own. Those of another spec are dropped: nodes of it drift. in is which
// digests NodeClaims carry: forms that no node has any more are dropped too.
func (f Forms) With(c *Subject, build string, form nodeclass.LaunchForm, in Launched) (Forms, error) {
	hash, err := hashOf(c)
	if err != nil {
		return Forms{}, err
	}
	next := Forms{UID: c.GetUID(), Generation: c.GetGeneration(), Hash: hash}
	own, err := built(build, form)
	if err != nil {
		return Forms{}, err
	}
	next.Built = []Built{own}
	if f.Generation != next.Generation && f.Hash != next.Hash {
		return next, nil
	}
	for _, b := range f.Built {
		if _, err := b.Form(); err != nil {
			continue // another client wrote into the annotation: what it held cannot be compared any more
		}
		switch {
		case b.Digest == own.Digest:
			b.Builds = append(without(b.Builds, build), build)
			b.Builds = b.Builds[max(0, len(b.Builds)-buildsMost):]
			next.Built[0] = b
		case in.Nodes(b.Digest) > 0 && len(next.Built) < formsMost:
			if b.Builds = without(b.Builds, build); len(b.Builds) > 0 { // of two builds of one name the newer counts
				next.Built = append(next.Built, b)
			}
		}
	}
	return next, nil
}

// hashOf stands for what a class says of its instances, in the eyes of this build.
func hashOf(c *Subject) (string, error) {
	switch {
	case c.Kind.Hash != nil:
		return c.GetAnnotations()[api.AnnotationNodeClassHashVersion] + "/" + c.GetAnnotations()[api.AnnotationNodeClassHash], nil
	case c.Kind.Made != nil:
		return c.Kind.Made(c.Object), nil
	}
	text, err := json.Marshal(c.Spec)
	if err != nil {
		return "", fmt.Errorf("hash the settings of %s: %w", c.ID(), err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6]), nil
}

func without(builds []string, build string) []string {
	return slices.DeleteFunc(slices.Clone(builds), func(b string) bool { return b == build })
}

func built(build string, form nodeclass.LaunchForm) (Built, error) {
	text, err := json.Marshal(form) // keys are sorted
	if err != nil {
		return Built{}, fmt.Errorf("write the form of a class: %w", err)
	}
	sum := sha256.Sum256(text)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(text); err != nil {
		return Built{}, fmt.Errorf("pack the form of a class: %w", err)
	}
	if err := w.Close(); err != nil {
		return Built{}, fmt.Errorf("pack the form of a class: %w", err)
	}
	return Built{Digest: hex.EncodeToString(sum[:6]), Builds: []string{build}, Packed: packed.Bytes()}, nil
}

// unpackedMost bounds what an annotation that another client wrote may become.
const unpackedMost = 1 << 20

// Form has what the user wrote into user data: those who may read the class know it.
func (b Built) Form() (form nodeclass.LaunchForm, err error) {
	r, err := gzip.NewReader(bytes.NewReader(b.Packed))
	if err != nil {
		return form, fmt.Errorf("unpack the form of build %s: %w", strings.Join(b.Builds, ", "), err)
	}
	text, err := io.ReadAll(io.LimitReader(r, unpackedMost))
	if err != nil {
		return form, fmt.Errorf("unpack the form of build %s: %w", strings.Join(b.Builds, ", "), err)
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if strict.Decode(&form) == nil {
		return form, nil
	}
	form = nodeclass.LaunchForm{} // builds before had plain instances alone
	if err := json.Unmarshal(text, &form.Base); err != nil {
		return form, fmt.Errorf("read the form of build %s: %w", strings.Join(b.Builds, ", "), err)
	}
	return form, nil
}

// launched is in which forms instances of a class were launched.
type launched struct {
	in      Launched // NodeClaims
	unknown error    // why the class cannot be compared with them; nil: it can
}

// launched counts the NodeClaims of a class by form; none where forms are not compared.
func (r *Reconciler) launched(ctx context.Context, c *Subject) (launched, error) {
	if r.Form == nil {
		return launched{}, nil
	}
	var claims karpv1.NodeClaimList
	if err := r.Store.List(ctx, &claims, client.UnsafeDisableDeepCopy); err != nil {
		return launched{}, fmt.Errorf("list claims of %s: %w", c.ID(), err)
	}
	return launched{in: LaunchedAs(c, claims.Items)}, nil
}

// form renders a class, again only when its spec is another: a check comes every minute.
func (r *Reconciler) form(c *Subject) (*nodeclass.LaunchForm, error) {
	known := r.records.of(c.GetName())
	if known.form == nil || !reflect.DeepEqual(known.formOf, c.Spec) {
		form, err := r.Form(c.Spec)
		if err != nil {
			return nil, err
		}
		known.form, known.formOf = form, c.Spec
	}
	return known.form, nil
}

// recordForm has the class carry the form that this build makes of it. What cannot be rendered cannot be launched
// either, and is said elsewhere.
func (r *Reconciler) recordForm(c *Subject, launched launched, annotations map[string]string) error {
	if r.Form == nil || launched.unknown != nil {
		return nil //nolint:nilerr // a condition says that the class is not compared
	}
	form, err := r.form(c)
	if err != nil || form == nil {
		delete(annotations, api.AnnotationLaunchForms)
		return nil //nolint:nilerr // conditions say what is wrong with a spec
	}
	before := FormsOf(c)
	next, err := before.With(c, r.Build, *form, launched.in)
	if err != nil {
		return err
	}
	if reflect.DeepEqual(before, next) {
		return nil
	}
	text, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("write the forms of %s: %w", c.ID(), err)
	}
	annotations[api.AnnotationLaunchForms] = string(text)
	return nil
}

// compareFirst compares a class for the first time since this controller leads, before AWS is asked anything about it, so
// that launches need not wait for AWS.
func (r *Reconciler) compareFirst(ctx context.Context, c *Subject, launched launched) error {
	if r.Form == nil || r.Compared == nil || r.Compared.has(c) {
		return nil
	}
	before := c.copy()
	if err := r.compareForms(c, launched); err != nil {
		return err
	}
	if err := r.writeStatus(ctx, c, before); err != nil {
		return err
	}
	r.Compared.add(c)
	return nil
}

// settingsNamed is how many a condition names.
const settingsNamed = 10

// compareForms warns while nodes are there that another build launched in another form. It names settings and builds,
// and no values: those of user data may be secrets.
func (r *Reconciler) compareForms(c *Subject, launched launched) error {
	if r.Form == nil {
		return nil
	}
	if launched.unknown != nil {
		condition.SetUnknown(c, awsv1.ClassLaunchTemplateChanged, awsv1.ReasonNotCompared,
			fmt.Sprintf("launch template and user data are not compared with those of nodes that run; instances are launched all the same: %v", launched.unknown), r.Now())
		return nil //nolint:nilerr // the condition says it
	}
	forms := FormsOf(c)
	var texts []string
	nodes := 0
	for _, b := range forms.Earlier() {
		n, text, err := changed(b, forms.Built[0], launched.in[b.Digest])
		if err != nil {
			return err
		}
		if nodes += n; n > 0 {
			texts = append(texts, text)
		}
	}
	r.Metrics.OtherForms.WithLabelValues(c.Kind.label(c.GetName())).Set(float64(nodes))
	r.doubt(c, awsv1.ClassLaunchTemplateChanged, awsv1.ReasonRenderedOtherwise, strings.Join(texts, "; "))
	return nil
}

// changed counts the nodes of an earlier build to which a build would make another launch template, by their variants, and
// says what it makes otherwise.
func changed(was, is Built, nodes map[string]int) (n int, text string, err error) {
	before, err := was.Form()
	if err != nil {
		return 0, "", err
	}
	after, err := is.Form()
	if err != nil {
		return 0, "", err
	}
	all := map[string]bool{}
	for variants, of := range nodes {
		differ := before.For(after, strings.Split(variants, ","))
		for _, d := range differ {
			all[d.Named()] = true
		}
		if len(differ) > 0 {
			n += of
		}
	}
	settings := slices.Sorted(maps.Keys(all))
	named := brief.List(settings, settingsNamed)
	return n, fmt.Sprintf("nodes that build %s of the controller launched have another launch template than build %s makes of the same class: %s; "+
		"they stay, and new nodes get the new one; `daemok plan --upgrade` shows the values", was.Builds[len(was.Builds)-1], is.Builds[len(is.Builds)-1], named), nil
}
