package eks

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"

	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/identity"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// podsAudience is what tokens for EKS Pod Identity are for.
const podsAudience = identity.PodsService

// podSession is how long credentials of EKS Pod Identity hold.
const podSession = 6 * time.Hour

// AssumedForPod is the answer to AssumeRoleForPodIdentity.
type AssumedForPod struct {
	Association struct {
		ARN string `json:"associationArn"`
		ID  string `json:"associationId"`
	} `json:"podIdentityAssociation"`
	Audience string `json:"audience"`
	Subject  struct {
		Namespace string `json:"namespace"`
		Account   string `json:"serviceAccount"`
	} `json:"subject"`
	User struct {
		ARN string `json:"arn"`
		ID  string `json:"assumeRoleId"`
	} `json:"assumedRoleUser"`
	Credentials struct {
		Key     string  `json:"accessKeyId"`
		Secret  string  `json:"secretAccessKey"`
		Token   string  `json:"sessionToken"`
		Expires float64 `json:"expiration"`
	} `json:"credentials"`
	Given identity.Credentials
}

// assumeRoleForPodIdentity hands out the role that a service account of the cluster is associated with, for a token of it.
func assumeRoleForPodIdentity(c *call) (any, error) {
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	var in struct {
		Token string `json:"token"`
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	sent, err := c.podToken(in.Token)
	if err != nil {
		return nil, err
	}
	st := c.server
	namespace, name := sent.ServiceAccount()
	var p *podIdentity
	for _, one := range st.Identities { // there is one for an account at most
		if one.Namespace == namespace && one.Account == name {
			p = one
		}
	}
	if p == nil {
		return nil, wire.Errorf("ResourceNotFoundException", "No Pod Identity association found for service account %s/%s in cluster %s", namespace, name, st.Settings.ClusterName).
			WithStatus(http.StatusNotFound)
	}
	given, err := c.forPod(p, sent)
	if err != nil {
		return nil, err
	}
	out := AssumedForPod{Audience: podsAudience, Given: given}
	out.Association.ARN, out.Association.ID = c.identityARN(p), p.ID
	out.Subject.Namespace, out.Subject.Account = namespace, name
	user := given.User(st.Settings)
	out.User.ARN, out.User.ID = user.ARN, user.ID
	out.Credentials.Key, out.Credentials.Secret = given.Key, given.Secret
	out.Credentials.Token, out.Credentials.Expires = given.Token, world.Seconds(given.ExpiresAt)
	return out, nil
}

// podToken is what a token of the cluster for EKS Pod Identity says.
func (c *call) podToken(text string) (identity.Claims, error) {
	t, err := identity.ReadToken(text)
	if err == nil {
		err = t.Verify(c.server.Settings.Issuer, c.server.IssuerKeys)
	}
	now, sent := c.server.Clock.Callers(), t.Claims
	namespace, _ := sent.ServiceAccount()
	invalid := func(why string) error {
		return wire.Errorf("InvalidTokenException", "The specified Kubernetes service account token is invalid: %s.", why)
	}
	switch {
	case err != nil:
		return identity.Claims{}, invalid(err.Error())
	case namespace == "":
		return identity.Claims{}, invalid("its subject " + sent.Subject + " is no service account")
	case !sent.Audience.Contains(podsAudience):
		return identity.Claims{}, invalid("its audience is not " + podsAudience)
	case sent.Expiry == nil, identity.Later(sent.IssuedAt, now), identity.Later(sent.NotBefore, now):
		return identity.Claims{}, invalid("it does not hold yet, or for ever")
	case !now.Before(sent.Expiry.Time()):
		return identity.Claims{}, wire.Errorf("ExpiredTokenException", "The specified Kubernetes service account token is expired.")
	}
	return sent, nil
}

// forPod assumes the role of an association, with the session tags that tell of the pod.
func (c *call) forPod(p *podIdentity, sent identity.Claims) (identity.Credentials, error) {
	st := c.server
	a, pod := st.Settings, sent.Kubernetes.Pod
	cluster := a.ARN("eks", a.Region, "cluster/"+a.ClusterName)
	given := map[string]string{
		"eks-cluster-arn": cluster, "eks-cluster-name": a.ClusterName, "kubernetes-namespace": p.Namespace, "kubernetes-service-account": p.Account,
		"kubernetes-pod-name": pod.Name, "kubernetes-pod-uid": pod.UID,
	}
	session := podSessionName(a.ClusterName, pod.Name, st.NewID("session"))
	n := identity.Giving(identity.Need("sts:AssumeRole", p.RoleARN), world.TagsFrom(given))
	n.Context.Set("aws:SourceAccount", a.ID)
	n.Context.Set("aws:SourceArn", cluster)
	n.Context.Set("sts:RoleSessionName", session)
	r, decision := st.RoleByARN(p.RoleARN), iampolicy.ImplicitDeny
	if r != nil {
		var err error
		who := iampolicy.Caller{Sort: iampolicy.PrincipalService, Names: []string{identity.PodsService}}
		if decision, err = st.Trusts(r, who, n.Context, "sts:AssumeRole", "sts:TagSession"); err != nil {
			return identity.Credentials{}, err
		}
	}
	if decision != iampolicy.Allowed {
		return identity.Credentials{}, wire.Errorf("AccessDeniedException", "Unauthorized Exception! EKS does not have permissions to assume the associated role.")
	}
	return c.server.HandOut(r, session, podSession, given), nil
}

// podSessionName is eks-CLUSTER-POD-UUID, within the 64 characters that a name may have.
func podSessionName(cluster, pod, drawn string) string {
	const part = 10
	sum := sha256.Sum256([]byte(drawn))
	name := fmt.Sprintf("eks-%.*s-%.*s-%x-%x-%x-%x-%x", part, cluster, part, pod, sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	return strings.ReplaceAll(name, "--", "-")
}
