// Package image finds the instance images that a class selects: those that AWS publishes for EKS, by
// alias, and those that a user names.
//
// It promises one image for each set of requirements: the newest that is not deprecated, in an order
// that depends on facts alone. It does not decide which instance boots which image; the requirements
// of an image determine that.
package image

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// Finder looks up images.
type Finder struct {
	API        ec2.DescribeImagesAPIClient
	Parameters *Parameters
	Now        func() time.Time
}

// Find returns the images that any of the spec's terms selects for the given
// version of Kubernetes ("1.36"): those not deprecated first, newest first.
// Images published for a later version are left out: a kubelet may not be
// newer than the API server. It is a *nodeclass.MissingError when there are none.
func (f Finder) Find(ctx context.Context, spec nodeclass.Spec, kubernetes string) ([]nodeclass.Image, error) {
	if len(spec.Images) == 0 { // an API server refuses that; a file may say it
		return nil, &nodeclass.MissingError{Reason: nodeclass.AMINotFound, Letter: nodeclass.NoAMIMatches,
			Text: "spec.amiSelectorTerms selects nothing: name an alias such as al2023@latest, or images"}
	}
	var all []nodeclass.Image
	for _, term := range spec.Images {
		if term.Alias == "" {
			continue
		}
		images, err := f.alias(ctx, term.Alias, kubernetes)
		if err != nil {
			return nil, err
		}
		all = append(all, images...)
	}
	selected, why, err := f.selected(ctx, spec)
	if err != nil {
		return nil, err
	}
	all, newer := notNewer(append(all, selected...), kubernetes)
	all = best(all)
	if len(all) == 0 && len(newer) > 0 {
		return nil, &nodeclass.MissingError{Reason: nodeclass.AMINotFound, Letter: nodeclass.NoAMIMatches, Text: fmt.Sprintf(
			"spec.amiSelectorTerms (%s) selects images for later versions of Kubernetes alone, such as %s, and a kubelet may not be newer than the "+
				"API server, which is %s: select images for %s, or wait until the control plane has moved",
			describe(spec.Images), newer[0].Name, kubernetes, kubernetes)}
	}
	if len(all) == 0 {
		return nil, &nodeclass.MissingError{Reason: nodeclass.AMINotFound, Letter: nodeclass.NoAMIMatches, Text: fmt.Sprintf(
			"no image matches spec.amiSelectorTerms (%s)%s: check that it exists in this region and is shared with this account, "+
				"or use an alias such as al2023@latest; releases of an alias are those for Kubernetes %s", describe(spec.Images), because(why), kubernetes)}
	}
	return all, nil
}

// alias returns the images behind an alias, with the requirements that each
// variant has beside its architecture.
func (f Finder) alias(ctx context.Context, text, kubernetes string) ([]nodeclass.Image, error) {
	alias, err := nodeclass.ParseAlias(text)
	if err != nil {
		return nil, &nodeclass.MissingError{Reason: nodeclass.UnsupportedAlias, Text: err.Error()}
	}
	if err := supported(alias.Family, kubernetes); err != nil {
		return nil, err
	}
	variants := variantsOf(alias, kubernetes)
	ids := map[string]string{} // by parameter
	for _, v := range variants {
		id, err := f.Parameters.Get(ctx, v.parameter, alias.Version == nodeclass.Latest)
		if fault.NotFound(err) {
			continue // not every variant exists for every version and region
		}
		if err != nil {
			return nil, fault.Wrap("ssm:GetParameter of "+v.parameter, err)
		}
		ids[v.parameter] = id
	}
	images, err := f.byID(ctx, ids)
	if err != nil {
		return nil, err
	}
	var out []nodeclass.Image
	for _, v := range variants {
		raw, ok := images[ids[v.parameter]]
		if !ok {
			continue
		}
		image := f.convert(raw)
		if image.Deprecated && alias.Version == nodeclass.Latest {
			f.Parameters.Forget(v.parameter) // "latest" has moved on
		}
		image.Requirements = image.Requirements.AndAll(v.requirements)
		out = append(out, image)
	}
	return out, nil
}

// byID looks up all images with the given ids in one go. Ids that do not
// exist are left out.
func (f Finder) byID(ctx context.Context, ids map[string]string) (map[string]types.Image, error) {
	var values []string
	for _, id := range ids {
		values = append(values, id)
	}
	slices.Sort(values)
	values = slices.Compact(values)
	if len(values) == 0 {
		return nil, nil
	}
	found, err := f.describe(ctx, &ec2.DescribeImagesInput{
		Filters: []types.Filter{{Name: aws.String("image-id"), Values: values}},
	})
	if err != nil {
		return nil, err
	}
	out := map[string]types.Image{}
	for _, i := range found {
		out[aws.ToString(i.ImageId)] = i
	}
	return out, nil
}

func (f Finder) describe(ctx context.Context, in *ec2.DescribeImagesInput) ([]types.Image, error) {
	in.IncludeDeprecated = aws.Bool(true)
	in.MaxResults = aws.Int32(1000)
	var out []types.Image
	pages := ec2.NewDescribeImagesPaginator(f.API, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fault.Wrap("ec2:DescribeImages", err)
		}
		out = append(out, page.Images...)
	}
	return out, nil
}

// convert takes over the facts of an image. Its architecture is its first
// requirement.
func (f Finder) convert(i types.Image) nodeclass.Image {
	out := nodeclass.Image{ID: aws.ToString(i.ImageId), Name: aws.ToString(i.Name)}
	out.CreatedAt = parseTime(aws.ToString(i.CreationDate))
	if until := parseTime(aws.ToString(i.DeprecationTime)); !until.IsZero() && !f.Now().Before(until) {
		out.Deprecated = true
	}
	out.Requirements = constraint.NewRequirements(in(cluster.LabelArch, architecture(i.Architecture)))
	return out
}

func architecture(a types.ArchitectureValues) string {
	if a == types.ArchitectureValuesX8664 {
		return "amd64"
	}
	return string(a)
}

func parseTime(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

// notNewer parts images from those that are published for a later version of
// Kubernetes.
func notNewer(images []nodeclass.Image, kubernetes string) (fit, newer []nodeclass.Image) {
	server, ok := nodeclass.Minor(kubernetes)
	for _, i := range images {
		if kubelet, known := i.Kubelet(); ok && known && kubelet > server {
			newer = append(newer, i)
			continue
		}
		fit = append(fit, i)
	}
	return fit, newer
}

// best orders images and keeps the first of each set of requirements.
func best(images []nodeclass.Image) []nodeclass.Image {
	slices.SortFunc(images, func(a, b nodeclass.Image) int {
		return cmp.Or(compareBool(a.Deprecated, b.Deprecated), b.CreatedAt.Compare(a.CreatedAt),
			cmp.Compare(a.ID, b.ID), cmp.Compare(a.Requirements.String(), b.Requirements.String()))
	})
	seen := map[string]bool{}
	return slices.DeleteFunc(images, func(i nodeclass.Image) bool {
		key := i.Requirements.String()
		again := seen[key]
		seen[key] = true
		return again
	})
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func in(key string, values ...string) constraint.Requirement {
	return constraint.Requirement{Key: key, Set: constraint.Values(values...)}
}

// because puts reasons behind what they are for.
func because(why []string) string {
	if len(why) == 0 {
		return ""
	}
	return ", as " + strings.Join(why, " and ")
}

func describe(terms []nodeclass.ImageTerm) string {
	words := make([]string, len(terms))
	for i, t := range terms {
		words[i] = strings.Join(termWords(t), ", ")
	}
	return strings.Join(words, "; or ")
}
