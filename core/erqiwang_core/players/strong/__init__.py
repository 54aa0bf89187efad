"""A strong player: it deals the hidden cards many times, plays each deal out, and chooses what gains most chips.

The method is perfect-information sampling, which M. Ginsberg's bridge player GIB made known (GIB: Imperfect information
in a computationally challenging game, JAIR 14, 2001). It is blind to what opponents do not know, and never plays to
learn something; in a game of tricks this costs little beside what it wins by counting (Long, Sturtevant, Buro, Furtak:
Understanding the success of perfect information Monte Carlo sampling, AAAI 2010).
"""
