"""`python -m tests.sim --seconds 30 --seed 1`, or `--replay SEED`."""
import sys
from tests.sim.campaign import main
sys.exit(main())
