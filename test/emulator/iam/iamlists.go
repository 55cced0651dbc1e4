package iam

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/daemok/daemok/test/emulator/identity"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// listProfilesForRole leaves tags out of its answer, as IAM does.
func listProfilesForRole(c *call) (any, error) {
	r, err := c.role()
	if err != nil {
		return nil, err
	}
	return c.profilesAnswer(func(p *identity.Profile) bool { return p.Role == r.Name })
}

// profilesAnswer is a page of those profiles that pass.
func (c *call) profilesAnswer(pass func(*identity.Profile) bool) (any, error) {
	var found []*identity.Profile
	for _, p := range c.server.Profiles {
		if pass(p) {
			found = append(found, p)
		}
	}
	name := func(p *identity.Profile) string { return p.Name }
	page, marker, err := iamPaged(c, world.ByKey(found, name), name)
	if err != nil {
		return nil, err
	}
	var answer struct {
		More     bool         `xml:"IsTruncated"`
		Marker   string       `xml:"Marker,omitempty"`
		Profiles []profileXML `xml:"InstanceProfiles>member"`
	}
	for _, p := range page {
		x := c.server.profileAnswer(p)
		x.Tags = nil
		answer.Profiles = append(answer.Profiles, x)
	}
	answer.More, answer.Marker = marker != "", marker
	return answer, nil
}

// listPolicies lists the account's own policies, and AWS's as far as roles have them.
func listPolicies(c *call) (any, error) {
	scope := c.Params.String("Scope")
	if !slices.Contains([]string{"", "All", "AWS", "Local"}, scope) {
		return nil, wire.Errorf("ValidationError", "Value '%s' at 'scope' must be one of All, AWS, Local", scope)
	}
	arns := map[string]bool{}
	for arn := range c.server.Policies {
		arns[arn] = scope != "AWS"
	}
	for _, r := range c.server.Roles {
		for _, have := range r.Policies {
			arn := identity.AttachedARN(have)
			arns[arn] = arns[arn] || strings.HasPrefix(arn, identity.AWSPolicies) && scope != "Local"
		}
	}
	var found []policyXML
	for _, arn := range slices.Sorted(maps.Keys(arns)) {
		p, err := c.server.Policy(arn)
		if err != nil || !arns[arn] {
			continue
		}
		x := c.policyAnswer(p, arn)
		if strings.HasPrefix(x.Path, c.Params.String("PathPrefix")) && (x.Attached > 0 || !c.Params.Bool("OnlyAttached")) {
			found = append(found, x)
		}
	}
	page, marker, err := iamPaged(c, found, func(x policyXML) string { return x.ARN })
	if err != nil {
		return nil, err
	}
	return struct {
		More     bool        `xml:"IsTruncated"`
		Marker   string      `xml:"Marker,omitempty"`
		Policies []policyXML `xml:"Policies>member"`
	}{marker != "", marker, page}, nil
}

// listPolicyVersions knows one version of each: v1.
func listPolicyVersions(c *call) (any, error) {
	p, err := c.server.Policy(c.Params.String("PolicyArn"))
	if err != nil {
		return nil, err
	}
	v := versionOf(p)
	v.Document = "" // which GetPolicyVersion alone tells
	return struct {
		More     bool               `xml:"IsTruncated"`
		Versions []policyVersionXML `xml:"Versions>member"`
	}{false, []policyVersionXML{v}}, nil
}

// listEntitiesForPolicy lists roles: there are no users and groups.
func listEntitiesForPolicy(c *call) (any, error) {
	arn := c.Params.String("PolicyArn")
	if _, err := c.server.Policy(arn); err != nil {
		return nil, err
	}
	type entityXML struct {
		Name string `xml:"RoleName"`
		ID   string `xml:"RoleId"`
	}
	var answer struct {
		More  bool        `xml:"IsTruncated"`
		Roles []entityXML `xml:"PolicyRoles>member"`
	}
	for _, name := range slices.Sorted(maps.Keys(c.server.Roles)) {
		r := c.server.Roles[name]
		if slices.ContainsFunc(r.Policies, func(have string) bool { return identity.AttachedARN(have) == arn }) {
			answer.Roles = append(answer.Roles, entityXML{r.Name, r.ID})
		}
	}
	return answer, nil
}

func listRoleTags(c *call) (any, error) {
	r, err := c.role()
	if err != nil {
		return nil, err
	}
	return struct {
		More bool     `xml:"IsTruncated"`
		Tags []iamTag `xml:"Tags>member"`
	}{Tags: iamTags(r.Tags)}, nil
}

func tagRole(c *call) (any, error) {
	r, err := c.role()
	if err != nil {
		return nil, err
	}
	return nil, c.addTags(&r.Tags)
}

// addTags adds the tags of a request to those of an entity.
func (c *call) addTags(to *world.Tags) error {
	t, err := world.ReadTags(c.Params.List("Tags"))
	if err != nil {
		return identity.IAMTagError(err)
	}
	joined := to.WithAll(t)
	if joined.Count() > world.TagsMax {
		return wire.Errorf("LimitExceeded", "The number of tags has reached the maximum limit.").WithStatus(http.StatusConflict)
	}
	*to = joined
	return nil
}

func untagRole(c *call) (any, error) {
	r, err := c.role()
	if err != nil {
		return nil, err
	}
	c.removeTags(&r.Tags)
	return nil, nil
}

func untagInstanceProfile(c *call) (any, error) {
	p, err := c.profile()
	if err != nil {
		return nil, err
	}
	c.removeTags(&p.Tags)
	return nil, nil
}

// removeTags removes the tags whose keys a request names.
func (c *call) removeTags(from *world.Tags) {
	for _, key := range c.Params.Strings("TagKeys") {
		*from = from.Without(key)
	}
}

func updateAssumeRolePolicy(c *call) (any, error) {
	r, err := c.role()
	if err != nil {
		return nil, err
	}
	document := c.Params.String("PolicyDocument")
	if err := identity.CheckTrust(document); err != nil {
		return nil, err
	}
	r.Trust = document
	return nil, nil
}
