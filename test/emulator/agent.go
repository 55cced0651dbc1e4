package emulator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/eks"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

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
	answer, refused := s.serve(&world.Call{
		World: s.World, Ctx: r.Context(), Service: wire.EKSAuth, Action: "AssumeRoleForPodIdentity",
		Names: map[string]string{"cluster": s.Account().ClusterName}, Host: r.Host, Body: body,
	})
	if refused != nil {
		http.Error(w, agentRefusal(s.requestID(), refused), refused.HTTPStatus())
		return
	}
	out, is := answer.(eks.AssumedForPod)
	if !is {
		http.Error(w, "no credentials were answered", http.StatusInternalServerError)
		return
	}
	err = wire.AnswerJSON(w, wire.RESTJSON, s.requestID(), map[string]any{
		"AccessKeyId": out.Given.Key, "SecretAccessKey": out.Given.Secret, "Token": out.Given.Token,
		"AccountId": s.Account().ID, "Expiration": out.Given.ExpiresAt.UTC().Format(time.RFC3339),
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
