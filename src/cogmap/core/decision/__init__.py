"""From class scores to log-odds, probabilities and a class: `decision`."""
