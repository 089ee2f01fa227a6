-- Facts of pods go; they are in the inputs of the records.
DROP TABLE judged_pods;
