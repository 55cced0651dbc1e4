package template

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// Template is one launch template with its versions, oldest first. Fleets and
// RunInstances do not find it before UsableAt.
type Template struct {
	ID, Name  string
	CreatedAt time.Time
	UsableAt  time.Time
	Default   int
	Versions  []TemplateVersion
	Tags      world.Tags
}

// TemplateVersion is one version; numbers begin at 1.
type TemplateVersion struct {
	Number      int
	Description string
	CreatedAt   time.Time
	Data        LaunchData
}

// creator is who the account's templates were made by.
func (s *Store) creator() string {
	return s.Settings.ARN("sts", "", "assumed-role/"+s.Settings.ClusterName+"-karpenter/session")
}

type templateXML struct {
	CreatedBy string     `xml:"createdBy"`
	CreatedAt time.Time  `xml:"createTime"`
	Default   int        `xml:"defaultVersionNumber"`
	Latest    int        `xml:"latestVersionNumber"`
	ID        string     `xml:"launchTemplateId"`
	Name      string     `xml:"launchTemplateName"`
	Tags      world.Tags `xml:"tagSet>item"`
}

func (s *Store) templateAnswer(t *Template) templateXML {
	return templateXML{
		CreatedBy: s.creator(), CreatedAt: t.CreatedAt.Truncate(time.Second), Default: t.Default,
		Latest: t.Versions[len(t.Versions)-1].Number, ID: t.ID, Name: t.Name, Tags: t.Tags,
	}
}

func (s *Store) sortedTemplates() []*Template {
	var all []*Template
	for _, t := range s.Templates {
		all = append(all, t)
	}
	return world.ByKey(all, func(t *Template) string { return t.ID })
}

func (s *Store) templateNamed(name string) *Template {
	for _, t := range s.Templates {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// TemplateOf finds the template that a request names by ID or by name.
func (s *Store) TemplateOf(id, name string) (*Template, error) {
	switch {
	case id != "" && name != "":
		return nil, wire.Errorf("InvalidParameterCombination", "Either the launch template ID or the launch template name must be specified, not both.")
	case id == "" && name == "":
		return nil, wire.Errorf("MissingParameter", "Either the launch template ID or the launch template name must be specified.")
	case id != "":
		if t := s.Templates[id]; t != nil {
			return t, nil
		}
		return nil, wire.Errorf("InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID %s, does not exist.", id)
	}
	if t := s.templateNamed(name); t != nil {
		return t, nil
	}
	return nil, wire.Errorf("InvalidLaunchTemplateName.NotFoundException", "The specified launch template, with template name %s, does not exist.", name)
}

// UsableTemplate is templateOf for a launch: a template that was made a moment
// ago is not there yet.
func (s *Store) UsableTemplate(id, name, version string, now time.Time) (*Template, TemplateVersion, error) {
	t, err := s.TemplateOf(id, name)
	if err != nil {
		return nil, TemplateVersion{}, err
	}
	if t.UsableAt.After(now) {
		if id != "" {
			return nil, TemplateVersion{}, wire.Errorf("InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID %s, does not exist.", id)
		}
		return nil, TemplateVersion{}, wire.Errorf("InvalidLaunchTemplateName.NotFoundException", "The specified launch template, with template name %s, does not exist.", name)
	}
	v, err := t.version(version)
	return t, v, err
}

// version resolves a number, $Latest or $Default; an empty one is the default.
func (t *Template) version(text string) (TemplateVersion, error) {
	number, err := strconv.Atoi(text)
	switch {
	case text == "" || text == "$Default":
		number = t.Default
	case text == "$Latest":
		number = t.Versions[len(t.Versions)-1].Number
	case err != nil:
		return TemplateVersion{}, wire.Errorf("InvalidParameterValue", "Invalid value '%s' for version", text)
	}
	for _, v := range t.Versions {
		if v.Number == number {
			return v, nil
		}
	}
	return TemplateVersion{}, wire.Errorf("InvalidLaunchTemplateId.VersionNotFound", "Could not find launch template version %s for launch template %s", text, t.ID)
}

func createLaunchTemplate(c *call) (any, error) {
	made, err := world.Once(c.Call, func() (templateXML, error) { return c.server.makeTemplate(c) })
	if err != nil {
		return nil, err
	}
	return struct {
		Template templateXML `xml:"launchTemplate"`
	}{made}, nil
}

func (s *Store) makeTemplate(c *call) (templateXML, error) {
	name, none := c.Params.String("LaunchTemplateName"), templateXML{}
	if len(name) < 3 || len(name) > 128 {
		return none, wire.Errorf("InvalidLaunchTemplateName.MalformedException", "The launch template name '%s' must be between 3 and 128 characters", name)
	}
	if !c.Params.Has("LaunchTemplateData") {
		return none, wire.Errorf("MissingParameter", "The request must contain the parameter LaunchTemplateData")
	}
	data, err := ReadLaunchData(c.Params.At("LaunchTemplateData"))
	if err != nil {
		return none, err
	}
	if err := data.Check(); err != nil {
		return none, err
	}
	specs, err := world.ReadTagSpecifications(c.Params)
	if err != nil {
		return none, err
	}
	if s.templateNamed(name) != nil {
		return none, wire.Errorf("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.")
	}
	if err := c.Commit(); err != nil {
		return none, err
	}
	t := &Template{
		ID: s.NewID("lt"), Name: name, CreatedAt: c.At, UsableAt: c.At.Add(s.TemplateLag()), Default: 1, Tags: world.TagsFor(specs, "launch-template"),
		Versions: []TemplateVersion{{Number: 1, Description: c.Params.String("VersionDescription"), CreatedAt: c.At, Data: data}},
	}
	s.Templates[t.ID] = t
	return s.templateAnswer(t), nil
}

func deleteLaunchTemplate(c *call) (any, error) {
	st := c.server
	t, err := c.namedTemplate()
	if err != nil {
		return nil, err
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	answer := st.templateAnswer(t)
	delete(st.Templates, t.ID)
	return struct {
		Template templateXML `xml:"launchTemplate"`
	}{answer}, nil
}

func describeLaunchTemplates(c *call) (any, error) {
	st := c.server
	byID := func(t *Template) string { return t.ID }
	chosen, err := world.ChosenByID(c.Params.Strings("LaunchTemplateId"), st.sortedTemplates(), byID,
		"InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID %s, does not exist.")
	if err != nil {
		return nil, err
	}
	chosen, err = world.ChosenByID(c.Params.Strings("LaunchTemplateName"), chosen, func(t *Template) string { return t.Name },
		"InvalidLaunchTemplateName.NotFoundException", "At least one of the launch templates specified in the request does not exist: %s")
	if err != nil {
		return nil, err
	}
	page, next, err := world.List[*Template]{
		Fields: world.Fields[*Template]{
			"create-time":          world.One(func(t *Template) string { return world.ImageTime(t.CreatedAt) }),
			"launch-template-name": world.One(func(t *Template) string { return t.Name }),
		},
		Tags:   func(t *Template) world.Tags { return t.Tags.Searchable(c.At) },
		Limits: world.PageLimits{Least: 1, Most: 200, Unasked: 200},
		Key:    byID,
	}.Page(c.Call, chosen)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Templates []templateXML `xml:"launchTemplates>item"`
		Next      string        `xml:"nextToken,omitempty"`
	}
	for _, t := range page {
		answer.Templates = append(answer.Templates, st.templateAnswer(t))
	}
	answer.Next = next
	return answer, nil
}

type versionXML struct {
	CreatedBy   string     `xml:"createdBy"`
	CreatedAt   time.Time  `xml:"createTime"`
	Default     bool       `xml:"defaultVersion"`
	Data        LaunchData `xml:"launchTemplateData"`
	ID          string     `xml:"launchTemplateId"`
	Name        string     `xml:"launchTemplateName"`
	Description string     `xml:"versionDescription,omitempty"`
	Number      int        `xml:"versionNumber"`
}

func describeLaunchTemplateVersions(c *call) (any, error) {
	st := c.server
	chosen, err := versionsAsked(c)
	if err != nil {
		return nil, err
	}
	page, next, err := world.List[numbered]{
		Fields: versionFields(),
		Limits: world.PageLimits{Least: 1, Most: 200, Unasked: 200},
		Key: func(v numbered) string {
			return v.of.ID + "/" + strconv.Itoa(1_000_000_000-v.Number) // newest first
		},
	}.Page(c.Call, chosen)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Versions []versionXML `xml:"launchTemplateVersionSet>item"`
		Next     string       `xml:"nextToken,omitempty"`
	}
	for _, v := range page {
		answer.Versions = append(answer.Versions, st.versionAnswer(v))
	}
	answer.Next = next
	return answer, nil
}

func (s *Store) versionAnswer(v numbered) versionXML {
	return versionXML{
		CreatedBy: s.creator(), CreatedAt: v.CreatedAt.Truncate(time.Second), Default: v.Number == v.of.Default, Data: v.Data,
		ID: v.of.ID, Name: v.of.Name, Description: v.Description, Number: v.Number,
	}
}

// numbered is a version with its template.
type numbered struct {
	TemplateVersion
	of *Template
}

// versionsAsked returns versions newest first: those named of one template, or
// the newest or default ones of all templates.
func versionsAsked(c *call) ([]numbered, error) {
	st, asked := c.server, c.Params.Strings("LaunchTemplateVersion")
	id, name := c.Params.String("LaunchTemplateId"), c.Params.String("LaunchTemplateName")
	if id == "" && name == "" {
		return versionsOfAll(st, asked)
	}
	t, err := st.TemplateOf(id, name)
	if err != nil {
		return nil, err
	}
	var all []numbered
	for _, text := range asked {
		v, err := t.version(text)
		if err != nil {
			return nil, err
		}
		all = append(all, numbered{v, t})
	}
	if len(asked) == 0 {
		for _, v := range slices.Backward(t.Versions) {
			all = append(all, numbered{v, t})
		}
	}
	return all, nil
}

func versionsOfAll(st *Store, asked []string) ([]numbered, error) {
	if len(asked) == 0 {
		return nil, wire.Errorf("MissingParameter", "Either the launch template ID or the launch template name must be specified.")
	}
	var all []numbered
	for _, t := range st.sortedTemplates() {
		for _, text := range asked {
			if text != "$Latest" && text != "$Default" {
				return nil, wire.Errorf("InvalidParameterValue", "Version numbers need a launch template; valid without one are $Latest and $Default").WithStatus(http.StatusBadRequest)
			}
			v, err := t.version(text)
			if err != nil {
				return nil, err
			}
			all = append(all, numbered{v, t})
		}
	}
	return all, nil
}

func versionFields() world.Fields[numbered] {
	return world.Fields[numbered]{
		"image-id":             world.One(func(v numbered) string { return v.Data.ImageID }),
		"instance-type":        world.One(func(v numbered) string { return v.Data.InstanceType }),
		"is-default-version":   world.One(func(v numbered) string { return world.BoolText(v.Number == v.of.Default) }),
		"create-time":          world.One(func(v numbered) string { return world.ImageTime(v.CreatedAt) }),
		"iam-instance-profile": func(v numbered) []string { return v.Data.Profile.names() },
		"ebs-optimized":        world.One(func(v numbered) string { return world.BoolText(v.Data.EBSOptimized != nil && *v.Data.EBSOptimized) }),
		"http-endpoint":        world.One(func(v numbered) string { return MetadataAnswer(v.Data.Metadata).Endpoint }),
		"http-tokens":          world.One(func(v numbered) string { return MetadataAnswer(v.Data.Metadata).Tokens }),
		"network-card-index": func(v numbered) (all []string) {
			for _, i := range v.Data.Interfaces {
				all = append(all, strconv.Itoa(i.Card))
			}
			return all
		},
	}.Lacking("host-resource-group-arn", "http-protocol-ipv4", "kernel-id", "license-configuration-arn", "ram-disk-id")
}

func (p *profileRef) names() []string {
	if p == nil {
		return nil
	}
	return []string{p.ARN, p.Name}
}
