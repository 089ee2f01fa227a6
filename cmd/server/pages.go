package main

import (
	"github.com/go-chi/chi/v5"

	"berth/internal/handlers"
	"berth/internal/handlers/web"
)

// The values of --pages.
const (
	pagesOff      = "off"
	pagesWritable = "read-write"
)

// pages returns the routes of the explorer; none where it is off.
func (c *serveCmd) pages(api *handlers.API) ([]func(chi.Router), error) {
	if c.Pages == pagesOff {
		return nil, nil
	}
	site, err := web.New(web.Options{API: api.InProcess(), Writable: c.Pages == pagesWritable, Settings: c.inEffect, Version: buildVersion().Version, Semantics: c.Semantics.value().Stamp()})
	if err != nil {
		return nil, err
	}
	api.Unknown(site.Unknown)
	return []func(chi.Router){site.Routes}, nil
}
