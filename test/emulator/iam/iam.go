package iam

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/identity"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

type roleXML struct {
	Path        string    `xml:"Path"`
	Name        string    `xml:"RoleName"`
	ID          string    `xml:"RoleId"`
	ARN         string    `xml:"Arn"`
	CreatedAt   time.Time `xml:"CreateDate"`
	Trust       string    `xml:"AssumeRolePolicyDocument"`
	Description string    `xml:"Description,omitempty"`
	Session     int       `xml:"MaxSessionDuration"`
	Tags        []iamTag  `xml:"Tags>member"`
}

type profileXML struct {
	Path      string    `xml:"Path"`
	Name      string    `xml:"InstanceProfileName"`
	ID        string    `xml:"InstanceProfileId"`
	ARN       string    `xml:"Arn"`
	CreatedAt time.Time `xml:"CreateDate"`
	Roles     []roleXML `xml:"Roles>member"`
	Tags      []iamTag  `xml:"Tags>member"`
}

// iamTag is a tag as IAM writes it.
type iamTag struct {
	Key   string `xml:"Key"`
	Value string `xml:"Value"`
}

func iamTags(t world.Tags) []iamTag {
	var all []iamTag
	for _, a := range t {
		all = append(all, iamTag{a.Key, a.Value})
	}
	return all
}

func (s *IAM) roleAnswer(r *identity.Role) roleXML {
	return roleXML{
		Path: r.Path, Name: r.Name, ID: r.ID, ARN: s.RoleARN(r), CreatedAt: r.CreatedAt, Trust: escapedDocument(r.Trust),
		Description: r.Description, Session: int(r.SessionMost() / time.Second), Tags: iamTags(r.Tags),
	}
}

func (s *IAM) profileAnswer(p *identity.Profile) profileXML {
	x := profileXML{Path: p.Path, Name: p.Name, ID: p.ID, ARN: s.ProfileARN(p), CreatedAt: p.CreatedAt, Tags: iamTags(p.Tags)}
	if r := s.Roles[p.Role]; r != nil {
		x.Roles = []roleXML{s.roleAnswer(r)}
	}
	return x
}

func alreadyExists(kind, name string) error {
	return wire.Errorf("EntityAlreadyExists", "%s %s already exists.", kind, name).WithStatus(http.StatusConflict)
}

func (c *call) profile() (*identity.Profile, error) {
	name := c.Params.String("InstanceProfileName")
	p := c.server.Profiles[name]
	if p == nil {
		return nil, identity.NoSuchEntity("Instance Profile", name)
	}
	return p, nil
}

func (c *call) role() (*identity.Role, error) {
	name := c.Params.String("RoleName")
	r := c.server.Roles[name]
	if r == nil {
		return nil, identity.NoSuchEntity("The role with name", name)
	}
	return r, nil
}

var (
	iamName = regexp.MustCompile(`^[\w+=,.@-]{1,128}$`)
	iamPath = regexp.MustCompile(`^/([!-\x7E]*/)?$`)
)

// entityPath is the Path of a request, checked; its default is the root.
func (c *call) entityPath() (string, error) {
	if !c.Params.Has("Path") {
		return "/", nil
	}
	path := c.Params.String("Path")
	if !iamPath.MatchString(path) || len(path) > 512 {
		return "", wire.Errorf("ValidationError", "The specified value for path is invalid. It must begin and end with / and contain only alphanumeric characters and/or / characters.")
	}
	return path, nil
}

func checkIAMName(field, name string) error {
	if !iamName.MatchString(name) {
		return wire.Errorf("ValidationError", "The specified value for %s is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_-", field)
	}
	return nil
}

func getInstanceProfile(c *call) (any, error) {
	p, err := c.profile()
	if err != nil {
		return nil, err
	}
	return struct {
		Profile profileXML `xml:"InstanceProfile"`
	}{c.server.profileAnswer(p)}, nil
}

func createInstanceProfile(c *call) (any, error) {
	st, name := c.server, c.Params.String("InstanceProfileName")
	if err := checkIAMName("instanceProfileName", name); err != nil {
		return nil, err
	}
	path, err := c.entityPath()
	if err != nil {
		return nil, err
	}
	if st.Profiles[name] != nil {
		return nil, alreadyExists("Instance Profile", name)
	}
	t, err := world.ReadTags(c.Params.List("Tags"))
	if err != nil {
		return nil, identity.IAMTagError(err)
	}
	p := &identity.Profile{ID: st.Settings.UniqueID("AIPA", st.NewID(name)), Name: name, Path: path, CreatedAt: c.At, Tags: t}
	p.UsableAt = c.At.Add(c.server.ProfileLag())
	st.Profiles[name] = p
	return struct {
		Profile profileXML `xml:"InstanceProfile"`
	}{st.profileAnswer(p)}, nil
}

func deleteInstanceProfile(c *call) (any, error) {
	p, err := c.profile()
	if err != nil {
		return nil, err
	}
	if p.Role != "" {
		return nil, wire.Errorf("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.").WithStatus(http.StatusConflict)
	}
	delete(c.server.Profiles, p.Name)
	return nil, nil
}

func addRoleToInstanceProfile(c *call) (any, error) {
	p, err := c.profile()
	if err != nil {
		return nil, err
	}
	r, err := c.role()
	if err != nil {
		return nil, err
	}
	if p.Role != "" {
		return nil, wire.Errorf("LimitExceeded", "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1").WithStatus(http.StatusConflict)
	}
	p.Role = r.Name
	p.UsableAt = c.At.Add(c.server.ProfileLag())
	return nil, nil
}

func removeRoleFromInstanceProfile(c *call) (any, error) {
	p, err := c.profile()
	if err != nil {
		return nil, err
	}
	if name := c.Params.String("RoleName"); p.Role != name || name == "" {
		return nil, identity.NoSuchEntity("Role", name)
	}
	p.Role = ""
	return nil, nil
}

func tagInstanceProfile(c *call) (any, error) {
	p, err := c.profile()
	if err != nil {
		return nil, err
	}
	return nil, c.addTags(&p.Tags)
}

func listInstanceProfileTags(c *call) (any, error) {
	p, err := c.profile()
	if err != nil {
		return nil, err
	}
	return struct {
		More bool     `xml:"IsTruncated"`
		Tags []iamTag `xml:"Tags>member"`
	}{Tags: iamTags(p.Tags)}, nil
}

// listInstanceProfiles leaves tags out of its answer, as IAM does.
func listInstanceProfiles(c *call) (any, error) {
	prefix := c.Params.String("PathPrefix")
	return c.profilesAnswer(func(p *identity.Profile) bool { return strings.HasPrefix(p.Path, prefix) })
}

// iamPaged cuts a page as IAM does: Marker and MaxItems, 100 unless asked.
func iamPaged[T any](c *call, items []T, key func(T) string) ([]T, string, error) {
	size, err := c.Params.Int("MaxItems", 100)
	if err != nil || size < 1 || size > 1000 {
		return nil, "", wire.Errorf("ValidationError", "Value for maxItems must be between 1 and 1000")
	}
	if marker := c.Params.String("Marker"); marker != "" {
		after, err := world.ReadPageToken(c.Action, marker)
		if err != nil {
			return nil, "", wire.Errorf("ValidationError", "Invalid Marker: %s", marker)
		}
		items = slices.DeleteFunc(slices.Clone(items), func(item T) bool { return key(item) <= after })
	}
	if len(items) <= size {
		return items, "", nil
	}
	return items[:size], world.PageToken(c.Action, key(items[size-1])), nil
}

func getRole(c *call) (any, error) {
	r, err := c.role()
	if err != nil {
		return nil, err
	}
	return struct {
		Role roleXML `xml:"Role"`
	}{c.server.roleAnswer(r)}, nil
}

func createRole(c *call) (any, error) {
	st, name := c.server, c.Params.String("RoleName")
	if err := checkIAMName("roleName", name); err != nil {
		return nil, err
	}
	path, err := c.entityPath()
	if err != nil {
		return nil, err
	}
	if st.Roles[name] != nil {
		return nil, alreadyExists("Role with name", name)
	}
	trust := c.Params.String("AssumeRolePolicyDocument")
	if err := identity.CheckTrust(trust); err != nil {
		return nil, err
	}
	length, err := c.Params.Int("MaxSessionDuration", int(identity.SessionDefault/time.Second))
	if most := int(identity.SessionMost / time.Second); err != nil || length < int(identity.SessionDefault/time.Second) || length > most {
		return nil, wire.Errorf("ValidationError", "1 validation error detected: Value '%s' at 'maxSessionDuration' failed to satisfy constraint: Member must have value between 3600 and %d",
			c.Params.String("MaxSessionDuration"), most)
	}
	t, err := world.ReadTags(c.Params.List("Tags"))
	if err != nil {
		return nil, identity.IAMTagError(err)
	}
	r := &identity.Role{
		ID: st.Settings.UniqueID("AROA", st.NewID(name)), Name: name, Path: path, Description: c.Params.String("Description"),
		Trust: trust, SessionSeconds: length, CreatedAt: c.At, Tags: t,
	}
	st.Roles[name] = r
	return struct {
		Role roleXML `xml:"Role"`
	}{st.roleAnswer(r)}, nil
}

// createServiceLinkedRole makes the role for spot instances, the only one that launches need.
func createServiceLinkedRole(c *call) (any, error) {
	st := c.server
	if name := c.Params.String("AWSServiceName"); name != "spot.amazonaws.com" {
		return nil, wire.Errorf("InvalidInput", "The emulator has the service-linked role of spot.amazonaws.com alone, not that of %s", name)
	}
	if st.Roles[identity.SpotRole] != nil {
		return nil, wire.Errorf("InvalidInput", "Service role name %s has been taken in this account, please try a different suffix.", identity.SpotRole)
	}
	roles, _ := identity.NewRoles(st.Settings, c.At)
	st.Roles[identity.SpotRole] = roles[identity.SpotRole]
	return struct {
		Role roleXML `xml:"Role"`
	}{st.roleAnswer(st.Roles[identity.SpotRole])}, nil
}

// deleteServiceLinkedRole deletes it at once; AWS makes a task of it.
func deleteServiceLinkedRole(c *call) (any, error) {
	r, err := c.role()
	if err != nil {
		return nil, err
	}
	if r.Name != identity.SpotRole {
		return nil, wire.Errorf("InvalidInput", "%s is no service-linked role", r.Name)
	}
	delete(c.server.Roles, identity.SpotRole)
	return struct {
		Task string `xml:"DeletionTaskId"`
	}{"task/aws-service-role/spot.amazonaws.com/" + identity.SpotRole}, nil
}

func deleteRole(c *call) (any, error) {
	r, err := c.role()
	if err != nil {
		return nil, err
	}
	for _, p := range c.server.Profiles {
		if p.Role == r.Name {
			return nil, wire.Errorf("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.").WithStatus(http.StatusConflict)
		}
	}
	if len(r.Policies)+len(r.Inline) > 0 {
		return nil, wire.Errorf("DeleteConflict", "Cannot delete entity, must detach all policies first.").WithStatus(http.StatusConflict)
	}
	delete(c.server.Roles, r.Name)
	return nil, nil
}

func listRoles(c *call) (any, error) {
	st, prefix := c.server, c.Params.String("PathPrefix")
	var found []*identity.Role
	for _, r := range st.Roles {
		if strings.HasPrefix(r.Path, prefix) {
			found = append(found, r)
		}
	}
	page, marker, err := iamPaged(c, world.ByKey(found, func(r *identity.Role) string { return r.Name }), func(r *identity.Role) string { return r.Name })
	if err != nil {
		return nil, err
	}
	var answer struct {
		More   bool      `xml:"IsTruncated"`
		Marker string    `xml:"Marker,omitempty"`
		Roles  []roleXML `xml:"Roles>member"`
	}
	for _, r := range page {
		x := st.roleAnswer(r)
		x.Tags = nil
		answer.Roles = append(answer.Roles, x)
	}
	answer.More, answer.Marker = marker != "", marker
	return answer, nil
}

func listAttachedRolePolicies(c *call) (any, error) {
	r, err := c.role()
	if err != nil {
		return nil, err
	}
	type attachedXML struct {
		Name string `xml:"PolicyName"`
		ARN  string `xml:"PolicyArn"`
	}
	var answer struct {
		More     bool          `xml:"IsTruncated"`
		Policies []attachedXML `xml:"AttachedPolicies>member"`
	}
	for _, name := range r.Policies {
		arn := identity.AttachedARN(name)
		answer.Policies = append(answer.Policies, attachedXML{arn[strings.LastIndex(arn, "/")+1:], arn})
	}
	return answer, nil
}
