package emulator

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/wire"
)

// podsAudience is what tokens for EKS Pod Identity are for.
const podsAudience = podsService

// podSession is how long credentials of EKS Pod Identity hold.
const podSession = 6 * time.Hour

// assumedForPod is the answer to AssumeRoleForPodIdentity.
type assumedForPod struct {
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
	given credentials
}

// assumeRoleForPodIdentity hands out the role that a service account of the cluster is associated with, for a token of it.
func assumeRoleForPodIdentity(c *call) (any, error) {
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	var in struct {
		Token string `json:"token"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	sent, err := c.podToken(in.Token)
	if err != nil {
		return nil, err
	}
	st := c.state()
	namespace, account := sent.serviceAccount()
	var p *podIdentity
	for _, one := range st.Identities { // there is one for an account at most
		if one.Namespace == namespace && one.Account == account {
			p = one
		}
	}
	if p == nil {
		return nil, wire.Errorf("ResourceNotFoundException", "No Pod Identity association found for service account %s/%s in cluster %s", namespace, account, st.Account.ClusterName).
			WithStatus(http.StatusNotFound)
	}
	given, err := c.forPod(p, sent)
	if err != nil {
		return nil, err
	}
	out := assumedForPod{Audience: podsAudience, given: given}
	out.Association.ARN, out.Association.ID = c.identityARN(p), p.ID
	out.Subject.Namespace, out.Subject.Account = namespace, account
	user := given.user(st.Account)
	out.User.ARN, out.User.ID = user.ARN, user.ID
	out.Credentials.Key, out.Credentials.Secret = given.key, given.secret
	out.Credentials.Token, out.Credentials.Expires = given.Token, seconds(given.ExpiresAt)
	return out, nil
}

// podToken is what a token of the cluster for EKS Pod Identity says.
func (c *call) podToken(text string) (claims, error) {
	t, err := readToken(text)
	if err == nil {
		err = t.verify(c.state().Account.Issuer, c.server.issuer)
	}
	now, sent := c.server.clock.callers(), t.claims
	namespace, _ := sent.serviceAccount()
	invalid := func(why string) error {
		return wire.Errorf("InvalidTokenException", "The specified Kubernetes service account token is invalid: %s.", why)
	}
	switch {
	case err != nil:
		return claims{}, invalid(err.Error())
	case namespace == "":
		return claims{}, invalid("its subject " + sent.Subject + " is no service account")
	case !sent.Audience.Contains(podsAudience):
		return claims{}, invalid("its audience is not " + podsAudience)
	case sent.Expiry == nil, later(sent.IssuedAt, now), later(sent.NotBefore, now):
		return claims{}, invalid("it does not hold yet, or for ever")
	case !now.Before(sent.Expiry.Time()):
		return claims{}, wire.Errorf("ExpiredTokenException", "The specified Kubernetes service account token is expired.")
	}
	return sent, nil
}

// forPod assumes the role of an association, with the session tags that tell of the pod.
func (c *call) forPod(p *podIdentity, sent claims) (credentials, error) {
	st := c.state()
	a, pod := st.Account, sent.Kubernetes.Pod
	cluster := a.arn("eks", a.Region, "cluster/"+a.ClusterName)
	given := map[string]string{
		"eks-cluster-arn": cluster, "eks-cluster-name": a.ClusterName, "kubernetes-namespace": p.Namespace, "kubernetes-service-account": p.Account,
		"kubernetes-pod-name": pod.Name, "kubernetes-pod-uid": pod.UID,
	}
	session := podSessionName(a.ClusterName, pod.Name, st.newID("session"))
	n := giving(need("sts:AssumeRole", p.RoleARN), tagsFrom(given))
	n.Context.Set("aws:SourceAccount", a.ID)
	n.Context.Set("aws:SourceArn", cluster)
	n.Context.Set("sts:RoleSessionName", session)
	r, decision := st.roleByARN(p.RoleARN), iampolicy.ImplicitDeny
	if r != nil {
		var err error
		who := iampolicy.Caller{Sort: iampolicy.PrincipalService, Names: []string{podsService}}
		if decision, err = st.trusts(r, who, n.Context, "sts:AssumeRole", "sts:TagSession"); err != nil {
			return credentials{}, err
		}
	}
	if decision != iampolicy.Allowed {
		return credentials{}, wire.Errorf("AccessDeniedException", "Unauthorized Exception! EKS does not have permissions to assume the associated role.")
	}
	return c.server.handOut(r, session, podSession, given), nil
}

// podSessionName is eks-CLUSTER-POD-UUID, within the 64 characters that a name may have.
func podSessionName(cluster, pod, drawn string) string {
	const part = 10
	sum := sha256.Sum256([]byte(drawn))
	name := fmt.Sprintf("eks-%.*s-%.*s-%x-%x-%x-%x-%x", part, cluster, part, pod, sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	return strings.ReplaceAll(name, "--", "-")
}

// PodIdentityAgent answers pods as the EKS Pod Identity Agent on their node does: GET /v1/credentials, with a
// token of the pod's service account for its Authorization, is answered with credentials of the role that the
// account is associated with. Unlike the agent it keeps no credentials: each call makes new ones.
func (s *Server) PodIdentityAgent() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/credentials", s.agent)
	return mux
}

func (s *Server) agent(w http.ResponseWriter, r *http.Request) {
	text := strings.TrimSpace(r.Header.Get("Authorization"))
	if text == "" {
		http.Error(w, "Service account token cannot be empty", http.StatusBadRequest)
		return
	}
	body, err := json.Marshal(map[string]string{"token": text})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answer, refused := s.serve(&call{
		ctx: r.Context(), server: s, service: wire.EKSAuth, action: "AssumeRoleForPodIdentity",
		names: map[string]string{"cluster": s.Account().ClusterName}, host: r.Host, body: body,
	})
	if refused != nil {
		http.Error(w, agentRefusal(s.requestID(), refused), refused.HTTPStatus())
		return
	}
	out, is := answer.(assumedForPod)
	if !is {
		http.Error(w, "no credentials were answered", http.StatusInternalServerError)
		return
	}
	err = wire.AnswerJSON(w, wire.RESTJSON, s.requestID(), map[string]any{
		"AccessKeyId": out.given.key, "SecretAccessKey": out.given.secret, "Token": out.given.Token,
		"AccountId": s.Account().ID, "Expiration": out.given.ExpiresAt.UTC().Format(time.RFC3339),
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// agentRefusal is how the agent passes on what EKS says.
func agentRefusal(requestID string, refused *wire.Error) string {
	fault := "client"
	if refused.HTTPStatus() >= http.StatusInternalServerError {
		fault = "server"
	}
	return fmt.Sprintf("[%s]: (%s): %s, fault: %s", requestID, refused.Code, refused.Message, fault)
}
