package handlers

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"berth/test/player"
)

// TestPlayedByHand holds scenarios with a clock to the same played by hand, one decision after the
// other. PLAYER_SEEDS is how many cases are played, PLAYER_FROM the first seed; without it those
// that once differed are played, too.
func TestPlayedByHand(t *testing.T) {
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	from, seeds := number("PLAYER_FROM", 1), number("PLAYER_SEEDS", 40)
	h := start(t, nil)
	c := &player.Client{URL: h.url, HTTP: h.client}
	played, failed := player.Played{}, 0
	var list []int
	for seed := from; seed < from+seeds; seed++ {
		list = append(list, seed)
	}
	if os.Getenv("PLAYER_FROM") == "" {
		list = append(list, 3045, 10127, 10293, 11054)
	}
	for _, seed := range list {
		k := player.Draw(uint64(seed))
		differences, n, err := c.Compare(k)
		if err != nil {
			t.Fatalf("PLAYER_FROM=%d: %v", seed, err)
		}
		played.Decisions, played.Moments = played.Decisions+n.Decisions, played.Moments+n.Moments
		if len(differences) > 0 {
			events, _ := json.Marshal(k.Events)
			t.Errorf("PLAYER_FROM=%d PLAYER_SEEDS=1 differs: %s\n%s", seed, events, strings.Join(differences, "\n"))
			if failed++; failed == 3 {
				break
			}
		}
	}
	t.Logf("%d seeds from %d, %d decisions, %d moments", len(list), from, played.Decisions, played.Moments)
}
