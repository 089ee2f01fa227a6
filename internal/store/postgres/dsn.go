package postgres

import (
	"errors"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// errURL and errSettings are all that is said of a database's address that cannot be read: it may
// hold a password, and where one begins and ends is what is not known.
var (
	errURL = errors.New("the database's URL cannot be read: in a user's name and password, @ is written %40, / %2F, : %3A, # %23, ? %3F and % %25; " +
		"want postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…")
	errSettings = errors.New("the database's settings cannot be read: want host=… port=… dbname=… user=… password='…', with values that have spaces in quotes, or a URL")
)

// parse reads a database's address. Its errors hold nothing of a password.
func parse(address string) (*pgx.ConnConfig, error) {
	if err := readable(address); err != nil {
		return nil, err
	}
	cfg, err := pgx.ParseConfig(address)
	return cfg, sayable(address, err)
}

// parsePool is parse for a pool.
func parsePool(address string) (*pgxpool.Config, error) {
	if err := readable(address); err != nil {
		return nil, err
	}
	cfg, err := pgxpool.ParseConfig(address)
	return cfg, sayable(address, err)
}

func isURL(address string) (rest string, is bool) {
	for _, scheme := range []string{"postgres://", "postgresql://"} {
		if rest, is = strings.CutPrefix(address, scheme); is {
			return rest, true
		}
	}
	return "", false
}

// readable refuses a URL in which a character of the password, or of the user's name, ends the part
// that they stand in: what follows would be taken for the host, and be named in errors.
func readable(address string) error {
	rest, is := isURL(address)
	if !is {
		return nil
	}
	authority, tail := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, tail = rest[:i], rest[i:]
	}
	path, query, _ := strings.Cut(tail, "?")
	user, _, has := strings.Cut(authority, "@")
	first, _, at := strings.Cut(query, "@")
	switch {
	case strings.Count(authority, "@") > 1, strings.Count(user, ":") > 1 && has, strings.ContainsAny(path, "@#"):
		return errURL
	case !has && at && !strings.Contains(first, "="), !has && strings.Trim(authority[strings.LastIndex(authority, ":")+1:], "0123456789") != "" && at:
		return errURL
	}
	return nil
}

// sayable is an error of pgx, which quotes the address: as it is where that is known to hold no
// password in the clear.
func sayable(address string, err error) error {
	if err == nil || !strings.ContainsAny(address, "@") && !strings.Contains(strings.ToLower(address), "password") {
		return err
	}
	if _, is := isURL(address); !is {
		return errSettings
	}
	if u, bad := url.Parse(address); bad != nil || u.Query().Has("password") {
		return errURL
	}
	return err
}
