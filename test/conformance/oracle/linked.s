// Without a body of their own, Go functions need a file of assembly beside them (release_v1_37.go).
