package plancmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/controller"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/internal/version"
	"github.com/daemok/daemok/kube/access/output"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/pages"
)

// upgradeJSON is what an upgrade to this build changes of one class.
type upgradeJSON struct {
	Class string     `json:"class"`
	Build string     `json:"build"`         // this one
	Why   string     `json:"why,omitempty"` // this build has no form of the class
	Forms []formJSON `json:"forms"`         // as others make it
}

// formJSON is the form of a class that other builds make, compared with this one's.
type formJSON struct {
	Builds  []string     `json:"builds"`
	Nodes   int          `json:"nodes"` // that they launched in it and that are there
	Same    bool         `json:"same"`
	Changes []changeJSON `json:"changes,omitempty"`
}

// changeJSON is one setting; what one of the two does not have is empty.
type changeJSON struct {
	Variant string `json:"variant,omitempty"` // of instances, such as spot, of which alone it says that; empty: of all others
	Setting string `json:"setting"`
	Before  string `json:"before"`
	After   string `json:"after"`
}

// upgrade is what planUpgrade reads.
type upgrade struct {
	store client.Client
	at    *inspect.Target

	version func() (string, error) // of the API server; asked where there are classes that depend on it
}

// plan compares what the cluster's controllers made of each class with what this build makes.
func (u upgrade) plan(ctx context.Context, build string) (output.Answer, error) {
	var claims []karpv1.NodeClaim
	if err := pages.Each(ctx, u.store, &karpv1.NodeClaimList{}, func(l *karpv1.NodeClaimList) { claims = append(claims, l.Items...) }); err != nil {
		return output.Answer{}, err
	}
	kinds, err := u.kinds(ctx)
	if err != nil {
		return output.Answer{}, err
	}
	all := []upgradeJSON{}
	err = inspect.EachClass(ctx, u.store, kinds, func(kind *class.Kind, c *class.Subject) error {
		one, err := u.of(kind, c, claims, build)
		all = append(all, one)
		return err
	})
	if err != nil {
		return output.Answer{}, err
	}
	a := output.Answer{Value: all, Text: func(out io.Writer) error { return writeUpgrade(out, build, all) }}
	for _, one := range all {
		a.Rows = append(a.Rows, output.Row{Object: output.Refer(one.Class), Value: one})
	}
	return a, nil
}

// kinds are those of the cluster's classes, with the settings that the installed controller has for the older ones.
func (u upgrade) kinds(ctx context.Context) ([]class.Kind, error) {
	_, older, err := inspect.Served(u.store)
	if err != nil || !older {
		return inspect.KindsOfClasses(false, true, class.Usual{}), err
	}
	if err := u.at.Learn(ctx, u.store); err != nil {
		return nil, err
	}
	return inspect.KindsOfClasses(true, true, u.at.UsualClasses()), nil
}

// of compares one class. Where the version of the API server decides what is made of it, that is asked first.
func (u upgrade) of(kind *class.Kind, c *class.Subject, claims []karpv1.NodeClaim, build string) (upgradeJSON, error) {
	if kind.Learned == nil || kind.Learned() {
		return upgradeOf(c, claims, build)
	}
	version, err := u.version()
	if err != nil {
		return upgradeJSON{Class: c.ID(), Build: build, Forms: []formJSON{}, Why: err.Error()}, nil //nolint:nilerr // the answer says it
	}
	kind.Learn(version)
	return upgradeOf(kind.Of(c.Object), claims, build)
}

func upgradeOf(c *class.Subject, claims []karpv1.NodeClaim, build string) (upgradeJSON, error) {
	u := upgradeJSON{Class: c.ID(), Build: build, Forms: []formJSON{}}
	form, err := controller.LaunchForm(c.Spec)
	switch {
	case err != nil:
		u.Why = err.Error()
		return u, nil //nolint:nilerr // it is what is said of this class
	case form == nil:
		u.Why = "it names a launch template of its own"
		return u, nil
	}
	launched := class.LaunchedAs(c, claims)
	for _, b := range class.FormsOf(c).Built {
		was, err := b.Form()
		if err != nil {
			return u, fmt.Errorf("%s: %w", c.ID(), err)
		}
		f := formJSON{Builds: b.Builds, Nodes: launched.Nodes(b.Digest)}
		for _, d := range was.All(*form) {
			f.Changes = append(f.Changes, changeJSON(d))
		}
		f.Same = len(f.Changes) == 0
		u.Forms = append(u.Forms, f)
	}
	return u, nil
}

func writeUpgrade(out io.Writer, build string, all []upgradeJSON) error {
	var b strings.Builder
	fmt.Fprintf(&b, "This command is of build %s. An upgrade of the controller to it replaces no node.\n", build)
	if len(all) == 0 {
		b.WriteString("There are no node classes.\n")
	}
	for _, u := range all {
		switch {
		case u.Why != "":
			fmt.Fprintf(&b, "%s: this build makes no launch template of it: %s\n", u.Class, u.Why)
		case len(u.Forms) == 0:
			fmt.Fprintf(&b, "%s: unknown: no controller has stored its launch template yet, so there is nothing to compare with\n", u.Class)
		}
		for i, f := range u.Forms {
			fmt.Fprintf(&b, "%s: %s\n", u.Class, f.text(build, i == 0))
			for _, c := range f.said() {
				b.WriteString(c.text())
			}
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// text says whether this build launches nodes as others do, and which nodes they launched. now: the last of these builds is
// the one that runs.
func (f formJSON) text(build string, now bool) string {
	nodes := brief.Counted(f.Nodes, "node")
	running := f.Builds[len(f.Builds)-1]
	builds := "build " + strings.Join(f.Builds, ", build ")
	switch {
	case now && f.Same && running == build:
		return fmt.Sprintf("this build runs already (%s launched with this launch template and user data)", nodes)
	case now && f.Same:
		return fmt.Sprintf("new nodes stay the same: %s, which runs now, makes the same launch template and user data (%s launched with them)", builds, nodes)
	case now:
		return fmt.Sprintf("new nodes change: %s, which runs now, makes another launch template or user data (%s launched with them, to stay as they are)", builds, nodes)
	case f.Same:
		return fmt.Sprintf("%s of the earlier %s are as new nodes of this build", nodes, builds)
	}
	return fmt.Sprintf("%s of the earlier %s differ from new nodes of this build, and stay as they are", nodes, builds)
}

// said are the changes that a text lists: without those of variants in which the same lines change as for plain instances.
func (f formJSON) said() (out []changeJSON) {
	for _, c := range f.Changes {
		as := func(plain changeJSON) bool {
			return plain.Variant == "" && plain.Setting == c.Setting && plain.text() == changeJSON{"", c.Setting, c.Before, c.After}.text()
		}
		if c.Variant == "" || !slices.ContainsFunc(f.Changes, as) {
			out = append(out, c)
		}
	}
	return out
}

// text has a line of what was and one of what is; of texts with several lines, those that differ.
func (c changeJSON) text() string {
	was, is := lines(c.Before), lines(c.After)
	named := nodeclass.Difference(c).Named()
	var b strings.Builder
	for _, side := range []struct {
		sign        string
		its, others []string
	}{{"-", was, is}, {"+", is, was}} {
		for _, line := range side.its {
			if !slices.Contains(side.others, line) {
				fmt.Fprintf(&b, "  %s %s: %s\n", side.sign, named, line)
			}
		}
	}
	if b.Len() == 0 {
		fmt.Fprintf(&b, "  ~ %s: the same lines in another order\n", named)
	}
	return b.String()
}

// lines are those of a text; none where there is no text.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// ownBuild is this build, as the controller of the same release calls itself.
func ownBuild() string { return version.Get().Build() }
