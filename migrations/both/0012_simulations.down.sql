-- Jobs go, with their answers; they can be asked again.
DROP TABLE simulation_parts;
DROP TABLE simulations;
