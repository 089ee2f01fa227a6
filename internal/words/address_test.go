package words

import "testing"

func TestAddress(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "localhost:80": "localhost:80", "http://h:1/clusters/a": "http://h:1/clusters/a", "/a/file": "/a/file",
		"http://user:p@h/a": "http://xxxxx@h/a", "http://token@h": "http://xxxxx@h", "http://h/a?key=p": "http://h/a?xxxxx", "http://h/#p": "http://h/",
		"http://user:p@p@h": "http://xxxxx", "http://user:1/p@h": "http://xxxxx", "http://user:p#p@h": "http://xxxxx", "http://%zz?p": "http://xxxxx", "user:p@h": "xxxxx", "h?p": "xxxxx",
	} {
		if got := Address(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
