package emulator

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
)

// role is one IAM role.
type role struct {
	ID, Name, Path, Description string
	Trust                       string            // policy document
	SessionSeconds              int               // how long it may be assumed for; 0: an hour
	Policies                    []string          // attached: names of AWS's own, ARNs of the account's
	Inline                      map[string]string // documents by name
	CreatedAt                   time.Time
	Tags                        tags
}

// profile is one instance profile. EC2 does not know a new profile, or a new
// role in it, before UsableAt.
type profile struct {
	ID, Name, Path string
	Role           string
	CreatedAt      time.Time
	UsableAt       time.Time
	Tags           tags
}

// spotRole is the role with which EC2 launches spot instances.
const spotRole = "AWSServiceRoleForEC2Spot"

const ec2Trust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`

// newRoles makes the roles and the instance profile of the guides.
func newRoles(a Account, now time.Time) (map[string]*role, map[string]*profile) {
	node := "KarpenterNodeRole-" + a.ClusterName
	roles := map[string]*role{}
	for _, r := range []role{
		{Name: node, Path: "/", Trust: ec2Trust, Policies: []string{
			"AmazonEKS_CNI_Policy", "AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly", "AmazonSSMManagedInstanceCore",
		}},
		{Name: a.controllerRole(), Path: "/", Description: "rights of the autoscaler's controller", Trust: controllerTrust(a)},
		{Name: spotRole, Path: "/aws-service-role/spot.amazonaws.com/",
			Trust: strings.ReplaceAll(ec2Trust, "ec2.amazonaws.com", "spot.amazonaws.com")},
	} {
		r.ID, r.CreatedAt = a.uniqueID("AROA", r.Name), now
		roles[r.Name] = &r
	}
	name := "KarpenterNodeInstanceProfile-" + a.ClusterName
	return roles, map[string]*profile{name: {
		ID: a.uniqueID("AIPA", name), Name: name, Path: "/", Role: node, CreatedAt: now, UsableAt: now,
	}}
}

// uniqueID is an identifier as IAM makes them: AIPA and AROA with capitals.
func (a Account) uniqueID(prefix, name string) string {
	_, hex, _ := strings.Cut(a.stableID(prefix, name), "-")
	return prefix + strings.ToUpper(hex)
}

func (s *state) roleARN(r *role) string {
	return fmt.Sprintf("arn:aws:iam::%s:role%s%s", s.Account.ID, r.Path, r.Name)
}

func (s *state) profileARN(p *profile) string {
	return fmt.Sprintf("arn:aws:iam::%s:instance-profile%s%s", s.Account.ID, p.Path, p.Name)
}

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

func iamTags(t tags) []iamTag {
	var all []iamTag
	for _, a := range t {
		all = append(all, iamTag{a.Key, a.Value})
	}
	return all
}

func (s *state) roleAnswer(r *role) roleXML {
	return roleXML{
		Path: r.Path, Name: r.Name, ID: r.ID, ARN: s.roleARN(r), CreatedAt: r.CreatedAt, Trust: escapedDocument(r.Trust),
		Description: r.Description, Session: int(r.sessionMost() / time.Second), Tags: iamTags(r.Tags),
	}
}

func (s *state) profileAnswer(p *profile) profileXML {
	x := profileXML{Path: p.Path, Name: p.Name, ID: p.ID, ARN: s.profileARN(p), CreatedAt: p.CreatedAt, Tags: iamTags(p.Tags)}
	if r := s.Roles[p.Role]; r != nil {
		x.Roles = []roleXML{s.roleAnswer(r)}
	}
	return x
}

func noSuchEntity(kind, name string) error {
	return wire.Errorf("NoSuchEntity", "%s %s cannot be found.", kind, name).WithStatus(http.StatusNotFound)
}

func alreadyExists(kind, name string) error {
	return wire.Errorf("EntityAlreadyExists", "%s %s already exists.", kind, name).WithStatus(http.StatusConflict)
}

func (c *call) profile() (*profile, error) {
	name := c.params.String("InstanceProfileName")
	p := c.state().Profiles[name]
	if p == nil {
		return nil, noSuchEntity("Instance Profile", name)
	}
	return p, nil
}

func (c *call) role() (*role, error) {
	name := c.params.String("RoleName")
	r := c.state().Roles[name]
	if r == nil {
		return nil, noSuchEntity("The role with name", name)
	}
	return r, nil
}

var (
	iamName = regexp.MustCompile(`^[\w+=,.@-]{1,128}$`)
	iamPath = regexp.MustCompile(`^/([!-\x7E]*/)?$`)
)

// entityPath is the Path of a request, checked; its default is the root.
func (c *call) entityPath() (string, error) {
	if !c.params.Has("Path") {
		return "/", nil
	}
	path := c.params.String("Path")
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
	}{c.state().profileAnswer(p)}, nil
}

func createInstanceProfile(c *call) (any, error) {
	st, name := c.state(), c.params.String("InstanceProfileName")
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
	t, err := readTags(c.params.List("Tags"))
	if err != nil {
		return nil, iamTagError(err)
	}
	p := &profile{ID: st.Account.uniqueID("AIPA", st.newID(name)), Name: name, Path: path, CreatedAt: c.now, Tags: t}
	p.UsableAt = c.now.Add(c.server.profileLag())
	st.Profiles[name] = p
	return struct {
		Profile profileXML `xml:"InstanceProfile"`
	}{st.profileAnswer(p)}, nil
}

// iamTagError puts a tag error into IAM's own codes.
func iamTagError(err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return wire.Errorf("InvalidInput", "%s", e.Message)
	}
	return err
}

func deleteInstanceProfile(c *call) (any, error) {
	p, err := c.profile()
	if err != nil {
		return nil, err
	}
	if p.Role != "" {
		return nil, wire.Errorf("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.").WithStatus(http.StatusConflict)
	}
	delete(c.state().Profiles, p.Name)
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
	p.UsableAt = c.now.Add(c.server.profileLag())
	return nil, nil
}

func removeRoleFromInstanceProfile(c *call) (any, error) {
	p, err := c.profile()
	if err != nil {
		return nil, err
	}
	if name := c.params.String("RoleName"); p.Role != name || name == "" {
		return nil, noSuchEntity("Role", name)
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
	prefix := c.params.String("PathPrefix")
	return c.profilesAnswer(func(p *profile) bool { return strings.HasPrefix(p.Path, prefix) })
}

// iamPaged cuts a page as IAM does: Marker and MaxItems, 100 unless asked.
func iamPaged[T any](c *call, items []T, key func(T) string) ([]T, string, error) {
	size, err := c.params.Int("MaxItems", 100)
	if err != nil || size < 1 || size > 1000 {
		return nil, "", wire.Errorf("ValidationError", "Value for maxItems must be between 1 and 1000")
	}
	if marker := c.params.String("Marker"); marker != "" {
		after, err := readPageToken(c.action, marker)
		if err != nil {
			return nil, "", wire.Errorf("ValidationError", "Invalid Marker: %s", marker)
		}
		items = slices.DeleteFunc(slices.Clone(items), func(item T) bool { return key(item) <= after })
	}
	if len(items) <= size {
		return items, "", nil
	}
	return items[:size], pageToken(c.action, key(items[size-1])), nil
}

func getRole(c *call) (any, error) {
	r, err := c.role()
	if err != nil {
		return nil, err
	}
	return struct {
		Role roleXML `xml:"Role"`
	}{c.state().roleAnswer(r)}, nil
}

func createRole(c *call) (any, error) {
	st, name := c.state(), c.params.String("RoleName")
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
	trust := c.params.String("AssumeRolePolicyDocument")
	if err := checkTrust(trust); err != nil {
		return nil, err
	}
	length, err := c.params.Int("MaxSessionDuration", int(sessionDefault/time.Second))
	if most := int(sessionMost / time.Second); err != nil || length < int(sessionDefault/time.Second) || length > most {
		return nil, wire.Errorf("ValidationError", "1 validation error detected: Value '%s' at 'maxSessionDuration' failed to satisfy constraint: Member must have value between 3600 and %d",
			c.params.String("MaxSessionDuration"), most)
	}
	t, err := readTags(c.params.List("Tags"))
	if err != nil {
		return nil, iamTagError(err)
	}
	r := &role{
		ID: st.Account.uniqueID("AROA", st.newID(name)), Name: name, Path: path, Description: c.params.String("Description"),
		Trust: trust, SessionSeconds: length, CreatedAt: c.now, Tags: t,
	}
	st.Roles[name] = r
	return struct {
		Role roleXML `xml:"Role"`
	}{st.roleAnswer(r)}, nil
}

// createServiceLinkedRole makes the role for spot instances, the only one that launches need.
func createServiceLinkedRole(c *call) (any, error) {
	st := c.state()
	if name := c.params.String("AWSServiceName"); name != "spot.amazonaws.com" {
		return nil, wire.Errorf("InvalidInput", "The emulator has the service-linked role of spot.amazonaws.com alone, not that of %s", name)
	}
	if st.Roles[spotRole] != nil {
		return nil, wire.Errorf("InvalidInput", "Service role name %s has been taken in this account, please try a different suffix.", spotRole)
	}
	roles, _ := newRoles(st.Account, c.now)
	st.Roles[spotRole] = roles[spotRole]
	return struct {
		Role roleXML `xml:"Role"`
	}{st.roleAnswer(st.Roles[spotRole])}, nil
}

// deleteServiceLinkedRole deletes it at once; AWS makes a task of it.
func deleteServiceLinkedRole(c *call) (any, error) {
	r, err := c.role()
	if err != nil {
		return nil, err
	}
	if r.Name != spotRole {
		return nil, wire.Errorf("InvalidInput", "%s is no service-linked role", r.Name)
	}
	delete(c.state().Roles, spotRole)
	return struct {
		Task string `xml:"DeletionTaskId"`
	}{"task/aws-service-role/spot.amazonaws.com/" + spotRole}, nil
}

func deleteRole(c *call) (any, error) {
	r, err := c.role()
	if err != nil {
		return nil, err
	}
	for _, p := range c.state().Profiles {
		if p.Role == r.Name {
			return nil, wire.Errorf("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.").WithStatus(http.StatusConflict)
		}
	}
	if len(r.Policies)+len(r.Inline) > 0 {
		return nil, wire.Errorf("DeleteConflict", "Cannot delete entity, must detach all policies first.").WithStatus(http.StatusConflict)
	}
	delete(c.state().Roles, r.Name)
	return nil, nil
}

func listRoles(c *call) (any, error) {
	st, prefix := c.state(), c.params.String("PathPrefix")
	var found []*role
	for _, r := range st.Roles {
		if strings.HasPrefix(r.Path, prefix) {
			found = append(found, r)
		}
	}
	page, marker, err := iamPaged(c, byKey(found, func(r *role) string { return r.Name }), func(r *role) string { return r.Name })
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
		arn := attachedARN(name)
		answer.Policies = append(answer.Policies, attachedXML{arn[strings.LastIndex(arn, "/")+1:], arn})
	}
	return answer, nil
}
