"""What paper 001 prints: Tables 4, 5 and 6, the text beside Figures 4 to 9; times in seconds."""

from __future__ import annotations

# quantity -> (ideal, momentum value, momentum time, force value, force time); None: not printed
NEVER = float("inf")  # printed as not converged
Printed = tuple[float, float, float | None, float, float | None]

SMALL: dict[str, Printed] = {
    "m_1": (500.0, 500.00, 9.5, 500.00, 9.2), "b_1x": (0.10, 0.10, 10.9, 0.10, 11.0),
    "b_1y": (-0.10, -0.10, 9.4, -0.10, 9.4), "I_1": (83.61, 83.61, 12.5, 83.62, 11.8),
    "m_n": (125.0, 125.00, 10.6, 125.00, 10.6), "b_nx": (0.25, 0.25, 13.2, 0.25, 14.0),
    "b_ny": (0.10, 0.10, 9.6, 0.10, 9.2), "I_n": (5.20, 5.20, 13.4, 5.19, 18.7),
}  # fmt: skip
LARGE: dict[str, Printed] = {
    "m_1": (500.0, 500.00, 13.3, 500.02, 15.0), "b_1x": (0.10, 0.10, 17.4, 0.10, 21.7),
    "b_1y": (-0.10, -0.10, 18.7, -0.10, 17.2), "I_1": (83.61, 83.61, 19.2, 83.62, 20.5),
    "m_n": (500.0, 500.00, 12.1, 499.98, 13.6), "b_nx": (0.25, 0.25, 17.2, 0.25, 20.7),
    "b_ny": (0.10, 0.10, 14.0, 0.10, 17.1), "I_n": (20.83, 20.83, 20.9, 20.70, NEVER),
}  # fmt: skip
MEDIUM: dict[str, tuple[float, float, float]] = {  # no times are printed, only drawn
    "m_1": (500.0, 500.00, 500.01), "b_1x": (0.10, 0.10, 0.10), "b_1y": (-0.10, -0.10, -0.10),
    "I_1": (83.61, 83.61, 83.62), "m_n": (250.0, 250.00, 249.99), "b_nx": (0.25, 0.25, 0.25),
    "b_ny": (0.10, 0.10, 0.10), "I_n": (10.41, 10.41, 10.34),
}  # fmt: skip
SPATIAL: dict[str, Printed] = {
    "m_1": (500.0, 500.00, 6.6, 500.00, 0.6), "b_1x": (0.05, 0.05, 1.7, 0.05, 3.0),
    "b_1y": (0.05, 0.05, 3.8, 0.05, 1.9), "b_1z": (0.05, 0.05, 6.3, 0.05, 4.9),
    "I_1xx": (83.33, 83.36, 84.5, 83.33, 2.3), "I_1yy": (83.33, 83.40, 94.2, 83.33, 1.1),
    "I_1zz": (83.33, 83.40, 95.0, 83.33, 1.0), "m_n": (503.76, 503.76, 2.2, 503.76, 1.8),
    "b_nx": (-0.20886, -0.20886, 1.6, -0.20886, 2.6),
    "b_ny": (0.49e-3, 0.49e-3, 8.2, 0.49e-3, 14.3), "b_nz": (0.0, 0.25e-8, 27.0, 0.25e-11, 30.5),
    "I_nxx": (20.83, 20.82, 33.7, 20.83, 3.4), "I_nyy": (20.83, 20.82, 33.5, 20.83, 4.7),
    "I_nzz": (20.83, 20.80, NEVER, 20.83, 6.4),
}  # fmt: skip
# first guesses (section V): mass, CoM, inertia about it
GUESS = {"bus": (600.0, 0.0, 100.0), "target": (100.0, 0.1, 10.0)}
BAND = 1e-3  # relative error within which a value counts as converged
PRIOR = 1e6  # the paper's P0
FASTEST = {"worst I_n error": 7.2, "least I_n error": 6.6e-2}  # [%], Figs 6-9, 0.1 N
UNITS = {"m": "kg", "b": "m", "I": "kg m^2"}
