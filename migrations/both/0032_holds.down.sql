-- What is known of holds goes, and no program ends them any more: their pods stay on their nodes.
DROP TABLE placement_holds;
