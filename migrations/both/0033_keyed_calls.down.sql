-- Keys of calls go: a call that is repeated afterwards is done again.
DROP TABLE keyed_calls;
