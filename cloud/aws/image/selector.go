package image

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/network"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/constraint"
)

// selected returns the images of all terms that are no alias, and what of the terms can
// select none.
func (f Finder) selected(ctx context.Context, spec nodeclass.Spec) (out []nodeclass.Image, why []string, err error) {
	queries, why, err := f.queries(ctx, spec.Images)
	if err != nil {
		return nil, nil, err
	}
	for _, q := range queries {
		found, err := f.describe(ctx, q)
		if err != nil {
			return nil, nil, err
		}
		for _, raw := range found {
			if raw.State != "" && raw.State != types.ImageStateAvailable {
				continue
			}
			image := f.convert(raw)
			if spec.ImageTagsAsked {
				image.Requirements = image.Requirements.AndAll(asked(raw.Tags))
			}
			if spec.EffectiveFamily().Windows() {
				image.Requirements = image.Requirements.And(in(nodeclass.LabelOS, "windows"))
			}
			out = append(out, image)
		}
	}
	return out, why, nil
}

// asked are the tags of an image that are labels of instances, as requirements.
func asked(tags []types.Tag) (out constraint.Requirements) {
	for _, t := range tags {
		if key := aws.ToString(t.Key); nodeclass.IsLabelOfInstances(key) {
			out = out.And(in(key, aws.ToString(t.Value)))
		}
	}
	return out
}

// queries makes one query for all ids, and one for each other term. why reports parameters
// that lead to no image.
func (f Finder) queries(ctx context.Context, terms []nodeclass.ImageTerm) (out []*ec2.DescribeImagesInput, why []string, err error) {
	var ids []string
	for _, t := range terms {
		switch {
		case t.Alias != "":
		case t.ID != "" && t.Owner == "" && t.Name == "" && len(t.Tags) == 0:
			ids = append(ids, t.ID)
		case t.SSMParameter != "":
			id, err := f.Parameters.Get(ctx, t.SSMParameter, true)
			switch {
			case fault.NotFound(err):
				why = append(why, "there is no SSM parameter "+t.SSMParameter)
			case err != nil:
				return nil, nil, fault.Wrap("ssm:GetParameter of "+t.SSMParameter, err)
			case !strings.HasPrefix(id, "ami-"):
				f.Parameters.Forget(t.SSMParameter) // it counts as soon as it is corrected
				why = append(why, fmt.Sprintf("SSM parameter %s holds %.40q, which is no image's ID", t.SSMParameter, id))
			default:
				ids = append(ids, id)
			}
		default:
			out = append(out, query(t))
		}
	}
	if len(ids) > 0 {
		out = append(out, &ec2.DescribeImagesInput{Filters: []types.Filter{{Name: aws.String("image-id"), Values: ids}}})
	}
	return out, why, nil
}

func query(t nodeclass.ImageTerm) *ec2.DescribeImagesInput {
	q := &ec2.DescribeImagesInput{Filters: network.WithID(network.TagFilters(t.Tags, t.Commas), "image-id", t.ID)}
	if t.Name != "" {
		q.Filters = append(q.Filters, types.Filter{Name: aws.String("name"), Values: []string{t.Name}})
	}
	switch {
	case t.Owner != "":
		q.Owners = []string{t.Owner}
	case t.ID != "": // whichever account owns it
	default: // also where no tag is named: public images of other accounts are never meant
		q.Owners = []string{"self", "amazon"}
	}
	return q
}

func termWords(t nodeclass.ImageTerm) []string {
	var words []string
	for _, w := range []struct{ name, value string }{
		{"alias", t.Alias}, {"id", t.ID}, {"name", t.Name}, {"owner", t.Owner}, {"ssmParameter", t.SSMParameter},
	} {
		if w.value != "" {
			words = append(words, w.name+" "+w.value)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(t.Tags)) {
		words = append(words, "tag "+k+"="+t.Tags[k])
	}
	return words
}
