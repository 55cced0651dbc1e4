package emulator

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
)

// parameter is one SSM parameter. AWS's own are public strings.
type parameter struct {
	Value   string
	At      time.Time
	Own     bool   `json:",omitempty"` // the account's
	Kind    string `json:",omitempty"` // String where empty
	Data    string `json:",omitempty"` // text where empty
	Version int    `json:",omitempty"` // 1 where 0

	Before []pastValue `json:",omitempty"` // of the versions before it, oldest first
}

// pastValue is a value that a parameter had.
type pastValue struct {
	Value string
	At    time.Time
}

// next is the parameter with another value, which makes another version of it.
func (p parameter) next(value string, at time.Time) parameter {
	if p.Value == "" {
		p.Value, p.At, p.Version = value, at, 1
		return p
	}
	p.Before = append(slices.Clone(p.Before), pastValue{p.Value, p.At})
	p.Before = p.Before[max(0, len(p.Before)+1-versionsKept):]
	p.Value, p.At, p.Version = value, at, cmp.Or(p.Version, 1)+1
	return p
}

// version is the parameter as it was at a version of it; false where that is not kept.
func (p parameter) version(n int) (parameter, bool) {
	newest := cmp.Or(p.Version, 1)
	i := len(p.Before) - newest + n
	switch {
	case n == newest:
		return p, true
	case i < 0 || i >= len(p.Before):
		return parameter{}, false
	}
	p.Value, p.At, p.Version, p.Before = p.Before[i].Value, p.Before[i].At, n, nil
	return p, true
}

type parameterJSON struct {
	ARN              string `json:",omitempty"`
	DataType         string
	LastModifiedDate float64
	Name             string
	Selector         string `json:",omitempty"`
	Type             string
	Value            string
	Version          int
}

func (s *state) parameterAnswer(name string, p parameter) parameterJSON {
	owner := ""
	if p.Own {
		owner = s.Account.ID
	}
	return parameterJSON{
		ARN: "arn:aws:ssm:" + s.Account.Region + ":" + owner + ":parameter/" + strings.TrimPrefix(name, "/"), DataType: cmp.Or(p.Data, "text"),
		LastModifiedDate: seconds(p.At), Name: name, Type: cmp.Or(p.Kind, "String"), Value: p.Value, Version: cmp.Or(p.Version, 1),
	}
}

// parameterNamed finds a parameter by its name or ARN, and the version of it that is named behind a colon; 0: none is.
func (s *state) parameterNamed(asked string) (name string, p parameter, version int, err error) {
	name = asked
	if _, below, is := strings.Cut(name, ":parameter/"); is && strings.HasPrefix(name, "arn:") {
		name = "/" + below
		if bare, _, _ := strings.Cut(below, ":"); s.Parameters[bare].Own {
			name = below // ARNs leave it open whether a name begins with a slash
		}
	}
	name, chosen, versioned := strings.Cut(name, ":")
	p, there := s.Parameters[name]
	if !there && s.recallParameter(name) {
		p, there = s.Parameters[name]
	}
	if !there {
		return "", p, 0, wire.Errorf("ParameterNotFound", "Parameter %s not found.", asked)
	}
	if versioned {
		n, wrong := strconv.Atoi(chosen)
		then, kept := p.version(n)
		if wrong != nil || !kept {
			return "", p, 0, wire.Errorf("ParameterVersionNotFound", "Systems Manager could not find version %s of %s. Verify the version and try again.", chosen, name)
		}
		return name, then, n, nil
	}
	return name, p, 0, nil
}

// parameterAsked is the answer for a parameter that is asked for by name, ARN and perhaps version.
func (s *state) parameterAsked(asked string) (parameterJSON, error) {
	name, p, version, err := s.parameterNamed(asked)
	if err != nil {
		return parameterJSON{}, err
	}
	answer := s.parameterAnswer(name, p)
	if version > 0 {
		answer.Selector = ":" + strconv.Itoa(version)
	}
	return answer, nil
}

func getParameter(c *call) (any, error) {
	var in struct{ Name string }
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	found, err := c.state().parameterAsked(in.Name)
	if err != nil {
		return nil, err
	}
	return map[string]any{"Parameter": found}, nil
}

// Limits of SSM.
const (
	parametersPerCall = 10
	parametersPerPage = 10
	versionsPerPage   = 50
	versionsKept      = 100
)

func checkNames(names []string) error {
	if len(names) == 0 || len(names) > parametersPerCall {
		return wire.Errorf("ValidationException", "1 validation error detected: Value at 'names' failed to satisfy constraint: Member must have length between 1 and %d", parametersPerCall)
	}
	return nil
}

func getParameters(c *call) (any, error) {
	var in struct{ Names []string }
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if err := checkNames(in.Names); err != nil {
		return nil, err
	}
	found, invalid := []parameterJSON{}, []string{}
	for _, asked := range in.Names {
		one, err := c.state().parameterAsked(asked)
		if err != nil {
			invalid = append(invalid, asked)
			continue
		}
		found = append(found, one)
	}
	return map[string]any{"Parameters": found, "InvalidParameters": invalid}, nil
}

func getParametersByPath(c *call) (any, error) {
	var in struct {
		Path       string
		Recursive  bool
		MaxResults int
		NextToken  string
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(in.Path, "/") {
		return nil, wire.Errorf("ValidationException", "The parameter path must begin with '/'")
	}
	size := cmp.Or(in.MaxResults, parametersPerPage)
	if size < 1 || size > parametersPerPage {
		return nil, wire.Errorf("ValidationException", "MaxResults must be between 1 and %d", parametersPerPage)
	}
	after := ""
	if in.NextToken != "" {
		last, err := readPageToken(c.action, in.NextToken)
		if err != nil {
			return nil, wire.Errorf("InvalidNextToken", "The specified token isn't valid.")
		}
		after = last
	}
	found := []parameterJSON{}
	for _, name := range slices.Sorted(maps.Keys(c.state().Parameters)) {
		if name <= after || !below(name, in.Path, in.Recursive) {
			continue
		}
		if len(found) == size {
			return map[string]any{"Parameters": found, "NextToken": pageToken(c.action, found[size-1].Name)}, nil
		}
		found = append(found, c.state().parameterAnswer(name, c.state().Parameters[name]))
	}
	return map[string]any{"Parameters": found}, nil
}

// getParameterHistory tells the values that a parameter has had, oldest first.
func getParameterHistory(c *call) (any, error) {
	var in struct {
		Name       string
		MaxResults int
		NextToken  string
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	size := cmp.Or(in.MaxResults, versionsPerPage)
	if size < 1 || size > versionsPerPage {
		return nil, wire.Errorf("ValidationException", "MaxResults must be between 1 and %d", versionsPerPage)
	}
	name, p, version, err := c.state().parameterNamed(in.Name)
	if err != nil || version > 0 {
		return nil, wire.Errorf("ParameterNotFound", "Parameter %s not found.", in.Name)
	}
	newest := cmp.Or(p.Version, 1)
	next := newest - len(p.Before)
	if in.NextToken != "" {
		last, err := readPageToken(c.action, in.NextToken)
		if err != nil {
			return nil, wire.Errorf("InvalidNextToken", "The specified token isn't valid.")
		}
		if next, err = strconv.Atoi(last); err != nil {
			return nil, wire.Errorf("InvalidNextToken", "The specified token isn't valid.")
		}
	}
	type versionJSON struct {
		parameterJSON
		Labels []string
		Tier   string
		User   string `json:"LastModifiedUser"`
	}
	answer, found := map[string]any{}, []versionJSON{}
	for ; next <= newest && len(found) < size; next++ {
		if then, kept := p.version(next); kept {
			shown := c.state().parameterAnswer(name, then)
			shown.ARN = ""
			found = append(found, versionJSON{shown, []string{}, "Standard", c.state().Account.arn("iam", "", "root")})
		}
	}
	if answer["Parameters"] = found; next <= newest {
		answer["NextToken"] = pageToken(c.action, strconv.Itoa(next))
	}
	return answer, nil
}

func below(name, path string, recursive bool) bool {
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(path, "/")+"/")
	return ok && (recursive || !strings.Contains(rest, "/"))
}

// seconds is how JSON services write moments.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
