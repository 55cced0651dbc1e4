package emulator_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market/clock"
)

const (
	issuerName    = "oidc.eks.us-east-1.amazonaws.com/id/"
	controllerARN = "arn:aws:iam::123456789012:role/lab-karpenter"
)

// signer signs tokens of service accounts as an API server does.
type signer struct{ key *ecdsa.PrivateKey }

func newSigner(t *testing.T) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signer{key}
}

// file is the key as the API server's --service-account-signing-key-file has it.
func (s signer) file(t *testing.T) []byte {
	t.Helper()
	der, err := x509.MarshalECPrivateKey(s.key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
}

func (s signer) id(t *testing.T) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(s.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(der)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// as signs claims under a key ID.
func (s signer) as(t *testing.T, id string, claims map[string]any) string {
	t.Helper()
	with, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: s.key, KeyID: id}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.Signed(with).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// pods is an account with a cluster whose pods have tokens.
type pods struct {
	restricted
	signer signer
}

// openPods opens an account that lives by the clock of the SDK, and lets the test put it forward.
func openPods(t *testing.T) *pods {
	t.Helper()
	virtual := clock.NewVirtual(time.Now().UTC().Truncate(time.Second))
	a := open(t, noLags, func(o *world.Options) { o.Now = virtual.Now })
	a.Virtual = virtual
	p := &pods{restricted: controllerOf(a), signer: newSigner(t)}
	a.must(a.server.SetIssuerKeys(p.signer.file(t)))
	return p
}

// claims are those of a token of a service account for an audience, for an hour; change may be nil.
func (p *pods) claims(audience, account string, change func(map[string]any)) map[string]any {
	now := p.Now()
	c := map[string]any{
		"iss": p.server.Issuer(), "aud": []string{audience}, "sub": "system:serviceaccount:" + account,
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		"kubernetes.io": map[string]any{"namespace": "kube-system", "pod": map[string]string{"name": "karpenter-7d4b9c-x2x", "uid": "uid-1"}},
	}
	if change != nil {
		change(c)
	}
	return c
}

func (p *pods) token(t *testing.T, audience, account string, change func(map[string]any)) string {
	t.Helper()
	return p.signer.as(t, p.signer.id(t), p.claims(audience, account, change))
}

// environment is that of a pod, with nothing of the instance's that the SDK would look at. It makes its client of STS for
// web identities before it reads AWS_ENDPOINT_URL, hence the second variable.
func (p *pods) environment(t *testing.T, more map[string]string) aws.Config {
	t.Helper()
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"} {
		t.Setenv(name, "")
	}
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": *p.account.config.BaseEndpoint, "AWS_ENDPOINT_URL_STS": *p.account.config.BaseEndpoint, "AWS_REGION": "us-east-1", "AWS_MAX_ATTEMPTS": "1",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true"} {
		t.Setenv(name, value)
	}
	for name, value := range more {
		t.Setenv(name, value)
	}
	c, err := config.LoadDefaultConfig(t.Context(), config.WithAPIOptions(client.At("", "", client.Key{}).APIOptions))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func file(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// who is who STS says asks.
func who(c aws.Config) (string, error) {
	out, err := sts.NewFromConfig(c).GetCallerIdentity(context.Background(), &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", err
	}
	return *out.Arn, nil
}

// "Amazon EKS Pod Identity webhook" gives pods AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE; with these alone the SDK has the
// role, and what the role may do, also after a restart of the account.
func TestAPodHasItsRoleByIRSA(t *testing.T) {
	p := openPods(t)
	c := p.environment(t, map[string]string{"AWS_ROLE_ARN": controllerARN, "AWS_ROLE_SESSION_NAME": "pod-1",
		"AWS_WEB_IDENTITY_TOKEN_FILE": file(t, p.token(t, "sts.amazonaws.com", "kube-system:karpenter", nil))})
	const arn = "arn:aws:sts::123456789012:assumed-role/lab-karpenter/pod-1"
	if got, err := who(c); got != arn || err != nil {
		t.Fatalf("the pod is %q, %v; want %s", got, err, arn)
	}
	pod := restricted{account: p.account, config: c, ec2: ec2.NewFromConfig(c)}
	p.must(pod.launchTemplate("web"))
	if _, why := pod.launch("web"); why != "" {
		t.Errorf("it launches nothing: %s", why)
	}
	_, err := pod.ec2.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
	if code(err) != "UnauthorizedOperation" || !strings.Contains(err.Error(), "User: "+arn+" is not authorized to perform: ec2:DescribeVpcs") {
		t.Errorf("it reads what its role may not: %v", err)
	}

	held, err := c.Credentials.Retrieve(t.Context())
	p.must(err)
	if !strings.HasPrefix(held.AccessKeyID, "ASIA") || len(held.AccessKeyID) != 20 || len(held.SecretAccessKey) != 40 || held.Expires.Sub(p.Now()) != time.Hour {
		t.Errorf("credentials are %+v at %v; want a key ASIA... for an hour", held, p.Now())
	}
	kept, err := p.server.Export()
	p.must(err)
	p.must(p.server.Import(kept))
	if got, err := who(c); got != arn || err != nil {
		t.Errorf("after a restart the pod is %q, %v", got, err)
	}
}

// AWS's answers to tokens and roles that do not go together, one mistake each.
func TestWebIdentitiesAreRefused(t *testing.T) {
	p := openPods(t)
	const forSTS = "sts.amazonaws.com"
	account := func(name string) string { return p.token(t, forSTS, name, nil) }
	claiming := func(name string, value any) string {
		return p.token(t, forSTS, "kube-system:karpenter", func(c map[string]any) { c[name] = value })
	}
	right, other := account("kube-system:karpenter"), newSigner(t)
	short, long := int32(60), int32(7200)
	for name, tt := range map[string]struct {
		in   sts.AssumeRoleWithWebIdentityInput
		code string
		says string
	}{
		"all is right":            {sts.AssumeRoleWithWebIdentityInput{WebIdentityToken: &right}, "", ""},
		"no token":                {sts.AssumeRoleWithWebIdentityInput{WebIdentityToken: aws.String("none")}, "InvalidIdentityToken", "not a valid JWT"},
		"another issuer":          {sts.AssumeRoleWithWebIdentityInput{WebIdentityToken: aws.String(claiming("iss", "https://kubernetes.default.svc"))}, "InvalidIdentityToken", "No OpenIDConnect provider found in your account for https://kubernetes.default.svc"},
		"the issuer by http":      {sts.AssumeRoleWithWebIdentityInput{WebIdentityToken: aws.String(claiming("iss", strings.TrimPrefix(p.server.Issuer(), "https://")))}, "InvalidIdentityToken", "No OpenIDConnect provider found"},
		"a key that is unknown":   {sts.AssumeRoleWithWebIdentityInput{WebIdentityToken: aws.String(other.as(t, other.id(t), p.claims(forSTS, "kube-system:karpenter", nil)))}, "InvalidIdentityToken", "Couldn't retrieve verification key from your identity provider"},
		"another key's signature": {sts.AssumeRoleWithWebIdentityInput{WebIdentityToken: aws.String(other.as(t, p.signer.id(t), p.claims(forSTS, "kube-system:karpenter", nil)))}, "InvalidIdentityToken", "could not be validated by AWS"},
		"an expired token":        {sts.AssumeRoleWithWebIdentityInput{WebIdentityToken: aws.String(claiming("exp", p.Now().Unix()))}, "ExpiredTokenException", "Token expired: current date/time"},
		"a token for ever":        {sts.AssumeRoleWithWebIdentityInput{WebIdentityToken: aws.String(claiming("exp", nil))}, "InvalidIdentityToken", "could not be validated"},
		"a token of tomorrow":     {sts.AssumeRoleWithWebIdentityInput{WebIdentityToken: aws.String(claiming("iat", p.Now().Add(24*time.Hour).Unix()))}, "InvalidIdentityToken", "could not be validated"},
		"another audience":        {sts.AssumeRoleWithWebIdentityInput{WebIdentityToken: aws.String(claiming("aud", []string{"https://kubernetes.default.svc"}))}, "InvalidIdentityToken", "Incorrect token audience"},
		"another account":         {sts.AssumeRoleWithWebIdentityInput{WebIdentityToken: aws.String(account("default:karpenter"))}, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity"},
		"a role for machines":     {sts.AssumeRoleWithWebIdentityInput{WebIdentityToken: &right, RoleArn: aws.String("arn:aws:iam::123456789012:role/KarpenterNodeRole-lab")}, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity"},
		"a role that is none":     {sts.AssumeRoleWithWebIdentityInput{WebIdentityToken: &right, RoleArn: aws.String("arn:aws:iam::123456789012:role/none")}, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity"},
		"no ARN":                  {sts.AssumeRoleWithWebIdentityInput{WebIdentityToken: &right, RoleArn: aws.String("lab-karpenter-and-others")}, "ValidationError", "lab-karpenter-and-others is invalid"},
		"a minute":                {sts.AssumeRoleWithWebIdentityInput{WebIdentityToken: &right, DurationSeconds: &short}, "ValidationError", "greater than or equal to 900"},
		"more than the role has":  {sts.AssumeRoleWithWebIdentityInput{WebIdentityToken: &right, DurationSeconds: &long}, "ValidationError", "exceeds the MaxSessionDuration"},
		"a session of no name":    {sts.AssumeRoleWithWebIdentityInput{WebIdentityToken: &right, RoleSessionName: aws.String("a session")}, "ValidationError", "at 'roleSessionName'"},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.in.RoleArn == nil {
				tt.in.RoleArn = aws.String(controllerARN)
			}
			if tt.in.RoleSessionName == nil {
				tt.in.RoleSessionName = aws.String("pod")
			}
			_, err := sts.NewFromConfig(p.account.config).AssumeRoleWithWebIdentity(t.Context(), &tt.in)
			if code(err) != tt.code || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("it says %v, want %s with %q", err, tt.code, tt.says)
			}
		})
	}
}

// A trust for another service account, or a provider that is gone, ends IRSA, until it is mended.
func TestATrustIsBrokenAndMended(t *testing.T) {
	p := openPods(t)
	api, role := iam.NewFromConfig(p.account.config), aws.String("lab-karpenter")
	assume := func() string {
		_, err := sts.NewFromConfig(p.account.config).AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
			RoleArn: aws.String(controllerARN), RoleSessionName: aws.String("pod"), WebIdentityToken: aws.String(p.token(t, "sts.amazonaws.com", "kube-system:karpenter", nil))})
		return code(err)
	}
	provider := "arn:aws:iam::123456789012:oidc-provider/" + strings.TrimPrefix(p.server.Issuer(), "https://")
	trust := func(account string) *string {
		name := strings.TrimPrefix(p.server.Issuer(), "https://")
		text, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": map[string]any{"Effect": "Allow", "Principal": map[string]string{"Federated": provider},
			"Action": "sts:AssumeRoleWithWebIdentity", "Condition": map[string]any{"StringLike": map[string]string{name + ":sub": "system:serviceaccount:" + account}}}})
		p.must(err)
		return aws.String(string(text))
	}
	for _, step := range []struct {
		what string
		do   func() error
		want string
	}{
		{"the guides' trust", func() error { return nil }, ""},
		{"a trust for another account", func() error {
			_, err := api.UpdateAssumeRolePolicy(t.Context(), &iam.UpdateAssumeRolePolicyInput{RoleName: role, PolicyDocument: trust("daemok:*")})
			return err
		}, "AccessDenied"},
		{"a trust for all accounts of the namespace", func() error {
			_, err := api.UpdateAssumeRolePolicy(t.Context(), &iam.UpdateAssumeRolePolicyInput{RoleName: role, PolicyDocument: trust("kube-system:*")})
			return err
		}, ""},
		{"no provider", func() error {
			_, err := api.DeleteOpenIDConnectProvider(t.Context(), &iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: &provider})
			return err
		}, "InvalidIdentityToken"},
		{"the provider made anew, for another client", func() error {
			made, err := api.CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{Url: aws.String(p.server.Issuer()), ClientIDList: []string{"other"}})
			if err == nil && *made.OpenIDConnectProviderArn != provider {
				t.Errorf("the provider is %s, want %s", *made.OpenIDConnectProviderArn, provider)
			}
			return err
		}, "InvalidIdentityToken"},
		{"the client of STS added", func() error {
			_, err := api.AddClientIDToOpenIDConnectProvider(t.Context(), &iam.AddClientIDToOpenIDConnectProviderInput{OpenIDConnectProviderArn: &provider, ClientID: aws.String("sts.amazonaws.com")})
			return err
		}, ""},
	} {
		p.must(step.do())
		if got := assume(); got != step.want {
			t.Errorf("%s: %q, want %q", step.what, got, step.want)
		}
	}
}

// What tools do with OIDC providers beside that.
func TestOIDCProviders(t *testing.T) {
	a, ctx := open(t), context.Background()
	api := iam.NewFromConfig(a.config)
	listed, err := api.ListOpenIDConnectProviders(ctx, &iam.ListOpenIDConnectProvidersInput{})
	a.must(err)
	cluster, err := eks.NewFromConfig(a.config).DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String("lab")})
	a.must(err)
	issuer := *cluster.Cluster.Identity.Oidc.Issuer
	if !strings.HasPrefix(issuer, "https://"+issuerName) || len(listed.OpenIDConnectProviderList) != 1 ||
		*listed.OpenIDConnectProviderList[0].Arn != "arn:aws:iam::123456789012:oidc-provider/"+strings.TrimPrefix(issuer, "https://") {
		t.Errorf("there are %+v, want the cluster's alone, of %s", listed.OpenIDConnectProviderList, issuer)
	}
	arn := listed.OpenIDConnectProviderList[0].Arn
	_, err = api.CreateOpenIDConnectProvider(ctx, &iam.CreateOpenIDConnectProviderInput{Url: &issuer})
	if code(err) != "EntityAlreadyExists" {
		t.Errorf("a second one: %v, want EntityAlreadyExists", err)
	}
	_, err = api.CreateOpenIDConnectProvider(ctx, &iam.CreateOpenIDConnectProviderInput{Url: aws.String("http://issuer.test")})
	if code(err) != "ValidationError" {
		t.Errorf("one without TLS: %v, want ValidationError", err)
	}
	_, err = api.UpdateOpenIDConnectProviderThumbprint(ctx, &iam.UpdateOpenIDConnectProviderThumbprintInput{OpenIDConnectProviderArn: arn, ThumbprintList: []string{"abc"}})
	a.must(err)
	_, err = api.RemoveClientIDFromOpenIDConnectProvider(ctx, &iam.RemoveClientIDFromOpenIDConnectProviderInput{OpenIDConnectProviderArn: arn, ClientID: aws.String("sts.amazonaws.com")})
	a.must(err)
	_, err = api.UntagOpenIDConnectProvider(ctx, &iam.UntagOpenIDConnectProviderInput{OpenIDConnectProviderArn: arn, TagKeys: []string{"alpha.eksctl.io/cluster-name"}})
	a.must(err)
	shown, err := api.GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: arn})
	a.must(err)
	if *shown.Url != strings.TrimPrefix(issuer, "https://") || len(shown.ClientIDList) != 0 || shown.ThumbprintList[0] != "abc" || len(shown.Tags) != 0 {
		t.Errorf("it is %+v, want one without clients and tags", shown)
	}
	_, err = api.GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: aws.String(*arn + "0")})
	if code(err) != "NoSuchEntity" {
		t.Errorf("one that is not there: %v, want NoSuchEntity", err)
	}
}

// Temporary credentials end, and those that none handed out are none's: each service says so in its own words.
func TestTemporaryCredentialsEnd(t *testing.T) {
	p, ctx := openPods(t), context.Background()
	out, err := sts.NewFromConfig(p.account.config).AssumeRoleWithWebIdentity(ctx, &sts.AssumeRoleWithWebIdentityInput{DurationSeconds: aws.Int32(900),
		RoleArn: aws.String(controllerARN), RoleSessionName: aws.String("pod"), WebIdentityToken: aws.String(p.token(t, "sts.amazonaws.com", "kube-system:karpenter", nil))})
	p.must(err)
	with := func(key, token string) aws.Config {
		c := p.account.config.Copy()
		c.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: key, SecretAccessKey: "secret", SessionToken: token}, nil
		})
		return c
	}
	held := with(*out.Credentials.AccessKeyId, *out.Credentials.SessionToken)
	calls := map[string]struct {
		call           func(c aws.Config) error
		ended, unknown string
	}{
		"STS": {func(c aws.Config) error { _, err := who(c); return err }, "ExpiredToken", "InvalidClientTokenId"},
		"EC2": {func(c aws.Config) error {
			_, err := ec2.NewFromConfig(c).DescribeInstances(ctx, &ec2.DescribeInstancesInput{})
			return err
		}, "RequestExpired", "AuthFailure"},
		"IAM": {func(c aws.Config) error {
			_, err := iam.NewFromConfig(c).GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: aws.String("KarpenterNodeInstanceProfile-lab")})
			return err
		}, "ExpiredToken", "InvalidClientTokenId"},
		"SQS": {func(c aws.Config) error {
			_, err := sqs.NewFromConfig(c).GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("lab")})
			return err
		}, "ExpiredToken", "InvalidClientTokenId"},
		"SSM": {func(c aws.Config) error {
			_, err := ssm.NewFromConfig(c).GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String("/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id")})
			return err
		}, "ExpiredTokenException", "UnrecognizedClientException"},
		"EKS": {func(c aws.Config) error {
			_, err := eks.NewFromConfig(c).DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String("lab")})
			return err
		}, "ExpiredTokenException", "UnrecognizedClientException"},
	}
	for at, when := range []struct {
		what   string
		config aws.Config
	}{
		{"credentials that hold", held}, {"a key that nobody handed out", with("ASIANOBODY", "token")}, {"the key with another token", with(*out.Credentials.AccessKeyId, "token")}, {"credentials that ended", held},
	} {
		if at == 3 {
			p.Advance(15 * time.Minute)
		}
		for service, tt := range calls {
			want := []string{"", tt.unknown, tt.unknown, tt.ended}[at]
			if got := code(tt.call(when.config)); got != want {
				t.Errorf("%s, %s: %q, want %q", service, when.what, got, want)
			}
		}
	}
}

// Whose clock is a quarter of an hour off, by AWS's, is not believed: the SDK sees by AWS's Date how far, and signs
// again. Of tokens STS goes by its own clock.
func TestClocksThatDisagree(t *testing.T) {
	a := open(t, noLags, func(o *world.Options) { o.Now = nil })
	p := &pods{restricted: restricted{account: a}, signer: newSigner(t)}
	p.Virtual = clock.NewVirtual(time.Now())
	a.must(a.server.SetIssuerKeys(p.signer.file(t)))
	assume := func() error {
		_, err := sts.NewFromConfig(a.config).AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
			RoleArn: aws.String(controllerARN), RoleSessionName: aws.String("pod"), WebIdentityToken: aws.String(p.token(t, "sts.amazonaws.com", "kube-system:karpenter", nil))})
		return err
	}
	for by, want := range map[time.Duration]struct{ signed, says, assumed string }{
		0:                 {},
		10 * time.Minute:  {},
		20 * time.Minute:  {signed: "SignatureDoesNotMatch", says: "Signature expired: "},
		-20 * time.Minute: {signed: "SignatureDoesNotMatch", says: "Signature not yet current: ", assumed: "InvalidIdentityToken"},
		2 * time.Hour:     {signed: "SignatureDoesNotMatch", says: "Signature expired: ", assumed: "ExpiredTokenException"},
	} {
		a.server.Skew(by)
		if _, err := who(a.config); code(err) != want.signed || err != nil && !strings.Contains(err.Error(), want.says) {
			t.Errorf("AWS is %v ahead: %v, want %s with %q", by, err, want.signed, want.says)
		}
		again := a.config.Copy()
		again.RetryMaxAttempts = 2
		if _, err := who(again); err != nil {
			t.Errorf("AWS is %v ahead, and the SDK may repeat: %v", by, err)
		}
		if err := assume(); code(err) != want.assumed {
			t.Errorf("AWS is %v ahead: a token gives %v, want %s", by, err, want.assumed)
		}
	}
}

// Keys are believed as they are given: PEM of either half, or a set; what is none of it is an error.
func TestIssuerKeys(t *testing.T) {
	p := openPods(t)
	s := newSigner(t)
	der, err := x509.MarshalPKIXPublicKey(s.key.Public())
	p.must(err)
	set, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: s.key.Public(), KeyID: s.id(t), Algorithm: "ES256", Use: "sig"}}})
	p.must(err)
	secret, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: s.key, KeyID: "mine"}}})
	p.must(err)
	for name, tt := range map[string]struct {
		keys []byte
		says string
	}{
		"the signing key":       {keys: s.file(t)},
		"the public half":       {keys: pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})},
		"a set":                 {keys: set},
		"a set of private keys": {secret, `key "mine" of the set is not public`},
		"no key":                {[]byte("none"), "there is none: give a JSON web key set, or PEM"},
		"something else":        {pem.EncodeToMemory(&pem.Block{Type: "PRIVATE NOTE", Bytes: der}), "read a block of PEM, PRIVATE NOTE: want a public key"},
	} {
		p.must(p.server.SetIssuerKeys(p.signer.file(t)))
		err := p.server.SetIssuerKeys(tt.keys)
		if tt.says != "" {
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s: %v, want %q", name, err, tt.says)
			}
			continue
		}
		_, assumed := sts.NewFromConfig(p.account.config).AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
			RoleArn: aws.String(controllerARN), RoleSessionName: aws.String("pod"), WebIdentityToken: aws.String(s.as(t, s.id(t), p.claims("sts.amazonaws.com", "kube-system:karpenter", nil)))})
		if err != nil || assumed != nil {
			t.Errorf("%s: %v, %v; want a role", name, err, assumed)
		}
	}
}

// An account that an earlier version kept, which had no providers, gets the cluster's, and its controller's role trusts that.
func TestAnOlderAccountGetsItsProvider(t *testing.T) {
	p := openPods(t)
	kept, err := p.server.Export()
	p.must(err)
	var old struct {
		Account map[string]json.RawMessage
		Market  json.RawMessage
	}
	p.must(json.Unmarshal(kept, &old))
	delete(old.Account, "Providers")
	delete(old.Account, "Sessions")
	var roles map[string]map[string]any
	p.must(json.Unmarshal(old.Account["Roles"], &roles))
	roles["lab-karpenter"]["Trust"] = strings.ReplaceAll(ec2Trust, "ec2.amazonaws.com", "pods.eks.amazonaws.com")
	old.Account["Roles"], err = json.Marshal(roles)
	p.must(err)
	var account map[string]any
	p.must(json.Unmarshal(old.Account["Account"], &account))
	delete(account, "Issuer")
	old.Account["Account"], err = json.Marshal(account)
	p.must(err)
	text, err := json.Marshal(old)
	p.must(err)
	p.must(p.server.Import(text))
	_, err = sts.NewFromConfig(p.account.config).AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: aws.String(controllerARN), RoleSessionName: aws.String("pod"), WebIdentityToken: aws.String(p.token(t, "sts.amazonaws.com", "kube-system:karpenter", nil))})
	if err != nil {
		t.Errorf("the controller does not get its role: %v", err)
	}
}
