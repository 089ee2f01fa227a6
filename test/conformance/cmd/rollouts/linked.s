// An empty file of assembly lets linked.go declare a function without a body.
