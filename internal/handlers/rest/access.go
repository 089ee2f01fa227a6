package rest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/access"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/store"
)

// Whoami is the caller of a request.
type Whoami struct {
	// Kind is where the identity is from; anonymous is a caller without one, where none is needed.
	Kind   string        `json:"kind" enums:"anonymous,token,certificate,oidc,kubernetes" example:"token"`
	Name   string        `json:"name,omitempty" example:"ci"`
	Groups []string      `json:"groups,omitempty"`
	Grants access.Grants `json:"grants"`
} // @name Whoami

// TokenRequest describes a token.
type TokenRequest struct {
	Name   string        `json:"name" example:"ci"`
	Grants access.Grants `json:"grants"`
	// ExpiresAt is when it stops being valid; absent: after 90 days.
	ExpiresAt *time.Time `json:"expiresAt,omitempty"`
} // @name TokenRequest

// RotateRequest describes how a token is replaced.
type RotateRequest struct {
	// Overlap is for how long the old token stays valid.
	Overlap *metav1.Duration `json:"overlap,omitempty" swaggertype:"string" default:"1h" example:"1h0m0s"`
} // @name RotateRequest

// NewToken is a token with its secret, which is answered this once and not stored.
type NewToken struct {
	access.Token
	Secret string `json:"secret" example:"berth_…"`
} // @name NewToken

// TokenList is all tokens, the oldest first, without their secrets.
type TokenList struct {
	Items []*access.Token `json:"items"`
} // @name TokenList

// AccessChange is a record of what was changed about access, or of the settings at a start.
type AccessChange struct {
	ID        string          `json:"id"`
	CreatedAt time.Time       `json:"createdAt"`
	Action    string          `json:"action" example:"token.create"`
	Object    string          `json:"object" example:"ci"`
	Detail    json.RawMessage `json:"detail" swaggertype:"object"`
	// AskedBy is the kind and name of who asked, Peer the address that the request came from.
	AskedBy   string `json:"askedBy,omitempty" example:"token:root"`
	Peer      string `json:"peer,omitempty"`
	RequestID string `json:"requestId,omitempty"`
} // @name AccessChange

// AccessChangeList is a page of changes, newest first.
type AccessChangeList struct {
	Items []AccessChange `json:"items"`
	// Cursor continues the list; absent on its last page.
	Cursor string `json:"cursor,omitempty"`
} // @name AccessChangeList

// The lifetimes of tokens that name none.
const (
	tokenLifetime = 90 * 24 * time.Hour
	tokenOverlap  = time.Hour
)

// whoami returns the caller.
//
//	@Summary	Who the caller is, and what it may do
//	@Tags		access
//	@Produce	json
//	@Success	200	{object}	Whoami
//	@Failure	400,401,403,429	{object}	exchange.Problem
//	@Router		/v1/whoami [get]
func (a *API) whoami(w http.ResponseWriter, r *http.Request) error {
	i := access.From(r.Context())
	out := Whoami{Kind: i.Kind, Name: i.Name, Groups: i.Groups, Grants: i.Grants}
	if out.Grants == nil {
		out.Grants = access.Grants{}
	}
	return exchange.WriteJSON(w, http.StatusOK, out)
}

// tokens returns the tokens of a server that has any.
func (a *API) tokens() (*access.Tokens, error) {
	if a.Callers.Tokens == nil {
		return nil, exchange.NotFound("this server keeps no tokens")
	}
	return a.Callers.Tokens, nil
}

// listTokens lists tokens.
//
//	@Summary	List API tokens, without their secrets
//	@Tags		access
//	@Produce	json
//	@Success	200	{object}	TokenList
//	@Failure	400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router		/v1/tokens [get]
func (a *API) listTokens(w http.ResponseWriter, r *http.Request) error {
	tokens, err := a.tokens()
	if err != nil {
		return err
	}
	list, err := tokens.List(r.Context())
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, http.StatusOK, TokenList{Items: list})
}

// createToken makes a token.
//
//	@Summary		Make an API token
//	@Description	The secret is in this answer alone. Needs the role admin for all clusters.
//	@Tags			access
//	@Accept			json
//	@Produce		json
//	@Param			body	body		TokenRequest	true	"the token"
//	@Param			Idempotency-Key	header	string	false	"a key under which the call is done once in 24 hours"
//	@Success		201		{object}	NewToken
//	@Failure		400,401,403,404,409,413,415,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/tokens [post]
func (a *API) createToken(w http.ResponseWriter, r *http.Request) error {
	if err := admit.CheckSecret(r); err != nil {
		return err
	}
	body, err := a.JSONBody(w, r, a.Limits.DecisionMaxBytes, "decision-max-bytes")
	if err != nil {
		return err
	}
	var req TokenRequest
	if err := exchange.DecodeStrict(body, &req, exchange.DecisionBounds(&a.Limits)); err != nil {
		return err
	}
	tokens, err := a.tokens()
	if err != nil {
		return err
	}
	now := time.Now()
	expires := now.Add(tokenLifetime)
	if req.ExpiresAt != nil {
		expires = *req.ExpiresAt
	}
	made, secret, err := tokens.Create(r.Context(), req.Name, req.Grants, expires, now)
	if err != nil {
		return tokenError(err)
	}
	return exchange.WriteJSON(w, http.StatusCreated, NewToken{*made, secret})
}

func tokenError(err error) error {
	var field *access.FieldError
	if errors.As(err, &field) {
		return exchange.BadField(http.StatusUnprocessableEntity, field.Field, field.Detail)
	}
	return err
}

// revokeToken ends a token.
//
//	@Summary	Revoke an API token
//	@Tags		access
//	@Produce	json
//	@Param		id	path		string	true	"the id, or the name for all tokens of it"
//	@Success	200	{object}	TokenList
//	@Failure	400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router		/v1/tokens/{id} [delete]
func (a *API) revokeToken(w http.ResponseWriter, r *http.Request) error {
	tokens, id, err := a.tokenOf(r)
	if err != nil {
		return err
	}
	list, err := tokens.Revoke(r.Context(), id, time.Now())
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, http.StatusOK, TokenList{Items: list})
}

func (a *API) tokenOf(r *http.Request) (tokens *access.Tokens, id string, err error) {
	if tokens, err = a.tokens(); err == nil {
		id, err = exchange.PathParam(r, "id")
	}
	return tokens, id, err
}

// rotateToken replaces a token.
//
//	@Summary		Replace an API token
//	@Description	The new token has the name, the grants and the lifetime of the old one, which stays valid for the overlap.
//	@Tags			access
//	@Accept			json
//	@Produce		json
//	@Param			id		path		string			true	"the id or the name"
//	@Param			body	body		RotateRequest	false	"the overlap"
//	@Param			Idempotency-Key	header	string	false	"a key under which the call is done once in 24 hours"
//	@Success		201		{object}	NewToken
//	@Failure		400,401,403,404,409,413,415,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/tokens/{id}/rotate [post]
func (a *API) rotateToken(w http.ResponseWriter, r *http.Request) error {
	if err := admit.CheckSecret(r); err != nil {
		return err
	}
	body, err := a.JSONBody(w, r, a.Limits.DecisionMaxBytes, "decision-max-bytes")
	if err != nil {
		return err
	}
	tokens, id, err := a.tokenOf(r)
	if err != nil {
		return err
	}
	var req RotateRequest
	if len(body) > 0 {
		if err := exchange.DecodeStrict(body, &req, exchange.DecisionBounds(&a.Limits)); err != nil {
			return err
		}
	}
	overlap := cmp.Or(req.Overlap, &metav1.Duration{Duration: tokenOverlap}).Duration
	made, secret, err := tokens.Rotate(r.Context(), id, overlap, time.Now())
	if err != nil {
		return tokenError(err)
	}
	return exchange.WriteJSON(w, http.StatusCreated, NewToken{*made, secret})
}

// listAccessChanges lists changes of access.
//
//	@Summary	List changes of tokens, of the access file and of settings, newest first
//	@Tags		access
//	@Produce	json
//	@Param		limit	query		int		false	"items in the page, 100 if absent"
//	@Param		cursor	query		string	false	"cursor of the page before"
//	@Success	200	{object}	AccessChangeList
//	@Failure	400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router		/v1/access/changes [get]
func (a *API) listAccessChanges(w http.ResponseWriter, r *http.Request) error {
	if a.accessLog == nil {
		return exchange.NotFound("this server keeps no log of access")
	}
	limit, err := a.pageSize(r)
	if err != nil {
		return err
	}
	before, err := a.openCursor(r)
	if err != nil {
		return err
	}
	list, err := a.accessLog.AccessChanges(r.Context(), before, limit+1)
	if err != nil {
		return fmt.Errorf("list changes of access: %w", err)
	}
	out := AccessChangeList{Items: make([]AccessChange, 0, len(list))}
	for _, c := range list[:min(len(list), limit)] {
		out.Items = append(out.Items, changeOf(c))
	}
	if len(list) > limit {
		out.Cursor = a.sealCursor(r, out.Items[limit-1].ID)
	}
	return exchange.WriteJSON(w, http.StatusOK, out)
}

func changeOf(c *store.AccessChange) AccessChange {
	return AccessChange{
		ID: c.ID, CreatedAt: c.CreatedAt, Action: c.Action, Object: c.Object, Detail: c.Detail,
		AskedBy: c.Asked.By, Peer: c.Asked.Peer, RequestID: c.Asked.RequestID,
	}
}
