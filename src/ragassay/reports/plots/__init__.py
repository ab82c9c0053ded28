"""Pictures for slides: box plots of result files beside each other, and two runs compared."""
