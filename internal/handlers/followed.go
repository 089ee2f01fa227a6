package handlers

import (
	"fmt"
	"net/http"
)

// notFollowed refuses to change a cluster by hand whose state comes from its apiserver: the next
// event would say otherwise.
func (a *API) notFollowed(cluster string) error {
	if !a.followed(cluster) {
		return nil
	}
	return &Error{Status: http.StatusConflict, Kind: "followed", Detail: fmt.Sprintf("cluster %s is followed through its apiserver: change it there", cluster)}
}
