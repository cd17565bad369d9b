"""Sums of whitened innovations from which it is told, at any time, whether they are noise.

Where model and noise are right, whitened innovations are independent normal numbers of unit
variance (Kailath, IEEE Trans. Automatic Control 13, 1968). Two kinds of sums are kept, both in a
binary counter, so that a sample takes as long after a day as after a minute:

- Haar differences of every row by octave: (a - b) / sqrt(2) of neighbouring samples, of the
  neighbouring sums of two, of four and so on. They are independent and normal again; their power
  by octave is a spectrum, which shows variance, autocorrelation and drifts alike.
- NIS over windows of two, four, eight ... samples, which are chi-square distributed: of every
  length the window that is hardest to explain, as -ln of the bound (Chernoff)
  P(chi2_k > x) <= (x / k)^(k / 2) exp((k - x) / 2), with ln(j (j + 1)) taken off for the j-th
  window of its length: over all windows the chances then add up to no more than the one asked for.

`online/innovations.py` reads them.
"""

from __future__ import annotations

from math import log, sqrt

from freefloat.numba_.compilation import inline
from freefloat.online.kernels.codes import N_INNOVATIONS

OCTAVES = 16  # format: 65 536 samples to a sum of the slowest octave, almost two hours at 10 Hz
ROOT_HALF = sqrt(0.5)


@inline
def note_innovation(m, k, nis, dof):
    """Add the whitened innovations of a sample, in k.innovation, to the sums."""
    n, last = k.innovation.shape[0], m.octave_power.shape[0] - 1
    count = m.counts[N_INNOVATIONS]
    for r in range(n):
        k.octave_sum[r] = k.innovation[r]
    total, freedom, octave = nis, dof, 0
    while octave < last and (count >> octave) & 1 == 1:  # its other half waits
        for r in range(n):
            a, b = m.octave_half[octave, r], k.octave_sum[r]
            m.octave_power[octave, r] += 0.5 * (a - b) * (a - b)
            k.octave_sum[r] = ROOT_HALF * (a + b)
        total += m.window_half[octave, 0]
        freedom += m.window_half[octave, 1]
        note_window(m.window_worst, octave, total, freedom, (count + 1) >> (octave + 1))
        octave += 1
    if octave < last:
        for r in range(n):
            m.octave_half[octave, r] = k.octave_sum[r]
        m.window_half[octave, 0], m.window_half[octave, 1] = total, freedom
    else:  # nothing slower is told apart
        for r in range(n):
            m.octave_power[last, r] += k.octave_sum[r] * k.octave_sum[r]
    m.counts[N_INNOVATIONS] = count + 1


@inline
def note_rows(m, rows, white, n):
    """The same for n rows of some sensors, each with a count of its own; the last counts samples.

    white (rows,): theirs. Gives the sum of their squares.
    """
    counts, last = m.row_counts, m.octave_power.shape[0] - 1
    total, freedom = 0.0, 1.0 * n
    for r in range(n):
        row, waiting = rows[r], white[r]
        total += waiting * waiting
        octave = 0
        while octave < last and (counts[row] >> octave) & 1 == 1:  # its other half waits
            a = m.octave_half[octave, row]
            m.octave_power[octave, row] += 0.5 * (a - waiting) * (a - waiting)
            waiting = ROOT_HALF * (a + waiting)
            octave += 1
        if octave < last:
            m.octave_half[octave, row] = waiting
        else:
            m.octave_power[last, row] += waiting * waiting
        counts[row] += 1
    samples = counts.shape[0] - 1
    count, octave, nis = counts[samples], 0, total
    while octave < last and (count >> octave) & 1 == 1:
        total += m.window_half[octave, 0]
        freedom += m.window_half[octave, 1]
        note_window(m.window_worst, octave, total, freedom, (count + 1) >> (octave + 1))
        octave += 1
    if octave < last:
        m.window_half[octave, 0], m.window_half[octave, 1] = total, freedom
    counts[samples] += 1
    return nis


@inline
def note_window(worst, octave, x, freedom, j):
    """worst (octaves, 2): the least chance of a window, as -ln, and its NIS per row."""
    if x > freedom:
        unlikely = 0.5 * (x - freedom) - 0.5 * freedom * log(x / freedom) - log(j * (j + 1.0))
        if unlikely > worst[octave, 0]:
            worst[octave, 0], worst[octave, 1] = unlikely, x / freedom
