package rest

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"

	"berth/internal/handlers/exchange"
	"berth/internal/store"
)

// ProfileConfiguration is a configuration of a profile, which decisions name by its digest.
type ProfileConfiguration struct {
	// Digest is the SHA-256 of Configuration.
	Digest string `json:"digest" example:"sha256:0c8a2ff7de0a2a4ce5ea5f4ae2d7c7f92df8a6f4d1f8e5f93a7c7b2c76aa2d10"`
	// Profile is the profile's name.
	Profile string `json:"profile" example:"default-scheduler"`
	// Configuration has the plugins of each phase with their weights and arguments, defaults
	// included, as they decided.
	Configuration json.RawMessage `json:"configuration" swaggertype:"object"`
} // @name ProfileConfiguration

var profileDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// getProfile returns a configuration by its digest.
//
//	@Summary		The configuration that a decision names by profileDigest
//	@Description	It belongs to no cluster. A configuration is stored with the first decision under it; of those of this server, which GET /v1/access/changes names for its start, also before.
//	@Tags			decisions
//	@Produce		json
//	@Param			digest	path		string	true	"profileDigest of a decision"
//	@Success		200		{object}	ProfileConfiguration
//	@Failure		400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router			/v1/profiles/{digest} [get]
func (a *API) getProfile(w http.ResponseWriter, r *http.Request) error {
	digest, err := exchange.PathParam(r, "digest")
	if err != nil {
		return err
	}
	if !profileDigest.MatchString(digest) {
		return exchange.BadField(http.StatusBadRequest, "digest", "want profileDigest of a decision: sha256: and 64 digits of 0-9 and a-f")
	}
	p, err := a.decisions.Configuration(r.Context(), digest)
	if errors.Is(err, store.ErrNotFound) {
		return exchange.NotFound("no decision on record was made under a configuration of this digest")
	}
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, http.StatusOK, ProfileConfiguration{Digest: p.Digest, Profile: p.Name, Configuration: p.Payload})
}
