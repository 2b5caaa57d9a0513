"""One op as a script that runs alone: rebuilt from its row, with candidates, a measurement, and results taken back."""
