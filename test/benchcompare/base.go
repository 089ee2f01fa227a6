package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// errNoBase is of a tree without an earlier commit: a shallow clone, or no repository at all.
var errNoBase = errors.New("there is no earlier commit here")

func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	var message strings.Builder
	cmd.Stderr = &message
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(message.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// findBase returns the commit to compare with: the named one; else where HEAD left origin/main;
// else the commit before HEAD. A named commit that is missing is an error, any other is errNoBase.
func findBase(ctx context.Context, dir, named string) (string, error) {
	if named != "" {
		return git(ctx, dir, "rev-parse", "--verify", "--quiet", named+"^{commit}")
	}
	head, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "HEAD")
	if err != nil {
		return "", fmt.Errorf("%w: %w", errNoBase, err)
	}
	if fork, err := git(ctx, dir, "merge-base", "HEAD", "origin/main"); err == nil && fork != head {
		return fork, nil
	}
	before, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "HEAD~1^{commit}")
	if err != nil {
		return "", fmt.Errorf("%w, as in a shallow clone: %w", errNoBase, err)
	}
	return before, nil
}
